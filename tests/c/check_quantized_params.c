/*
 * SimdnetQuantizedSetParams: on every level the bytes of the context with neither table nor addition, each looked up, and the sums
 * of SimdnetQuantizedBinary; refusals.
 */
#include <stddef.h>
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

/* ---- additions */

struct sum {
    SimdnetQuantizedParams q; /* table may be NULL */
    SimdBool after;
    size_t gap;               /* bytes between the pixels of `add` */
};

static void look_up(const uint8_t * table, uint8_t * bytes, size_t size)
{
    for (size_t i = 0; i < size && table; ++i)
        bytes[i] = table[bytes[i]];
}

/* The bytes of a dense result, from those that the context computes by itself. */
static void expect(const struct sum * s, const uint8_t * add, uint8_t * bytes, size_t size)
{
    const SimdnetQuantizedParams * q = &s->q;
    SimdnetQuantizedBinaryParameters p = {.size = sizeof(p), .operation = SimdnetBinaryAdd, .dataType = q->addType, .count = 1,
        .shape = {size}, .aShape = {size}, .bShape = {size}, .aScale = q->ownScale, .bScale = q->addScale,
        .dstScale = q->sumScale, .aZero = q->ownZero, .bZero = q->addZero, .dstZero = q->sumZero, .a = bytes, .b = add,
        .dst = bytes};
    if (q->addFirst) {
        p.a = add, p.aScale = q->addScale, p.aZero = q->addZero;
        p.b = bytes, p.bScale = q->ownScale, p.bZero = q->ownZero;
    }
    look_up(s->after ? q->table : NULL, bytes, size);
    SimdnetQuantizedBinary(&p);
    look_up(s->after ? NULL : q->table, bytes, size);
}

static void run_sum(const struct layer * l, const struct sum * s, void * context, const uint8_t * src, const uint8_t * add,
                    uint8_t * dst)
{
    SimdnetForwardParameters f = {.size = sizeof(f), .src = src, .add = add, .dst = dst,
        .dstPixel = l->gap ? l->p.dstC + l->gap : 0, .addPixel = s->gap ? l->p.dstC + s->gap : 0};
    f.order = s->after ? SimdnetAddAfterActivation : SimdnetAddBeforeActivation;
    SimdnetForward(context, &f);
    if (SimdnetLastErrorKind())
        check_that(false, SET, "%s", SimdnetLastError());
}

/* Copies pixels with gaps to a dense array, or back. */
static void copy_pixels(const struct layer * l, const uint8_t * from, size_t fromGap, uint8_t * to, size_t toGap)
{
    const size_t c = l->p.dstC;
    for (size_t i = 0; i < pixels(l); ++i)
        memcpy(to + i * (c + toGap), from + i * (c + fromGap), c);
}

/* One level: sums by a context, and by one that shares its parameters; and results without any. */
static void compare_sums(const struct layer * l, const struct sum * s, const uint8_t * src)
{
    const size_t size = pixels(l) * l->p.dstC, most = pixels(l) * (l->p.dstC + l->gap + s->gap) + 1;
    uint8_t * all = malloc(6 * most), * expected = all, * add = all + most, * given = all + 2 * most, * found = all + 3 * most,
              * shared = all + 4 * most, * plain = all + 5 * most;
    memset(all, 1, 6 * most);
    void * context = open(l), * other = open(l);
    SimdnetQuantizedParams without = s->q;
    without.adds = SimdFalse;
    without.table = NULL;
    SimdnetQuantizedSetParams(context, &without);
    run(l, context, src, plain);
    copy_pixels(l, plain, l->gap, expected, 0);
    memcpy(found, plain, most), memcpy(shared, plain, most);
    fill(add, size);
    copy_pixels(l, add, 0, given, s->gap);
    expect(s, add, expected, size);
    copy_pixels(l, expected, 0, plain, l->gap);
    SimdnetQuantizedSetParams(context, &s->q);
    const bool shares = SimdnetShareParams(other, context) == SimdTrue;
    run_sum(l, s, context, src, given, found);
    run_sum(l, s, other, src, given, shared);
    check_that(shares && memcmp(plain, found, most) == 0 && memcmp(plain, shared, most) == 0, SET,
               "sum, %zux%zux%zux%zu -> %zu by %zux%zu, format %d, group %zu, gaps %zu and %zu, table %d, after %d, first %d, %s",
               l->batch, l->p.srcC, l->p.srcH, l->p.srcW, l->p.dstC, l->p.kernelY, l->p.kernelX, (int)l->p.srcF, l->p.group, l->gap,
               s->gap, s->q.table != NULL, (int)s->after, (int)s->q.addFirst, SimdnetContextInfo(context));
    SimdRelease(context), SimdRelease(other);
    free(all);
}

static void sums(const struct layer * l, const SimdnetQuantizedParams * q, const uint8_t * src)
{
    static size_t calls;
    const size_t i = calls++;
    const int negative = i / 2 % 2;
    struct sum s = {*q, i % 2 ? SimdTrue : SimdFalse, l->p.srcF == SimdTensorFormatNhwc ? i % 5 / 3 * i : 0};
    s.q.adds = SimdTrue;
    s.q.table = i % 3 ? q->table : NULL;
    s.q.addFirst = i / 4 % 2 ? SimdTrue : SimdFalse;
    s.q.addType = negative ? SimdTensorData8i : SimdTensorData8u;
    s.q.ownScale = i % 7 == 6 ? 3e30f : 0.03f, s.q.addScale = i % 4 ? 0.017f : 0.03f, s.q.sumScale = i % 4 ? 0.041f : 0.03f;
    s.q.ownZero = 120 - 128 * negative, s.q.addZero = 255 - 128 * negative, s.q.sumZero = 3 - 128 * negative;
    compare_sums(l, &s, src);
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
        sums(&l, &q, src);
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
    layer(some(format, 16, 60, 70, 1, 1));
    layer(some(format, 33, 18, 70, 3, 1));
    layer(some(format, 32, 80, 48, 3, 1)); /* several threads, each with some lines */
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

/* `add` where parameters say nothing of it, as those of earlier versions, which end after `table`; and as a part of dst. */
static void refuse_sums(void * context, const SimdnetQuantizedParams * good, const SimdnetQuantizedParams * sum)
{
    uint8_t src[36] = {0}, add[36] = {0}, dst[36];
    const SimdnetForwardParameters f = {.size = sizeof(f), .src = src, .add = add, .dst = dst};
    SimdnetForwardParameters within = f;
    SimdnetQuantizedParams earlier = *sum;
    within.add = dst;
    earlier.size = offsetof(SimdnetQuantizedParams, adds);
    const SimdnetQuantizedParams * without[] = {good, &earlier};
    for (size_t i = 0; i < 2; ++i) {
        SimdnetQuantizedSetParams(context, without[i]);
        check_that(!SimdnetLastErrorKind(), SET, "%s", SimdnetLastError());
        SimdnetForward(context, &f);
        check_that(strstr(SimdnetLastError(), "this QuantizedConvolution adds nothing"), SET, "%s", SimdnetLastError());
    }
    SimdnetQuantizedSetParams(context, sum);
    SimdnetForward(context, &within);
    check_that(strstr(SimdnetLastError(), "dst") && SimdnetLastErrorKind() == CHECK_VALUE, SET, "add is dst, not refused: %s",
               SimdnetLastError());
    SimdnetForward(context, &f);
    check_that(!SimdnetLastErrorKind(), SET, "%s", SimdnetLastError());
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
    SimdnetQuantizedParams sum = good;
    sum.adds = SimdTrue, sum.addType = SimdTensorData8i, sum.ownScale = 1, sum.addScale = 1, sum.sumScale = 1;
    refuse("addType is SimdTensorData32f", context, (q = sum, q.addType = SimdTensorData32f, &q));
    refuse("ownScale is 0", context, (q = sum, q.ownScale = 0, &q));
    refuse("addScale is -1", context, (q = sum, q.addScale = -1, &q));
    refuse("sumScale is inf", context, (q = sum, q.sumScale = INFINITY, &q));
    refuse("ownZero is 128, expected -128 .. 127", context, (q = sum, q.ownZero = 128, &q));
    refuse("addZero is -129", context, (q = sum, q.addZero = -129, &q));
    refuse("sumZero is 256, expected 0 .. 255", context, (q = sum, q.addType = SimdTensorData8u, q.sumZero = 256, &q));
    check_that(SimdSynetQuantizedConvolutionInternalBufferSize(context) == 0, SET, "it has parameters");
    refuse_sums(context, &good, &sum);
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
