#include "ops/convolution/32f.h"

#include <string.h>

#include "ops/convolution/cost.h"

/* ---- `base`: the loops of the formula, with weights and parameters in the caller's layout */

bool sn_base_supports(const struct sn_convolution * c) { return !c->table->gemm.tile_32f.run; }

bool sn_base_plan(struct sn_convolution * c)
{
    sn_channels_plain(c);
    return sn_floats(&c->weightSize, sn_weight_count(c));
}

void sn_base_pack(const struct sn_convolution * c, const void * weight) { memcpy(c->weight, weight, c->weightSize); }

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    for (size_t b = 0; b < c->batch; ++b) {
        const struct sn_plain image = sn_plain_of(a, b);
        c->table->convolution_32f.plain(&c->p, c->weight, c->bias, c->slope ? c->slope : c->param, &image);
    }
}

const struct sn_convolution_algorithm sn_convolution_32f_base = {.name = "base", .plain = true, .supports = sn_base_supports,
    .plan = sn_base_plan, .pack = sn_base_pack, .forward = forward};

/* ---- the family */

struct sn_tile_shape sn_tile_32f(const struct sn_table * table)
{
    return (struct sn_tile_shape){table->gemm.tile_32f.rows, table->gemm.tile_32f.columns};
}

const void * sn_convolution_32f_set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                                           struct sn_fault * fault)
{
    (void)scratch, (void)fault;
    sn_convolution_scatter(c, given->bias, c->bias);
    return given->weight;
}

const struct sn_candidate sn_convolution_32f_candidates[] = {
    {&sn_convolution_32f_base, NULL, NULL},
    {&sn_convolution_32f_depthwise_flat, NULL, NULL},
    {&sn_convolution_32f_depthwise_sliced, sn_sliced_preferred, NULL},
    {&sn_convolution_32f_depthwise_nhwc, NULL, NULL},
    {&sn_convolution_32f_depthwise_planes, sn_depthwise_planes_preferred, sn_depthwise_planes_cycles},
    {&sn_convolution_32f_depthwise_converted, sn_depthwise_converted_preferred, sn_depthwise_converted_cycles},
    {&sn_convolution_32f_depthwise_nchw, NULL, sn_depthwise_nchw_cycles},
    {&sn_convolution_32f_few_nhwc, sn_few_nhwc_preferred, sn_few_nhwc_cycles},
    {&sn_convolution_32f_few_nchw, sn_few_nchw_preferred, NULL},
    {&sn_convolution_32f_grouped_nhwc, sn_grouped_preferred, sn_grouped_cycles},
    {&sn_convolution_32f_grouped_nchw, sn_grouped_preferred, sn_grouped_cycles},
    {&sn_convolution_32f_winograd_2, sn_winograd_preferred, sn_winograd_cycles},
    {&sn_convolution_32f_winograd_3, sn_winograd_preferred, sn_winograd_cycles},
    {&sn_convolution_32f_winograd_4, sn_winograd_preferred, sn_winograd_cycles},
    {&sn_convolution_32f_winograd_strided_2, sn_winograd_preferred, sn_winograd_cycles},
    {&sn_convolution_32f_winograd_strided_4, sn_winograd_preferred, sn_winograd_cycles},
    {&sn_convolution_32f_winograd_row_3, sn_winograd_preferred, sn_winograd_cycles},
    {&sn_convolution_32f_winograd_row_6_3, sn_winograd_preferred, sn_winograd_cycles},
    {&sn_convolution_32f_winograd_row_5, sn_winograd_preferred, sn_winograd_cycles},
    {&sn_convolution_32f_winograd_column_3, sn_winograd_preferred, sn_winograd_cycles},
    {&sn_convolution_32f_winograd_column_6_3, sn_winograd_preferred, sn_winograd_cycles},
    {&sn_convolution_32f_winograd_column_5, sn_winograd_preferred, sn_winograd_cycles},
    {&sn_convolution_32f_winograd_5, sn_winograd_preferred, sn_winograd_cycles},
    {&sn_convolution_32f_converted, sn_converted_preferred, sn_converted_cycles},
    {&sn_convolution_32f_nhwc, NULL, sn_nhwc_cycles},
    {&sn_convolution_32f_nchw, NULL, sn_nchw_cycles},
    {NULL, NULL, NULL},
};

const struct sn_convolution_family sn_convolution_32f = {.candidates = sn_convolution_32f_candidates,
    .smallType = SN_DATA_32F, .unit = sizeof(float), .units = "floats", .align = sizeof(float), .prefix = "",
    .tile = sn_tile_32f, .simplify = sn_convolution_crop, .set_params = sn_convolution_32f_set_params};
