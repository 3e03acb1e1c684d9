/*
 * SimdnetForward: contexts of all kinds, with other elements between the pixels of src, add and dst. On every instruction
 * set the results have the bits of those of dense arrays, which the families' own checks compare with base. Additions are
 * compared with base here.
 * The elements between pixels are NaNs (255 in bytes): none is changed, none has an effect. All arrays and the buffer end
 * where a page begins that cannot be accessed.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "check_convolution.h"
#include "check_pixels.h"
#include "runtime/cpu.h"

typedef SimdConvolutionParameters parameters;

/* ---- contexts */

struct subject;

struct kind {
    const char * name;
    void * (*open)(const struct subject * s, const float * floats);
    size_t (*buffer)(const void * context);
    size_t unit; /* bytes of the unit of its size */
};

struct subject {
    const struct kind * kind;
    parameters p[3];
    size_t stages, batch;
};

static void * open_32f(const struct subject * s, const float * floats)
{
    void * context = SimdSynetConvolution32fInit(s->batch, s->p, NULL);
    SimdSynetConvolution32fSetParams(context, floats, NULL, floats + 7, floats + 20);
    return context;
}

static void * open_deconvolution(const struct subject * s, const float * floats)
{
    void * context = SimdSynetDeconvolution32fInit(s->batch, s->p, NULL);
    SimdSynetDeconvolution32fSetParams(context, floats, NULL, floats + 7, floats + 20);
    return context;
}

static void * open_merged(const struct subject * s, const float * floats)
{
    const float * const weight[] = {floats, floats + 1, floats + 2}, * const params[] = {floats, floats, floats};
    void * context = SimdSynetMergedConvolution32fInit(s->batch, s->p, s->stages, SimdFalse);
    SimdSynetMergedConvolution32fSetParams(context, weight, NULL, weight, params);
    return context;
}

static void * open_8i(const struct subject * s, const float * floats)
{
    float low[128], high[128];
    const float * const stats[] = {low, high, low, high};
    for (size_t i = 0; i < 128; ++i)
        low[i] = -1, high[i] = 1 + (float)i / 50;
    void * context = SimdSynetConvolution8iInit(s->batch, s->p);
    SimdSynetConvolution8iSetParams(context, floats, floats + 7, floats + 20, stats);
    return context;
}

static void * open_quantized(const struct subject * s, const float * floats)
{
    static const uint8_t zeros[3] = {3, 120, 130};
    float scales[128];
    for (size_t i = 0; i < 128; ++i)
        scales[i] = 0.01f + (float)i / 5000;
    void * context = SimdSynetQuantizedConvolutionInit(s->batch, s->p);
    SimdSynetQuantizedConvolutionSetParams(context, (const float[]){0.5f, 1, 0.75f}, zeros, (const int8_t *)floats, scales,
                                           NULL, floats + 20);
    return context;
}

static void * open_16b(const struct subject * s, const float * floats)
{
    void * context = SimdSynetConvolution16bInit(s->batch, s->p, SimdSynetCompatibilityDefault);
    SimdSynetConvolution16bSetParams(context, floats, floats + 7, floats + 20);
    return context;
}

/* As many rows as pixels. */
static void * open_product(const struct subject * s, const float * floats)
{
    void * context = SimdSynetInnerProduct32fInit(s->batch * s->p->srcH * s->p->srcW, s->p->dstC, s->p->srcC, SimdTrue,
                                                  SimdTrue, SimdTrue, s->p->activation);
    SimdSynetInnerProduct32fSetParams(context, floats, NULL, floats + 7, floats + 20);
    return context;
}

static void * open_merged_16b(const struct subject * s, const float * floats)
{
    const float * const weight[] = {floats, floats + 3, floats + 5}, * const bias[] = {floats + 7, floats + 8, floats + 9};
    const float * const params[] = {floats + 20, floats + 21, floats + 22};
    void * context = SimdSynetMergedConvolution16bInit(s->batch, s->p, s->stages, SimdFalse);
    SimdSynetMergedConvolution16bSetParams(context, weight, bias, params);
    return context;
}

static void * open_merged_8i(const struct subject * s, const float * floats)
{
    const int8_t * b = (const int8_t *)floats, * const weight[] = {b, b + 3, b + 5};
    parameters p[3];
    float scales[128];
    for (size_t i = 0; i < 128; ++i)
        scales[i] = 0.01f + (float)i / 5000;
    for (size_t i = 0; i < s->stages; ++i)
        p[i] = s->p[i], p[i].activation = SimdConvolutionActivationIdentity;
    void * context = SimdSynetQuantizedMergedConvolutionInit(s->batch, p, s->stages, 0);
    SimdSynetQuantizedMergedConvolutionSetParams(context, (const float[]){0.5f, 1, 0.75f, 2}, (const uint8_t[]){3, 120, 130, 100},
                                                 weight, (const float * const[]){scales, scales + 1, scales + 2}, NULL);
    return context;
}

static void * open_deconvolution_16b(const struct subject * s, const float * floats)
{
    void * context = SimdSynetDeconvolution16bInit(s->batch, s->p, SimdSynetCompatibilityDefault);
    SimdSynetDeconvolution16bSetParams(context, floats, floats + 7, floats + 20);
    return context;
}

static void * open_product_16b(const struct subject * s, const float * floats)
{
    void * context = SimdSynetInnerProduct16bInit(s->batch * s->p->srcH * s->p->srcW, s->p->dstC, s->p->srcC, s->p->srcT,
                                                  SimdTensorData32f, s->p->dstT, SimdTrue, SimdTrue, SimdTrue,
                                                  s->p->activation);
    SimdSynetInnerProduct16bSetParams(context, floats, floats + 7, floats + 20);
    return context;
}

static void * open_product_8i(const struct subject * s, const float * floats)
{
    float scales[128];
    for (size_t i = 0; i < 128; ++i)
        scales[i] = 0.01f + (float)i / 5000;
    void * context = SimdSynetQuantizedInnerProductInit(s->batch * s->p->srcH * s->p->srcW, s->p->dstC, s->p->srcC,
        SimdTensorData8u, SimdTensorData8i, SimdTensorData8u, SimdTrue, SimdTrue, SimdFalse);
    SimdSynetQuantizedInnerProductSetParams(context, (const float[]){0.5f}, (const uint8_t[]){3}, (const int8_t *)floats, scales,
                                            NULL, (const float[]){0.75f}, (const uint8_t[]){130});
    return context;
}

static void * open_add(const struct subject * s, const float * floats)
{
    const parameters * p = s->p;
    const size_t shape[] = {s->batch, p->dstH, p->dstW, p->dstC};
    (void)floats;
    return SimdSynetAdd16bInit(shape, 4, p->srcT, shape, 4, p->dstT, p->dstT, SimdTensorFormatNhwc);
}

static size_t no_buffer(const void * context)
{
    (void)context;
    return 0;
}

static const struct kind convolution_32f = {"Convolution32f", open_32f, SimdSynetConvolution32fExternalBufferSize, 4};
static const struct kind deconvolution_32f = {
    "Deconvolution32f", open_deconvolution, SimdSynetDeconvolution32fExternalBufferSize, 4};
static const struct kind merged_32f = {
    "MergedConvolution32f", open_merged, SimdSynetMergedConvolution32fExternalBufferSize, 4};
static const struct kind convolution_8i = {"Convolution8i", open_8i, SimdSynetConvolution8iExternalBufferSize, 1};
static const struct kind quantized = {
    "QuantizedConvolution", open_quantized, SimdSynetQuantizedConvolutionExternalBufferSize, 1};
static const struct kind convolution_16b = {"Convolution16b", open_16b, SimdSynetConvolution16bExternalBufferSize, 1};
static const struct kind product_32f = {
    "InnerProduct32f", open_product, SimdSynetInnerProduct32fExternalBufferSize, 4};
static const struct kind merged_8i = {
    "QuantizedMergedConvolution", open_merged_8i, SimdSynetQuantizedMergedConvolutionExternalBufferSize, 1};
static const struct kind product_8i = {
    "QuantizedInnerProduct", open_product_8i, SimdSynetQuantizedInnerProductExternalBufferSize, 1};
static const struct kind deconvolution_16b = {
    "Deconvolution16b", open_deconvolution_16b, SimdSynetDeconvolution16bExternalBufferSize, 1};
static const struct kind merged_16b = {
    "MergedConvolution16b", open_merged_16b, SimdSynetMergedConvolution16bExternalBufferSize, 1};
static const struct kind product_16b = {
    "InnerProduct16b", open_product_16b, SimdSynetInnerProduct16bExternalBufferSize, 1};
static const struct kind add_16b = {"Add16b", open_add, no_buffer, 1};

/* ---- one context with several distances */

/* Computes with images; the buffer ends where it must. */
static void forward(const struct subject * s, void * context, const struct image * src, const struct image * add,
                    const struct image * dst, SimdnetAddOrder order)
{
    const bool own = check_random(0, 1) && s->kind != &add_16b;
    const struct memory buf = memory(own ? s->kind->buffer(context) * s->kind->unit : 1);
    SimdnetForwardParameters f = {.size = sizeof(f), .src = src->memory.bytes, .dst = dst->memory.bytes,
        .buf = own ? buf.bytes : NULL, .srcPixel = src->pixel, .dstPixel = dst->pixel, .order = order};
    if (add)
        f.add = add->memory.bytes, f.addPixel = add->pixel;
    SimdnetForward(context, &f);
    drop(buf);
}

static const char * text_of(const struct subject * s, const char * isa)
{
    static char text[400];
    snprintf(text, sizeof(text), "%s on %s: %s", s->kind->name, isa, check_convolution_text(s->p, s->batch));
    return text;
}

/* The result with distances, on the active instruction set, against `dense`. */
static void spaced(const struct subject * s, void * context, const struct image * src, const struct image * add,
                   const struct image * dense, SimdnetAddOrder order, const char * isa)
{
    const SimdTensorDataType srcT = s->p->srcT, dstT = s->p[s->stages - 1].dstT;
    for (int n = 0; n < 3; ++n) {
        const size_t pixel = gap(dense->channels);
        const struct image from = spread(src, n == 1 ? src->channels : gap(src->channels), srcT);
        const struct image to = image(dense->pixels, dense->channels, n == 2 ? dense->channels : pixel, dstT);
        struct image more = {0};
        if (add)
            more = spread(add, check_random(0, 1) ? to.pixel : gap(add->channels), dstT);
        forward(s, context, &from, add ? &more : NULL, &to, order);
        check_that(same(&to, dense), "SimdnetForward", "%s: pixels %zu, %zu, %zu apart, %s: %s", text_of(s, isa), from.pixel,
                   add ? more.pixel : 0, to.pixel, SimdnetContextInfo(context), SimdnetLastError());
        if (add)
            drop(more.memory);
        drop(from.memory);
        drop(to.memory);
    }
}

static float float_at(const struct image * m, size_t i)
{
    float v;
    memcpy(&v, m->memory.bytes + 4 * i, 4);
    return v;
}

/* An addition after the activation is exactly that of the result; before it, about what base computes. */
static void check_sum(const struct subject * s, const struct image * sum, const struct image * result,
                      const struct image * add, const struct image * base, SimdnetAddOrder order, const char * isa)
{
    bool good = true;
    for (size_t i = 0; i < sum->pixels * sum->channels; ++i) {
        const float got = float_at(sum, i), other = float_at(base, i);
        if (order == SimdnetAddAfterActivation && base != sum)
            good &= got == float_at(result, i) + float_at(add, i);
        good &= fabsf(got - other) <= 2e-3f * (1 + fabsf(other));
    }
    check_that(good, "SimdnetForward", "%s: wrong sums, order %d", text_of(s, isa), (int)order);
}

/* All instruction sets; base is the first. */
static void compare(const struct subject * s, bool adds)
{
    const parameters * last = &s->p[s->stages - 1];
    float * floats = malloc(200000 * sizeof(float));
    for (size_t i = 0; i < 200000; ++i)
        floats[i] = check_random_32f(-1, 1) / 4;
    const struct image src = image(s->batch * s->p->srcH * s->p->srcW, s->p->srcC, s->p->srcC, s->p->srcT);
    const size_t pixels = s->batch * last->dstH * last->dstW;
    const struct image add = image(pixels, last->dstC, last->dstC, last->dstT);
    struct image base[2] = {{{0}, 0, 0, 0, 0}, {{0}, 0, 0, 0, 0}};
    fill(&src, s->p->srcT);
    fill(&add, last->dstT);
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        const char * isa = SimdnetIsaLevel(level);
        SimdnetSetMaxIsa(isa);
        void * context = s->kind->open(s, floats);
        const struct image dense = image(pixels, last->dstC, last->dstC, last->dstT);
        const bool binary = s->kind == &add_16b;
        forward(s, context, &src, binary ? &add : NULL, &dense, SimdnetAddBeforeActivation);
        spaced(s, context, &src, binary ? &add : NULL, &dense, SimdnetAddBeforeActivation, isa);
        for (int order = 0; adds && order < 2; ++order) {
            const struct image sum = image(pixels, last->dstC, last->dstC, last->dstT);
            forward(s, context, &src, &add, &sum, (SimdnetAddOrder)order);
            if (level == 0)
                base[order] = sum;
            check_sum(s, &sum, &dense, &add, level ? &base[order] : &sum, (SimdnetAddOrder)order, isa);
            spaced(s, context, &src, &add, &sum, (SimdnetAddOrder)order, isa);
            if (level)
                drop(sum.memory);
        }
        drop(dense.memory);
        SimdRelease(context);
    }
    for (int order = 0; adds && order < 2; ++order)
        drop(base[order].memory);
    SimdnetSetMaxIsa(NULL);
    drop(src.memory);
    drop(add.memory);
    free(floats);
}

/* ---- shapes */

static const SimdTensorFormatType nhwc = SimdTensorFormatNhwc;

static parameters random_32f(size_t n)
{
    const size_t c = check_few(70), stride = 1 + n / 12 % 2, kernel = 1 + n / 6 % 2 * 2; /* 1 or 3 */
    switch (n % 6) {
    case 0: return check_convolution_shape(nhwc, 16 + c, check_few(17), check_few(17), check_few(70), 3, 1, 1, 1);
    case 1: return check_convolution_shape(nhwc, c, check_few(9) + 5, check_few(9) + 5, c, kernel + 2, stride, 2, c);
    case 2: return check_convolution_shape(nhwc, c, check_few(20), check_few(20), check_few(70), 1, 1 + n / 6 % 2, 0, 1);
    case 3: return check_convolution_shape(nhwc, 3, 40, 40 + check_few(40), check_few(40), 3, 2, 1, 1); /* copies edges */
    case 4: return check_convolution_shape(nhwc, c, 3 + check_few(9), 3 + check_few(9), check_few(4), kernel, 1, 0, 1);
    default: return check_convolution_random(nhwc, 20, 40);
    }
}

static parameters row_of_taps(size_t width)
{
    parameters p = check_convolution_shape(nhwc, 64, 8, width, 64, 3, 1, 1, 1);
    p.kernelY = 1, p.padY = p.padH = 0;
    return p;
}

/* By slices, by Winograd strided and of rows, over many channels, with one input in each group: the algorithms that random shapes do not reach. */
static void chosen(size_t batch)
{
    const parameters shapes[] = {check_convolution_shape(nhwc, 512, 14, 14, 512, 3, 1, 1, 512),
        check_convolution_shape(nhwc, 256, 28, 28, 256, 5, 1, 2, 256),
        check_convolution_shape(nhwc, 64, 28, 28, 64, 3, 2, 1, 1), check_convolution_shape(nhwc, 64, 12, 12, 64, 3, 1, 1, 1),
        check_convolution_shape(nhwc, 1024, 3, 3, 32, 1, 1, 0, 1), check_convolution_shape(nhwc, 16, 9, 9, 8, 3, 1, 0, 1),
        row_of_taps(8), row_of_taps(12), check_convolution_shape(nhwc, 3, 14, 57, 210, 3, 1, 1, 3),
        check_convolution_shape(nhwc, 3, 170, 50, 72, 3, 1, 1, 3)};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); ++i)
        compare(&(struct subject){&convolution_32f, {shapes[i]}, 1, batch}, i > 1);
}

static parameters random_deconvolution(size_t n)
{
    const size_t kernel = 1 + n % 4, stride = n % 3 ? kernel : 1 + n / 3 % 3, pad = check_random(0, (kernel - 1) / 2);
    parameters p = check_convolution_shape(nhwc, check_few(40), check_few(9), check_few(20), check_few(40), 1, 1, 0, 1);
    p.kernelY = p.kernelX = kernel;
    p.strideY = p.strideX = stride;
    p.padY = p.padX = p.padH = p.padW = p.srcH > 1 && p.srcW > 1 ? pad : 0;
    p.dstH = stride * (p.srcH - 1) + kernel - 2 * p.padY;
    p.dstW = stride * (p.srcW - 1) + kernel - 2 * p.padX;
    p.activation = check_activation_at(n % CHECK_ACTIVATIONS);
    return p;
}

/* The same of one channel. */
static parameters one_channel(parameters p)
{
    p.srcC = p.dstC = p.group = 1;
    return p;
}

/* Expansion, depthwise, projection; or without the first or the last. */
static struct subject random_merged(size_t n)
{
    const size_t c = check_few(40), e = check_few(60), o = check_few(40), h = 3 + check_few(12), w = 3 + check_few(12);
    const parameters first = check_convolution_shape(nhwc, c, h, w, e, n / 3 % 3 ? 1 : 3, 1, n / 3 % 3 ? 0 : 1, 1);
    const parameters middle = check_convolution_shape(nhwc, e, h, w, e, 3, 1 + n % 2, 1, e);
    const parameters last = check_convolution_shape(nhwc, e, middle.dstH, middle.dstW, o, 1, 1, 0, 1);
    struct subject s = {&merged_32f, {first, middle, last}, 3, check_few(2)};
    if (n % 3 == 1)
        s.p[0] = middle, s.p[1] = last, s.stages = 2;
    else if (n % 3 == 2)
        s.stages = 2;
    for (size_t i = 0; i < s.stages; ++i)
        s.p[i].activation = check_any_activation();
    return s;
}

static parameters typed(parameters p, SimdTensorDataType small, size_t n)
{
    p.srcT = n & 1 ? small : SimdTensorData32f;
    p.dstT = n & 2 ? small : SimdTensorData32f;
    return p;
}

static parameters some(size_t n)
{
    const size_t c = check_few(64);
    switch (n % 5) {
    case 0: return check_convolution_shape(nhwc, c, 9, 11, c, 3, 1 + n / 5 % 2, 1, c);
    case 1: return check_convolution_shape(nhwc, c, 9, 11, c, 5, 1, n / 5 % 3, c);
    case 2: return check_convolution_shape(nhwc, n / 5 % 2 ? 32 : c, 6, 7, check_few(64), 1, 1, 0, 1);
    case 3: return check_convolution_shape(nhwc, n / 5 % 2 ? 32 : c, 6, 7, check_few(64), 3, 1, n / 10 % 2, 1);
    default: return check_convolution_random(nhwc, 12, 24);
    }
}

/* ---- refusals */

static void refuse(const struct subject * s, SimdnetForwardParameters change, const char * text)
{
    static float arrays[3][4096], floats[200000], before[4096];
    void * context = s->kind->open(s, floats);
    struct {
        SimdnetForwardParameters known;
        char more[16];
    } f = {change, {0}};
    f.known.src = arrays[0], f.known.dst = arrays[2];
    f.known.add = change.add ? arrays[1] : NULL;
    f.known.size = change.size ? change.size : sizeof(f.known);
    f.more[3] = change.size == sizeof(f) && strstr(text, "byte") != NULL;
    SimdnetForward(context, &f.known);
    const bool refused = SimdnetLastErrorKind() == CHECK_VALUE && strstr(SimdnetLastError(), text);
    check_that(*text ? refused : SimdnetLastErrorKind() == 0, "SimdnetForward", "%s: expected '%s', got '%s'", s->kind->name,
               text, SimdnetLastError());
    check_that(!*text || memcmp(before, arrays[2], sizeof(before)) == 0, "SimdnetForward", "dst was written");
    memset(arrays[2], 0, sizeof(arrays[2]));
    SimdRelease(context);
}

static void refusals(void)
{
    const parameters p = check_convolution_shape(nhwc, 4, 5, 5, 6, 3, 1, 1, 1);
    const struct subject s = {&convolution_32f, {p}, 1, 1};
    const parameters single = check_convolution_shape(SimdTensorFormatNchw, 4, 1, 1, 4, 3, 1, 1, 4);
    const struct subject pixel = {&convolution_32f, {single}, 1, 1};
    const parameters covered = check_convolution_shape(SimdTensorFormatNchw, 4, 5, 5, 6, 5, 1, 0, 1);
    const struct subject whole = {&convolution_32f, {covered}, 1, 1};
    struct subject planes = s, bytes = s, small = s;
    float any;
    planes.p->srcF = planes.p->dstF = SimdTensorFormatNchw;
    bytes.kind = &convolution_8i;
    small.kind = &convolution_16b, small.p->dstT = SimdTensorData16b;
    const size_t known = sizeof(SimdnetForwardParameters);
    refuse(&s, (SimdnetForwardParameters){.srcPixel = 4, .dstPixel = 9}, "");
    refuse(&s, (SimdnetForwardParameters){.size = known + 16}, "");
    refuse(&s, (SimdnetForwardParameters){.size = known - 8}, "parameters->size is ");
    refuse(&s, (SimdnetForwardParameters){.size = known + 16}, "byte ");
    refuse(&s, (SimdnetForwardParameters){.size = SIZE_MAX}, "parameters->size is ");
    refuse(&s, (SimdnetForwardParameters){.srcPixel = 3}, "srcPixel is 3, expected 0 or at least 4");
    refuse(&s, (SimdnetForwardParameters){.dstPixel = 5}, "dstPixel is 5, expected 0 or at least 6");
    refuse(&s, (SimdnetForwardParameters){.add = &any, .addPixel = 1}, "addPixel is 1, expected 0 or at least 6");
    refuse(&s, (SimdnetForwardParameters){.srcPixel = SIZE_MAX / 64}, "srcPixel is ");
    refuse(&s, (SimdnetForwardParameters){.order = (SimdnetAddOrder)2}, "order is 2");
    refuse(&planes, (SimdnetForwardParameters){.srcPixel = 5}, "srcPixel is 5, expected 0 or 4");
    refuse(&planes, (SimdnetForwardParameters){.dstPixel = 6}, "");
    refuse(&pixel, (SimdnetForwardParameters){.srcPixel = 5}, "srcPixel is 5, expected 0 or 4"); /* computed as NHWC */
    refuse(&whole, (SimdnetForwardParameters){.srcPixel = 4}, ""); /* computed as one pixel */
    refuse(&whole, (SimdnetForwardParameters){.srcPixel = 100}, "srcPixel is 100, expected 0 or 4");
    refuse(&bytes, (SimdnetForwardParameters){.add = &any}, "add is not NULL");
    refuse(&small, (SimdnetForwardParameters){.add = &any}, "add is not NULL");
    void * given = SimdSynetInnerProduct32fInit(1, 1, 1, SimdTrue, SimdFalse, SimdFalse, SimdConvolutionActivationIdentity);
    SimdnetForward(given, &(SimdnetForwardParameters){.size = known});
    check_that(strstr(SimdnetLastError(), "without constB") != NULL, "SimdnetForward", "given: %s", SimdnetLastError());
    SimdRelease(given);
    given = SimdSynetInnerProduct16bInit(1, 1, 1, SimdTensorData32f, SimdTensorData32f, SimdTensorData32f, SimdTrue, SimdFalse,
                                         SimdFalse, SimdConvolutionActivationIdentity);
    SimdnetForward(given, &(SimdnetForwardParameters){.size = known});
    check_that(strstr(SimdnetLastError(), "without constB") != NULL, "SimdnetForward", "given: %s", SimdnetLastError());
    SimdRelease(given);
    const struct subject block = {&merged_16b, {check_convolution_shape(nhwc, 4, 5, 5, 6, 3, 1, 1, 1),
        check_convolution_shape(nhwc, 6, 5, 5, 6, 3, 1, 1, 6)}, 2, 1};
    refuse(&block, (SimdnetForwardParameters){.add = &any}, "adds no other array");
    SimdnetForward(NULL, NULL);
    check_that(strstr(SimdnetLastError(), "context is NULL") != NULL, "SimdnetForward", "context: %s", SimdnetLastError());
}

/* More rows than a band has where caches are small: the product in steps of K. */
static void steps_of_k(struct subject s)
{
    const struct sn_cpu real = *sn_cpu();
    *s.p = check_convolution_shape(nhwc, 2048 + check_few(70), 4, 5, 8 + check_few(40), 1, 1, 0, 1);
    s.p->activation = check_any_activation();
    sn_cpu_set(48 << 10, &real.traits);
    compare(&s, true);
    sn_cpu_set(real.cacheL2, &real.traits);
}

CHECK_FAMILY(forward)
{
    if (!check_selected("SimdnetForward"))
        return;
    refusals();
    for (size_t n = 0, count = check_count(120); n < count; ++n) {
        struct subject s = {&convolution_32f, {random_32f(n)}, 1, check_few(3)};
        s.p->activation = check_any_activation();
        compare(&s, true);
        *s.p = one_channel(*s.p);
        compare(&s, true);
        s.kind = &deconvolution_32f, *s.p = random_deconvolution(n);
        compare(&s, true);
        struct subject plane = {s.kind, {one_channel(*s.p)}, 1, s.batch};
        compare(&plane, true);
        s.kind = &deconvolution_16b, *s.p = typed(*s.p, SimdTensorData16b, n / 3);
        compare(&s, s.p->dstT == SimdTensorData32f);
        const parameters product =
            check_convolution_shape(nhwc, check_few(70), check_few(9), check_few(9), check_few(70), 1, 1, 0, 1);
        s.kind = &product_32f, *s.p = product, s.p->activation = check_any_activation();
        compare(&s, true);
        if (n % 20 == 0)
            steps_of_k(s);
        s.kind = &product_16b, *s.p = typed(product, SimdTensorData16b, n / 3);
        compare(&s, s.p->dstT == SimdTensorData32f);
        s.kind = &product_8i, *s.p = typed(product, SimdTensorData8u, 3);
        compare(&s, false);
        s = random_merged(n);
        compare(&s, true);
        s.kind = &merged_16b;
        s.p[2].padY = s.p[2].padX = s.p[2].padH = s.p[2].padW = 0;
        s.p[2].dstH = s.p[2].srcH, s.p[2].dstW = s.p[2].srcW;
        s.p[0].srcT = n & 1 ? SimdTensorData16b : SimdTensorData32f;
        s.p[2].dstT = n & 2 ? SimdTensorData16b : SimdTensorData32f;
        compare(&s, false);
        s.kind = &merged_8i;
        for (size_t i = 0; i < s.stages; ++i)
            s.p[i].srcT = s.p[i].dstT = SimdTensorData8u;
        compare(&s, false);
        s = (struct subject){&convolution_8i, {typed(some(n), SimdTensorData8u, n / 3)}, 1, check_few(3)};
        s.p->activation = check_any_activation();
        compare(&s, false);
        s.kind = &quantized, s.p->srcT = s.p->dstT = SimdTensorData8u;
        compare(&s, false);
        s.kind = &convolution_16b, *s.p = typed(some(n), SimdTensorData16b, n / 3);
        compare(&s, s.p->dstT == SimdTensorData32f);
        s.kind = &add_16b, s.p->srcC = s.p->dstC, s.p->srcH = s.p->dstH, s.p->srcW = s.p->dstW;
        compare(&s, false);
    }
    chosen(1);
    if (!check_quick())
        chosen(2);
}
