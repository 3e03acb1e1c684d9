/* Checks that the contexts of inner products of all element types share. */
#ifndef SN_API_INNER_PRODUCT_H
#define SN_API_INNER_PRODUCT_H

#include "api/convolution.h"

static inline bool sn_check_flag(const char * function, const char * name, SimdBool flag)
{
    SN_CHECK_FOR(function, flag == SimdFalse || flag == SimdTrue, false, "%s is %d, expected SimdFalse or SimdTrue", name,
                 (int)flag);
    return true;
}

static inline bool sn_check_matrix(const char * function, const char * names, size_t a, size_t b)
{
    size_t all;
    SN_CHECK_FOR(function, sn_max(a, b) <= SN_MOST_EXTENT && sn_product(&all, a, b), false,
                 "%c is %zu and %c is %zu, too large for an array", names[0], a, names[1], b);
    return true;
}

/* The sizes, the flags and the activation of Init. */
static inline bool sn_check_inner_product(const char * function, const struct sn_convolution_parameters * p, SimdBool transB,
                                          SimdBool constB, SimdBool bias)
{
    const size_t M = p->srcH, N = p->dstC, K = p->srcC;
    return sn_check_matrix(function, "MN", M, N) && sn_check_matrix(function, "MK", M, K) &&
           sn_check_matrix(function, "NK", N, K) && sn_check_flag(function, "transB", transB) &&
           sn_check_flag(function, "constB", constB) && sn_check_flag(function, "bias", bias) &&
           sn_check_convolution_channels(&(struct sn_convolution_check){function, "", p});
}

/* The arrays of Forward, whose elements have these bytes; B of `weights` elements, 0 if it is not read. */
struct sn_inner_product_arrays {
    const void * A, * B;
    void * C;
    size_t sizeA, sizeB, sizeC, weights;
};

/* True if there is something to compute. */
static inline bool sn_check_inner_product_arrays(const char * function, const struct sn_convolution * c,
                                                 const struct sn_inner_product_arrays * a)
{
    const size_t M = c->p.dstH, N = c->p.dstC, K = c->p.srcC;
    SN_CHECK_FOR(function, a->A || K == 0, false, "A is NULL, expected an array");
    SN_CHECK_FOR(function, a->B || a->weights == 0, false, "B is NULL, expected an array, since constB is SimdFalse");
    SN_CHECK_FOR(function, a->C, false, "C is NULL, expected an array");
    const struct sn_array C = {"C", a->C, M * N * a->sizeC};
    return sn_apart(function, C, (struct sn_array){"A", a->A, M * K * a->sizeA}) &&
           sn_apart(function, C, (struct sn_array){"B", a->B, a->weights * a->sizeB});
}

#endif
