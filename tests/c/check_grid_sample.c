/*
 * Sampling at a grid: base and the kernels share code, so they are also compared with a direct implementation in double, one
 * value at a time. Positions far outside, infinities and NaN are tested for access to memory; what they give is known.
 */
#include "check.h"

#define INIT "SimdSynetGridSample2dInit"
#define FORWARD "SimdSynetGridSample2dForward"

struct grid {
    size_t batch, channels, srcH, srcW, dstH, dstW;
    int type, interp, padding, align;
};

static void * open_grid(const void * job, void * const * a)
{
    const struct grid * g = job;
    (void)a;
    return SimdSynetGridSample2dInit(g->batch, g->channels, g->srcH, g->srcW, g->dstH, g->dstW, (SimdTensorDataType)g->type,
                                     (SimdGridSampleInterpType)g->interp, (SimdGridSamplePaddingType)g->padding,
                                     (SimdBool)g->align);
}

static void forward(const void * job, void * context, void * const * a)
{
    (void)job;
    SimdSynetGridSample2dForward(context, a[0], a[1], a[2]);
}

/* ---- the formula */

static double mirrored(double x, double low, double high)
{
    if (low >= high)
        return low;
    while (x < low || x > high)
        x = x < low ? 2 * low - x : 2 * high - x;
    return x;
}

static double element(const struct grid * g, const sn_32f * plane, double y, double x)
{
    const double edge = g->align ? 0 : 0.5, w = (double)g->srcW - 1, h = (double)g->srcH - 1;
    if (g->padding == SimdGridSamplePaddingZeros && (x < 0 || x > w || y < 0 || y > h))
        return 0;
    if (g->padding == SimdGridSamplePaddingBorder) {
        x = fmin(fmax(x, 0), w);
        y = fmin(fmax(y, 0), h);
    } else if (g->padding == SimdGridSamplePaddingReflect) {
        x = mirrored(x, -edge, w + edge);
        y = mirrored(y, -edge, h + edge);
    }
    return plane[(size_t)y * g->srcW + (size_t)x];
}

static double weight(const struct grid * g, double distance)
{
    const double a = -0.75, d = fabs(distance);
    if (g->interp != SimdGridSampleInterpBicubic)
        return d < 1 ? 1 - d : 0;
    return d <= 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1 : d < 2 ? a * (d * d * d - 5 * d * d + 8 * d - 4) : 0;
}

static float coordinate(const struct grid * g, float x, size_t size)
{
    const float v = g->align ? (x + 1) / 2 * ((float)size - 1) : ((x + 1) * (float)size - 1) / 2;
    return g->interp == SimdGridSampleInterpNearest ? rintf(v) : v;
}

static double value(const struct grid * g, const sn_32f * plane, float gx, float gy)
{
    const double edge = g->align ? 0 : 0.5, w = (double)g->srcW - 1, h = (double)g->srcH - 1;
    double x = coordinate(g, gx, g->srcW), y = coordinate(g, gy, g->srcH), sum = 0;
    const bool outside = x < -edge || x > w + edge || y < -edge || y > h + edge;
    if (outside && g->padding == SimdGridSamplePaddingBorder && g->interp != SimdGridSampleInterpBicubic) {
        x = fmin(fmax(x, 0), w);
        y = fmin(fmax(y, 0), h);
    } else if (outside && g->padding == SimdGridSamplePaddingReflect) {
        x = mirrored(x, -edge, w + edge);
        y = mirrored(y, -edge, h + edge);
    }
    if (g->interp == SimdGridSampleInterpNearest)
        return element(g, plane, y, x);
    for (double i = floor(y) - 1; i <= floor(y) + 2; ++i)
        for (double k = floor(x) - 1; k <= floor(x) + 2; ++k)
            sum += weight(g, y - i) * weight(g, x - k) * element(g, plane, i, k);
    return sum;
}

/* The number of values that differ by more than roundings of coordinates and sums explain; values of src are at most 1. */
static size_t differing(const struct grid * g, const sn_32f * src, const sn_32f * grid, const float * dst)
{
    const size_t all = g->dstH * g->dstW;
    const double most = 0x1p-20 * (double)(8 + g->srcW + g->srcH);
    size_t number = 0;
    for (size_t n = 0; n < g->batch * g->channels * all; ++n) {
        const sn_32f * at = grid + 2 * (n / all / g->channels * all + n % all);
        number += !(fabs(value(g, src + n / all * g->srcH * g->srcW, at[0], at[1]) - (double)dst[n]) <= most);
    }
    return number;
}

/* ---- cases */

static float result[1 << 18];

static struct grid some_grid(size_t number)
{
    return (struct grid){check_random(1, 3), check_random(1, 5), check_random(1, 9), check_random(1, 9), check_random(1, 9),
                         check_random(1, 90), SimdTensorData32f, (int)(number % 3), (int)(number / 3 % 3),
                         (int)(number / 9 % 2)};
}

static bool describe(const struct grid * g, const char * what)
{
    static const char * const interps[] = {"bilinear", "nearest", "bicubic"};
    static const char * const paddings[] = {"zeros", "border", "reflect"};
    return check_case(FORWARD, "%s %s align=%d batch=%zu channels=%zu %zux%zu to %zux%zu %s", interps[g->interp],
                      paddings[g->padding], g->align, g->batch, g->channels, g->srcH, g->srcW, g->dstH, g->dstW, what);
}

/* Positions inside only are computed by vectors, whatever the padding. */
static void check_values(const struct grid * g, bool inside)
{
    if (!describe(g, inside ? "inside" : "inside and around"))
        return;
    check_open(open_grid);
    const size_t positions = g->batch * g->dstH * g->dstW;
    const float * src = check_in("src", CHECK_32F, g->batch * g->channels * g->srcH * g->srcW, CHECK_RANDOM);
    float * grid = check_in("grd", CHECK_32F, 2 * positions, CHECK_RANDOM);
    for (size_t i = 0; !inside && i < 2 * positions; ++i) /* every fifth at an element or halfway between two */
        grid[i] = i % 5 ? 1.7f * grid[i] : (float)check_random(0, 40) / 8 - 2.5f;
    check_out("dst", CHECK_32F, g->channels * positions);
    check_run(forward, g);
    void * context = open_grid(g, NULL);
    SimdSynetGridSample2dForward(context, (const uint8_t *)src, (const uint8_t *)grid, (uint8_t *)result);
    const size_t number = differing(g, src, grid, result);
    check_that(number == 0, FORWARD, "%s, %zu values differ", SimdnetContextInfo(context), number);
    SimdRelease(context);
}

/* Any bits as coordinates, and any values. */
static void check_wild(const struct grid * g, enum check_fill fill)
{
    static const float wild[] = {1e30f,    -1e30f,   FLT_MAX,  -FLT_MAX, INFINITY,    -INFINITY,    NAN,         0x1p31f,
                                 -0x1p31f, 0x1p32f,  0x1p63f,  -0x1p63f, 0x1p64f,     1.0000001f,   -1.0000001f, 3,
                                 -3,       1e9f,     -1e9f,    -0.0f,    16777216.5f, -16777217.0f, 0x1p-149f,   5};
    if (!describe(g, check_fill_name(fill)))
        return;
    check_open(open_grid);
    check_exact(CHECK_NAN_FREE);
    check_raises();
    const size_t positions = g->batch * g->dstH * g->dstW;
    check_in("src", CHECK_32F, g->batch * g->channels * g->srcH * g->srcW, fill);
    float * grid = check_in("grd", CHECK_32F, 2 * positions, CHECK_RANDOM);
    for (size_t i = 0; i < 2 * positions; ++i)
        if (check_random(0, 2))
            grid[i] = wild[check_random(0, sizeof(wild) / sizeof(wild[0]) - 1)];
    check_out("dst", CHECK_32F, g->channels * positions);
    check_run(forward, g);
}

static void special_coordinates(void)
{
    static const float src[] = {1, 2, 3, 4}, grid[] = {NAN, 0, 0, NAN, INFINITY, 0, -1e30f, -1e30f, 1e38f, 1e38f};
    for (int number = 0; number < 18; ++number) {
        const struct grid g = {1, 1, 2, 2, 1, 5, SimdTensorData32f, number % 3, number / 3 % 3, number / 9};
        float dst[5];
        void * context = open_grid(&g, NULL);
        SimdSynetGridSample2dForward(context, (const uint8_t *)src, (const uint8_t *)grid, (uint8_t *)dst);
        const bool nan = isnan(dst[0]) && isnan(dst[1]), zeros = g.padding == SimdGridSamplePaddingZeros;
        check_that(nan && (!zeros || (dst[2] == 0 && dst[3] == 0 && dst[4] == 0)), FORWARD, "special coordinates, %s",
                   SimdnetContextInfo(context));
        if (g.padding == SimdGridSamplePaddingBorder)
            check_that(dst[3] == 1 && dst[4] == 4, FORWARD, "the border, %s", SimdnetContextInfo(context));
        check_that(SimdSynetGridSample2dInternalBufferSize(context) == 0, FORWARD, "buffer size");
        SimdRelease(context);
    }
}

static void refusals(void)
{
    const struct grid good = {2, 3, 4, 5, 3, 2, SimdTensorData32f, 0, 0, 0};
    const struct {
        struct grid grid;
        const char * argument;
    } bad[] = {
        {{2, 3, 0, 5, 3, 2, 0, 0, 0, 0}, "srcH"}, {{2, 3, 4, 0, 3, 2, 0, 0, 0, 0}, "srcW"},
        {{2, 3, 4, 5, 3, 2, 7, 0, 0, 0}, "type"}, {{2, 3, 4, 5, 3, 2, -1, 0, 0, 0}, "type"},
        {{2, 3, 4, 5, 3, 2, 0, 3, 0, 0}, "interp"}, {{2, 3, 4, 5, 3, 2, 0, -1, 0, 0}, "interp"},
        {{2, 3, 4, 5, 3, 2, 0, 0, 3, 0}, "padding"}, {{2, 3, 4, 5, 3, 2, 0, 0, -1, 0}, "padding"},
        {{SIZE_MAX / 8, 3, 4, 5, 3, 2, 0, 0, 0, 0}, "batch"}, {{2, 3, 4, 5, SIZE_MAX / 16, 2, 0, 0, 0, 0}, "dstH"},
        {{1, 1, 1 << 16, 1 << 15, 3, 2, 0, 0, 0, 0}, "srcH"},
    };
    check_case(INIT, "refusals");
    check_open(open_grid);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i)
        check_refused(CHECK_VALUE, bad[i].argument, NULL, &bad[i].grid);
    check_case(FORWARD, "refusals");
    check_open(open_grid);
    check_in("src", CHECK_32F, 2 * 3 * 4 * 5, CHECK_RANDOM);
    check_in("grd", CHECK_32F, 2 * 3 * 2 * 2, CHECK_RANDOM);
    check_out("dst", CHECK_32F, 2 * 3 * 3 * 2);
    check_refused_null(forward, &good);
    check_refused_overlap(false, forward, &good);
    for (int zero = 0; zero < 4; ++zero) {
        struct grid job = good;
        *(zero == 0 ? &job.batch : zero == 1 ? &job.channels : zero == 2 ? &job.dstH : &job.dstW) = 0;
        check_empty(forward, &job);
    }
}

CHECK_FAMILY(grid_sample)
{
    for (size_t i = 0, n = check_quick() ? 54 : 270; i < n; ++i) {
        const struct grid g = some_grid(i), wild = some_grid(i);
        check_values(&g, i % 2);
        check_wild(&wild, (enum check_fill)(i % CHECK_FILLS));
    }
    for (int i = 0; i < 18; ++i) {
        const struct grid g = {1, 3, 40, 30, 33, 50, SimdTensorData32f, i % 3, i / 3 % 3, i / 9};
        check_values(&g, false);
        check_values(&g, true);
    }
    special_coordinates();
    refusals();
}
