/* Depthwise convolution, NHWC: vectors of channels, or of those of several pixels, read from the image in place. */
#include <string.h>

#include "ops/convolution/32f.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/depthwise_rows.h"
#include "runtime/cpu.h"

SN_FITS_ALGORITHM_DATA(struct sn_depthwise_rows);

static const struct sn_depthwise_rows * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c) { return sn_is_depthwise(c) && c->p.srcF == SN_NHWC; }

static bool plan(struct sn_convolution * c)
{
    struct sn_depthwise_rows * r = (void *)c->algorithmData;
    c->workSize = sn_depthwise_rows_plan(c, SIZE_MAX, r);
    r->together = sn_depthwise_pixels_together(c);
    c->channels = sn_align(r->together * c->p.dstC, sn_lanes(c));
    c->runStep = 1;
    return sn_floats(&c->weightSize, c->p.kernelY, c->p.kernelX, c->channels);
}

/* Repeats the values for each of the pixels. */
static void spread(const struct sn_convolution * c, const sn_32f * values, sn_32f * spread)
{
    for (size_t i = 0; i < data_of(c)->together; ++i)
        memcpy(spread + i * c->p.dstC, values, c->p.dstC * sizeof(float));
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    const size_t lanes = sn_lanes(c), taps = c->p.kernelY * c->p.kernelX, channels = c->p.dstC;
    const sn_32f * w = weight;
    if (data_of(c)->together == 1) {
        sn_depthwise_rows_pack(c, weight);
        return;
    }
    for (size_t k = 0; k < taps; ++k)
        for (size_t i = 0; i < data_of(c)->together * channels; ++i)
            sn_weights(c)[(i / lanes * taps + k) * lanes + i % lanes] = w[k * channels + i % channels];
}

static bool alike(const struct sn_convolution * c, const struct sn_convolution * from)
{
    return data_of(c)->together == data_of(from)->together;
}

/*
 * The number of channels that are computed for all rows before the next channels. If pixels are a multiple of 2 KB apart,
 * the inputs of a block map to two sets of the L1 cache, and the kernel uses small blocks, for which the weights must stay
 * in the cache: 3x3 with stride 2 on 512x14x14 is 1.25 times as fast. 64 or 512 channels at a time gain less.
 *
 * Large kernels read each line again for each two rows of outputs: from beyond the L2 cache, if the lines of these do not
 * fit. In parts 1816x30x30 by 7x7 is 1.2 to 1.4 times as fast, 2048x28x28 1.3 times, 1500x30x30 1.1 times (2 MB); nothing is
 * gained where all lines fit or those of a part hardly do (1024x56x56), and 5x5 would be 1.3 times as slow.
 */
enum { LARGE = 7, PART = 512 };

static size_t part_of(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lines = (p->kernelY + 1) * p->srcW * sizeof(float), third = sn_cpu()->cacheL2 / 3; /* lines of a channel */
    if (p->kernelX >= LARGE && p->strideX == 1 && lines * p->srcC > 2 * third && lines * PART <= third)
        return sn_min(p->dstC, PART);
    const bool small = p->kernelY == 3 && p->kernelX == 3 && p->strideX == 2;
    return small && sn_pixels_share_sets(c) && !sn_depthwise_in_order(c) ? 128 : p->dstC;
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t row = sn_depthwise_first(data_of(c), s), rows = sn_depthwise_count(c, data_of(c), s), part = part_of(c);
    const bool cold = sn_depthwise_cold(c), inOrder = sn_depthwise_in_order(c);
    for (size_t first = 0; first < p->dstC; first += part) {
        struct sn_depthwise_nhwc d = sn_depthwise_job(c, data_of(c), first, sn_min(part, p->dstC - first),
                                                          a->at->srcPixel, a->at->dstPixel);
        d.rows = rows;
        d.cold = cold;
        d.inOrder = inOrder;
        d.reused = !cold;
        d.offset = first;
        d.dst = (sn_32f *)a->dst + row * d.dstRow + first;
        sn_depthwise_compute(c, c->table->convolution_32f.depthwise_nhwc, data_of(c)->together, d, a->src, row, a->work);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_depthwise_run(c, data_of(c), a, sn_convolution_32f_time(c), compute);
}

const struct sn_convolution_algorithm sn_convolution_32f_depthwise_nhwc = {.name = "depthwise NHWC", .supports = supports,
    .plan = plan, .pack = pack, .alike = alike, .spread = spread, .forward = forward};
