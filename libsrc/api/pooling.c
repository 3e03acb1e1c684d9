/* Pooling. Every function is a maximum or an average over the axes C, H and W; most functions pool channels separately. */
#include "ops/pooling.h"

#include "api/arrays.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/overlap.h"
#include "api/parameters.h"
#include "dispatch/dispatch.h"

/* The channel axis of functions that pool each channel separately. */
static struct sn_pool_axis each(size_t channels) { return (struct sn_pool_axis){channels, channels, 1, 1, 0}; }

static bool is_each(const struct sn_pool_axis * c)
{
    return c->kernel == 1 && c->stride == 1 && c->pad == 0 && c->src == c->dst;
}

static bool axis_good(const char * function, char letter, const struct sn_pool_axis * axis)
{
    SN_CHECK_FOR(function, axis->kernel > 0, false, "kernel%c is 0, expected at least 1", letter);
    SN_CHECK_FOR(function, axis->stride > 0, false, "stride%c is 0, expected at least 1", letter);
    return true;
}

/* Checks the distances, and the memory of `batch` images; the axes of *p are C, H, W, and only the distances are changed. */
static bool is_apart(const char * function, struct sn_pooling * p, size_t batch, size_t element, SimdTensorFormatType format)
{
    const struct sn_pool_axis * c = &p->axis[0];
    const size_t read = p->axis[1].src * p->axis[2].src, written = p->axis[1].dst * p->axis[2].dst;
    const struct sn_pixel_array src = {"srcPixel", (enum sn_format)format, batch, read, c->src, element};
    const struct sn_pixel_array dst = {"dstPixel", (enum sn_format)format, batch, written, c->dst, element};
    size_t image;
    if (!sn_take_pixel(function, src, &p->srcPixel, &image) || !sn_take_pixel(function, dst, &p->dstPixel, &image))
        return false;
    return sn_rows_apart(function,
                         (struct sn_rows){"dst", p->dst, batch * written, c->dst * element, p->dstPixel * element},
                         (struct sn_rows){"src", p->src, batch * read, c->src * element, p->srcPixel * element});
}

/*
 * Checks all arguments; true if there is something to compute. Elements have `element` bytes. The axes of *p are C, H, W on
 * entry; on return they are in the order in which the tensor stores them, with images that are pooled separately, and
 * channels that are not pooled are `inner`. Distances may be 0 on entry.
 */
static bool prepare(const char * function, struct sn_pooling * p, size_t batch, size_t element, SimdTensorFormatType format)
{
    const struct sn_pool_axis c = p->axis[0], y = p->axis[1], x = p->axis[2];
    size_t src, dst;
    if (!sn_check_format(function, "format", format))
        return false;
    if (!axis_good(function, 'C', &c) || !axis_good(function, 'Y', &y) || !axis_good(function, 'X', &x))
        return false;
    SN_CHECK_FOR(function, sn_product(&src, c.src, y.src, x.src), false,
                 "srcC * srcH * srcW is %zu * %zu * %zu, expected a size that memory can have", c.src, y.src, x.src);
    SN_CHECK_FOR(function, sn_product(&dst, c.dst, y.dst, x.dst), false,
                 "dstC * dstH * dstW is %zu * %zu * %zu, expected a size that memory can have", c.dst, y.dst, x.dst);
    if (dst == 0 || batch == 0)
        return false;
    SN_CHECK_FOR(function, p->src || src == 0, false, "src is NULL, expected an array");
    SN_CHECK_FOR(function, p->dst, false, "dst is NULL, expected an array");
    if (!is_apart(function, p, batch, element, format))
        return false;
    const struct sn_layout_slots * layout = &sn_table()->layout;
    p->transpose = element == 4 ? layout->transpose_32f : element == 2 ? layout->transpose_16b : layout->transpose_8u;
    p->inner = c.src;
    if (format == SimdTensorFormatNhwc && is_each(&c)) {
        p->axis[0] = each(batch);
    } else {
        p->inner = p->srcPixel = p->dstPixel = 1;
        if (is_each(&c))
            p->axis[0] = each(batch * c.src);
        else if (format == SimdTensorFormatNhwc)
            p->axis[0] = y, p->axis[1] = x, p->axis[2] = c;
    }
    for (int a = 0; a < 3; ++a)
        if (src == 0 && p->axis[a].kernel > 1) /* an empty image: windows cover no inputs, even if this extent is not 0 */
            p->axis[a].src = 0;
    return true;
}

/* What a function pools, by the names that the arguments have in all of them, and the axis of channels. */
#define POOLING(...)                                                                                                        \
    {.src = src, .dst = dst,                                                                                                \
     .axis = {__VA_ARGS__, {srcH, dstH, kernelY, strideY, padY}, {srcW, dstW, kernelX, strideX, padX}}}

void SimdSynetPoolingMax32f(const sn_32f * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelC, size_t kernelY,
                            size_t kernelX, size_t strideC, size_t strideY, size_t strideX, size_t padC, size_t padY,
                            size_t padX, sn_32f * dst, size_t dstC, size_t dstH, size_t dstW, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, srcC, srcH, srcW, kernelC, kernelY, kernelX, strideC, strideY, strideX, padC, padY, padX, dstC, dstH,
                    dstW, format);
    struct sn_pooling p = POOLING({srcC, dstC, kernelC, strideC, padC});
    if (prepare(__func__, &p, 1, sizeof(*src), format))
        sn_pooling(sn_table()->pooling.max_32f, &p);
}

void SimdSynetPoolingMax16b(const sn_16b * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY, size_t kernelX,
                            size_t strideY, size_t strideX, size_t padY, size_t padX, sn_16b * dst, size_t dstH,
                            size_t dstW, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, srcC, srcH, srcW, kernelY, kernelX, strideY, strideX, padY, padX, dstH, dstW, format);
    struct sn_pooling p = POOLING(each(srcC));
    if (prepare(__func__, &p, 1, sizeof(*src), format))
        sn_pooling(sn_table()->pooling.max_16b, &p);
}

void SimdSynetPoolingMax8u(const uint8_t * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY, size_t kernelX,
                           size_t strideY, size_t strideX, size_t padY, size_t padX, uint8_t * dst, size_t dstH,
                           size_t dstW, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, srcC, srcH, srcW, kernelY, kernelX, strideY, strideX, padY, padX, dstH, dstW, format);
    struct sn_pooling p = POOLING(each(srcC));
    if (prepare(__func__, &p, 1, sizeof(*src), format))
        sn_pooling(sn_table()->pooling.max_8u, &p);
}

/* Numbers other than 0 and 1 are refused: in these long argument lists they indicate a misplaced argument. */
static bool flag_good(const char * function, const char * name, SimdBool flag)
{
    SN_CHECK_FOR(function, flag == SimdFalse || flag == SimdTrue, false, "%s is %d, expected SimdFalse or SimdTrue", name,
                 (int)flag);
    return true;
}

static void average(const char * function, struct sn_pooling * p, SimdBool excludePad, SimdTensorFormatType format)
{
    p->excludePad = excludePad == SimdTrue;
    if (flag_good(function, "excludePad", excludePad) && prepare(function, p, 1, sizeof(float), format))
        sn_pooling(sn_table()->pooling.average_32f, p);
}

void SimdSynetPoolingAverage(const sn_32f * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY, size_t kernelX,
                             size_t strideY, size_t strideX, size_t padY, size_t padX, sn_32f * dst, size_t dstH,
                             size_t dstW, SimdBool excludePad, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, srcC, srcH, srcW, kernelY, kernelX, strideY, strideX, padY, padX, dstH, dstW, format);
    struct sn_pooling p = POOLING(each(srcC));
    average(__func__, &p, excludePad, format);
}

void SimdSynetPoolingForwardAverage(const sn_32f * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY,
                                    size_t kernelX, size_t strideY, size_t strideX, size_t padY, size_t padX, sn_32f * dst,
                                    size_t dstH, size_t dstW, SimdBool excludePad, SimdTensorFormatType format)
{
    SN_CALL_FORMATS(1, srcC, srcH, srcW, kernelY, kernelX, strideY, strideX, padY, padX, dstH, dstW, format);
    struct sn_pooling p = POOLING(each(srcC));
    average(__func__, &p, excludePad, format);
}

void SimdSynetPoolingForwardMax(const sn_32f * src, size_t srcC, size_t srcH, size_t srcW, size_t kernelY, size_t kernelX,
                                size_t strideY, size_t strideX, size_t padY, size_t padX, sn_32f * dst, size_t dstH,
                                size_t dstW, SimdBool trans)
{
    SN_CALL(srcC, srcH, srcW, kernelY, kernelX, strideY, strideX, padY, padX, dstH, dstW, trans);
    struct sn_pooling p = POOLING(each(srcC));
    if (flag_good(__func__, "trans", trans) &&
        prepare(__func__, &p, 1, sizeof(*src), trans == SimdTrue ? SimdTensorFormatNhwc : SimdTensorFormatNchw))
        sn_pooling(sn_table()->pooling.max_32f, &p);
}

/* The kernel of a data type, and the bytes of its elements; NULL if there is none. */
static sn_pooling_fn pooling_of(bool average, SimdTensorDataType type, size_t * element)
{
    const struct sn_pooling_slots * slots = &sn_table()->pooling;
    *element = type == SimdTensorData32f ? sizeof(float) : type == SimdTensorData16b ? sizeof(uint16_t) : sizeof(uint8_t);
    switch (type) {
    case SimdTensorData32f: return average ? slots->average_32f : slots->max_32f;
    case SimdTensorData16b: return average ? slots->average_16b : slots->max_16b;
    case SimdTensorData8u: return average ? NULL : slots->max_8u;
    default: return NULL;
    }
}

void SimdnetPooling(const SimdnetPoolingParameters * parameters)
{
    SN_BEGIN();
    if (!sn_is_known(__func__, parameters, sizeof(*parameters)))
        return;
    const SimdnetPoolingParameters * q = parameters;
    SN_CALL_FORMATS(1, q->type, q->dataType, q->batch, q->channels, q->srcH, q->srcW, q->srcPixel, q->kernelY, q->kernelX,
                    q->strideY, q->strideX, q->padY, q->padX, q->dstH, q->dstW, q->dstPixel, q->format);
    struct sn_pooling p = {.src = q->src, .dst = q->dst, .srcPixel = q->srcPixel, .dstPixel = q->dstPixel,
                           .axis = {each(q->channels), {q->srcH, q->dstH, q->kernelY, q->strideY, q->padY},
                                    {q->srcW, q->dstW, q->kernelX, q->strideX, q->padX}}};
    const bool average = q->type == SimdnetPoolingAverage;
    size_t element;
    const sn_pooling_fn pooling = pooling_of(average, q->dataType, &element);
    SN_CHECK(q->type == SimdnetPoolingMax || q->type == SimdnetPoolingAverage, SN_VOID,
             "type is %d, expected SimdnetPoolingMax or SimdnetPoolingAverage", (int)q->type);
    SN_CHECK(pooling, SN_VOID,
             "dataType is %s, expected SimdTensorData32f, SimdTensorData16b or, for maxima, SimdTensorData8u",
             SN_NAME(sn_data_types, q->dataType));
    p.excludePad = average && q->excludePad == SimdTrue;
    if ((!average || flag_good(__func__, "excludePad", q->excludePad)) &&
        prepare(__func__, &p, q->batch, element, q->format))
        sn_pooling(pooling, &p);
}
