/* Bytes by a table, bit for bit as base; pixels with gaps, whose bytes in between stay as they are; in place. */
#include "check.h"

struct table8 {
    size_t channels, pixels, srcPixel, dstPixel;
    bool inPlace;
};

static void table8(const void * job, void * context, void * const * a)
{
    (void)context;
    const struct table8 * t = job;
    SimdnetTable8(&(SimdnetTable8Parameters){.size = sizeof(SimdnetTable8Parameters), .table = a[0], .src = a[1],
        .dst = a[t->inPlace ? 1 : 2], .srcPixel = t->srcPixel, .dstPixel = t->dstPixel, .channels = t->channels,
        .pixels = t->pixels});
}

/* Declares the arrays of a case; false if it is left out. */
static bool table8_case(const struct table8 * t)
{
    if (!check_case("SimdnetTable8", "%zux%zu pixels %zu,%zu%s", t->pixels, t->channels, t->srcPixel, t->dstPixel,
                    t->inPlace ? " in place" : ""))
        return false;
    const size_t from = t->srcPixel ? t->srcPixel : t->channels, to = t->dstPixel ? t->dstPixel : t->channels;
    const size_t size = (t->pixels - 1) * from + t->channels, result = (t->pixels - 1) * to + t->channels;
    check_in("table", CHECK_8U, 256, CHECK_RANDOM);
    if (t->inPlace)
        check_inout("dst", CHECK_8U, size, CHECK_RANDOM);
    else
        check_in("src", CHECK_8U, size, CHECK_RANDOM);
    if (!t->inPlace && to > t->channels)
        check_inout("dst", CHECK_8U, result, CHECK_RANDOM); /* bytes between pixels are compared, too */
    else if (!t->inPlace)
        check_out("dst", CHECK_8U, result);
    return true;
}

static void run(struct table8 t)
{
    if (table8_case(&t))
        check_run(table8, &t);
}

/* Every byte by a table in which all differ. */
static void every_byte(void)
{
    uint8_t table[256], src[256], dst[256];
    for (size_t i = 0; i < 256; ++i)
        src[i] = (uint8_t)i, table[i] = (uint8_t)(i * 181 + 77);
    const struct table8 job = {.channels = 256, .pixels = 1};
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        table8(&job, NULL, (void * const[]){table, src, dst});
        check_that(memcmp(dst, table, sizeof(dst)) == 0, "SimdnetTable8", "every byte on %s", SimdnetIsaLevel(level));
    }
    SimdnetSetMaxIsa(NULL);
}

static void refusals(void)
{
    const struct table8 job = {.channels = 3, .pixels = 4}, empty = {.channels = 3}, none = {.pixels = 3};
    const struct table8 near = {.channels = 3, .pixels = 4, .srcPixel = 2}, dst = {.channels = 3, .pixels = 4, .dstPixel = 1};
    const struct table8 large = {.channels = 3, .pixels = SIZE_MAX / 2};
    table8_case(&job);
    check_refused_null(table8, &job);
    check_refused_overlap(true, table8, &job);
    check_refused(CHECK_VALUE, "srcPixel", table8, &near);
    check_refused(CHECK_VALUE, "dstPixel", table8, &dst);
    check_refused(CHECK_VALUE, "srcPixel", table8, &large);
    check_empty(table8, &empty);
    check_empty(table8, &none);
    SimdnetTable8(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, "SimdnetTable8", "NULL: %s", SimdnetLastError());
}

static void bench(void)
{
    static const size_t sizes[] = {1000, 16384, 1000000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        const struct table8 job = {.channels = sizes[i], .pixels = 1};
        if (table8_case(&job))
            check_bench(table8, &job, 0, 2.0 * (double)sizes[i]);
    }
}

CHECK_FAMILY(table8)
{
    if (!check_selected("SimdnetTable8"))
        return;
    for (size_t n = 1; n <= 131; ++n)
        run((struct table8){.channels = n, .pixels = 1, .inPlace = n % 5 == 0});
    for (size_t i = 0, n = check_count(60); i < n; ++i) {
        struct table8 t = {.channels = check_random_size(200), .pixels = check_random_size(80), .inPlace = i % 4 == 0};
        t.srcPixel = i % 3 ? t.channels + check_random(0, 40) : 0;
        t.dstPixel = t.inPlace ? t.srcPixel : i % 5 ? t.channels + check_random(0, 40) : 0;
        run(t);
    }
    run((struct table8){.channels = 40001, .pixels = 1}); /* long enough for several threads */
    run((struct table8){.channels = 24, .pixels = 2000, .srcPixel = 31, .dstPixel = 40});
    every_byte();
    refusals();
    if (check_timed())
        bench();
}
