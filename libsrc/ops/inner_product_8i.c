#include "ops/inner_product_8i.h"

#include "dispatch/dispatch.h"
#include "ops/inner_product_32f.h"

SN_FITS_FAMILY_DATA(struct sn_dot_family);

/* ---- `base` */

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    c->table->convolution_8i.product(c->batch * c->p.dstH * c->p.dstW, c->p.dstC, c->p.srcC, a->src, c->weight, a->dst);
}

static const struct sn_convolution_algorithm base = {.name = "base", .supports = sn_dot_base_supports,
    .plan = sn_base_8i_plan, .pack = sn_base_8i_pack, .forward = forward};

/* ---- the family */

static void result(const struct sn_convolution * c, size_t first, union sn_dot_result * to)
{
    (void)c, (void)first;
    to->as_8i = (struct sn_result_8i){.sums = true};
}

static enum sn_error_kind prepare(struct sn_convolution * c)
{
    const struct sn_convolution_8i_slots * slots = &c->table->convolution_8i;
    *(struct sn_dot_family *)(void *)c->familyData = (struct sn_dot_family){.tile = &slots->tile, .pixels = slots->pixels,
        .planes = slots->planes, .result = result};
    return SN_ERROR_NONE;
}

static size_t scratch_size(const struct sn_convolution * c) { return sn_weight_count(c); }

/* The weights by rows of inputs, and what sums begin with. */
static const void * set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                               struct sn_fault * fault)
{
    const size_t N = c->p.dstC, K = c->p.srcC;
    const int8_t * weight = given->quantized->weight;
    const bool biased = sn_dot_of(c)->tile->biased;
    (void)fault;
    c->table->layout.transpose_8u(weight, K, N, K, scratch, N);
    for (size_t j = 0; j < N; ++j) {
        uint32_t sum = 0;
        for (size_t k = 0; biased && k < K; ++k)
            sum += (uint32_t)weight[j * K + k];
        ((int32_t *)(void *)c->bias)[sn_channel_index(c, j)] = (int32_t)(sum * 128);
    }
    return scratch;
}

static const struct sn_candidate candidates[] = {{SN_ALGORITHMS(&base), NULL}, {SN_ALGORITHMS(&sn_convolution_dot_tiled), NULL},
                                                 {NULL, NULL}};

static const struct sn_convolution_family family = {.candidates = candidates, .smallType = SN_DATA_8U, .unit = 1,
    .units = "bytes", .align = SN_ALIGN, .prefix = "", .tile = sn_tile_8i, .simplify = sn_convolution_simplify,
    .prepare = prepare, .scratch = scratch_size, .set_params = set_params};

/* With the weights, of a plan without them; false if there is no memory. */
static bool compute(struct sn_convolution * c, const uint8_t * src, const int8_t * weight, sn_32i * dst)
{
    const struct sn_set_quantized quantized = {.weight = weight};
    const struct sn_fault fault = sn_convolution_set(c, &(struct sn_set_params){.quantized = &quantized}, 1);
    struct sn_arrays a = sn_dense_arrays(c, src, NULL, dst);
    if (fault.memory)
        return false;
    a.work = c->workSize ? sn_scratch(c->workSize) : NULL;
    if (c->workSize && !a.work)
        return false;
    c->algorithm->forward(c, &a);
    return true;
}

enum sn_error_kind sn_inner_product_8i(size_t M, size_t N, size_t K, const uint8_t * src, const int8_t * weight, sn_32i * dst)
{
    struct sn_convolution c = {.p = sn_inner_product_parameters(M, N, K, SN_ACTIVATION_IDENTITY), .batch = 1,
        .table = sn_table(), .family = &family};
    c.p.srcT = SN_DATA_8U, c.p.dstT = SN_DATA_32F; /* or other numbers of 4 bytes */
    enum sn_error_kind error = sn_convolution_plan(&c);
    if (error == SN_ERROR_NONE && !compute(&c, src, weight, dst))
        error = SN_ERROR_MEMORY;
    sn_convolution_free(&c);
    return error;
}
