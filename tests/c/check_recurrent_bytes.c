/*
 * LSTM with weights of bytes. Sums of bytes are exact, but a state near the middle between two bytes may become either of
 * them; so the bound is that of states that differ by a step, by weights whose sums are at most about 1.
 */
#include "check.h"

#define SET "SimdnetRecurrentSetQuantizedParams"

/* The arrays of a case, in the order of their declaration. */
enum { SRC, W, R, SCALE_W, SCALE_R, ZERO_W, ZERO_R, BIAS, PEEPHOLE, H0, C0, DST, HN, CN };

struct layer {
    SimdnetRecurrentParameters p;
    SimdTensorDataType type;
    SimdBool perColumn;
    const size_t * lengths;
    bool plain;  /* without zeros, bias, peephole and states: NULL */
    int missing; /* the array that is NULL; -1 for none */
};

static size_t directions_of(const struct layer * l) { return l->p.direction == SimdnetRecurrentBidirectional ? 2 : 1; }
static size_t columns_of(const struct layer * l) { return 4 * l->p.hidden * directions_of(l); }
static size_t scales_of(const struct layer * l) { return l->perColumn == SimdFalse ? directions_of(l) : columns_of(l); }

static void * array_of(const struct layer * l, void * const * a, int which)
{
    return which == l->missing || (l->plain && which >= ZERO_W && which <= C0) ? NULL : a[which];
}

static SimdnetRecurrentQuantizedParams params_of(const struct layer * l, void * const * a)
{
    return (SimdnetRecurrentQuantizedParams){.size = sizeof(SimdnetRecurrentQuantizedParams), .type = l->type,
        .perColumn = l->perColumn, .W = array_of(l, a, W), .R = array_of(l, a, R), .scaleW = array_of(l, a, SCALE_W),
        .scaleR = array_of(l, a, SCALE_R), .zeroW = array_of(l, a, ZERO_W), .zeroR = array_of(l, a, ZERO_R),
        .bias = array_of(l, a, BIAS), .peephole = array_of(l, a, PEEPHOLE)};
}

static void * init(const void * layer, void * const * a)
{
    (void)a;
    return SimdnetRecurrentInit(&((const struct layer *)layer)->p);
}

static void set(const void * layer, void * context, void * const * a)
{
    const SimdnetRecurrentQuantizedParams p = params_of(layer, a);
    SimdnetRecurrentSetQuantizedParams(context, &p);
}

/* Weights of floats are replaced, and the other way round. */
static void * open(const void * layer, void * const * a)
{
    const struct layer * l = layer;
    const size_t columns = columns_of(l);
    void * context = init(layer, a);
    const size_t bytes = columns * (l->p.input + l->p.hidden) * sizeof(float);
    float * floats = check_buffer(bytes);
    memset(floats, 0, bytes);
    for (int i = 0; i < 2; ++i) {
        SimdnetRecurrentSetParams(context, floats, floats, NULL, NULL);
        set(layer, context, a);
    }
    const size_t held = SimdnetRecurrentInternalBufferSize(context);
    if (held < columns * (l->p.input + l->p.hidden))
        check_that(false, SET, "holds %zu bytes, less than the weights", held);
    return context;
}

static void compute(const void * layer, void * context, void * const * a)
{
    const struct layer * l = layer;
    SimdnetRecurrentCompute(context, &(SimdnetRecurrentArrays){.size = sizeof(SimdnetRecurrentArrays), .src = a[SRC],
        .h0 = array_of(l, a, H0), .c0 = array_of(l, a, C0), .lengths = l->lengths, .dst = a[DST], .hn = a[HN], .cn = a[CN]});
}

/* By a context that shares the weights. */
static void compute_shared(const void * layer, void * context, void * const * a)
{
    void * other = init(layer, a);
    if (!SimdnetShareParams(other, context))
        check_that(false, "SimdnetShareParams", "%s", SimdnetLastError());
    compute(layer, other, a);
    SimdRelease(other);
}

/* Such that the sum of `terms` weights is at most about 1. */
static void fill_scales(sn_32f * scale, size_t count, size_t terms)
{
    for (size_t i = 0; i < count; ++i)
        scale[i] = (1 + (float)(i % 5)) / (400 * (float)terms);
}

static void fill_bound(size_t count, double value)
{
    double * bound = check_bound();
    for (size_t i = 0; i < count; ++i)
        bound[i] = value;
}

static bool declare(const struct layer * l, enum check_fill fill)
{
    static const char * const ways[] = {"forward", "reverse", "bidirectional"};
    const SimdnetRecurrentParameters * p = &l->p;
    if (!check_case(SET, "%s steps=%zu batch=%zu input=%zu hidden=%zu %s%s%s%s%s %s", ways[p->direction], p->steps, p->batch,
                    p->input, p->hidden, l->type == SimdTensorData8u ? "8u" : "8i", l->perColumn ? " by column" : "",
                    p->batchFirst ? " batch first" : "", l->lengths ? " lengths" : "", l->plain ? " plain" : "",
                    check_fill_name(fill)))
        return false;
    const size_t columns = columns_of(l), scales = scales_of(l), state = directions_of(l) * p->batch * p->hidden;
    check_in("src", CHECK_32F, p->steps * p->batch * p->input, fill);
    check_in("W", CHECK_8U, columns * p->input, CHECK_RANDOM);
    check_in("R", CHECK_8U, columns * p->hidden, CHECK_RANDOM);
    fill_scales(check_in("scaleW", CHECK_32F, scales, CHECK_RANDOM), scales, p->input);
    fill_scales(check_in("scaleR", CHECK_32F, scales, CHECK_RANDOM), scales, p->hidden);
    check_in("zeroW", CHECK_8U, scales, CHECK_RANDOM);
    check_in("zeroR", CHECK_8U, scales, CHECK_RANDOM);
    check_in("bias", CHECK_32F, 2 * columns, CHECK_RANDOM);
    check_in("peephole", CHECK_32F, 3 * directions_of(l) * p->hidden, CHECK_RANDOM);
    check_in("h0", CHECK_32F, state, CHECK_RANDOM);
    check_in("c0", CHECK_32F, state, CHECK_RANDOM);
    check_out("dst", CHECK_32F, p->steps * state);
    fill_bound(p->steps * state, 0.01);
    check_out("hn", CHECK_32F, state);
    fill_bound(state, 0.01);
    check_out("cn", CHECK_32F, state);
    fill_bound(state, 0.03);
    check_open(open);
    return true;
}

/* A layer that is chosen by its number among all combinations of options. */
static struct layer numbered(size_t i, size_t steps, size_t batch, size_t input, size_t hidden)
{
    return (struct layer){.p = {.size = sizeof(SimdnetRecurrentParameters), .direction = (SimdnetRecurrentDirection)(i % 3),
        .steps = steps, .batch = batch, .input = input, .hidden = hidden, .batchFirst = (SimdBool)(i / 3 % 2)},
        .type = i / 6 % 2 ? SimdTensorData8u : SimdTensorData8i, .perColumn = (SimdBool)(i / 12 % 2), .plain = i % 5 == 0,
        .missing = -1};
}

static void run(struct layer l, enum check_fill fill)
{
    size_t lengths[80];
    if (l.p.batch % 2 && l.p.batch <= 80) { /* of every other batch; from 0 on */
        for (size_t b = 0; b < l.p.batch; ++b)
            lengths[b] = (b * 3 + l.p.hidden) % (l.p.steps + 1);
        l.lengths = lengths;
    }
    if (declare(&l, fill))
        check_run(l.p.hidden % 4 ? compute : compute_shared, &l);
}

/* ---- invalid arguments */

static void refuse(struct layer l, const char * text)
{
    if (!declare(&l, CHECK_RANDOM))
        return;
    check_open(init);
    check_refused(CHECK_VALUE, text, set, &l);
}

static void set_bad_scale(const void * layer, void * context, void * const * a)
{
    static const float bad = -1;
    SimdnetRecurrentQuantizedParams p = params_of(layer, a);
    p.scaleR = &bad;
    SimdnetRecurrentSetQuantizedParams(context, &p);
}

static void set_size(const void * layer, void * context, void * const * a)
{
    SimdnetRecurrentQuantizedParams p = params_of(layer, a);
    p.size = 8;
    SimdnetRecurrentSetQuantizedParams(context, &p);
}

static void refusals(void)
{
    static const char * const names[] = {"", "W is NULL", "R is NULL", "scaleW is NULL", "scaleR is NULL"};
    const struct layer l = numbered(0, 2, 2, 3, 5);
    struct layer other = l;
    for (other.missing = W; other.missing <= SCALE_R; ++other.missing)
        refuse(other, names[other.missing]);
    other = l;
    other.p.type = SimdnetRecurrentGru;
    refuse(other, "the layer is a GRU");
    other = l;
    other.type = SimdTensorData32f;
    refuse(other, "type is");
    other = l;
    other.perColumn = (SimdBool)7;
    refuse(other, "perColumn is 7");
    declare(&l, CHECK_RANDOM);
    check_open(init);
    check_refused(CHECK_VALUE, "scaleR[0] is -1", set_bad_scale, &l);
    declare(&l, CHECK_RANDOM);
    check_open(init);
    check_refused(CHECK_VALUE, "size", set_size, &l);
}

static void bench(void)
{
    const struct layer layers[] = {numbered(2, 40, 1, 512, 256), numbered(0, 40, 16, 512, 256)};
    for (size_t i = 0; i < 2; ++i) {
        const SimdnetRecurrentParameters * p = &layers[i].p;
        if (declare(&layers[i], CHECK_RANDOM))
            check_bench(compute, &layers[i],
                        2.0 * (double)(p->steps * p->batch * columns_of(&layers[i]) * (p->input + p->hidden)), 0);
    }
}

CHECK_FAMILY(recurrent_bytes)
{
    if (!check_selected(SET))
        return;
    for (size_t i = 0; i < 24; ++i)
        run(numbered(i, 4, 2 + i % 2, 3 + i % 5, 7 + i), CHECK_RANDOM);
    for (size_t hidden = 1; hidden <= 70; hidden += 1 + hidden / 20)
        run(numbered(hidden, 3, 1 + hidden % 3, 1 + hidden % 37, hidden), CHECK_RANDOM);
    for (size_t i = 0; i < 4; ++i) {
        run(numbered(i * 5, 3, 2, 9, 21), CHECK_EQUAL);
        run(numbered(i * 5, 3, 2, 9, 21), CHECK_TIES);
        run(numbered(i * 5, 3, 2, 9, 21), CHECK_DENORMAL);
        run(numbered(i * 5, 3, 2, 9, 21), CHECK_NAN);
    }
    run(numbered(4, 100, 1, 40, 64), CHECK_RANDOM); /* several blocks of steps */
    run(numbered(9, 3, 79, 20, 33), CHECK_RANDOM);
    for (size_t i = 0; i < check_count(40); ++i)
        run(numbered(check_random(0, 23), check_random(1, 9), check_random(1, 7), check_random(1, 90), check_random(1, 90)),
            CHECK_RANDOM);
    refusals();
    if (check_timed())
        bench();
}
