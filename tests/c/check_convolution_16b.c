/*
 * Convolution16b. Bound: that of Convolution32f's chains, (n + 3) * eps * (sum of |product| + |bias|) after the activation,
 * for the rounded inputs and weights: the products are exact, and n additions are rounded in any order, two at a time with
 * vdpbf16ps. That instruction flushes subnormal numbers: it loses at most 2^-126 of each product, since fills with subnormal
 * inputs use weights of at most 1, and the same amount in each of n + 3 results. A bfloat16 result may be rounded in either
 * direction by this bound. A second test determines the correct direction from the float results of the same level: these
 * must satisfy the bound, and the bfloat16 results must be their rounding, bit for bit (except for subnormal numbers).
 */
#include <stdlib.h>

#include "check_layer.h"

typedef SimdConvolutionParameters parameters;

static void * make(const struct check_layer * l)
{
    return SimdSynetConvolution16bInit(l->batch, l->null_conv ? NULL : l->p, SimdSynetCompatibilityDefault);
}

static bool call_set_params(const struct check_layer * l, void * context, const float * const * a)
{
    (void)l;
    SimdSynetConvolution16bSetParams(context, a[CHECK_WEIGHT], a[CHECK_BIAS], a[CHECK_PARAMS]);
    return true;
}

static void run(void * context, const void * src, void * buf, void * dst)
{
    SimdSynetConvolution16bForward(context, src, buf, dst);
}

static float float_of(const void * data, size_t i)
{
    float x;
    memcpy(&x, (const char *)data + i * sizeof(x), sizeof(x));
    return x;
}

/* True if x is v rounded; a subnormal result may be 0. */
static bool is_rounded(uint16_t x, float v)
{
    const float y = sn_16b_to_32f(x), r = sn_16b_to_32f(sn_32f_to_16b(v));
    return isnan(v) ? isnan(y) : sn_bits_32f(y) == sn_bits_32f(r) || (y == 0 && fabsf(v) < FLT_MIN);
}

/* The results in bfloat16 must be those in float, rounded. */
static void compare_with_floats(const struct check_layer * l, void * const * a)
{
    const size_t size = check_layer_count(l, CHECK_DST);
    struct check_layer other = *l;
    other.p->dstT = SimdTensorData32f;
    if (l->p->dstT == SimdTensorData32f)
        return;
    float * dst = malloc(size * sizeof(float) + 1);
    void * context = check_layer_open(&other, a);
    run(context, a[CHECK_SRC], NULL, dst);
    SimdRelease(context);
    for (size_t i = 0; i < size; ++i) {
        uint16_t x;
        memcpy(&x, (const char *)a[CHECK_DST] + 2 * i, sizeof(x));
        if (!is_rounded(x, dst[i])) {
            check_that(false, l->family->forward, "result %zu is 0x%04X, and %.9g as a float: %s", i, (unsigned)x,
                       (double)dst[i], check_convolution_text(l->p, l->batch));
            break;
        }
    }
    free(dst);
}

static const struct check_layer_family family = {
    CHECK_LAYER_FUNCTIONS(SimdSynetConvolution16b), .unit = 1, .weight_unit = 2, .narrow = true, .make = make,
    .call_set_params = call_set_params, .run = run, .also = compare_with_floats};

/* ---- cases */

/* Whether a float source and the weights are used as they are. */
static bool is_exact(const parameters * p)
{
    return p->srcF == SimdTensorFormatNhwc && p->group == p->srcC && p->group == p->dstC && p->group > 1;
}

/* Numbers as floats, rounded to bfloat16 unless `exact`. */
static float * numbers_of(const void * data, enum check_type type, size_t count, bool exact)
{
    float * x = malloc(count * sizeof(float) + 1);
    for (size_t i = 0; i < count; ++i) {
        uint16_t small;
        if (type == CHECK_16B)
            memcpy(&small, (const char *)data + 2 * i, sizeof(small));
        else
            small = sn_32f_to_16b(float_of(data, i));
        x[i] = exact && type == CHECK_32F ? float_of(data, i) : sn_16b_to_32f(small);
    }
    return x;
}

/* Rounds weights, as those of networks of bfloat16 numbers are: levels may have other kernels for them. */
static void round_numbers(sn_32f * weight, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        weight[i] = sn_16b_to_32f(sn_32f_to_16b(weight[i]));
}

static void declare(const struct check_layer * j, enum check_fill fill)
{
    const parameters * p = j->p;
    void * a[CHECK_NO_ARRAY];
    if (!check_layer_case(j, check_convolution_text(p, j->batch), fill, a))
        return;
    if (p->srcH % 2)
        round_numbers(a[CHECK_WEIGHT], check_convolution_weights(p));
    const enum check_type type = p->srcT == SimdTensorData16b ? CHECK_16B : CHECK_32F;
    float * src = numbers_of(a[CHECK_SRC], type, check_layer_count(j, CHECK_SRC), is_exact(p));
    float * weight = numbers_of(a[CHECK_WEIGHT], CHECK_32F, check_convolution_weights(p), is_exact(p));
    double * bound = check_bound();
    check_convolution_bounds(p, j->batch, src, weight, a[CHECK_BIAS], NULL, a[CHECK_PARAMS], 1, bound);
    const double lost = 0x1p-126 * (2 * (double)(p->srcC / p->group * p->kernelY * p->kernelX) + 3);
    for (size_t i = 0; i < check_layer_count(j, CHECK_DST); ++i)
        bound[i] += 4 * lost; /* no activation used here has a larger slope */
    free(src);
    free(weight);
}

static void set_types(parameters * p, size_t number)
{
    p->srcT = number & 1 ? SimdTensorData32f : SimdTensorData16b;
    p->dstT = number & 2 ? SimdTensorData32f : SimdTensorData16b;
}

static struct check_layer layer(SimdTensorFormatType format, size_t srcC, size_t h, size_t w, size_t dstC, size_t kernel,
                                size_t stride, size_t pad, size_t group)
{
    struct check_layer l =
        check_layer_of(&family, check_convolution_shape(format, srcC, h, w, dstC, kernel, stride, pad, group));
    set_types(l.p, 0);
    return l;
}

static void run_case(struct check_layer j, enum check_fill fill)
{
    declare(&j, fill);
    check_layer_run(&j);
}

static void random_case(SimdTensorFormatType format)
{
    struct check_layer j = check_layer_of(&family, check_convolution_random(format, 30, 40));
    j.batch = check_few(2), j.own_buffer = check_random(0, 1), j.no_bias = check_random(0, 3) == 0;
    set_types(j.p, check_random(0, 3));
    run_case(j, check_random(0, 15) ? CHECK_RANDOM : (enum check_fill)check_random(0, CHECK_FILLS - 1));
}

static void tails(SimdTensorFormatType format)
{
    enum { MOST = 68 };
    parameters p;
    for (size_t n = 1; n <= MOST; ++n)
        for (size_t i = 0; check_convolution_tail(format, n, MOST, i, &p); ++i) {
            set_types(&p, n + i);
            run_case(check_layer_of(&family, p), CHECK_RANDOM);
        }
}

static void cuts(SimdTensorFormatType format)
{
    parameters p;
    for (size_t i = 0; check_convolution_cut(format, i, &p); ++i)
        for (size_t number = 0; number < 4; ++number) {
            set_types(&p, number);
            run_case(check_layer_with(check_layer_of(&family, p), 1, i % 3 == 0), CHECK_RANDOM);
        }
}

static void signals(SimdTensorFormatType format)
{
    parameters p;
    for (size_t n = 0; check_convolution_signal(format, n, &p); ++n) {
        set_types(&p, n);
        run_case(check_layer_with(check_layer_of(&family, p), 1 + n % 5 / 4, n % 2 == 0), CHECK_RANDOM);
    }
}

static void whole(SimdTensorFormatType format)
{
    parameters p;
    for (size_t n = 0; check_convolution_whole(format, n, &p); ++n) {
        set_types(&p, n);
        run_case(check_layer_with(check_layer_of(&family, p), check_few(6), n % 2 == 0), CHECK_RANDOM);
    }
}

static void edges(void)
{
    parameters p;
    for (size_t n = 0; check_convolution_edges(n, &p); ++n) {
        set_types(&p, n % 3 ? 0 : 2);
        run_case(check_layer_with(check_layer_of(&family, p), 1 + n % 2, n % 4 == 0), CHECK_RANDOM);
    }
}

/* Odd numbers of inputs, with and without groups: an infinity next to a group's inputs must not affect it. */
static void fills(SimdTensorFormatType format)
{
    for (int fill = 0; fill < CHECK_FILLS; ++fill)
        for (size_t act = 0; act < CHECK_ACTIVATIONS; ++act)
            for (size_t number = 0; number < 4; ++number) {
                struct check_layer j = layer(format, 5, 6, 7, 19, 3, 1, 1, 1);
                j.p->activation = check_activation_at(act);
                set_types(j.p, number);
                run_case(j, (enum check_fill)fill);
                j.p->group = j.p->srcC = j.p->dstC = 19;
                run_case(j, (enum check_fill)fill);
                j.p->group = 3, j.p->srcC = 15, j.p->dstC = 9;
                run_case(j, (enum check_fill)fill);
            }
}

/* Depthwise planes that are large enough not to become pixels, with any padding; the last ones in bands of rows. */
static void planes(void)
{
    for (size_t i = 0; i < 3 * CHECK_ACTIVATIONS; ++i)
        for (int fill = 0; fill < CHECK_FILLS; ++fill) {
            const size_t act = i / 3, pad = i % 3;
            struct check_layer j = layer(SimdTensorFormatNchw, 3, 9 + act, 26 + act + i, 3, 3, 1, pad, 3);
            j.p->activation = check_activation_at(act);
            j.p->padY = i % 4, j.p->padH = i % 2 ? 4 : 1, j.p->dstH = j.p->srcH + j.p->padY + j.p->padH - 2;
            set_types(j.p, fill % 2 ? 2 : 0);
            run_case(j, (enum check_fill)fill);
        }
    for (size_t pad = 0; pad < 2; ++pad)
        run_case(layer(SimdTensorFormatNchw, 2, 90, 203, 2, 3, 1, pad, 2), CHECK_RANDOM);
}

static void batches(SimdTensorFormatType format)
{
    parameters p;
    for (size_t i = 0; check_convolution_batch(format, i, &p); ++i) {
        struct check_layer j = check_layer_with(check_layer_of(&family, p), 5, i % 2);
        set_types(j.p, i);
        run_case(j, CHECK_RANDOM);
        declare(&j, CHECK_EQUAL);
        check_layer_run_equal(&j);
    }
}

/* Few outputs of many inputs, which are computed by floats. */
static void few_of_many(SimdTensorFormatType format)
{
    const size_t inputs[] = {129, 256, 600};
    for (size_t n = 0; n < 12; ++n) {
        struct check_layer j = layer(format, inputs[n % 3], 5 + n, 9 - n / 2, 1 + n / 3, 1 + n % 4 / 2 * 2, 1, n % 2, 1);
        set_types(j.p, n);
        run_case(j, CHECK_RANDOM);
    }
}

/* ---- rounding: a 1x1 convolution with weight 1 and without bias returns each number, rounded */

/* All bfloat16 numbers, and floats around each of them: the number itself, the ties on both sides, and their neighbours. */
enum { NUMBERS = 65536, AROUND = 8, ROUNDED = NUMBERS * AROUND };
static const uint32_t around[AROUND] = {0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x4000, 0xC000};

static float nth_number(size_t i) { return sn_from_bits_32f((uint32_t)(i / AROUND) << 16 | around[i % AROUND]); }

/* The number of wrong results, by the tile, which adds products with 0 and may flush subnormal numbers, or depthwise. */
static size_t wrong_roundings(SimdTensorDataType type, SimdTensorFormatType format, bool tile)
{
    static float src[2 * ROUNDED];
    static uint16_t small[2 * ROUNDED], dst[ROUNDED];
    const size_t channels = tile ? 2 : 1, step = format == SimdTensorFormatNhwc ? channels : 1;
    memset(src, 0, sizeof(src));
    memset(small, 0, sizeof(small));
    for (size_t i = 0; i < ROUNDED; ++i) {
        src[i * step] = nth_number(i);
        small[i * step] = (uint16_t)(i / AROUND);
    }
    parameters p = check_convolution_shape(format, channels, ROUNDED, 1, 1, 1, 1, 0, 1);
    p.srcT = type, p.dstT = SimdTensorData16b;
    const float weight[2] = {1, 0};
    void * context = SimdSynetConvolution16bInit(1, &p, SimdSynetCompatibilityDefault);
    SimdSynetConvolution16bSetParams(context, weight, NULL, NULL);
    run(context, type == SimdTensorData32f ? (void *)src : (void *)small, NULL, dst);
    SimdRelease(context);
    size_t wrong = 0;
    for (size_t i = 0; i < ROUNDED; ++i) {
        const float v = type == SimdTensorData32f ? nth_number(i) : sn_16b_to_32f((uint16_t)(i / AROUND));
        const uint16_t r = sn_32f_to_16b(v);
        const bool zero = (dst[i] & 0x7FFF) == 0 && ((r & 0x7FFF) == 0 || (tile && (r & 0x7F80) == 0)); /* -0 + 0 is 0 */
        wrong += !(isnan(v) ? isnan(sn_16b_to_32f(dst[i])) : dst[i] == r || zero);
    }
    return wrong;
}

/* Panels that the L2 cache does not hold, and blocks of rows that are multiplied together or one by one. */
static void large_panels(SimdTensorFormatType format)
{
    for (size_t n = 0; n < 3; ++n) {
        struct check_layer j = layer(format, 1000, 9, n ? 7 : 20, 70, 3, 1 + n % 2, 1, 1);
        set_types(j.p, n);
        run_case(j, CHECK_RANDOM);
    }
}

static void roundings(void)
{
    if (!check_selected(family.forward))
        return;
    for (size_t level = 0; SimdnetIsaLevel(level); ++level) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(level));
        for (size_t i = 0; i < 8; ++i) {
            const size_t wrong = wrong_roundings(i % 2 ? SimdTensorData16b : SimdTensorData32f,
                                                 i & 2 ? SimdTensorFormatNchw : SimdTensorFormatNhwc, i >= 4);
            check_that(wrong == 0, family.forward, "%s rounds %zu numbers wrongly (%zu)", SimdnetIsaLevel(level), wrong, i);
        }
    }
    SimdnetSetMaxIsa(NULL);
}

/* ---- the former names: the same bits, the same sizes */

static void former_names(void)
{
    enum { CHANNELS = 5, PIXELS = 12, TAPS = 9 };
    if (!check_selected("SimdnetConvolution16bForward"))
        return;
    float src[CHANNELS * PIXELS], weight[TAPS * CHANNELS * CHANNELS];
    uint16_t dst[2][CHANNELS * PIXELS];
    for (size_t i = 0; i < sizeof(src) / sizeof(*src); ++i)
        src[i] = (float)(i % 7) / 3 - 1;
    for (size_t i = 0; i < sizeof(weight) / sizeof(*weight); ++i)
        weight[i] = (float)(i % 5) / 3 - 0.6f;
    parameters p = check_convolution_shape(SimdTensorFormatNhwc, CHANNELS, 3, 4, CHANNELS, 3, 1, 1, 1);
    p.srcT = SimdTensorData32f, p.dstT = SimdTensorData16b;
    void * now = SimdSynetConvolution16bInit(1, &p, SimdSynetCompatibilityDefault), * former = SimdnetConvolution16bInit(1, &p);
    SimdSynetConvolution16bSetParams(now, weight, NULL, NULL);
    SimdnetConvolution16bSetParams(former, weight, NULL, NULL);
    SimdSynetConvolution16bForward(now, (const uint8_t *)src, NULL, (uint8_t *)dst[0]);
    SimdnetConvolution16bForward(former, (const uint8_t *)src, NULL, (uint8_t *)dst[1]);
    const bool same = memcmp(dst[0], dst[1], sizeof(dst[0])) == 0 &&
        SimdnetConvolution16bExternalBufferSize(former) == SimdSynetConvolution16bExternalBufferSize(now) &&
        SimdnetConvolution16bInternalBufferSize(former) == SimdSynetConvolution16bInternalBufferSize(now) &&
        strcmp(SimdSynetConvolution16bInfo(former), SimdnetContextInfo(now)) == 0;
    check_that(same, "SimdnetConvolution16bForward", "differs from SimdSynetConvolution16bForward");
    SimdRelease(now);
    SimdRelease(former);
}

/* ---- bad arguments */

static void refusals(void)
{
    const struct check_layer good = layer(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 1, 1, 2);
    check_layer_refuse_parameters(&good);
    CHECK_REFUSED_INIT(good, "srcT", j.p->srcT = SimdTensorData8u);
    CHECK_REFUSED_INIT(good, "kernelX", j.p->kernelX = 9);
}

static void refusals_of_calls(void)
{
    struct check_layer j = layer(SimdTensorFormatNhwc, 4, 6, 6, 6, 3, 1, 1, 1);
    j.p->activation = SimdConvolutionActivationPrelu;
    check_layer_refuse_calls(&j);
}

/* ---- benchmarks: layers of known networks */

static void begin_bench(struct check_layer * j)
{
    void * a[CHECK_NO_ARRAY];
    set_types(j->p, 0);
    check_layer_case(j, check_convolution_text(j->p, 1), CHECK_RANDOM, a);
}

static void bench(void) { check_layer_bench_known(&family, begin_bench); }

CHECK_FAMILY(convolution_16b)
{
    const SimdTensorFormatType formats[] = {SimdTensorFormatNchw, SimdTensorFormatNhwc};
    for (size_t i = 0; i < 2; ++i) {
        tails(formats[i]);
        fills(formats[i]);
        batches(formats[i]);
        few_of_many(formats[i]);
        large_panels(formats[i]);
        signals(formats[i]);
        whole(formats[i]);
        if (!check_quick())
            cuts(formats[i]);
        for (size_t n = 0; n < check_count(1800); ++n)
            random_case(formats[i]);
    }
    planes();
    edges();
    roundings();
    former_names();
    const struct check_layer empty = layer(SimdTensorFormatNhwc, 4, 6, 6, 0, 3, 1, 1, 1);
    check_layer_empty(&empty);
    refusals();
    refusals_of_calls();
    if (check_timed())
        bench();
}
