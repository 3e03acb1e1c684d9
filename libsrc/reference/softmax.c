
#include "contract/softmax.h"
#include "reference/libm.h"
#include "reference/reference.h"

/* One line: `count` values, `step` apart. If the maximum is infinite, or any value is NaN, the formula gives NaN. */
static void softmax_line(const sn_32f * src, size_t count, size_t step, sn_32f * dst)
{
    float max = src[0];
    for (size_t c = 1; c < count; ++c)
        max = src[c * step] > max ? src[c * step] : max;
    double sum = 0;
    for (size_t c = 0; c < count; ++c)
        sum += sn_exp((double)src[c * step] - max);
    for (size_t c = 0; c < count; ++c)
        dst[c * step] = (float)(sn_exp((double)src[c * step] - max) / sum);
}

static void softmax_32f(const sn_32f * src, size_t outer, size_t count, size_t inner, sn_32f * dst)
{
    for (size_t o = 0; o < outer; ++o)
        for (size_t i = 0; i < inner; ++i)
            softmax_line(src + o * count * inner + i, count, inner, dst + o * count * inner + i);
}

SN_INSTALL(softmax, softmax) { slots->run_32f = softmax_32f; }
