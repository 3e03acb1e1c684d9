/*
 * SimdnetShareParams: on every instruction set and for every algorithm, a context that shares has the bits of one with its
 * own parameters; the other may be released or changed before, or run in another thread. What it refuses changes nothing.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/arena.h"
#include "emulated.h"
#include "test.h"
#include "used.h"

typedef SimdConvolutionParameters parameters;

enum { MOST = 1 << 19 };

static const SimdTensorFormatType NHWC = SimdTensorFormatNhwc, NCHW = SimdTensorFormatNchw;

static float floats[MOST], first[MOST], second[MOST];

struct kind {
    const char * name;
    void * (*init)(size_t batch, const parameters * p, size_t stages);
    void (*set)(void * context, const float * from);
    size_t (*held)(const void * context);
};

/* ---- contexts */

static void * init_32f(size_t batch, const parameters * p, size_t stages)
{
    (void)stages;
    return SimdSynetConvolution32fInit(batch, p, NULL);
}

static void set_32f(void * context, const float * f)
{
    SimdSynetConvolution32fSetParams(context, f, NULL, f + 7, f + 20);
}

static void * init_back(size_t batch, const parameters * p, size_t stages)
{
    (void)stages;
    return SimdSynetDeconvolution32fInit(batch, p, NULL);
}

static void set_back(void * context, const float * f)
{
    SimdSynetDeconvolution32fSetParams(context, f, NULL, f + 7, f + 20);
}

static void * init_merged(size_t batch, const parameters * p, size_t stages)
{
    return SimdSynetMergedConvolution32fInit(batch, p, stages, SimdFalse);
}

static void set_merged(void * context, const float * f)
{
    const float * const weight[] = {f, f + 1, f + 2}, * const params[] = {f + 3, f + 4, f + 5};
    SimdSynetMergedConvolution32fSetParams(context, weight, NULL, weight, params);
}

static void * init_8i(size_t batch, const parameters * p, size_t stages)
{
    (void)stages;
    return SimdSynetConvolution8iInit(batch, p);
}

static void set_8i(void * context, const float * f)
{
    float low[128], high[128];
    const float * const stats[] = {low, high, low, high};
    for (size_t i = 0; i < 128; ++i)
        low[i] = -1 + f[0], high[i] = 1 + (float)i / 50;
    SimdSynetConvolution8iSetParams(context, f, f + 7, f + 20, stats);
}

static void * init_quantized(size_t batch, const parameters * p, size_t stages)
{
    (void)stages;
    return SimdSynetQuantizedConvolutionInit(batch, p);
}

static void set_quantized(void * context, const float * f)
{
    static const uint8_t zeros[3] = {3, 120, 130};
    static float scales[128];
    for (size_t i = 0; i < 128; ++i)
        scales[i] = 0.01f + (float)i / 5000;
    SimdSynetQuantizedConvolutionSetParams(context, (const float[]){0.5f, 1, 0.75f}, zeros, (const int8_t *)f, scales, NULL,
                                           f + 20);
}

static void * init_16b(size_t batch, const parameters * p, size_t stages)
{
    (void)stages;
    return SimdSynetConvolution16bInit(batch, p, SimdSynetCompatibilityDefault);
}

static void set_16b(void * context, const float * f) { SimdSynetConvolution16bSetParams(context, f, f + 7, f + 20); }

/* As many rows as pixels. */
static void * init_product(size_t batch, const parameters * p, size_t stages)
{
    (void)stages;
    return SimdSynetInnerProduct32fInit(batch * p->srcH * p->srcW, p->dstC, p->srcC, SimdTrue, SimdTrue, SimdTrue,
                                        p->activation);
}

static void set_product(void * context, const float * f)
{
    SimdSynetInnerProduct32fSetParams(context, f, NULL, f + 7, f + 20);
}

static void * init_back_16b(size_t batch, const parameters * p, size_t stages)
{
    (void)stages;
    return SimdSynetDeconvolution16bInit(batch, p, SimdSynetCompatibilityDefault);
}

static void set_back_16b(void * context, const float * f) { SimdSynetDeconvolution16bSetParams(context, f, f + 7, f + 20); }

static void * init_merged_16b(size_t batch, const parameters * p, size_t stages)
{
    return SimdSynetMergedConvolution16bInit(batch, p, stages, SimdFalse);
}

static void set_merged_16b(void * context, const float * f)
{
    SimdSynetMergedConvolution16bSetParams(context, (const float * const[]){f, f + 3, f + 5},
                                           (const float * const[]){f + 7, f + 8, f + 9},
                                           (const float * const[]){f + 20, f + 21, f + 22});
}

static void * init_product_16b(size_t batch, const parameters * p, size_t stages)
{
    (void)stages;
    return SimdSynetInnerProduct16bInit(batch * p->srcH * p->srcW, p->dstC, p->srcC, p->srcT, SimdTensorData32f, p->dstT,
                                        SimdFalse, SimdTrue, SimdTrue, p->activation);
}

static void set_product_16b(void * context, const float * f)
{
    SimdSynetInnerProduct16bSetParams(context, f, f + 7, f + 20);
}

/* Bytes, without activations. */
static void * init_merged_quantized(size_t batch, const parameters * p, size_t stages)
{
    parameters q[3];
    for (size_t i = 0; i < stages; ++i)
        q[i] = p[i], q[i].activation = SimdConvolutionActivationIdentity;
    return SimdSynetQuantizedMergedConvolutionInit(batch, q, stages, 0);
}

static void set_merged_quantized(void * context, const float * f)
{
    static float scales[128];
    for (size_t i = 0; i < 128; ++i)
        scales[i] = 0.01f + (float)i / 5000;
    SimdSynetQuantizedMergedConvolutionSetParams(
        context, (const float[]){0.5f, 1, 0.75f, 2}, (const uint8_t[]){3, 120, 130, 100},
        (const int8_t * const[]){(const int8_t *)f, (const int8_t *)f + 3, (const int8_t *)f + 5},
        (const float * const[]){scales, scales + 1, scales + 2}, NULL);
}

/* With statistics; three convolutions, or two and conversions. */
static void * init_merged_8i(size_t batch, const parameters * p, size_t stages)
{
    return SimdSynetMergedConvolution8iInit(batch, p, stages, SimdSynetCompatibilityDefault);
}

static void set_merged_8i(void * context, const float * f)
{
    float low[128], high[128];
    const float * const stats[] = {low, high, low, high, low, high};
    for (size_t i = 0; i < 128; ++i)
        low[i] = -1 + f[0], high[i] = 1 + (float)i / 50;
    SimdSynetMergedConvolution8iSetParams(context, (const float * const[]){f, f + 3, f + 5}, NULL,
                                          (const float * const[]){f + 7, f + 8, f + 9},
                                          (const float * const[]){f + 20, f + 21, f + 22}, stats);
}

static void * product_quantized_of(size_t M, const parameters * p, SimdBool transB)
{
    return SimdSynetQuantizedInnerProductInit(M, p->dstC, p->srcC, SimdTensorData8u, SimdTensorData8i, SimdTensorData8u, transB,
                                              SimdTrue, SimdFalse);
}

static void * init_product_quantized(size_t batch, const parameters * p, size_t stages)
{
    (void)stages;
    return product_quantized_of(batch * p->srcH * p->srcW, p, SimdTrue);
}

static void set_product_quantized(void * context, const float * f)
{
    static float scales[128];
    for (size_t i = 0; i < 128; ++i)
        scales[i] = 0.01f + (float)i / 5000;
    SimdSynetQuantizedInnerProductSetParams(context, (const float[]){0.5f}, (const uint8_t[]){3}, (const int8_t *)f, scales,
                                            NULL, (const float[]){0.75f}, (const uint8_t[]){130});
}

static const struct kind
    plain_32f = {"Convolution32f", init_32f, set_32f, SimdSynetConvolution32fInternalBufferSize},
    back_32f = {"Deconvolution32f", init_back, set_back, SimdSynetDeconvolution32fInternalBufferSize},
    merged_32f = {"MergedConvolution32f", init_merged, set_merged, SimdSynetMergedConvolution32fInternalBufferSize},
    plain_8i = {"Convolution8i", init_8i, set_8i, SimdSynetConvolution8iInternalBufferSize},
    quantized = {"QuantizedConvolution", init_quantized, set_quantized, SimdSynetQuantizedConvolutionInternalBufferSize},
    plain_16b = {"Convolution16b", init_16b, set_16b, SimdSynetConvolution16bInternalBufferSize},
    product_32f = {"InnerProduct32f", init_product, set_product, SimdSynetInnerProduct32fInternalBufferSize},
    back_16b = {"Deconvolution16b", init_back_16b, set_back_16b, SimdSynetDeconvolution16bInternalBufferSize},
    merged_16b = {"MergedConvolution16b", init_merged_16b, set_merged_16b, SimdSynetMergedConvolution16bInternalBufferSize},
    product_16b = {"InnerProduct16b", init_product_16b, set_product_16b, SimdSynetInnerProduct16bInternalBufferSize},
    merged_8i = {"MergedConvolution8i", init_merged_8i, set_merged_8i, SimdSynetMergedConvolution8iInternalBufferSize},
    merged_quantized = {"QuantizedMergedConvolution", init_merged_quantized, set_merged_quantized,
        SimdSynetQuantizedMergedConvolutionInternalBufferSize},
    product_quantized = {"QuantizedInnerProduct", init_product_quantized, set_product_quantized,
        SimdSynetQuantizedInnerProductInternalBufferSize};

/* ---- shapes */

static parameters shape(SimdTensorFormatType format, size_t srcC, size_t dstC, size_t kernel, size_t stride, size_t group)
{
    const size_t pad = (kernel - 1) / 2;
    return (parameters){.srcC = srcC, .srcF = format, .dstC = dstC, .dstF = format, .kernelY = kernel,
        .kernelX = kernel, .dilationY = 1, .dilationX = 1, .strideY = stride, .strideX = stride, .padY = pad,
        .padX = pad, .padH = pad, .padW = pad, .group = group,
        .activation = SimdConvolutionActivationPrelu, .srcT = SimdTensorData32f, .dstT = SimdTensorData32f};
}

struct subject {
    const struct kind * kind;
    size_t stages;
    parameters p[3];
};

/* A context for images of height x width. */
static void * open_context(const struct subject * s, size_t batch, size_t height, size_t width)
{
    parameters p[3];
    for (size_t i = 0; i < s->stages; ++i) {
        p[i] = s->p[i];
        p[i].srcH = height, p[i].srcW = width;
        if (s->kind == &back_32f || s->kind == &back_16b) {
            height = p[i].strideY * (height - 1) + p[i].dilationY * (p[i].kernelY - 1) + 1 - p[i].padY - p[i].padH;
            width = p[i].strideX * (width - 1) + p[i].dilationX * (p[i].kernelX - 1) + 1 - p[i].padX - p[i].padW;
        } else {
            height = (height + p[i].padY + p[i].padH - p[i].kernelY) / p[i].strideY + 1;
            width = (width + p[i].padX + p[i].padW - p[i].kernelX) / p[i].strideX + 1;
        }
        p[i].dstH = height, p[i].dstW = width;
    }
    void * context = s->kind->init(batch, p, s->stages);
    TEST(context != NULL);
    return context;
}

static void forward(void * context, float * dst)
{
    memset(dst, 0, MOST * sizeof(float));
    const SimdnetForwardParameters f = {.size = sizeof(f), .src = floats, .dst = dst};
    SimdnetForward(context, &f);
    TEST_NO_ERROR();
}

static bool same(void) { return memcmp(first, second, sizeof(first)) == 0; }

/* ---- what is shared */

/* Parameters of `from`, for an image of another size, must be those of SetParams, whatever becomes of `from`. */
static bool share(const struct subject * s, const struct subject * of, size_t batch, size_t height, size_t width)
{
    void * from = open_context(of, 1, 17, 15), * own = open_context(s, batch, height, width);
    void * context = open_context(s, batch, height, width), * third = open_context(s, batch, height, width);
    s->kind->set(from, floats);
    s->kind->set(own, floats);
    forward(own, first);
    const bool shared = SimdnetShareParams(context, from) == SimdTrue;
    TEST(shared == (SimdnetLastErrorKind() == 0));
    if (shared) {
        TEST(s->kind->held(context) < s->kind->held(own));
        forward(context, second);
        TEST(same());
        TEST(SimdnetShareParams(third, context));
        s->kind->set(from, floats + 1); /* gives it parameters of its own, and leaves the others theirs */
        forward(context, second);
        TEST(same());
        SimdRelease(context);
        SimdRelease(from);
        forward(third, second);
        TEST(same());
        s->kind->set(third, floats + 1);
        TEST(s->kind->held(third) == s->kind->held(own));
        s->kind->set(own, floats + 1);
        forward(own, first);
        forward(third, second);
        TEST(same());
    } else {
        TEST_REFUSED(1, "from packs its weights for '");
        SimdRelease(context);
        SimdRelease(from);
    }
    SimdRelease(third);
    SimdRelease(own);
    return shared;
}

static parameters bytes(parameters p)
{
    p.srcT = p.dstT = SimdTensorData8u;
    return p;
}

/* ---- packed parameters in memory of the caller */

/* What SimdnetSetPacked() refuses changes nothing. */
static void refuse_packed(void * context, const uint8_t * bytes, size_t size, const char * word)
{
    TEST(!SimdnetSetPacked(context, bytes, size));
    TEST_REFUSED(1, word);
    TEST(SimdnetPackedSize(context) == 0);
    TEST_NO_ERROR();
}

/* The bytes of `from`, which computed `first`, serve an equal context, and those that share its parameters. */
static void use_packed(const struct subject * s, void * from, size_t size)
{
    uint8_t * bytes = SimdAllocate(2 * size, 64), * again = bytes + size;
    void * context = open_context(s, 1, 17, 15), * third = open_context(s, 1, 17, 15);
    TEST(SimdnetGetPacked(from, bytes));
    SimdRelease(from);
    refuse_packed(context, bytes, size - 1, "size is ");
    refuse_packed(context, bytes + 1, size, "src is not at a multiple of 64 bytes");
    refuse_packed(context, NULL, size, "src is NULL");
    for (size_t i = 0; i < 620; i += 40) {
        bytes[i] ^= 1; /* numbers of activations are numbers like the weights */
        if (!SimdnetSetPacked(context, bytes, size))
            TEST_REFUSED(1, "src was packed for another context than '");
        bytes[i] ^= 1;
    }
    bytes[0] ^= 1;
    TEST(!SimdnetSetPacked(third, bytes, size));
    bytes[0] ^= 1;
    TEST(SimdnetSetPacked(context, bytes, size));
    TEST_NO_ERROR();
    forward(context, second);
    TEST(same());
    TEST(SimdnetShareParams(third, context));
    SimdRelease(context);
    forward(third, second);
    TEST(same());
    TEST(SimdnetPackedSize(third) == size && SimdnetGetPacked(third, again) && memcmp(bytes, again, size) == 0);
    const size_t held = s->kind->held(third);
    s->kind->set(third, floats + 1);
    TEST(s->kind->held(third) > held);
    memset(bytes, 0, size); /* which nothing uses any more */
    context = open_context(s, 1, 17, 15);
    s->kind->set(context, floats + 1);
    forward(context, first);
    forward(third, second);
    TEST(same());
    SimdRelease(context);
    SimdRelease(third);
    SimdFree(bytes);
}

static bool store(const struct subject * s)
{
    void * from = open_context(s, 1, 17, 15);
    TEST(SimdnetPackedSize(from) == 0);
    TEST_NO_ERROR();
    TEST(!SimdnetGetPacked(from, second));
    TEST_REFUSED(1, "expected one whose SimdnetPackedSize() is not 0");
    s->kind->set(from, floats);
    forward(from, first);
    const size_t size = SimdnetPackedSize(from);
    TEST(!SimdnetGetPacked(from, NULL));
    TEST(size > 0);
    TEST_REFUSED(1, "dst is NULL");
    use_packed(s, from, size);
    return size > 0;
}

/* Most shapes are shared at any size; those that are not have another algorithm there. */
static void all_kinds(void)
{
    struct subject list[] = {
        {&plain_32f, 1, {shape(NHWC, 32, 40, 1, 1, 1)}}, {&plain_32f, 1, {shape(NCHW, 32, 40, 1, 1, 1)}},
        {&plain_32f, 1, {shape(NHWC, 3, 40, 3, 2, 1)}}, {&plain_32f, 1, {shape(NHWC, 32, 40, 3, 1, 1)}},
        {&plain_32f, 1, {shape(NCHW, 32, 40, 3, 1, 1)}}, {&plain_32f, 1, {shape(NCHW, 12, 24, 5, 2, 1)}},
        {&plain_32f, 1, {shape(NHWC, 32, 2, 3, 1, 1)}}, {&plain_32f, 1, {shape(NCHW, 32, 2, 3, 1, 1)}},
        {&plain_32f, 1, {shape(NHWC, 36, 36, 3, 1, 36)}}, {&plain_32f, 1, {shape(NCHW, 36, 36, 3, 2, 36)}},
        {&plain_32f, 1, {shape(NHWC, 36, 24, 3, 1, 4)}},
        {&plain_8i, 1, {shape(NHWC, 32, 40, 3, 1, 1)}}, {&plain_8i, 1, {shape(NCHW, 30, 40, 3, 1, 1)}},
        {&plain_8i, 1, {shape(NHWC, 36, 36, 3, 1, 36)}}, {&plain_8i, 1, {shape(NHWC, 36, 36, 5, 1, 36)}},
        {&plain_8i, 1, {bytes(shape(NHWC, 32, 40, 3, 1, 1))}}, {&plain_8i, 1, {bytes(shape(NHWC, 36, 36, 3, 2, 36))}},
        {&quantized, 1, {bytes(shape(NHWC, 32, 40, 3, 1, 1))}}, {&quantized, 1, {bytes(shape(NCHW, 30, 40, 3, 1, 1))}},
        {&quantized, 1, {bytes(shape(NHWC, 36, 36, 3, 1, 36))}},
        {&plain_16b, 1, {shape(NHWC, 32, 40, 3, 1, 1)}}, {&plain_16b, 1, {shape(NCHW, 29, 40, 3, 1, 1)}},
        {&plain_16b, 1, {shape(NHWC, 36, 36, 3, 1, 36)}},
        {&back_32f, 1, {shape(NHWC, 20, 24, 2, 2, 1)}}, {&back_32f, 1, {shape(NCHW, 20, 24, 4, 2, 1)}},
        {&back_16b, 1, {shape(NHWC, 20, 24, 2, 2, 1)}}, {&back_16b, 1, {shape(NCHW, 20, 24, 3, 1, 1)}},
        {&back_32f, 1, {shape(NHWC, 20, 24, 3, 1, 1)}}, {&back_32f, 1, {shape(NCHW, 20, 20, 3, 2, 20)}},
        {&merged_32f, 3, {shape(NHWC, 16, 40, 1, 1, 1), shape(NHWC, 40, 40, 3, 1, 40), shape(NHWC, 40, 24, 1, 1, 1)}},
        {&merged_32f, 2, {shape(NHWC, 40, 40, 3, 2, 40), shape(NHWC, 40, 24, 1, 1, 1)}},
        {&merged_16b, 3, {shape(NHWC, 16, 40, 1, 1, 1), shape(NHWC, 40, 40, 3, 1, 40), shape(NHWC, 40, 24, 1, 1, 1)}},
        {&merged_16b, 2, {shape(NHWC, 40, 40, 3, 2, 40), shape(NHWC, 40, 24, 1, 1, 1)}},
        {&merged_quantized, 3, {bytes(shape(NHWC, 16, 40, 1, 1, 1)), bytes(shape(NHWC, 40, 40, 3, 1, 40)),
            bytes(shape(NHWC, 40, 24, 1, 1, 1))}},
        {&merged_quantized, 2, {bytes(shape(NHWC, 40, 40, 3, 2, 40)), bytes(shape(NHWC, 40, 24, 1, 1, 1))}},
        {&merged_8i, 2, {bytes(shape(NHWC, 40, 40, 3, 2, 40)), shape(NHWC, 40, 24, 1, 1, 1)}},
        {&merged_8i, 2, {shape(NHWC, 16, 40, 1, 1, 1), bytes(shape(NHWC, 40, 40, 3, 1, 40))}},
        {&product_32f, 1, {shape(NHWC, 32, 40, 1, 1, 1)}},
        {&product_16b, 1, {shape(NHWC, 31, 40, 1, 1, 1)}},
        {&product_quantized, 1, {bytes(shape(NHWC, 32, 40, 1, 1, 1))}},
        {&product_quantized, 1, {bytes(shape(NHWC, 31, 9, 1, 1, 1))}},
    };
    size_t shared = 0, stored = 0;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); ++i) {
        stored += store(&list[i]);
        shared += share(&list[i], &list[i], 2, 17, 15);
        shared += share(&list[i], &list[i], 1, 18, 16);
        shared += share(&list[i], &list[i], 1, 30, 31);
        shared += share(&list[i], &list[i], 2, 1, 1);
    }
    const size_t tried = 4 * sizeof(list) / sizeof(list[0]);
    TEST(shared >= tried * 3 / 4);
    TEST(stored == sizeof(list) / sizeof(list[0]));
    TEST(shared == tried || strcmp(SimdnetActiveIsa(), "base") != 0);
}

/* Strides and padding may differ, which changes the order of weights for some algorithms. */
static void other_windows(void)
{
    struct subject pair[][2] = {
        {{&plain_8i, 1, {bytes(shape(NHWC, 36, 36, 3, 1, 36))}}, {&plain_8i, 1, {bytes(shape(NHWC, 36, 36, 3, 2, 36))}}},
        {{&plain_32f, 1, {shape(NHWC, 32, 40, 3, 1, 1)}}, {&plain_32f, 1, {shape(NHWC, 32, 40, 3, 2, 1)}}},
        {{&back_32f, 1, {shape(NHWC, 20, 24, 2, 2, 1)}}, {&back_32f, 1, {shape(NHWC, 20, 24, 2, 2, 1)}}},
        {{&back_32f, 1, {shape(NCHW, 20, 24, 4, 2, 1)}}, {&back_32f, 1, {shape(NCHW, 20, 24, 4, 2, 1)}}},
        {{&back_32f, 1, {shape(NCHW, 20, 20, 3, 2, 20)}}, {&back_32f, 1, {shape(NCHW, 20, 20, 3, 2, 20)}}},
        {{&plain_16b, 1, {shape(NHWC, 160, 40, 1, 1, 1)}}, {&plain_16b, 1, {shape(NHWC, 160, 40, 1, 2, 1)}}},
        {{&back_32f, 1, {shape(NCHW, 20, 24, 4, 2, 1)}}, {&back_32f, 1, {shape(NCHW, 20, 24, 4, 4, 1)}}},
        {{&back_32f, 1, {shape(NHWC, 20, 20, 4, 2, 20)}}, {&back_32f, 1, {shape(NHWC, 20, 20, 4, 4, 20)}}},
        {{&back_32f, 1, {shape(NCHW, 20, 24, 3, 3, 1)}}, {&back_32f, 1, {shape(NCHW, 20, 24, 3, 3, 1)}}},
    };
    pair[2][1].p[0].padH = pair[2][1].p[0].padW = 1;
    pair[3][1].p[0].padY = pair[3][1].p[0].padX = 0;
    pair[4][1].p[0].padY = pair[4][1].p[0].padX = 0;
    pair[8][1].p[0].padY = pair[8][1].p[0].padX = 0;
    for (size_t i = 0; i < 2; ++i) /* phases of as many taps, but not of the same ones */
        pair[8][i].p[0].dilationY = pair[8][i].p[0].dilationX = 2;
    for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); ++i) {
        share(&pair[i][0], &pair[i][1], 1, 17, 15);
        share(&pair[i][1], &pair[i][0], 1, 30, 31);
    }
    TEST(share(&pair[5][0], &pair[5][1], 1, 30, 31));
}

/* Weights of taps that see only padding are left out, except by base: a low image does not share those of a high one. */
static void cropped_kernels(void)
{
    const struct subject list[] = {
        {&plain_32f, 1, {shape(NHWC, 32, 40, 3, 1, 1)}}, {&plain_16b, 1, {shape(NHWC, 32, 40, 3, 1, 1)}},
        {&plain_8i, 1, {bytes(shape(NHWC, 32, 40, 3, 1, 1))}}, {&quantized, 1, {bytes(shape(NHWC, 32, 40, 3, 1, 1))}}};
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); ++i)
        TEST(share(&list[i], &list[i], 1, 1, 15) == (strcmp(SimdnetActiveIsa(), "base") == 0));
}

/* Layers of one pixel, which both layouts compute in the same way, have weights in the caller's layout nevertheless. */
static void pixels_of_both_layouts(void)
{
    const struct subject list[] = {
        {&plain_32f, 1, {shape(NCHW, 36, 36, 3, 1, 36)}}, {&plain_32f, 1, {shape(NHWC, 36, 36, 3, 1, 36)}}};
    void * from = open_context(&list[0], 1, 1, 1), * context = open_context(&list[1], 1, 1, 1);
    set_32f(from, floats);
    TEST(!SimdnetShareParams(context, from));
    TEST_REFUSED(1, "srcF of from is SimdTensorFormatNchw, expected SimdTensorFormatNhwc as in context");
    SimdRelease(context);
    SimdRelease(from);
    share(&list[0], &list[0], 3, 1, 1);
}

/* ---- what is refused */

static void refused(const struct subject * s, void * from, int kind, const char * word)
{
    void * context = open_context(s, 1, 9, 9);
    TEST(!SimdnetShareParams(context, from));
    TEST_REFUSED(kind, word);
    TEST(s->kind->held(context) == 0);
    s->kind->set(context, floats);
    forward(context, first);
    TEST(!SimdnetShareParams(context, from));
    TEST_REFUSED(kind, word);
    forward(context, second);
    TEST(same());
    SimdRelease(context);
}

static void refusals(void)
{
    const struct subject one = {&plain_32f, 1, {shape(NHWC, 32, 40, 3, 1, 1)}};
    void * from = open_context(&one, 1, 9, 9);
    refused(&one, from, 3, "from has no parameters yet");
    refused(&one, NULL, 1, "from is NULL");
    refused(&one, floats, 1, "from is not a simdnet context");
    one.kind->set(from, floats);
    struct { struct subject s; const char * word; } other[] = {
        {{&plain_32f, 1, {shape(NHWC, 31, 40, 3, 1, 1)}}, ": srcC of from is 32, expected 31 as in context"},
        {{&plain_32f, 1, {shape(NHWC, 32, 41, 3, 1, 1)}}, "dstC of from is 40, expected 41"},
        {{&plain_32f, 1, {shape(NHWC, 32, 40, 5, 1, 1)}}, "kernelY of from is 3, expected 5"},
        {{&plain_32f, 1, {shape(NHWC, 32, 40, 3, 1, 2)}}, "group of from is 1, expected 2"},
        {{&plain_32f, 1, {shape(NCHW, 32, 40, 3, 1, 1)}}, "srcF of from is SimdTensorFormatNhwc"},
        {{&plain_32f, 1, {shape(NHWC, 32, 40, 3, 1, 1)}}, "activation of from is SimdConvolutionActivationPrelu"},
        {{&plain_16b, 1, {shape(NHWC, 32, 40, 3, 1, 1)}}, "from is one of Convolution32f, expected one of Convolution16b"},
    };
    other[5].s.p[0].activation = SimdConvolutionActivationRelu;
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); ++i)
        refused(&other[i].s, from, 1, other[i].word);
    TEST(!SimdnetShareParams(from, from));
    TEST_REFUSED(1, "from is context");
    TEST(!SimdnetShareParams(NULL, from));
    TEST_REFUSED(1, "context is NULL");
    SimdnetSetMaxIsa(SimdnetIsaLevel(0));
    if (SimdnetIsaLevel(1))
        refused(&one, from, 1, "expected base as in context");
    SimdRelease(from);
    SimdnetSetMaxIsa(NULL);
}

/* Names of the parameters of inner products; other flags. */
static void product_refusals(void)
{
    struct subject s = {&product_32f, 1, {shape(NHWC, 32, 40, 1, 1, 1)}};
    void * from = open_context(&s, 1, 3, 3);
    s.kind->set(from, floats);
    s.p->srcC = 31;
    refused(&s, from, 1, "K of from is 32, expected 31 as in context");
    s.p->srcC = 32, s.p->dstC = 41;
    refused(&s, from, 1, "N of from is 40, expected 41 as in context");
    for (int flag = 0; flag < 3; ++flag) {
        void * context = SimdSynetInnerProduct32fInit(5, 40, 32, flag == 0 ? SimdFalse : SimdTrue,
                                                      flag == 1 ? SimdFalse : SimdTrue, flag == 2 ? SimdFalse : SimdTrue,
                                                      SimdConvolutionActivationPrelu);
        TEST(!SimdnetShareParams(context, from));
        TEST_REFUSED(1, "from packs its weights for '");
        SimdRelease(context);
    }
    SimdRelease(from);
}

static void product_quantized_refusals(void)
{
    struct subject s = {&product_quantized, 1, {bytes(shape(NHWC, 32, 40, 1, 1, 1))}};
    void * from = open_context(&s, 1, 3, 3), * context = product_quantized_of(5, s.p, SimdFalse);
    s.kind->set(from, floats);
    TEST(!SimdnetShareParams(context, from));
    TEST_REFUSED(1, "from packs its weights for '");
    SimdRelease(context);
    s.p->srcC = 31;
    refused(&s, from, 1, "K of from is 32, expected 31 as in context");
    s.p->srcC = 32, s.p->dstC = 41;
    refused(&s, from, 1, "N of from is 40, expected 41 as in context");
    SimdRelease(from);
}

static void other_refusals(void)
{
    const size_t dims[] = {2, 3};
    void * add = SimdSynetAdd16bInit(dims, 2, SimdTensorData32f, dims, 2, SimdTensorData32f, SimdTensorData32f, NHWC);
    TEST(!SimdnetShareParams(add, add));
    TEST_REFUSED(1, "context is one of Add16b, expected one that has parameters");
    SimdRelease(add);
    struct subject s = {&merged_32f, 2, {shape(NHWC, 40, 40, 3, 1, 40), shape(NHWC, 40, 24, 1, 1, 1)}};
    void * from = open_context(&s, 1, 9, 9);
    s.kind->set(from, floats);
    s.p[1].dstC = 25;
    refused(&s, from, 1, "conv[1].dstC of from is 24, expected 25");
    s = (struct subject){&merged_32f, 3,
        {shape(NHWC, 16, 40, 1, 1, 1), shape(NHWC, 40, 40, 3, 1, 40), shape(NHWC, 40, 24, 1, 1, 1)}};
    refused(&s, from, 1, "from has 2 convolutions, expected 3 as context");
    SimdRelease(from);
}

/* Conversions of bytes are stages, too: messages count the caller's convolutions only. */
static void conversion_refusals(void)
{
    struct subject s = {&merged_8i, 2, {bytes(shape(NHWC, 40, 40, 3, 1, 40)), shape(NHWC, 40, 24, 1, 1, 1)}};
    s.p[0].dstT = SimdTensorData32f;
    void * from = open_context(&s, 1, 9, 9);
    s.kind->set(from, floats);
    s.p[1].dstC = 25;
    refused(&s, from, 1, ": conv[1].dstC of from is 24, expected 25");
    s.p[1].dstC = 24, s.p[0].srcT = SimdTensorData32f;
    refused(&s, from, 1, ": conv[0].srcT of from is SimdTensorData8u, expected SimdTensorData32f as in context");
    s.p[0].srcT = SimdTensorData8u, s.p[1].dstT = SimdTensorData8u;
    refused(&s, from, 1, ": conv[1].dstT of from is SimdTensorData32f, expected SimdTensorData8u as in context");
    s = (struct subject){&merged_8i, 2, {shape(NHWC, 40, 40, 1, 1, 1), bytes(shape(NHWC, 40, 40, 3, 1, 40))}};
    s.p[1].srcT = SimdTensorData32f;
    refused(&s, from, 1, ": conv[0].kernelY of from is 3, expected 1");
    s = (struct subject){&merged_8i, 3,
        {shape(NHWC, 16, 40, 1, 1, 1), shape(NHWC, 40, 40, 3, 1, 40), shape(NHWC, 40, 24, 1, 1, 1)}};
    refused(&s, from, 1, "from has 2 convolutions, expected 3 as context");
    SimdRelease(from);
}

/* ---- memory of parameters that are replaced */

/* By others, own or shared. */
static void replaced(void)
{
    const struct subject s = {&plain_32f, 1, {shape(NHWC, 256, 256, 1, 1, 1)}};
    void * from = open_context(&s, 1, 3, 3), * context = open_context(&s, 1, 3, 3);
    s.kind->set(from, floats);
    s.kind->set(context, floats);
    const size_t before = used().resident;
    for (int i = 0; i < 100; ++i) {
        TEST(SimdnetShareParams(context, from));
        s.kind->set(context, floats);
        s.kind->set(context, floats + 1);
    }
    TEST(!before || used().resident < before + (8 << 20)); /* 100 times the parameters: 26 MB */
    SimdRelease(context);
    SimdRelease(from);
}

/* Those that are refused replace none: the memory of the context's parameters is not given to the next context. */
static void not_replaced(void)
{
    const struct subject s = {&plain_8i, 1, {shape(NHWC, 32, 40, 3, 1, 1)}};
    void * context = open_context(&s, 1, 9, 9), * other = open_context(&s, 1, 9, 9);
    const float weight = floats[100];
    s.kind->set(context, floats);
    forward(context, first);
    floats[100] = NAN;
    s.kind->set(context, floats);
    TEST_REFUSED(1, "weight");
    floats[100] = weight;
    s.kind->set(other, floats + 1);
    forward(context, second);
    TEST(same());
    SimdRelease(other);
    SimdRelease(context);
}

/* ---- threads */

/* Shares, computes and releases, while the others do. */
static void * sharer(void * from)
{
    float * dst = calloc(MOST, sizeof(float));
    uintptr_t wrong = 0;
    parameters p = shape(NHWC, 32, 40, 1, 1, 1);
    p.srcH = p.dstH = 10, p.srcW = p.dstW = 12;
    for (int i = 0; i < 300; ++i) {
        void * context = SimdSynetConvolution32fInit(1, &p, NULL);
        wrong += !SimdnetShareParams(context, from);
        SimdSynetConvolution32fForward(context, floats, NULL, dst);
        wrong += memcmp(dst, first, sizeof(first)) != 0;
        SimdRelease(context);
    }
    free(dst);
    return (void *)wrong;
}

static void threads(void)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    const struct subject s = {&plain_32f, 1, {shape(NHWC, 32, 40, 1, 1, 1)}};
    void * from = open_context(&s, 1, 5, 5), * own = open_context(&s, 1, 10, 12);
    s.kind->set(from, floats);
    s.kind->set(own, floats);
    forward(own, first);
    for (int i = 0; i < THREADS; ++i)
        if (pthread_create(&thread[i], NULL, sharer, from) != 0)
            exit(1);
    for (int i = 0; i < THREADS; ++i) {
        void * wrong;
        pthread_join(thread[i], &wrong);
        TEST(wrong == NULL);
    }
    SimdRelease(from);
    SimdRelease(own);
}

int main(void)
{
    test_alarm();
    for (size_t i = 0; i < MOST; ++i)
        floats[i] = (float)(i * 2654435761u % 1021) / 512 - 1;
    for (size_t i = 0; SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        all_kinds();
        other_windows();
        cropped_kernels();
        pixels_of_both_layouts();
        product_quantized_refusals();
        conversion_refusals();
    }
    SimdnetSetMaxIsa(NULL);
    refusals();
    product_refusals();
    other_refusals();
    if (!emulated() && !SN_SANITIZED)
        replaced();
    not_replaced();
    threads();
    return test_end();
}
