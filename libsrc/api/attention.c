#include "ops/attention.h"

#include <stddef.h>
#include <string.h>

#include "api/call.h"
#include "api/overlap.h"
#include "api/parameters.h"
#include "dispatch/dispatch.h"
#include "runtime/preference.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

/* An array of all heads. */
struct heads {
    const char * name, * distance, * stride;
    const sn_32f * at;
    size_t rows, columns;
    size_t * step;
    const size_t * batch, * strides;
    size_t floats; /* from its first element to its last */
};

/* Replaces a distance of 0 by that of dense rows. */
static bool take_step(const char * function, struct heads * h)
{
    CHECK(*h->step == 0 || *h->step >= h->columns, "%s is %zu, expected 0 or at least %zu, the floats of a row", h->distance,
          *h->step, h->columns);
    *h->step = *h->step ? *h->step : h->columns;
    return true;
}

static bool count(const char * function, struct heads * h)
{
    size_t whole, more;
    const bool none = h->rows == 0 || h->columns == 0;
    CHECK(sn_product(&whole, h->rows, sn_max(*h->step, h->columns)), "%s has %zu rows and %s is %zu, too large for an array",
          h->name, h->rows, h->distance, *h->step);
    whole = none ? 0 : (h->rows - 1) * *h->step + h->columns;
    for (int i = 0; i < 2; ++i) {
        CHECK(sn_product(&more, h->batch[i] - 1, h->strides[i]) && more <= PTRDIFF_MAX / sizeof(float) - whole,
              "batch[%d] is %zu and %s[%d] is %zu, too large for an array", i, h->batch[i], h->stride, i, h->strides[i]);
        whole += more;
    }
    h->floats = none ? 0 : whole;
    return true;
}

enum { QUERIES, KEYS, VALUES, BIAS, DST, ARRAYS };

/* Checks sizes and memory; true if there is something to compute. */
static bool take(const char * function, struct sn_attention * a)
{
    for (int i = 0; i < 2; ++i)
        a->batch[i] = sn_max(a->batch[i], 1);
    struct heads h[ARRAYS] = {
        {"queries", "ldq", "strideQ", a->q, a->rows, a->depth, &a->ldq, a->batch, a->strideQ, 0},
        {"keys", "ldk", "strideK", a->k, a->transposedK ? a->depth : a->columns, a->transposedK ? a->columns : a->depth,
            &a->ldk, a->batch, a->strideK, 0},
        {"values", "ldv", "strideV", a->v, a->transposedV ? a->width : a->columns,
            a->transposedV ? a->columns : a->width, &a->ldv, a->batch, a->strideV, 0},
        {"bias", "ldb", "strideB", a->bias, a->rows, a->columns, &a->ldb, a->batch, a->strideB, 0},
        {"dst", "ldd", "strideD", a->dst, a->rows, a->width, &a->ldd, a->batch, a->strideD, 0}};
    size_t floats;
    for (int i = 0; i < ARRAYS; ++i) {
        const bool given = i != BIAS || a->bias, shared = i == BIAS && a->ldb == 0; /* one row of the bias for all */
        if (given && ((!shared && !take_step(function, &h[i])) || !count(function, &h[i])))
            return false;
    }
    CHECK(sn_product(&floats, a->rows, a->columns), "M is %zu and N is %zu, too large for an array", a->rows, a->columns);
    if (h[DST].floats == 0)
        return false;
    const struct heads * d = &h[DST];
    struct sn_level levels[] = {{"ldd", d->rows, *d->step}, {"strideD[0]", d->batch[0], d->strides[0]},
                                {"strideD[1]", d->batch[1], d->strides[1]}};
    if (!sn_levels_distinct(function, levels, d->columns, "heads of dst"))
        return false;
    for (int i = 0; i < ARRAYS; ++i)
        CHECK(h[i].at || h[i].floats == 0 || i == BIAS, "%s is NULL, expected an array", h[i].name);
    const struct sn_array dst = {"dst", a->dst, h[DST].floats * sizeof(float)};
    for (int i = 0; i < DST; ++i)
        if (!sn_apart(function, dst, (struct sn_array){h[i].name, h[i].at, h[i].at ? h[i].floats * sizeof(float) : 0}))
            return false;
    if (a->depth == 0) { /* queries and keys may be NULL: pointers are computed from dst */
        a->q = a->k = a->dst;
        memset(a->strideQ, 0, sizeof(a->strideQ));
        memset(a->strideK, 0, sizeof(a->strideK));
    }
    return true;
}

void SimdnetAttention(const SimdnetAttentionParameters * parameters)
{
    SN_BEGIN();
    SimdnetAttentionParameters own, * q = &own;
    if (!sn_take_known(__func__, parameters, offsetof(SimdnetAttentionParameters, prefer), &own, sizeof(own)))
        return;
    SN_CALL(q->M, q->N, q->K, q->width, q->transK, q->transV, q->batch[0], q->batch[1]);
    SN_CHECK(q->transK == SimdFalse || q->transK == SimdTrue, SN_VOID, "transK is %d, expected SimdFalse or SimdTrue",
             (int)q->transK);
    SN_CHECK(q->transV == SimdFalse || q->transV == SimdTrue, SN_VOID, "transV is %d, expected SimdFalse or SimdTrue",
             (int)q->transV);
    SN_CHECK((unsigned)q->prefer <= SN_PREFER_BFLOAT16, SN_VOID, "prefer is %d, expected a SimdnetPreferenceType",
             (int)q->prefer);
    struct sn_attention a = {.rounded = q->prefer == SimdnetPreferBfloat16, .rows = q->M, .columns = q->N, .depth = q->K,
        .width = q->width, .transposedK = q->transK == SimdTrue, .transposedV = q->transV == SimdTrue, .scale = q->scale,
        .q = q->queries, .k = q->keys, .v = q->values, .bias = q->bias, .dst = q->dst, .ldq = q->ldq, .ldk = q->ldk,
        .ldv = q->ldv, .ldb = q->ldb, .ldd = q->ldd, .batch = {q->batch[0], q->batch[1]},
        .strideQ = {q->strideQ[0], q->strideQ[1]}, .strideK = {q->strideK[0], q->strideK[1]},
        .strideV = {q->strideV[0], q->strideV[1]}, .strideB = {q->strideB[0], q->strideB[1]},
        .strideD = {q->strideD[0], q->strideD[1]}};
    if (take(__func__, &a) && !sn_attention(sn_table(), &a))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for a buffer");
}
