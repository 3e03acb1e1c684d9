/* Packed parameters as bytes, which a file can hold: SimdnetPackedSize(), SimdnetGetPacked() and SimdnetSetPacked(). */
#include <string.h>

#include "api/call.h"
#include "api/convolution.h"

#define TAG 0x70616E646D6973u /* "simdnap" */

/* What precedes the parameters: they serve contexts for which all of it is equal. A multiple of SN_ALIGN bytes. */
struct head {
    uint64_t tag, count;
    char info[112]; /* of the context: algorithm, tile and level */
    struct {
        uint64_t size, weightSize, channels, run, runStep, variant, kernel[2], crop[4];
        float param[2];
    } plan[SN_MOST_PLANS];
    char rest[8];
};

_Static_assert(sizeof(struct head) % SN_ALIGN == 0, "parameters begin at a multiple of SN_ALIGN");

/* The head for a context, without numbers of activations; returns the bytes of all, 0 if it has no such parameters. */
static size_t head_of(const struct sn_context * context, const struct sn_convolution * c, size_t count, struct head * head)
{
    size_t total = sizeof(*head);
    memset(head, 0, sizeof(*head));
    head->tag = TAG, head->count = count;
    memcpy(head->info, context->info, sizeof(head->info));
    for (size_t i = 0; i < count; ++i, ++c) {
        const uint64_t crop[] = {c->crop.kernelY, c->crop.kernelX, c->crop.y, c->crop.x};
        const size_t size = sn_convolution_packed_size(c);
        if (!size)
            return 0;
        total += sn_align(size, SN_ALIGN);
        head->plan[i].size = size;
        head->plan[i].weightSize = c->weightSize, head->plan[i].channels = c->channels;
        head->plan[i].run = c->run, head->plan[i].runStep = c->runStep;
        head->plan[i].variant = c->algorithm->variant;
        head->plan[i].kernel[0] = c->p.kernelY, head->plan[i].kernel[1] = c->p.kernelX;
        memcpy(head->plan[i].crop, crop, sizeof(crop));
    }
    return total;
}

/* The plans of a context, with conversions; NULL for one without. */
static struct sn_convolution * plans_of(const struct sn_context * context, size_t * count)
{
    const struct sn_stages stages = context->kind->stages ? context->kind->stages((void *)(uintptr_t)context)
                                                          : (struct sn_stages){0};
    *count = stages.count;
    return stages.plan;
}

size_t SimdnetPackedSize(const void * context)
{
    SN_CALL_OF(context);
    struct head head;
    size_t count;
    if (!sn_is_context(context, __func__))
        return 0;
    const struct sn_convolution * c = plans_of(context, &count);
    return c && c->packed ? head_of(context, c, count, &head) : 0;
}

SimdBool SimdnetGetPacked(const void * context, void * dst)
{
    SN_CALL_OF(context);
    const struct sn_context * own = context;
    struct head head;
    size_t count;
    if (!sn_is_context(own, __func__))
        return SimdFalse;
    SN_CHECK(dst, SimdFalse, "dst is NULL, expected SimdnetPackedSize() bytes");
    const struct sn_convolution * c = plans_of(own, &count);
    SN_CHECK(c && c->packed && head_of(own, c, count, &head), SimdFalse,
             "context is one of %s, expected one whose SimdnetPackedSize() is not 0", own->kind->name);
    uint8_t * to = dst;
    for (size_t i = 0; i < count; ++i)
        memcpy(head.plan[i].param, c[i].param, sizeof(c[i].param));
    memcpy(to, &head, sizeof(head));
    to += sizeof(head);
    for (size_t i = 0; i < count; ++i) {
        const size_t size = head.plan[i].size, end = sn_align(size, SN_ALIGN);
        memcpy(to, c[i].packed, size);
        memset(to + size, 0, end - size);
        to += end;
    }
    return SimdTrue;
}

SimdBool SimdnetSetPacked(void * context, const void * src, size_t size)
{
    SN_CALL_OF(context);
    const struct sn_context * own = context;
    struct head head;
    size_t count;
    if (!sn_is_context(own, __func__))
        return SimdFalse;
    SN_CHECK(src, SimdFalse, "src is NULL, expected what SimdnetGetPacked() has written");
    SN_CHECK((uintptr_t)src % SN_ALIGN == 0, SimdFalse, "src is not at a multiple of %d bytes", (int)SN_ALIGN);
    struct sn_convolution * c = plans_of(own, &count);
    const size_t expected = c ? head_of(own, c, count, &head) : 0;
    SN_CHECK(expected, SimdFalse, "context is one of %s, whose parameters have no such form", own->kind->name);
    SN_CHECK(size == expected, SimdFalse, "size is %zu, expected %zu", size, expected);
    const struct head * given = src;
    void * packed[SN_MOST_PLANS];
    uint8_t * from = (uint8_t *)(uintptr_t)src + sizeof(head);
    for (size_t i = 0; i < count; ++i) {
        memcpy(head.plan[i].param, given->plan[i].param, sizeof(head.plan[i].param));
        packed[i] = from;
        from += sn_align(head.plan[i].size, SN_ALIGN);
    }
    SN_CHECK(memcmp(&head, given, sizeof(head)) == 0, SimdFalse, "src was packed for another context than '%s'", own->info);
    float param[SN_MOST_PLANS][2];
    for (size_t i = 0; i < count; ++i)
        memcpy(param[i], head.plan[i].param, sizeof(param[i]));
    if (sn_convolution_borrow(c, packed, (const float (*)[2])param, count))
        return SimdTrue;
    sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for the offsets of inputs");
    return SimdFalse;
}
