/* Bytes of floats by the range of all: scale, zero and bytes bit for bit as base, in one thread and in several. */
#include "check.h"

struct dynamic {
    size_t elements;
};

static void dynamic_quantize(const void * job, void * context, void * const * a)
{
    (void)context;
    const struct dynamic * t = job;
    SimdnetDynamicQuantize(&(SimdnetDynamicQuantizeParameters){.size = sizeof(SimdnetDynamicQuantizeParameters),
        .elements = t->elements, .src = a[0], .dst = a[1], .scale = a[2], .zero = a[3]});
}

/* Multiples of 1 / 4 of both signs, so that there are ties, if the range is a multiple of 255. */
static void fill_ties(float * src, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        src[i] = (float)((int)check_random(0, 1020) - 508) / 2;
    src[0] = -253, src[size - 1] = 257;
}

static bool dynamic_case(const struct dynamic * t, enum check_fill fill, bool ties)
{
    if (!check_case("SimdnetDynamicQuantize", "%zu %s%s", t->elements, check_fill_name(fill), ties ? " ties" : ""))
        return false;
    float * src = check_in("src", CHECK_32F, t->elements, fill);
    if (ties)
        fill_ties(src, t->elements);
    check_out("dst", CHECK_8U, t->elements);
    check_out("scale", CHECK_32F, 1);
    check_out("zero", CHECK_8U, 1);
    return true;
}

static void run(size_t elements, enum check_fill fill, bool ties)
{
    const struct dynamic job = {elements};
    if (dynamic_case(&job, fill, ties))
        check_run(dynamic_quantize, &job);
}

/* What cannot be seen by comparing levels. */
static void known(const char * text, const float src[4], float scale, uint8_t zero, const uint8_t bytes[4])
{
    sn_32f x[4], found = -1;
    uint8_t dst[4], place = 99;
    memcpy(x, src, sizeof(x));
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        dynamic_quantize(&(struct dynamic){4}, NULL, (void * const[]){x, dst, &found, &place});
        check_that(found == scale && place == zero && memcmp(dst, bytes, 4) == 0, "SimdnetDynamicQuantize",
                   "%s on %s: scale %g, zero %d, bytes %d %d %d %d", text, SimdnetIsaLevel(level), (double)found, place, dst[0],
                   dst[1], dst[2], dst[3]);
    }
    SimdnetSetMaxIsa(NULL);
}

static void formulas(void)
{
    known("ties", (const float[]){-253, 257, 1, 3}, 2, 126, (const uint8_t[]){0, 254, 126, 128});
    known("zeros", (const float[]){0, -0.0f, 0, 0}, 1, 0, (const uint8_t[]){0, 0, 0, 0});
    known("above 0", (const float[]){255, 10, 20, 30}, 1, 0, (const uint8_t[]){255, 10, 20, 30});
    known("below 0", (const float[]){-255, -10, -20, -30}, 1, 255, (const uint8_t[]){0, 245, 235, 225});
    known("NaN", (const float[]){NAN, 127, -128, NAN}, 1, 128, (const uint8_t[]){0, 255, 0, 0});
    known("infinity", (const float[]){INFINITY, 1, -2, 0}, INFINITY, 0, (const uint8_t[]){0, 0, 0, 0});
    known("both infinities", (const float[]){INFINITY, 1, -INFINITY, 0}, INFINITY, 0, (const uint8_t[]){0, 0, 0, 0});
    known("overflow", (const float[]){3e38f, -3e38f, 1, 0}, INFINITY, 0, (const uint8_t[]){0, 0, 0, 0});
    known("tiny", (const float[]){1e-44f, 0, -1e-45f, 0}, 1, 0, (const uint8_t[]){0, 0, 0, 0});
}

/* NaN behind the largest and the smallest element, in every lane, does not replace them. */
static void many_nans(void)
{
    enum { MANY = 400 };
    sn_32f x[MANY], scale = -1;
    uint8_t dst[MANY], zero = 99;
    for (size_t i = 0; i < MANY; ++i)
        x[i] = i < 64 || i % 5 ? 1 : NAN;
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        size_t bad = 0;
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        for (size_t first = 0; first < 2; ++first) {
            for (size_t i = 0; i < 64; ++i)
                x[i] = i == 6 + first ? 127 : i == 9 + first ? -128 : 1;
            dynamic_quantize(&(struct dynamic){MANY}, NULL, (void * const[]){x, dst, &scale, &zero});
            bad += scale != 1 || zero != 128 || dst[64] != 129 || dst[65] != 0 || dst[6 + first] != 255;
        }
        check_that(bad == 0, "SimdnetDynamicQuantize", "many NaN on %s: scale %g, zero %d", SimdnetIsaLevel(level),
                   (double)scale, zero);
    }
    SimdnetSetMaxIsa(NULL);
}

static void refusals(void)
{
    struct dynamic job = {40};
    dynamic_case(&job, CHECK_RANDOM, false);
    check_refused_null(dynamic_quantize, &job);
    check_refused_overlap(false, dynamic_quantize, &job);
    job.elements = SIZE_MAX / 2;
    check_refused(CHECK_VALUE, "elements", dynamic_quantize, &job);
    sn_32f scale = -1;
    uint8_t zero = 99;
    dynamic_quantize(&(struct dynamic){0}, NULL, (void * const[]){NULL, NULL, &scale, &zero});
    check_that(scale == 1 && zero == 0, "SimdnetDynamicQuantize", "no elements: scale %g, zero %d", (double)scale, zero);
    SimdnetDynamicQuantize(NULL);
    check_that(strstr(SimdnetLastError(), "parameters is NULL") != NULL, "SimdnetDynamicQuantize", "NULL: %s",
               SimdnetLastError());
}

/* Aim: the time of reading the source twice, and of the divisions. */
static void bench(void)
{
    static const struct dynamic jobs[] = {{8192}, {200704}, {3276800}};
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); ++i)
        if (dynamic_case(&jobs[i], CHECK_RANDOM, false))
            check_bench(dynamic_quantize, &jobs[i], 0, 9.0 * (double)jobs[i].elements);
}

CHECK_FAMILY(dynamic_quantize)
{
    if (!check_selected("SimdnetDynamicQuantize"))
        return;
    for (size_t n = 1; n <= 300; n += check_quick() ? 7 : 1)
        run(n, (enum check_fill)(n % CHECK_FILLS), n % 5 == 0);
    for (size_t i = 0, n = check_count(60); i < n; ++i)
        run(check_random_size(3000), (enum check_fill)(i % CHECK_FILLS), i % 4 == 0);
    run(40001, CHECK_RANDOM, true); /* long enough for several threads */
    run(256 * 8192 + 77, CHECK_RANDOM, false); /* and for parts of more than a unit */
    formulas();
    many_nans();
    refusals();
    if (check_timed())
        bench();
}
