/*
 * Channel-wise layers: AddBias, Scale, Prelu, Fused 0, 1, 2, 3, 4, 8, 9. Layers whose float32 operations are all documented
 * are exact on every level (except for the payload of a NaN); the error of the others is at most a few roundings of their
 * terms.
 */
#include "check.h"

enum layer { ADD_BIAS, SCALE, PLAIN_SCALE, PRELU, FUSED_0, FUSED_1, FUSED_2, FUSED_3, FUSED_8, FUSED_4, FUSED_9, ONE_FUSED_9,
             LAYERS };

/* The names of the arrays in the order in which a case declares them; among coefficients, the first in the formula comes
 * first. */
static const struct {
    const char * function, * src[2], * term[3], * single[2], * dst[2];
    bool exact;
} about[LAYERS] = {
    [ADD_BIAS] = {"SimdSynetAddBias", {0}, {"bias"}, {0}, {"dst"}, true},
    [SCALE] = {"SimdSynetScaleLayerForward", {"src"}, {"scale", "bias"}, {0}, {"dst"}, false},
    [PLAIN_SCALE] = {"SimdSynetScaleLayerForward", {"src"}, {"scale"}, {0}, {"dst"}, true},
    [PRELU] = {"SimdSynetPreluLayerForward", {"src"}, {"slope"}, {0}, {"dst"}, true},
    [FUSED_0] = {"SimdSynetFusedLayerForward0", {"src"}, {"bias", "scale"}, {0}, {"dst"}, true},
    [FUSED_1] = {"SimdSynetFusedLayerForward1", {"src"}, {"bias0", "scale1", "bias1"}, {0}, {"dst"}, false},
    [FUSED_2] = {"SimdSynetFusedLayerForward2", {"src"}, {"scale", "bias"}, {"slope"}, {"dst"}, false},
    [FUSED_3] = {"SimdSynetFusedLayerForward3", {"src"}, {"bias", "scale"}, {0}, {"dst"}, true},
    [FUSED_8] = {"SimdSynetFusedLayerForward8", {"src0", "src1"}, {"src2"}, {0}, {"dst"}, false},
    [FUSED_4] = {"SimdSynetFusedLayerForward4", {"src"}, {"bias0"}, {"scale1", "bias1"}, {"dst"}, false},
    [FUSED_9] = {"SimdSynetFusedLayerForward9", {"src0", "src1"}, {"scale", "bias"}, {0}, {"dst0", "dst1"}, false},
    [ONE_FUSED_9] = {"SimdSynetFusedLayerForward9", {"src0", "src1"}, {"scale", "bias"}, {0}, {"dst0"}, false},
};

enum { APART, IN_PLACE, IN_SECOND }; /* dst is a separate array, src, or src1 */

struct job {
    enum layer layer;
    size_t channels, channels1, spatial;
    SimdTensorFormatType format;
    int place;
};

static void call(const void * job, void * context, void * const * a)
{
    const struct job * j = job;
    const size_t c = j->channels, c1 = j->channels1, s = j->spatial;
    const SimdTensorFormatType f = j->format;
    (void)context;
    /* dst is declared last, or is one of the sources. */
    float * const in = j->place == IN_PLACE ? a[0] : j->place == IN_SECOND ? a[1] : NULL;
    switch (j->layer) {
    case ADD_BIAS: SimdSynetAddBias(a[0], c, s, a[1], f); break;
    case SCALE: SimdSynetScaleLayerForward(a[0], a[1], a[2], c, s, in ? in : a[3], f); break;
    case PLAIN_SCALE: SimdSynetScaleLayerForward(a[0], a[1], NULL, c, s, in ? in : a[2], f); break;
    case PRELU: SimdSynetPreluLayerForward(a[0], a[1], c, s, in ? in : a[2], f); break;
    case FUSED_0: SimdSynetFusedLayerForward0(a[0], a[1], a[2], c, s, in ? in : a[3], f); break;
    case FUSED_1: SimdSynetFusedLayerForward1(a[0], a[1], a[2], a[3], c, s, in ? in : a[4], f); break;
    case FUSED_2: SimdSynetFusedLayerForward2(a[0], a[1], a[2], c, s, a[3], in ? in : a[4], f); break;
    case FUSED_3: SimdSynetFusedLayerForward3(a[0], a[2], a[1], c, s, in ? in : a[3], f); break;
    case FUSED_8: SimdSynetFusedLayerForward8(a[0], a[1], a[2], c, s, in ? in : a[3], f); break;
    case FUSED_4: SimdSynetFusedLayerForward4(a[0], a[1], a[2], a[3], c, s, a[4], f); break;
    case FUSED_9: SimdSynetFusedLayerForward9(a[0], a[1], a[2], a[3], c, c1, s, a[4], a[5], f); break;
    default: SimdSynetFusedLayerForward9(a[0], a[1], a[2], a[3], c, c1, s, a[4], NULL, f);
    }
}

/* ---- bounds */

/* The sum of the terms of a result, each as large as possible; y is the value of the second source. */
static double terms(enum layer layer, double x, double y, double p, double q, double r, double s, double t, bool second)
{
    switch (layer) {
    case SCALE:
    case FUSED_9:
    case ONE_FUSED_9: return fabs(x * p) + fabs(q);
    case FUSED_1: return (fabs(x) + fabs(p)) * (1 + fabs(q)) + fabs(r);
    case FUSED_2: return (fabs(x * p) + fabs(q)) * (1 + fabs(s));
    case FUSED_4: return second ? (fabs(x) + fabs(p)) * fabs(s) + fabs(t) : fabs(x) + fabs(p);
    default: return fabs(x) + fabs(y * p); /* FUSED_8 */
    }
}

static size_t lanes_of(SimdTensorFormatType format) { return SimdSynetTensorAlignment(format); }

static size_t padded(size_t channels, SimdTensorFormatType format) { return SimdAlign(channels, lanes_of(format)); }

/* The channel of value i of a tensor with this many channels; the index of the same channel and position in another
 * tensor. */
static size_t channel_at(const struct job * j, size_t channels, size_t i, size_t * position)
{
    const size_t lanes = lanes_of(j->format);
    if (j->format == SimdTensorFormatNhwc) {
        *position = i / channels;
        return i % channels;
    }
    *position = i / lanes % j->spatial;
    return i / lanes / j->spatial * lanes + i % lanes;
}

static size_t at_channel(const struct job * j, size_t channels, size_t c, size_t position)
{
    const size_t lanes = lanes_of(j->format);
    if (j->format == SimdTensorFormatNhwc)
        return position * channels + c;
    return (c / lanes * j->spatial + position) * lanes + c % lanes;
}

struct arrays {
    const float * src, * src1, * term[3], * single[2];
};

/* For each value of dst, which has `channels` channels. */
static void fill_bounds(const struct job * j, const struct arrays * a, size_t channels, size_t count, double * bound)
{
    const bool nine = j->layer >= FUSED_9;
    for (size_t i = 0; i < count; ++i) {
        size_t position;
        const size_t c = channel_at(j, channels, i, &position);
        const bool second = (nine || j->layer == FUSED_4) && c >= j->channels;
        const size_t own = second ? c - j->channels : c;
        const size_t at = at_channel(j, second && nine ? j->channels1 : j->channels, own, position);
        const size_t k = nine ? c : own;
        const double x = second && nine ? a->src1[at] : a->src[at], y = j->layer == FUSED_8 ? a->src1[at] : 0;
        const double q = a->term[1] ? a->term[1][k] : 0, r = a->term[2] ? a->term[2][k] : 0;
        const double s = a->single[0] ? *a->single[0] : 0, t = a->single[1] ? *a->single[1] : 0;
        const double sum = terms(j->layer, x, y, a->term[0][k], q, r, s, t, second);
        /* With an infinite bound, only infinities and NaN are compared. */
        bound[i] = isfinite(sum) ? 5 * 0x1p-24 * sum + 0x1p-147 * (1 + fabs(q) + fabs(s)) : INFINITY;
    }
}

/* ---- cases */

static void declare_terms(const struct job * j, size_t all, enum check_fill fill, struct arrays * a)
{
    for (size_t k = 0; k < 3 && about[j->layer].term[k]; ++k) {
        a->term[k] = check_in(about[j->layer].term[k], CHECK_32F, all, fill);
        if (j->layer == SCALE && k == 1)
            check_optional();
    }
    for (size_t k = 0; k < 2 && about[j->layer].single[k]; ++k)
        a->single[k] = check_in(about[j->layer].single[k], CHECK_32F, 1, fill);
}

/* The bounds are only needed if the case is compared. */
static struct job layer_case(struct job j, enum check_fill fill, bool bounds)
{
    static const char * const places[] = {"", " in place", " in src1"};
    const enum layer layer = j.layer;
    const bool nine = layer >= FUSED_9;
    const size_t channels = layer == FUSED_4 ? 2 * j.channels : nine ? j.channels + j.channels1 : j.channels;
    const size_t count = padded(channels, j.format) * j.spatial, count0 = padded(j.channels, j.format) * j.spatial;
    const size_t count1 = nine ? padded(j.channels1, j.format) * j.spatial : count0;
    struct arrays a = {0};
    double * bound = NULL;
    const bool selected =
        nine ? check_case(about[layer].function, "%s channels=%zu+%zu spatial=%zu %s%s", check_format_name(j.format),
                          j.channels, j.channels1, j.spatial, check_fill_name(fill), layer == FUSED_9 ? "" : " without dst1")
             : check_case(about[layer].function, "%s channels=%zu spatial=%zu %s%s%s", check_format_name(j.format),
                          j.channels, j.spatial, check_fill_name(fill), layer == PLAIN_SCALE ? " without bias" : "",
                          places[j.place]);
    if (!selected)
        return j;
    if (about[layer].exact)
        check_exact(CHECK_NAN_FREE);
    if (layer == ADD_BIAS) {
        check_in("bias", CHECK_32F, padded(channels, j.format), fill);
        check_inout("dst", CHECK_32F, count, fill);
        return j;
    }
    if (about[layer].src[0])
        a.src = (j.place == IN_PLACE ? check_inout : check_in)(about[layer].src[0], CHECK_32F, count0, fill);
    if (bounds && j.place == IN_PLACE && !about[layer].exact)
        bound = check_bound();
    if (about[layer].src[1])
        a.src1 = (j.place == IN_SECOND ? check_inout : check_in)(about[layer].src[1], CHECK_32F, count1, fill);
    if (bounds && j.place == IN_SECOND)
        bound = check_bound();
    declare_terms(&j, layer == FUSED_4 ? j.channels : padded(channels, j.format), fill, &a);
    if (j.place == APART)
        check_out(about[layer].dst[0], CHECK_32F, count);
    if (bounds && j.place == APART && !about[layer].exact)
        bound = check_bound();
    if (about[layer].dst[1]) {
        check_out(about[layer].dst[1], CHECK_32F, count);
        check_optional();
    }
    if (bound)
        fill_bounds(&j, &a, padded(channels, j.format), count, bound);
    return j;
}

static void check_layer(enum layer layer, size_t channels, size_t channels1, size_t spatial, SimdTensorFormatType format,
                        enum check_fill fill, int place)
{
    struct job j = {layer, channels, channels1, spatial, format, APART};
    if (layer >= FUSED_4) /* in NCHWxc, their first source has only complete blocks */
        j.channels = padded(channels, format);
    else if (layer != ADD_BIAS)
        j.place = place == IN_SECOND && layer != FUSED_8 ? IN_PLACE : place;
    j = layer_case(j, fill, true);
    check_run(call, &j);
}

/* Every number of channels with every spatial size, 1 .. most; layers, formats, fills and positions of dst alternate. */
static void check_square(enum layer first, enum layer last, size_t most)
{
    const size_t layers = (size_t)(last - first) + 1;
    size_t n = 0;
    for (size_t c = 1; c <= most; ++c)
        for (size_t s = 1; s <= most; ++s, ++n)
            check_layer((enum layer)(first + n % layers), c, (c + s) % most, s, (SimdTensorFormatType)(n / layers % 5),
                        (enum check_fill)(n / 5 % CHECK_FILLS), (int)(n / 7 % 3));
}

/* All pairs of widths of a joined pixel, on both sides of the limit between narrow and wide pixels. */
static void check_joined(size_t most)
{
    for (size_t c = 0; c <= most; ++c)
        for (size_t c1 = 0; c1 <= most; ++c1)
            if (c + c1 > 0)
                check_layer((c + c1) % 2 ? FUSED_9 : ONE_FUSED_9, c, c1, 1 + (7 * c + 3 * c1) % 67, SimdTensorFormatNhwc,
                            (enum check_fill)((c + 2 * c1) % CHECK_FILLS), APART);
}

static void check_large(void)
{
    static const size_t shapes[][2] = {{96, 50},   {127, 31},  {300, 9},  {1023, 5}, {1027, 3}, {2000, 2}, {5000, 1},
                                       {1, 40000}, {3, 33000}, {17, 4000}, {640, 120}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
        for (int layer = 0; layer < LAYERS; ++layer)
            for (int format = SimdTensorFormatNchw; format <= SimdTensorFormatNchw16c; ++format)
                if (!check_quick() || (i + (size_t)layer + (size_t)format) % 7 == 0)
                    check_layer((enum layer)layer, shapes[i][0], shapes[i][0] % 100, shapes[i][1],
                                (SimdTensorFormatType)format, (enum check_fill)((size_t)layer % CHECK_FILLS), layer % 3);
    for (size_t i = 0, n = check_count(200); i < n; ++i)
        check_layer((enum layer)check_random(0, LAYERS - 1), check_random_size(200), check_random(0, 200),
                    check_random_size(300), (SimdTensorFormatType)check_random(0, 4),
                    (enum check_fill)check_random(0, CHECK_FILLS - 1), (int)check_random(0, 2));
}

/* ---- bad arguments */

static void refusals_of(enum layer layer)
{
    const struct job good = layer_case((struct job){layer, 16, 5, 5, SimdTensorFormatNhwc, APART}, CHECK_RANDOM, false);
    check_refused_null(call, &good);
    check_refused_overlap(layer < FUSED_4, call, &good);
    struct job j = good;
    for (int format = -2; format < 14; ++format) {
        j.format = (SimdTensorFormatType)format;
        if (format < SimdTensorFormatNchw || format > SimdTensorFormatNchw16c)
            check_refused(CHECK_VALUE, "format", call, &j);
    }
    j = good;
    j.channels = SIZE_MAX / 8;
    check_refused(CHECK_VALUE, "channels", call, &j);
    j.channels = SIZE_MAX - 15;
    j.spatial = 1;
    j.format = SimdTensorFormatNchw16c;
    check_refused(CHECK_VALUE, "channels", call, &j);
    j = good;
    j.spatial = 0;
    for (int format = SimdTensorFormatNchw; format <= SimdTensorFormatNchw16c; ++format) {
        j.format = (SimdTensorFormatType)format;
        check_empty(call, &j);
    }
    j = good;
    j.channels = j.channels1 = 0;
    check_empty(call, &j);
}

static void refusals(void)
{
    for (int layer = 0; layer < LAYERS; ++layer)
        refusals_of((enum layer)layer);
    struct job j = layer_case((struct job){FUSED_4, 32, 0, 3, SimdTensorFormatNhwc, APART}, CHECK_RANDOM, false);
    for (int format = SimdTensorFormatNchw4c; format <= SimdTensorFormatNchw16c; ++format) {
        j.format = (SimdTensorFormatType)format;
        j.channels = lanes_of(j.format) + 2;
        check_refused(CHECK_VALUE, "channels", call, &j);
    }
    j = layer_case((struct job){FUSED_9, 32, 32, 3, SimdTensorFormatNhwc, APART}, CHECK_RANDOM, false);
    for (int format = SimdTensorFormatNchw4c; format <= SimdTensorFormatNchw16c; ++format) {
        j.format = (SimdTensorFormatType)format;
        j.channels = lanes_of(j.format) + 2;
        check_refused(CHECK_VALUE, "channels0", call, &j);
    }
    j.channels = SIZE_MAX;
    check_refused(CHECK_VALUE, "channels0", call, &j);
}

/* ---- times */

/* Aim on the reference core: 18 us for the first geometry of a layer with one source and one result. */
static void bench(void)
{
    static const size_t shapes[][2] = {{64, 3136}, {3, 50176}, {1, 50176}, {5, 10000}, {16, 3136}, {13, 3136},
                                       {512, 49},  {1280, 7},  {2000, 2},  {33, 65},   {1000, 1}};
    for (int layer = 0; layer < LAYERS; ++layer)
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i)
            for (int format = SimdTensorFormatNchw; format <= SimdTensorFormatNchw16c; ++format) {
                const SimdTensorFormatType f = (SimdTensorFormatType)format;
                const size_t all = padded(shapes[i][0], f), first = layer >= FUSED_4 ? all : shapes[i][0];
                /* The number of arrays of `all` channels that are read or written. */
                const size_t arrays = layer == FUSED_9 ? 6 : layer == ONE_FUSED_9 ? 4 : layer >= FUSED_8 ? 3 : 2;
                const struct job j = layer_case((struct job){(enum layer)layer, first, first, shapes[i][1], f, APART},
                                                CHECK_EQUAL, false);
                check_bench(call, &j, 0, (double)(arrays * sizeof(float) * all * shapes[i][1]));
            }
}

CHECK_FAMILY(channelwise)
{
    check_square(ADD_BIAS, FUSED_8, 67);
    check_square(FUSED_4, ONE_FUSED_9, 67);
    check_joined(check_quick() ? 20 : 40);
    check_large();
    refusals();
    if (check_timed())
        bench();
}
