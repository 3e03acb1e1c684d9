/*
 * Recurrent layers. The bound is the error of a step's sums, times a factor for what is carried from step to step: weights
 * are so small that the state forgets.
 */
#include "check.h"

#include <stddef.h>
#include <stdlib.h>

#define INIT "SimdnetRecurrentInit"
#define SET "SimdnetRecurrentSetParams"
#define COMPUTE "SimdnetRecurrentCompute"

/* The arrays of a case, in the order of their declaration. */
enum { SRC, W, R, BIAS, PEEPHOLE, H0, C0, DST, HN, CN };

struct layer {
    SimdnetRecurrentParameters p;
    const size_t * lengths;
    bool plain;    /* without bias, peephole, states: NULL */
    bool in_place; /* hn is h0, and cn is c0 */
    int missing;   /* the array that is NULL; -1 for none */
    bool no_set;   /* SetParams is not called */
};

static size_t directions_of(const struct layer * l) { return l->p.direction == SimdnetRecurrentBidirectional ? 2 : 1; }
static bool is_lstm(const struct layer * l) { return l->p.type == SimdnetRecurrentLstm; }
static size_t gates_of(const struct layer * l) { return (const size_t[]){4, 3, 1}[l->p.type]; }
static size_t columns_of(const struct layer * l) { return gates_of(l) * l->p.hidden * directions_of(l); }
static size_t state_of(const struct layer * l) { return directions_of(l) * l->p.batch * l->p.hidden; }

/* An array of the case, NULL if the layer has none. */
static void * array_of(const struct layer * l, void * const * a, int which)
{
    const bool optional = which == BIAS || which == PEEPHOLE || which == H0 || which == C0;
    const bool lstm = which == PEEPHOLE || which == C0 || which == CN;
    return which == l->missing || (l->plain && optional) || (!is_lstm(l) && lstm) ? NULL : a[which];
}

static void * init(const void * layer, void * const * a)
{
    (void)a;
    return SimdnetRecurrentInit(&((const struct layer *)layer)->p);
}

/* A copy that is overwritten afterwards: the library must not keep pointers to the arrays. */
static float * copy(const struct layer * l, void * const * a, int which, size_t count)
{
    const void * from = array_of(l, a, which);
    float * own = from ? malloc(count * sizeof(float)) : NULL;
    if (own)
        memcpy(own, from, count * sizeof(float));
    return own;
}

static void set_params(const struct layer * l, void * context, void * const * a)
{
    const size_t columns = columns_of(l);
    const size_t counts[] = {columns * l->p.input, columns * l->p.hidden, 2 * columns, 3 * directions_of(l) * l->p.hidden};
    float * own[4];
    for (int i = 0; i < 4; ++i)
        own[i] = copy(l, a, W + i, counts[i]);
    SimdnetRecurrentSetParams(context, own[0], own[1], own[2], own[3]);
    for (int i = 0; i < 4; ++i) {
        if (own[i])
            memset(own[i], 0xFF, counts[i] * sizeof(float));
        free(own[i]);
    }
}

static void * open(const void * layer, void * const * a)
{
    const struct layer * l = layer;
    void * context = init(layer, a);
    if (!context || l->no_set)
        return context;
    if (SimdnetRecurrentInternalBufferSize(context) != 0)
        check_that(false, "SimdnetRecurrentInternalBufferSize", "is not 0 at first");
    set_params(l, context, a);
    set_params(l, context, a); /* again */
    const size_t held = SimdnetRecurrentInternalBufferSize(context);
    if (held < columns_of(l) * (l->p.input + l->p.hidden) * sizeof(float))
        check_that(false, "SimdnetRecurrentInternalBufferSize", "is %zu, less than the weights", held);
    return context;
}

static void compute(const void * layer, void * context, void * const * a)
{
    const struct layer * l = layer;
    const size_t state = state_of(l) * sizeof(float);
    SimdnetRecurrentArrays arrays = {.size = sizeof(arrays), .src = array_of(l, a, SRC), .h0 = array_of(l, a, H0),
        .c0 = array_of(l, a, C0), .lengths = l->lengths, .dst = array_of(l, a, DST), .hn = array_of(l, a, HN),
        .cn = array_of(l, a, CN)};
    if (l->in_place && arrays.h0)
        arrays.h0 = memcpy(arrays.hn, arrays.h0, state);
    if (l->in_place && arrays.c0)
        arrays.c0 = memcpy(arrays.cn, arrays.c0, state);
    SimdnetRecurrentCompute(context, &arrays);
    if (!is_lstm(l)) /* a result that the layer does not have */
        memset(a[CN], 0, state);
}

static void fill_bound(double * bound, size_t count, double value)
{
    for (size_t i = 0; i < count; ++i)
        bound[i] = value;
}

/* Weights whose sums are at most about 1. */
static void scale(float * weight, size_t count, size_t terms)
{
    for (size_t i = 0; i < count; ++i)
        weight[i] *= 1.0f / (float)terms;
}

/* What is unusual in a layer; "" for nothing. */
static const char * options_of(const SimdnetRecurrentParameters * p, char text[static 100])
{
    int n = 0;
    text[0] = '\0';
    for (int i = 0; i < 6; ++i)
        if (p->activations[i])
            n += snprintf(text + n, 100 - (size_t)n, " %d=%d(%g,%g)", i, (int)p->activations[i], (double)p->alpha[i],
                          (double)p->beta[i]);
    if (p->clip > 0)
        n += snprintf(text + n, 100 - (size_t)n, " clip=%g", (double)p->clip);
    if (p->inputForget)
        snprintf(text + n, 100 - (size_t)n, " input forget");
    return text;
}

static bool declare(const struct layer * l, enum check_fill fill)
{
    char options[100];
    static const char * const types[] = {"lstm", "gru", "rnn"};
    static const char * const ways[] = {"forward", "reverse", "bidirectional"};
    const SimdnetRecurrentParameters * p = &l->p;
    if (!check_case(COMPUTE, "%s%s%s %s steps=%zu batch=%zu input=%zu hidden=%zu%s%s%s%s %s", types[p->type],
                    p->linearBeforeReset ? " linear" : "", options_of(p, options), ways[p->direction], p->steps, p->batch,
                    p->input, p->hidden, p->batchFirst ? " batch first" : "", l->lengths ? " lengths" : "",
                    l->plain ? " plain" : "", l->in_place ? " in place" : "", check_fill_name(fill)))
        return false;
    const size_t columns = columns_of(l), state = state_of(l), dst = p->steps * state;
    const double bound = (options[0] ? 64 : 16) * (double)(p->input + p->hidden + 16) * FLT_EPSILON;
    const bool wild = fill == CHECK_LARGE || fill == CHECK_INF || fill == CHECK_NAN;
    check_in("src", CHECK_32F, p->steps * p->batch * p->input, fill);
    scale(check_in("W", CHECK_32F, columns * p->input, wild ? CHECK_RANDOM : fill), columns * p->input, p->input);
    scale(check_in("R", CHECK_32F, columns * p->hidden, wild ? CHECK_RANDOM : fill), columns * p->hidden, p->hidden);
    check_in("bias", CHECK_32F, 2 * columns, CHECK_RANDOM);
    check_optional();
    check_in("peephole", CHECK_32F, 3 * directions_of(l) * p->hidden, CHECK_RANDOM);
    check_optional();
    check_in("h0", CHECK_32F, state, CHECK_RANDOM);
    check_optional();
    check_in("c0", CHECK_32F, state, CHECK_RANDOM);
    check_optional();
    check_out("dst", CHECK_32F, dst);
    check_optional();
    fill_bound(check_bound(), dst, bound);
    check_out("hn", CHECK_32F, state);
    check_optional();
    fill_bound(check_bound(), state, bound);
    check_out("cn", CHECK_32F, state);
    check_optional();
    fill_bound(check_bound(), state, 4 * bound);
    check_open(open);
    return true;
}

static struct layer layer_of(SimdnetRecurrentType type, SimdnetRecurrentDirection direction, size_t steps, size_t batch,
                             size_t input, size_t hidden)
{
    return (struct layer){.p = {.size = sizeof(SimdnetRecurrentParameters), .type = type, .direction = direction,
        .steps = steps, .batch = batch, .input = input, .hidden = hidden}, .missing = -1};
}

/* A layer that is chosen by its number among all combinations of options. */
static struct layer numbered(size_t i, size_t steps, size_t batch, size_t input, size_t hidden)
{
    struct layer l = layer_of((SimdnetRecurrentType)(i % 2), (SimdnetRecurrentDirection)(i / 2 % 3), steps, batch, input,
                              hidden);
    l.p.batchFirst = (SimdBool)(i / 6 % 2);
    l.p.linearBeforeReset = (SimdBool)(i % 2 && i / 12 % 2);
    l.plain = i % 5 == 0;
    l.in_place = i % 7 == 0;
    return l;
}

static bool is_bounded(SimdnetRecurrentActivationType a)
{
    return a <= SimdnetRecurrentActivationTanh || a == SimdnetRecurrentActivationScaledTanh ||
           a == SimdnetRecurrentActivationHardSigmoid || a == SimdnetRecurrentActivationSoftsign;
}

/* Another layer: of any type, with an activation in all places that it has and others behind it; sums are not near the limit
 * of ThresholdedRelu, where it has a step. Gates are bounded, if need be by `clip`: an LSTM would add errors up. */
static struct layer unusual(size_t i, SimdnetRecurrentActivationType first)
{
    static const float limits[] = {0, 8, -8};
    static const size_t places[] = {3, 2, 1};
    struct layer l = numbered(i, 4, 1 + i % 4, 3 + i % 7, 5 + i % 31);
    l.p.type = (SimdnetRecurrentType)(i % 3);
    l.p.linearBeforeReset = (SimdBool)(l.p.type == SimdnetRecurrentGru && i / 3 % 2);
    l.p.inputForget = (SimdBool)(l.p.type == SimdnetRecurrentLstm && i / 3 % 2);
    l.p.clip = i % 4 ? 0 : 0.5f;
    for (size_t k = 0; k < 6; ++k) {
        if (k / 3 >= directions_of(&l) || k % 3 >= places[l.p.type])
            continue;
        l.p.activations[k] = (SimdnetRecurrentActivationType)((first + k) % 12);
        if (l.p.type != SimdnetRecurrentRnn && k % 3 == 0 && !is_bounded(l.p.activations[k]))
            l.p.clip = 0.5f;
        const bool has_step = l.p.activations[k] == SimdnetRecurrentActivationThresholdedRelu;
        l.p.alpha[k] = has_step ? limits[(i + k) % 3] : 0.25f + 0.1f * (float)(k % 3);
        l.p.beta[k] = 0.5f - 0.2f * (float)(k % 2);
    }
    return l;
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
        check_run(compute, &l);
}

/* ---- the bits of a sequence alone, by a context that shares the weights, and for as many steps as it has */

static void compute_alone(const void * layer, void * context, void * const * a)
{
    const struct layer * l = layer;
    struct layer one = *l;
    compute(l, context, a);
    one.p.batch = 1;
    one.p.steps = l->lengths[1];
    one.lengths = NULL;
    void * alone = SimdnetRecurrentInit(&one.p);
    const size_t hidden = l->p.hidden, d = directions_of(l), row = l->p.steps * l->p.input;
    float * dst = check_buffer(one.p.steps * d * hidden * sizeof(float));
    if (!SimdnetShareParams(alone, context))
        check_that(false, "SimdnetShareParams", "%s", SimdnetLastError());
    const float * h0 = array_of(l, a, H0), * c0 = array_of(l, a, C0);
    const SimdnetRecurrentArrays arrays = {.size = sizeof(arrays), .src = (const float *)a[SRC] + row,
        .h0 = h0 ? h0 + d * hidden : NULL, .c0 = c0 ? c0 + d * hidden : NULL, .dst = dst};
    SimdnetRecurrentCompute(alone, &arrays);
    const float * all = (const float *)a[DST] + l->p.steps * d * hidden;
    if (!check_same(CHECK_32F, dst, all, one.p.steps * d * hidden))
        check_that(false, COMPUTE, "sequence 1 has other bits alone");
    SimdRelease(alone);
}

static void alone(size_t i)
{
    static const size_t lengths[] = {6, 4, 0};
    struct layer l = i < 24 ? numbered(i, 6, 3, 19, 37) : unusual(i, (SimdnetRecurrentActivationType)(i % 12));
    l.p.steps = 6;
    l.p.batch = 3;
    l.p.batchFirst = SimdTrue;
    l.in_place = false;
    l.lengths = lengths;
    if (declare(&l, CHECK_RANDOM))
        check_run(compute_alone, &l);
}

/* ---- invalid arguments */

static void refuse_init(const struct layer * l, const char * argument)
{
    check_case(INIT, "bad %s", argument);
    check_out("dst", CHECK_32F, 4);
    check_open(init);
    check_refused(CHECK_VALUE, argument, NULL, l);
}

#define REFUSE(argument, change)                                                                                            \
    do {                                                                                                                    \
        struct layer l = layer_of(SimdnetRecurrentLstm, SimdnetRecurrentForward, 2, 2, 3, 5);                               \
        change;                                                                                                             \
        refuse_init(&l, argument);                                                                                          \
    } while (0)

static void refuse_parameters(void)
{
    REFUSE("size", l.p.size = offsetof(SimdnetRecurrentParameters, inputForget) - 1);
    REFUSE("type", l.p.type = (SimdnetRecurrentType)3);
    REFUSE("type", l.p.type = (SimdnetRecurrentType)-1);
    REFUSE("direction", l.p.direction = (SimdnetRecurrentDirection)3);
    REFUSE("steps", l.p.steps = 0);
    REFUSE("batch", l.p.batch = 0);
    REFUSE("input", l.p.input = 0);
    REFUSE("hidden", l.p.hidden = 0);
    REFUSE("linearBeforeReset", l.p.linearBeforeReset = SimdTrue);
    REFUSE("inputForget", (l.p.type = SimdnetRecurrentGru, l.p.inputForget = SimdTrue));
    REFUSE("clip", l.p.clip = -1);
    REFUSE("clip", l.p.clip = NAN);
    REFUSE("clip", l.p.clip = INFINITY);
    REFUSE("activations[2]", l.p.activations[2] = (SimdnetRecurrentActivationType)12);
    REFUSE("activations[0]", l.p.activations[0] = (SimdnetRecurrentActivationType)-1);
    REFUSE("activations[3]", l.p.activations[3] = SimdnetRecurrentActivationTanh);
    REFUSE("activations[2]", (l.p.type = SimdnetRecurrentGru, l.p.activations[2] = SimdnetRecurrentActivationTanh));
    REFUSE("activations[1]", (l.p.type = SimdnetRecurrentRnn, l.p.activations[1] = SimdnetRecurrentActivationTanh));
    REFUSE("alpha[5]", l.p.alpha[5] = NAN);
    REFUSE("beta[0]", l.p.beta[0] = INFINITY);
    REFUSE("steps", l.p.steps = SIZE_MAX / 16);
    REFUSE("hidden", l.p.hidden = (size_t)1 << 40);
    REFUSE("input", l.p.input = (size_t)1 << 58);
    REFUSE("batch", l.p.batch = SIZE_MAX / 2);
    check_that(SimdnetRecurrentInit(NULL) == NULL, INIT, "accepts NULL");
    check_that(SimdnetRecurrentInternalBufferSize(NULL) == 0, "SimdnetRecurrentInternalBufferSize", "is not 0 for NULL");
}

/* Programs of version 0.2.0 know no members behind linearBeforeReset: what lies there is not read. */
static void earlier_struct(void)
{
    static const float weight[400] = {0.5f, -0.25f, 1};
    struct layer l = layer_of(SimdnetRecurrentLstm, SimdnetRecurrentForward, 2, 1, 3, 5);
    float usual[10], earlier[10];
    for (int i = 0; i < 2; ++i) {
        void * context = SimdnetRecurrentInit(&l.p);
        SimdnetRecurrentSetParams(context, weight, weight, NULL, NULL);
        SimdnetRecurrentCompute(context, &(SimdnetRecurrentArrays){.size = sizeof(SimdnetRecurrentArrays), .src = weight,
            .dst = i ? earlier : usual});
        SimdRelease(context);
        l.p.size = offsetof(SimdnetRecurrentParameters, inputForget);
        memset((char *)&l.p + l.p.size, 1, sizeof(l.p) - l.p.size);
    }
    check_that(check_same(CHECK_32F, usual, earlier, 10), INIT, "a struct without activations is another layer");
}

static void set_missing(const void * layer, void * context, void * const * a) { set_params(layer, context, a); }

/* A GRU has no peephole. */
static void set_peephole(const void * layer, void * context, void * const * a)
{
    (void)layer;
    SimdnetRecurrentSetParams(context, a[W], a[R], NULL, a[PEEPHOLE]);
}

static void refuse_set(const char * argument, SimdnetRecurrentType type, int missing, check_call_fn call)
{
    struct layer l = layer_of(type, SimdnetRecurrentForward, 2, 2, 3, 5);
    l.missing = missing;
    check_case(SET, "bad %s", argument);
    check_in("src", CHECK_32F, 1, CHECK_RANDOM);
    check_in("W", CHECK_32F, 60, CHECK_RANDOM);
    check_in("R", CHECK_32F, 100, CHECK_RANDOM);
    check_in("bias", CHECK_32F, 40, CHECK_RANDOM);
    check_in("peephole", CHECK_32F, 15, CHECK_RANDOM);
    check_open(init);
    check_refused(CHECK_VALUE, argument, call, &l);
}

/* Nor has it a cell. */
static void compute_cell(const void * layer, void * context, void * const * a)
{
    (void)layer;
    SimdnetRecurrentCompute(context, &(SimdnetRecurrentArrays){.size = sizeof(SimdnetRecurrentArrays), .src = a[SRC],
        .c0 = a[C0], .dst = a[DST]});
}

static void compute_size(const void * layer, void * context, void * const * a)
{
    (void)layer;
    SimdnetRecurrentCompute(context, &(SimdnetRecurrentArrays){.size = 8, .src = a[SRC], .dst = a[DST]});
}

static void refuse_calls(void)
{
    static const size_t lengths[] = {1, 3};
    struct layer l = layer_of(SimdnetRecurrentGru, SimdnetRecurrentForward, 2, 2, 3, 5);
    declare(&l, CHECK_RANDOM);
    check_refused(CHECK_VALUE, "c0", compute_cell, &l);
    declare(&l, CHECK_RANDOM);
    check_refused(CHECK_VALUE, "size", compute_size, &l);
    l.p.type = SimdnetRecurrentLstm;
    l.missing = SRC;
    declare(&l, CHECK_RANDOM);
    check_refused(CHECK_VALUE, "src", compute, &l);
    l.missing = -1;
    l.lengths = lengths;
    declare(&l, CHECK_RANDOM);
    check_refused(CHECK_VALUE, "lengths", compute, &l);
    l.lengths = NULL;
    l.no_set = true;
    declare(&l, CHECK_RANDOM);
    check_refused(CHECK_STATE, "SetParams", compute, &l);
}

/* Results that begin inside another array. */
struct overlap {
    struct layer layer;
    int result, other;
};

static void compute_overlapping(const void * job, void * context, void * const * a)
{
    const struct overlap * o = job;
    void * b[CN + 1];
    memcpy(b, a, sizeof(b));
    b[o->result] = (char *)a[o->other] + 4;
    SimdnetRecurrentArrays arrays = {.size = sizeof(arrays), .src = b[SRC], .h0 = b[H0], .c0 = b[C0], .dst = b[DST],
        .hn = b[HN], .cn = b[CN]};
    SimdnetRecurrentCompute(context, &arrays);
}

static void refuse_overlap(void)
{
    static const int others[] = {SRC, H0, C0, DST, HN, CN};
    static const char * const names[] = {"src", "h0", "c0", "dst", "hn", "cn"};
    struct overlap o = {.layer = layer_of(SimdnetRecurrentLstm, SimdnetRecurrentForward, 2, 2, 3, 5)};
    for (o.result = DST; o.result <= CN; ++o.result)
        for (int i = 0; i < 6; ++i) {
            o.other = others[i];
            if (o.other != o.result && declare(&o.layer, CHECK_RANDOM))
                check_refused(CHECK_VALUE, names[i], compute_overlapping, &o);
        }
}

/* SimdnetShareParams() must refuse a layer that differs from another one, and name what does. */
static void refuse_share(const struct layer * own, const struct layer * other, const char * text)
{
    float weight[400] = {0};
    void * context = SimdnetRecurrentInit(&own->p), * from = SimdnetRecurrentInit(&other->p);
    if (!own->no_set)
        SimdnetRecurrentSetParams(from, weight, weight, NULL, NULL);
    check_that(!SimdnetShareParams(context, from) && strstr(SimdnetLastError(), text), "SimdnetShareParams",
               "expected a text with '%s', got '%s'", text, SimdnetLastError());
    SimdRelease(context);
    SimdRelease(from);
}

static void refuse_other_functions(void)
{
    const struct layer l = layer_of(SimdnetRecurrentGru, SimdnetRecurrentForward, 2, 2, 3, 5);
    struct layer others[6];
    for (int i = 0; i < 6; ++i)
        others[i] = l;
    others[0].p.type = SimdnetRecurrentLstm;
    others[1].p.direction = SimdnetRecurrentReverse;
    others[2].p.input = 4;
    others[3].p.hidden = 6;
    others[4].p.linearBeforeReset = SimdTrue;
    static const char * const texts[] = {"type of from is LSTM", "direction of from is reverse", "input of from is 4",
                                         "hidden of from is 6", "linearBeforeReset of from is 1"};
    for (int i = 0; i < 5; ++i)
        refuse_share(&l, &others[i], texts[i]);
    others[5].no_set = true;
    refuse_share(&others[5], &l, "no parameters yet");
    void * context = SimdnetRecurrentInit(&l.p);
    SimdnetForward(context, &(SimdnetForwardParameters){.size = sizeof(SimdnetForwardParameters)});
    check_that(strstr(SimdnetLastError(), "expected one of images"), "SimdnetForward", "accepts a Recurrent");
    SimdRelease(context);
}

static void bench(void)
{
    const struct layer layers[] = {layer_of(SimdnetRecurrentLstm, SimdnetRecurrentBidirectional, 40, 1, 512, 256),
        layer_of(SimdnetRecurrentLstm, SimdnetRecurrentForward, 1, 1, 128, 128),
        layer_of(SimdnetRecurrentGru, SimdnetRecurrentBidirectional, 40, 1, 512, 256),
        layer_of(SimdnetRecurrentLstm, SimdnetRecurrentForward, 40, 16, 512, 256)};
    for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); ++i) {
        const SimdnetRecurrentParameters * p = &layers[i].p;
        if (declare(&layers[i], CHECK_RANDOM))
            check_bench(compute, &layers[i],
                        2.0 * (double)(p->steps * p->batch * columns_of(&layers[i]) * (p->input + p->hidden)), 0);
    }
}

CHECK_FAMILY(recurrent)
{
    for (size_t i = 0; i < 24; ++i) {
        run(numbered(i, 4, 2 + i % 2, 3 + i % 5, 7 + i), CHECK_RANDOM);
        alone(i);
        alone(24 + i);
    }
    for (size_t hidden = 1; hidden <= 70; hidden += 1 + hidden / 20)
        run(numbered(hidden, 3, 1 + hidden % 3, 1 + hidden % 37, hidden), CHECK_RANDOM);
    for (int fill = 0; fill < CHECK_FILLS; ++fill)
        for (size_t i = 0; i < 4; ++i)
            run(numbered(i * 5, 3, 2, 9, 21), (enum check_fill)fill);
    run(numbered(4, 100, 1, 40, 64), CHECK_RANDOM);  /* several blocks of steps */
    run(numbered(9, 3, 79, 20, 33), CHECK_RANDOM);   /* and of sequences */
    run(numbered(10, 5, 1, 1024, 128), CHECK_RANDOM);
    for (size_t i = 0; i < check_count(60); ++i)
        run(numbered(check_random(0, 23), check_random(1, 9), check_random(1, 7), check_random(1, 90), check_random(1, 90)),
            CHECK_RANDOM);
    static const enum check_fill fills[] = {CHECK_DENORMAL, CHECK_INF, CHECK_TIES, CHECK_NAN, CHECK_EQUAL};
    for (size_t i = 0; i < 72; ++i)
        run(unusual(i, (SimdnetRecurrentActivationType)(i / 6)), i % 5 ? CHECK_RANDOM : fills[i / 5 % 5]);
    earlier_struct();
    refuse_parameters();
    refuse_set("W", SimdnetRecurrentLstm, W, set_missing);
    refuse_set("R", SimdnetRecurrentLstm, R, set_missing);
    refuse_set("peephole", SimdnetRecurrentGru, -1, set_peephole);
    refuse_calls();
    refuse_overlap();
    refuse_other_functions();
    if (check_timed())
        bench();
}
