/*
 * MergedConvolution8i: the results of its convolutions one after the other, by Convolution8i with floats between and
 * Convolution32f, on every instruction set. All numbers are multiples of powers of two, so that no sum of floats is rounded and
 * results are equal; test_merged_convolution.py checks others against NumPy.
 */
#include <stdlib.h>

#include "check_merged.h"

#define NAME "SimdSynetMergedConvolution8i"

typedef SimdConvolutionParameters parameters;

enum { STAGES = CHECK_STAGES, MOST = 4096 };
enum { SRC, NUMBERS, DST };

struct merged {
    parameters p[STAGES];
    size_t count, batch;
    bool negative, no_bias, no_set, least_stats;
    const char * bad; /* the argument of SetParams that is wrong */
};

static const parameters * last_of(const struct merged * m) { return &m->p[m->count - 1]; }
static bool is_depthwise(const parameters * p) { return p->kernelY > 1 && p->group == p->srcC && p->srcC == p->dstC; }
static size_t size_of(SimdTensorDataType type) { return type == SimdTensorData8u ? 1 : sizeof(float); }

/* The bits of `types`: bytes of source and result. */
static struct merged block(size_t c, size_t side, size_t middle, size_t kernel, size_t stride, size_t o, size_t which, size_t types)
{
    struct merged m = {.batch = 1};
    m.count = check_merged_block(m.p, c, side, middle, kernel, stride, o, which);
    m.p[0].srcT = types & 1 ? SimdTensorData8u : SimdTensorData32f;
    m.p[m.count - 1].dstT = types & 2 ? SimdTensorData8u : SimdTensorData32f;
    for (size_t i = 0; i < m.count; ++i)
        m.p[i].group = i == (which == 2 ? 0u : 1u) ? m.p[i].srcC : 1;
    return m;
}

/* The arguments of SetParams, from random bytes; statistics of three tensors. */
struct numbers {
    float * weight[STAGES], * bias[STAGES], * min[3], * max[3];
    float params[2];
};

/* inv of a channel: a power of two for which the bytes of a tensor are neither all large nor all small. */
static float step_of(const uint8_t * from, size_t tensor, size_t channel)
{
    static const float least[] = {1.0f / 16, 0.5f, 4};
    return least[tensor] * (float)(1 << from[(channel * 3 + tensor) % MOST] % 3);
}

static void set_stats(const struct merged * m, struct numbers * n, const uint8_t * from)
{
    const size_t channels[] = {m->p[0].srcC, last_of(m)->srcC, last_of(m)->dstC};
    for (size_t t = 0; t < 3; ++t) {
        n->min[t] = malloc((channels[t] + 1) * sizeof(float));
        n->max[t] = malloc((channels[t] + 1) * sizeof(float));
        for (size_t c = 0; c < channels[t]; ++c) {
            n->min[t][c] = m->negative ? -127 * step_of(from, t, c) : 0;
            n->max[t][c] = m->negative ? 5 : 255 * step_of(from, t, c);
            n->max[t][c] = m->negative ? fminf(5, -n->min[t][c]) : n->max[t][c];
        }
    }
}

/* Weights of products are quantised to small integers, and one of 127; those of depthwise convolutions are -1, 0 and 1. */
static float weight_of(const parameters * p, const uint8_t * from, size_t tensor, size_t i)
{
    const uint8_t random = from[(i * 7 + i / 64 + tensor) % MOST];
    if (is_depthwise(p))
        return (float)(random % 3) - 1;
    const size_t input = i / p->dstC;
    const float w8 = input == random % 2 || input == 0 ? 127 : (float)(random % 7) - 3;
    return w8 / 256 / step_of(from, tensor, input % p->srcC);
}

static struct numbers numbers_of(const struct merged * m, const uint8_t * from)
{
    struct numbers n = {.params = {0.5f, 96}};
    set_stats(m, &n, from);
    for (size_t i = 0; i < m->count; ++i) {
        const parameters * p = &m->p[i];
        const size_t count = check_merged_weights(p);
        n.weight[i] = malloc((count + 1) * sizeof(float));
        n.bias[i] = malloc((p->dstC + 1) * sizeof(float));
        for (size_t k = 0; k < count; ++k)
            n.weight[i][k] = weight_of(p, from, i == 0 ? 0 : 1, k);
        for (size_t o = 0; o < p->dstC; ++o)
            n.bias[i][o] = m->no_bias ? 0 : (float)from[(o + 99) % MOST] / 4 - 20;
    }
    return n;
}

static void drop(struct numbers * n)
{
    for (size_t i = 0; i < STAGES; ++i)
        free(n->weight[i]), free(n->bias[i]), free(n->min[i]), free(n->max[i]);
}

static void * init(const struct merged * m, size_t batch)
{
    return SimdSynetMergedConvolution8iInit(batch, m->p, m->count, SimdSynetCompatibilityDefault);
}

/* Statistics that have no effect are left out with `least_stats`. */
static void set_params(const struct merged * m, void * context, const uint8_t * from)
{
    struct numbers n = numbers_of(m, from);
    const char bad = m->bad ? *m->bad : ' ';
    const bool first = m->p[0].srcT == SimdTensorData8u || !is_depthwise(&m->p[0]), second = !is_depthwise(last_of(m));
    const bool third = last_of(m)->dstT == SimdTensorData8u, all = !m->least_stats;
    const float * const weight[] = {n.weight[0], bad == 'w' ? NULL : n.weight[1], n.weight[2]};
    const float * const bias[] = {n.bias[0], m->no_bias ? NULL : n.bias[1], n.bias[2]};
    const float * const params[] = {n.params, n.params, n.params};
    const float * stats[] = {all || first ? n.min[0] : NULL, all || first ? n.max[0] : NULL, all || second ? n.min[1] : NULL,
        all || second ? n.max[1] : NULL, all || third ? n.min[2] : NULL, all || third ? n.max[2] : NULL};
    if (bad >= '0' && bad <= '5')
        stats[bad - '0'] = NULL;
    if (bad == 'n')
        n.max[1][0] = NAN;
    if (bad == 'm')
        n.min[2][0] = n.max[2][0] + 1;
    SimdBool internal[STAGES] = {SimdFalse, SimdFalse, SimdFalse};
    SimdSynetMergedConvolution8iSetParams(context, bad == 'W' ? NULL : weight, m->batch > 1 ? NULL : internal,
                                          m->no_bias && m->batch > 1 ? NULL : bias, bad == 'p' ? NULL : params,
                                          bad == 'S' ? NULL : stats);
    for (size_t i = 0; i < STAGES && m->batch == 1; ++i)
        if (internal[i] != (!m->bad && i < m->count ? SimdTrue : SimdFalse))
            check_that(false, NAME "SetParams", "internal[%zu] is %d", i, (int)internal[i]);
    drop(&n);
}

static void * open(const void * job, void * const * a)
{
    const struct merged * m = job;
    void * context = init(m, m->batch);
    if (context && !m->no_set)
        set_params(m, context, a[NUMBERS]);
    return context;
}

static void forward(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetMergedConvolution8iForward(context, a[SRC], NULL, a[DST]);
}

/* Convolution8i or, of floats, Convolution32f. */
static void * one(const parameters * p, const struct numbers * n, size_t i, const float * const * stats, const void * src)
{
    void * dst = malloc(check_merged_image(p) * sizeof(float) + 1);
    void * context = is_depthwise(p) ? SimdSynetConvolution32fInit(1, p, NULL) : SimdSynetConvolution8iInit(1, p);
    if (is_depthwise(p)) {
        SimdSynetConvolution32fSetParams(context, n->weight[i], NULL, n->bias[i], n->params);
        SimdSynetConvolution32fForward(context, src, NULL, dst);
    } else {
        SimdSynetConvolution8iSetParams(context, n->weight[i], n->bias[i], n->params, stats);
        SimdSynetConvolution8iForward(context, src, NULL, dst);
    }
    if (SimdnetLastErrorKind())
        check_that(false, NAME "Forward", "alone: %s", SimdnetLastError());
    SimdRelease(context);
    return dst;
}

/* Bytes as floats, or floats as bytes, by the formulas. */
static void * converted(const void * src, bool bytes, size_t count, size_t channels, const float * min, const float * max)
{
    void * dst = malloc(count * sizeof(float) + 1);
    bool negative = false;
    for (size_t c = 0; c < channels; ++c)
        negative |= min[c] < 0;
    const float zero = negative ? 128 : 0;
    for (size_t i = 0; i < count; ++i) {
        const float inv = fmaxf(fabsf(min[i % channels]), fabsf(max[i % channels])) / (negative ? 127 : 255), scale = 1 / inv;
        if (bytes)
            ((float *)dst)[i] = (float)((const uint8_t *)src)[i] * inv + -zero * inv;
        else
            ((uint8_t *)dst)[i] = (uint8_t)fminf(fmaxf(rintf(((const float *)src)[i] * scale + zero), 0), 255);
    }
    return dst;
}

static void * next_of(void * before, void * next)
{
    free(before);
    return next;
}

/* One image, convolution by convolution. */
static void one_by_one(const struct merged * m, const uint8_t * from, const void * src, void * dst)
{
    struct numbers n = numbers_of(m, from);
    const float * const first[] = {n.min[0], n.max[0], n.min[1], n.max[1]};
    const float * const last[] = {n.min[1], n.max[1], n.min[2], n.max[2]};
    const parameters * end = last_of(m);
    const size_t source = m->p[0].srcH * m->p[0].srcW * m->p[0].srcC;
    void * made = malloc(source * sizeof(float) + 1);
    memcpy(made, src, source * size_of(m->p[0].srcT));
    if (is_depthwise(&m->p[0]) && m->p[0].srcT == SimdTensorData8u)
        made = next_of(made, converted(made, true, source, m->p[0].srcC, n.min[0], n.max[0]));
    for (size_t i = 0; i < m->count; ++i) {
        parameters p = m->p[i];
        if (i > 0 || is_depthwise(&p))
            p.srcT = SimdTensorData32f;
        if (i + 1 < m->count || is_depthwise(&p))
            p.dstT = SimdTensorData32f;
        made = next_of(made, one(&p, &n, i, i == 0 ? first : last, made));
    }
    if (is_depthwise(end) && end->dstT == SimdTensorData8u)
        made = next_of(made, converted(made, false, check_merged_image(end), end->dstC, n.min[2], n.max[2]));
    memcpy(dst, made, check_merged_image(end) * size_of(end->dstT));
    free(made);
    drop(&n);
}

/* Also with a buffer, by a context that shares the parameters, and by the single convolutions. */
static void forward_twice(const void * job, void * context, void * const * a)
{
    const struct merged * m = job;
    const parameters * first = m->p, * last = last_of(m);
    const size_t from = first->srcH * first->srcW * first->srcC * size_of(first->srcT);
    const size_t size = check_merged_image(last) * size_of(last->dstT);
    forward(job, context, a);
    void * again = check_buffer(m->batch * size + 1);
    void * buf = check_buffer(SimdSynetMergedConvolution8iExternalBufferSize(context));
    SimdSynetMergedConvolution8iForward(context, a[SRC], buf, again);
    if (memcmp(a[DST], again, m->batch * size))
        check_that(false, NAME "Forward", "with and without buf results differ");
    void * other = init(m, 1);
    if (!SimdnetShareParams(other, context))
        check_that(false, NAME "Forward", "not shared: %s", SimdnetLastError());
    SimdSynetMergedConvolution8iForward(other, a[SRC], NULL, again);
    SimdRelease(other);
    if (memcmp(a[DST], again, size))
        check_that(false, NAME "Forward", "a context that shares the parameters gives other results");
    for (size_t b = 0; b < m->batch; ++b) {
        one_by_one(m, a[NUMBERS], (const uint8_t *)a[SRC] + b * from, again);
        if (memcmp((const uint8_t *)a[DST] + b * size, again, size))
            check_that(false, NAME "Forward", "image %zu differs from the convolutions one by one", b);
    }
}

/* Multiples of 1 / 16 within the range of most statistics. */
static void fill(const struct merged * m, void * const * a)
{
    const parameters * p = m->p;
    uint8_t * bytes = a[SRC];
    for (size_t i = 0, n = m->batch * p->srcH * p->srcW * p->srcC; i < n && p->srcT == SimdTensorData32f; ++i) {
        const sn_32f value = (sn_32f)((int)check_random(0, 319) - (m->negative ? 160 : 0)) / 16;
        memcpy(bytes + i * sizeof(value), &value, sizeof(value));
    }
}

static bool declare(const char * function, const struct merged * m, const char * text, void ** a)
{
    const parameters * first = m->p, * last = last_of(m);
    if (!check_case(function, "%zu stages, batch %zu, %zux%zux%zu to %zu, %zux%zux%zu by %zu stride %zu, bytes %d %d%s%s%s",
                    m->count, m->batch, first->srcC, first->srcH, first->srcW, first->dstC, last->dstC, last->dstH, last->dstW,
                    m->p[m->count - 2].kernelY, m->p[m->count - 2].strideY, first->srcT == SimdTensorData8u,
                    last->dstT == SimdTensorData8u, m->negative ? " negative" : "", m->no_bias ? " no bias" : "", text))
        return false;
    a[SRC] = check_in("src", first->srcT == SimdTensorData8u ? CHECK_8U : CHECK_32F,
                      m->batch * first->srcH * first->srcW * first->srcC, CHECK_RANDOM);
    a[NUMBERS] = check_in("numbers", CHECK_8U, MOST, CHECK_RANDOM);
    check_out("dst", last->dstT == SimdTensorData8u ? CHECK_8U : CHECK_32F, m->batch * check_merged_image(last));
    check_open(open);
    return true;
}

static void run(struct merged m)
{
    void * a[3];
    if (!declare(NAME "Forward", &m, "", a))
        return;
    fill(&m, a);
    check_run(forward_twice, &m);
}

/* ---- refusals */

static void refuse_init(const char * argument, struct merged m)
{
    check_case(NAME "Init", "bad %s", argument);
    check_out("dst", CHECK_8U, 4);
    check_open(open);
    check_refused(CHECK_VALUE, argument, NULL, &m);
}

static void refuse_set(const char * argument, const char * text, struct merged m)
{
    static const uint8_t from[MOST];
    void * context = init(&m, 1);
    m.bad = argument;
    set_params(&m, context, from);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE && strstr(SimdnetLastError(), text), NAME "SetParams", "bad %s: %s",
               argument, SimdnetLastError());
    check_that(SimdSynetMergedConvolution8iInternalBufferSize(context) == 0, NAME "SetParams", "bad %s: parameters", argument);
    SimdRelease(context);
}

static void refusals(void)
{
    const struct merged good = block(4, 5, 6, 3, 1, 4, 0, 3), two = block(4, 5, 6, 3, 1, 4, 2, 1);
    struct merged m;
    void * a[3];
    refuse_init("count", (m = good, m.count = 1, m));
    refuse_init("conv[0].srcT", (m = good, m.p[0].srcT = SimdTensorData16b, m));
    refuse_init("conv[1].dstT", (m = good, m.p[1].dstT = SimdTensorData8i, m));
    refuse_init("conv[1].srcC", (m = good, m.p[0].dstC = 7, m));
    refuse_init("conv[1].strideX", (m = good, m.p[1].strideX = 2, m.p[1].dstW = 3, m));
    refuse_init("conv[0].kernelY", (m = good, m.p[0] = check_merged_stage(4, 5, 6, 6, 5, 1, 2, 1), m));
    refuse_init("conv[2].padY", (m = good, m.p[2] = check_merged_stage(6, 5, 6, 4, 1, 1, 1, 1), m));
    refuse_init("batch", (m = good, m.batch = SIZE_MAX / 2, m));
    refuse_set("W", "weight is NULL", good), refuse_set("w", "conv[1].weight", good), refuse_set("S", "stats is NULL", good);
    refuse_set("0", "stats[0] is NULL", good), refuse_set("3", "stats[3] is NULL", good), refuse_set("5", "stats[5] is NULL", good);
    refuse_set("n", "stats[3] of channel 0", good), refuse_set("m", "stats[4] of channel 0", good);
    refuse_set("1", "stats[1] is NULL", two), refuse_set("2", "stats[2] is NULL", two);
    refuse_set("p", "conv[2].params", (m = good, m.p[2].activation = SimdConvolutionActivationLeakyRelu, m));
    m = good, m.no_set = true;
    declare(NAME "Forward", &m, " without parameters", a);
    check_refused(CHECK_STATE, "SetParams", forward, &m);
    SimdSynetMergedConvolution8iForward(NULL, NULL, NULL, NULL);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE, NAME "Forward", "NULL: %s", SimdnetLastError());
}

static const SimdConvolutionActivationType activations[] = {SimdConvolutionActivationIdentity, SimdConvolutionActivationRelu,
    SimdConvolutionActivationLeakyRelu, SimdConvolutionActivationRestrictRange};

CHECK_FAMILY(merged_convolution_8i)
{
    for (size_t n = 1; n <= 96; ++n) {
        struct merged m = block(1 + n % 20, 3 + n % 9, n % 71 + 1, 3 + 2 * (n % 3), 1 + n % 3, 1 + n * 7 % 50,
                                n % 5 > 2 ? 0 : n % 5, n / 2 % 4);
        m.negative = n % 3 == 0, m.no_bias = n % 7 == 0, m.batch = 1 + n % 2, m.least_stats = n % 4 == 1;
        for (size_t i = 0; i < m.count; ++i)
            m.p[i].activation = activations[(n + i) % 4];
        run(m);
    }
    for (size_t i = 0, n = check_count(60); i < n; ++i) {
        struct merged m = block(check_random(1, 40), check_random(3, 16), check_random(1, 140), 3 + 2 * check_random(0, 2),
                                check_random(1, 3), check_random(1, 60), check_random(0, 2), check_random(0, 3));
        m.negative = check_random(0, 1), m.batch = check_random(1, 3);
        run(m);
    }
    run(block(16, 29, 96, 3, 2, 24, 0, 0)); /* long enough for several threads */
    run(block(96, 29, 96, 3, 1, 24, 2, 3));
    refusals();
}
