/* The tiled scale: exact, two products in the documented order. */
#include "check.h"

#define TILED_SCALE "SimdSynetTiledScale2D32f"

struct tiled {
    size_t channels, height, width;
    SimdTensorFormatType format;
};

static void tiled(const void * job, void * context, void * const * a)
{
    const struct tiled * t = job;
    (void)context;
    SimdSynetTiledScale2D32f(a[0], t->channels, t->height, t->width, t->format, a[1], a[2], a[3]);
}

static void tiled_in_place(const void * job, void * context, void * const * a)
{
    const struct tiled * t = job;
    (void)context;
    SimdSynetTiledScale2D32f(a[0], t->channels, t->height, t->width, t->format, a[1], a[2], a[0]);
}

static void declare(const struct tiled * t, enum check_fill fill, bool in_place)
{
    const size_t size = t->channels * t->height * t->width;
    check_exact(CHECK_NAN_FREE);
    (in_place ? check_inout : check_in)("src", CHECK_32F, size, fill);
    check_in("ver", CHECK_32F, t->channels * t->width, fill);
    check_in("hor", CHECK_32F, t->channels * t->height, fill);
    if (!in_place)
        check_out("dst", CHECK_32F, size);
}

static void check_tiled(size_t channels, size_t height, size_t width, enum check_fill fill)
{
    for (size_t i = 0; i < 4; ++i) {
        const struct tiled job = {channels, height, width, i % 2 ? SimdTensorFormatNhwc : SimdTensorFormatNchw};
        const bool in_place = i >= 2;
        if (!check_case(TILED_SCALE, "%s channels=%zu height=%zu width=%zu %s%s", check_format_name(job.format), channels,
                        height, width, check_fill_name(fill), in_place ? " in place" : ""))
            continue;
        declare(&job, fill, in_place);
        check_run(in_place ? tiled_in_place : tiled, &job);
    }
}

static void refusals(void)
{
    struct tiled job = {3, 4, 5, SimdTensorFormatNhwc};
    const struct tiled good = job;
    check_case(TILED_SCALE, "refusals");
    declare(&job, CHECK_RANDOM, false);
    check_refused_null(tiled, &job);
    check_refused_overlap(true, tiled, &job);
    for (int format = -2; format < 14; ++format) {
        job.format = (SimdTensorFormatType)format;
        if (format != SimdTensorFormatNchw && format != SimdTensorFormatNhwc)
            check_refused(CHECK_VALUE, "format", tiled, &job);
    }
    job = good;
    job.height = SIZE_MAX / 8;
    check_refused(CHECK_VALUE, "height", tiled, &job);
    for (int zero = 0; zero < 3; ++zero) {
        job = good;
        *(zero == 0 ? &job.channels : zero == 1 ? &job.height : &job.width) = 0;
        check_empty(tiled, &job);
    }
}

static void bench(void)
{
    static const size_t shapes[][3] = {{64, 56, 56}, {256, 14, 14}, {512, 7, 7}, {16, 112, 112}, {3, 512, 512}};
    for (size_t i = 0; i < 2 * sizeof(shapes) / sizeof(shapes[0]); ++i) {
        const size_t * s = shapes[i / 2];
        const struct tiled job = {s[0], s[1], s[2], (SimdTensorFormatType)(i % 2)};
        check_case(TILED_SCALE, "%s channels=%zu height=%zu width=%zu", check_format_name(job.format), s[0], s[1], s[2]);
        declare(&job, CHECK_RANDOM, false);
        check_bench(tiled, &job, 0, 8.0 * (double)(s[0] * s[1] * s[2]));
    }
}

CHECK_FAMILY(tiled_scale)
{
    static const size_t large[][3] = {{2, 3, 5000}, {5000, 2, 3}, {40, 50, 60}, {1, 300, 200}, {130, 33, 31}, {3, 9000, 1}};
    for (size_t i = 1; i <= 40; ++i)
        for (size_t k = 1; k <= 4; ++k) {
            check_tiled(k, 1 + i % 6, i, (enum check_fill)(i % CHECK_FILLS));
            check_tiled(i, k, 1 + i % 5, (enum check_fill)(k % CHECK_FILLS));
        }
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); ++i)
        check_tiled(large[i][0], large[i][1], large[i][2], (enum check_fill)(i % CHECK_FILLS));
    for (size_t i = 0, n = check_count(60); i < n; ++i)
        check_tiled(check_random(1, 70), check_random(1, 70), check_random(1, 70),
                    (enum check_fill)check_random(0, CHECK_FILLS - 1));
    refusals();
    if (check_timed())
        bench();
}
