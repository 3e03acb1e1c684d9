/*
 * Layers of bfloat16 numbers and of bytes with coefficients of channels: Relu16b, Scale16b, Convert32fTo8u, Convert8uTo32f,
 * Scale8i. All are exact on every level: the same float32 operations in the same order. As all levels share the driver, a
 * loop over indices checks which coefficients belong to an element.
 */
#include "check.h"

/* A tensor of a function; `own` is what the function has besides. */
struct tensor {
    size_t batch, channels, spatial;
    SimdTensorFormatType format;
    int srcType, dstType, own;
};

static enum check_type type_of(int type)
{
    return type == SimdTensorData16b ? CHECK_16B : type == SimdTensorData8u ? CHECK_8U : CHECK_32F;
}

static const char * type_name(int type)
{
    return type == SimdTensorData16b ? "16b" : type == SimdTensorData8u ? "8u" : "32f";
}

static size_t size_of(const struct tensor * t) { return t->batch * t->channels * t->spatial; }

static bool tensor_case(const char * function, const struct tensor * t, enum check_fill fill, const char * what)
{
    if (!check_case(function, "%s %zux%zux%zu %s -> %s own=%d %s%s", check_format_name(t->format), t->batch, t->channels,
                    t->spatial, type_name(t->srcType), type_name(t->dstType), t->own, check_fill_name(fill), what))
        return false;
    check_exact(CHECK_NAN_FREE);
    return true;
}

/* ---- Relu16b */

#define RELU_16B "SimdSynetRelu16b"

struct relu {
    size_t size;
    float slope;
};

static void relu_16b(const void * job, void * context, void * const * a)
{
    const struct relu * p = job;
    (void)context;
    SimdSynetRelu16b(a[0], p->size, a[1], a[2]);
}

static void relu_16b_in_place(const void * job, void * context, void * const * a)
{
    const struct relu * p = job;
    (void)context;
    SimdSynetRelu16b(a[0], p->size, a[1], a[0]);
}

enum { PATTERNS = 65536 };

/* CHECK_ZERO: every bfloat16 number. */
static struct relu relu_case(size_t size, float slope, enum check_fill fill, bool in_place)
{
    const struct relu job = {size, slope};
    if (!check_case(RELU_16B, "size=%zu slope=%g %s%s", size, (double)slope, check_fill_name(fill),
                    in_place ? " in place" : ""))
        return job;
    check_exact(CHECK_NAN_FREE);
    if (!isfinite(slope))
        check_raises();
    uint16_t * src = (in_place ? check_inout : check_in)("src", CHECK_16B, size, fill);
    for (size_t i = 0; fill == CHECK_ZERO && i < size; ++i)
        src[i] = (uint16_t)i;
    *(float *)check_in("slope", CHECK_32F, 1, CHECK_ZERO) = slope;
    if (!in_place)
        check_out("dst", CHECK_16B, size);
    return job;
}

static void relus(void)
{
    static const float slopes[] = {0, 0.01f, -0.3f, 1, 3e8f, INFINITY, NAN};
    for (size_t size = 1; size <= 131; ++size) {
        const enum check_fill fill = (enum check_fill)(size % CHECK_FILLS);
        struct relu job = relu_case(size, slopes[size % 7], fill, false);
        check_run(relu_16b, &job);
        job = relu_case(size, slopes[size % 5], fill, true);
        check_run(relu_16b_in_place, &job);
    }
    struct relu job = relu_case(70000, 0.1f, CHECK_RANDOM, false);
    check_run(relu_16b, &job);
    job = relu_case(PATTERNS, 0.25f, CHECK_ZERO, false);
    check_run(relu_16b, &job);
    job = relu_case(7, 0.5f, CHECK_RANDOM, false);
    check_refused_null(relu_16b, &job);
    check_refused_overlap(true, relu_16b, &job);
    job.size = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "size", relu_16b, &job);
    job.size = 0;
    check_empty(relu_16b, &job);
}

/* ---- Scale16b: `own` is 1 for norm, 2 for bias */

#define SCALE_16B_INIT "SimdSynetScale16bInit"
#define SCALE_16B "SimdSynetScale16bForward"

static void * scale_16b_open(const void * job, void * const * a)
{
    const struct tensor * t = job;
    (void)a;
    return SimdSynetScale16bInit(t->channels, t->spatial, (SimdTensorDataType)t->srcType, (SimdTensorDataType)t->dstType,
                                 t->format, (SimdBool)(t->own & 1), (SimdBool)(t->own >> 1));
}

/* Coefficients that Init was not told of are ignored: a NULL. */
static void scale_16b(const void * job, void * context, void * const * a)
{
    const int own = ((const struct tensor *)job)->own;
    SimdSynetScale16bForward(context, a[0], own & 1 ? a[1] : NULL, own & 2 ? a[2] : NULL, a[3]);
}

static void scale_16b_in_place(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetScale16bForward(context, a[0], a[1], a[2], a[0]);
}

static void scale_16b_case(const struct tensor * t, enum check_fill fill, bool in_place)
{
    if (!tensor_case(SCALE_16B, t, fill, in_place ? " in place" : ""))
        return;
    check_open(scale_16b_open);
    (in_place ? check_inout : check_in)("src", type_of(t->srcType), size_of(t), fill);
    check_in("norm", CHECK_32F, t->channels, CHECK_RANDOM);
    if (!(t->own & 1))
        check_optional();
    check_in("bias", CHECK_32F, t->channels, CHECK_RANDOM);
    if (!(t->own & 2))
        check_optional();
    if (!in_place)
        check_out("dst", type_of(t->dstType), size_of(t));
}

static const size_t shapes[][2] = {{1, 1}, {1, 70}, {2, 33}, {3, 5}, {3, 130}, {5, 255}, {7, 256}, {17, 64}, {31, 3},
                                   {64, 7}, {65, 16}, {130, 1}, {257, 31}, {1025, 3}, {3, 4099}, {700, 13}};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void scale_16b_refusals(void)
{
    struct tensor t = {1, 3, 5, SimdTensorFormatNchw, SimdTensorData16b, SimdTensorData32f, 3};
    scale_16b_case(&t, CHECK_RANDOM, false);
    check_refused_null(scale_16b, &t);
    check_refused_overlap(false, scale_16b, &t);
    t.dstType = SimdTensorData16b;
    scale_16b_case(&t, CHECK_RANDOM, false);
    check_refused_overlap(true, scale_16b, &t);
    struct tensor bad[] = {t, t, t, t, t};
    static const char * const argument[] = {"norm and bias", "srcType", "dstType", "format", "channels"};
    bad[0].own = 0;
    bad[1].srcType = SimdTensorData8u;
    bad[2].dstType = SimdTensorData16f;
    bad[3].format = SimdTensorFormatNchw4c;
    bad[4].channels = bad[4].spatial = SIZE_MAX / 4;
    for (size_t i = 0; i < 5; ++i) {
        check_case(SCALE_16B_INIT, "bad %s", argument[i]);
        check_open(scale_16b_open);
        check_refused(CHECK_VALUE, argument[i], NULL, &bad[i]);
    }
    t.spatial = 0;
    check_case(SCALE_16B, "empty");
    check_open(scale_16b_open);
    check_in("src", CHECK_16B, 0, CHECK_ZERO);
    check_in("norm", CHECK_32F, t.channels, CHECK_ZERO);
    check_in("bias", CHECK_32F, t.channels, CHECK_ZERO);
    check_out("dst", CHECK_16B, 0);
    check_empty(scale_16b, &t);
}

static void scales_16b(void)
{
    for (size_t i = 0; i < SHAPES; ++i)
        for (int k = 0; k < 8; ++k) {
            const struct tensor t = {1, shapes[i][0], shapes[i][1], k % 2 ? SimdTensorFormatNhwc : SimdTensorFormatNchw,
                                     k & 2 ? SimdTensorData16b : SimdTensorData32f,
                                     k & 4 ? SimdTensorData16b : SimdTensorData32f, 1 + (int)((i + (size_t)k) % 3)};
            scale_16b_case(&t, (enum check_fill)((i + (size_t)k) % CHECK_FILLS), false);
            check_run(scale_16b, &t);
            if (t.srcType == t.dstType) {
                scale_16b_case(&t, CHECK_RANDOM, true);
                check_run(scale_16b_in_place, &t);
            }
        }
    scale_16b_refusals();
}

/* ---- conversions: `own` is the compatibility */

static void convert_to_8u(const void * job, void * context, void * const * a)
{
    const struct tensor * t = job;
    (void)context;
    SimdSynetConvert32fTo8u(a[0], t->batch, t->channels, 1, t->spatial, t->format, a[1], a[2], a[3],
                            (SimdSynetCompatibilityType)t->own);
}

static void convert_to_32f(const void * job, void * context, void * const * a)
{
    const struct tensor * t = job;
    (void)context;
    SimdSynetConvert8uTo32f(a[0], t->batch, t->channels, t->spatial, 1, t->format, a[1], a[2], a[3],
                            (SimdSynetCompatibilityType)t->own);
}

static const struct {
    const char * name;
    check_call_fn call;
    int srcType, dstType;
} conversions[] = {{"SimdSynetConvert32fTo8u", convert_to_8u, SimdTensorData32f, SimdTensorData8u},
                   {"SimdSynetConvert8uTo32f", convert_to_32f, SimdTensorData8u, SimdTensorData32f}};

/* Scales with which there are ties, numbers beyond the range, and special ones. */
static float scale_value(size_t c)
{
    static const float values[] = {8, 0.5f, 100, -3, 0, INFINITY, NAN, FLT_MAX};
    return c % 11 < 8 ? values[c % 11] : check_random_32f(-100, 100);
}

static void conversion_case(size_t k, struct tensor * t, enum check_fill fill)
{
    t->srcType = conversions[k].srcType, t->dstType = conversions[k].dstType;
    if (!tensor_case(conversions[k].name, t, fill, ""))
        return;
    check_in("src", type_of(t->srcType), size_of(t), fill);
    float * scale = check_in("scale", CHECK_32F, t->channels, CHECK_ZERO);
    for (size_t c = 0; c < t->channels; ++c)
        scale[c] = scale_value(c);
    float * shift = check_in("shift", CHECK_32F, t->channels, CHECK_ZERO);
    for (size_t c = 0; c < t->channels; ++c)
        shift[c] = c % 3 ? (float)check_random(0, 510) / 2 : 128;
    check_out("dst", type_of(t->dstType), size_of(t));
    check_raises();
}

static void conversions_of_all(void)
{
    static const int flags[] = {0, 8, 4, 12, 8 | 3, 2};
    for (size_t k = 0; k < 2; ++k) {
        for (size_t i = 0; i < 2 * SHAPES; ++i) {
            struct tensor t = {1 + i % 3, shapes[i / 2][0], shapes[i / 2][1],
                               i % 2 ? SimdTensorFormatNhwc : SimdTensorFormatNchw, 0, 0, flags[i % 6]};
            conversion_case(k, &t, (enum check_fill)(i % CHECK_FILLS));
            check_run(conversions[k].call, &t);
        }
        struct tensor t = {2, 3, 5, SimdTensorFormatNchw, 0, 0, 0};
        conversion_case(k, &t, CHECK_RANDOM);
        const struct tensor good = t;
        check_refused_null(conversions[k].call, &t);
        check_refused_overlap(false, conversions[k].call, &t);
        t.format = SimdTensorFormatNchw16c;
        check_refused(CHECK_VALUE, "format is SimdTensorFormatNchw16c", conversions[k].call, &t);
        t = good, t.batch = SIZE_MAX / 4;
        check_refused(CHECK_VALUE, "batch", conversions[k].call, &t);
        t = good, t.channels = 0;
        check_empty(conversions[k].call, &t);
    }
}

/* ---- Scale8i: `own` is 1 with bias, 2 if channels have values below 0 */

#define SCALE_8I_INIT "SimdSynetScale8iInit"
#define SCALE_8I_SET "SimdSynetScale8iSetParams"
#define SCALE_8I "SimdSynetScale8iForward"

static void * scale_8i_init(const void * job, void * const * a)
{
    const struct tensor * t = job;
    (void)a;
    return SimdSynetScale8iInit(t->batch, t->channels, t->spatial, (SimdTensorDataType)t->srcType,
                                (SimdTensorDataType)t->dstType, t->format, SimdSynetCompatibility8iNarrowed);
}

static void set_params(const void * job, void * context, void * const * a)
{
    const float * const stats[4] = {a[3], a[4], a[5], a[6]};
    SimdSynetScale8iSetParams(context, a[1], ((const struct tensor *)job)->own & 1 ? a[2] : NULL, stats);
}

static void * scale_8i_open(const void * job, void * const * a)
{
    void * context = scale_8i_init(job, a);
    set_params(job, context, a);
    return context;
}

static void scale_8i(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetScale8iForward(context, a[0], a[7]);
}

/* The same of three channels with known parameters, so that src and dst are the only arrays. */
static void * scale_8i_open_known(const void * job, void * const * a)
{
    static const float one[3] = {1, 1, 1};
    const float * const stats[4] = {one, one, one, one};
    void * context = scale_8i_init(job, a);
    SimdSynetScale8iSetParams(context, one, NULL, stats);
    return context;
}

static void scale_8i_known(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetScale8iForward(context, a[0], a[1]);
}

static void statistics(const char * least, const char * most, const struct tensor * t)
{
    float * min = check_in(least, CHECK_32F, t->channels, CHECK_ZERO);
    for (size_t c = 0; c < t->channels; ++c)
        min[c] = t->own & 2 ? check_random_32f(-3, 0) : 0;
    float * max = check_in(most, CHECK_32F, t->channels, CHECK_ZERO);
    for (size_t c = 0; c < t->channels; ++c)
        max[c] = c % 5 ? check_random_32f(0, 2) : 0;
}

static bool scale_8i_case(const struct tensor * t, enum check_fill fill)
{
    if (!tensor_case(SCALE_8I, t, fill, ""))
        return false;
    check_in("src", type_of(t->srcType), size_of(t), fill);
    check_in("scale", CHECK_32F, t->channels, CHECK_RANDOM);
    check_in("bias", CHECK_32F, t->own & 1 ? t->channels : 0, CHECK_RANDOM);
    check_optional();
    statistics("stats[0]", "stats[1]", t);
    statistics("stats[2]", "stats[3]", t);
    check_out("dst", type_of(t->dstType), size_of(t));
    return true;
}

/* Arguments of SetParams that it refuses, and what its message says. */
static void scale_8i_set_refusals(const struct tensor * t)
{
    float scale[3] = {1, 2, 3}, bias[3] = {0}, min[3] = {-1, 0, 0}, max[3] = {1, 1, 1}, x[3] = {1, 2, 3}, y[3];
    const float * stats[4] = {min, max, min, max};
    void * context = scale_8i_init(t, NULL);
    static const struct {
        int which;
        const char * text;
    } bad[] = {{0, "stats is NULL"}, {1, "scale is NULL"}, {2, "scale of channel 1 is inf"}, {3, "bias of channel 1 is nan"},
               {4, "stats[2] is NULL"}, {5, "stats[0] of channel 1 is nan"}, {6, "stats[0] of channel 0 is 5"}};
    SimdSynetScale8iForward(context, (const uint8_t *)x, (uint8_t *)y);
    check_that(SimdnetLastErrorKind() == CHECK_STATE, SCALE_8I, "before SetParams: %s", SimdnetLastError());
    check_that(SimdSynetScale8iInternalBufferSize(context) == 0, "SimdSynetScale8iInternalBufferSize", "before SetParams");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        const int which = bad[i].which;
        scale[1] = which == 2 ? INFINITY : 2, bias[1] = which == 3 ? NAN : 0, min[1] = which == 5 ? NAN : 0;
        min[0] = which == 6 ? 5 : -1, stats[2] = which == 4 ? NULL : min;
        SimdSynetScale8iSetParams(context, which == 1 ? NULL : scale, bias, which == 0 ? NULL : stats);
        check_that(strstr(SimdnetLastError(), bad[i].text) != NULL, SCALE_8I_SET, "%s: %s", bad[i].text, SimdnetLastError());
    }
    min[0] = -1;
    SimdSynetScale8iSetParams(context, scale, bias, stats);
    SimdSynetScale8iSetParams(context, x, NULL, NULL); /* the same statistics */
    check_that(SimdnetLastErrorKind() == 0, SCALE_8I_SET, "statistics of before: %s", SimdnetLastError());
    check_that(SimdSynetScale8iInternalBufferSize(context) > 0, "SimdSynetScale8iInternalBufferSize", "after SetParams");
    SimdRelease(context);
}

static void scale_8i_refusals(void)
{
    struct tensor t = {1, 3, 1, SimdTensorFormatNhwc, SimdTensorData32f, SimdTensorData32f, 3};
    scale_8i_set_refusals(&t);
    for (int same = 0; same < 2; ++same) {
        t.dstType = same ? SimdTensorData32f : SimdTensorData8u;
        check_case(SCALE_8I, "refusals %s", type_name(t.dstType));
        check_open(scale_8i_open_known);
        check_in("src", CHECK_32F, size_of(&t), CHECK_RANDOM);
        check_out("dst", type_of(t.dstType), size_of(&t));
        check_refused_null(scale_8i_known, &t);
        check_refused_overlap(same, scale_8i_known, &t);
    }
    t.batch = 0;
    check_case(SCALE_8I, "empty");
    check_open(scale_8i_open_known);
    check_in("src", CHECK_32F, 0, CHECK_ZERO);
    check_out("dst", CHECK_32F, 0);
    check_empty(scale_8i_known, &t);
    t.batch = 1;
    struct tensor bad[] = {t, t, t, t};
    static const char * const argument[] = {"srcType", "dstType", "format", "channels"};
    bad[0].srcType = SimdTensorData8i;
    bad[1].dstType = SimdTensorData16b;
    bad[2].format = SimdTensorFormatUnknown;
    bad[3].spatial = SIZE_MAX / 4;
    for (size_t i = 0; i < 4; ++i) {
        check_case(SCALE_8I_INIT, "bad %s", argument[i]);
        check_open(scale_8i_init);
        check_refused(CHECK_VALUE, argument[i], NULL, &bad[i]);
    }
}

static void scales_8i(void)
{
    for (size_t i = 0; i < SHAPES; ++i)
        for (int k = 0; k < 8; ++k) {
            const struct tensor t = {1 + i % 2, shapes[i][0], shapes[i][1],
                                     k % 2 ? SimdTensorFormatNhwc : SimdTensorFormatNchw,
                                     k & 2 ? SimdTensorData8u : SimdTensorData32f,
                                     k & 4 ? SimdTensorData8u : SimdTensorData32f, (int)(i + (size_t)k) % 4};
            if (scale_8i_case(&t, (enum check_fill)((i + (size_t)k) % CHECK_FILLS))) {
                check_open(scale_8i_open);
                check_run(scale_8i, &t);
            }
        }
    scale_8i_refusals();
}

/* ---- which coefficients belong to an element */

static void against_indices(void)
{
    static uint8_t bytes[200000];
    static float dst[200000], scale[2000], shift[2000];
    for (size_t i = 0; i < sizeof(bytes); ++i)
        bytes[i] = (uint8_t)(i + i / 256);
    for (size_t c = 0; c < 2000; ++c)
        scale[c] = (float)(c + 1), shift[c] = (float)c;
    for (size_t i = 0; i < 2 * SHAPES; ++i) {
        const size_t channels = shapes[i / 2][0], spatial = shapes[i / 2][1], inner = i % 2 ? 1 : spatial;
        size_t bad = 0;
        SimdSynetConvert8uTo32f(bytes, 3, channels, spatial, 1, i % 2 ? SimdTensorFormatNhwc : SimdTensorFormatNchw, scale,
                                shift, dst, SimdSynetCompatibilityDefault);
        for (size_t k = 0; k < 3 * channels * spatial; ++k)
            bad += dst[k] != (float)bytes[k] * scale[k / inner % channels] + shift[k / inner % channels];
        check_that(bad == 0, conversions[1].name, "%zux%zu: %zu wrong: %s", channels, spatial, bad, SimdnetLastError());
    }
}

/* Aim: the time of a copy of as many bytes. */
static void bench(void)
{
    const struct relu job = relu_case(200704, 0.1f, CHECK_RANDOM, false);
    check_bench(relu_16b, &job, 0, 4.0 * 200704);
    for (int k = 0; k < 4; ++k) {
        struct tensor t = {1, 64, 3136, k % 2 ? SimdTensorFormatNhwc : SimdTensorFormatNchw, SimdTensorData16b,
                           SimdTensorData16b, 3};
        scale_16b_case(&t, CHECK_RANDOM, false);
        check_bench(scale_16b, &t, 0, 4.0 * 200704);
        conversion_case((size_t)k / 2, &t, CHECK_EQUAL);
        check_bench(conversions[k / 2].call, &t, 0, 5.0 * 200704);
        t.srcType = t.dstType = SimdTensorData8u;
        scale_8i_case(&t, CHECK_RANDOM);
        check_open(scale_8i_open);
        check_bench(scale_8i, &t, 0, 2.0 * 200704);
    }
}

CHECK_FAMILY(affine)
{
    relus();
    scales_16b();
    conversions_of_all();
    scales_8i();
    if (check_selected("SimdSynetConvert8uTo32f"))
        against_indices();
    if (check_timed())
        bench();
}
