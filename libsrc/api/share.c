/* SimdnetShareParams(): whether the convolutions of two contexts pack their parameters alike. */
#include "api/call.h"
#include "api/convolution.h"
#include "api/enums.h"

/* Two convolutions, and how messages name their parameters: "conv[1]." or "". */
struct pair {
    const char * function, * of;
    const struct sn_convolution * own, * from;
};

#define CHECK(condition, text, ...) SN_CHECK_FOR(p->function, condition, false, "%s" text, p->of, __VA_ARGS__)

static bool same_size(const struct pair * p, const char * name, size_t from, size_t own)
{
    CHECK(from == own, "%s of from is %zu, expected %zu as in context", name, from, own);
    return true;
}

static bool same_name(const struct pair * p, const char * name, const struct sn_enumeration * e, int from, int own)
{
    CHECK(from == own, "%s of from is %s, expected %s as in context", name, SN_NAME(*e, from), SN_NAME(*e, own));
    return true;
}

static bool same_parameters(const struct pair * p)
{
    const struct sn_convolution_parameters * a = &p->from->p, * b = &p->own->p;
    const struct sn_convolution_family * family = p->own->family;
    return same_size(p, family->inputs ? family->inputs : "srcC", a->srcC, b->srcC) &&
           same_size(p, family->outputs ? family->outputs : "dstC", a->dstC, b->dstC) &&
           same_size(p, "kernelY", sn_given_y(p->from), sn_given_y(p->own)) &&
           same_size(p, "kernelX", sn_given_x(p->from), sn_given_x(p->own)) &&
           same_size(p, "group", a->group, b->group) && same_name(p, "srcT", &sn_data_types, (int)a->srcT, (int)b->srcT) &&
           same_name(p, "dstT", &sn_data_types, (int)a->dstT, (int)b->dstT) &&
           same_name(p, "srcF", &sn_formats, (int)p->from->format, (int)p->own->format) &&
           same_name(p, "activation", &sn_activations, (int)a->activation, (int)b->activation);
}

static bool check_pair(const struct pair * p)
{
    const struct sn_convolution * a = p->from, * b = p->own;
    CHECK(a->table == b->table, "the instruction set of from is %s, expected %s as in context", a->table->isa,
          b->table->isa);
    if (!same_parameters(p))
        return false;
    CHECK(sn_convolution_alike(b, a),
          "from packs its weights for '%s%s' and the shape of its images, expected as context for '%s%s'", a->family->prefix,
          a->algorithm->name, b->family->prefix, b->algorithm->name);
    return true;
}

/* The caller's convolutions one by one, then whether the same conversions are before and after them, which their types
 * tell. */
static bool check_stages(const char * function, const struct sn_stages * own, const struct sn_stages * from)
{
    static const char * const names[] = {"conv[0].", "conv[1].", "conv[2]."};
    const bool several = own->given > 1;
    SN_CHECK_FOR(function, from->given == own->given, false, "from has %zu convolutions, expected %zu as context",
                 from->given, own->given);
    for (size_t i = 0; i < own->given; ++i)
        if (!check_pair(&(struct pair){function, several ? names[i] : "", &own->plan[own->first + i],
                                       &from->plan[from->first + i]}))
            return false;
    const struct pair source = {function, several ? names[0] : "", &own->plan[0], &from->plan[0]};
    const struct pair result = {function, several ? names[own->given - 1] : "", &own->plan[own->count - 1],
        &from->plan[from->count - 1]};
    return same_name(&source, "srcT", &sn_data_types, (int)source.from->p.srcT, (int)source.own->p.srcT) &&
           same_name(&result, "dstT", &sn_data_types, (int)result.from->p.dstT, (int)result.own->p.dstT);
}

SimdBool SimdnetShareParams(void * context, const void * from)
{
    SN_CALL_OF(context);
    const struct sn_context * own = context;
    if (!sn_is_context(own, __func__) || !sn_is_context_as("from", from, __func__))
        return SimdFalse;
    const struct sn_context_kind * kind = ((const struct sn_context *)from)->kind;
    SN_CHECK(kind == own->kind, SimdFalse, "from is one of %s, expected one of %s as context", kind->name, own->kind->name);
    SN_CHECK(kind->stages || kind->share, SimdFalse, "context is one of %s, expected one that has parameters", kind->name);
    SN_CHECK(from != context, SimdFalse, "from is context, expected another one");
    if (kind->share)
        return kind->share(__func__, context, from) ? SimdTrue : SimdFalse;
    const struct sn_stages to = kind->stages(context), other = kind->stages((void *)(uintptr_t)from);
    if (!check_stages(__func__, &to, &other))
        return SimdFalse;
    if (kind->alike && !kind->alike(__func__, context, from))
        return SimdFalse;
    if (!other.plan->packed) {
        sn_error_set(SN_ERROR_STATE, __func__, "from has no parameters yet, expected SetParams to be called before");
        return SimdFalse;
    }
    if (sn_convolution_share(to.plan, other.plan, to.count))
        return SimdTrue;
    sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for the offsets of inputs");
    return SimdFalse;
}
