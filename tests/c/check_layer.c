/* Checks of contexts, for all families of layers that have one. */
#include "check_layer.h"

#include <stdlib.h>

typedef SimdConvolutionParameters parameters;

struct check_layer check_layer_of(const struct check_layer_family * family, parameters p)
{
    return (struct check_layer){.family = family, .p = {p}, .stages = 1, .batch = 1};
}

struct check_layer check_layer_with(struct check_layer l, size_t batch, bool own_buffer)
{
    l.batch = batch;
    l.own_buffer = own_buffer;
    return l;
}

static const parameters * last_stage(const struct check_layer * l) { return &l->p[l->stages - 1]; }

static size_t all_stages(const struct check_layer * l, enum check_layer_array array)
{
    size_t sum = 0;
    for (size_t i = 0; i < l->stages; ++i) {
        const parameters * p = &l->p[i];
        sum += array == CHECK_WEIGHT ? p->dstC * p->srcC / p->group * p->kernelY * p->kernelX
               : array == CHECK_BIAS ? p->dstC
                                     : check_activation_params(p);
    }
    return sum;
}

size_t check_layer_count(const struct check_layer * l, enum check_layer_array array)
{
    const parameters * first = l->p, * last = last_stage(l);
    switch ((size_t)array) {
    case CHECK_SRC: return l->batch * first->srcC * first->srcH * first->srcW;
    case CHECK_DST: return l->batch * last->dstC * last->dstH * last->dstW;
    case CHECK_STATS:
    case CHECK_STATS + 1: return first->srcC;
    case CHECK_STATS + 2:
    case CHECK_STATS + 3: return last->dstC;
    default: return all_stages(l, array);
    }
}

static enum check_type type_of(SimdTensorDataType type)
{
    return type == SimdTensorData8u ? CHECK_8U : type == SimdTensorData16b ? CHECK_16B : CHECK_32F;
}

static enum check_type dst_type(const struct check_layer * l) { return type_of(last_stage(l)->dstT); }

static size_t dst_bytes(const struct check_layer * l)
{
    const enum check_type type = dst_type(l);
    return check_layer_count(l, CHECK_DST) * (type == CHECK_8U ? 1 : type == CHECK_16B ? 2 : 4);
}

/* ---- a context and its calls */

void * check_layer_init(const void * layer, void * const * a)
{
    const struct check_layer * l = layer;
    (void)a;
    return l->family->make(l);
}

/* An array for SetParams, with the same alignment within its block as the array of the case. */
struct copy {
    void * block;
    float * at;
    size_t bytes;
};

/* Copies the arrays that exist, and takes zeros for the others. Without params, every other batch passes NULL for them. */
static void copy(const struct check_layer * l, void * const * a, struct copy * own)
{
    for (size_t i = 0; i < CHECK_NO_ARRAY; ++i) {
        own[i] = (struct copy){NULL, NULL, 0};
        if (i == CHECK_SRC || i == CHECK_DST || (i >= CHECK_STATS && !l->family->stats))
            continue;
        const size_t count = check_layer_count(l, (enum check_layer_array)i);
        if ((i == CHECK_BIAS && l->no_bias) || (i == CHECK_PARAMS && count == 0 && l->batch % 2))
            continue;
        const size_t shift = (uintptr_t)a[i] % 16;
        own[i].bytes = count * sizeof(float);
        own[i].block = calloc(1, shift + own[i].bytes + 1);
        own[i].at = (void *)((char *)own[i].block + shift);
        if (a[i] && count)
            memcpy(own[i].at, a[i], own[i].bytes);
    }
}

/* Overwrites and frees the arrays: the library must not keep pointers to them. */
static void spoil(const struct copy * own)
{
    for (size_t i = 0; i < CHECK_NO_ARRAY; ++i) {
        if (own[i].at)
            memset(own[i].at, 0xFF, own[i].bytes);
        free(own[i].block);
    }
}

/* The taps of an axis that meet the image at some output. */
static size_t used_taps(size_t src, size_t dst, size_t kernel, size_t dilation, size_t stride, size_t pad)
{
    size_t used = 0;
    for (size_t k = 0; k < kernel; ++k) {
        bool meets = false;
        for (size_t i = 0; i < dst && !meets; ++i)
            meets = i * stride + k * dilation - pad < src; /* wraps before the image */
        used += meets;
    }
    return used;
}

/* The bytes of weights that a context must hold: taps that see only padding may be left out. */
static size_t weight_bytes(const struct check_layer * l)
{
    size_t used = 0;
    for (const parameters * p = l->p; p <= last_stage(l) && check_layer_count(l, CHECK_WEIGHT); ++p)
        used += p->dstC * (p->srcC / p->group) *
                used_taps(p->srcH, p->dstH, p->kernelY, p->dilationY, p->strideY, p->padY) *
                used_taps(p->srcW, p->dstW, p->kernelX, p->dilationX, p->strideX, p->padX);
    return used * l->family->weight_unit;
}

void * check_layer_open(const void * layer, void * const * a)
{
    const struct check_layer * l = layer;
    const struct check_layer_family * f = l->family;
    void * context = f->make(l);
    if (!context || l->no_set)
        return context;
    if (f->internal_size(context) != 0)
        check_that(false, f->internal, "is %zu before SetParams", f->internal_size(context));
    struct copy own[CHECK_NO_ARRAY];
    const float * at[CHECK_NO_ARRAY];
    copy(l, a, own);
    for (size_t i = 0; i < CHECK_NO_ARRAY; ++i)
        at[i] = own[i].at;
    if (!f->call_set_params(l, context, at) && last_stage(l)->dstC != 0)
        check_that(false, f->set_params, "internal is not SimdTrue");
    spoil(own);
    if (f->internal_size(context) * f->unit < weight_bytes(l))
        check_that(false, f->internal, "is %zu, less than the weights: %s", f->internal_size(context),
                   SimdnetContextInfo(context));
    return context;
}

static size_t src_bytes(const struct check_layer * l)
{
    const enum check_type type = type_of(l->p->srcT);
    return check_layer_count(l, CHECK_SRC) * (type == CHECK_8U ? 1 : type == CHECK_16B ? 2 : 4);
}

static void forward_with(const struct check_layer * l, void * context, const void * src, bool own_buffer, void * dst)
{
    void * buf = NULL;
    if (own_buffer) {
        const size_t size = l->family->external_size(context);
        if (size == 0)
            check_that(false, l->family->external, "is 0");
        buf = check_buffer(size * l->family->unit);
    }
    l->family->run(context, src, buf, dst);
}

void check_layer_forward(const void * layer, void * context, void * const * a)
{
    const struct check_layer * l = layer;
    forward_with(l, context, a[CHECK_SRC], l->own_buffer, a[CHECK_DST]);
}

/* Forward, and a second time with the other choice of `buf` (NULL or a buffer): the bits must be the same. */
static void forward_twice(const void * layer, void * context, void * const * a)
{
    const struct check_layer * l = layer;
    check_layer_forward(l, context, a);
    void * dst = check_buffer(dst_bytes(l));
    forward_with(l, context, a[CHECK_SRC], !l->own_buffer, dst);
    if (!check_same(dst_type(l), a[CHECK_DST], dst, check_layer_count(l, CHECK_DST)))
        check_that(false, l->family->forward, "with and without buf results differ: %s", SimdnetContextInfo(context));
    if (l->family->also)
        l->family->also(l, a);
}

/* Forward, and again with the images one place further: the results must move with them. */
static void forward_moved(const void * layer, void * context, void * const * a)
{
    const struct check_layer * l = layer;
    const size_t from = src_bytes(l) / l->batch, to = dst_bytes(l) / l->batch, count = check_layer_count(l, CHECK_DST) / l->batch;
    check_layer_forward(l, context, a);
    char * src = check_buffer(src_bytes(l)), * dst = check_buffer(dst_bytes(l));
    memcpy(src, (const char *)a[CHECK_SRC] + from, (l->batch - 1) * from);
    memcpy(src + (l->batch - 1) * from, a[CHECK_SRC], from);
    forward_with(l, context, src, !l->own_buffer, dst);
    for (size_t b = 0; b < l->batch; ++b)
        if (!check_same(dst_type(l), dst + b * to, (const char *)a[CHECK_DST] + (b + 1) % l->batch * to, count))
            check_that(false, l->family->forward, "image %zu differs at place %zu of a batch: %s", (b + 1) % l->batch, b,
                       SimdnetContextInfo(context));
    if (l->family->also)
        l->family->also(l, a);
}

/* The result of image `b` of a batch must be that of an image alone, unless that has another algorithm. */
static void forward_alone(const struct check_layer * l, const void * batch, void * const * a, size_t b)
{
    struct check_layer one = *l;
    one.batch = 1;
    void * context = check_layer_open(&one, a);
    const size_t bytes = dst_bytes(&one);
    if (strcmp(SimdnetContextInfo(context), SimdnetContextInfo(batch)) == 0) {
        char * dst = check_buffer(bytes);
        forward_with(&one, context, a[CHECK_SRC], false, dst);
        if (!check_same(dst_type(l), dst, (const char *)a[CHECK_DST] + b * bytes, check_layer_count(&one, CHECK_DST)))
            check_that(false, l->family->forward, "an image alone differs: %s", SimdnetContextInfo(batch));
    }
    SimdRelease(context);
}

/* All images are the same, so all results must be the same. */
static void forward_equal(const void * layer, void * context, void * const * a)
{
    const struct check_layer * l = layer;
    check_layer_forward(l, context, a);
    const size_t bytes = dst_bytes(l) / l->batch, count = check_layer_count(l, CHECK_DST) / l->batch;
    const char * dst = a[CHECK_DST];
    for (size_t b = 1; b < l->batch; ++b)
        if (!check_same(dst_type(l), dst, dst + b * bytes, count))
            check_that(false, l->family->forward, "image %zu of a batch differs: %s", b, SimdnetContextInfo(context));
    forward_alone(l, context, a, l->batch - 1);
}

/* ---- cases */

static void declare(const struct check_layer * l, enum check_fill fill, void ** a)
{
    static const char * const names[] = {"stats[0]", "stats[1]", "stats[2]", "stats[3]"};
    const struct check_layer_family * f = l->family;
    const bool wild = fill == CHECK_LARGE || fill == CHECK_INF || fill == CHECK_NAN || (f->narrow && fill == CHECK_DENORMAL);
    a[CHECK_SRC] = check_in("src", type_of(l->p->srcT), check_layer_count(l, CHECK_SRC), fill);
    a[CHECK_WEIGHT] = check_in("weight", CHECK_32F, check_layer_count(l, CHECK_WEIGHT), wild ? CHECK_RANDOM : fill);
    a[CHECK_BIAS] = check_in("bias", CHECK_32F, check_layer_count(l, CHECK_BIAS), CHECK_RANDOM);
    float * params = a[CHECK_PARAMS] = check_in("params", CHECK_32F, check_layer_count(l, CHECK_PARAMS), CHECK_RANDOM);
    for (size_t i = 0; i < l->stages; params += check_activation_params(&l->p[i++]))
        check_activation_values(&l->p[i], params);
    check_out("dst", type_of(last_stage(l)->dstT), check_layer_count(l, CHECK_DST));
    for (size_t i = 0; i < 4 && f->stats; ++i) {
        const size_t count = check_layer_count(l, (enum check_layer_array)(CHECK_STATS + i));
        float * limit = a[CHECK_STATS + i] = check_in(names[i], CHECK_32F, count, CHECK_RANDOM);
        for (size_t c = 0; c < count; ++c) /* no minimum exceeds its maximum */
            limit[c] = i % 2 ? fabsf(limit[c]) : -fabsf(limit[c]);
    }
}

bool check_layer_case(const struct check_layer * l, const char * text, enum check_fill fill, void ** a)
{
    if (!check_case(l->family->forward, "%s%s%s%s %s", text, l->add ? " add" : "", l->own_buffer ? " buf" : "",
                    l->no_bias ? " no bias" : "", check_fill_name(fill)))
        return false;
    declare(l, fill, a);
    check_open(check_layer_open);
    return true;
}

void check_layer_run(const struct check_layer * l)
{
    check_run(l->batch == 1 ? forward_twice : check_repeated() ? forward_moved : check_layer_forward, l);
}

void check_layer_run_equal(const struct check_layer * l) { check_run(forward_equal, l); }

void check_layer_bench(const struct check_layer * l, double flops) { check_bench(check_layer_forward, l, flops, 0); }

void check_layer_bench_known(const struct check_layer_family * family, void (*begin)(struct check_layer * l))
{
    const SimdTensorFormatType formats[] = {SimdTensorFormatNhwc, SimdTensorFormatNchw};
    parameters p;
    for (size_t f = 0; f < 2; ++f)
        for (size_t i = 0; check_convolution_known(formats[f], i, &p); ++i) {
            struct check_layer l = check_layer_of(family, p);
            l.p->activation = SimdConvolutionActivationRelu;
            begin(&l);
            check_layer_bench(&l, check_convolution_flops(l.p));
        }
}

/* ---- invalid arguments */

static void forward_null(const void * layer, void * context, void * const * a)
{
    const struct check_layer * l = layer;
    l->family->run(l->wrong_context ? NULL : context, l->missing == CHECK_SRC ? NULL : a[CHECK_SRC], NULL,
                   l->missing == CHECK_DST ? NULL : a[CHECK_DST]);
}

static void set_params_missing(const void * layer, void * context, void * const * a)
{
    const struct check_layer * l = layer;
    const float * arrays[CHECK_NO_ARRAY];
    for (size_t i = 0; i < CHECK_NO_ARRAY; ++i)
        arrays[i] = i == l->missing || (i >= CHECK_STATS && !l->family->stats) ? NULL : a[i];
    l->family->call_set_params(l, l->wrong_context ? NULL : context, arrays);
}

void check_layer_refuse_init(const struct check_layer * l, const char * argument)
{
    check_case(l->family->init, "bad %s", argument);
    check_out("dst", CHECK_32F, 4);
    check_open(check_layer_init);
    check_refused(CHECK_VALUE, argument, NULL, l);
}

/* A valid layer with one change. */
#define REFUSE(argument, change)                                                                                            \
    do {                                                                                                                    \
        struct check_layer j = *l;                                                                                          \
        change;                                                                                                             \
        check_layer_refuse_init(&j, argument);                                                                              \
    } while (0)

void check_layer_refuse_parameters(const struct check_layer * l)
{
    REFUSE("batch", j.batch = 0);
    REFUSE("conv", j.null_conv = true);
    REFUSE("srcT", j.p->srcT = SimdTensorDataUnknown);
    REFUSE("srcT", j.p->srcT = SimdTensorData8i);
    REFUSE("dstT", j.p->dstT = SimdTensorData32i);
    REFUSE("dstT", j.p->dstT = SimdTensorData16f);
    REFUSE("srcF", j.p->srcF = j.p->dstF = SimdTensorFormatNchw8c);
    REFUSE("dstF", j.p->dstF = j.p->srcF == SimdTensorFormatNchw ? SimdTensorFormatNhwc : SimdTensorFormatNchw);
    REFUSE("kernelY", j.p->kernelY = 0);
    REFUSE("kernelX", j.p->kernelX = 0);
    REFUSE("kernelY", j.p->dilationY = SIZE_MAX / 2);
    REFUSE("dilationY", j.p->dilationY = 0);
    REFUSE("dilationX", j.p->dilationX = 0);
    REFUSE("strideY", j.p->strideY = 0);
    REFUSE("strideX", j.p->strideX = 0);
    REFUSE("dstH", j.p->dstH -= 1);
    REFUSE("dstW", j.p->dstW += 1);
    REFUSE("dstW", j.p->dstW = 0);
    REFUSE("padY", j.p->padY = SIZE_MAX);
    REFUSE("padW", j.p->padW = SIZE_MAX - 7);
    REFUSE("srcH", j.p->srcH = SIZE_MAX / 2);
    REFUSE("group", j.p->group = 0);
    REFUSE("srcC", j.p->group = 3);
    REFUSE("dstC", j.p->group = 4);
    REFUSE("activation", j.p->activation = (SimdConvolutionActivationType)11);
    REFUSE("activation", j.p->activation = (SimdConvolutionActivationType)-1);
    REFUSE("conv", j.batch = SIZE_MAX / 16);
    if (l->stages == 1) { /* the arrays of one image are small; one of those of the batch is too large */
        REFUSE("conv", (j.p->srcC = (size_t)1 << 21, j.batch = (size_t)1 << 50));
        REFUSE("conv", (j.p->dstC = (size_t)1 << 21, j.batch = (size_t)1 << 52));
    }
    REFUSE("conv", j.p->srcC = j.p->dstC = SIZE_MAX / 64 * 2);
}

void check_layer_refuse_missing(const struct check_layer * l, enum check_layer_array array, const char * argument)
{
    void * a[CHECK_NO_ARRAY];
    struct check_layer faulty = *l;
    faulty.missing = array;
    check_case(l->family->set_params, "without %s", argument);
    declare(l, CHECK_RANDOM, a);
    check_open(check_layer_init);
    check_refused(CHECK_VALUE, argument, set_params_missing, &faulty);
}

/* A call in which dst or the buffer overlaps another array. */
struct overlap {
    struct check_layer layer;
    enum { DST_ON_SRC, BUF_ON_SRC, BUF_ON_DST } which;
    enum { FIRST_BYTE, LAST_BYTE, SAME } where; /* of the array that is overlapped */
};

static void forward_overlapping(const void * job, void * context, void * const * a)
{
    const struct overlap * o = job;
    const struct check_layer_family * f = o->layer.family;
    const size_t next = o->which == BUF_ON_DST ? dst_bytes(&o->layer) : src_bytes(&o->layer);
    const size_t moved = o->which == DST_ON_SRC ? dst_bytes(&o->layer) : f->external_size(context) * f->unit;
    char * at = a[o->which == BUF_ON_DST ? CHECK_DST : CHECK_SRC];
    at = o->where == SAME ? at : o->where == LAST_BYTE ? at + next - 1 : at - moved + 1;
    f->run(context, a[CHECK_SRC], o->which == DST_ON_SRC ? NULL : at, o->which == DST_ON_SRC ? at : a[CHECK_DST]);
}

/* The buffer, src and dst in adjacent memory. */
static void forward_adjacent(const void * layer, void * context, void * const * a)
{
    const struct check_layer * l = layer;
    const size_t size = l->family->external_size(context) * l->family->unit;
    char * buf = check_buffer(size + src_bytes(l) + dst_bytes(l)), * src = buf + size, * dst = src + src_bytes(l);
    memcpy(src, a[CHECK_SRC], src_bytes(l));
    l->family->run(context, src, buf, dst);
    memcpy(a[CHECK_DST], dst, dst_bytes(l));
}

static void refuse_overlap(const struct check_layer * l)
{
    void * a[CHECK_NO_ARRAY];
    for (int which = DST_ON_SRC; which <= BUF_ON_DST; ++which)
        for (int where = FIRST_BYTE; where <= SAME; ++where) {
            const struct overlap job = {*l, which, where};
            check_layer_case(l, "overlap", CHECK_RANDOM, a);
            check_refused(CHECK_VALUE, which == DST_ON_SRC ? "src" : "buf", forward_overlapping, &job);
        }
    check_layer_case(l, "adjacent", CHECK_RANDOM, a);
    check_anything();
    check_run(forward_adjacent, l);
}

void check_layer_refuse_calls(const struct check_layer * l)
{
    void * a[CHECK_NO_ARRAY];
    struct check_layer faulty = *l;
    refuse_overlap(l);
    check_layer_case(l, "no src", CHECK_RANDOM, a);
    faulty.missing = CHECK_SRC;
    check_refused(CHECK_VALUE, "src", forward_null, &faulty);
    check_layer_case(l, "no dst", CHECK_RANDOM, a);
    faulty.missing = CHECK_DST;
    check_refused(CHECK_VALUE, "dst", forward_null, &faulty);
    faulty.missing = CHECK_NO_ARRAY;
    faulty.wrong_context = true;
    check_layer_case(l, "no context", CHECK_RANDOM, a);
    check_refused(CHECK_VALUE, "context", forward_null, &faulty);
    check_layer_refuse_missing(&faulty, CHECK_NO_ARRAY, "context");
    faulty.wrong_context = false;
    faulty.no_set = true;
    check_layer_case(l, "no SetParams", CHECK_RANDOM, a);
    check_refused(CHECK_STATE, "SetParams", forward_null, &faulty);
    check_layer_refuse_missing(l, CHECK_WEIGHT, "weight");
    check_layer_refuse_missing(l, CHECK_PARAMS, "params");
    check_that(l->family->external_size(NULL) == 0, l->family->external, "is not 0 without a context");
    check_that(l->family->internal_size(NULL) == 0, l->family->internal, "is not 0 without a context");
}

void check_layer_empty(const struct check_layer * l)
{
    void * a[CHECK_NO_ARRAY];
    check_case(l->family->forward, "no output channels");
    declare(l, CHECK_RANDOM, a);
    check_open(check_layer_open);
    check_empty(forward_null, l);
}
