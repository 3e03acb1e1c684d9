/* SimdnetCopy() and SimdnetPad(). */
#include "ops/copy.h"

#include <stdlib.h>

#include "api/arrays.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/parameters.h"
#include "ops/pad.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

/* ---- strides */

/* An array with strides: its dimensions of more than one index, in the order of their strides, the smallest first. */
struct strided {
    const char * name;
    size_t count;
    size_t extent[SIMDNET_MAX_DIMENSIONS], stride[SIMDNET_MAX_DIMENSIONS]; /* the strides without their sign */
    size_t below, above; /* elements from index 0 down to the first one, and up to the last one */
};

static bool take_strides(const char * function, const char * name, size_t count, const size_t * shape,
                         const ptrdiff_t * strides, struct strided * a)
{
    size_t all;
    *a = (struct strided){.name = name};
    for (size_t k = 0; k < count; ++k) {
        const ptrdiff_t given = strides[k];
        const size_t stride = given < 0 ? 0 - (size_t)given : (size_t)given;
        size_t * side = given < 0 ? &a->below : &a->above, at = a->count, span;
        if (shape[k] == 1)
            continue;
        CHECK(sn_product(&span, shape[k] - 1, stride), "%sStride[%zu] is %td, too large for %zu elements", name, k, given,
              shape[k]);
        *side += span;
        CHECK(sn_product(&all, *side, 1), "%sStride[%zu] is %td, too large together with the others", name, k, given);
        for (; at > 0 && a->stride[at - 1] > stride; --at) {
            a->stride[at] = a->stride[at - 1];
            a->extent[at] = a->extent[at - 1];
        }
        a->stride[at] = stride;
        a->extent[at] = shape[k];
        ++a->count;
    }
    CHECK(sn_product(&all, a->below + a->above + 1, 1), "%sStride describes an array that is too large", name);
    return true;
}

/* Every element of dst has a place of its own if each stride exceeds what the smaller ones span. */
static bool is_nested(const char * function, const struct strided * dst)
{
    for (size_t k = 0, span = 0; k < dst->count; span += (dst->extent[k] - 1) * dst->stride[k], ++k)
        CHECK(dst->stride[k] > span, "dstStride has %zu, expected more than %zu, which the smaller ones span",
              dst->stride[k], span);
    return true;
}

/* The array as rows of adjacent elements at one distance, or as one row from the first element to the last. */
static struct sn_rows rows_of(const struct strided * a, const void * at, size_t element)
{
    size_t row = 1, k = 0, rows = 1, step;
    while (k < a->count && a->stride[k] == 0)
        ++k;
    for (; k < a->count && a->stride[k] == row; ++k)
        row *= a->extent[k];
    step = k < a->count ? a->stride[k] : row;
    for (; k < a->count && a->stride[k] == rows * step; ++k)
        rows *= a->extent[k];
    if (k < a->count || step < row)
        rows = 1, step = row = a->below + a->above + 1;
    return (struct sn_rows){a->name, (const uint8_t *)at - a->below * element, rows, row * element, step * element};
}

/* Rows at two distances meet somewhere, or it would take long to find out. */
static bool is_apart(const char * function, struct sn_rows dst, struct sn_rows src)
{
    if (dst.rows > 1 && src.rows > 1 && dst.step != src.step)
        return sn_apart(function, sn_whole(&dst), sn_whole(&src));
    return sn_rows_apart(function, dst, src);
}

void SimdnetCopy(const SimdnetCopyParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetCopyParameters * q = parameters;
    const size_t * n = q->shape;
    SN_CALL(q->dataType, q->count, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
    struct strided src, dst;
    struct sn_copy copy = {.count = q->count};
    size_t elements;
    if (!sn_take_element(__func__, "dataType", q->dataType, &copy.element) ||
        !sn_take_shape(__func__, q->count, q->shape, &elements) || elements == 0)
        return;
    SN_CHECK(q->src, SN_VOID, "src is NULL, expected an array");
    SN_CHECK(q->dst, SN_VOID, "dst is NULL, expected an array");
    if (!take_strides(__func__, "src", q->count, q->shape, q->srcStride, &src) ||
        !take_strides(__func__, "dst", q->count, q->shape, q->dstStride, &dst) || !is_nested(__func__, &dst) ||
        !is_apart(__func__, rows_of(&dst, q->dst, copy.element), rows_of(&src, q->src, copy.element)))
        return;
    const ptrdiff_t element = (ptrdiff_t)copy.element;
    for (size_t k = 0; k < q->count; ++k)
        copy.d[k] = (struct sn_copy_dimension){q->shape[k], q->srcStride[k] * element, q->dstStride[k] * element};
    sn_copy_once(copy, q->src, q->dst);
}

/* ---- padding */

/* Sets what is padded, and the elements of both arrays; false if the last error is set. */
static bool take_pad(const char * function, const SimdnetPadParameters * q, struct sn_pad * p, size_t * src, size_t * dst)
{
    size_t shape[SIMDNET_MAX_DIMENSIONS];
    CHECK(q->mode >= SimdnetPadConstant && q->mode <= SimdnetPadWrap,
          "mode is %d, expected a SimdnetPadMode, Constant to Wrap", (int)q->mode);
    if (!sn_take_element(function, "dataType", q->dataType, &p->element) ||
        !sn_take_shape(function, q->count, q->shape, src))
        return false;
    for (size_t k = 0; k < q->count; ++k) {
        const size_t before = q->before[k], after = q->after[k];
        size_t sum;
        CHECK(!__builtin_add_overflow(before, after, &sum) && !__builtin_add_overflow(sum, q->shape[k], &shape[k]),
              "before[%zu] is %zu and after[%zu] is %zu, too large for an array", k, before, k, after);
        CHECK(q->mode == SimdnetPadConstant || q->shape[k] || shape[k] == 0,
              "shape[%zu] is 0, expected at least 1: there is no element to repeat", k);
        p->d[k] = (struct sn_pad_dimension){q->shape[k], before, after};
    }
    CHECK(sn_product_of(dst, shape, q->count), "before and after make an array that is too large");
    p->mode = (enum sn_pad_mode)q->mode;
    p->count = q->count;
    return true;
}

void SimdnetPad(const SimdnetPadParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetPadParameters * q = parameters;
    const size_t * n = q->shape;
    SN_CALL(q->mode, q->dataType, q->count, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
    struct sn_pad p = {.value = q->value, .src = q->src, .dst = q->dst};
    size_t src, dst;
    if (!take_pad(__func__, q, &p, &src, &dst) || dst == 0)
        return;
    SN_CHECK(q->src || src == 0, SN_VOID, "src is NULL, expected an array");
    SN_CHECK(q->dst, SN_VOID, "dst is NULL, expected an array");
    if (sn_apart(__func__, (struct sn_array){"dst", q->dst, dst * p.element},
                 (struct sn_array){"src", q->src, src * p.element}))
        sn_pad(&p);
}
