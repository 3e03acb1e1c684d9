/* Quantised depthwise convolution: 3x3, other kernels by columns of lines, all others by taps, and that of flat lines. */
#include "contract/convolution_8i.h"
#include "kernels/install.h"

#include <joined_8i.h>

#include "kernels/depthwise/columns_8i.h"
#include "kernels/depthwise/flat_8i.h"
#include "kernels/depthwise/lines_8i.h"
#include "kernels/depthwise/taps_8i.h"

#include <depthwise_any_8i.h>

static struct columns columns_for(const struct sn_convolution_parameters * p)
{
    return columns_of(p->kernelY, p->kernelX, p->strideY, p->strideX);
}

static bool is_3x3(const struct sn_convolution_parameters * p)
{
    return p->kernelY == 3 && p->kernelX == 3 && p->strideY == p->strideX && p->strideX <= 2;
}

static bool by_lines(const struct sn_convolution_parameters * p)
{
    const struct columns c = columns_for(p);
    const bool all = p->kernelY >= p->strideY && p->kernelX >= p->strideX; /* else drivers copy only the pixels that are used */
    return p->dilationY == 1 && p->dilationX == 1 && all && (is_3x3(p) || fit_columns(&c));
}

static size_t depthwise_size(const struct sn_convolution_parameters * p)
{
    const struct columns c = columns_for(p);
    return !by_lines(p) ? any_size(p->kernelY * p->kernelX, p->dstC)
           : is_3x3(p)  ? lines_size(p->dstC)
                        : columns_size(&c, p->dstC);
}

static void depthwise_pack(const struct sn_convolution_parameters * p, const int8_t * weight, void * packed)
{
    const struct columns c = columns_for(p);
    if (!by_lines(p))
        any_pack(weight, p->srcF == SN_NCHW, p->kernelY * p->kernelX, p->dstC, packed);
    else if (is_3x3(p))
        lines_pack(p, weight, packed);
    else
        columns_pack(&c, p, weight, packed);
}

static void depthwise_run(const struct sn_depthwise_run_8i * d)
{
    const struct columns c = columns_of(d->kernelY, d->kernelX, d->strideY, d->strideX);
    if (d->tap)
        any_run(d);
    else if (d->kernelY == 3 && d->kernelX == 3 && d->strideY == d->strideX && d->strideX <= 2)
        run_blocks(d, run_lines, BLOCK_WEIGHTS);
    else
        run_blocks(d, run_all_columns, columns_weights(&c));
}

/* Sums that are floats. */
static void sums(sn_32f * floats, const struct sn_result_8i * result, size_t channels, size_t pixels, uint8_t * dst,
                 size_t dstStep)
{
    const size_t element = result->bytes ? 1 : sizeof(float);
    int32_t * integers = (int32_t *)(void *)floats;
    v_store_32f(floats + channels * pixels, v_zero_32f()); /* which is read with the last sums */
    for (size_t i = 0; i < channels * pixels; i += V32F_N)
        v_store_32i(integers + i, v_cvt_32f_32i(v_load_32f(floats + i)));
    for (size_t at = 0; at < channels; at += V8U_N) {
        const struct sn_result_8i part = result_from(result, at);
        result_rows(integers + at, channels, &part, sn_min(channels - at, V8U_N), dst + at * element, dstStep, pixels);
    }
}

SN_INSTALL(depthwise_8i, convolution_8i)
{
    slots->depthwise = (struct sn_depthwise_8i){depthwise_run, by_lines, depthwise_size, depthwise_pack};
    slots->sums = V_FMA && JOINED == 2 && V8U_N >= 32 ? sums : NULL;
    slots->flat = (struct sn_flat_8i){flat_run, flat_size, flat_pack};
}
