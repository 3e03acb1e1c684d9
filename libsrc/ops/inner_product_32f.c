/*
 * Inner products of M rows: convolutions in NHWC of M pixels, K channels to N, with a kernel of one pixel. The direct
 * algorithm computes them, with weights that are packed from either order by the kernels of matrix products.
 *
 * A B that is not constant is a matrix product with bias and activation (ops/gemm.c).
 */
#include "ops/inner_product_32f.h"

#include <string.h>

#include "ops/convolution/32f_nhwc.h"
#include "ops/gemm.h"
#include "runtime/cpu.h"

struct sn_convolution_parameters sn_inner_product_parameters(size_t M, size_t N, size_t K, enum sn_activation activation)
{
    return (struct sn_convolution_parameters){.srcC = K, .srcH = M, .srcW = 1, .srcT = SN_DATA_32F, .srcF = SN_NHWC,
        .dstC = N, .dstH = M, .dstW = 1, .dstT = SN_DATA_32F, .dstF = SN_NHWC, .kernelY = 1, .kernelX = 1, .dilationY = 1,
        .dilationX = 1, .strideY = 1, .strideX = 1, .group = 1, .activation = activation};
}

static bool is_transposed(const struct sn_convolution * c) { return sn_dot_of(c)->transposed; }

/* Whether SetParams with the same arguments would set the same numbers. */
static bool alike(const struct sn_convolution * c, const struct sn_convolution * from)
{
    return sn_dot_alike(c, from) && sn_inner_product_data_of(c)->bias == sn_inner_product_data_of(from)->bias;
}

/* ---- `base` */

static void pack_base(const struct sn_convolution * c, const void * weight)
{
    const sn_32f * from = weight;
    const size_t N = c->p.dstC, K = c->p.srcC;
    for (size_t k = 0; k < K; ++k)
        for (size_t j = 0; j < N; ++j)
            sn_weights(c)[k * N + j] = is_transposed(c) ? from[j * K + k] : from[k * N + j];
}

static void forward_base(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_convolution_32f_base.forward(c, a);
}

static const struct sn_convolution_algorithm base = {.name = "base", .plain = true, .supports = sn_base_supports,
    .plan = sn_base_plan, .pack = pack_base, .alike = alike, .forward = forward_base};

/* ---- packed panels of B */

static bool any(const struct sn_convolution * c)
{
    (void)c;
    return true;
}

/*
 * Whether rows exceed the bands of the L2 cache, for each of which all weights would be read again: then the product is computed
 * in steps of K, with the same bits. 99x3072x768 and 128x3072x768, whose weights are in no cache, take 0.85 of the time, 256x4096x1024
 * 0.88, 512x3072x768 0.94 (avx2 0.93 to 0.95), but 256x2048x1024 1.03, and 1.03 with half of the inputs (Xeon with AMX).
 */
static bool is_long(const struct sn_convolution * c)
{
    enum { LONG = 2048, ROWS = 16 };
    const size_t l2 = sn_cpu()->cacheL2;
    return c->p.srcC >= LONG && c->p.dstH >= ROWS && c->srcSize > l2 / 2 && c->weightSize > l2;
}

/* The product but for the arrays of a call. */
static struct sn_gemm product_of(const struct sn_convolution * c)
{
    return (struct sn_gemm){.M = c->p.dstH, .N = c->p.dstC, .K = c->p.srcC, .alpha = 1, .bias = c->bias, .slope = c->slope,
        .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}};
}

static bool plan(struct sn_convolution * c)
{
    if (!sn_direct_nhwc_plan(c, (void *)c->algorithmData))
        return false;
    if (c->weightSize) /* packing may write a vector beyond the last row */
        c->weightSize += SN_ALIGN;
    if (is_long(c)) {
        static const sn_32f packed_later;
        struct sn_gemm g = product_of(c);
        g.panels = &packed_later;
        c->workSize = sn_max(c->workSize, sn_gemm_work(c->table, &g));
    }
    return true;
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t N = c->p.dstC, K = c->p.srcC;
    const struct sn_gemm_panels_32f p = {.b = weight, .step = is_transposed(c) ? K : N, .depth = K, .columns = N, .alpha = 1,
        .panel = sn_weights(c), .wide = tile->columns, .narrow = sn_gemm_width(tile, N % tile->columns),
        .pitch = K * tile->columns};
    c->table->gemm.panels_32f[is_transposed(c)](&p);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    struct sn_gemm g = product_of(c);
    if (!is_long(c)) {
        sn_direct_nhwc_forward(c, a);
        return;
    }
    g.panels = sn_weights(c);
    g.A = a->src, g.C = a->dst, g.add = a->add, g.work = a->work;
    g.lda = a->at->srcPixel, g.ldc = a->at->dstPixel;
    sn_gemm(c->table, &g);
}

static const struct sn_convolution_algorithm packed = {.name = "packed", .tiled = true, .adds = true, .supports = any,
    .plan = plan, .offsets = sn_direct_nhwc_offsets, .pack = pack, .alike = alike, .forward = forward};

static const struct sn_candidate packed_candidates[] = {{SN_ALGORITHMS(&base), NULL}, {SN_ALGORITHMS(&packed), NULL}, {NULL, NULL}};

const struct sn_convolution_family sn_inner_product_32f_packed = {.candidates = packed_candidates, .smallType = SN_DATA_32F,
    .unit = sizeof(float), .units = "floats", .align = sizeof(float), .prefix = "", .inputs = "K", .outputs = "N",
    .tile = sn_tile_32f, .simplify = sn_convolution_simplify, .set_params = sn_convolution_32f_set_params};

/* ---- B of each call */

/* A product of one row needs no memory, whether B will be transposed or not. */
static bool plan_given(struct sn_convolution * c)
{
    const struct sn_gemm g = product_of(c);
    sn_channels_plain(c);
    if (!sn_base_supports(c))
        c->channels = sn_gemm_width(&c->table->gemm.tile_32f, c->p.dstC);
    c->workSize = sn_base_supports(c) || g.M == 1 ? 0 : sn_gemm_work(c->table, &g);
    return true;
}

void sn_inner_product_32f_given_b(const struct sn_convolution * c, const sn_32f * B, const struct sn_arrays * a)
{
    struct sn_gemm g = product_of(c);
    g.transposed = is_transposed(c);
    g.A = a->src, g.B = B, g.C = a->dst, g.work = a->work;
    g.lda = g.K, g.ldb = g.transposed ? g.K : g.N, g.ldc = g.N;
    sn_gemm(c->table, &g);
}

static const struct sn_convolution_algorithm base_given = {.name = "base", .supports = sn_base_supports, .plan = plan_given,
    .alike = alike};
static const struct sn_convolution_algorithm given = {.name = "matrix product", .tiled = true, .supports = any,
    .plan = plan_given, .alike = alike};

static const struct sn_candidate given_candidates[] = {{SN_ALGORITHMS(&base_given), NULL}, {SN_ALGORITHMS(&given), NULL},
                                                       {NULL, NULL}};

const struct sn_convolution_family sn_inner_product_32f_given = {.candidates = given_candidates, .smallType = SN_DATA_32F,
    .unit = sizeof(float), .units = "floats", .align = sizeof(float), .prefix = "", .inputs = "K", .outputs = "N",
    .tile = sn_tile_32f, .simplify = sn_convolution_simplify, .set_params = sn_convolution_32f_set_params};
