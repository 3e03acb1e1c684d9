/*
 * QuantizedMergedConvolution: the bytes of its convolutions one after the other by QuantizedConvolution, and of the formula of
 * the addition, on every instruction set.
 */
#include <stdlib.h>

#include "check_merged.h"

#define NAME "SimdSynetQuantizedMergedConvolution"

typedef SimdConvolutionParameters parameters;

enum { STAGES = CHECK_STAGES, MOST = 4096 };
enum { SRC, NUMBERS, DST };

struct merged {
    parameters p[STAGES];
    size_t count, batch;
    int add;
    bool no_bias, no_set;
    const char * bad; /* the argument of SetParams that is wrong */
};

static struct merged block(size_t c, size_t side, size_t middle, size_t kernel, size_t stride, size_t o, size_t which)
{
    struct merged m = {.batch = 1};
    m.count = check_merged_block(m.p, c, side, middle, kernel, stride, o, which);
    return m;
}

/* The arguments of SetParams, from random bytes. */
struct numbers {
    float scale[STAGES + 2], * weightScale[STAGES];
    uint8_t zero[STAGES + 2];
    int8_t * weight[STAGES];
    int32_t * bias[STAGES];
};

static struct numbers numbers_of(const struct merged * m, const uint8_t * from)
{
    struct numbers n;
    for (size_t i = 0; i < STAGES + 2; ++i)
        n.scale[i] = 0.02f * (float)(1 + from[i] % 9), n.zero[i] = from[9 + i];
    for (size_t i = 0; i < m->count; ++i) {
        const parameters * p = &m->p[i];
        const size_t count = check_merged_weights(p), taps = p->dstC ? count / p->dstC : 1;
        n.weight[i] = malloc(count + 1);
        n.weightScale[i] = malloc((p->dstC + 1) * sizeof(float));
        n.bias[i] = malloc((p->dstC + 1) * sizeof(int32_t));
        for (size_t k = 0; k < count; ++k)
            n.weight[i][k] = (int8_t)from[(k * 7 + k / 64 + i) % MOST];
        for (size_t o = 0; o < p->dstC; ++o) {
            n.weightScale[i][o] = 0.003f * (float)(1 + from[(o + 77) % MOST] % 7) / sqrtf((float)taps + 1);
            n.bias[i][o] = m->no_bias ? 0 : from[(o + 99) % MOST] * 40 - 5000;
        }
    }
    return n;
}

static void drop(const struct merged * m, struct numbers * n)
{
    for (size_t i = 0; i < m->count; ++i) {
        memset(n->weight[i], 0x55, check_merged_weights(&m->p[i]));
        free(n->weight[i]), free(n->weightScale[i]), free(n->bias[i]);
    }
}

static void * init(const struct merged * m, size_t batch)
{
    return SimdSynetQuantizedMergedConvolutionInit(batch, m->p, m->count, m->add);
}

static void set_params(const struct merged * m, void * context, const uint8_t * from)
{
    struct numbers n = numbers_of(m, from);
    const char bad = m->bad ? *m->bad : ' ';
    const int8_t * const weight[] = {n.weight[0], bad == 'w' ? NULL : n.weight[1], n.weight[2]};
    const float * const scale[] = {bad == 's' ? NULL : n.weightScale[0], n.weightScale[1], n.weightScale[2]};
    const int32_t * const bias[] = {n.bias[0], m->no_bias ? NULL : n.bias[1], n.bias[2]};
    if (bad == 'n')
        n.scale[m->count] = NAN;
    if (bad == '0')
        n.weightScale[1][0] = 0;
    SimdSynetQuantizedMergedConvolutionSetParams(
        context, bad == 'i' ? NULL : n.scale, bad == 'z' ? NULL : n.zero, bad == 'W' ? NULL : weight, bad == 'S' ? NULL : scale,
        m->no_bias && m->batch > 1 ? NULL : bias);
    drop(m, &n);
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
    SimdSynetQuantizedMergedConvolutionForward(context, a[SRC], NULL, a[DST]);
}

/* The convolutions one after the other, by contexts of their own; then the addition. */
static void one_by_one(const struct merged * m, const uint8_t * from, const uint8_t * src, uint8_t * dst)
{
    struct numbers n = numbers_of(m, from);
    const size_t size = check_merged_image(&m->p[m->count - 1]);
    const uint8_t * image = src;
    uint8_t * made = NULL;
    for (size_t i = 0; i < m->count; ++i) {
        const float scale[] = {n.scale[i], 1, n.scale[i + 1]};
        const uint8_t zero[] = {n.zero[i], 0, n.zero[i + 1]};
        uint8_t * next = malloc(check_merged_image(&m->p[i]) + 1);
        void * context = SimdSynetQuantizedConvolutionInit(1, &m->p[i]);
        SimdSynetQuantizedConvolutionSetParams(context, scale, zero, n.weight[i], n.weightScale[i], n.bias[i], NULL);
        SimdSynetQuantizedConvolutionForward(context, image, NULL, next);
        SimdRelease(context);
        free(made);
        image = made = next;
    }
    if (!m->add)
        memcpy(dst, made, size);
    const size_t a = m->add == 1 ? 3 : 0, b = 3 - a;
    const float na = n.scale[a] / n.scale[4], nb = n.scale[b] / n.scale[4];
    const float t = (float)n.zero[4] - fmaf(na, (float)n.zero[a], nb * (float)n.zero[b]);
    for (size_t k = 0; m->add && k < size; ++k) {
        const float x = m->add == 1 ? made[k] : src[k], y = m->add == 1 ? src[k] : made[k];
        dst[k] = (uint8_t)fminf(fmaxf(rintf(fmaf(x, na, fmaf(y, nb, t))), 0), 255);
    }
    free(made);
    drop(m, &n);
}

/* Also with a buffer, by a context that shares the parameters, and by the single convolutions. */
static void forward_twice(const void * job, void * context, void * const * a)
{
    const struct merged * m = job;
    const parameters * first = m->p, * last = &m->p[m->count - 1];
    const size_t from = first->srcH * first->srcW * first->srcC, size = check_merged_image(last);
    forward(job, context, a);
    void * again = check_buffer(m->batch * size + 1);
    void * buf = check_buffer(SimdSynetQuantizedMergedConvolutionExternalBufferSize(context));
    SimdSynetQuantizedMergedConvolutionForward(context, a[SRC], buf, again);
    if (memcmp(a[DST], again, m->batch * size))
        check_that(false, NAME "Forward", "with and without buf results differ");
    void * other = init(m, 1);
    if (!SimdnetShareParams(other, context))
        check_that(false, NAME "Forward", "not shared: %s", SimdnetLastError());
    SimdSynetQuantizedMergedConvolutionForward(other, a[SRC], NULL, again);
    SimdRelease(other);
    if (memcmp(a[DST], again, size))
        check_that(false, NAME "Forward", "a context that shares the parameters gives other bytes");
    for (size_t b = 0; b < m->batch; ++b) {
        one_by_one(m, a[NUMBERS], (const uint8_t *)a[SRC] + b * from, again);
        if (memcmp((const uint8_t *)a[DST] + b * size, again, size))
            check_that(false, NAME "Forward", "image %zu differs from the convolutions one by one", b);
    }
}

static bool declare(const char * function, const struct merged * m, const char * text)
{
    const parameters * first = m->p, * last = &m->p[m->count - 1];
    if (!check_case(function, "%zu stages, batch %zu, %zux%zux%zu to %zu, %zux%zux%zu by %zu stride %zu, add %d%s%s", m->count,
                    m->batch, first->srcC, first->srcH, first->srcW, first->dstC, last->dstC, last->dstH, last->dstW,
                    m->p[m->count - 2].kernelY, m->p[m->count - 2].strideY, m->add, m->no_bias ? " no bias" : "", text))
        return false;
    check_in("src", CHECK_8U, m->batch * first->srcH * first->srcW * first->srcC, CHECK_RANDOM);
    check_in("numbers", CHECK_8U, MOST, CHECK_RANDOM);
    check_out("dst", CHECK_8U, m->batch * check_merged_image(last));
    check_open(open);
    return true;
}

static void run(struct merged m)
{
    if (declare(NAME "Forward", &m, ""))
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

static void refuse_set(const char * argument, const char * text)
{
    static const uint8_t from[MOST];
    struct merged m = block(4, 5, 6, 3, 1, 4, 0);
    void * context = init(&m, 1);
    m.bad = argument;
    set_params(&m, context, from);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE && strstr(SimdnetLastError(), text), NAME "SetParams", "bad %s: %s",
               argument, SimdnetLastError());
    check_that(SimdSynetQuantizedMergedConvolutionInternalBufferSize(context) == 0, NAME "SetParams", "bad %s: parameters",
               argument);
    SimdRelease(context);
}

static void refusals(void)
{
    const struct merged good = block(4, 5, 6, 3, 1, 4, 0), two = block(4, 5, 6, 3, 1, 4, 1);
    struct merged m;
    refuse_init("count", (m = good, m.count = 1, m));
    refuse_init("add is 3", (m = good, m.add = 3, m));
    refuse_init("add is -1", (m = good, m.add = -1, m));
    refuse_init("add is 1", (m = two, m.add = 1, m));
    refuse_init("conv[2].dstC", (m = good, m.add = 1, m.p[2].dstC = 5, m));
    refuse_init("conv[0].srcT", (m = good, m.p[0].srcT = SimdTensorData32f, m));
    refuse_init("conv[1].dstT", (m = good, m.p[1].dstT = SimdTensorData32f, m));
    refuse_init("conv[1].activation", (m = good, m.p[1].activation = SimdConvolutionActivationRelu, m));
    refuse_init("conv[1].srcC", (m = good, m.p[0].dstC = 7, m));
    refuse_init("conv[0].kernelY", (m = good, m.p[0] = check_merged_stage(4, 5, 6, 6, 5, 1, 2, 1), m));
    refuse_init("batch", (m = good, m.batch = SIZE_MAX / 2, m));
    refuse_set("i", "ioScale"), refuse_set("z", "ioZero"), refuse_set("n", "ioScale[3]"), refuse_set("W", "weight is NULL");
    refuse_set("w", "conv[1].weight"), refuse_set("S", "weightScale is NULL"), refuse_set("s", "weightScale[0]");
    refuse_set("0", "weightScale of output channel 0");
    for (int add = 0; add < 9; ++add) { /* shared only between equal additions */
        struct merged own = good, from = good;
        own.add = add / 3, from.add = add % 3;
        void * context = init(&own, 1), * other = init(&from, 1);
        set_params(&from, other, (const uint8_t[MOST]){1, 2, 3, 4, 5});
        const SimdBool shared = SimdnetShareParams(context, other);
        check_that(shared == (SimdBool)(own.add == from.add), "SimdnetShareParams", "add %d from %d: %s", own.add, from.add,
                   SimdnetLastError());
        check_that(shared || strstr(SimdnetLastError(), "add of from is"), "SimdnetShareParams", "%s", SimdnetLastError());
        SimdRelease(context), SimdRelease(other);
    }
    m = good, m.no_set = true;
    declare(NAME "Forward", &m, " without parameters");
    check_refused(CHECK_STATE, "SetParams", forward, &m);
    SimdSynetQuantizedMergedConvolutionForward(NULL, NULL, NULL, NULL);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE, NAME "Forward", "NULL: %s", SimdnetLastError());
}

CHECK_FAMILY(quantized_merged_convolution)
{
    for (size_t n = 1; n <= 68; ++n) {
        struct merged m = block(1 + n % 20, 3 + n % 9, n, 3 + 2 * (n % 3), 1 + n % 3, 1 + n * 7 % 50, n % 4 == 3 ? 0 : n % 4);
        m.no_bias = n % 5 == 0, m.batch = 1 + n % 2;
        run(m);
    }
    for (size_t i = 0, n = check_count(60); i < n; ++i) {
        const size_t c = check_random(1, 40);
        struct merged m = block(c, check_random(3, 16), check_random(1, 140), 3 + 2 * check_random(0, 2), 1, c, 0);
        m.add = (int)check_random(0, 2), m.batch = check_random(1, 3);
        run(m);
    }
    run(block(16, 29, 96, 3, 2, 24, 0)); /* long enough for several threads */
    refusals();
}
