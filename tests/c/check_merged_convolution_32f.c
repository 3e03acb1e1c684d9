/*
 * MergedConvolution32f and MergedConvolution16b. Bound: what each stage adds by its own rounding, as in
 * check_convolution_bounds.c, and the propagated error of its source: the sum of |weight| times that error, times the largest
 * slope of the activation. Of bfloat16 numbers: likewise, with the numbers that are rounded, and what flushed subnormal
 * numbers add. A number between depthwise and projection has no error, unless its error is enough to round it to another one.
 */
#include <stdlib.h>

#include "check_layer.h"
#include "runtime/numeric.h"

typedef SimdConvolutionParameters parameters;

static size_t weight_of(const parameters * p) { return p->dstC * (p->srcC / p->group) * p->kernelY * p->kernelX; }
static size_t bias_of(const parameters * p) { return p->dstC; }
static size_t dst_of(const parameters * p) { return p->dstC * p->dstH * p->dstW; }

/* Where the arrays of each stage begin in the concatenated arrays. */
struct stages {
    const float * at[CHECK_STAGES];
};

static struct stages split(const struct check_layer * l, const float * all, size_t (*of)(const parameters * p))
{
    struct stages s = {{NULL}};
    for (size_t i = 0; i < l->stages; all += of(&l->p[i++]))
        s.at[i] = of == check_activation_params && of(&l->p[i]) == 0 ? NULL : all;
    return s;
}

static void * make(const struct check_layer * l)
{
    return SimdSynetMergedConvolution32fInit(l->batch, l->null_conv ? NULL : l->p, l->stages, l->add ? SimdTrue : SimdFalse);
}

static bool call_set_params(const struct check_layer * l, void * context, const float * const * a)
{
    const float * const weight = a[CHECK_WEIGHT], * const bias = a[CHECK_BIAS], * const params = a[CHECK_PARAMS];
    struct stages weights = split(l, weight, weight_of), biases = split(l, bias, bias_of);
    struct stages activations = split(l, params, check_activation_params);
    SimdBool internal[CHECK_STAGES] = {SimdFalse, SimdFalse, SimdFalse};
    SimdSynetMergedConvolution32fSetParams(context, weight ? weights.at : NULL, internal, bias ? biases.at : NULL,
                                           params ? activations.at : NULL);
    for (size_t i = 0; i < l->stages; ++i)
        if (internal[i] != SimdTrue)
            return false;
    return true;
}

static void run(void * context, const void * src, void * buf, void * dst)
{
    SimdSynetMergedConvolution32fForward(context, src, buf, dst);
}

static const struct check_layer_family floats = {
    CHECK_LAYER_FUNCTIONS(SimdSynetMergedConvolution32f), .unit = sizeof(float), .weight_unit = sizeof(float), .make = make,
    .call_set_params = call_set_params, .run = run};

static void * make_small(const struct check_layer * l)
{
    return SimdSynetMergedConvolution16bInit(l->batch, l->null_conv ? NULL : l->p, l->stages, l->add ? SimdTrue : SimdFalse);
}

static bool set_small(const struct check_layer * l, void * context, const float * const * a)
{
    const float * const weight = a[CHECK_WEIGHT], * const bias = a[CHECK_BIAS], * const params = a[CHECK_PARAMS];
    struct stages weights = split(l, weight, weight_of), biases = split(l, bias, bias_of);
    struct stages activations = split(l, params, check_activation_params);
    SimdSynetMergedConvolution16bSetParams(context, weight ? weights.at : NULL, bias ? biases.at : NULL,
                                           params ? activations.at : NULL);
    return true;
}

static void run_small(void * context, const void * src, void * buf, void * dst)
{
    SimdSynetMergedConvolution16bForward(context, src, buf, dst);
}

static const struct check_layer_family small = {CHECK_LAYER_FUNCTIONS(SimdSynetMergedConvolution16b), .unit = 1,
    .weight_unit = 2, .narrow = true, .make = make_small, .call_set_params = set_small, .run = run_small};

/* The one whose cases are declared now. */
static const struct check_layer_family * family = &floats;

static bool is_small(void) { return family == &small; }

/* Outer types of one of four combinations, and any types between the stages, which have no effect. */
static void set_types(struct check_layer * j, size_t number)
{
    for (size_t i = 0; is_small() && i < j->stages; ++i) {
        j->p[i].srcT = number >> i & 1 ? SimdTensorData16b : SimdTensorData32f;
        j->p[i].dstT = number >> (i + 1) & 1 ? SimdTensorData16b : SimdTensorData32f;
    }
}

/* The stage that is depthwise. */
static size_t depthwise_of(const struct check_layer * j) { return j->stages == 2 && j->p[1].kernelY == 1 ? 0 : 1; }

/* ---- bounds */

/* Values of an image, and their error bounds. */
struct image {
    double * value, * error;
};

/* Applies an activation to v, which has an error of *error, and updates the error. `size` is the sum of absolute terms. */
static double activated(const parameters * p, const float * params, size_t o, double v, double size, double * error)
{
    const double p0 = check_activation_params(p) ? params[0] : 0, p1 = check_activation_params(p) == 2 ? params[1] : 0;
    double slope = 1, own = 0;
    switch (p->activation) {
    case SimdConvolutionActivationRelu: v = 0 > v ? 0 : v; break;
    case SimdConvolutionActivationRestrictRange: v = p0 > v ? p0 : v, v = p1 < v ? p1 : v; break;
    case SimdConvolutionActivationLeakyRelu: slope = fmax(1, fabs(p0)), v = v < 0 ? p0 * v : v; break;
    case SimdConvolutionActivationPrelu: slope = fmax(1, fabs(params[o])), v = v < 0 ? params[o] * v : v; break;
    case SimdConvolutionActivationElu: /* the terms are exp(v) and 1 */
        slope = fmax(1, fabs(p0)), own = 2 * fabs(p0), v = v < 0 ? p0 * expm1(v) : v;
        break;
    case SimdConvolutionActivationHswish:
        slope = 3 * fabs(p0 * p1), own = size * slope, v = (v + p0 < 0 ? 0 : v < p0 ? v + p0 : 2 * p0) * p1 * v;
        break;
    case SimdConvolutionActivationMish: slope = 1.2, v = v > p0 ? v : v * tanh(fmax(v, 0) + log1p(exp(-fabs(v)))); break;
    case SimdConvolutionActivationHardSigmoid:
        slope = fabs(p0), own = 1 + fabs(p1) + size * slope, v = v * p0 + p1, v = 1 < v ? 1 : v, v = 0 > v ? 0 : v;
        break;
    case SimdConvolutionActivationSwish: slope = 1.2, v = v / (1 + exp(-p0 * v)); break;
    case SimdConvolutionActivationGelu: slope = 1.2, v = v * erfc(-sqrt(0.5) * v) / 2; break;
    case SimdnetConvolutionActivationSigmoid: slope = 0.25, v = 1 / (1 + exp(-v)); break;
    default: break;
    }
    *error = isfinite(*error) ? *error * slope + (3 * size * slope + 8 * (fabs(v) + own)) * FLT_EPSILON
             : isfinite(v)    ? 0
                              : INFINITY;
    return v;
}

/* One output of a stage from an image of its source. */
static void element(const parameters * p, const float * weight, struct image src, size_t o, size_t y, size_t x, double * sum,
                    double * size, double * error)
{
    const size_t n = p->srcC / p->group, first = p->group == 1 ? 0 : o;
    for (size_t ky = 0; ky < p->kernelY; ++ky)
        for (size_t kx = 0; kx < p->kernelX; ++kx) {
            const size_t sy = y * p->strideY + ky - p->padY, sx = x * p->strideX + kx - p->padX;
            if (sy >= p->srcH || sx >= p->srcW)
                continue;
            const float * w = weight + (ky * p->kernelX + kx) * n * p->dstC + o;
            const size_t at = (sy * p->srcW + sx) * p->srcC + first;
            for (size_t i = 0; i < n; ++i) {
                const double term = w[i * p->dstC] * src.value[at + i], wrong = fabs(w[i * p->dstC]) * src.error[at + i];
                *sum += term;
                *size += fabs(term) + wrong;
                *error += wrong;
            }
        }
}

/* dst = stage of src; add is NULL or the image that is added before the activation. */
static void propagate(const parameters * p, const float * weight, const float * bias, const float * params, struct image src,
                      const double * add, struct image dst)
{
    const double depth = (double)(p->srcC / p->group * p->kernelY * p->kernelX + 1);
    for (size_t i = 0; i < dst_of(p); ++i) {
        const size_t o = i % p->dstC, y = i / p->dstC / p->dstW, x = i / p->dstC % p->dstW;
        const double start = (double)(bias ? bias[o] : 0) + (add ? add[i] : 0);
        double sum = start, size = fabs((double)(bias ? bias[o] : 0)) + fabs(add ? add[i] : 0), error = 0;
        element(p, weight, src, o, y, x, &sum, &size, &error);
        dst.error[i] = isfinite(sum) ? error + depth * (size * FLT_EPSILON + (is_small() ? 0x1p-123 : 0x1p-149)) : INFINITY;
        dst.value[i] = activated(p, params, o, sum, size, &dst.error[i]);
    }
}

static double round_16b(double v) { return sn_16b_to_32f(sn_32f_to_16b((float)v)); }

/* Rounds the numbers between depthwise and projection. */
static void round_image(struct image i, size_t size)
{
    for (size_t n = 0; n < size; ++n) {
        const double low = round_16b(i.value[n] - i.error[n]), high = round_16b(i.value[n] + i.error[n]);
        i.value[n] = round_16b(i.value[n]);
        i.error[n] = isfinite(i.error[n]) ? fmax(high - i.value[n], i.value[n] - low) : INFINITY;
    }
}

static struct image image(size_t size)
{
    return (struct image){calloc(size + 1, sizeof(double)), calloc(size + 1, sizeof(double))};
}

static void drop(struct image i)
{
    free(i.value);
    free(i.error);
}

/* Weights as they are multiplied: rounded unless they are depthwise. */
static float * used_weights(const struct check_layer * j, const float * weight)
{
    float * used = malloc(check_layer_count(j, CHECK_WEIGHT) * sizeof(float) + 1);
    size_t n = 0;
    for (size_t i = 0; i < j->stages; ++i)
        for (size_t end = n + weight_of(&j->p[i]); n < end; ++n)
            used[n] = is_small() && i != depthwise_of(j) ? (float)round_16b(weight[n]) : weight[n];
    return used;
}

static double number_at(const void * data, SimdTensorDataType type, size_t i)
{
    uint16_t half;
    float x;
    memcpy(&half, (const char *)data + 2 * i, type == SimdTensorData16b ? sizeof(half) : 0);
    memcpy(&x, (const char *)data + 4 * i, type == SimdTensorData16b ? 0 : sizeof(x));
    return type == SimdTensorData16b ? sn_16b_to_32f(half) : x;
}

static void fill_bounds(const struct check_layer * j, void * const * arrays)
{
    double * bound = check_bound();
    const size_t size = check_layer_count(j, CHECK_SRC) / j->batch, result = check_layer_count(j, CHECK_DST) / j->batch;
    float * weight = used_weights(j, arrays[CHECK_WEIGHT]);
    for (size_t b = 0; b < j->batch; ++b, bound += result) {
        struct image source = image(size), from = image(size);
        const float * w = weight, * c = arrays[CHECK_BIAS], * a = arrays[CHECK_PARAMS];
        for (size_t i = 0; i < size; ++i) {
            source.value[i] = number_at(arrays[CHECK_SRC], j->p->srcT, b * size + i);
            from.value[i] = is_small() && depthwise_of(j) ? round_16b(source.value[i]) : source.value[i];
        }
        for (size_t i = 0; i < j->stages; ++i) {
            const parameters * p = &j->p[i];
            const struct image to = image(dst_of(p));
            const bool add = j->add && j->stages == 3 && i == 2;
            propagate(p, w, j->no_bias ? NULL : c, a, from, add ? source.value : NULL, to);
            w += weight_of(p), c += p->dstC, a += check_activation_params(p);
            if (is_small() && i == depthwise_of(j) && i + 1 < j->stages)
                round_image(to, dst_of(p));
            drop(from);
            from = to;
        }
        memcpy(bound, from.error, result * sizeof(double));
        drop(from);
        drop(source);
    }
    free(weight);
}

/* ---- cases */

static bool declare(const struct check_layer * j, enum check_fill fill, void ** a)
{
    char text[256];
    int length = snprintf(text, sizeof(text), "types=%d,%d %zux%zux%zux%zu", (int)j->p->srcT,
                          (int)j->p[j->stages - 1].dstT, j->batch, j->p->srcC, j->p->srcH, j->p->srcW);
    for (size_t i = 0; i < j->stages; ++i) {
        const parameters * p = &j->p[i];
        length += snprintf(text + length, sizeof(text) - (size_t)length,
                           " -> %zux%zux%zu k%zu s%zux%zu p%zu,%zu,%zu,%zu%s act%d", p->dstC, p->dstH, p->dstW, p->kernelY,
                           p->strideY, p->strideX, p->padY, p->padX, p->padH, p->padW, p->group > 1 ? " g" : "",
                           (int)p->activation);
    }
    return check_layer_case(j, text, fill, a);
}

/* A stage with `c` channels for an image of C x H x W; pads are those of all sides, group 0 means depthwise. */
static parameters stage(size_t srcC, size_t h, size_t w, size_t c, size_t kernel, size_t stride, size_t pad, size_t group)
{
    const SimdTensorFormatType f = SimdTensorFormatNhwc;
    parameters p = {.srcC = srcC, .srcH = h, .srcW = w, .srcT = SimdTensorData32f, .srcF = f, .dstC = c,
                    .dstT = SimdTensorData32f, .dstF = f, .kernelY = kernel, .kernelX = kernel, .dilationY = 1,
                    .dilationX = 1, .strideY = stride, .strideX = stride, .padY = pad, .padX = pad, .padH = pad, .padW = pad,
                    .group = group ? group : srcC};
    p.dstH = (h + 2 * pad - kernel) / stride + 1;
    p.dstW = (w + 2 * pad - kernel) / stride + 1;
    return p;
}

static parameters behind(const parameters * p, size_t c, size_t kernel, size_t stride, size_t pad, size_t group)
{
    return stage(p->dstC, p->dstH, p->dstW, c, kernel, stride, pad, group);
}

/* The usual block: padding that keeps the size, except for the stride of the depthwise stage. */
static struct check_layer block(size_t c, size_t h, size_t w, size_t expanded, size_t kernel0, size_t kernel1, size_t stride,
                                size_t o)
{
    struct check_layer j = {.family = family, .stages = 3, .batch = 1};
    j.p[0] = stage(c, h, w, expanded, kernel0, 1, kernel0 / 2, 1);
    j.p[1] = behind(&j.p[0], expanded, kernel1, stride, kernel1 / 2, 0);
    j.p[2] = behind(&j.p[1], o, 1, 1, 0, 1);
    j.p[0].activation = j.p[1].activation = SimdConvolutionActivationRelu;
    j.add = stride == 1 && c == o;
    return j;
}

/* The block without its first or its last stage. */
static struct check_layer without(struct check_layer j, bool first)
{
    if (first)
        j.p[0] = j.p[1], j.p[1] = j.p[2];
    j.stages = 2;
    return j;
}

/* 1 .. limit, small ones more often. */
static size_t few(size_t limit) { return check_random(1, check_random(1, limit)); }

/* Random pads; the image, padded, is at least as large as the kernel. */
static void random_axis(size_t size, size_t kernel, size_t stride, size_t * before, size_t * after, size_t * dst)
{
    *before = check_random(0, few(kernel)), *after = check_random(0, few(kernel));
    if (size + *before + *after < kernel)
        *after = kernel - size - *before;
    *dst = (size + *before + *after - kernel) / stride + 1;
}

static parameters random_stage(size_t srcC, size_t h, size_t w, size_t c, size_t kernel, size_t stride, size_t group)
{
    parameters p = stage(srcC, kernel, kernel, c, kernel, stride, 0, group);
    p.srcH = h, p.srcW = w;
    random_axis(h, kernel, stride, &p.padY, &p.padH, &p.dstH);
    random_axis(w, kernel, stride, &p.padX, &p.padW, &p.dstW);
    p.activation = check_any_activation();
    return p;
}

static struct check_layer random_shape(void)
{
    const size_t kernels[] = {1, 1, 1, 3}, kind = check_random(0, 9), h = few(13), w = few(check_random(0, 3) ? 13 : 36);
    const size_t k0 = kernels[check_random(0, 3)], k1 = 2 * few(3) + 1, o = few(36);
    size_t c = few(20), expanded = few(check_random(0, 1) ? 12 : 50);
    if (h * w * expanded * c * k0 * k0 > 60000) /* limits base's time */
        c = few(4), expanded = few(20);
    struct check_layer j = {.family = family, .stages = 3, .batch = 1};
    if (kind < 3) { /* the source can be added */
        j = block(c, h, w, expanded, k0, k1, 1, c);
        for (size_t i = 0; i < 3; ++i)
            j.p[i].activation = check_any_activation();
        j.add = kind < 2;
    } else {
        const size_t s0 = few(3);
        j.p[0] = random_stage(c, h, w, expanded, k0, s0, 1);
        j.p[1] = random_stage(expanded, j.p[0].dstH, j.p[0].dstW, expanded, k1, few(3), 0);
        j.p[2] = random_stage(expanded, j.p[1].dstH, j.p[1].dstW, o, 1, 1, 1);
        if (is_small()) {
            j.p[2].padY = j.p[2].padX = j.p[2].padH = j.p[2].padW = 0;
            j.p[2].dstH = j.p[2].srcH, j.p[2].dstW = j.p[2].srcW;
        }
        if (kind > 5) {
            j = without(j, kind > 7);
            j.add = check_random(0, 1); /* ignored */
        }
    }
    j.batch = few(2), j.own_buffer = check_random(0, 1), j.no_bias = check_random(0, 3) == 0;
    return j;
}

static void run_case(struct check_layer j, enum check_fill fill)
{
    void * a[CHECK_NO_ARRAY];
    set_types(&j, j.p->srcC + j.p->srcW + 3 * j.p->dstC);
    if (!declare(&j, fill, a))
        return;
    fill_bounds(&j, a);
    check_layer_run(&j);
}

/* Every tail of channels, every width. */
static void tails(void)
{
    for (size_t n = 1; n <= 34; ++n) {
        run_case(block(3, 4, 5, n, 1, 3, 1, 3), CHECK_RANDOM);
        run_case(block(2, 5, n, 5, 1, 3, 1 + n % 2, 36 - n), CHECK_RANDOM);
        run_case(without(block(3, 5, n, 6, 3, 3 + n % 3 * 2, 1 + n % 3, 3), false), CHECK_RANDOM);
        run_case(without(block(3, 4, 5, n, 1, 3, 1 + n % 2, 36 - n), true), CHECK_RANDOM);
        run_case(without(block(3, 7, n, 5, 1, 5, 1 + n % 2, n), true), CHECK_RANDOM);
    }
}

/* Few channels without an expansion: several pixels are one. */
static void joined_pixels(void)
{
    for (size_t n = 0, count = check_count(150); n < count; ++n) {
        struct check_layer j = {.family = family, .stages = 2, .batch = 1 + n % 3 / 2};
        const size_t channels = 1 + n % 13, pad = is_small() ? 0 : n % 7 / 6;
        j.p[0] = random_stage(channels, 7 + n / 2 % 11, 7 + n / 3 % 61, channels, 3 + n % 3 * 2, 1 + n % 11 / 10, 0);
        j.p[1] = behind(&j.p[0], 1 + n % 9, 1, 1, pad, 1);
        j.own_buffer = n % 2 == 1, j.no_bias = n % 5 == 0;
        run_case(j, n % 4 ? CHECK_RANDOM : (enum check_fill)(n / 4 % CHECK_FILLS));
    }
}

/* Images of one column, which are lines in memory, or that become one; those of a line; and narrow ones of many rows. */
static void columns(void)
{
    for (size_t n = 0, count = check_count(90); n < count; ++n) {
        const size_t long_side = check_random(20, 260), kernel = 3 + n % 3 * 2, stride = 1 + n / 4 % 3;
        const size_t h = n % 3 == 2 ? 1 : long_side, w = n % 3 == 2 ? long_side : n % 3 ? 1 + n % 5 : 1;
        struct check_layer j = block(few(12), h, w, few(40), n % 4 ? 1 : 3, kernel, stride, few(40));
        if (n % 7 == 6) { /* wide before the depthwise stage, or with another padding */
            j.p[1] = random_stage(j.p[0].dstC, j.p[0].dstH, j.p[0].dstW, j.p[0].dstC, kernel, stride, 0);
            j.p[2] = behind(&j.p[1], j.p[2].dstC, 1, 1, is_small() ? 0 : n / 7 % 2, 1);
        }
        if (n % 5 > 2)
            j = without(j, n % 5 == 3);
        j.batch = 1 + n % 8 / 6, j.own_buffer = n % 2 == 1, j.no_bias = n % 6 == 0;
        run_case(j, n % 9 ? CHECK_RANDOM : (enum check_fill)(n / 9 % CHECK_FILLS));
    }
}

/* Many steps, pixels a multiple of 2 KB apart, bands of the expansion, padding wider than the kernel, two strides, empty
 * sums. */
static void cuts(void)
{
    if (check_quick())
        return;
    struct check_layer j = block(9, 60, 70, 40, 1, 3, 1, 9);
    j.own_buffer = true;
    run_case(j, CHECK_RANDOM);
    run_case(block(8, 50, 51, 70, 3, 5, 2, 8), CHECK_RANDOM);
    run_case(block(2, 90, 80, 33, 1, 7, 3, 2), CHECK_RANDOM);
    run_case(block(3, 7, 8, 512, 1, 3, 1, 3), CHECK_RANDOM);
    run_case(block(512, 3, 4, 17, 1, 3, 1, 512), CHECK_RANDOM);
    run_case(without(block(3, 5, 6, 1024, 1, 3, 2, 3), true), CHECK_RANDOM);
    run_case(without(block(2, 100, 3, 200, 1, 3, 1, 2), true), CHECK_RANDOM);
    run_case(without(block(5, 200, 1, 33, 3, 3, 1, 2), false), CHECK_RANDOM);
    j = without(block(5, 9, 9, 20, 1, 3, 2, 7), true);
    j.p[0].strideX = 3, j.p[0].dstW = 3;
    j.p[1] = behind(&j.p[0], 7, 1, 1, 0, 1);
    run_case(j, CHECK_RANDOM);
    j = block(4, 6, 5, 12, 1, 3, 1, 7);
    j.p[1] = behind(&j.p[0], 12, 3, 2, 9, 0);
    j.p[2] = behind(&j.p[1], 7, 1, 1, is_small() ? 0 : 4, 1);
    run_case(j, CHECK_RANDOM);
    run_case(block(0, 5, 6, 12, 1, 3, 1, 7), CHECK_RANDOM);
}

/* Few rows and several panels, which threads divide, see check --threads. */
static void panels(void)
{
    for (size_t act = 0; act < CHECK_ACTIVATIONS; ++act) {
        struct check_layer j[] = {block(9, 3, 20, 150, 1, 3, 1, 9), without(block(9, 3, 20, 150, 1, 5, 1, 9), false),
            without(block(9, 5, 11, 70, 3, 3, 2, 9), false), without(block(2, 3, 20, 70, 1, 5, 1, 150), true),
            without(block(40, 1, 20, 40, 1, 3, 1, 40), true)};
        for (size_t i = 0; i < sizeof(j) / sizeof(j[0]); ++i) {
            j[i].batch = 1 + i % 2;
            for (size_t k = 0; k < j[i].stages; ++k)
                j[i].p[k].activation = check_activation_at((act + k) % CHECK_ACTIVATIONS);
            run_case(j[i], CHECK_RANDOM);
        }
    }
}

static void fills(void)
{
    for (int fill = 0; fill < CHECK_FILLS; ++fill)
        for (size_t act = 0; act < CHECK_ACTIVATIONS; ++act) {
            struct check_layer j = block(5, 6, 7, 19, 1, 3, 1, 5);
            for (size_t i = 0; i < 3; ++i)
                j.p[i].activation = check_activation_at((act + i) % CHECK_ACTIVATIONS);
            run_case(j, (enum check_fill)fill);
            run_case(without(j, act % 2), (enum check_fill)fill);
        }
}

static void batches(void)
{
    struct check_layer j[] = {block(6, 7, 9, 20, 1, 3, 1, 6), block(3, 12, 9, 20, 3, 5, 2, 7)};
    for (size_t i = 0; i < 6; ++i) {
        struct check_layer one = i < 2 ? j[i] : without(j[i % 2], i > 3);
        void * a[CHECK_NO_ARRAY];
        one.batch = 3;
        set_types(&one, i);
        if (!declare(&one, CHECK_EQUAL, a))
            continue;
        fill_bounds(&one, a);
        check_layer_run_equal(&one);
    }
}

/* ---- bad arguments */

/* A valid shape with one change: p are the parameters of the three stages. */
#define REFUSE(argument, ...)                                                                                               \
    do {                                                                                                                    \
        struct check_layer j = block(4, 6, 6, 9, 3, 3, 1, 4);                                                               \
        parameters * p = j.p;                                                                                               \
        (void)p;                                                                                                            \
        __VA_ARGS__;                                                                                                        \
        check_layer_refuse_init(&j, argument);                                                                              \
    } while (0)

static void refusals(void)
{
    const size_t huge = SIZE_MAX / 2;
    REFUSE("batch", j.batch = 0);
    REFUSE("conv is NULL", j.null_conv = true);
    REFUSE("count", j.stages = 1);
    REFUSE("count", j.stages = 4);
    REFUSE("conv[1].srcT", p[1].srcT = SimdTensorData8u);
    REFUSE("conv[2].dstT", p[2].dstT = is_small() ? SimdTensorData8i : SimdTensorData16b);
    REFUSE("conv[0].srcF", p[0].srcF = p[0].dstF = SimdTensorFormatNchw);
    REFUSE("conv[1].srcF", p[1].srcF = p[1].dstF = SimdTensorFormatNchw8c);
    REFUSE("conv[2].dstF", p[2].dstF = SimdTensorFormatNchw);
    REFUSE("conv[0].kernelY", p[0] = stage(4, 6, 6, 9, 5, 1, 2, 1));
    REFUSE("conv[0].kernelY", p[0].kernelY = 0);
    REFUSE("conv[0].kernelX", p[0].kernelX = 1, p[0].padX = p[0].padW = 0);
    REFUSE("conv[1].kernelY", p[1] = stage(9, 6, 6, 9, 1, 1, 0, 9));
    REFUSE("conv[1].kernelY", p[1] = stage(9, 6, 6, 9, 9, 1, 4, 9));
    REFUSE("conv[2].kernelY", p[2] = stage(9, 6, 6, 4, 3, 1, 1, 1));
    REFUSE("conv[0].dilationY", p[0].dilationY = 2, p[0].padY = p[0].padH = 2);
    REFUSE("conv[1].dilationX", p[1].dilationX = 2, p[1].padX = p[1].padW = 2);
    REFUSE("conv[0].strideY", p[0] = stage(4, 6, 6, 9, 1, 4, 0, 1));
    if (!is_small())
        REFUSE("conv[1].strideX", p[1].strideX = 2, p[1].dstW = 3);
    else
        REFUSE("conv[2].padY", p[2] = stage(9, 6, 6, 4, 1, 1, 1, 1));
    REFUSE("conv[1].strideY", p[1].strideY = 0);
    REFUSE("conv[2].strideY", p[2] = stage(9, 6, 6, 4, 1, 2, 0, 1));
    REFUSE("conv[0].group", p[0] = stage(4, 6, 6, 8, 1, 1, 0, 2));
    REFUSE("conv[0].group", p[0].group = 0);
    REFUSE("conv[1].group", p[1].group = 3);
    REFUSE("conv[1].dstC", p[1] = stage(9, 6, 6, 18, 3, 1, 1, 9));
    REFUSE("conv[2].group", p[2] = stage(9, 6, 6, 9, 1, 1, 0, 9));
    REFUSE("conv[1].srcC", p[1] = stage(8, 6, 6, 8, 3, 1, 1, 8));
    REFUSE("conv[1].srcH", p[1] = stage(9, 7, 6, 9, 3, 1, 1, 9));
    REFUSE("conv[2].srcW", p[2] = stage(9, 6, 5, 4, 1, 1, 0, 1));
    REFUSE("conv[0].dstH", p[0].dstH = 5);
    REFUSE("conv[2].dstW", p[2].dstW = 7);
    REFUSE("conv[1].padY", p[1].padY = SIZE_MAX);
    REFUSE("conv[0].srcH", p[0].srcH = huge);
    REFUSE("conv[1].activation", p[1].activation = (SimdConvolutionActivationType)11);
    REFUSE("conv[2].dstC", p[2].dstC = 5);
    if (!is_small()) {
        REFUSE("conv[2].dstH", p[2] = stage(9, 6, 6, 4, 1, 1, 1, 1));
        REFUSE("conv[2].dstW", p[2].padW = 1, p[2].dstW = 7);
    }
    REFUSE("conv of batch", j.batch = SIZE_MAX / 16);
    REFUSE("conv[0].group", j = without(j, true), p[0].group = 3);
    REFUSE("conv[1].strideY", j = without(j, true), p[1] = stage(9, 6, 6, 4, 1, 2, 0, 1));
    REFUSE("conv[1].group", j = without(j, false), p[1].group = 3);
    REFUSE("conv[0].strideX", j = without(j, false), p[0].strideX = 4, p[0].dstW = 2);
    REFUSE("conv[1].srcC", j = without(j, true), p[1].srcC = 8);
}

/* One of the arrays of weights is missing. */
static void set_one_less(const void * job, void * context, void * const * a)
{
    const struct check_layer * l = job;
    struct stages weight = split(l, a[0], weight_of);
    weight.at[1] = NULL;
    if (is_small())
        SimdSynetMergedConvolution16bSetParams(context, weight.at, NULL, NULL);
    else
        SimdSynetMergedConvolution32fSetParams(context, weight.at, NULL, NULL, NULL);
}

static void refusals_of_calls(void)
{
    struct check_layer j = block(4, 6, 6, 9, 1, 3, 1, 4);
    check_case(family->set_params, "without a weight");
    check_in("weight", CHECK_32F, check_layer_count(&j, CHECK_WEIGHT), CHECK_RANDOM);
    check_open(check_layer_init);
    check_refused(CHECK_VALUE, "conv[1].weight", set_one_less, &j);
    j.p[2].activation = SimdConvolutionActivationPrelu;
    check_layer_refuse_calls(&j);
    check_layer_refuse_missing(&j, CHECK_PARAMS, "conv[2].params");
}

/* ---- benchmarks: blocks of MobileNetV2 */

static void bench_case(struct check_layer j)
{
    double flops = 0;
    for (size_t i = 0; i < j.stages; ++i)
        flops += 2.0 * (double)weight_of(&j.p[i]) * (double)(j.p[i].dstH * j.p[i].dstW);
    void * a[CHECK_NO_ARRAY];
    declare(&j, CHECK_RANDOM, a);
    check_layer_bench(&j, flops);
}

static void bench(void)
{
    if (!check_timed())
        return;
    bench_case(without(block(1, 112, 112, 32, 1, 3, 1, 16), true));
    bench_case(block(16, 112, 112, 96, 1, 3, 2, 24));
    bench_case(block(24, 56, 56, 144, 1, 3, 1, 24));
    bench_case(block(32, 28, 28, 192, 1, 3, 1, 32));
    bench_case(block(64, 14, 14, 384, 1, 3, 1, 64));
    bench_case(block(96, 14, 14, 576, 1, 3, 1, 96));
    bench_case(block(96, 14, 14, 576, 1, 3, 2, 160));
    bench_case(block(160, 7, 7, 960, 1, 3, 1, 160));
    bench_case(without(block(1, 56, 56, 128, 1, 3, 1, 128), true));
    bench_case(without(block(1, 14, 14, 512, 1, 3, 1, 512), true));
}

/* Called by their addresses, they have frames of their own: together in one, they would take much of the stack of `--stack 64`. */
static void (*const cases[])(void) = {tails, panels, joined_pixels, columns, fills,
                                      batches, cuts, refusals, refusals_of_calls, bench};

static void all_cases(size_t random)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i)
        cases[i]();
    for (size_t n = 0; n < check_count(random); ++n)
        run_case(random_shape(), check_random(0, 15) ? CHECK_RANDOM : (enum check_fill)check_random(0, CHECK_FILLS - 1));
    const struct check_layer empty = block(4, 6, 6, 9, 1, 3, 1, 0);
    check_layer_empty(&empty);
}

CHECK_FAMILY(merged_convolution_32f)
{
    family = &floats;
    all_cases(3000);
}

CHECK_FAMILY(merged_convolution_16b)
{
    family = &small;
    all_cases(1500);
}
