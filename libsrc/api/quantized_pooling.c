#include "ops/bytes/quantized_pooling.h"

#include <float.h>

#include "api/arrays.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/parameters.h"

#define CHECK(condition, ...) SN_CHECK_FOR(function, condition, false, __VA_ARGS__)

typedef SimdnetQuantizedPoolingParameters parameters_t;

static bool is_scale(const char * function, const char * name, float scale)
{
    CHECK(scale > 0 && scale <= FLT_MAX, "%s is %g, expected a finite number above 0", name, (double)scale);
    return true;
}

static bool is_zero(const char * function, const char * name, int32_t zero, int least)
{
    CHECK(zero >= least && zero <= least + 255, "%s is %d, expected %d .. %d", name, (int)zero, least, least + 255);
    return true;
}

static bool has_types(const char * function, const parameters_t * q)
{
    CHECK((unsigned)q->type <= SimdnetQuantizedPoolingGlobalAverage,
          "type is %d, expected SimdnetQuantizedPoolingMax, Average or GlobalAverage", (int)q->type);
    CHECK(q->dataType == SimdTensorData8u || q->dataType == SimdTensorData8i,
          "dataType is %s, expected SimdTensorData8u or SimdTensorData8i", SN_NAME(sn_data_types, q->dataType));
    if (!sn_check_format(function, "format", q->format))
        return false;
    if (q->type == SimdnetQuantizedPoolingMax)
        return true;
    const int least = q->dataType == SimdTensorData8i ? -128 : 0;
    return is_scale(function, "scaleSrc", q->scaleSrc) && is_scale(function, "scaleDst", q->scaleDst) &&
           is_zero(function, "zeroSrc", q->zeroSrc, least) && is_zero(function, "zeroDst", q->zeroDst, least);
}

/* An axis: no position of a window overflows. */
static bool is_axis(const char * function, char letter, const size_t sizes[6])
{
    const char * const names[] = {"src", "kernel", "stride", "pad before", "pad behind", "dst"};
    CHECK(sizes[1] > 0, "kernel%c is 0, expected at least 1", letter == 'H' ? 'Y' : 'X');
    CHECK(sizes[2] > 0, "stride%c is 0, expected at least 1", letter == 'H' ? 'Y' : 'X');
    for (int i = 0; i < 6; ++i)
        CHECK(sizes[i] <= SN_QUANTIZED_EXTENT, "%s of axis %c is %zu, expected at most 2^31 - 1", names[i], letter,
              sizes[i]);
    return true;
}

static bool has_axes(const char * function, const parameters_t * q)
{
    if (q->type == SimdnetQuantizedPoolingGlobalAverage)
        return true;
    CHECK(q->excludePad == SimdFalse || q->excludePad == SimdTrue, "excludePad is %d, expected SimdFalse or SimdTrue",
          (int)q->excludePad);
    const size_t y[] = {q->srcH, q->kernelY, q->strideY, q->padY, q->padH, q->dstH};
    const size_t x[] = {q->srcW, q->kernelX, q->strideX, q->padX, q->padW, q->dstW};
    return is_axis(function, 'H', y) && is_axis(function, 'W', x);
}

static bool has_arrays(const char * function, const parameters_t * q, size_t src, size_t dst)
{
    CHECK(q->src || src == 0, "src is NULL, expected an array");
    CHECK(q->dst, "dst is NULL, expected an array");
    return sn_apart(function, (struct sn_array){"dst", q->dst, dst}, (struct sn_array){"src", q->src, src});
}

void SimdnetQuantizedPooling(const SimdnetQuantizedPoolingParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const parameters_t * q = parameters;
    SN_CALL_FORMATS(1, q->type, q->dataType, q->batch, q->channels, q->srcH, q->srcW, q->kernelY, q->kernelX, q->strideY,
                    q->strideX, q->padY, q->padX, q->dstH, q->dstW, q->format);
    if (!has_types(__func__, q) || !has_axes(__func__, q))
        return;
    const bool global = q->type == SimdnetQuantizedPoolingGlobalAverage;
    const size_t dstH = global ? 1 : q->dstH, dstW = global ? 1 : q->dstW;
    size_t src, dst;
    SN_CHECK(sn_product(&src, q->batch, q->channels, q->srcH, q->srcW), SN_VOID,
             "batch * channels * srcH * srcW is %zu * %zu * %zu * %zu, expected a size that memory can have", q->batch,
             q->channels, q->srcH, q->srcW);
    SN_CHECK(sn_product(&dst, q->batch, q->channels, dstH, dstW), SN_VOID,
             "batch * channels * dstH * dstW is %zu * %zu * %zu * %zu, expected a size that memory can have", q->batch,
             q->channels, dstH, dstW);
    if (dst == 0 || !has_arrays(__func__, q, src, dst))
        return;
    const struct sn_quantized_pooling p = {q->channels, src ? q->srcH : 0, src ? q->srcW : 0, dstH, dstW, q->kernelY,
        q->kernelX, q->strideY, q->strideX, q->padY, q->padX, q->padH, q->padW, q->excludePad == SimdTrue,
        q->dataType == SimdTensorData8i, q->scaleSrc, q->scaleDst, q->zeroSrc, q->zeroDst};
    if (!sn_quantized_pooling(&p, (enum sn_quantized_pool)q->type, q->format == SimdTensorFormatNchw, q->batch, q->src,
                              q->dst))
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for a buffer");
}
