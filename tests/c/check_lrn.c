/*
 * LRN. Bound: a relative error of 1e-6 for exponents up to 1 in absolute value, proportionally more for larger ones, plus
 * what a denormal power loses. Where finite values have a sum that overflows float, any result is accepted.
 */
#include "check.h"

#define LRN "SimdSynetLrnLayerCrossChannels"

struct lrn {
    size_t half, channels, spatial;
    SimdTensorFormatType format;
};

static void lrn(const void * job, void * context, void * const * a)
{
    const struct lrn * p = job;
    (void)context;
    SimdSynetLrnLayerCrossChannels(a[0], p->half, p->channels, p->spatial, a[1], a[2], p->format);
}

static float value(const struct lrn * p, const float * src, size_t c, size_t s)
{
    return src[p->format == SimdTensorFormatNhwc ? s * p->channels + c : c * p->spatial + s];
}

/* Evaluates the formula again. */
static void bound(const struct lrn * p, const float * src, const float * k, double * error)
{
    for (size_t c = 0; c < p->channels; ++c)
        for (size_t s = 0; s < p->spatial; ++s) {
            const double v = (double)value(p, src, c, s);
            double sum = 0;
            for (size_t i = 0; i < p->channels; ++i)
                if ((i > c ? i - c : c - i) <= p->half)
                    sum += (double)value(p, src, i, s) * (double)value(p, src, i, s);
            const double base = (double)k[0] + (double)k[1] * sum, result = v * pow(base, (double)k[2]);
            const double relative = 1e-6 * fmax(1, fabs((double)k[2]));
            const size_t at = p->format == SimdTensorFormatNhwc ? s * p->channels + c : c * p->spatial + s;
            error[at] = relative * fabs(result) + 0x1p-149 * fmax(1, fabs(v));
            if (!isfinite(base))
                error[at] = 0;
            else if (sum >= 0x1.FFFFp127 || base >= 0x1.FFFFp127 || base < 0x1p-126)
                error[at] = NAN;
        }
}

static struct lrn lrn_case(size_t half, size_t channels, size_t spatial, size_t format, float k0, float k1, float k2,
                           enum check_fill fill)
{
    const struct lrn job = {half, channels, spatial, (SimdTensorFormatType)format};
    if (!check_case(LRN, "%s half=%zu channels=%zu spatial=%zu k=%g,%g,%g %s", check_format_name(job.format), half, channels,
                    spatial, (double)k0, (double)k1, (double)k2, check_fill_name(fill)))
        return job;
    const float * src = check_in("src", CHECK_32F, channels * spatial, fill);
    float * k = check_in("k", CHECK_32F, 3, CHECK_ZERO);
    k[0] = k0;
    k[1] = k1;
    k[2] = k2;
    check_out("dst", CHECK_32F, channels * spatial);
    bound(&job, src, k, check_bound());
    return job;
}

static const float exponent[] = {-0.75f, -0.5f, -1, 0.5f, 1, -0.25f, 0.25f, 0.75f, 0, -0.6f, 0.9f, -0.1f, -2, 1.5f};
enum { EXPONENTS = sizeof(exponent) / sizeof(exponent[0]) };

static void check_lrn_at(size_t half, size_t channels, size_t spatial, size_t format, float k2, enum check_fill fill)
{
    const float scale = 1 / (float)(2 * (half < channels ? half : channels) + 1);
    const struct lrn job = lrn_case(half, channels, spatial, format, 1, scale, k2, fill);
    check_run(lrn, &job);
}

static void refusals(void)
{
    struct lrn job = lrn_case(2, 6, 5, 1, 1, 1, -0.75f, CHECK_RANDOM);
    const struct lrn good = job;
    check_refused_null(lrn, &job);
    check_refused_overlap(false, lrn, &job);
    for (int format = -2; format < 14; ++format)
        if (format != SimdTensorFormatNchw && format != SimdTensorFormatNhwc) {
            job = good;
            job.format = (SimdTensorFormatType)format;
            check_refused(CHECK_VALUE, "format", lrn, &job);
        }
    job = good;
    job.channels = SIZE_MAX / 2;
    check_refused(CHECK_VALUE, "channels", lrn, &job);
    job = good;
    job.channels = 0;
    check_empty(lrn, &job);
    job = good;
    job.spatial = 0;
    check_empty(lrn, &job);
}

/* Outside the contract, but no memory outside the arrays may be accessed. */
static void no_power(void)
{
    for (size_t format = 0; format < 2; ++format)
        for (size_t i = 0; i < EXPONENTS; ++i) {
            const struct lrn job = lrn_case(2, 9, 37, format, -1, 1, exponent[i], (enum check_fill)(i % CHECK_FILLS));
            check_anything();
            check_raises_like_base();
            check_run(lrn, &job);
        }
}

/* Aim on the reference core: 60 us for the first shape. */
static void bench(void)
{
    static const size_t shapes[][3] = {{2, 64, 3136},  {1, 64, 3136}, {4, 64, 3136}, {5, 64, 3136},  {100, 64, 3136},
                                       {2, 3, 50176},  {2, 1, 50176}, {2, 8, 10000}, {2, 16, 10000}, {2, 17, 10000},
                                       {2, 256, 729},  {2, 1000, 1},  {2, 512, 7},   {2, 512, 49},   {2, 100, 3},
                                       {500, 2000, 49}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (size_t format = 0; format < 2; ++format)
            for (size_t e = 0; e < (i ? 1 : EXPONENTS); ++e) {
                const size_t * s = shapes[i];
                const struct lrn job = lrn_case(s[0], s[1], s[2], format, 1, 1, exponent[e], CHECK_RANDOM);
                check_bench(lrn, &job, 0, 8.0 * (double)(job.channels * job.spatial));
            }
}

CHECK_FAMILY(lrn)
{
    static const size_t halves[] = {2, 0, 1, 3, 4, 5, 7, 12, 33, 66, 70, SIZE_MAX};
    size_t turn = 0;
    const size_t rest = check_quick() ? 5 : 1;
    for (size_t channels = 1; channels <= 67; channels += rest)
        for (size_t spatial = 1; spatial <= 67; spatial += rest, ++turn)
            check_lrn_at(halves[(channels + spatial) % 12], channels, spatial, turn % 2, exponent[turn % EXPONENTS],
                         (enum check_fill)(turn / 2 % CHECK_FILLS));
    for (size_t i = 0, n = check_count(300); i < n; ++i)
        check_lrn_at(check_random(0, 20), check_random_size(300), check_random_size(100), i % 2,
                     i % 3 ? check_random_32f(-1, 1) : -0.75f, CHECK_RANDOM);
    for (size_t format = 0; format < 2 && !check_quick(); ++format) {
        check_lrn_at(2, 20, 3000, format, -0.75f, CHECK_RANDOM); /* more than one unit of work */
        check_lrn_at(6, 20, 3000, format, -0.75f, CHECK_RANDOM);
        check_lrn_at(200, 700, 20, format, -1, CHECK_RANDOM);
        check_lrn_at(800, 700, 20, format, 1, CHECK_RANDOM);
    }
    no_power();
    refusals();
    if (check_timed())
        bench();
}
