/*
 * Deconvolution of bfloat16 numbers. With stride 1 it is the convolution of such numbers with the flipped kernel. With any
 * other stride the algorithms of floats compute it, image by image (16b_floats.c). So it takes longer than a deconvolution of
 * floats.
 */
#include "ops/convolution/16b.h"
#include "ops/convolution/32f.h"
#include "ops/convolution/deconvolution.h"
#include "ops/convolution/phases.h"

/* ---- the families */

static const struct sn_convolution_family flipped = {.candidates = sn_convolution_16b_candidates, .smallType = SN_DATA_16B,
    .unit = 1, .units = "bytes", .align = SN_ALIGN, .prefix = "as a convolution, ", .tile = sn_tile_16b,
    .prepare = sn_convolution_16b_prepare, .scratch = sn_flipped_size, .set_params = sn_flipped_set_params};

static void simplify(struct sn_convolution * c) { sn_deconvolution_simplify(c, &flipped); }

static bool plan(struct sn_convolution * c) { return sn_16b_floats_plan(c, 1); }

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_16b_floats_forward(c, a, &sn_deconvolution_32f, 1);
}

const struct sn_convolution_family sn_deconvolution_16b = {.candidates = sn_deconvolution_32f_candidates,
    .smallType = SN_DATA_16B, .unit = 1, .units = "bytes", .align = SN_ALIGN, .prefix = "by floats, ", .tile = sn_tile_32f,
    .simplify = simplify, .prepare = sn_phases_plan, .scratch = sn_16b_floats_scratch,
    .set_params = sn_16b_floats_set_params, .plan = plan, .forward = forward};
