/* Products of a matrix and a vector; and what the contexts of inner products share. */
#include "api/inner_product.h"

#include "api/call.h"
#include "api/forward.h"
#include "ops/inner_product.h"
#include "ops/inner_product_16b.h"
#include "ops/inner_product_32f.h"

void SimdSynetInnerProductLayerForward(const sn_32f * src, const sn_32f * weight, const sn_32f * bias, size_t count,
                                       size_t size, sn_32f * dst)
{
    SN_CALL(count, size);
    if (count == 0)
        return;
    size_t elements;
    SN_CHECK(sn_product(&elements, count, sn_max(size, 1)), SN_VOID,
             "count is %zu and size is %zu, too large for an array", count, size);
    SN_CHECK_POINTER(src, SN_VOID);
    SN_CHECK_POINTER(weight, SN_VOID);
    SN_CHECK_POINTER(dst, SN_VOID);
    if (!sn_apart(__func__, SN_ARRAY(dst, count), SN_ARRAY(src, size)) ||
        !sn_apart(__func__, SN_ARRAY(dst, count), SN_ARRAY(weight, count * size)) ||
        !sn_apart(__func__, SN_ARRAY(dst, count), SN_ARRAY(bias, bias ? count : 0)))
        return;
    sn_inner_product_32f(sn_table(), &(struct sn_inner_product_32f){.src = src, .weight = weight, .step = size, .bias = bias,
        .count = count, .size = size, .alpha = 1, .dst = dst});
}

/* ---- contexts */

static bool check_flag(const char * function, const char * name, SimdBool flag)
{
    SN_CHECK_FOR(function, flag == SimdFalse || flag == SimdTrue, false, "%s is %d, expected SimdFalse or SimdTrue", name,
                 (int)flag);
    return true;
}

bool sn_check_matrix(const char * function, const char * names, size_t a, size_t b)
{
    size_t all;
    SN_CHECK_FOR(function, sn_max(a, b) <= SN_MOST_EXTENT && sn_product(&all, a, b), false,
                 "%c is %zu and %c is %zu, too large for an array", names[0], a, names[1], b);
    return true;
}

bool sn_check_inner_product(const char * function, const struct sn_convolution_parameters * p, SimdBool transB,
                            SimdBool constB, SimdBool bias)
{
    const size_t M = p->srcH, N = p->dstC, K = p->srcC;
    return sn_check_matrix(function, "MN", M, N) && sn_check_matrix(function, "MK", M, K) &&
           sn_check_matrix(function, "NK", N, K) && check_flag(function, "transB", transB) &&
           check_flag(function, "constB", constB) && check_flag(function, "bias", bias) &&
           sn_check_convolution_channels(&(struct sn_convolution_check){function, "", p});
}

void sn_inner_product_set_flags(struct sn_convolution * c, SimdBool transB, SimdBool bias)
{
    struct sn_inner_product_data * data = (void *)c->familyData;
    data->dot.transposed = transB == SimdTrue;
    data->bias = bias == SimdTrue;
}

bool sn_has_constant_b(const struct sn_convolution * c)
{
    return c->family == &sn_inner_product_32f_packed || c->family == &sn_inner_product_32f_rounded ||
           c->family == &sn_inner_product_16b_packed;
}

void sn_inner_product_forward_any(const char * function, void * context, const SimdnetForwardParameters * f)
{
    SN_CHECK_FOR(function, sn_has_constant_b(sn_convolution_of(context)), SN_VOID,
                 "context is an %s without constB, expected one with constB: use its own Forward function",
                 ((const struct sn_context *)context)->kind->name);
    sn_convolution_forward_floats(function, context, f);
}

static bool check_arrays(const char * function, const struct sn_convolution * c, const struct sn_inner_product_arrays * a)
{
    const size_t M = c->p.dstH, N = c->p.dstC, K = c->p.srcC;
    SN_CHECK_FOR(function, a->A || K == 0, false, "A is NULL, expected an array");
    SN_CHECK_FOR(function, a->B || a->weights == 0, false, "B is NULL, expected an array, since constB is SimdFalse");
    SN_CHECK_FOR(function, a->C, false, "C is NULL, expected an array");
    const struct sn_array B = {"B", a->B, a->weights * a->sizeB}, C = {"C", a->C, M * N * a->sizeC};
    const struct sn_array buf = {"buf", a->buf, a->buf && c->workSize ? sn_external_size(c->workSize, 1) : 0};
    return sn_apart(function, C, (struct sn_array){"A", a->A, M * K * a->sizeA}) && sn_apart(function, C, B) &&
           sn_apart(function, buf, B);
}

bool sn_inner_product_begin(const char * function, const struct sn_convolution * c,
                            const struct sn_inner_product_arrays * arrays, struct sn_arrays * a)
{
    const bool ready = c->packed && c->dstSize; /* otherwise sn_forward_begin() returns false */
    if (ready && !check_arrays(function, c, arrays))
        return false;
    *a = sn_dense_arrays(c, arrays->A ? arrays->A : arrays->C, NULL, arrays->C);
    return sn_forward_begin(&(struct sn_forward){function, c, c, 1, c->workSize, false}, a, arrays->buf);
}
