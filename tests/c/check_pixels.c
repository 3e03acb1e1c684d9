/*
 * SimdnetPooling and SimdnetPixelwise, with other elements between the pixels of all arrays. On every instruction set the
 * results have the bits of those of the documented functions on dense arrays, which the families' own checks compare with
 * base. The elements between pixels are NaNs (255 in bytes): none is changed, none has an effect.
 */
#define _GNU_SOURCE
#include "check_convolution.h"
#include "check_pixels.h"
#include "elementwise.h"

/* ---- pooling */

static const struct {
    SimdnetPoolingType type;
    SimdTensorDataType data;
} poolings[] = {{SimdnetPoolingMax, SimdTensorData32f}, {SimdnetPoolingMax, SimdTensorData16b},
                {SimdnetPoolingMax, SimdTensorData8u}, {SimdnetPoolingAverage, SimdTensorData32f},
                {SimdnetPoolingAverage, SimdTensorData16b}};

enum { POOLINGS = sizeof(poolings) / sizeof(poolings[0]) };

static SimdnetPoolingParameters pooling_of(size_t n)
{
    SimdnetPoolingParameters p = {.size = sizeof(p),
        .type = poolings[n % POOLINGS].type, .dataType = poolings[n % POOLINGS].data,
        .format = SimdTensorFormatNhwc, .batch = check_few(3), .channels = check_few(150), .srcH = check_few(14),
        .srcW = check_few(14), .kernelY = check_few(6), .kernelX = check_few(6), .strideY = check_few(3),
        .strideX = check_few(3), .padY = check_random(0, 3), .padX = check_random(0, 3), .excludePad = SimdFalse};
    if (n % 3 == 0)
        p.kernelX = p.kernelY = 2 + n / 12 % 2, p.strideX = p.strideY = 1 + n / 6 % 2, p.padY = p.padX = p.kernelY / 2;
    if (n % 7 == 0) /* of the whole image */
        p.kernelY = p.srcH, p.kernelX = p.srcW, p.padY = p.padX = 0;
    p.dstH = (p.srcH + 2 * p.padY) / p.strideY + 1; /* a window or two may be empty */
    p.dstW = (p.srcW + 2 * p.padX) / p.strideX + 1;
    if (p.type == SimdnetPoolingAverage) /* fewer may be added in another order */
        p.channels += 16, p.dstH = sn_max(p.dstH - 1, 1), p.dstW = sn_max(p.dstW - 1, 1);
    if (n % 11 == 3) { /* windows side by side, inside the image */
        p.kernelY = p.kernelX = p.strideY = p.strideX = 2, p.padY = p.padX = 0;
        p.dstH = p.srcH, p.dstW = p.srcW, p.srcH *= 2, p.srcW *= 2;
    }
    return p;
}

/* One image by SimdnetPooling() itself, where no other function computes the same. */
static void one_dense(const SimdnetPoolingParameters * p, const void * src, void * dst)
{
    SimdnetPoolingParameters one = *p;
    one.src = src, one.dst = dst, one.batch = 1, one.srcPixel = one.dstPixel = 0;
    SimdnetPooling(&one);
}

/* Images of the batch one by one, by the documented function. */
static void dense_pooling(const SimdnetPoolingParameters * p, const struct image * src, const struct image * dst)
{
    for (size_t b = 0; b < p->batch; ++b) {
        const void * from = pixel_at(src, b * p->srcH * p->srcW);
        void * to = pixel_at(dst, b * p->dstH * p->dstW);
        if (p->type == SimdnetPoolingAverage && p->dataType == SimdTensorData16b)
            one_dense(p, from, to);
        else if (p->type == SimdnetPoolingAverage)
            SimdSynetPoolingAverage(from, p->channels, p->srcH, p->srcW, p->kernelY, p->kernelX, p->strideY, p->strideX,
                                    p->padY, p->padX, to, p->dstH, p->dstW, p->excludePad, p->format);
        else if (p->dataType == SimdTensorData32f)
            SimdSynetPoolingMax32f(from, p->channels, p->srcH, p->srcW, 1, p->kernelY, p->kernelX, 1, p->strideY, p->strideX,
                                   0, p->padY, p->padX, to, p->channels, p->dstH, p->dstW, p->format);
        else if (p->dataType == SimdTensorData16b)
            SimdSynetPoolingMax16b(from, p->channels, p->srcH, p->srcW, p->kernelY, p->kernelX, p->strideY, p->strideX,
                                   p->padY, p->padX, to, p->dstH, p->dstW, p->format);
        else
            SimdSynetPoolingMax8u(from, p->channels, p->srcH, p->srcW, p->kernelY, p->kernelX, p->strideY, p->strideX,
                                  p->padY, p->padX, to, p->dstH, p->dstW, p->format);
    }
}

static void pooling(size_t n)
{
    SimdnetPoolingParameters p = pooling_of(n);
    const size_t pixels = p.batch * p.dstH * p.dstW, c = p.channels;
    const struct image src = image(p.batch * p.srcH * p.srcW, c, c, p.dataType);
    const struct image from = (fill(&src, p.dataType), spread(&src, n % 5 ? gap(c) : c, p.dataType));
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        const struct image dense = image(pixels, c, c, p.dataType);
        const struct image to = image(pixels, c, n % 5 == 1 ? c : gap(c), p.dataType);
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        dense_pooling(&p, &src, &dense);
        p.src = from.memory.bytes, p.srcPixel = from.pixel;
        p.dst = to.memory.bytes, p.dstPixel = to.pixel;
        SimdnetPooling(&p);
        check_that(same(&to, &dense), "SimdnetPooling",
                   "%zu on %s: type %d, data %d, %zux%zux%zux%zu, kernel %zux%zu, stride %zux%zu, pad %zux%zu, "
                   "pixels %zu, %zu: %s", n, SimdnetIsaLevel(level), (int)p.type, (int)p.dataType, p.batch, p.srcH, p.srcW,
                   c, p.kernelY, p.kernelX, p.strideY, p.strideX, p.padY, p.padX, from.pixel, to.pixel, SimdnetLastError());
        drop(dense.memory);
        drop(to.memory);
    }
    drop(src.memory);
    drop(from.memory);
    SimdnetSetMaxIsa(NULL);
}

/* ---- functions of every pixel */

typedef SimdnetPixelwiseParameters pixelwise;

#define UNARY(NAME, Name, ...) {SimdnetPixelwise##Name, SimdSynetUnaryOperation32f##Name},
static const struct {
    SimdnetPixelwiseFunction pixelwise;
    SimdSynetUnaryOperation32fType type;
} unary_operations[] = {SN_UNARY_OPERATIONS(UNARY)};

static void dense_elementwise(const pixelwise * p, size_t size)
{
    for (size_t i = 0; i < ACTIVATIONS; ++i)
        if (activations[i].pixelwise == p->function)
            activate(&activations[i], p->src, size, p->params, p->params + 1, p->dst);
    for (size_t i = 0; i < sizeof(unary_operations) / sizeof(unary_operations[0]); ++i)
        if (unary_operations[i].pixelwise == p->function)
            SimdSynetUnaryOperation32fLayerForward(p->src, size, unary_operations[i].type, p->dst);
    if (p->function >= SimdnetPixelwiseAcos) { /* those that have no other function */
        const pixelwise line = {.size = sizeof(line), .function = p->function, .src = p->src, .dst = p->dst,
            .channels = size, .pixels = 1};
        SimdnetPixelwise(&line);
    }
}

/* The documented function, on dense arrays. */
static void dense_pixelwise(const pixelwise * p)
{
    const size_t size = p->channels * p->pixels;
    const float * const both[] = {p->src, p->src1};
    switch (p->function) {
    case SimdnetPixelwiseCopy: memcpy(p->dst, p->src, size * sizeof(float)); break;
    case SimdnetPixelwiseAddBias:
        memcpy(p->dst, p->src, size * sizeof(float));
        SimdSynetAddBias(p->bias, p->channels, p->pixels, p->dst, SimdTensorFormatNhwc);
        break;
    case SimdnetPixelwiseScale:
        SimdSynetScaleLayerForward(p->src, p->scale, p->bias, p->channels, p->pixels, p->dst, SimdTensorFormatNhwc);
        break;
    case SimdnetPixelwisePrelu:
        SimdSynetPreluLayerForward(p->src, p->scale, p->channels, p->pixels, p->dst, SimdTensorFormatNhwc);
        break;
    case SimdnetPixelwiseProduct:
    case SimdnetPixelwiseSum:
    case SimdnetPixelwiseMax:
    case SimdnetPixelwiseMin:
        SimdSynetEltwiseLayerForward(both, p->params, 2, size,
                                     (SimdSynetEltwiseOperationType)(p->function - SimdnetPixelwiseProduct), p->dst);
        break;
    default: dense_elementwise(p, size);
    }
}

static float * floats_of(const struct image * m) { return (float *)(void *)m->memory.bytes; }

/* One function on all instruction sets; in place if the number is a multiple of 4. */
static void pixelwise_case(size_t n)
{
    const SimdTensorDataType type = SimdTensorData32f;
    const size_t c = check_few(check_few(2) == 1 ? 9 : 150), pixels = check_few(n % 5 ? 60 : 400);
    const size_t place = n / PIXELWISE_FUNCTIONS % 4;
    const struct image x = image(pixels, c, c, type), y = image(pixels, c, c, type), each = image(2, c, c, type);
    fill(&x, type), fill(&y, type), fill(&each, type);
    const pixelwise dense = {.size = sizeof(dense), .function = (SimdnetPixelwiseFunction)(n % PIXELWISE_FUNCTIONS),
        .src = floats_of(&x), .src1 = floats_of(&y), .channels = c, .pixels = pixels, .scale = floats_of(&each),
        .bias = n / 3 % 2 || n % PIXELWISE_FUNCTIONS == SimdnetPixelwiseAddBias ? floats_of(&each) + c : NULL,
        .params = {1, 0.5f}};
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        const struct image expected = image(pixels, c, c, type), from = spread(&x, place == 1 ? c : gap(c), type);
        const struct image more = spread(&y, place == 2 ? c : gap(c), type);
        const struct image to = place == 0 ? from : image(pixels, c, place == 3 ? c : gap(c), type);
        pixelwise p = dense;
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        p.dst = floats_of(&expected);
        dense_pixelwise(&p);
        p.src = floats_of(&from), p.src1 = floats_of(&more), p.dst = floats_of(&to);
        p.srcPixel = from.pixel, p.src1Pixel = more.pixel, p.dstPixel = to.pixel;
        SimdnetPixelwise(&p);
        check_that(same(&to, &expected), "SimdnetPixelwise", "%zu on %s: function %d, %zux%zu, pixels %zu, %zu, %zu: %s", n,
                   SimdnetIsaLevel(level), (int)p.function, pixels, c, from.pixel, more.pixel, to.pixel, SimdnetLastError());
        drop(expected.memory), drop(from.memory), drop(more.memory);
        if (place)
            drop(to.memory);
    }
    drop(x.memory), drop(y.memory), drop(each.memory);
    SimdnetSetMaxIsa(NULL);
}

/* ---- refusals */

static void refused(const char * function, const char * text, const float * dst)
{
    const bool right = *text ? SimdnetLastErrorKind() == CHECK_VALUE && strstr(SimdnetLastError(), text)
                             : SimdnetLastErrorKind() == 0;
    check_that(right, function, "expected '%s', got '%s'", text, SimdnetLastError());
    check_that(!*text || dst[0] == 0, function, "dst was written");
}

static void refuse_pooling(SimdnetPoolingParameters change, const char * text)
{
    static float src[400], dst[400];
    SimdnetPoolingParameters p = change;
    memset(dst, 0, sizeof(dst));
    p.size = p.size ? p.size : sizeof(p);
    p.src = p.src ? p.src : src, p.dst = p.dst ? p.dst : dst;
    p.format = SimdTensorFormatNhwc;
    p.batch = p.batch ? p.batch : 1;
    p.srcH = p.srcW = p.dstH = p.dstW = p.kernelY = p.kernelX = p.strideY = 2, p.channels = 3;
    src[0] = 1;
    SimdnetPooling(&p);
    refused("SimdnetPooling", text, dst);
}

static void refuse_pixelwise(pixelwise change, const char * text)
{
    static float src[400], dst[400];
    pixelwise p = change;
    memset(dst, 0, sizeof(dst));
    p.size = p.size ? p.size : sizeof(p);
    p.src = p.src ? p.src : src, p.dst = p.dst ? p.dst : dst;
    p.channels = 3, p.pixels = 4;
    src[0] = 1;
    SimdnetPixelwise(&p);
    refused("SimdnetPixelwise", text, dst);
}

static void refusals(void)
{
    static float all[100];
    refuse_pooling((SimdnetPoolingParameters){.strideX = 1, .srcPixel = 3, .dstPixel = 7}, "");
    refuse_pooling((SimdnetPoolingParameters){.strideX = 1, .src = all, .srcPixel = 6, .dst = all + 3, .dstPixel = 6}, "");
    refuse_pooling((SimdnetPoolingParameters){.strideX = 1, .src = all, .srcPixel = 6, .dst = all + 2, .dstPixel = 6},
                   "dst overlaps src");
    refuse_pooling((SimdnetPoolingParameters){.strideX = 1, .size = 8}, "parameters->size is 8");
    refuse_pooling((SimdnetPoolingParameters){.strideX = 0}, "strideX is 0");
    refuse_pooling((SimdnetPoolingParameters){.strideX = 1, .srcPixel = 2}, "srcPixel is 2, expected 0 or at least 3");
    refuse_pooling((SimdnetPoolingParameters){.strideX = 1, .dstPixel = 1}, "dstPixel is 1, expected 0 or at least 3");
    refuse_pooling((SimdnetPoolingParameters){.strideX = 1, .batch = SIZE_MAX / 8}, "srcPixel is 3, too large");
    refuse_pooling((SimdnetPoolingParameters){.strideX = 1, .type = (SimdnetPoolingType)2}, "type is 2");
    refuse_pooling((SimdnetPoolingParameters){.strideX = 1, .type = SimdnetPoolingAverage, .dataType = SimdTensorData8u},
                   "dataType is SimdTensorData8u");
    refuse_pooling((SimdnetPoolingParameters){.strideX = 1, .dataType = SimdTensorData32i}, "dataType is ");
    refuse_pixelwise((pixelwise){.srcPixel = 3, .dstPixel = 7}, "");
    refuse_pixelwise((pixelwise){.src = all, .srcPixel = 6, .dst = all, .dstPixel = 6}, "");
    refuse_pixelwise((pixelwise){.src = all, .srcPixel = 6, .dst = all + 3, .dstPixel = 6}, "");
    refuse_pixelwise((pixelwise){.src = all, .srcPixel = 6, .dst = all, .dstPixel = 7}, "dst overlaps src");
    refuse_pixelwise((pixelwise){.src = all, .srcPixel = 6, .dst = all + 1, .dstPixel = 6}, "dst overlaps src");
    refuse_pixelwise((pixelwise){.size = 8}, "parameters->size is 8");
    refuse_pixelwise((pixelwise){.function = (SimdnetPixelwiseFunction)PIXELWISE_FUNCTIONS}, "function is ");
    refuse_pixelwise((pixelwise){.srcPixel = 2}, "srcPixel is 2, expected 0 or at least 3");
    refuse_pixelwise((pixelwise){.function = SimdnetPixelwiseMax}, "src1 is NULL");
    refuse_pixelwise((pixelwise){.function = SimdnetPixelwiseMax, .src1 = all, .src1Pixel = 1}, "src1Pixel is 1");
    refuse_pixelwise((pixelwise){.function = SimdnetPixelwiseScale}, "scale is NULL");
    refuse_pixelwise((pixelwise){.function = SimdnetPixelwisePrelu}, "scale is NULL");
    refuse_pixelwise((pixelwise){.function = SimdnetPixelwiseAddBias, .scale = all}, "bias is NULL");
    refuse_pixelwise((pixelwise){.function = SimdnetPixelwiseAddBias, .bias = all, .dst = all + 2}, "dst overlaps bias");
    refuse_pixelwise((pixelwise){.function = SimdnetPixelwisePrelu, .scale = all, .dst = all + 2}, "dst overlaps scale");
    SimdnetPooling(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, "SimdnetPooling", "NULL: %s", SimdnetLastError());
    SimdnetPixelwise(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, "SimdnetPixelwise", "NULL: %s", SimdnetLastError());
}

CHECK_FAMILY(pixels)
{
    if (!check_selected("SimdnetPooling") && !check_selected("SimdnetPixelwise"))
        return;
    refusals();
    for (size_t n = 0, count = check_count(400); n < count; ++n)
        pooling(n);
    for (size_t n = 0, count = check_count(400); n < count; ++n)
        pixelwise_case(n);
}
