/*
 * Which algorithm computes a deconvolution of floats: the candidates in their order. Also the two that are not algorithms of their
 * own: `base`, and the convolution with the flipped kernel that a deconvolution with stride 1 is.
 */
#include "ops/convolution/deconvolution.h"

#include <string.h>

#include "ops/convolution/32f.h"
#include "ops/convolution/phases.h"

/* ---- `base`, also used if there are too many phases */

static bool base_supports(const struct sn_convolution * c) { return sn_base_supports(c) || !c->tables; }

static void base_forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    for (size_t b = 0; b < c->batch; ++b) {
        const struct sn_plain image = sn_plain_of(a, b);
        c->table->deconvolution_32f.plain(&c->p, c->weight, c->bias, c->slope ? c->slope : c->param, &image);
    }
}

const struct sn_convolution_algorithm sn_deconvolution_32f_base = {.name = "base", .plain = true, .supports = base_supports,
    .plan = sn_base_plan, .pack = sn_base_pack, .forward = base_forward};

/* ---- stride 1: a convolution */

/* True if this is a convolution with the flipped kernel: its padding, (kernel - 1) * dilation - pad, may not be negative. */
static bool is_convolution(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t y = (p->kernelY - 1) * p->dilationY, x = (p->kernelX - 1) * p->dilationX;
    return !sn_base_supports(c) && p->strideY == 1 && p->strideX == 1 && p->padY <= y && p->padH <= y && p->padX <= x &&
           p->padW <= x;
}

static void flip(const struct sn_convolution * c, const sn_32f * weight, sn_32f * flipped)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t inputs = sn_inputs(c), outputs = sn_outputs(c), taps = p->kernelY * p->kernelX;
    if (p->srcF == SN_NHWC) { /* [input of all groups][tap] to [reversed tap][input of one group][group] */
        for (size_t i = 0; i < p->srcC; ++i)
            for (size_t k = 0; k < taps; ++k, weight += outputs)
                memcpy(flipped + ((taps - 1 - k) * inputs + i % inputs) * p->dstC + i / inputs * outputs, weight,
                       outputs * sizeof(float));
        return;
    }
    for (size_t i = 0; i < p->srcC; ++i)
        for (size_t o = 0; o < outputs; ++o, weight += taps) {
            sn_32f * to = flipped + ((i / inputs * outputs + o) * inputs + i % inputs) * taps;
            for (size_t k = 0; k < taps; ++k)
                to[taps - 1 - k] = weight[k];
        }
}

size_t sn_flipped_size(const struct sn_convolution * c) { return sn_weight_count(c) * sizeof(float); }

const void * sn_flipped_set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                                   struct sn_fault * fault)
{
    sn_convolution_32f_set_params(c, given, NULL, fault);
    if (sn_weight_count(c))
        flip(c, given->weight, scratch);
    return scratch;
}

static const struct sn_convolution_family flipped = {.candidates = sn_convolution_32f_candidates, .smallType = SN_DATA_32F,
    .unit = sizeof(float), .units = "floats", .align = sizeof(float), .prefix = "as a convolution, ", .tile = sn_tile_32f,
    .scratch = sn_flipped_size, .set_params = sn_flipped_set_params};

static void make_convolution(struct sn_convolution * c)
{
    struct sn_convolution_parameters * p = &c->p;
    const size_t y = (p->kernelY - 1) * p->dilationY, x = (p->kernelX - 1) * p->dilationX;
    p->padY = y - p->padY;
    p->padH = y - p->padH;
    p->padX = x - p->padX;
    p->padW = x - p->padW;
}

/* ---- depthwise */

/* Planes are converted if the cost is less than this part: edges of images are not counted. */
static const double PHASES_GAIN = 0.8;

/*
 * Planes of few pixels, and phases in x that planes are not zipped to, are converted: 1883x1x1 by 2x2 takes 0.03 of the time,
 * 896x4x4 0.3, 112x8x8 by 3x3 with stride 3 0.4 (AVX2).
 */
static bool depthwise_converted_preferred(const struct sn_convolution * c)
{
    return c->algorithm->cost(c) < PHASES_GAIN * sn_convolution_cost(c, &sn_deconvolution_32f_depthwise);
}

/* ---- the family */

/*
 * Normalises parameters without effect: the dilation of a single tap, and the stride of a single input, which becomes so
 * large that every output is a phase with at most one tap, and no zeros are multiplied.
 */
static void simplify_axes(struct sn_convolution_parameters * p)
{
    p->dilationY = p->kernelY == 1 ? 1 : p->dilationY;
    p->dilationX = p->kernelX == 1 ? 1 : p->dilationX;
    p->strideY = p->srcH == 1 ? (p->kernelY - 1) * p->dilationY + 1 : p->strideY;
    p->strideX = p->srcW == 1 ? (p->kernelX - 1) * p->dilationX + 1 : p->strideX;
}

void sn_deconvolution_simplify(struct sn_convolution * c, const struct sn_convolution_family * other)
{
    struct sn_convolution_parameters * p = &c->p;
    if (c->table->gemm.tile_32f.run && p->kernelY > 1 && sn_convolution_is_column(c)) /* `base` takes no shortcuts */
        sn_convolution_turn(c);
    simplify_axes(p);
    if (!is_convolution(c)) {
        sn_convolution_join_images(c, p->strideY, &p->dstH, &p->srcH);
        return;
    }
    make_convolution(c);
    c->family = other;
    sn_convolution_simplify(c);
}

static void simplify(struct sn_convolution * c)
{
    sn_deconvolution_simplify(c, &flipped);
    sn_convolution_plane(c);
}

const struct sn_candidate sn_deconvolution_32f_candidates[] = {
    {SN_ALGORITHMS(&sn_deconvolution_32f_base), NULL},
    {SN_ALGORITHMS(&sn_deconvolution_32f_depthwise_converted), depthwise_converted_preferred},
    {SN_ALGORITHMS(&sn_deconvolution_32f_depthwise), NULL},
    {SN_ALGORITHMS(&sn_deconvolution_32f_depthwise_nhwc), NULL},
    {SN_ALGORITHMS(&sn_deconvolution_32f_nhwc, &sn_deconvolution_32f_nchw, &sn_deconvolution_32f_converted,
                   &sn_deconvolution_32f_col2im, &sn_deconvolution_32f_panels), NULL},
    {NULL, NULL},
};

const struct sn_convolution_family sn_deconvolution_32f = {.candidates = sn_deconvolution_32f_candidates,
    .smallType = SN_DATA_32F, .unit = sizeof(float), .units = "floats", .align = sizeof(float), .prefix = "", .tile = sn_tile_32f,
    .simplify = simplify, .prepare = sn_phases_plan, .set_params = sn_convolution_32f_set_params};
