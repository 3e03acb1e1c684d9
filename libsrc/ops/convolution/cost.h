/*
 * What the cost models of convolutions share, and estimates for other choices. The model of an algorithm is its cost(), in its
 * own file with the constants that were measured for it; the files *_choice.c compare models.
 *
 * A cycle is the time in which a core multiplies 16 floats; a vector cycle, one vector. All constants were measured with
 * 512-bit vectors, but those of depthwise layers and of col2im, and are used for every level: only their ratios matter. `make
 * calibrate` compares them with measurements on this machine.
 *
 * The bits of a result depend on the algorithm. So the choice depends on the shape and on the instruction set, never on the
 * machine, its caches, or the number of threads.
 */
#ifndef SN_OPS_CONVOLUTION_COST_H
#define SN_OPS_CONVOLUTION_COST_H

#include "ops/convolution/plan.h"

/* ---- sizes */

static inline double sn_taps(const struct sn_convolution * c) { return (double)(c->p.kernelY * c->p.kernelX); }

/* Multiply-adds of one output. */
static inline double sn_depth(const struct sn_convolution * c) { return sn_taps(c) * (double)sn_inputs(c); }

static inline double sn_src_pixels(const struct sn_convolution * c) { return (double)(c->p.srcH * c->p.srcW); }
static inline double sn_dst_pixels(const struct sn_convolution * c) { return (double)(c->p.dstH * c->p.dstW); }

/* The vectors of so many floats. */
static inline double sn_vectors(const struct sn_convolution * c, size_t floats)
{
    return (double)sn_ceil_div(floats, sn_lanes(c));
}

/* The columns that the tile computes, of which `columns` are used. */
static inline double sn_tile_width(const struct sn_convolution * c, size_t columns)
{
    return (double)sn_gemm_width(&c->table->gemm.tile_32f, columns);
}

/* The vectors of channels of the image and of the result. */
static inline double sn_channel_vectors(const struct sn_convolution * c)
{
    return sn_src_pixels(c) * sn_vectors(c, c->p.srcC) + sn_dst_pixels(c) * sn_vectors(c, c->p.dstC);
}

/* ---- cycles */

/* From vector cycles. */
static inline double sn_of_vectors(const struct sn_convolution * c, double cycles)
{
    return cycles * (double)sn_lanes(c) / 16;
}

/* To convert a vector between NCHW and NHWC, in or out: vector cycles. */
static const double SN_VECTOR_CONVERTED = 9;

/* The same for images by Winograd's algorithm and what it is compared with; 0 for NHWC. */
double sn_both_converted(const struct sn_convolution * c);

/* Whether weights are more than an L2 cache keeps, as the models assume. */
static const double SN_L2_BYTES = 2e6;
bool sn_weights_are_far(const struct sn_convolution * c);

/* To read so many bytes of weights, or all, from the L3 cache or, if they exceed it, from memory. */
bool sn_exceed_l3(double bytes);
double sn_fetched(double bytes);
double sn_weights_fetched(const struct sn_convolution * c);

/* To copy a line of a plane in NCHW, sorted into phases by the stride. */
double sn_line_copied(const struct sn_convolution * c);

/* Depthwise, of convolutions and deconvolutions: cycles for a plane; by NHWC, of 16 products pixel by pixel. */
static const double SN_DEPTHWISE_PLANE = 159;
static const double SN_DEPTHWISE_PIXELS_ANY = 3.6;

/* ---- other estimates, which do not affect results */

/* True if the packed weights do not stay in the L2 cache from call to call, so that they are prefetched. */
bool sn_weights_exceed_l2(const struct sn_convolution * c);

/* For struct sn_parallel: nanoseconds of all images, from the number of products of the formula. */
double sn_convolution_32f_time(const struct sn_convolution * c);
double sn_convolution_dot_time(const struct sn_convolution * c);
double sn_deconvolution_32f_time(const struct sn_convolution * c);

#endif
