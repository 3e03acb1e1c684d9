/*
 * Depthwise convolution, NCHW, by 3x3 without stride: channel by channel, from the planes of the image themselves. Nothing
 * is copied or converted; padding costs only at the edges. 96x112x112 takes 0.75 of the time of the other algorithms,
 * 1408x32x32 0.81, 192x28x28 0.9, and 512x14x14, for which it is not used, 1.05 (AVX2, Zen 3).
 */
#include <math.h>
#include <string.h>

#include "ops/convolution/32f.h"
#include "ops/convolution/cost.h"

enum { TAPS = 9 };

static bool supports(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return sn_is_depthwise(c) && p->srcF == SN_NCHW && p->kernelY == 3 && p->kernelX == 3 && p->dilationY == 1 &&
           p->dilationX == 1 && p->strideY == 1 && p->strideX == 1 && c->srcSize && c->dstSize;
}

/* Fitted with those of the other depthwise algorithms for planes, on 3x3 layers with 256-bit vectors (Zen 3): cycles */
static const double PLANES_VECTOR = 47;          /* for 16 floats of four rows, */
static const double PLANES_EDGE = 150;           /* and more if any of their inputs may be outside of the plane; */
static const double PLANES_ROWS = 18;            /* for four rows of an edge, or of what is between them, */
static const double PLANES_CHANNEL = 126;        /* and for a plane */

/* Vectors with inputs outside of the plane are fast only with one column of padding, see the kernel. */
static double cost(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double vectors = sn_vectors(c, p->dstW), edges = fmin(vectors, 2);
    const bool common = p->dstW > sn_lanes(c) && p->padX <= 1 && p->padW <= 1;
    const double row = PLANES_VECTOR * vectors + (common ? 0 : PLANES_EDGE * edges);
    const double rows = sn_of_vectors(c, row) + PLANES_ROWS * fmin(vectors, 3);
    return (double)p->dstC * ((double)sn_ceil_div(p->dstH, 4) * rows + PLANES_CHANNEL);
}

static bool plan(struct sn_convolution * c)
{
    sn_channels_plain(c);
    return sn_floats(&c->weightSize, TAPS, c->p.dstC);
}

static void pack(const struct sn_convolution * c, const void * weight) { memcpy(c->weight, weight, c->weightSize); }

/* The "lines" of a share are channels. */
static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_depthwise_plane_32f d = {.height = p->srcH, .width = p->srcW, .padY = p->padY, .padX = p->padX,
        .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}, .rows = p->dstH, .columns = p->dstW};
    for (size_t channel = s->line; channel < s->line + s->lines; ++channel) {
        d.src = (const sn_32f *)a->src + channel * p->srcH * p->srcW;
        d.dst = (sn_32f *)a->dst + channel * p->dstH * p->dstW;
        d.weight = sn_weights(c) + channel * TAPS;
        d.bias = c->bias[channel];
        d.slope = c->slope ? c->slope[channel] : 0;
        c->table->convolution_32f.depthwise_plane(&d);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c), .shares = {.lines = c->p.dstC, .most = c->p.dstC}});
}

const struct sn_convolution_algorithm sn_convolution_32f_depthwise_planes = {.name = "depthwise NCHW in place",
    .supports = supports, .cost = cost, .plan = plan, .pack = pack, .forward = forward};
