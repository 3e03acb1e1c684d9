/*
 * Convolutions with few outputs, for which most columns of a GEMM tile would be unused.
 *
 * NHWC: vectors run along the sum. V32F_N sums are computed at a time, for V32F_N / outputs pixels, each sum in a vector;
 * the lanes of all of them are added up together, which gives the results in the order of memory. With 3 outputs a fourth is
 * computed and omitted. 64 x 56 x 56 to 1 takes a quarter of the time of the tile, to 4 two thirds. If g->prefetch is given,
 * whatever it is, pixels are fetched two blocks ahead: 192x146x146 to 1 takes 0.25 to 0.8 of the time, to 4 0.3 to 0.4, but
 * 192x20x20, which is in the caches, 1.2 to 1.5 times as long to 1 (Zen 4).
 *
 * NHWC with few outputs in each of several groups: the same, with neighbouring groups in place of pixels. 1408x16x16 to 128 by
 * 1x1 in 128 groups takes 0.28 of the time of the tile, 480x10x10 to 30 by 3x3 with stride 2 in 15 groups 0.15.
 *
 * NCHW: vectors run along the pixels of a row, loaded from the planes, with a multiply-add for each input, tap and output.
 * The last vector of a row overlaps the one before instead of being partial; it writes the same values again. 16 x 224 x 224
 * to 1 takes 0.38 of the time of the tile and its panels, 3x3 a quarter. More than SN_FEW outputs are computed for two
 * vectors at a time: 64x16x16 to 12 by 11x11 takes 0.65 of the time (avx2 0.76), 4x64x64 to 20 by 9x9 0.56 (0.86). All
 * pixels for one part of the outputs, then for the next, take 0.95 to 0.98 of the time with AVX-512, but 1.05 to 1.09 with
 * AVX2 (Xeon with AMX).
 */
#include "contract/convolution_32f.h"
#include "kernels/activate.h"
#include "kernels/install.h"
#include "kernels/sums.h"

/* ---- NHWC */

/*
 * Multiplies a vector of inputs of each pixel, from `at` on, by the weights: V32F_N steps of the sum, or `rest`. Pixels of a
 * whole block are `step` apart, and p has every third; otherwise p has all of them, with the last one repeated for those
 * that are missing. fetch: prefetches the block after the next one.
 */
SN_INLINE void block_step(v32f * sum, const sn_32f * const * p, size_t step, size_t at, const sn_32f * b, size_t depth,
                          size_t rest, int outputs, bool whole, bool fetch)
{
    v32f w[4];
    SN_UNROLL for (size_t o = 0; o < (size_t)outputs; ++o)
        w[o] = rest == V32F_N ? v_load_32f(b + o * depth) : v_load_tail_32f(b + o * depth, rest);
    SN_UNROLL for (size_t i = 0; i < (size_t)(V32F_N / outputs); ++i)
    {
        const sn_32f * from = (whole ? p[i / 3] + i % 3 * step : p[i]) + at;
        if (fetch)
            SN_PREFETCH((uintptr_t)from + 2 * (size_t)(V32F_N / outputs) * step * sizeof(float));
        const v32f x = rest == V32F_N ? v_load_32f(from) : v_load_tail_32f(from, rest);
        SN_UNROLL for (int o = 0; o < outputs; ++o)
            sum[(int)i * outputs + o] = v_fma_32f(x, w[o], sum[(int)i * outputs + o]);
    }
}

/* The activations other than min and max. A call, since they need the registers that sums occupy. */
static __attribute__((noinline)) v32f activate_sums(v32f v, enum sn_activation activation, const sn_32f * slope,
                                                    const sn_32f * param)
{
    if (activates_rows(activation)) {
        sn_32f lanes[V32F_N];
        v_store_32f(lanes, v);
        ACTIVATE_ROWS(lanes, 1, V32F_N, 0, activation, param);
        return v_load_32f(lanes);
    }
    const v32f slopes = slope ? v_load_32f(slope) : v_zero_32f();
    return activate_32f(v, activation, slopes, v_set_32f(param[0]), v_set_32f(param[1]));
}

/* Stores the first `count` lanes; of each four with 3 outputs the first three. */
SN_INLINE void store_sums(sn_32f * dst, v32f v, size_t count, bool three)
{
    if (three) { /* every fourth lane is omitted */
        int32_t from[V32F_N];
        for (int i = 0; i < V32F_N; ++i)
            from[i] = i / 3 * 4 % V32F_N + i % 3;
        v = v_lookup_32f(v, v_load_32i(from));
    }
    if (count == V32F_N)
        v_store_32f(dst, v);
    else
        v_store_tail_32f(dst, v, count);
}

/*
 * `pixels` rows of A from a on, V32F_N / outputs of them if the block is whole. outputs (1, 2 or 4) is a compile-time
 * constant, as is `single`, for sums that are one vector long: without loops 16 channels take 0.8 of the time.
 */
SN_INLINE void block(const struct sn_gemm_32f * g, const sn_32f * a, sn_32f * c, size_t pixels, int outputs, bool whole,
                     bool single, bool fetch)
{
    const size_t segments = single ? 1 : g->segments, length = single ? V32F_N : g->length;
    const size_t depth = segments * length, step = g->aStepX;
    v32f sum[V32F_N];
    SN_UNROLL for (int i = 0; i < V32F_N; ++i) sum[i] = v_zero_32f();
    for (size_t s = 0; s < segments; ++s) {
        const sn_32f * p[V32F_N], * b = g->b + s * length;
        SN_UNROLL for (size_t i = 0; i < (size_t)(V32F_N / outputs); i += whole ? 3 : 1)
            p[whole ? i / 3 : i] = a + g->segment[s] + (whole ? i : sn_min(i, pixels - 1)) * step;
        size_t j = 0;
        for (; j + V32F_N <= length; j += V32F_N)
            block_step(sum, p, step, j, b + j, depth, V32F_N, outputs, whole, fetch);
        if (j < length)
            block_step(sum, p, step, j, b + j, depth, length - j, outputs, whole, false);
    }
    v32f v = limit(v_add_32f(sums_of_lanes(sum), v_load_32f(g->bias)), limits_of(g->activation, g->param));
    if (second_pass(g->activation))
        v = activate_sums(v, g->activation, g->slope, g->param);
    if (outputs == 4 && g->columns == 3)
        store_sums(c, v, pixels * 3, true);
    else
        store_sums(c, v, whole ? V32F_N : pixels * (size_t)outputs, false);
}

/* The pixels of a line, as separate functions so that the compiler can use all registers in each. */
SN_INLINE void line(const struct sn_gemm_32f * g, const sn_32f * a, sn_32f * c, int outputs, bool single,
                    bool fetch)
{
    const size_t pixels = (size_t)(V32F_N / outputs);
    for (size_t x = 0; x + pixels <= g->width; x += pixels)
        block(g, a + x * g->aStepX, c + x * g->columns, pixels, outputs, true, single, fetch);
}

/* The pixels at its end that are not a whole block. */
SN_INLINE void end_of_line(const struct sn_gemm_32f * g, const sn_32f * a, sn_32f * c, int outputs)
{
    const size_t pixels = g->width % (size_t)(V32F_N / outputs), x = g->width - pixels;
    if (pixels)
        block(g, a + x * g->aStepX, c + x * g->columns, pixels, outputs, false, false, false);
}

#define LINE(outputs)                                                                                                       \
    static __attribute__((noinline)) void line_##outputs(const struct sn_gemm_32f * g, const sn_32f * a, sn_32f * c)        \
    {                                                                                                                       \
        line(g, a, c, outputs, false, false);                                                                               \
    }                                                                                                                       \
    static __attribute__((noinline)) void far_##outputs(const struct sn_gemm_32f * g, const sn_32f * a, sn_32f * c)         \
    {                                                                                                                       \
        line(g, a, c, outputs, false, true);                                                                                \
    }                                                                                                                       \
    static __attribute__((noinline)) void single_##outputs(const struct sn_gemm_32f * g, const sn_32f * a, sn_32f * c)      \
    {                                                                                                                       \
        line(g, a, c, outputs, true, false);                                                                                \
    }                                                                                                                       \
    static __attribute__((noinline)) void end_##outputs(const struct sn_gemm_32f * g, const sn_32f * a, sn_32f * c)         \
    {                                                                                                                       \
        end_of_line(g, a, c, outputs);                                                                                      \
    }
LINE(1) LINE(2) LINE(4)

/* ---- NHWC, short sums: lanes are results
 *
 * Batch 4, 2x160x160 to 2 by 1x1 takes 0.3 of the time of vectors along the sum and of the tile (avx2 0.4), 3x224x224 to 3
 * 0.36 (0.62), 6x160x160 to 6 0.68, 2x160x160 to 2 by 3x3 0.35 (Xeon with AMX).
 */

/* What lanes have: the results of `pixels` pixels, which are `step` floats apart; other lanes are not used. */
struct results {
    SN_ALIGNED sn_32f weight[SN_FEW_SHORT * V32F_N], bias[V32F_N], slope[V32F_N];
    int32_t input[V32F_N]; /* the first one of the result, in a vector of the inputs */
    size_t pixels;
};

static void find_results(const struct sn_gemm_32f * g, struct results * r)
{
    const size_t depth = g->segments * g->length;
    r->pixels = sn_min(V32F_N / g->columns, (V32F_N - g->length) / g->aStepX + 1);
    for (size_t l = 0, pixel = 0, o = 0; l < V32F_N; ++l, ++o) {
        if (o == g->columns)
            o = 0, ++pixel;
        r->input[l] = pixel < r->pixels ? (int32_t)(pixel * g->aStepX) : 0;
        r->bias[l] = g->bias[o];
        r->slope[l] = g->slope ? g->slope[o] : 0;
        for (size_t k = 0; k < depth; ++k)
            r->weight[k * V32F_N + l] = g->b[o * depth + k];
    }
}

/* `vectors` vectors of results, a constant, whose inputs begin at a; if it is 1, n inputs can be read, and `count` results
 * are stored. The lanes behind the results of a vector are overwritten by the next one. */
SN_INLINE void short_sums(const struct sn_gemm_32f * g, const struct results * r, const sn_32f * a, sn_32f * c, int vectors,
                          size_t n, size_t count)
{
    const size_t step = r->pixels * g->aStepX, results = r->pixels * g->columns;
    const sn_32f * w = r->weight;
    const v32i input = v_load_32i(r->input), one = v_set_32i(1);
    v32f sum[4];
    SN_UNROLL for (int v = 0; v < vectors; ++v) sum[v] = v_load_32f(r->bias);
    for (size_t s = 0; s < g->segments; ++s) {
        const sn_32f * from = a + g->segment[s];
        v32f x[4];
        SN_UNROLL for (int v = 0; v < vectors; ++v)
            x[v] = vectors > 1 ? v_load_32f(from + (size_t)v * step) : v_load_tail_32f(from, n);
        v32i at = input;
        for (size_t k = 0; k < g->length; ++k, w += V32F_N, at = v_add_32i(at, one)) {
            const v32f weight = v_load_32f(w);
            SN_UNROLL for (int v = 0; v < vectors; ++v) sum[v] = v_fma_32f(v_lookup_32f(x[v], at), weight, sum[v]);
        }
    }
    const struct limits limits = limits_of(g->activation, g->param);
    SN_UNROLL for (int v = 0; v < vectors; ++v)
    {
        v32f y = limit(sum[v], limits);
        if (second_pass(g->activation))
            y = activate_sums(y, g->activation, g->slope ? r->slope : NULL, g->param);
        if (vectors > 1)
            v_store_32f(c + (size_t)v * results, y);
        else
            v_store_tail_32f(c, y, count);
    }
}

static __attribute__((noinline, unused)) void short_lines(const struct sn_gemm_32f * g)
{
    struct results r;
    find_results(g, &r);
    const size_t inputs = (g->width - 1) * g->aStepX + g->length, results = g->width * g->columns;
    const size_t pixels = r.pixels, last = 3 * pixels;
    for (size_t y = 0; y < g->height; ++y) {
        const sn_32f * a = g->a + y * g->aStepY;
        sn_32f * c = g->c + y * g->cStepY;
        size_t x = 0;
        for (; x + 4 * pixels <= g->width && (x + last) * g->aStepX + V32F_N <= inputs &&
               (x + last) * g->columns + V32F_N <= results; x += 4 * pixels)
            short_sums(g, &r, a + x * g->aStepX, c + x * g->columns, 4, 0, 0);
        for (; x < g->width; x += pixels)
            short_sums(g, &r, a + x * g->aStepX, c + x * g->columns, 1, sn_min(inputs - x * g->aStepX, V32F_N),
                       sn_min(g->width - x, pixels) * g->columns);
    }
}

typedef void (*line_fn)(const struct sn_gemm_32f * g, const sn_32f * a, sn_32f * c);

static void few_nhwc_32f(const struct sn_gemm_32f * g)
{
    if (V32F_N >= SN_FEW_SHORT_LANES && g->shortSums) {
        short_lines(g);
        return;
    }
    static const line_fn lines[][4] = {{line_1, line_2, line_4, line_4}, {single_1, single_2, single_4, single_4},
        {far_1, far_2, far_4, far_4}};
    static const line_fn ends[4] = {end_1, end_2, end_4, end_4};
    const bool single = g->segments == 1 && g->length == V32F_N;
    for (size_t y = 0; y < g->height; ++y) {
        lines[g->prefetch ? 2 : single][g->columns - 1](g, g->a + y * g->aStepY, g->c + y * g->cStepY);
        ends[g->columns - 1](g, g->a + y * g->aStepY, g->c + y * g->cStepY);
    }
}

/* ---- NHWC, several groups */

/*
 * Multiplies a vector of inputs of each group, or `rest` of them, by the weights of its outputs. `outputs`, 1, 2 or 4, is a
 * compile-time constant, as is `whole`: otherwise groups after number `last` do not exist. The pointer is hidden from the compiler,
 * which would keep 16 of them in memory.
 */
SN_INLINE void groups_step(v32f * sum, const sn_32f * from, size_t inputs, size_t last, const sn_32f * weight, size_t rest,
                           int outputs, bool whole)
{
    SN_UNROLL for (size_t i = 0; i < (size_t)(V32F_N / outputs); ++i)
    {
        const v32f x = v_keep_32f(rest == V32F_N ? v_load_32f(from) : v_load_tail_32f(from, rest));
        SN_UNROLL for (size_t o = i * (size_t)outputs; o < (i + 1) * (size_t)outputs; ++o)
            sum[o] = v_fma_32f(x, v_load_32f(weight + o * V32F_N), sum[o]);
        from += whole || i < last ? inputs : 0;
        __asm__("" : "+r"(from));
    }
}

/* Taps begin .. end - 1 of each line. */
struct taps {
    size_t begin, end;
};

/* Those of output pixel x that are pixels of the line. */
SN_INLINE struct taps taps_of(const struct sn_few_grouped_32f * f, size_t x)
{
    const size_t column = x * f->strideX, right = f->srcW + f->padX, step = f->dilationX; /* with columns of padding */
    struct taps taps = {0, f->kernelX};
    if (column < f->padX)
        taps.begin = sn_min(sn_ceil_div(f->padX - column, step), taps.end);
    if (column + (f->kernelX - 1) * step >= right)
        taps.end = column < right ? sn_ceil_div(right - column, step) : 0;
    return taps;
}

/* The sums of a unit, whose first group is `first`, at an output pixel. */
SN_INLINE v32f unit_sums(const struct sn_few_grouped_32f * f, size_t x, size_t first, const sn_32f * weight, int outputs,
                         bool whole)
{
    enum { SQUARE = V32F_N * V32F_N };
    const size_t inputs = f->inputs, tap = sn_ceil_div(inputs, V32F_N) * SQUARE, last = f->groups - 1 - first;
    const struct taps taps = taps_of(f, x);
    v32f sum[V32F_N];
    SN_UNROLL for (int i = 0; i < V32F_N; ++i) sum[i] = v_zero_32f();
    for (size_t ky = 0; ky < f->kernelY; ++ky, weight += f->kernelX * tap)
        for (size_t kx = taps.begin; kx < taps.end && f->line[ky]; ++kx) {
            const sn_32f * from = f->line[ky] + (x * f->strideX + kx * f->dilationX - f->padX) * f->srcPixel + first * inputs;
            const sn_32f * w = weight + kx * tap;
            size_t j = 0;
            for (; j + V32F_N <= inputs; j += V32F_N, w += SQUARE)
                groups_step(sum, from + j, inputs, last, w, V32F_N, outputs, whole);
            if (j < inputs)
                groups_step(sum, from + j, inputs, last, w, inputs - j, outputs, whole);
        }
    return sums_of_lanes(sum);
}

/* A unit for all pixels, so that its weights are in the L1 cache: pixel after pixel 480x10x10 to 60 by 3x3 in 15 groups takes
 * 1.4 times as long. */
SN_INLINE void unit_of_row(const struct sn_few_grouped_32f * f, size_t first, const sn_32f * weight, int outputs, bool whole)
{
    const size_t at = first * (size_t)outputs, groups = sn_min((size_t)(V32F_N / outputs), f->groups - first);
    const struct limits limits = limits_of(f->activation, f->param);
    const v32f bias = v_load_32f(f->bias + at);
    for (size_t x = 0; x < f->dstW; ++x) {
        v32f v = limit(v_add_32f(unit_sums(f, x, first, weight, outputs, whole), bias), limits);
        if (second_pass(f->activation))
            v = activate_sums(v, f->activation, f->slope ? f->slope + at : NULL, f->param);
        store_sums(f->dst + x * f->dstPixel + first * f->outputs, v, groups * f->outputs, outputs == 4 && f->outputs == 3);
    }
}

SN_INLINE void few_groups(const struct sn_few_grouped_32f * f, int outputs)
{
    const size_t groups = (size_t)(V32F_N / outputs), vectors = sn_ceil_div(f->inputs, V32F_N) * V32F_N;
    const sn_32f * weight = f->weight;
    size_t first = 0;
    for (; first + groups <= f->groups; first += groups, weight += f->kernelY * f->kernelX * vectors * V32F_N)
        unit_of_row(f, first, weight, outputs, true);
    if (first < f->groups)
        unit_of_row(f, first, weight, outputs, false);
}

#define FEW_GROUPS(outputs)                                                                                                 \
    static __attribute__((noinline)) void few_groups_##outputs(const struct sn_few_grouped_32f * f)                         \
    {                                                                                                                       \
        few_groups(f, outputs);                                                                                             \
    }
FEW_GROUPS(1) FEW_GROUPS(2) FEW_GROUPS(4)

static void few_grouped_32f(const struct sn_few_grouped_32f * f)
{
    static void (*const all[])(const struct sn_few_grouped_32f *) = {few_groups_1, few_groups_2, few_groups_4, few_groups_4};
    all[f->outputs - 1](f);
}

/* ---- NCHW */

/* The most vectors of a block, by outputs: with 16 registers gcc 12 has no more for sums. */
enum { LONG = 8, MANY = V32F_N == 16 };
static const size_t longest[] = {LONG, MANY ? 4 : 3, MANY ? 4 : 3, MANY ? 4 : 2};

/* Whole vectors from src on, the last one at src + last; outputs and vectors are compile-time constants. */
SN_INLINE void planes(const struct sn_few_nchw_32f * f, const sn_32f * src, sn_32f * dst, ptrdiff_t last, int outputs,
                      int vectors)
{
    v32f sum[4][LONG];
    SN_UNROLL for (int o = 0; o < outputs; ++o)
        SN_UNROLL for (int v = 0; v < vectors; ++v) sum[o][v] = v_set_32f(f->bias[o]);
    for (size_t k = 0; k < f->depth; ++k) {
        const sn_32f * from = src + f->offset[k];
        v32f w[4];
        SN_UNROLL for (int o = 0; o < outputs; ++o) w[o] = v_set_32f(f->weight[(size_t)o * f->step + k]);
        SN_UNROLL for (int v = 0; v < vectors; ++v)
        {
            const v32f x = v_load_32f(from + (v < vectors - 1 ? v * V32F_N : last));
            SN_UNROLL for (int o = 0; o < outputs; ++o) sum[o][v] = v_fma_32f(w[o], x, sum[o][v]);
        }
    }
    const struct limits limits = limits_of(f->activation, f->param);
    SN_UNROLL for (int o = 0; o < outputs; ++o)
        SN_UNROLL for (int v = 0; v < vectors; ++v)
            v_store_32f(dst + (size_t)o * f->dstPlane + (v < vectors - 1 ? v * V32F_N : last), limit(sum[o][v], limits));
}

/*
 * Rows that are shorter than a vector, two or four at a time: a single chain of multiply-adds is limited by their latency.
 * If fewer rows are left, the last is computed repeatedly.
 */
SN_INLINE void short_rows(const struct sn_few_nchw_32f * f, size_t y, int outputs)
{
    const int rows = outputs == 1 ? 4 : 2;
    v32f sum[4][4];
    size_t row[4];
    SN_UNROLL for (int i = 0; i < rows; ++i) row[i] = sn_min(y + (size_t)i, f->rows - 1);
    SN_UNROLL for (int o = 0; o < outputs; ++o)
        SN_UNROLL for (int i = 0; i < rows; ++i) sum[o][i] = v_set_32f(f->bias[o]);
    for (size_t k = 0; k < f->depth; ++k) {
        const sn_32f * from = f->src + f->offset[k];
        v32f x[4];
        SN_UNROLL for (int i = 0; i < rows; ++i) x[i] = v_load_tail_32f(from + row[i] * f->srcRow, f->columns);
        SN_UNROLL for (int o = 0; o < outputs; ++o)
        {
            const v32f w = v_set_32f(f->weight[(size_t)o * f->step + k]);
            SN_UNROLL for (int i = 0; i < rows; ++i) sum[o][i] = v_fma_32f(w, x[i], sum[o][i]);
        }
    }
    const struct limits limits = limits_of(f->activation, f->param);
    SN_UNROLL for (int o = 0; o < outputs; ++o)
        SN_UNROLL for (int i = 0; i < rows; ++i)
            v_store_tail_32f(f->dst + (size_t)o * f->dstPlane + row[i] * f->dstRow, limit(sum[o][i], limits), f->columns);
}

#define SHORT_ROWS(outputs)                                                                                                 \
    static __attribute__((noinline)) void short_rows_##outputs(const struct sn_few_nchw_32f * f)                            \
    {                                                                                                                       \
        for (size_t y = 0; y < f->rows; y += outputs == 1 ? 4 : 2)                                                          \
            short_rows(f, y, outputs);                                                                                      \
    }
SHORT_ROWS(1) SHORT_ROWS(2) SHORT_ROWS(3) SHORT_ROWS(4)

typedef void (*planes_fn)(const struct sn_few_nchw_32f * f, const sn_32f * src, sn_32f * dst, ptrdiff_t last);

#define PLANES(outputs, vectors)                                                                                            \
    static __attribute__((noinline)) void planes_##outputs##x##vectors(                                                     \
        const struct sn_few_nchw_32f * f, const sn_32f * src, sn_32f * dst, ptrdiff_t last)                                 \
    {                                                                                                                       \
        planes(f, src, dst, last, outputs, vectors);                                                                        \
    }
PLANES(1, 1) PLANES(1, 2) PLANES(1, 3) PLANES(1, 4) PLANES(1, 5) PLANES(1, 6) PLANES(1, 7) PLANES(1, 8)
PLANES(2, 1) PLANES(2, 2) PLANES(2, 3) PLANES(2, 4)
PLANES(3, 1) PLANES(3, 2) PLANES(3, 3) PLANES(3, 4)
PLANES(4, 1) PLANES(4, 2) PLANES(4, 3) PLANES(4, 4)

/* By outputs and vectors. */
static const planes_fn instances[][LONG] = {
    {planes_1x1, planes_1x2, planes_1x3, planes_1x4, planes_1x5, planes_1x6, planes_1x7, planes_1x8},
    {planes_2x1, planes_2x2, planes_2x3, planes_2x4},
    {planes_3x1, planes_3x2, planes_3x3, planes_3x4},
    {planes_4x1, planes_4x2, planes_4x3, planes_4x4}};

/* Row y, in blocks of about equal length. */
static void row(const struct sn_few_nchw_32f * f, size_t y)
{
    const size_t columns = f->columns, vectors = sn_ceil_div(columns, V32F_N);
    const size_t count = sn_ceil_div(vectors, longest[f->outputs - 1]);
    for (size_t i = 0; i < count; ++i) {
        const size_t first = i * vectors / count, end = (i + 1) * vectors / count, x = first * V32F_N;
        const ptrdiff_t last = (ptrdiff_t)sn_min(end * V32F_N, columns) - V32F_N - (ptrdiff_t)x;
        instances[f->outputs - 1][end - first - 1](f, f->src + y * f->srcRow + x, f->dst + y * f->dstRow + x, last);
    }
}

/* ---- NCHW, more outputs: two vectors of pixels, of any rows, for all outputs of a part */

/* The outputs of a part: with its sums in registers; an odd number computes one more, which is not stored. */
enum { PART = V32F_N == 16 ? 12 : 6 };

/* Two vectors of pixels: where they begin in the first plane and in the result. */
struct two {
    const sn_32f * src[2];
    sn_32f * dst[2];
};

/* `count` outputs of a part from their weights on; `outputs`, as many or one more, and `whole`, for rows that are not shorter
 * than a vector, are compile-time constants. */
SN_INLINE void two_vectors(const struct sn_few_nchw_32f * f, const struct two * at, const sn_32f * weight,
                           const sn_32f * bias, size_t count, size_t plane, int outputs, bool whole)
{
    v32f sum[PART][2];
    SN_UNROLL for (int o = 0; o < outputs; ++o)
        sum[o][0] = sum[o][1] = v_set_32f(bias[sn_min((size_t)o, count - 1)]);
    for (size_t k = 0; k < f->depth; ++k, weight += count) {
        v32f x[2];
        SN_UNROLL for (int v = 0; v < 2; ++v)
        {
            const sn_32f * from = at->src[v] + f->offset[k];
            x[v] = v_keep_32f(whole ? v_load_32f(from) : v_load_tail_32f(from, f->columns));
        }
        SN_UNROLL for (int o = 0; o < outputs; ++o)
        {
            const v32f w = v_keep_32f(v_set_32f(weight[o]));
            SN_UNROLL for (int v = 0; v < 2; ++v) sum[o][v] = v_fma_32f(w, x[v], sum[o][v]);
        }
    }
    const struct limits limits = limits_of(f->activation, f->param);
    SN_UNROLL for (int o = 0; o < outputs; ++o)
        SN_UNROLL for (int v = 0; v < 2; ++v)
        {
            if (o == outputs - 1 && count < (size_t)outputs)
                break;
            sn_32f * to = at->dst[v] + plane + (size_t)o * f->dstPlane;
            if (whole)
                v_store_32f(to, limit(sum[o][v], limits));
            else
                v_store_tail_32f(to, limit(sum[o][v], limits), f->columns);
        }
}

#define TWO_VECTORS(outputs)                                                                                                \
    static __attribute__((noinline)) void two_##outputs(const struct sn_few_nchw_32f * f, const struct two * at,            \
                                                        const sn_32f * w, const sn_32f * bias, size_t count, size_t plane)  \
    {                                                                                                                       \
        two_vectors(f, at, w, bias, count, plane, outputs, true);                                                           \
    }                                                                                                                       \
    static __attribute__((noinline)) void short_##outputs(const struct sn_few_nchw_32f * f, const struct two * at,          \
                                                          const sn_32f * w, const sn_32f * bias, size_t count,              \
                                                          size_t plane)                                                     \
    {                                                                                                                       \
        two_vectors(f, at, w, bias, count, plane, outputs, false);                                                          \
    }

typedef void (*two_fn)(const struct sn_few_nchw_32f * f, const struct two * at, const sn_32f * w, const sn_32f * bias,
                       size_t count, size_t plane);

#if V32F_N == 16
TWO_VECTORS(4) TWO_VECTORS(6) TWO_VECTORS(8) TWO_VECTORS(10) TWO_VECTORS(12)
static const two_fn pairs[][2] = {{two_4, short_4}, {two_6, short_6}, {two_8, short_8}, {two_10, short_10},
    {two_12, short_12}};
#else
TWO_VECTORS(4) TWO_VECTORS(6)
static const two_fn pairs[][2] = {{two_4, short_4}, {two_6, short_6}};
#endif

/* Vector i of the rows; the last of a row overlaps the one before. */
SN_INLINE void place(const struct sn_few_nchw_32f * f, size_t i, struct two * at, int v)
{
    const size_t vectors = sn_ceil_div(f->columns, V32F_N), y = i / vectors;
    const size_t x = f->columns < V32F_N ? 0 : sn_min(i % vectors * V32F_N, f->columns - V32F_N);
    at->src[v] = f->src + y * f->srcRow + x;
    at->dst[v] = f->dst + y * f->dstRow + x;
}

static void more_outputs(const struct sn_few_nchw_32f * f)
{
    const size_t all = f->rows * sn_ceil_div(f->columns, V32F_N), parts = sn_ceil_div(f->outputs, PART);
    const bool tail = f->columns < V32F_N;
    for (size_t i = 0; i < all; i += 2) {
        struct two at;
        place(f, i, &at, 0);
        place(f, sn_min(i + 1, all - 1), &at, 1);
        for (size_t n = 0; n < parts; ++n) { /* of about equal size */
            const size_t first = n * f->outputs / parts, count = (n + 1) * f->outputs / parts - first;
            pairs[(count + 1) / 2 - 2][tail](f, &at, f->weight + first * f->depth, f->bias + first, count,
                                             first * f->dstPlane);
        }
    }
}

/* In a second pass over results that have just been written. */
static void activate(const struct sn_few_nchw_32f * f, sn_32f * dst)
{
    const v32f p0 = v_set_32f(f->param[0]), p1 = v_set_32f(f->param[1]);
    if (activates_rows(f->activation)) {
        ACTIVATE_ROWS(dst, f->outputs, f->columns, f->dstPlane, f->activation, f->param);
        return;
    }
    for (size_t o = 0; o < f->outputs; ++o, dst += f->dstPlane) {
        const v32f slope = f->slope ? v_set_32f(f->slope[o]) : v_zero_32f();
        for (size_t x = 0; x < f->columns; x += V32F_N) {
            const size_t n = sn_min(f->columns - x, V32F_N);
            v_store_tail_32f(dst + x, activate_32f(v_load_tail_32f(dst + x, n), f->activation, slope, p0, p1), n);
        }
    }
}

static void few_nchw_32f(const struct sn_few_nchw_32f * f)
{
    static void (*const all[])(const struct sn_few_nchw_32f *) = {short_rows_1, short_rows_2, short_rows_3, short_rows_4};
    if (f->outputs > SN_FEW)
        more_outputs(f);
    else if (f->columns < V32F_N)
        all[f->outputs - 1](f);
    for (size_t y = 0; y < f->rows; ++y) {
        if (f->columns >= V32F_N && f->outputs <= SN_FEW)
            row(f, y);
        if (second_pass(f->activation))
            activate(f, f->dst + y * f->dstRow);
    }
}

SN_INSTALL(few_32f, convolution_32f)
{
    slots->few_nhwc = few_nhwc_32f;
    slots->few_nchw = few_nchw_32f;
    slots->few_nchw_part = PART;
    slots->few_grouped = few_grouped_32f;
}
