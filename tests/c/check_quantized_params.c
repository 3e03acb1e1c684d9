/* SimdnetQuantizedSetParams: on every level the bytes of the context without a table, each looked up; refusals. */
#include <stdlib.h>

#include "check.h"

#define SET "SimdnetQuantizedSetParams"

struct layer {
    SimdConvolutionParameters p; /* of an inner product, pixels are rows */
    size_t batch, gap;           /* bytes between the pixels of results */
    bool product;
    enum { ANY, LIMITS, SAME } table;
};

static size_t pixels(const struct layer * l) { return l->batch * l->p.dstH * l->p.dstW; }

static void * open(const struct layer * l)
{
    const SimdConvolutionParameters * p = &l->p;
    if (!l->product)
        return SimdSynetQuantizedConvolutionInit(l->batch, p);
    return SimdSynetQuantizedInnerProductInit(pixels(l), p->dstC, p->srcC, SimdTensorData8u, SimdTensorData8i, SimdTensorData8u,
                                              SimdFalse, SimdTrue, SimdTrue);
}

static void fill(uint8_t * bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        bytes[i] = (uint8_t)check_random(0, 255);
}

static void run(const struct layer * l, void * context, const uint8_t * src, uint8_t * dst)
{
    const SimdnetForwardParameters f = {.size = sizeof(f), .src = src, .dst = dst, .dstPixel = l->gap ? l->p.dstC + l->gap : 0};
    SimdnetForward(context, &f);
}

/* The parameters, which are overwritten once they are set. */
static void set(const struct layer * l, void * context, const SimdnetQuantizedParams * q, bool looked_up)
{
    uint8_t table[256];
    memcpy(table, q->table, sizeof(table));
    SimdnetQuantizedParams own = *q;
    own.table = looked_up ? table : NULL;
    SimdnetQuantizedSetParams(context, &own);
    if (SimdnetLastErrorKind())
        check_that(false, SET, "%zu outputs: %s", l->p.dstC, SimdnetLastError());
    memset(table, 0x55, sizeof(table));
}

static void make_table(const struct layer * l, uint8_t * table)
{
    fill(table, 256);
    for (size_t i = 0; i < 256 && l->table != ANY; ++i)
        table[i] = l->table == SAME ? (uint8_t)i : i < 31 ? 31 : i > 200 ? 200 : (uint8_t)i;
}

/* One level: with a table, by a context that shares the parameters, and again without it. */
static void compare(const struct layer * l, const SimdnetQuantizedParams * q, const uint8_t * src)
{
    const size_t size = pixels(l) * (l->p.dstC + l->gap);
    uint8_t * plain = malloc(size + 1), * found = malloc(size + 1), * shared = malloc(size + 1), * again = malloc(size + 1);
    memset(plain, 1, size), memset(found, 1, size), memset(shared, 1, size), memset(again, 1, size);
    void * context = open(l), * other = open(l);
    set(l, context, q, false);
    run(l, context, src, plain);
    set(l, context, q, true);
    run(l, context, src, found);
    const bool shares = SimdnetShareParams(other, context) == SimdTrue;
    run(l, other, src, shared);
    set(l, context, q, false);
    run(l, context, src, again);
    size_t wrong = 0, step = l->p.dstC + l->gap;
    for (size_t i = 0; i < size; ++i)
        wrong += found[i] != (i % step < l->p.dstC ? q->table[plain[i]] : plain[i]);
    check_that(wrong == 0 && shares && memcmp(found, shared, size) == 0 && memcmp(plain, again, size) == 0, SET,
               "%zux%zux%zux%zu -> %zu by %zux%zu, format %d, group %zu, gap %zu, table %d, %s: %zu of %zu wrong", l->batch,
               l->p.srcC, l->p.srcH, l->p.srcW, l->p.dstC, l->p.kernelY, l->p.kernelX, (int)l->p.srcF, l->p.group, l->gap,
               (int)l->table, SimdnetContextInfo(context), wrong, size);
    SimdRelease(context), SimdRelease(other);
    free(plain), free(found), free(shared), free(again);
}

static void layer(struct layer l)
{
    const SimdConvolutionParameters * p = &l.p;
    const size_t weights = p->dstC * (p->srcC / p->group) * p->kernelY * p->kernelX, size = l.batch * p->srcC * p->srcH * p->srcW;
    uint8_t * src = malloc(size + 1), * weight = malloc(weights + 1), table[256];
    float * scale = malloc((p->dstC + 1) * sizeof(*scale));
    int32_t * bias = malloc((p->dstC + 1) * sizeof(*bias));
    fill(src, size), fill(weight, weights);
    make_table(&l, table);
    for (size_t o = 0; o < p->dstC; ++o)
        scale[o] = 0.01f * (float)(1 + o % 5), bias[o] = (int32_t)check_random(0, 999) - 500;
    const SimdnetQuantizedParams q = {.size = sizeof(q), .srcScale = 0.5f, .srcZero = 100, .dstScale = 0.75f, .dstZero = 120,
        .weight = (const int8_t *)weight, .weightScale = scale, .bias = bias, .table = table};
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        compare(&l, &q, src);
    }
    SimdnetSetMaxIsa(NULL);
    free(src), free(weight), free(scale), free(bias);
}

static struct layer some(SimdTensorFormatType format, size_t srcC, size_t side, size_t dstC, size_t kernel, size_t group)
{
    return (struct layer){.batch = 1, .p = {.srcC = srcC, .srcH = side, .srcW = side, .srcT = SimdTensorData8u, .srcF = format,
        .dstC = dstC, .dstH = side, .dstW = side, .dstT = SimdTensorData8u, .dstF = format, .kernelY = kernel,
        .kernelX = kernel, .dilationY = 1, .dilationX = 1, .strideY = 1, .strideX = 1, .padY = kernel / 2, .padX = kernel / 2,
        .padH = kernel / 2, .padW = kernel / 2, .group = group}};
}

static void layers(SimdTensorFormatType format)
{
    for (size_t i = 0; i < 24; ++i) {
        const size_t group = i % 3 == 1 ? 0 : i % 3 == 2 ? 2 : 1, c = group ? check_random_size(40) * group : 1 + i * 3;
        struct layer l = some(format, c, 1 + check_random_size(12), group ? check_random_size(90) * group : c, 1 + i % 4 / 2 * 2,
                              group ? group : c);
        l.batch = 1 + i % 2;
        l.table = i % 5 == 3 ? LIMITS : i % 5 == 4 ? SAME : ANY;
        l.gap = format == SimdTensorFormatNhwc && i % 4 == 1 ? i : 0;
        layer(l);
    }
    layer(some(format, 16, 60, 70, 1, 1)); /* several threads */
}

static void products(void)
{
    for (size_t i = 1; i < 12; ++i) {
        struct layer l = some(SimdTensorFormatNhwc, check_random_size(60), i, check_random_size(150), 1, 1);
        l.product = true, l.gap = i % 3;
        layer(l);
    }
}

/* ---- refusals: the context stays as it was, without parameters */

static void refuse(const char * words, void * context, const SimdnetQuantizedParams * q)
{
    SimdnetQuantizedSetParams(context, q);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE && strstr(SimdnetLastError(), words), SET, "not refused, %s: %s", words,
               SimdnetLastError());
}

static void refusals(void)
{
    static const int8_t weight[64];
    static const uint8_t table[256];
    float scale[] = {1, 1, 1, 1}, bad[] = {1, 1, NAN, 1};
    const SimdnetQuantizedParams good = {.size = sizeof(good), .srcScale = 1, .dstScale = 1, .weight = weight,
        .weightScale = scale, .table = table};
    struct layer l = some(SimdTensorFormatNhwc, 4, 3, 4, 1, 1);
    SimdnetQuantizedParams q;
    void * context = open(&l);
    refuse("NULL", NULL, &good);
    refuse("parameters is NULL", context, NULL);
    refuse("size", context, (q = good, q.size = 1, &q));
    refuse("srcScale is 0", context, (q = good, q.srcScale = 0, &q));
    refuse("dstScale is -1", context, (q = good, q.dstScale = -1, &q));
    refuse("weight is NULL", context, (q = good, q.weight = NULL, &q));
    refuse("weightScale is NULL", context, (q = good, q.weightScale = NULL, &q));
    refuse("weightScale[2] is", context, (q = good, q.weightScale = bad, &q));
    refuse("once divided", context, (q = good, q.srcScale = 3e38f, q.dstScale = 1e-30f, &q));
    check_that(SimdSynetQuantizedConvolutionInternalBufferSize(context) == 0, SET, "it has parameters");
    SimdRelease(context);
    l.p.activation = SimdConvolutionActivationRelu;
    context = open(&l);
    refuse("Identity", context, &good);
    SimdRelease(context);
    context = SimdSynetConvolution8iInit(1, &l.p);
    refuse("QuantizedInnerProduct", context, &good);
    SimdRelease(context);
}

CHECK_FAMILY(quantized_params)
{
    if (!check_selected(SET))
        return;
    layers(SimdTensorFormatNchw);
    layers(SimdTensorFormatNhwc);
    products();
    refusals();
}
