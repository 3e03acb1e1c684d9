/* Functions of images and of arrays of several dimensions, and the transforms of Winograd's algorithm. */
#include "contract/enums.h"
#include "elementwise.h"
#include "fuzz.h"

/* ---- pooling */

struct window {
    size_t c, h, w, kernelY, kernelX, strideY, strideX, padY, padX, dstH, dstW;
};

/* Usually the size that follows from the other parameters, as programs have it. */
static size_t pooled(size_t src, size_t kernel, size_t stride, size_t pad)
{
    if (fuzz_byte() % 4 == 1)
        return fuzz_size(12);
    const size_t padded = src + 2 * pad;
    return stride && padded >= kernel && padded < 1000 ? (padded - kernel) / stride + 1 : 1;
}

static size_t padding(void) { return fuzz_byte() >= 250 ? fuzz_size(3) : fuzz_pick(0, 3); }

static struct window some_window(void)
{
    struct window p = {.c = fuzz_size(40), .h = fuzz_size(12), .w = fuzz_size(20)};
    p.kernelY = fuzz_size(5), p.kernelX = fuzz_size(5), p.strideY = fuzz_size(3), p.strideX = fuzz_size(3);
    p.padY = padding(), p.padX = padding();
    p.dstH = pooled(p.h, p.kernelY, p.strideY, p.padY), p.dstW = pooled(p.w, p.kernelX, p.strideX, p.padX);
    return p;
}

static void pooling(void)
{
    const size_t which = fuzz_pick(0, 5);
    const struct window p = some_window();
    const SimdBool exclude = (SimdBool)fuzz_enum(2);
    const SimdTensorFormatType format = (SimdTensorFormatType)fuzz_enum(2);
    const bool three = which == 1;
    const size_t kernelC = three ? fuzz_size(4) : 1, strideC = three ? fuzz_size(3) : 1, padC = three ? padding() : 0;
    const size_t dstC = three ? fuzz_size(20) : p.c;
    const enum fuzz_type type = which == 2 ? B16 : which == 3 ? U8 : F32;
    const void * src = fuzz_in(type, CELLS(p.c, p.h, p.w));
    void * dst = fuzz_out(type, CELLS(dstC, p.dstH, p.dstW));
    if (fuzz_wild() || which >= 4)
        fuzz_close();
    switch (which) {
    case 0:
        CALL(SimdSynetPoolingForwardMax, src, p.c, p.h, p.w, p.kernelY, p.kernelX, p.strideY, p.strideX, p.padY, p.padX, dst,
             p.dstH, p.dstW, (SimdBool)format);
        break;
    case 1:
        CALL(SimdSynetPoolingMax32f, src, p.c, p.h, p.w, kernelC, p.kernelY, p.kernelX, strideC, p.strideY, p.strideX, padC,
             p.padY, p.padX, dst, dstC, p.dstH, p.dstW, format);
        break;
    case 2:
        CALL(SimdSynetPoolingMax16b, src, p.c, p.h, p.w, p.kernelY, p.kernelX, p.strideY, p.strideX, p.padY, p.padX, dst,
             p.dstH, p.dstW, format);
        break;
    case 3:
        CALL(SimdSynetPoolingMax8u, src, p.c, p.h, p.w, p.kernelY, p.kernelX, p.strideY, p.strideX, p.padY, p.padX, dst,
             p.dstH, p.dstW, format);
        break;
    case 4:
        CALL(SimdSynetPoolingAverage, src, p.c, p.h, p.w, p.kernelY, p.kernelX, p.strideY, p.strideX, p.padY, p.padX, dst,
             p.dstH, p.dstW, exclude, format);
        break;
    default:
        CALL(SimdSynetPoolingForwardAverage, src, p.c, p.h, p.w, p.kernelY, p.kernelX, p.strideY, p.strideX, p.padY, p.padX,
             dst, p.dstH, p.dstW, exclude, format);
    }
}

/* The distance of pixels of `channels` elements; sometimes a wrong one. */
static size_t pixel(size_t channels)
{
    const uint8_t byte = fuzz_byte();
    return byte % 3 == 0 ? 0 : byte >= 250 ? fuzz_size(9) : channels < 1000 ? channels + byte % 5 : channels;
}

static size_t pixels_span(size_t pixels, size_t distance, size_t channels)
{
    return fuzz_span(pixels, distance ? distance : channels, channels);
}

static void pooling_of_pixels(void)
{
    const struct window w = some_window();
    SimdnetPoolingParameters p = {.size = sizeof(p), .channels = w.c, .srcH = w.h, .srcW = w.w, .dstH = w.dstH, .dstW = w.dstW,
        .kernelY = w.kernelY, .kernelX = w.kernelX, .strideY = w.strideY, .strideX = w.strideX, .padY = w.padY,
        .padX = w.padX};
    const SimdTensorDataType types[] = {SimdTensorData32f, SimdTensorData16b, SimdTensorData8u};
    const size_t which = fuzz_pick(0, 2);
    p.type = (SimdnetPoolingType)fuzz_enum(2), p.dataType = types[which], p.format = (SimdTensorFormatType)fuzz_enum(2);
    p.batch = fuzz_size(2), p.excludePad = (SimdBool)fuzz_enum(2);
    p.srcPixel = pixel(p.channels), p.dstPixel = pixel(p.channels);
    const enum fuzz_type type = which == 1 ? B16 : which == 2 ? U8 : F32;
    const bool nhwc = p.format == SimdTensorFormatNhwc;
    p.src = fuzz_in(type, nhwc ? pixels_span(CELLS(p.batch, p.srcH, p.srcW), p.srcPixel, p.channels)
                               : CELLS(p.batch, p.channels, p.srcH, p.srcW));
    p.dst = fuzz_out(type, nhwc ? pixels_span(CELLS(p.batch, p.dstH, p.dstW), p.dstPixel, p.channels)
                                : CELLS(p.batch, p.channels, p.dstH, p.dstW));
    if (fuzz_wild() || p.type == SimdnetPoolingAverage)
        fuzz_near(type == B16 ? 0x1p-6 : 0x1p-9);
    CALL(SimdnetPooling, &p);
}

static void pixelwise(void)
{
    SimdnetPixelwiseParameters p = {.size = sizeof(p)};
    p.function = (SimdnetPixelwiseFunction)fuzz_enum(PIXELWISE_FUNCTIONS);
    p.channels = fuzz_size(30), p.pixels = fuzz_size(30);
    p.srcPixel = pixel(p.channels), p.src1Pixel = pixel(p.channels), p.dstPixel = pixel(p.channels);
    p.params[0] = fuzz_number(), p.params[1] = fuzz_number();
    const bool two = p.function >= SimdnetPixelwiseProduct && p.function <= SimdnetPixelwiseMin;
    const bool coefficients = p.function >= SimdnetPixelwiseAddBias && p.function <= SimdnetPixelwisePrelu;
    p.scale = coefficients ? fuzz_in(F32, p.channels) : NULL;
    p.bias = coefficients ? fuzz_in(F32, p.channels) : NULL;
    p.src1 = two ? fuzz_in(F32, pixels_span(p.pixels, p.src1Pixel, p.channels)) : NULL;
    p.src = fuzz_in(F32, pixels_span(p.pixels, p.srcPixel, p.channels));
    p.dst = p.srcPixel == p.dstPixel ? fuzz_out_or_source(F32, pixels_span(p.pixels, p.dstPixel, p.channels))
                                     : fuzz_out(F32, pixels_span(p.pixels, p.dstPixel, p.channels));
    if (p.function != SimdnetPixelwiseCopy && p.function != SimdnetPixelwiseNot)
        fuzz_close();
    CALL(SimdnetPixelwise, &p);
}

/* ---- any dimensions */

static const SimdTensorDataType data_types[] = {SimdTensorData32f, SimdTensorData8u, SimdTensorData16b, SimdTensorData64i};
static const enum fuzz_type element_types[] = {I32, U8, B16, I64};

static size_t some_shape(size_t * shape, size_t most)
{
    const size_t count = fuzz_byte() >= 250 ? fuzz_size(10) : fuzz_pick(0, most);
    for (size_t i = 0; i < 8 && i < count; ++i)
        shape[i] = fuzz_size(i % 2 ? 9 : 5);
    return count;
}

static size_t known(size_t count) { return count < 8 ? count : 8; }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* What an array with strides needs before and behind the element with all indices 0. */
struct extent {
    size_t before, behind;
};

static struct extent extent_of(const size_t * shape, const ptrdiff_t * stride, size_t count)
{
    struct extent e = {0, 0};
    for (size_t i = 0; i < known(count); ++i)
        if (shape[i] == 0)
            return (struct extent){0, 0};
    for (size_t i = 0; i < known(count); ++i) {
        const size_t way = CELLS(shape[i] - 1, (size_t)(stride[i] < 0 ? -stride[i] : stride[i]));
        size_t * side = stride[i] < 0 ? &e.before : &e.behind;
        *side = *side > SIZE_MAX / 2 || way > SIZE_MAX / 2 ? SIZE_MAX / 2 : *side + way;
    }
    ++e.behind;
    return e;
}

/* Strides of a dense array of some order of its dimensions, larger ones at times, negative ones, or of no system. */
static void some_strides(const size_t * shape, size_t count, bool source, ptrdiff_t * stride)
{
    const bool reversed = fuzz_chance();
    size_t step = 1 + (fuzz_byte() % 4 == 1);
    for (size_t i = 0; i < known(count); ++i) {
        const size_t k = reversed ? i : known(count) - 1 - i;
        const uint8_t byte = fuzz_byte();
        stride[k] = byte >= 252 ? (ptrdiff_t)(byte % 7) : byte % 8 == 7 && source ? 0 : (ptrdiff_t)step;
        if (byte % 8 == 5)
            stride[k] = -stride[k];
        step *= shape[k] < 100 && shape[k] ? shape[k] + (byte % 16 == 9) : 1;
    }
}

static void copy(void)
{
    SimdnetCopyParameters p = {.size = sizeof(p)};
    const size_t which = fuzz_pick(0, 3);
    p.dataType = data_types[which];
    p.count = some_shape(p.shape, 6);
    some_strides(p.shape, p.count, true, p.srcStride);
    some_strides(p.shape, p.count, false, p.dstStride);
    const struct extent src = extent_of(p.shape, p.srcStride, p.count), dst = extent_of(p.shape, p.dstStride, p.count);
    const size_t bytes = which == 0 ? 4 : which == 1 ? 1 : which == 2 ? 2 : 8;
    const char * from = fuzz_in(element_types[which], src.before + src.behind);
    char * to = fuzz_out(element_types[which], dst.before + dst.behind);
    p.src = from && src.before < (size_t)1 << 40 ? from + src.before * bytes : from;
    p.dst = to && dst.before < (size_t)1 << 40 ? to + dst.before * bytes : to;
    CALL(SimdnetCopy, &p);
}

static void pad(void)
{
    SimdnetPadParameters p = {.size = sizeof(p)};
    const size_t which = fuzz_pick(0, 3);
    p.dataType = data_types[which];
    p.mode = (SimdnetPadMode)fuzz_enum(4);
    p.count = some_shape(p.shape, 4);
    size_t result[8];
    for (size_t i = 0; i < known(p.count); ++i) {
        p.before[i] = padding(), p.after[i] = padding();
        result[i] = p.shape[i] > SIZE_MAX / 4 || p.before[i] > SIZE_MAX / 4 || p.after[i] > SIZE_MAX / 4
                        ? SIZE_MAX : p.shape[i] + p.before[i] + p.after[i];
    }
    p.value = fuzz_chance() ? fuzz_in(element_types[which], 1) : NULL;
    p.src = fuzz_in(element_types[which], fuzz_cells(p.shape, known(p.count)));
    p.dst = fuzz_out(element_types[which], fuzz_cells(result, known(p.count)));
    CALL(SimdnetPad, &p);
}

static void reduce(void)
{
    SimdnetReduceParameters p = {.size = sizeof(p)};
    p.operation = (SimdnetReduceOperation)fuzz_enum(11);
    p.count = some_shape(p.shape, 5);
    p.last = (SimdBool)fuzz_enum(2);
    const uint8_t mask = fuzz_byte();
    const size_t only = mask % (known(p.count) + 1);
    const bool arg = p.operation == SimdnetReduceArgMax || p.operation == SimdnetReduceArgMin;
    size_t result = 1;
    for (size_t i = 0; i < known(p.count); ++i) {
        p.reduced[i] = (SimdBool)(arg ? i == only : mask >> i & 1);
        result = p.reduced[i] ? result : CELLS(result, p.shape[i]);
    }
    static const enum fuzz_type elements[] = {F32, I32, I8, U8, I64, I64, U8};
    const size_t type = fuzz_byte() % 2 ? fuzz_pick(0, 6) : 0;
    p.dataType = (SimdTensorDataType)type;
    p.src = fuzz_in(elements[type], fuzz_cells(p.shape, known(p.count)));
    p.dst = fuzz_out(arg ? I64 : elements[type], result);
    if (type == 0 && !arg && p.operation != SimdnetReduceMax && p.operation != SimdnetReduceMin)
        fuzz_close();
    CALL(SimdnetReduce, &p);
}

static void binary(void)
{
    SimdnetBinaryParameters p = {.size = sizeof(p)};
    p.operation = (SimdnetBinaryOperation)fuzz_enum(SN_BINARY_OPERATIONS);
    p.count = some_shape(p.shape, 5);
    for (size_t i = 0; i < known(p.count); ++i) {
        const uint8_t byte = fuzz_byte();
        p.aShape[i] = byte % 4 == 1 ? 1 : p.shape[i];
        p.bShape[i] = byte % 4 == 2 || byte >= 250 ? 1 : p.shape[i];
    }
    p.activation = (SimdConvolutionActivationType)(fuzz_byte() % 4 ? 0 : fuzz_enum(11));
    p.params[0] = fuzz_number(), p.params[1] = fuzz_number();
    const size_t count = known(p.count);
    p.b = fuzz_in(F32, fuzz_cells(p.bShape, count));
    p.a = fuzz_in(F32, fuzz_cells(p.aShape, count));
    p.dst = fuzz_out_or_source(F32, fuzz_cells(p.shape, count));
    if (p.operation == SimdnetBinaryPower || p.activation)
        fuzz_near(0x1p-6);
    CALL(SimdnetBinary, &p);
}

/* Shapes that are broadcast, of some of a function's operands. */
static void some_operands(size_t count, const size_t * shape, size_t * first, size_t * second)
{
    for (size_t i = 0; i < known(count); ++i) {
        const uint8_t byte = fuzz_byte();
        first[i] = byte % 4 == 1 ? 1 : shape[i];
        second[i] = byte % 4 == 2 || byte >= 250 ? 1 : shape[i];
    }
}

static void elementwise(void)
{
    static const enum fuzz_type elements[] = {F32, I32, I8, U8, I64, I64, U8};
    SimdnetElementwiseParameters p = {.size = sizeof(p)};
    const size_t type = fuzz_pick(0, 6);
    p.operation = (SimdnetElementwiseOperation)fuzz_enum(18);
    p.dataType = (SimdTensorDataType)type;
    p.count = some_shape(p.shape, 5);
    some_operands(p.count, p.shape, p.aShape, p.bShape);
    const size_t count = known(p.count);
    p.b = fuzz_in(elements[type], fuzz_cells(p.bShape, count));
    p.a = fuzz_in(elements[type], fuzz_cells(p.aShape, count));
    const enum fuzz_type result = p.operation >= SimdnetElementwiseEqual ? U8 : elements[type];
    p.dst = fuzz_out_or_source(result, fuzz_cells(p.shape, count));
    CALL(SimdnetElementwise, &p);
}

static void quantized_binary(void)
{
    SimdnetQuantizedBinaryParameters p = {.size = sizeof(p)};
    const bool negative = fuzz_chance();
    const int32_t least = negative ? -128 : 0;
    p.operation = fuzz_chance() ? SimdnetBinaryAdd : SimdnetBinaryMultiply;
    p.dataType = negative ? SimdTensorData8i : SimdTensorData8u;
    p.aScale = fuzz_number(), p.bScale = fuzz_number(), p.dstScale = fuzz_number();
    p.aZero = (int32_t)fuzz_pick(0, 255) + least, p.bZero = (int32_t)fuzz_pick(0, 255) + least;
    p.dstZero = (int32_t)fuzz_pick(0, 255) + least;
    p.count = some_shape(p.shape, 5);
    some_operands(p.count, p.shape, p.aShape, p.bShape);
    const size_t count = known(p.count);
    p.b = fuzz_in(U8, fuzz_cells(p.bShape, count));
    p.a = fuzz_in(U8, fuzz_cells(p.aShape, count));
    p.dst = fuzz_out_or_source(U8, fuzz_cells(p.shape, count));
    CALL(SimdnetQuantizedBinary, &p);
}

static void selection(void)
{
    SimdnetSelectParameters p = {.size = sizeof(p)};
    const size_t which = fuzz_pick(0, 3);
    p.dataType = data_types[which];
    p.count = some_shape(p.shape, 5);
    some_operands(p.count, p.shape, p.aShape, p.bShape);
    some_operands(p.count, p.shape, p.conditionShape, p.conditionShape);
    const size_t count = known(p.count);
    p.condition = fuzz_in(U8, fuzz_cells(p.conditionShape, count));
    p.a = fuzz_in(element_types[which], fuzz_cells(p.aShape, count));
    p.b = fuzz_in(element_types[which], fuzz_cells(p.bShape, count));
    p.dst = fuzz_out(element_types[which], fuzz_cells(p.shape, count));
    CALL(SimdnetSelect, &p);
}

static const int64_t * some_places(size_t count, size_t extent)
{
    const size_t most = least(extent, 100);
    int64_t index[12];
    for (size_t i = 0; i < 12; ++i)
        index[i] = fuzz_byte() >= 250 ? (int64_t)fuzz_size(20) : (int64_t)fuzz_pick(0, most * 2) - (int64_t)most;
    return count <= 12 ? fuzz_given(index, I64, count) : fuzz_in(I64, count);
}

static void scatter_elements(void)
{
    SimdnetScatterElementsParameters p = {.size = sizeof(p)};
    const size_t which = fuzz_pick(0, 3);
    p.dataType = data_types[which];
    p.reduction = (SimdnetScatterReduction)fuzz_enum(5);
    p.count = some_shape(p.shape, 4), p.axis = fuzz_pick(0, 3);
    for (size_t i = 0; i < known(p.count); ++i) {
        const uint8_t byte = fuzz_byte();
        p.updatesShape[i] = i == p.axis ? fuzz_size(5) : byte >= 200 ? fuzz_size(9) : p.shape[i];
        p.indexShape[i] = byte % 3 ? p.updatesShape[i] : 1;
    }
    const size_t count = known(p.count);
    p.src = fuzz_in(element_types[which], fuzz_cells(p.shape, count));
    p.updates = fuzz_in(element_types[which], fuzz_cells(p.updatesShape, count));
    p.index = some_places(fuzz_cells(p.indexShape, count), p.axis < count ? p.shape[p.axis] : 1);
    p.dst = fuzz_out(element_types[which], fuzz_cells(p.shape, count));
    CALL(SimdnetScatterElements, &p);
}

static void parts(void)
{
    SimdnetScatterNdParameters p = {.size = sizeof(p)};
    const size_t which = fuzz_pick(0, 3);
    const bool scatters = fuzz_byte() % 2;
    p.dataType = data_types[which];
    p.reduction = (SimdnetScatterReduction)(scatters || fuzz_byte() >= 250 ? fuzz_enum(5) : 0);
    p.batch = fuzz_pick(1, 2), p.depth = some_shape(p.shape, 3), p.inner = fuzz_size(9), p.indices = fuzz_size(5);
    const size_t whole = CELLS(p.batch, fuzz_cells(p.shape, known(p.depth)), p.inner);
    const size_t selected = CELLS(p.batch, p.indices, p.inner);
    p.src = fuzz_in(element_types[which], whole);
    p.rowCount = scatters ? fuzz_pick(0, 4) : 0;
    p.updates = scatters ? fuzz_in(element_types[which], p.rowCount ? CELLS(p.rowCount, p.inner) : selected) : NULL;
    p.rows = p.rowCount ? some_places(CELLS(p.batch, p.indices), p.rowCount) : NULL;
    p.index = some_places(CELLS(p.batch, p.indices, known(p.depth)), p.shape[0]);
    p.dst = fuzz_out(element_types[which], scatters ? whole : selected);
    if (scatters)
        CALL(SimdnetScatterNd, &p);
    else
        CALL(SimdnetGatherNd, &p);
}

static void cumulative_sum(void)
{
    static const enum fuzz_type elements[] = {F32, I32, I8, U8, I64, I64, U8};
    const size_t type = fuzz_pick(0, 6), outer = fuzz_size(5), count = fuzz_size(9), inner = fuzz_size(9);
    const SimdBool exclusive = (SimdBool)fuzz_enum(2), reverse = (SimdBool)fuzz_enum(2);
    const void * src = fuzz_in(elements[type], CELLS(outer, count, inner));
    void * dst = fuzz_out_or_source(elements[type], CELLS(outer, count, inner));
    CALL(SimdnetCumulativeSum, (SimdTensorDataType)type, src, outer, count, inner, exclusive, reverse, dst);
}

static void gather(void)
{
    const size_t which = fuzz_pick(0, 3), outer = fuzz_size(5), count = fuzz_size(9), inner = fuzz_size(20);
    const size_t indices = fuzz_size(12);
    int64_t index[12];
    for (size_t i = 0; i < 12; ++i)
        index[i] = fuzz_byte() >= 250 ? (int64_t)fuzz_size(20) : (int64_t)fuzz_pick(0, least(count, 100) * 2) - (int64_t)least(count, 100);
    const void * src = fuzz_in(element_types[which], CELLS(outer, count, inner));
    const int64_t * given = indices <= 12 ? fuzz_given(index, I64, indices) : fuzz_in(I64, indices);
    CALL(SimdnetGather, data_types[which], src, outer, count, inner, given, indices,
         fuzz_out(element_types[which], CELLS(outer, indices, inner)));
}

static void cast(void)
{
    static const enum fuzz_type elements[] = {F32, I32, I8, U8, I64, I64, U8};
    const size_t from = fuzz_pick(0, 6), to = fuzz_pick(0, 6), count = fuzz_size(600);
    const void * src = fuzz_in(elements[from], count);
    CALL(SimdnetCast, (SimdTensorDataType)from, src, count, (SimdTensorDataType)to, fuzz_out(elements[to], count));
}

static void top_k(void)
{
    const size_t outer = fuzz_size(5), count = fuzz_size(30), inner = fuzz_size(9);
    const size_t k = fuzz_byte() >= 240 ? fuzz_size(40) : fuzz_pick(0, least(count, 100));
    const SimdBool largest = (SimdBool)fuzz_enum(2), sorted = (SimdBool)fuzz_enum(2);
    const float * src = fuzz_in(F32, CELLS(outer, count, inner));
    float * values = fuzz_out(F32, CELLS(outer, k, inner));
    int64_t * indices = fuzz_out(I64, CELLS(outer, k, inner));
    if (sorted == SimdFalse)
        fuzz_anything();
    CALL(SimdnetTopK, src, outer, count, inner, k, largest, sorted, values, indices);
}

static void top_k_integers(void)
{
    static const enum fuzz_type elements[] = {I32, I8, U8, I64, I64, U8};
    const size_t kind = fuzz_pick(0, 5), outer = fuzz_size(5), count = fuzz_size(30), inner = fuzz_size(9);
    const size_t k = fuzz_byte() >= 240 ? fuzz_size(40) : fuzz_pick(0, least(count, 100));
    const SimdBool largest = (SimdBool)fuzz_enum(2), sorted = (SimdBool)fuzz_enum(2);
    const void * src = fuzz_in(elements[kind], CELLS(outer, count, inner));
    void * values = fuzz_out(elements[kind], CELLS(outer, k, inner));
    int64_t * indices = fuzz_out(I64, CELLS(outer, k, inner));
    if (sorted == SimdFalse)
        fuzz_anything();
    CALL(SimdnetTopKIntegers, (SimdTensorDataType)(SimdTensorData32i + kind), src, outer, count, inner, k, largest, sorted,
         values, indices);
}

static void non_max_suppression(void)
{
    SimdnetNonMaxSuppressionParameters p = {.size = sizeof(p)};
    p.batch = fuzz_size(2), p.classes = fuzz_size(3), p.count = fuzz_size(30), p.maxOutput = fuzz_size(20);
    p.iouThreshold = fuzz_byte() >= 240 ? fuzz_number() : (float)fuzz_pick(0, 10) / 10;
    p.scoreThreshold = fuzz_number(), p.useScoreThreshold = (SimdBool)fuzz_enum(2), p.center = (SimdBool)fuzz_enum(2);
    p.capacity = fuzz_size(40);
    p.boxes = fuzz_in(F32, CELLS(p.batch, p.count, 4));
    p.scores = fuzz_in(F32, CELLS(p.batch, p.classes, p.count));
    p.selected = fuzz_out(I64, CELLS(p.capacity, 3));
    fuzz_before("SimdnetNonMaxSuppression");
    const size_t found = SimdnetNonMaxSuppression(&p);
    fuzz_after();
    fuzz_result(found);
}

static void roi_align(void)
{
    SimdnetRoiAlignParameters p = {.size = sizeof(p)};
    p.batch = fuzz_pick(1, 3), p.channels = fuzz_size(5), p.srcH = fuzz_size(12), p.srcW = fuzz_size(40);
    p.count = fuzz_size(4), p.dstH = fuzz_size(9), p.dstW = fuzz_byte() >= 240 ? fuzz_size(90) : fuzz_size(9);
    p.spatialScale = fuzz_byte() >= 200 ? fuzz_number() : (float)fuzz_pick(1, 8) / 4;
    p.samplingRatio = fuzz_byte() >= 240 ? fuzz_size(70) : fuzz_pick(0, 3);
    p.max = (SimdBool)fuzz_enum(2), p.halfPixel = (SimdBool)fuzz_enum(2);
    p.src = fuzz_in(F32, CELLS(p.batch, p.channels, p.srcH, p.srcW));
    p.regions = fuzz_in(F32, CELLS(p.count, 4));
    int64_t images[4];
    for (size_t i = 0; i < 4; ++i)
        images[i] = fuzz_byte() >= 250 ? (int64_t)fuzz_size(20) : (int64_t)fuzz_pick(0, p.batch - 1);
    p.images = p.count <= 4 ? fuzz_given(images, I64, p.count) : fuzz_in(I64, p.count);
    p.dst = fuzz_out(F32, CELLS(p.count, p.channels, p.dstH, p.dstW));
    CALL(SimdnetRoiAlign, &p);
}

/* ---- Winograd's algorithm */

typedef void (*set_filter_fn)(const float *, size_t, float *, SimdBool);
typedef void (*set_input_fn)(const float *, size_t, size_t, size_t, size_t, size_t, size_t, size_t, float *, size_t, SimdBool);
typedef void (*set_output_fn)(const float *, size_t, float *, size_t, size_t, size_t, SimdBool);

static const struct winograd {
    size_t kernelY, kernelX, blockY, blockX;
    const char * filter_name, * input_name, * output_name;
    set_filter_fn filter;
    set_input_fn input;
    set_output_fn output;
} winograds[] = {
#define NAMED(y, x, by, bx, name)                                                                                           \
    {y, x, by, bx, #name "SetFilter", #name "SetInput", #name "SetOutput", name##SetFilter, name##SetInput, name##SetOutput}
    NAMED(1, 3, 1, 4, SimdWinogradKernel1x3Block1x4), NAMED(1, 5, 1, 4, SimdWinogradKernel1x5Block1x4),
    NAMED(2, 2, 2, 2, SimdWinogradKernel2x2Block2x2), NAMED(2, 2, 4, 4, SimdWinogradKernel2x2Block4x4),
    NAMED(3, 3, 2, 2, SimdWinogradKernel3x3Block2x2), NAMED(3, 3, 3, 3, SimdWinogradKernel3x3Block3x3),
    NAMED(3, 3, 4, 4, SimdWinogradKernel3x3Block4x4),
#undef NAMED
};

static size_t tiles_of(const struct winograd * w, size_t height, size_t width)
{
    return CELLS((height - 1) / w->blockY + 1, (width - 1) / w->blockX + 1);
}

static size_t planes(const struct winograd * w, size_t stride, size_t plane)
{
    return fuzz_span((w->kernelY + w->blockY - 1) * (w->kernelX + w->blockX - 1), stride, plane);
}

static size_t plane_stride(size_t plane) { return fuzz_chance() ? plane : fuzz_byte() >= 250 ? fuzz_size(9) : plane + 3; }

static void winograd(void)
{
    const struct winograd * w = &winograds[fuzz_pick(0, 6)];
    const size_t which = fuzz_pick(0, 2);
    const SimdBool trans = (SimdBool)fuzz_enum(2);
    fuzz_near(0x1p-6);
    if (which == 0) {
        const size_t size = fuzz_size(60);
        const float * src = fuzz_in(F32, CELLS(size, w->kernelY, w->kernelX));
        fuzz_before(w->filter_name);
        w->filter(src, size, fuzz_out(F32, planes(w, size, size)), trans);
        fuzz_after();
        return;
    }
    const size_t channels = fuzz_size(20), height = fuzz_size(11), width = fuzz_size(14);
    if (which == 1) {
        const size_t pad[4] = {padding(), padding(), padding(), padding()};
        size_t dstH = height + pad[0] + pad[2], dstW = width + pad[1] + pad[3];
        dstH = dstH < 100 && dstH >= w->kernelY ? dstH - w->kernelY + 1 : 0;
        dstW = dstW < 100 && dstW >= w->kernelX ? dstW - w->kernelX + 1 : 0;
        const size_t plane = dstH && dstW ? CELLS(channels, tiles_of(w, dstH, dstW)) : 0, stride = plane_stride(plane);
        const float * src = fuzz_in(F32, CELLS(channels, height, width));
        float * dst = fuzz_out(F32, planes(w, stride, plane));
        fuzz_before(w->input_name);
        w->input(src, channels, height, width, pad[0], pad[1], pad[2], pad[3], dst, stride, trans);
        fuzz_after();
        return;
    }
    const size_t plane = height && width ? CELLS(channels, tiles_of(w, height, width)) : 0, stride = plane_stride(plane);
    const float * src = fuzz_in(F32, planes(w, stride, plane));
    float * dst = fuzz_out(F32, CELLS(channels, height, width));
    fuzz_before(w->output_name);
    w->output(src, stride, dst, channels, height, width, trans);
    fuzz_after();
}

const struct fuzz_target fuzz_layers[] = {
    {"pooling", pooling}, {"pooling_of_pixels", pooling_of_pixels}, {"pixelwise", pixelwise}, {"copy", copy}, {"pad", pad},
    {"reduce", reduce}, {"binary", binary}, {"gather", gather}, {"cast", cast}, {"top_k", top_k}, {"top_k_integers", top_k_integers},
    {"elementwise", elementwise}, {"quantized_binary", quantized_binary}, {"select", selection},
    {"scatter_elements", scatter_elements}, {"parts", parts}, {"cumulative_sum", cumulative_sum},
    {"non_max_suppression", non_max_suppression}, {"roi_align", roi_align}, {"winograd", winograd}, {NULL, NULL}};
