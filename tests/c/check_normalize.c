/*
 * Normalization. Bound: with K the additions that a value goes through, a mean has an error of K * 2^-24 of the mean of |x|,
 * a sum of squares of K * 2^-24 of itself and of the square of the mean's error; then a few operations on each value. Where
 * squares overflow, any result is accepted.
 */
#include "check.h"

static const char * const functions[] = {"SimdSynetNormalizeLayerForward", "SimdSynetNormalizeLayerForward",
                                         "SimdSynetNormalizeLayerForwardV2", "SimdSynetNormalizeLayerForwardV3",
                                         "SimdSynetNormalizeLayerForwardV4", "SimdnetGroupNorm"};
enum { LENGTH, ACROSS, LAYER, INSTANCE, RESPONSE, GROUPS, KINDS };

struct normalize {
    int kind;
    size_t batch, channels, spatial;
    SimdTensorFormatType format;
    SimdBool across; /* ACROSS and LENGTH */
    bool in_place;
    size_t groups; /* GROUPS, which are NCHW */
};

/* scale, eps, shift if the function has one, src unless in place, and the array of the result. */
static void normalize(const void * job, void * context, void * const * a)
{
    const struct normalize * p = job;
    const int shift = p->kind >= LAYER, src = 2 + shift, dst = p->in_place ? src : src + 1;
    (void)context;
    if (!shift)
        SimdSynetNormalizeLayerForward(a[src], p->batch, p->channels, p->spatial, a[0], a[1], p->across, p->format, NULL,
                                       a[dst]);
    else if (p->kind == GROUPS)
        SimdnetGroupNorm(a[src], p->batch, p->channels, p->spatial, p->groups, a[0], a[2], a[1], a[dst]);
    else
        (p->kind == LAYER      ? SimdSynetNormalizeLayerForwardV2
         : p->kind == INSTANCE ? SimdSynetNormalizeLayerForwardV3
                               : SimdSynetNormalizeLayerForwardV4)(a[src], p->batch, p->channels, p->spatial, a[0], a[2],
                                                                   a[1], p->format, NULL, a[dst]);
}

static size_t at(const struct normalize * p, size_t b, size_t c, size_t s)
{
    return b * p->channels * p->spatial + (p->format == SimdTensorFormatNhwc ? s * p->channels + c : c * p->spatial + s);
}

/* The values that are normalized together: all channels, some or one, all positions or one. */
struct part {
    size_t b, c0, c1, s0, s1;
};

struct moments {
    double mean, size, squares; /* size: the mean of |x|; squares from the mean, or from 0 */
    double count;
};

static struct moments moments(const struct normalize * p, const struct part * t, const float * src, bool centred)
{
    struct moments m = {0, 0, 0, (double)((t->c1 - t->c0) * (t->s1 - t->s0))};
    for (size_t c = t->c0; c < t->c1; ++c)
        for (size_t s = t->s0; s < t->s1; ++s) {
            m.mean += (double)src[at(p, t->b, c, s)] / m.count;
            m.size += fabs((double)src[at(p, t->b, c, s)]) / m.count;
        }
    for (size_t c = t->c0; c < t->c1; ++c)
        for (size_t s = t->s0; s < t->s1; ++s)
            m.squares += pow((double)src[at(p, t->b, c, s)] - (centred ? m.mean : 0), 2);
    return m;
}

static const double unit = 0x1p-24;

static double additions(double count) { return 12 + fmin(count, 300); }

static void bound_part(const struct normalize * p, const struct part * t, const float * src, const float * scale, float eps,
                       const float * shift, double * error)
{
    const bool centred = p->kind >= LAYER;
    const struct moments m = moments(p, t, src, centred);
    const double k = additions(m.count), base = (double)eps + (centred ? m.squares / m.count : m.squares);
    const double off = centred ? (k + 2) * unit * m.size : 0; /* the error of the mean, and of its rounding */
    const double relative = (k + 8) * unit + off * off / base, factor = 1 / sqrt(base);
    for (size_t c = t->c0; c < t->c1; ++c)
        for (size_t s = t->s0; s < t->s1; ++s) {
            const double x = (double)src[at(p, t->b, c, s)], by = fabs(factor * (double)scale[c]);
            const double d = fabs(x - (centred ? m.mean : 0)), added = centred ? fabs((double)shift[c]) : 0;
            const double e = by * (off + d * relative) + 2 * unit * (d * by + added) + 0x1p-140 * (1 + by);
            error[at(p, t->b, c, s)] = isfinite(base) ? e : 0;
        }
}

static void bound_response(const struct normalize * p, size_t b, const float * src, const float * scale, float eps,
                           const float * shift, double * error)
{
    double all = 0;
    for (size_t c = 0; c < p->channels; ++c)
        all += sqrt(moments(p, &(struct part){b, c, c + 1, 0, p->spatial}, src, false).squares);
    for (size_t c = 0; c < p->channels; ++c) {
        const double g = sqrt(moments(p, &(struct part){b, c, c + 1, 0, p->spatial}, src, false).squares);
        const double by = fabs((double)scale[c]) * g / (all / (double)p->channels + (double)eps);
        for (size_t s = 0; s < p->spatial; ++s) {
            const double x = fabs((double)src[at(p, b, c, s)]), k = additions((double)p->spatial);
            const double e = unit * (x * (2 + by * (k + 8)) + 2 * (x * (1 + by) + fabs((double)shift[c]))) + 0x1p-140;
            error[at(p, b, c, s)] = isfinite(by) ? e : 0;
        }
    }
}

static void bound(const struct normalize * p, const float * src, const float * scale, float eps, const float * shift,
                  double * error)
{
    for (size_t b = 0; b < p->batch; ++b) {
        const struct part image = {b, 0, p->channels, 0, p->spatial};
        const bool positions = p->kind == LENGTH || p->kind == LAYER;
        for (size_t s = 0; positions && s < p->spatial; ++s)
            bound_part(p, &(struct part){b, 0, p->channels, s, s + 1}, src, scale, eps, shift, error);
        for (size_t c = 0; p->kind == INSTANCE && c < p->channels; ++c)
            bound_part(p, &(struct part){b, c, c + 1, 0, p->spatial}, src, scale, eps, shift, error);
        for (size_t g = 0, n = p->kind == GROUPS ? p->channels / p->groups : 0; n && g < p->groups; ++g)
            bound_part(p, &(struct part){b, g * n, (g + 1) * n, 0, p->spatial}, src, scale, eps, shift, error);
        if (p->kind == ACROSS)
            bound_part(p, &image, src, scale, eps, shift, error);
        if (p->kind == RESPONSE)
            bound_response(p, b, src, scale, eps, shift, error);
    }
}

/* The arrays of a case; `mean` is added to all values. False if the case is left out. */
static bool normalize_case(const struct normalize * p, enum check_fill fill, float mean)
{
    const size_t size = p->batch * p->channels * p->spatial;
    if (!check_case(functions[p->kind], "%s batch=%zu channels=%zu spatial=%zu groups=%zu %s mean=%g%s%s",
                    check_format_name(p->format), p->batch, p->channels, p->spatial, p->groups, check_fill_name(fill),
                    (double)mean, p->across ? " across" : "", p->in_place ? " in place" : ""))
        return false;
    const float * scale = check_in("scale", CHECK_32F, p->channels, CHECK_RANDOM), * shift = NULL;
    float * eps = check_in("eps", CHECK_32F, 1, CHECK_ZERO);
    *eps = 1e-5f;
    if (p->kind >= LAYER)
        shift = check_in("shift", CHECK_32F, p->channels, CHECK_RANDOM);
    float * src = (p->in_place ? check_inout : check_in)("src", CHECK_32F, size, fill);
    for (size_t i = 0; i < size; ++i)
        src[i] += mean;
    if (!p->in_place)
        check_out("dst", CHECK_32F, size);
    if (fill == CHECK_LARGE) {
        check_anything();
        check_raises();
    } else {
        bound(p, src, scale, *eps, shift, check_bound());
    }
    return true;
}

/* A divisor of the channels: few groups and many, in turn. */
static size_t groups_of(size_t channels, size_t turn)
{
    size_t divisor = sn_min(1 + turn % 7, channels);
    while (channels % divisor)
        --divisor;
    return turn % 2 ? divisor : channels / divisor;
}

static int formats_of(int kind) { return kind == GROUPS ? 1 : 2; }

static void check_at(int kind, size_t batch, size_t channels, size_t spatial, size_t turn)
{
    for (int format = 0; format < formats_of(kind); ++format) {
        const enum check_fill fill = (enum check_fill)((turn + (size_t)format) % CHECK_FILLS);
        const struct normalize job = {kind, batch, channels, spatial, (SimdTensorFormatType)format,
                                      kind == ACROSS ? SimdTrue : SimdFalse, turn % 3 == 0,
                                      kind == GROUPS ? groups_of(channels, turn) : 0};
        if (normalize_case(&job, fill, fill == CHECK_RANDOM && turn % 2 ? 100 : 0))
            check_run(normalize, &job);
    }
}

static void refusals(int kind)
{
    const struct normalize good = {kind, 2, 3, 5, kind == GROUPS ? SimdTensorFormatNchw : SimdTensorFormatNhwc,
                                   kind == ACROSS ? SimdTrue : SimdFalse, false, 1};
    struct normalize job = good;
    normalize_case(&good, CHECK_RANDOM, 0);
    check_refused_null(normalize, &good);
    check_refused_overlap(true, normalize, &good);
    for (int format = -2; kind != GROUPS && format < 14; ++format)
        if (format != SimdTensorFormatNchw && format != SimdTensorFormatNhwc) {
            job.format = (SimdTensorFormatType)format;
            check_refused(CHECK_VALUE, "format", normalize, &job);
        }
    job = good;
    job.channels = SIZE_MAX / 8;
    check_refused(CHECK_VALUE, "channels", normalize, &job);
    if (kind == ACROSS) {
        job = good;
        job.across = (SimdBool)2;
        check_refused(CHECK_VALUE, "acrossSpatial", normalize, &job);
    }
    if (kind == GROUPS) {
        job = good;
        job.groups = 2;
        check_refused(CHECK_VALUE, "groups", normalize, &job);
        job.groups = 0;
        check_refused(CHECK_VALUE, "groups", normalize, &job);
    }
    job = (struct normalize){kind, 0, 3, 5, good.format, good.across, false, 1};
    check_empty(normalize, &job);
    job = (struct normalize){kind, 2, 0, 5, good.format, good.across, false, 1};
    check_empty(normalize, &job);
    job = (struct normalize){kind, 2, 3, 0, good.format, good.across, false, 1};
    check_empty(normalize, &job);
}

static void bench(int kind)
{
    static const size_t shapes[][2] = {{64, 3136}, {8, 12544}, {96, 3136}, {256, 196}, {768, 197}, {4096, 64}, {1024, 49}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (int format = 0; format < formats_of(kind); ++format) {
            const struct normalize job = {kind, 1, shapes[i][0], shapes[i][1], (SimdTensorFormatType)format,
                                          kind == ACROSS ? SimdTrue : SimdFalse, false, 1};
            if (normalize_case(&job, CHECK_RANDOM, 0))
                check_bench(normalize, &job, 0, 8.0 * (double)(shapes[i][0] * shapes[i][1]));
        }
}

CHECK_FAMILY(normalize)
{
    static const size_t large[][3] = {{3, 5, 700}, {1, 3, 30000}, {1, 1, 70000}, {2, 513, 70}, {1, 5000, 17}, {1, 600, 500},
                                      {7, 32, 49}, {2, 9, 9000}};
    const size_t rest = check_quick() ? 7 : 2;
    for (int kind = 0; kind < KINDS; ++kind) {
        size_t turn = 0;
        for (size_t channels = 1; channels <= 67; channels += rest)
            for (size_t spatial = 1; spatial <= 67; spatial += rest, ++turn)
                check_at(kind, 1 + turn % 3, channels, spatial, turn);
        for (size_t i = 0, n = check_count(60); i < n; ++i)
            check_at(kind, check_random(1, 4), check_random_size(700), check_random_size(300), i);
        for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); ++i)
            for (size_t fill = 0; fill < (check_quick() ? 1 : 3); ++fill)
                check_at(kind, large[i][0], large[i][1], large[i][2], i + 7 * fill);
        refusals(kind);
        if (check_timed())
            bench(kind);
    }
}
