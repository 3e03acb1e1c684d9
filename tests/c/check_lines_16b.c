/*
 * Softmax16b and NormalizeLayerForward16bV2: a result is the one of the function for floats, rounded once. As all levels share
 * the driver, both are also compared with that function on each level; a bfloat16 step is at most 2^-7 of a number.
 */
#include "check.h"

#define SOFTMAX "SimdSynetSoftmax16b"
#define NORMALIZE "SimdSynetNormalizeLayerForward16bV2"

enum { MOST = 300000 };

/* a, b, c: outer, count, inner, or batch, channels, spatial. */
struct lines {
    bool normalizes;
    size_t a, b, c;
    SimdTensorFormatType format;
    bool in_place;
};

static size_t size_of(const struct lines * p) { return p->a * p->b * p->c; }

/* src, scale, shift, eps, and dst unless in place; softmax has src and dst. */
static void lines(const void * job, void * context, void * const * a)
{
    const struct lines * p = job;
    (void)context;
    if (p->normalizes)
        SimdSynetNormalizeLayerForward16bV2(a[0], p->a, p->b, p->c, a[1], a[2], a[3], p->format, NULL,
                                            a[p->in_place ? 0 : 4]);
    else
        SimdSynetSoftmax16b(a[0], p->a, p->b, p->c, a[p->in_place ? 0 : 1]);
}

/* The function for floats. */
static void of_floats(const struct lines * p, const uint16_t * src, const float * scale, const float * shift,
                      const float * eps, float * dst)
{
    static float wide[MOST];
    for (size_t i = 0; i < size_of(p); ++i)
        wide[i] = sn_16b_to_32f(src[i]);
    if (p->normalizes)
        SimdSynetNormalizeLayerForwardV2(wide, p->a, p->b, p->c, scale, shift, eps, p->format, NULL, dst);
    else
        SimdSynetSoftmaxLayerForward(wide, p->a, p->b, p->c, dst);
}

/* Cancellation leaves an error of floats near 1. */
static double allowed(const struct lines * p, double y, double step)
{
    return isfinite(y) ? fabs(y) * step + (p->normalizes ? 1e-4 : 0x1p-133) : 0;
}

static void on_each_level(const struct lines * p, const uint16_t * src, const float * scale, const float * shift,
                          const float * eps)
{
    static float right[MOST];
    static uint16_t dst[MOST];
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        size_t bad = 0;
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        of_floats(p, src, scale, shift, eps, right);
        if (p->normalizes)
            SimdSynetNormalizeLayerForward16bV2(src, p->a, p->b, p->c, scale, shift, eps, p->format, NULL, dst);
        else
            SimdSynetSoftmax16b(src, p->a, p->b, p->c, dst);
        for (size_t i = 0; i < size_of(p); ++i) {
            const double y = (double)sn_16b_to_32f(dst[i]), x = (double)right[i];
            bad += isnan(x) ? !isnan(y) : !(fabs(y - x) <= allowed(p, x, 0x1.02p-8));
        }
        check_that(bad == 0, p->normalizes ? NORMALIZE : SOFTMAX, "%zu %zu %zu format %d on %s: %zu wrong: %s", p->a, p->b,
                   p->c, (int)p->format, SimdnetIsaLevel(level), bad, SimdnetLastError());
    }
    SimdnetSetMaxIsa(NULL);
}

static void check_lines(const struct lines * p, enum check_fill fill)
{
    static float right[MOST];
    const float * scale = NULL, * shift = NULL;
    float * eps = NULL;
    if (!check_case(p->normalizes ? NORMALIZE : SOFTMAX, "%s %zu %zu %zu %s%s", check_format_name(p->format), p->a, p->b, p->c,
                    check_fill_name(fill), p->in_place ? " in place" : ""))
        return;
    const uint16_t * src = (p->in_place ? check_inout : check_in)("src", CHECK_16B, size_of(p), fill);
    if (p->normalizes) {
        scale = check_in("scale", CHECK_32F, p->b, CHECK_RANDOM);
        shift = check_in("shift", CHECK_32F, p->b, CHECK_RANDOM);
        eps = check_in("eps", CHECK_32F, 1, CHECK_ZERO);
        *eps = 1e-3f;
    }
    if (!p->in_place)
        check_out("dst", CHECK_16B, size_of(p));
    check_raises();
    of_floats(p, src, scale, shift, eps, right);
    if (!p->in_place) {
        double * bound = check_bound();
        for (size_t i = 0; i < size_of(p); ++i)
            bound[i] = allowed(p, (double)right[i], 0x1.04p-7);
        on_each_level(p, src, scale, shift, eps);
    } else {
        check_anything();
    }
    check_run(lines, p);
}

static void check_both(size_t a, size_t b, size_t c, size_t turn)
{
    static const enum check_fill fills[] = {CHECK_RANDOM, CHECK_TIES, CHECK_EQUAL, CHECK_NAN};
    for (int in_place = 0; in_place < 2; ++in_place) {
        struct lines job = {false, a, b, c, SimdTensorFormatUnknown, in_place == 1};
        check_lines(&job, (enum check_fill)(turn % CHECK_FILLS));
        job.normalizes = true;
        job.format = turn % 2 ? SimdTensorFormatNhwc : SimdTensorFormatNchw;
        check_lines(&job, fills[turn % 4]);
    }
}

static void refusals(bool normalizes)
{
    const struct lines good = {normalizes, 2, 3, 5, SimdTensorFormatNhwc, false};
    struct lines bad = good;
    check_lines(&good, CHECK_RANDOM);
    check_refused_null(lines, &good);
    check_refused_overlap(true, lines, &good);
    bad.b = SIZE_MAX / 4;
    check_refused(CHECK_VALUE, normalizes ? "channels" : "count", lines, &bad);
    bad = good, bad.format = SimdTensorFormatNchw4c;
    if (normalizes)
        check_refused(CHECK_VALUE, "format is SimdTensorFormatNchw4c", lines, &bad);
    bad = good, bad.c = 0;
    check_empty(lines, &bad);
}

static void bench(void)
{
    static const size_t shapes[][3] = {{3136, 64, 1}, {1, 64, 3136}, {64, 1000, 1}, {1, 768, 197}};
    for (size_t i = 0; i < 4; ++i)
        for (int normalizes = 0; normalizes < 2; ++normalizes) {
            const struct lines job = {normalizes, shapes[i][0], shapes[i][1], shapes[i][2], SimdTensorFormatNchw, false};
            check_lines(&job, CHECK_RANDOM);
            check_bench(lines, &job, 0, 4.0 * (double)size_of(&job));
        }
}

CHECK_FAMILY(lines_16b)
{
    static const size_t shapes[][3] = {{1, 1, 1}, {2, 3, 1}, {300, 70, 1}, {3, 9, 17}, {2, 65, 64}, {1, 1000, 1},
                                       {1, 600, 33}, {2, 513, 70}, {1, 5000, 17}, {3, 2, 9000}, {1, 20000, 3}, {40, 7, 7}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (size_t k = 0; k < 2; ++k)
            check_both(shapes[i][0], shapes[i][1], shapes[i][2], i + k);
    for (size_t i = 0, n = check_count(40); i < n; ++i)
        check_both(check_random(1, 4), check_random_size(200), check_random_size(200), i);
    refusals(false);
    refusals(true);
    if (check_timed())
        bench();
}
