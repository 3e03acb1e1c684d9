/*
 * Additions: Add8i, Add16b. All are exact on every level: the same float32 operations in the same order (except for the
 * payload of a NaN). Add8i is tested on all pairs of bytes under many scales, since its kernels compute products by other
 * operations than the formula's.
 */
#include "check.h"

/* ---- Add8i */

#define ADD_8I "SimdSynetAdd8i"

struct add_8i {
    size_t batch, channels, spatial;
    SimdTensorFormatType format;
    int flags;
};

static void add_8i(const void * job, void * context, void * const * a)
{
    const struct add_8i * p = job;
    (void)context;
    SimdSynetAdd8i(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], p->batch, p->channels, p->spatial, p->format,
                   (SimdSynetCompatibilityType)p->flags);
}

/* Kinds of scales and shifts. */
enum add_8i_scales {
    SCALES_USUAL,     /* like quantised tensors with a zero point: results fill the range */
    SCALES_NO_SHIFT,  /* the same without shifts */
    SCALES_TIES,      /* multiples of 1/2: many results are halfway between two integers */
    SCALES_WIDE,      /* of any size: most results are clamped */
    SCALES_HUGE,      /* up to the largest float */
    SCALES_TINY,      /* denormal, compensated by the scale of the result */
    SCALES_SPECIAL,   /* infinities, NaN, zeros, denormals */
    SCALES_COUNT
};

static const char * const scales_name[] = {"usual", "no shift", "ties", "wide", "huge", "tiny", "special"};

static float special(size_t r)
{
    static const float values[] = {0.0f,      -0.0f,    1.0f,     -1.0f,    INFINITY, -INFINITY, NAN,
                                   FLT_MAX, -FLT_MAX, 0x1p-149f, 0x1p104f, -0x1p105f, 0x1p127f, 0.5f};
    return values[r % (sizeof(values) / sizeof(values[0]))];
}

/* The value for scale or shift number k: a, b, c times (scale, shift). */
static float scale_value(enum add_8i_scales scales, int k)
{
    const bool shift = k & 1, result = k >= 4;
    switch (scales) {
    case SCALES_USUAL:
        if (shift)
            return result ? check_random_32f(0, 128) : check_random_32f(-6, 0);
        return result ? check_random_32f(10, 60) : check_random_32f(0.001f, 0.02f);
    case SCALES_NO_SHIFT:
        if (shift)
            return 0;
        return result ? check_random_32f(10, 60) : check_random_32f(0.001f, 0.02f);
    case SCALES_TIES:
        return shift ? (float)check_random(0, 8) / 2 - 2.0f : result ? 0.5f : (float)check_random(1, 3) / 4;
    case SCALES_WIDE: return ldexpf(check_random_32f(-1, 1), (int)check_random(0, 60) - 30);
    case SCALES_TINY:
        if (shift)
            return result ? check_random_32f(0, 10) : ldexpf(check_random_32f(0, 1), -122);
        return ldexpf(check_random_32f(.1f, 1), result ? 122 : -(int)check_random(118, 134));
    case SCALES_HUGE: return ldexpf(check_random_32f(-1, 1), (int)check_random(96, 127));
    default: return check_random(0, 2) ? special(check_random(0, 1000)) : check_random_32f(-2, 2);
    }
}

static size_t add_8i_cases; /* in this run of the family */

static struct add_8i add_8i_case(size_t batch, size_t channels, size_t spatial, SimdTensorFormatType format, int flags,
                                 enum add_8i_scales scales, enum check_fill fill, bool all_pairs)
{
    static const char * const names[] = {"aData",  "aScale", "aShift", "bData", "bScale",
                                         "bShift", "cData",  "cScale", "cShift"};
    const size_t size = batch * channels * spatial;
    check_case(ADD_8I, "%zu. %s batch=%zu channels=%zu spatial=%zu flags=%d %s %s", ++add_8i_cases, check_format_name(format),
               batch, channels, spatial, flags, scales_name[scales], all_pairs ? "all pairs" : check_fill_name(fill));
    for (int i = 0; i < 9; ++i) {
        if (i == 6) {
            check_out(names[i], CHECK_8U, size);
        } else if (i % 3 == 0) {
            uint8_t * data = check_in(names[i], CHECK_8U, size, fill);
            const size_t step = format == SimdTensorFormatNhwc ? channels : 1;
            for (size_t k = 0; all_pairs && k < size; ++k)
                data[k] = (uint8_t)(k / step >> (i ? 8 : 0));
        } else {
            float * value = check_in(names[i], CHECK_32F, channels, CHECK_ZERO);
            for (size_t c = 0; c < channels; ++c)
                value[c] = scale_value(scales, i / 3 * 2 + i % 3 - 1);
        }
    }
    return (struct add_8i){batch, channels, spatial, format, flags};
}

static void check_add_8i(size_t batch, size_t channels, size_t spatial, SimdTensorFormatType format,
                         enum add_8i_scales scales, enum check_fill fill)
{
    static const int flags[] = {0, 8, 4, 12, 8 | 3, 2};
    const int flag = flags[(channels + spatial) % 6];
    const struct add_8i job = add_8i_case(batch, channels, spatial, format, flag, scales, fill, false);
    check_run(add_8i, &job);
}

/* All pairs of bytes under several scales, one per channel. */
static void check_all_pairs(size_t channels, SimdTensorFormatType format, enum add_8i_scales scales, int flags)
{
    const struct add_8i job = add_8i_case(1, channels, 65536, format, flags, scales, CHECK_ZERO, true);
    check_run(add_8i, &job);
}

static void add_8i_refusals(void)
{
    struct add_8i job = add_8i_case(1, 3, 5, SimdTensorFormatNchw, 0, SCALES_USUAL, CHECK_RANDOM, false);
    const struct add_8i good = job;
    check_refused_null(add_8i, &job);
    check_refused_overlap(false, add_8i, &job);
    for (int format = -2; format < 14; ++format) {
        job.format = (SimdTensorFormatType)format;
        if (format != SimdTensorFormatNchw && format != SimdTensorFormatNhwc)
            check_refused(CHECK_VALUE, "format", add_8i, &job);
    }
    job = good;
    job.batch = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, "batch", add_8i, &job);
    for (int zero = 0; zero < 3; ++zero) {
        job = good;
        *(zero == 0 ? &job.batch : zero == 1 ? &job.channels : &job.spatial) = 0;
        check_empty(add_8i, &job);
    }
}

static void add_8is(void)
{
    static const size_t channels[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 130, 259};
    static const size_t spatial[] = {1, 7, 49, 64, 65, 131};
    for (int format = SimdTensorFormatNchw; format <= SimdTensorFormatNhwc; ++format) {
        const SimdTensorFormatType f = (SimdTensorFormatType)format;
        for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); ++i)
            for (size_t k = 0; k < sizeof(spatial) / sizeof(spatial[0]); ++k)
                check_add_8i(1 + (i + k) % 3, channels[i], spatial[k], f, (enum add_8i_scales)((i + k) % SCALES_COUNT),
                             (enum check_fill)(i % CHECK_FILLS));
        for (size_t i = 1; i <= 67; ++i) {
            const enum add_8i_scales scales = (enum add_8i_scales)(i % SCALES_COUNT);
            check_add_8i(check_random(1, 2), check_random(1, 67), i, f, scales, CHECK_RANDOM);
            check_add_8i(check_random(1, 2), i, check_random(1, 67), f, scales, CHECK_RANDOM);
        }
        for (size_t i = 0, n = check_count(60); i < n; ++i)
            check_add_8i(check_random(1, 3), check_random_size(140), check_random_size(200), f,
                         (enum add_8i_scales)check_random(0, SCALES_COUNT - 1), CHECK_RANDOM);
        for (int scales = 0; scales < SCALES_COUNT; ++scales)
            for (size_t i = 0, n = check_count(3); i < n; ++i)
                check_all_pairs(check_random(1, 9), f, (enum add_8i_scales)scales, i % 3 == 2 ? 8 : 0);
    }
    add_8i_refusals();
}

/* ---- Add16b */

#define ADD_16B_INIT "SimdSynetAdd16bInit"
#define ADD_16B "SimdSynetAdd16bForward"

enum { DIMENSIONS = 4 };

struct add_16b {
    size_t aShape[DIMENSIONS], bShape[DIMENSIONS], aCount, bCount;
    int aType, bType, dstType, format;
    bool no_shape;
};

static void * add_16b_open(const void * job, void * const * a)
{
    const struct add_16b * p = job;
    (void)a;
    return SimdSynetAdd16bInit(p->no_shape ? NULL : p->aShape, p->aCount, (SimdTensorDataType)p->aType, p->bShape,
                               p->bCount, (SimdTensorDataType)p->bType, (SimdTensorDataType)p->dstType,
                               (SimdTensorFormatType)p->format);
}

static void add_16b(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetAdd16bForward(context, a[0], a[1], a[2]);
}

static void add_16b_to_a(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetAdd16bForward(context, a[0], a[1], a[0]);
}

static void add_16b_to_b(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetAdd16bForward(context, a[0], a[1], a[1]);
}

static enum check_type type_of(int type) { return type == SimdTensorData16b ? CHECK_16B : CHECK_32F; }

static int type_at(size_t types, int bit) { return types >> bit & 1 ? SimdTensorData16b : SimdTensorData32f; }

static const char * type_name(int type) { return type == SimdTensorData16b ? "16b" : "32f"; }

/* in_place: 0 no, 1 dst is a, 2 dst is b. */
static struct add_16b add_16b_case(size_t size, size_t types, enum check_fill fill, int in_place)
{
    static const char * const places[] = {"", " to a", " to b"};
    const struct add_16b job = {{size}, {size}, 1, 1, type_at(types, 0), type_at(types, 1), type_at(types, 2),
                                (int)(size % 3) - 1, false};
    check_case(ADD_16B, "size=%zu %s %s %s %s%s", size, type_name(job.aType), type_name(job.bType), type_name(job.dstType),
               check_fill_name(fill), places[in_place]);
    check_exact(CHECK_NAN_FREE);
    check_open(add_16b_open);
    (in_place == 1 ? check_inout : check_in)("a", type_of(job.aType), size, fill);
    (in_place == 2 ? check_inout : check_in)("b", type_of(job.bType), size, fill);
    if (in_place == 0)
        check_out("dst", type_of(job.dstType), size);
    return job;
}

static void check_add_16b(size_t size, size_t types, enum check_fill fill)
{
    struct add_16b job = add_16b_case(size, types, fill, 0);
    check_run(add_16b, &job);
    if (job.dstType == job.aType) {
        job = add_16b_case(size, types, fill, 1);
        check_run(add_16b_to_a, &job);
    }
    if (job.dstType == job.bType) {
        job = add_16b_case(size, types, fill, 2);
        check_run(add_16b_to_b, &job);
    }
}

/* Sums at and next to every point where rounding to bfloat16 changes: a float's upper half, 0 and a float's lower half. */
static void check_add_16b_rounding(void)
{
    static const uint32_t lower[] = {0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF};
    enum { SIZE = 65536 };
    for (size_t i = 0; i < 6; ++i) {
        struct add_16b job = {{SIZE}, {SIZE}, 1, 1, SimdTensorData32f, SimdTensorData32f, SimdTensorData16b, -1, false};
        check_case(ADD_16B, "rounding lower=%04X", (unsigned)lower[i]);
        check_exact(CHECK_NAN_FREE);
        check_open(add_16b_open);
        float * a = check_in("a", CHECK_32F, SIZE, CHECK_ZERO);
        for (uint32_t k = 0; k < SIZE; ++k)
            a[k] = sn_from_bits_32f(k << 16 | lower[i]);
        check_in("b", CHECK_32F, SIZE, CHECK_ZERO);
        check_out("dst", CHECK_16B, SIZE);
        check_run(add_16b, &job);
    }
}

static void add_16b_init_refusals(void)
{
    const struct add_16b good = {
        {2, 3, 4}, {2, 3, 4}, 3, 3, SimdTensorData32f, SimdTensorData16b, SimdTensorData16b, 0, false};
    struct add_16b bad[] = {good, good, good, good, good, good, good, good, good, good};
    static const char * const argument[] = {"bCount", "bShape", "aType",  "bType",  "dstType",
                                            "aShape", "aShape", "format", "format", "aType"};
    bad[0].bCount = 2;
    bad[1].bShape[2] = 5;
    bad[2].aType = SimdTensorData16f;
    bad[3].bType = SimdTensorData8u;
    bad[4].dstType = SimdTensorDataUnknown;
    bad[5].no_shape = true;
    bad[6].aShape[0] = bad[6].bShape[0] = SIZE_MAX / 8;
    bad[7].format = SimdTensorFormatNchw16c;
    bad[8].format = -2;
    bad[9].aType = 77;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        check_case(ADD_16B_INIT, "bad %s %zu", argument[i], i);
        check_open(add_16b_open);
        check_refused(CHECK_VALUE, argument[i], NULL, &bad[i]);
    }
}

static void add_16b_refusals(void)
{
    add_16b_init_refusals();
    struct add_16b job = add_16b_case(5, 5, CHECK_RANDOM, 0);
    check_refused_null(add_16b, &job);
    for (size_t types = 0; types < 8; ++types) {
        job = add_16b_case(5, types, CHECK_RANDOM, 0);
        check_refused_overlap(true, add_16b, &job);
    }
    job.aShape[0] = job.bShape[0] = 0;
    check_empty(add_16b, &job);
    /* Without dimensions there is one element; the shape itself may then be NULL. */
    for (size_t types = 0; types < 8; ++types) {
        job = add_16b_case(1, types, CHECK_RANDOM, 0);
        job.aCount = job.bCount = 0;
        job.no_shape = true;
        check_run(add_16b, &job);
        job = add_16b_case(60, types, CHECK_RANDOM, 0);
        for (size_t i = 0; i < DIMENSIONS; ++i)
            job.aShape[i] = job.bShape[i] = (const size_t[]){3, 1, 10, 2}[i];
        job.aCount = job.bCount = DIMENSIONS;
        check_run(add_16b, &job);
    }
}

static void add_16bs(void)
{
    for (size_t types = 0; types < 8; ++types) {
        for (size_t size = 1; size <= 131; ++size)
            check_add_16b(size, types, (enum check_fill)((size + types) % CHECK_FILLS));
        for (size_t i = 0, n = check_count(20); i < n; ++i)
            check_add_16b(check_random_size(3000), types, (enum check_fill)check_random(0, CHECK_FILLS - 1));
    }
    check_add_16b_rounding();
    add_16b_refusals();
}

/* ---- times */

/* Aims on the reference core: 16 us (bytes) and 13 us (bfloat16) for the first geometry. */
static void bench(void)
{
    static const size_t shapes[][2] = {{64, 3136}, {3, 50176}, {1, 50176}, {5, 10000}, {16, 3136}, {13, 3136}, {512, 49},
                                      {1280, 7}, {1000, 1}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
        const size_t channels = shapes[i][0], spatial = shapes[i][1];
        for (int format = SimdTensorFormatNchw; format <= SimdTensorFormatNhwc; ++format) {
            const struct add_8i job = add_8i_case(1, channels, spatial, (SimdTensorFormatType)format, 0, SCALES_USUAL,
                                                  CHECK_RANDOM, false);
            check_bench(add_8i, &job, 0, 3.0 * (double)(channels * spatial));
        }
    }
    for (size_t types = 0; types < 8; ++types) {
        const struct add_16b job = add_16b_case(64 * 3136, types, CHECK_RANDOM, 0);
        const size_t narrow = (types & 1) + (types >> 1 & 1) + (types >> 2);
        check_bench(add_16b, &job, 0, (12.0 - 2.0 * (double)narrow) * 64 * 3136);
    }
}

CHECK_FAMILY(add)
{
    add_8i_cases = 0;
    add_8is();
    add_16bs();
    if (check_timed())
        bench();
}
