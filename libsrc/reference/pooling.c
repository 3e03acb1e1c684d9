/* Pooling: for each output a loop over its window. Positions are computed in 128 bits, so that no product overflows. */
#include <float.h>

#include "contract/pooling.h"
#include "reference/reference.h"
#include "runtime/numeric.h"

__extension__ typedef __int128 wide;

/* The inputs begin .. end - 1 that output i of an axis covers. */
struct window {
    size_t begin, end;
};

static size_t clip(wide position, size_t size)
{
    return position < 0 ? 0 : position > (wide)size ? size : (size_t)position;
}

static struct window window_of(const struct sn_pool_axis * axis, size_t i)
{
    const wide begin = (wide)i * axis->stride - axis->pad;
    return (struct window){clip(begin, axis->src), clip(begin + axis->kernel, axis->src)};
}

/* Calls one(p, windows, c, index of the output) for every output of the units. */
typedef void (*one_fn)(const struct sn_pooling * p, const struct window * w, size_t c, size_t output);

static void for_each_output(const struct sn_pooling * p, size_t begin, size_t end, one_fn one)
{
    const size_t rows = p->axis[1].dst, pairs = sn_pooling_pairs(p);
    for (size_t u = begin; u < end; ++u)
        for (size_t o1 = u % pairs * 2; o1 < sn_min(u % pairs * 2 + 2, rows); ++o1)
            for (size_t o2 = 0; o2 < p->axis[2].dst; ++o2)
                for (size_t c = 0; c < p->inner; ++c) {
                    const size_t o0 = u / pairs;
                    const struct window w[3] = {window_of(&p->axis[0], o0), window_of(&p->axis[1], o1),
                                                window_of(&p->axis[2], o2)};
                    one(p, w, c, ((o0 * rows + o1) * p->axis[2].dst + o2) * p->dstPixel + c);
                }
}

static size_t input(const struct sn_pooling * p, size_t i0, size_t i1, size_t i2, size_t c)
{
    return ((i0 * p->axis[1].src + i1) * p->axis[2].src + i2) * p->srcPixel + c;
}

static void max_32f(const struct sn_pooling * p, const struct window * w, size_t c, size_t output)
{
    const sn_32f * src = p->src;
    float max = -FLT_MAX;
    for (size_t i0 = w[0].begin; i0 < w[0].end; ++i0)
        for (size_t i1 = w[1].begin; i1 < w[1].end; ++i1)
            for (size_t i2 = w[2].begin; i2 < w[2].end; ++i2) {
                const float x = src[input(p, i0, i1, i2, c)];
                max = x > max ? x : max;
            }
    ((sn_32f *)p->dst)[output] = max;
}

static void max_16b(const struct sn_pooling * p, const struct window * w, size_t c, size_t output)
{
    const sn_16b * src = p->src;
    float max = -FLT_MAX;
    for (size_t i0 = w[0].begin; i0 < w[0].end; ++i0)
        for (size_t i1 = w[1].begin; i1 < w[1].end; ++i1)
            for (size_t i2 = w[2].begin; i2 < w[2].end; ++i2) {
                const float x = sn_16b_to_32f(src[input(p, i0, i1, i2, c)]);
                max = x > max ? x : max;
            }
    ((sn_16b *)p->dst)[output] = sn_32f_to_16b(max);
}

static void max_8u(const struct sn_pooling * p, const struct window * w, size_t c, size_t output)
{
    const uint8_t * src = p->src;
    uint8_t max = 0;
    for (size_t i0 = w[0].begin; i0 < w[0].end; ++i0)
        for (size_t i1 = w[1].begin; i1 < w[1].end; ++i1)
            for (size_t i2 = w[2].begin; i2 < w[2].end; ++i2) {
                const uint8_t x = src[input(p, i0, i1, i2, c)];
                max = x > max ? x : max;
            }
    ((uint8_t *)p->dst)[output] = max;
}

static double divisor_of(const struct sn_pooling * p, const struct window * w)
{
    double divisor = 1;
    for (int a = 0; a < 3; ++a)
        divisor *= (double)(p->excludePad ? w[a].end - w[a].begin : p->axis[a].kernel);
    return divisor;
}

static void average_32f(const struct sn_pooling * p, const struct window * w, size_t c, size_t output)
{
    const sn_32f * src = p->src;
    double sum = 0;
    for (size_t i0 = w[0].begin; i0 < w[0].end; ++i0)
        for (size_t i1 = w[1].begin; i1 < w[1].end; ++i1)
            for (size_t i2 = w[2].begin; i2 < w[2].end; ++i2)
                sum += src[input(p, i0, i1, i2, c)];
    ((sn_32f *)p->dst)[output] = (float)(sum / divisor_of(p, w));
}

static void average_16b(const struct sn_pooling * p, const struct window * w, size_t c, size_t output)
{
    const sn_16b * src = p->src;
    double sum = 0;
    for (size_t i0 = w[0].begin; i0 < w[0].end; ++i0)
        for (size_t i1 = w[1].begin; i1 < w[1].end; ++i1)
            for (size_t i2 = w[2].begin; i2 < w[2].end; ++i2)
                sum += sn_16b_to_32f(src[input(p, i0, i1, i2, c)]);
    ((sn_16b *)p->dst)[output] = sn_32f_to_16b((float)(sum / divisor_of(p, w)));
}

static void pooling_max_32f(const struct sn_pooling * p, size_t begin, size_t end)
{
    for_each_output(p, begin, end, max_32f);
}

static void pooling_max_16b(const struct sn_pooling * p, size_t begin, size_t end)
{
    for_each_output(p, begin, end, max_16b);
}

static void pooling_max_8u(const struct sn_pooling * p, size_t begin, size_t end) { for_each_output(p, begin, end, max_8u); }

static void pooling_average_32f(const struct sn_pooling * p, size_t begin, size_t end)
{
    for_each_output(p, begin, end, average_32f);
}

static void pooling_average_16b(const struct sn_pooling * p, size_t begin, size_t end)
{
    for_each_output(p, begin, end, average_16b);
}

SN_INSTALL(pooling, pooling)
{
    slots->max_32f = pooling_max_32f;
    slots->max_16b = pooling_max_16b;
    slots->max_8u = pooling_max_8u;
    slots->average_32f = pooling_average_32f;
    slots->average_16b = pooling_average_16b;
}
