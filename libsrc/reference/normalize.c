#include <math.h>

#include "contract/normalize.h"
#include "reference/reference.h"

static size_t offset(const struct sn_normalize * p, size_t b, size_t c, size_t s)
{
    return b * p->channels * p->spatial + (p->format == SN_NHWC ? s * p->channels + c : c * p->spatial + s);
}

/* Channels c0 .. c1 - 1 of positions s0 .. s1 - 1 of image b. */
struct part {
    size_t b, c0, c1, s0, s1;
};

static double mean(const struct sn_normalize * p, const struct part * t)
{
    double sum = 0;
    for (size_t c = t->c0; c < t->c1; ++c)
        for (size_t s = t->s0; s < t->s1; ++s)
            sum += (double)p->src[offset(p, t->b, c, s)];
    return sum / ((double)(t->c1 - t->c0) * (double)(t->s1 - t->s0));
}

/* The sum of the squared differences from a number. */
static double squares(const struct sn_normalize * p, const struct part * t, double from)
{
    double sum = 0;
    for (size_t c = t->c0; c < t->c1; ++c)
        for (size_t s = t->s0; s < t->s1; ++s) {
            const double d = (double)p->src[offset(p, t->b, c, s)] - from;
            sum += d * d;
        }
    return sum;
}

/* dst = (x - from) * by * scale + shift, for all values of the part. */
static void normalize(const struct sn_normalize * p, const struct part * t, double from, double by)
{
    for (size_t c = t->c0; c < t->c1; ++c)
        for (size_t s = t->s0; s < t->s1; ++s) {
            const size_t i = offset(p, t->b, c, s);
            const double shift = p->shift ? (double)p->shift[c] : 0;
            p->dst[i] = (float)(((double)p->src[i] - from) * by * (double)p->scale[c] + shift);
        }
}

static void by_length(const struct sn_normalize * p, const struct part * t)
{
    normalize(p, t, 0, 1 / sqrt((double)p->eps + squares(p, t, 0)));
}

static void by_deviation(const struct sn_normalize * p, const struct part * t)
{
    const double m = mean(p, t), values = (double)(t->c1 - t->c0) * (double)(t->s1 - t->s0);
    normalize(p, t, m, 1 / sqrt((double)p->eps + squares(p, t, m) / values));
}

static void by_response(const struct sn_normalize * p, size_t b)
{
    double all = 0;
    for (size_t c = 0; c < p->channels; ++c)
        all += sqrt(squares(p, &(struct part){b, c, c + 1, 0, p->spatial}, 0));
    for (size_t c = 0; c < p->channels; ++c) {
        const double g = sqrt(squares(p, &(struct part){b, c, c + 1, 0, p->spatial}, 0));
        const double by = 1 + (double)p->scale[c] * g / (all / (double)p->channels + (double)p->eps);
        for (size_t s = 0; s < p->spatial; ++s) {
            const size_t i = offset(p, b, c, s);
            p->dst[i] = (float)((double)p->src[i] * by + (double)p->shift[c]);
        }
    }
}

static void layer(const struct sn_normalize * p)
{
    for (size_t b = 0; b < p->batch; ++b) {
        const struct part image = {b, 0, p->channels, 0, p->spatial};
        const bool each = p->kind == SN_NORMALIZE_LENGTH || p->kind == SN_NORMALIZE_LAYER;
        for (size_t s = 0; each && s < p->spatial; ++s)
            (p->shift ? by_deviation : by_length)(p, &(struct part){b, 0, p->channels, s, s + 1});
        for (size_t c = 0; p->kind == SN_NORMALIZE_INSTANCE && c < p->channels; ++c)
            by_deviation(p, &(struct part){b, c, c + 1, 0, p->spatial});
        for (size_t g = 0, n = p->channels / sn_max(p->groups, 1); p->kind == SN_NORMALIZE_GROUPS && g < p->groups; ++g)
            by_deviation(p, &(struct part){b, g * n, (g + 1) * n, 0, p->spatial});
        if (p->kind == SN_NORMALIZE_LENGTH_ACROSS)
            by_length(p, &image);
        else if (p->kind == SN_NORMALIZE_RESPONSE)
            by_response(p, b);
    }
}

SN_INSTALL(normalize, normalize) { slots->layer = layer; }
