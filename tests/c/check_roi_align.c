/*
 * Regions as grids of bins: base and the kernels share the driver, so results are also compared with a direct implementation in
 * double, one sample at a time. Regions far away, huge, inverted and with corners that are no numbers are tested for access to
 * memory. Images of regions are an array of twice as many CHECK_32I.
 */
#include "check.h"

#define ROI "SimdnetRoiAlign"

static void call(const void * job, void * context, void * const * a)
{
    SimdnetRoiAlignParameters q = *(const SimdnetRoiAlignParameters *)job;
    (void)context;
    q.src = a[0];
    q.regions = a[1];
    q.images = a[2];
    q.dst = a[3];
    SimdnetRoiAlign(&q);
}

/* ---- the formula */

struct dimension {
    float start, step, samples;
    double size;
};

static struct dimension dimension(const SimdnetRoiAlignParameters * q, float first, float last, size_t bins, size_t size)
{
    const float offset = q->halfPixel ? 0.5f : 0, start = first * q->spatialScale - offset;
    float extent = last * q->spatialScale - offset - start;
    if (!q->halfPixel && extent < 1)
        extent = 1;
    const float step = extent / (float)bins;
    return (struct dimension){start, step, q->samplingRatio ? (float)q->samplingRatio : ceilf(step), (double)size};
}

/* The elements on both sides of a sample, and their weights; false outside. */
static bool sides(const struct dimension * d, size_t bin, float k, size_t at[2], double weight[2])
{
    const float position = d->start + (float)bin * d->step + (k + 0.5f) * d->step / d->samples;
    const double p = fmin(fmax((double)position, 0), d->size - 1);
    at[0] = (size_t)p;
    at[1] = at[0] + (p > (double)at[0]);
    weight[1] = p - (double)at[0];
    weight[0] = 1 - weight[1];
    return position >= -1 && (double)position <= d->size;
}

static double value(const SimdnetRoiAlignParameters * q, const sn_32f * plane, const struct dimension d[2], size_t by, size_t bx)
{
    double sum = 0, most = -INFINITY;
    for (float j = 0; j < d[0].samples; ++j)
        for (float i = 0; i < d[1].samples; ++i) {
            size_t y[2], x[2];
            double v[2], h[2];
            const bool inside = sides(&d[0], by, j, y, v), all = sides(&d[1], bx, i, x, h) && inside;
            for (int k = 0; k < 4; ++k) {
                const double product = all ? v[k / 2] * h[k % 2] * (double)plane[y[k / 2] * q->srcW + x[k % 2]] : 0;
                sum += product;
                most = fmax(most, product);
            }
        }
    const double samples = (double)d[0].samples * (double)d[1].samples;
    return !(d[0].samples > 0 && d[1].samples > 0) ? 0 : q->max ? most : sum / samples;
}

/* The number of results that differ by more than roundings explain; elements are at most 1. */
static size_t differing(const SimdnetRoiAlignParameters * q, const float * dst)
{
    const double most = 0x1p-21 * (double)(8 + q->srcW + q->srcH);
    size_t number = 0, place = 0;
    for (size_t n = 0; n < q->count; ++n)
        for (size_t c = 0; c < q->channels; ++c)
            for (size_t bin = 0; bin < q->dstH * q->dstW; ++bin, ++place) {
                const sn_32f * r = q->regions + 4 * n;
                const struct dimension d[] = {dimension(q, r[1], r[3], q->dstH, q->srcH),
                    dimension(q, r[0], r[2], q->dstW, q->srcW)};
                const sn_32f * plane = q->src + ((size_t)q->images[n] * q->channels + c) * q->srcH * q->srcW;
                number += !(fabs(value(q, plane, d, bin / q->dstW, bin % q->dstW) - (double)dst[place]) <= most);
            }
    return number;
}

/* ---- cases */

static float result[1 << 18];

static SimdnetRoiAlignParameters some_regions(size_t number)
{
    return (SimdnetRoiAlignParameters){.size = sizeof(SimdnetRoiAlignParameters), .batch = check_random(1, 3),
        .channels = check_random(1, 5), .srcH = check_random(1, 20), .srcW = check_random(1, 60), .count = check_random(1, 4),
        .dstH = check_random(1, 9), .dstW = number % 11 ? check_random(1, 9) : check_random(1, 150),
        .spatialScale = number % 3 ? 1 : 0.25f, .samplingRatio = number % 5 ? check_random(0, 3) : 0,
        .max = (SimdBool)(number % 2), .halfPixel = (SimdBool)(number / 2 % 2)};
}

static bool describe(const SimdnetRoiAlignParameters * q, const char * what)
{
    return check_case(ROI, "%s%s batch=%zu channels=%zu %zux%zu count=%zu to %zux%zu scale=%g ratio=%zu %s",
                      q->max ? "max" : "mean", q->halfPixel ? " half" : "", q->batch, q->channels, q->srcH, q->srcW, q->count,
                      q->dstH, q->dstW, (double)q->spatialScale, q->samplingRatio, what);
}

static void declare(SimdnetRoiAlignParameters * q, enum check_fill fill)
{
    q->src = check_in("src", CHECK_32F, q->batch * q->channels * q->srcH * q->srcW, fill);
    float * regions = check_in("regions", CHECK_32F, 4 * q->count, CHECK_RANDOM);
    int32_t * images = check_in("images", CHECK_32I, 2 * q->count, CHECK_RANDOM);
    for (size_t n = 0; n < q->count; ++n) {
        const float sides[] = {(float)q->srcW / q->spatialScale, (float)q->srcH / q->spatialScale};
        const int64_t image = (int64_t)check_random(0, q->batch - 1);
        for (int k = 0; k < 4; ++k) /* some at elements, halfway between two, or outside */
            regions[4 * n + (size_t)k] = n % 2 ? (float)(int)(4 * sides[k % 2] * regions[4 * n + (size_t)k]) / 2
                                               : sides[k % 2] * ((float)(k / 2) + regions[4 * n + (size_t)k] / 3);
        memcpy(images + 2 * n, &image, sizeof(image));
    }
    q->regions = regions;
    q->images = (const int64_t *)(const void *)images;
    check_out("dst", CHECK_32F, q->count * q->channels * q->dstH * q->dstW);
}

static void check_values(SimdnetRoiAlignParameters q)
{
    if (!describe(&q, ""))
        return;
    declare(&q, CHECK_RANDOM);
    check_run(call, &q);
    q.dst = result;
    SimdnetRoiAlign(&q);
    const size_t number = differing(&q, result);
    check_that(number == 0, ROI, "%zu values differ", number);
}

/* Any bits as corners, and any values. */
static void check_wild(SimdnetRoiAlignParameters q, enum check_fill fill)
{
    static const float wild[] = {1e30f, -1e30f, FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, NAN, 0x1p31f, -0x1p31f, 0x1p63f, -0x1p64f,
                                 3, -3, 1e9f, -1e9f, -0.0f, 16777216.5f, -16777217.0f, 0x1p-149f, 5};
    if (!describe(&q, check_fill_name(fill)))
        return;
    check_exact(CHECK_NAN_FREE);
    check_raises();
    declare(&q, fill);
    float * regions = (float *)(uintptr_t)q.regions;
    for (size_t i = 0; i < 4 * q.count; ++i)
        if (check_random(0, 2))
            regions[i] = wild[check_random(0, sizeof(wild) / sizeof(wild[0]) - 1)];
    check_run(call, &q);
}

/* Of a huge region, and of one without an extent, in an image of ones. */
static void known_values(void)
{
    static const float ones[] = {1, 1, 1, 1, 1, 1}, regions[] = {-1e9f, -1e9f, 1e9f, 1e9f, 1, 1, 1, 1, 0, 0, 2, 1, NAN, 0, 2, 1};
    static const int64_t images[4];
    for (int max = 0; max < 2; ++max) {
        float dst[4];
        SimdnetRoiAlign(&(SimdnetRoiAlignParameters){.size = sizeof(SimdnetRoiAlignParameters), .src = ones, .regions = regions,
            .images = images, .dst = dst, .batch = 1, .channels = 1, .srcH = 2, .srcW = 3, .count = 4, .dstH = 1, .dstW = 1,
            .spatialScale = 1, .max = (SimdBool)max, .halfPixel = SimdTrue});
        check_that(fabsf(dst[0]) < 2 && dst[1] == 0 && dst[2] > 0 && dst[2] <= 1 && dst[3] == 0, ROI, "known values: %g %g %g %g",
                   (double)dst[0], (double)dst[1], (double)dst[2], (double)dst[3]);
    }
}

static void refuse(SimdnetRoiAlignParameters q, const char * argument) { check_refused(CHECK_VALUE, argument, call, &q); }

static void refusals(void)
{
    SimdnetRoiAlignParameters good = {.size = sizeof(good), .batch = 2, .channels = 3, .srcH = 4, .srcW = 5, .count = 2, .dstH = 3,
        .dstW = 2, .spatialScale = 1}, q;
    check_case(ROI, "refusals");
    declare(&good, CHECK_RANDOM);
    check_refused_null(call, &good);
    check_refused_overlap(false, call, &good);
    static const float scales[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; ++i) {
        q = good;
        q.spatialScale = scales[i];
        refuse(q, "spatialScale");
    }
    q = good, q.samplingRatio = 65537, refuse(q, "samplingRatio");
    q = good, q.srcH = 0, refuse(q, "srcH");
    q = good, q.srcW = (1 << 24) + 1, refuse(q, "srcW");
    q = good, q.batch = SIZE_MAX / 16, refuse(q, "batch");
    q = good, q.dstW = SIZE_MAX / 16, refuse(q, "count");
    q = good, q.batch = 0, refuse(q, "images[0]");
    q = good, q.size = 8, refuse(q, "parameters->size");
    for (int zero = 0; zero < 4; ++zero) {
        q = good;
        *(zero == 0 ? &q.count : zero == 1 ? &q.channels : zero == 2 ? &q.dstH : &q.dstW) = 0;
        check_empty(call, &q);
    }
    int64_t * images = (int64_t *)(uintptr_t)good.images;
    images[1] = 2;
    refuse(good, "images[1]");
    images[1] = -1;
    refuse(good, "images[1]");
    SimdnetRoiAlign(NULL);
    check_that(SimdnetLastErrorKind() == CHECK_VALUE, ROI, "parameters is NULL");
}

static void bench(void)
{
    static const size_t shapes[][3] = {{256, 7, 2}, {256, 14, 2}, {256, 7, 0}};
    for (size_t i = 0; i < 3; ++i) {
        SimdnetRoiAlignParameters q = {.size = sizeof(q), .batch = 1, .channels = shapes[i][0], .srcH = 50, .srcW = 50, .count = 10,
            .dstH = shapes[i][1], .dstW = shapes[i][1], .spatialScale = 1, .samplingRatio = shapes[i][2], .halfPixel = SimdTrue};
        if (!describe(&q, "bench"))
            continue;
        declare(&q, CHECK_RANDOM);
        check_bench(call, &q, 0, (double)(q.count * q.channels * q.dstH * q.dstW));
    }
}

CHECK_FAMILY(roi_align)
{
    for (size_t i = 0, n = check_count(200); i < n; ++i) {
        check_values(some_regions(i));
        check_wild(some_regions(i), (enum check_fill)(i % CHECK_FILLS));
    }
    check_values((SimdnetRoiAlignParameters){.size = sizeof(SimdnetRoiAlignParameters), .batch = 1, .channels = 70, .srcH = 40,
        .srcW = 50, .count = 9, .dstH = 7, .dstW = 7, .spatialScale = 1, .halfPixel = SimdTrue});
    known_values();
    refusals();
    bench();
}
