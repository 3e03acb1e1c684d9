#include <math.h>

#include "contract/channelwise.h"
#include "contract/format.h"
#include "reference/reference.h"

/* The offset of value s of channel c in a tensor with this number of channels. */
static size_t place(const struct sn_channelwise * l, size_t channels, size_t c, size_t s)
{
    const size_t lanes = sn_format_lanes(l->format);
    if (l->format == SN_NHWC)
        return s * channels + c;
    return lanes ? (c / lanes * l->spatial + s) * lanes + c % lanes : c * l->spatial + s;
}

/* The number of channels including the lanes that fill the last block, which are treated like the others. */
static size_t with_lanes(const struct sn_channelwise * l, size_t channels)
{
    const size_t lanes = sn_max(sn_format_lanes(l->format), 1);
    return sn_ceil_div(channels, lanes) * lanes;
}

/* The operands of comparisons are ordered so that NaN propagates. */
static float max0(float x) { return 0 > x ? 0 : x; }
static float min0(float x) { return 0 < x ? 0 : x; }
static double max0_64(double x) { return 0 > x ? 0 : x; }
static double min0_64(double x) { return 0 < x ? 0 : x; }

/* p and q are coefficients of the channel, or scalars of the layer. */
static float exact(enum sn_channelwise_op op, float x, float p, float q)
{
    switch (op) {
    case SN_ADD_BIAS: return x + p;
    case SN_SCALE: return x * p;
    case SN_PRELU: return max0(x) + p * min0(x);
    case SN_FUSED_0:
        x = x + p;
        return (x - fabsf(x)) * q + max0(x);
    default: /* SN_FUSED_3 */
        x = x + p;
        return max0(x) + min0(x) * q;
    }
}

static double bounded(enum sn_channelwise_op op, double x, double y, double p, double q, double r)
{
    switch (op) {
    case SN_SCALE_BIAS: return x * p + q;
    case SN_FUSED_1:
        x = x + p;
        return max0_64(-x) * q + r + max0_64(x);
    case SN_FUSED_2:
        x = x * p + q;
        return max0_64(x) + min0_64(x) * r;
    default: /* SN_FUSED_8 */ return x + y * p;
    }
}

static void pointwise(const struct sn_channelwise * l)
{
    const enum sn_channelwise_op op = l->op;
    for (size_t c = 0; c < with_lanes(l, l->channels); ++c)
        for (size_t s = 0; s < l->spatial; ++s) {
            const size_t i = place(l, l->channels, c, s);
            const float p = l->p[0][c], q = l->p[1] ? l->p[1][c] : 0;
            const float r = op == SN_FUSED_1 ? l->p[2][c] : l->s;
            if (op == SN_SCALE_BIAS || op == SN_FUSED_1 || op == SN_FUSED_2 || op == SN_FUSED_8)
                l->dst[i] = (float)bounded(op, l->src[i], op == SN_FUSED_8 ? l->src1[i] : 0, p, q, r);
            else
                l->dst[i] = exact(op, l->src[i], p, q);
        }
}

static void fused_4(const struct sn_channelwise * l)
{
    for (size_t c = 0; c < l->channels; ++c)
        for (size_t s = 0; s < l->spatial; ++s) {
            const double x = (double)l->src[place(l, l->channels, c, s)] + l->p[0][c];
            l->dst[place(l, 2 * l->channels, c, s)] = (float)max0_64(x);
            l->dst[place(l, 2 * l->channels, l->channels + c, s)] = (float)max0_64(x * l->s + l->t);
        }
}

static void fused_9(const struct sn_channelwise * l)
{
    const size_t channels = l->channels + l->channels1;
    for (size_t c = 0; c < with_lanes(l, channels); ++c)
        for (size_t s = 0; s < l->spatial; ++s) {
            const size_t i = place(l, channels, c, s);
            const float x = c < l->channels ? l->src[place(l, l->channels, c, s)]
                                            : l->src1[place(l, l->channels1, c - l->channels, s)];
            l->dst[i] = (float)max0_64((double)x * l->p[0][c] + l->p[1][c]);
            if (l->dst1)
                l->dst1[i] = x;
        }
}

static void channelwise(const struct sn_channelwise * l)
{
    if (l->op == SN_FUSED_4)
        fused_4(l);
    else if (l->op == SN_FUSED_9)
        fused_9(l);
    else
        pointwise(l);
}

SN_INSTALL(channelwise, channelwise) { slots->layer = channelwise; }
