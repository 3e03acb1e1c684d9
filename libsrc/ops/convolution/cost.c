#include "ops/convolution/cost.h"

#include "ops/units.h"

/* ---- cycles */

/* Weights that are read from the L3 cache, or from memory. */
static const double L3_BYTES = 9e6;                    /* from memory if there are more bytes */
static const double L3_SPEED = 20, MEMORY_SPEED = 5.5; /* bytes per cycle */

bool sn_exceed_l3(double bytes) { return bytes >= L3_BYTES; }

double sn_fetched(double bytes) { return bytes / (sn_exceed_l3(bytes) ? MEMORY_SPEED : L3_SPEED); }

bool sn_weights_are_far(const struct sn_convolution * c) { return 4 * sn_depth(c) * (double)c->p.dstC > SN_L2_BYTES; }

double sn_weights_fetched(const struct sn_convolution * c) { return sn_fetched(4 * sn_depth(c) * (double)c->p.dstC); }

/* Vector cycles to convert a vector of NCHW, in or out, measured on 3x3 layers. */
static const double BOTH_CONVERTED = 5;

double sn_both_converted(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NCHW ? sn_of_vectors(c, BOTH_CONVERTED * sn_channel_vectors(c)) : 0;
}

/* Cycles to copy a line of any kernel, for each phase, and for each 16 floats of it, or with stride 2, or a larger stride:
 * fitted with those of depthwise layers. */
static const double LINE_STARTED = 12, LINE_COPIED = 5.6, LINE_SPLIT = 11, LINE_SINGLE = 18;

double sn_line_copied(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double phases = (double)sn_min(p->strideX, (p->kernelX - 1) * p->dilationX + 1);
    const double vector = p->strideX == 1 ? LINE_COPIED : p->strideX == 2 ? LINE_SPLIT : LINE_SINGLE;
    return phases * (LINE_STARTED + sn_of_vectors(c, sn_vectors(c, p->dstW)) * vector);
}

/* ---- other estimates */

bool sn_weights_exceed_l2(const struct sn_convolution * c) { return c->weightSize > sn_cpu()->cacheL2 / 4; }

/* ---- times: rough values suffice, see ops/units.h. With one thread they are not used, and not computed, which would slow
 * down small layers. */

/* The time of a number of products, and of moving `moved` floats for each image. */
static double time_of(const struct sn_convolution * c, double products, double moved)
{
    return (double)c->batch * (sn_cost_of_sums(products, c->table->alignment) + sn_cost_of_bytes(moved));
}

static double elements(size_t size, enum sn_data type) { return (double)(size / sn_element(type)); }

double sn_convolution_32f_time(const struct sn_convolution * c)
{
    if (sn_threads() == 1)
        return 0;
    return time_of(c, elements(c->dstSize, SN_DATA_32F) * sn_depth(c), (double)c->srcSize + (double)c->dstSize);
}

double sn_convolution_dot_time(const struct sn_convolution * c)
{
    const double outputs = elements(c->dstSize, c->p.dstT);
    return time_of(c, outputs * sn_depth(c) / 2, 4 * outputs + 8 * (double)c->srcSize);
}

double sn_deconvolution_32f_time(const struct sn_convolution * c)
{
    const double taps = sn_taps(c) * (double)sn_outputs(c);
    return time_of(c, elements(c->srcSize, SN_DATA_32F) * taps, (double)c->srcSize + (double)c->dstSize);
}
