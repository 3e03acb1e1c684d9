#include "ops/gemm_nbits.h"

#include <stddef.h>

#include "api/call.h"
#include "api/overlap.h"
#include "api/parameters.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

/* The numbers of elements of the arrays. */
struct counts {
    size_t src, weight, scale, zero, dst;
};

static bool count(const char * function, const SimdnetGemmNBitsParameters * q, struct counts * n)
{
    CHECK(q->quantised == SimdFalse || q->quantised == SimdTrue, "quantised is %d, expected SimdFalse or SimdTrue",
          (int)q->quantised);
    CHECK(q->bits == 4 || q->bits == 8, "bits is %zu, expected 4 or 8", q->bits);
    CHECK(q->block >= 16 && (q->block & (q->block - 1)) == 0, "block is %zu, expected a power of two, at least 16",
          q->block);
    const size_t blocks = sn_ceil_div(q->K, q->block);
    CHECK(sn_product(&n->src, q->M, q->K), "M is %zu and K is %zu, too large for an array", q->M, q->K);
    CHECK(sn_product(&n->dst, q->M, q->N), "M is %zu and N is %zu, too large for an array", q->M, q->N);
    CHECK(sn_product(&n->weight, blocks, q->block, sn_max(q->N, 1)),
          "N is %zu, K is %zu and block is %zu, too large for an array", q->N, q->K, q->block);
    n->weight = q->N * blocks * (q->block * q->bits / 8);
    n->scale = q->N * blocks;
    n->zero = q->N * sn_ceil_div(blocks * q->bits, 8);
    return true;
}

static bool has_arrays(const char * function, const SimdnetGemmNBitsParameters * q)
{
    CHECK(q->src || q->K == 0, "src is NULL, expected an array");
    CHECK(q->weight || q->K == 0, "weight is NULL, expected an array");
    CHECK(q->scale || q->K == 0, "scale is NULL, expected an array");
    CHECK(q->dst, "dst is NULL, expected an array");
    return true;
}

static bool is_apart(const char * function, const SimdnetGemmNBitsParameters * q, const struct counts * n)
{
    const struct sn_array dst = {"dst", q->dst, n->dst * sizeof(float)};
    return sn_apart(function, dst, (struct sn_array){"src", q->src, n->src * sizeof(float)}) &&
           sn_apart(function, dst, (struct sn_array){"weight", q->weight, n->weight}) &&
           sn_apart(function, dst, (struct sn_array){"scale", q->scale, n->scale * sizeof(float)}) &&
           sn_apart(function, dst, (struct sn_array){"zero", q->zero, q->zero ? n->zero : 0}) &&
           sn_apart(function, dst, (struct sn_array){"bias", q->bias, q->bias ? q->N * sizeof(float) : 0});
}

void SimdnetGemmNBits(const SimdnetGemmNBitsParameters * parameters)
{
    SN_BEGIN();
    SimdnetGemmNBitsParameters own;
    const SimdnetGemmNBitsParameters * q = &own;
    if (!sn_take_known(__func__, parameters, offsetof(SimdnetGemmNBitsParameters, quantised), &own, sizeof(own)))
        return;
    SN_CALL(q->M, q->N, q->K, q->bits, q->block);
    struct counts n;
    if (!count(__func__, q, &n) || n.dst == 0 || !has_arrays(__func__, q) || !is_apart(__func__, q, &n))
        return;
    const struct sn_nbits_product p = {.w = {.weight = q->weight, .scale = q->scale, .bits = q->bits, .block = q->block,
        .blocks = sn_ceil_div(q->K, q->block)}, .src = q->src, .bias = q->bias, .dst = q->dst, .lds = q->K, .ldd = q->N,
        .M = q->M, .N = q->N, .depth = q->K, .quantised = q->quantised == SimdTrue};
    if (!sn_gemm_nbits(&p, q->K ? q->zero : NULL))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for a buffer");
}
