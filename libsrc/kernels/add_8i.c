/*
 * The sum of two byte tensors with scales and shifts, exactly the formula in float32:
 *
 *   t = (a * aScale + aShift + b * bScale + bShift) * cScale + cShift,   result: nearest integer, limited to 0 .. upper
 *
 * Bytes. Every 32-bit lane of a vector holds four; byte k of each lane is used in place or shifted, and the four results are
 * put back the same way. Widening in order would cost a shuffle for each vector.
 *
 * Products. A byte in the low bits of 2^23 is the float 2^23 + a: no conversion is needed. fma(2^23 + a, scale, -2^23 *
 * scale) is a * scale, rounded once, because 2^23 * scale is exact: it equals the product in the formula. (A zero may have
 * the other sign, which does not change the result.) The next byte of the lane, used in place, gives 2^23 + 256 * a, and
 * with a scale 256 times smaller the same product: this saves a shift. Shifts, conversions and additions compete for two
 * execution units.
 *
 * Variants (enum variant). If the scales guarantee that |t| stays below 2^31 and upper is 255, clamping is left to the
 * saturating pack; the scales are then finite and the products exact. Tensors without any shift, as after a ReLU, skip the
 * three additions: 1.25 times as fast. Otherwise (WIDE) t is clamped as a float, which also converts NaN to 0, and products
 * are plain multiplications.
 *
 * Layouts. A long row of NCHW has one set of parameters. For NHWC a table holds the parameters of up to CHANNELS channels in
 * the order of the bytes, and is used for four pixels at a time; with few channels it covers a group of pixels, which the
 * code treats as one pixel. Short rows and small numbers of pixels, for which a table is slower, are widened in order,
 * and their parameters are looked up.
 */
#include "contract/add.h"
#include "kernels/install.h"

#include <math.h>
#include <string.h>

enum variant { PLAIN, SHIFTED, WIDE };

/* Products are computed by fma from bytes in the low bits of 2^23. */
SN_INLINE bool is_fused(enum variant variant) { return V_FMA && variant != WIDE; }

/* Parameters for one byte of each lane; Base is -2^23 * scale. For odd bytes both are 256 times smaller, if fused. */
struct parameters {
    v32f aScale, aBase, aShift, bScale, bBase, bShift, cScale, cShift;
};

enum { FIELDS = 8 };

static const float odd_scale = 0x1p-8f;

/* Byte k of each lane times the scale. */
SN_INLINE v32f product(v32i x, int k, v32f scale, v32f base, enum variant variant)
{
    if (!is_fused(variant))
        return v_mul_32f(v_cvt_32i_32f(v_and_32i(k ? v_shr_32i(x, 8 * k) : x, v_set_32i(0xFF))), scale);
    const v32i whole = v_put_byte_32i(v_set_32i(0x4B000000), k < 2 ? x : v_shr_32i(x, 16), k % 2);
    return v_fma_32f(v_cast_32i_32f(whole), scale, base);
}

/* Computes the result from the products. */
SN_INLINE v32i sum_of(const struct parameters * l, v32f a, v32f b, enum variant variant, v32f upper)
{
    if (variant == PLAIN)
        return v_cvt_32f_32i(v_mul_32f(v_add_32f(a, b), l->cScale));
    const v32f sum = v_add_32f(v_add_32f(a, l->aShift), v_add_32f(b, l->bShift));
    const v32f t = v_add_32f(v_mul_32f(sum, l->cScale), l->cShift);
    return v_cvt_32f_32i(variant == WIDE ? v_min_32f(v_max_32f(t, v_zero_32f()), upper) : t);
}

SN_INLINE v32i add_lanes(const struct parameters * l, v8u a, v8u b, int k, enum variant variant, v32f upper)
{
    return sum_of(l, product(v_cast_8u_32i(a), k, l->aScale, l->aBase, variant),
                  product(v_cast_8u_32i(b), k, l->bScale, l->bBase, variant), variant, upper);
}

/* ---- choice of the variant */

/* The arrays of parameters in the order of the formula. */
enum { A_SCALE, A_SHIFT, B_SCALE, B_SHIFT, C_SCALE, C_SHIFT, ARRAYS };

/* V32F_N values, or `left` if that is fewer. */
SN_INLINE v32f load_some(const sn_32f * p, size_t left)
{
    return left >= V32F_N ? v_load_32f(p) : v_load_tail_32f(p, left);
}

/* An upper bound of |t|, huge if a scale is too large for a base; the arguments are absolute values. */
SN_INLINE v32f bound_of(v32f scales, v32f shifts, v32f cScale, v32f cShift)
{
    const v32f t = v_add_32f(v_mul_32f(v_add_32f(v_mul_32f(v_set_32f(256), scales), shifts), cScale), cShift);
    return v_add_32f(t, v_mul_32f(scales, v_set_32f(0x1p-70f)));
}

/* Whether the scale divided for odd bytes (odd_scale) is exact. */
SN_INLINE v32m is_divisible(v32f scale)
{
    return v_eq_32f(v_mul_32f(v_mul_32f(scale, v_set_32f(odd_scale)), v_set_32f(1 / odd_scale)), scale);
}

/* With scales and shifts for which every result is below 2^30, t in float32 and its rounding stay below 2^31. */
static enum variant variant_of(const sn_32f * const * array, size_t channels, uint8_t upper)
{
    const v32f zero = v_zero_32f();
    v32f good = v_set_32f(1), shifted = zero;
    for (size_t c = 0; c < channels; c += V32F_N) {
        v32f x[ARRAYS];
        SN_UNROLL for (int j = 0; j < ARRAYS; ++j) x[j] = load_some(array[j] + c, channels - c);
        const v32m divisible[2] = {is_divisible(x[A_SCALE]), is_divisible(x[B_SCALE])};
        SN_UNROLL for (int j = 0; j < ARRAYS; ++j) x[j] = v_abs_32f(x[j]);
        const v32f shifts = v_add_32f(x[A_SHIFT], x[B_SHIFT]);
        const v32f most = bound_of(v_add_32f(x[A_SCALE], x[B_SCALE]), shifts, x[C_SCALE], x[C_SHIFT]);
        good = v_select_32f(v_lt_32f(most, v_set_32f(0x1p30f)), good, zero);
        good = v_select_32f(divisible[1], v_select_32f(divisible[0], good, zero), zero);
        shifted = v_add_32f(shifted, v_add_32f(shifts, x[C_SHIFT]));
    }
    if (upper < 255 || v_any(v_eq_32f(good, zero)))
        return WIDE;
    return v_any(v_lt_32f(zero, shifted)) ? SHIFTED : PLAIN;
}

/* ---- long rows of NCHW */

SN_INLINE struct parameters parameters_of(const sn_32f * const * array, size_t c, float factor)
{
    struct parameters l;
    l.aScale = v_set_32f(array[A_SCALE][c] * factor);
    l.bScale = v_set_32f(array[B_SCALE][c] * factor);
    l.cScale = v_set_32f(array[C_SCALE][c]);
    l.aShift = v_set_32f(array[A_SHIFT][c]);
    l.bShift = v_set_32f(array[B_SHIFT][c]);
    l.cShift = v_set_32f(array[C_SHIFT][c]);
    l.aBase = v_mul_32f(l.aScale, v_set_32f(-0x1p23f));
    l.bBase = v_mul_32f(l.bScale, v_set_32f(-0x1p23f));
    return l;
}

/* l[0] is for the even bytes, l[1] for the odd ones. */
SN_INLINE v8u add_row_vector(const struct parameters * l, v8u a, v8u b, enum variant variant, v32f upper)
{
    return v_join_32i_8u(add_lanes(&l[0], a, b, 0, variant, upper), add_lanes(&l[1], a, b, 1, variant, upper),
                         add_lanes(&l[0], a, b, 2, variant, upper), add_lanes(&l[1], a, b, 3, variant, upper));
}

SN_INLINE void add_rows(const struct sn_add_8i * p, const sn_32f * const * array, size_t channels, size_t size,
                        enum variant variant)
{
    const uint8_t * restrict a = p->a, * restrict b = p->b;
    uint8_t * restrict dst = p->c;
    const v32f upper = v_set_32f(p->upper);
    for (size_t c = 0; c < channels; ++c, a += size, b += size, dst += size) {
        const float odd = is_fused(variant) ? odd_scale : 1;
        const struct parameters l[2] = {parameters_of(array, c, 1), parameters_of(array, c, odd)};
        size_t i = 0;
        for (; i + V8U_N <= size; i += V8U_N)
            v_store_8u(dst + i, add_row_vector(l, v_load_8u(a + i), v_load_8u(b + i), variant, upper));
        if (i < size) {
            const v8u x = v_load_tail_8u(a + i, size - i), y = v_load_tail_8u(b + i, size - i);
            v_store_tail_8u(dst + i, add_row_vector(l, x, y, variant, upper), size - i);
        }
    }
}

static void add_nchw(const struct sn_add_8i * p, const sn_32f * const * array, size_t channels, size_t spatial)
{
    switch (variant_of(array, channels, p->upper)) {
    case PLAIN: add_rows(p, array, channels, spatial, PLAIN); break;
    case SHIFTED: add_rows(p, array, channels, spatial, SHIFTED); break;
    default: add_rows(p, array, channels, spatial, WIDE);
    }
}

/* ---- short rows of NCHW, few pixels of NHWC: bytes in order, always WIDE */

/* The first V32F_N of n bytes, or all n if fewer; the low bits of index are the lane of x that holds the parameters. */
SN_INLINE v32i add_quarter(const uint8_t * a, const uint8_t * b, size_t n, const v32f x[ARRAYS], v32i index, v32f upper)
{
    const v32i y = n >= V32F_N ? v_load_8u_32i(a) : v_load_tail_8u_32i(a, n);
    const v32i z = n >= V32F_N ? v_load_8u_32i(b) : v_load_tail_8u_32i(b, n);
    const struct parameters l = {.aShift = v_lookup_32f(x[A_SHIFT], index),
                           .bShift = v_lookup_32f(x[B_SHIFT], index),
                           .cScale = v_lookup_32f(x[C_SCALE], index),
                           .cShift = v_lookup_32f(x[C_SHIFT], index)};
    return sum_of(&l, v_mul_32f(v_cvt_32i_32f(y), v_lookup_32f(x[A_SCALE], index)),
                  v_mul_32f(v_cvt_32i_32f(z), v_lookup_32f(x[B_SCALE], index)), WIDE, upper);
}

/* Rows of at most V8U_N bytes. As many rows as fit in a vector, at most V32F_N, are processed together: one vector of each
 * array holds their parameters, and every byte looks up its own. Bytes stored beyond these rows are overwritten by
 * the next rows. */
static void add_short_rows(const struct sn_add_8i * p, const sn_32f * const * array, size_t rows, size_t size)
{
    const size_t together = sn_min(V8U_N / size, V32F_N), step = together * size;
    const uint8_t * a = p->a, * b = p->b;
    uint8_t * dst = p->c;
    const v32f upper = v_set_32f(p->upper);
    int32_t row[V8U_N];
    for (size_t i = 0; i < V8U_N; ++i)
        row[i] = (int32_t)(i / size);
    for (size_t r = 0; r < rows; r += together, a += step, b += step, dst += step) {
        const size_t left = (rows - r) * size, n = sn_min(left, step);
        v32f x[ARRAYS];
        v32i sum[4];
        SN_UNROLL for (int j = 0; j < ARRAYS; ++j) x[j] = load_some(array[j] + r, rows - r);
        SN_UNROLL for (size_t k = 0; k < 4; ++k) {
            const size_t from = k * V32F_N;
            sum[k] = v_set_32i(0);
            if (from < n)
                sum[k] = add_quarter(a + from, b + from, left - from, x, v_load_32i(row + from), upper);
        }
        const v8u result = v_pack_32i_8u(sum[0], sum[1], sum[2], sum[3]);
        if (left >= V8U_N)
            v_store_8u(dst, result);
        else
            v_store_tail_8u(dst, result, n);
    }
}

/* ---- NHWC */

/* Channels of a table (16 KB); pixels that share the loads from it. */
enum { CHANNELS = 512, PIXELS = 4 };

struct table {
    float value[CHANNELS / V32F_N][FIELDS][V32F_N] SN_ALIGNED; /* [vector of bytes * 4 + k] */
    size_t size;                                                   /* channels in the table */
};

SN_INLINE struct parameters parameters_at(const struct table * t, size_t i)
{
    const float (*v)[V32F_N] = t->value[i];
    v32f x[FIELDS];
    SN_UNROLL for (int j = 0; j < FIELDS; ++j) x[j] = v_keep_32f(v_load_32f(v[j])); /* one load for all pixels */
    const struct parameters l = {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]};
    return l;
}

/* V8U_N values, or `left` if that is fewer, multiplied by a factor for odd bytes, go to column `column` of four lines: line
 * k gets the values k, k + 4, k + 8 ... */
SN_INLINE void deinterleave(const sn_32f * p, size_t left, float (*lines)[FIELDS][V32F_N], int column, float factor)
{
    v32f x[4];
    SN_UNROLL for (size_t j = 0; j < 4; ++j) {
        const size_t from = sn_min(j * V32F_N, left);
        x[j] = load_some(p + from, left - from);
    }
    const v32f even0 = v_even_32f(x[0], x[1]), even1 = v_even_32f(x[2], x[3]), f = v_set_32f(factor);
    const v32f odd0 = v_mul_32f(v_odd_32f(x[0], x[1]), f), odd1 = v_mul_32f(v_odd_32f(x[2], x[3]), f);
    v_store_32f(lines[0][column], v_even_32f(even0, even1));
    v_store_32f(lines[1][column], v_even_32f(odd0, odd1));
    v_store_32f(lines[2][column], v_odd_32f(even0, even1));
    v_store_32f(lines[3][column], v_odd_32f(odd0, odd1));
}

/* The parameters of `size` consecutive bytes. */
static void fill_table(struct table * t, const sn_32f * const * array, size_t size, enum variant variant)
{
    enum { A_BASE = 1, B_BASE = 4 }; /* columns, in the order of struct line */
    static const int column[ARRAYS] = {0, 2, 3, 5, 6, 7};
    for (size_t i = 0; i < size; i += V8U_N) {
        float (*lines)[FIELDS][V32F_N] = t->value + i / V32F_N;
        for (int j = 0; j < ARRAYS; ++j) {
            const bool smaller = is_fused(variant) && (j == A_SCALE || j == B_SCALE);
            deinterleave(array[j] + i, size - i, lines, column[j], smaller ? odd_scale : 1);
        }
        for (int k = 0; k < 4; ++k) {
            v_store_32f(lines[k][A_BASE], v_mul_32f(v_load_32f(lines[k][A_BASE - 1]), v_set_32f(-0x1p23f)));
            v_store_32f(lines[k][B_BASE], v_mul_32f(v_load_32f(lines[k][B_BASE - 1]), v_set_32f(-0x1p23f)));
        }
    }
    t->size = size;
}

/* n vectors, one in each of n pixels, with the same parameters. */
SN_INLINE void add_vectors(const struct table * t, size_t first, int n, const v8u * a, const v8u * b, v8u * sum,
                           enum variant variant, uint8_t upper)
{
    v32i r[PIXELS][4];
    SN_UNROLL for (int k = 0; k < 4; ++k) {
        const struct parameters l = parameters_at(t, first + (size_t)k);
        SN_UNROLL for (int j = 0; j < n; ++j) r[j][k] = add_lanes(&l, a[j], b[j], k, variant, v_set_32f(upper));
    }
    SN_UNROLL for (int j = 0; j < n; ++j) sum[j] = v_join_32i_8u(r[j][0], r[j][1], r[j][2], r[j][3]);
}

/* Adds the table's channels of n pixels, `stride` apart. */
SN_INLINE void add_pixels(const struct table * t, int n, const uint8_t * a, const uint8_t * b, uint8_t * c, size_t stride,
                          enum variant variant, uint8_t upper)
{
    v8u x[PIXELS], y[PIXELS], sum[PIXELS];
    size_t i = 0;
    for (; i + V8U_N <= t->size; i += V8U_N) {
        SN_UNROLL for (int j = 0; j < n; ++j) {
            x[j] = v_load_8u(a + i + (size_t)j * stride);
            y[j] = v_load_8u(b + i + (size_t)j * stride);
        }
        add_vectors(t, i / V32F_N, n, x, y, sum, variant, upper);
        SN_UNROLL for (int j = 0; j < n; ++j) v_store_8u(c + i + (size_t)j * stride, sum[j]);
    }
    const size_t rest = t->size - i;
    if (rest) {
        SN_UNROLL for (int j = 0; j < n; ++j) {
            x[j] = v_load_tail_8u(a + i + (size_t)j * stride, rest);
            y[j] = v_load_tail_8u(b + i + (size_t)j * stride, rest);
        }
        add_vectors(t, i / V32F_N, n, x, y, sum, variant, upper);
        SN_UNROLL for (int j = 0; j < n; ++j) v_store_tail_8u(c + i + (size_t)j * stride, sum[j], rest);
    }
}

SN_INLINE void add_table_as(const struct table * t, const uint8_t * a, const uint8_t * b, uint8_t * c, size_t pixels,
                            size_t stride, enum variant variant, uint8_t upper)
{
    size_t i = 0; /* WIDE is bound by arithmetic, not by loads of the table: several pixels gain nothing */
    for (; variant != WIDE && i + PIXELS <= pixels; i += PIXELS)
        add_pixels(t, PIXELS, a + i * stride, b + i * stride, c + i * stride, stride, variant, upper);
    for (; i < pixels; ++i)
        add_pixels(t, 1, a + i * stride, b + i * stride, c + i * stride, stride, variant, upper);
}

static void add_table(const struct table * t, const struct sn_add_8i * p, size_t offset, size_t pixels, size_t stride,
                      enum variant variant)
{
    const uint8_t * a = p->a + offset, * b = p->b + offset;
    switch (variant) {
    case PLAIN: add_table_as(t, a, b, p->c + offset, pixels, stride, PLAIN, p->upper); break;
    case SHIFTED: add_table_as(t, a, b, p->c + offset, pixels, stride, SHIFTED, p->upper); break;
    default: add_table_as(t, a, b, p->c + offset, pixels, stride, WIDE, p->upper);
    }
}

/* How many pixels to treat as one: the number that leaves the fewest unused bytes in vectors and tails. */
static size_t pixels_per_group(size_t channels, size_t pixels)
{
    size_t best = 1;
    double least = INFINITY;
    for (size_t n = 1; n <= pixels && n * channels <= CHANNELS; ++n) {
        const size_t size = n * channels;
        const double cost = (double)(sn_ceil_div(size, V8U_N) * V8U_N + (size % V8U_N ? V8U_N / 4 : 0)) / (double)size;
        if (cost < 0.97 * least) {
            least = cost;
            best = n;
        }
    }
    return best;
}

/* Fewer channels than CHANNELS: each array is repeated for a group of pixels; the remaining pixels follow. */
static void add_few_channels(const struct sn_add_8i * p, const sn_32f * const * array, size_t channels, size_t pixels,
                             enum variant variant)
{
    const size_t together = pixels_per_group(channels, pixels), size = together * channels, groups = pixels / together;
    float repeated[ARRAYS][CHANNELS];
    const sn_32f * of[ARRAYS];
    struct table t;
    for (int j = 0; j < ARRAYS; ++j) {
        of[j] = repeated[j];
        memcpy(repeated[j], array[j], channels * sizeof(float));
        for (size_t i = channels; i < size; ++i)
            repeated[j][i] = repeated[j][i - channels];
    }
    fill_table(&t, of, size, variant);
    add_table(&t, p, 0, groups, size, variant);
    const size_t done = groups * together;
    if (done < pixels) {
        t.size = (pixels - done) * channels;
        add_table(&t, p, done * channels, 1, t.size, variant);
    }
}

static void add_nhwc(const struct sn_add_8i * p, const sn_32f * const * array, size_t channels, size_t pixels)
{
    const enum variant variant = variant_of(array, channels, p->upper);
    if (channels <= CHANNELS / 2) {
        add_few_channels(p, array, channels, pixels, variant);
        return;
    }
    for (size_t c = 0; c < channels; c += CHANNELS) {
        struct table t;
        const sn_32f * of[ARRAYS];
        for (int j = 0; j < ARRAYS; ++j)
            of[j] = array[j] + c;
        fill_table(&t, of, sn_min(channels - c, CHANNELS), variant);
        add_table(&t, p, c, pixels, channels, variant);
    }
}

/* The shortest row, and the smallest number of pixels, that use the kernels for long rows and tables. */
enum { LONG_ROW = V8U_N / 2 + 1, MANY_PIXELS = 8 };

static void add_8i(const struct sn_add_8i * p, size_t channels, size_t spatial, enum sn_format format)
{
    const sn_32f * const array[ARRAYS] = {p->aScale, p->aShift, p->bScale, p->bShift, p->cScale, p->cShift};
    struct sn_add_8i pixel = *p;
    if (format == SN_NCHW && spatial >= LONG_ROW)
        add_nchw(p, array, channels, spatial);
    else if (format == SN_NCHW)
        add_short_rows(p, array, channels, spatial);
    else if (channels < V8U_N || spatial >= MANY_PIXELS)
        add_nhwc(p, array, channels, spatial);
    else
        for (; spatial; --spatial, pixel.a += channels, pixel.b += channels, pixel.c += channels)
            add_short_rows(&pixel, array, channels, 1);
}

SN_INSTALL(add_8i, add) { slots->run_8i = add_8i; }
