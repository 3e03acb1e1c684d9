/* Packed parameters as bytes, which a file can hold: SimdnetPackedSize(), SimdnetGetPacked() and SimdnetSetPacked(). */
#include <string.h>

#include "api/call.h"
#include "api/convolution.h"

#define TAG 0x70616E646D6973u /* "simdnap" */

/* Of one part of the parameters: what must be equal, then the numbers that SetParams has stored. */
struct part {
    uint64_t size, weightSize, channels, run, runStep, variant, kernel[2], crop[4], types[4];
    float param[2];
    struct sn_family_numbers numbers;
    uint32_t turned;
};

/* What precedes the parameters, a multiple of SN_ALIGN bytes: they serve contexts for which all of it but the numbers is
 * equal. */
struct head {
    uint64_t tag, count, add, rest[5];
    char info[112]; /* of the context: algorithm, tile and level */
    struct part part[SN_MOST_PLANS];
    char end[40];
};

_Static_assert(sizeof(struct head) % SN_ALIGN == 0, "parameters begin at a multiple of SN_ALIGN");

/* The parameters of a context: plans, with conversions, or one block. */
struct form {
    struct sn_stages stages;
    struct sn_block block;
    size_t count; /* of parts; 0: it has none */
};

static struct form form_of(const struct sn_context * context)
{
    void * own = (void *)(uintptr_t)context;
    struct form f = {{0}, {0}, 0};
    if (context->kind->stages)
        f.stages = context->kind->stages(own), f.count = f.stages.count;
    else if (context->kind->block)
        f.block = context->kind->block(own), f.count = 1;
    return f;
}

/* Where a part is; NULL before SetParams. */
static void * packed_of(const struct form * f, size_t i)
{
    return f->stages.plan ? f->stages.plan[i].packed : f->block.packed;
}

static bool is_set(const struct form * f) { return f->count && packed_of(f, 0); }

static void set_part(const struct sn_convolution * c, struct part * part)
{
    const uint64_t crop[] = {c->crop.kernelY, c->crop.kernelX, c->crop.y, c->crop.x};
    part->size = sn_convolution_packed_size(c);
    part->weightSize = c->weightSize, part->channels = c->channels;
    part->run = c->run, part->runStep = c->runStep;
    part->variant = c->algorithm->variant;
    part->kernel[0] = c->p.kernelY, part->kernel[1] = c->p.kernelX;
    memcpy(part->crop, crop, sizeof(crop));
    part->turned = (uint32_t)c->crop.turned;
    part->types[0] = (uint64_t)c->p.srcT, part->types[1] = (uint64_t)c->p.dstT;
    part->types[2] = (uint64_t)c->p.activation, part->types[3] = c->p.group;
}

static void set_block(const struct sn_block * b, struct part * part)
{
    part->size = b->size;
    part->weightSize = b->shape[0], part->channels = b->shape[1], part->run = b->shape[2], part->runStep = b->shape[3];
}

/* The head for a context, without the numbers of SetParams; returns the bytes of all. */
static size_t head_of(const struct sn_context * context, const struct form * f, struct head * head)
{
    size_t total = sizeof(*head);
    memset(head, 0, sizeof(*head));
    head->tag = TAG, head->count = f->count, head->add = f->stages.add;
    memcpy(head->info, context->info, sizeof(head->info));
    for (size_t i = 0; i < f->count; ++i) {
        if (f->stages.plan)
            set_part(&f->stages.plan[i], &head->part[i]);
        else
            set_block(&f->block, &head->part[i]);
        total += sn_align(head->part[i].size, SN_ALIGN);
    }
    return total;
}

/* The numbers of SetParams that are in no packed array. */
static void set_numbers(const struct form * f, size_t i, struct part * part)
{
    if (!f->stages.plan) {
        part->numbers.flag[0] = f->block.form;
        return;
    }
    const struct sn_convolution * c = &f->stages.plan[i];
    memcpy(part->param, c->param, sizeof(part->param));
    if (c->family->numbers)
        c->family->numbers(c, &part->numbers);
}

size_t SimdnetPackedSize(const void * context)
{
    SN_CALL_OF(context);
    struct head head;
    if (!sn_is_context(context, __func__))
        return 0;
    const struct form f = form_of(context);
    return is_set(&f) ? head_of(context, &f, &head) : 0;
}

SimdBool SimdnetGetPacked(const void * context, void * dst)
{
    SN_CALL_OF(context);
    const struct sn_context * own = context;
    struct head head;
    if (!sn_is_context(own, __func__))
        return SimdFalse;
    const struct form f = form_of(own);
    SN_CHECK(dst, SimdFalse, "dst is NULL, expected SimdnetPackedSize() bytes");
    SN_CHECK(is_set(&f), SimdFalse, "context is one of %s, expected one whose SimdnetPackedSize() is not 0",
             own->kind->name);
    head_of(own, &f, &head);
    for (size_t i = 0; i < f.count; ++i)
        set_numbers(&f, i, &head.part[i]);
    uint8_t * to = dst;
    memcpy(to, &head, sizeof(head));
    to += sizeof(head);
    for (size_t i = 0; i < f.count; ++i) {
        const size_t size = head.part[i].size, end = sn_align(size, SN_ALIGN);
        memcpy(to, packed_of(&f, i), size);
        memset(to + size, 0, end - size);
        to += end;
    }
    return SimdTrue;
}

/* The size of a block depends on its form. */
static void set_size(const struct sn_context * context, struct form * f, const struct head * given, size_t size)
{
    if (!f->stages.plan && context->kind->size_of_form && size >= sizeof(*given))
        f->block.size = context->kind->size_of_form(context, (unsigned)given->part[0].numbers.flag[0]);
}

/* Lets a context use parts that fit; false: there is no memory. */
static bool borrow(struct sn_context * context, const struct form * f, const struct head * given, uint8_t * from)
{
    struct sn_borrowed parts[SN_MOST_PLANS];
    if (!f->stages.plan) {
        context->kind->borrow(context, from, (unsigned)given->part[0].numbers.flag[0]);
        return true;
    }
    for (size_t i = 0; i < f->count; ++i) {
        parts[i].packed = from;
        memcpy(parts[i].param, given->part[i].param, sizeof(parts[i].param));
        parts[i].numbers = given->part[i].numbers;
        from += sn_align(given->part[i].size, SN_ALIGN);
    }
    return sn_convolution_borrow(f->stages.plan, parts, f->count);
}

SimdBool SimdnetSetPacked(void * context, const void * src, size_t size)
{
    SN_CALL_OF(context);
    struct sn_context * own = context;
    struct head head;
    if (!sn_is_context(own, __func__))
        return SimdFalse;
    SN_CHECK(src, SimdFalse, "src is NULL, expected what SimdnetGetPacked() has written");
    SN_CHECK((uintptr_t)src % SN_ALIGN == 0, SimdFalse, "src is not at a multiple of %d bytes", (int)SN_ALIGN);
    struct form f = form_of(own);
    SN_CHECK(f.count, SimdFalse, "context is one of %s, whose parameters have no such form", own->kind->name);
    set_size(own, &f, src, size);
    const size_t expected = head_of(own, &f, &head);
    SN_CHECK(size == expected, SimdFalse, "size is %zu, expected %zu", size, expected);
    const struct head * given = src;
    for (size_t i = 0; i < f.count; ++i) {
        memcpy(head.part[i].param, given->part[i].param, sizeof(head.part[i].param));
        head.part[i].numbers = given->part[i].numbers;
    }
    SN_CHECK(memcmp(&head, given, sizeof(head)) == 0, SimdFalse, "src was packed for another context than '%s'", own->info);
    if (borrow(own, &f, given, (uint8_t *)(uintptr_t)src + sizeof(head)))
        return SimdTrue;
    sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for the offsets of inputs");
    return SimdFalse;
}
