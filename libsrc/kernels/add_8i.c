/*
 * The sum of two byte tensors with scales and shifts, exactly as the formula says it in float32:
 *
 *   t = (a * aScale + aShift + b * bScale + bShift) * cScale + cShift,   result: nearest integer, within 0 .. upper
 *
 * Bytes. Every 32-bit lane of a vector holds four; number k of each lane is taken by a shift and a mask, and the four results
 * are put back the same way. Widening in order costs a shuffle for each vector instead.
 *
 * Products. A byte in the low bits of 2^23 is the float 2^23 + a: no conversion. Then fma(2^23 + a, scale, -(2^23 * scale)) is
 * a * scale, rounded once, for 2^23 * scale has no rounding of its own: the exact product of the formula. (A zero may have
 * the other sign, which no result shows.) Conversions would compete with the additions for the same two units.
 *
 * Clamping. Where the scales promise that |t| stays below 2^31 and upper is 255, it is left to the saturating pack, and
 * 2^23 * scale is finite too. Else ("wide") t is clamped as a float, which also makes 0 of a NaN, and products are plain.
 *
 * Layouts. A row of NCHW has one set of parameters. For NHWC a table holds the parameters of up to CHANNELS channels in the
 * order of the bytes, and is used for two pixels at a time; with few channels it holds a group of pixels ("a pixel" below).
 */
#include "kernels/install.h"

#include <math.h>
#include <string.h>

/* What one byte of each lane needs; Base is -2^23 * scale. */
struct line {
    v32f aScale, aBase, aShift, bScale, bBase, bShift, cScale, cShift;
};

enum { PARAMETERS = 8 };

/* Byte k of each lane times the scale. */
SN_INLINE v32f product(v32i x, int k, v32f scale, v32f base, bool wide)
{
    const v32i y = k ? v_shr_32i(x, 8 * k) : x;
    if (wide || !V_FMA)
        return v_mul_32f(v_cvt_32i_32f(v_and_32i(y, v_set_32i(0xFF))), scale);
    return v_fma_32f(v_cast_32i_32f(v_and_or_32i(y, v_set_32i(0xFF), v_set_32i(0x4B000000))), scale, base);
}

SN_INLINE v32i add_lanes(const struct line * l, v8u a, v8u b, int k, bool wide, v32f upper)
{
    const v32f x = v_add_32f(product(v_cast_8u_32i(a), k, l->aScale, l->aBase, wide), l->aShift);
    const v32f y = v_add_32f(product(v_cast_8u_32i(b), k, l->bScale, l->bBase, wide), l->bShift);
    v32f t = v_add_32f(v_mul_32f(v_add_32f(x, y), l->cScale), l->cShift);
    if (wide)
        t = v_min_32f(v_max_32f(t, v_zero_32f()), upper);
    return v_cvt_32f_32i(t);
}

/* Scales and shifts of every result below 2^30, so that t in float32, and its rounding, stay below 2^31. */
SN_INLINE bool is_wide(const struct sn_add_8i * p, size_t c)
{
    const float a = fabsf(p->aScale[c]), b = fabsf(p->bScale[c]);
    const float sum = 256 * (a + b) + (fabsf(p->aShift[c]) + fabsf(p->bShift[c]));
    return !(sum * fabsf(p->cScale[c]) + fabsf(p->cShift[c]) < 0x1p30f && a < 0x1p100f && b < 0x1p100f);
}

/* ---- NCHW */

SN_INLINE struct line line_of(const struct sn_add_8i * p, size_t c)
{
    const v32f base = v_set_32f(-0x1p23f);
    struct line l;
    l.aScale = v_set_32f(p->aScale[c]);
    l.bScale = v_set_32f(p->bScale[c]);
    l.cScale = v_set_32f(p->cScale[c]);
    l.aShift = v_set_32f(p->aShift[c]);
    l.bShift = v_set_32f(p->bShift[c]);
    l.cShift = v_set_32f(p->cShift[c]);
    l.aBase = v_mul_32f(l.aScale, base);
    l.bBase = v_mul_32f(l.bScale, base);
    return l;
}

SN_INLINE v8u add_row_vector(const struct line * l, v8u a, v8u b, bool wide, uint8_t upper)
{
    const v32f most = v_set_32f(upper);
    return v_join_32i_8u(add_lanes(l, a, b, 0, wide, most), add_lanes(l, a, b, 1, wide, most),
                         add_lanes(l, a, b, 2, wide, most), add_lanes(l, a, b, 3, wide, most));
}

SN_INLINE void add_row(const struct sn_add_8i * p, size_t c, size_t size, bool wide)
{
    const struct line l = line_of(p, c);
    const uint8_t * restrict a = p->a + c * size, * restrict b = p->b + c * size;
    uint8_t * restrict dst = p->c + c * size;
    const uint8_t upper = p->upper;
    size_t i = 0;
    for (; i + V8U_N <= size; i += V8U_N)
        v_store_8u(dst + i, add_row_vector(&l, v_load_8u(a + i), v_load_8u(b + i), wide, upper));
    if (i < size) {
        const v8u x = v_load_tail_8u(a + i, size - i), y = v_load_tail_8u(b + i, size - i);
        v_store_tail_8u(dst + i, add_row_vector(&l, x, y, wide, upper), size - i);
    }
}

static void add_nchw(const struct sn_add_8i * p, size_t channels, size_t spatial)
{
    for (size_t c = 0; c < channels; ++c)
        if (p->upper < 255 || is_wide(p, c))
            add_row(p, c, spatial, true);
        else
            add_row(p, c, spatial, false);
}

/* ---- NHWC */

/* Channels of a table, which then has 16 KB; pixels that share its loads. */
enum { CHANNELS = 512, TOGETHER = 2 };

struct table {
    float value[CHANNELS / V32F_N][PARAMETERS][V32F_N] SN_ALIGNED; /* [vector of bytes * 4 + k] */
    size_t size;                                        /* channels in it */
    bool wide;
};

SN_INLINE struct line line_at(const struct table * t, size_t i)
{
    const float (*v)[V32F_N] = t->value[i];
    v32f x[PARAMETERS];
    SN_UNROLL for (int j = 0; j < PARAMETERS; ++j) x[j] = v_keep_32f(v_load_32f(v[j])); /* one load for all pixels */
    const struct line l = {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]};
    return l;
}

/* Vector j of the values from p on, of which `left` are there. */
SN_INLINE v32f load_some(const float * p, size_t left, size_t j)
{
    const size_t from = j * V32F_N;
    return left >= from + V32F_N ? v_load_32f(p + from) : from < left ? v_load_tail_32f(p + from, left - from) : v_zero_32f();
}

/* V8U_N values, or as many as are left, into column `column` of four lines: line k gets the values k, k + 4, k + 8 ... */
SN_INLINE void spread(const float * p, size_t left, float (*lines)[PARAMETERS][V32F_N], int column)
{
    const v32f x0 = load_some(p, left, 0), x1 = load_some(p, left, 1), x2 = load_some(p, left, 2), x3 = load_some(p, left, 3);
    const v32f even0 = v_even_32f(x0, x1), even1 = v_even_32f(x2, x3);
    const v32f odd0 = v_odd_32f(x0, x1), odd1 = v_odd_32f(x2, x3);
    v_store_32f(lines[0][column], v_even_32f(even0, even1));
    v_store_32f(lines[1][column], v_even_32f(odd0, odd1));
    v_store_32f(lines[2][column], v_odd_32f(even0, even1));
    v_store_32f(lines[3][column], v_odd_32f(odd0, odd1));
}

/* Columns of a line, in the order of struct line. */
enum { A_SCALE, A_BASE, A_SHIFT, B_SCALE, B_BASE, B_SHIFT, C_SCALE, C_SHIFT };

/* Not less than the largest |t|, and huge where a scale is too large for a base: is_wide() by vectors. */
SN_INLINE v32f most_of(const float (*line)[V32F_N])
{
    const v32f scales = v_add_32f(v_abs_32f(v_load_32f(line[A_SCALE])), v_abs_32f(v_load_32f(line[B_SCALE])));
    const v32f shifts = v_add_32f(v_abs_32f(v_load_32f(line[A_SHIFT])), v_abs_32f(v_load_32f(line[B_SHIFT])));
    const v32f sum = v_add_32f(v_mul_32f(v_set_32f(256), scales), shifts);
    const v32f t = v_add_32f(v_mul_32f(sum, v_abs_32f(v_load_32f(line[C_SCALE]))), v_abs_32f(v_load_32f(line[C_SHIFT])));
    return v_add_32f(t, v_mul_32f(scales, v_set_32f(0x1p-70f)));
}

/* The parameters of `size` bytes that lie together; array[0 .. 5] are those of the formula in its order. */
static void fill_table(struct table * t, const float * const * array, size_t size)
{
    static const int column[6] = {A_SCALE, A_SHIFT, B_SCALE, B_SHIFT, C_SCALE, C_SHIFT};
    const v32f base = v_set_32f(-0x1p23f);
    v32f bad = v_zero_32f();
    for (size_t i = 0; i < size; i += V8U_N) {
        float (*lines)[PARAMETERS][V32F_N] = t->value + i / V32F_N;
        for (int j = 0; j < 6; ++j)
            spread(array[j] + i, size - i, lines, column[j]);
        for (int k = 0; k < 4; ++k) {
            v_store_32f(lines[k][A_BASE], v_mul_32f(v_load_32f(lines[k][A_SCALE]), base));
            v_store_32f(lines[k][B_BASE], v_mul_32f(v_load_32f(lines[k][B_SCALE]), base));
            const v32m good = v_lt_32f(most_of((const float (*)[V32F_N])lines[k]), v_set_32f(0x1p30f));
            bad = v_add_32f(bad, v_select_32f(good, v_zero_32f(), v_set_32f(1)));
        }
    }
    t->size = size;
    t->wide = v_any(v_lt_32f(v_zero_32f(), bad));
}

/* n vectors, one in each of n pixels, with the same parameters. */
SN_INLINE void add_vectors(const struct table * t, size_t first, int n, const v8u * a, const v8u * b, v8u * sum, bool wide,
                           uint8_t upper)
{
    v32i r[TOGETHER][4];
    SN_UNROLL for (int k = 0; k < 4; ++k) {
        const struct line l = line_at(t, first + (size_t)k);
        SN_UNROLL for (int j = 0; j < n; ++j) r[j][k] = add_lanes(&l, a[j], b[j], k, wide, v_set_32f(upper));
    }
    SN_UNROLL for (int j = 0; j < n; ++j) sum[j] = v_join_32i_8u(r[j][0], r[j][1], r[j][2], r[j][3]);
}

/* The table's channels of n pixels, `stride` apart. */
SN_INLINE void add_pixels(const struct table * t, int n, const uint8_t * a, const uint8_t * b, uint8_t * c, size_t stride,
                          bool wide, uint8_t upper)
{
    v8u x[TOGETHER], y[TOGETHER], sum[TOGETHER];
    size_t i = 0;
    for (; i + V8U_N <= t->size; i += V8U_N) {
        SN_UNROLL for (int j = 0; j < n; ++j) {
            x[j] = v_load_8u(a + i + (size_t)j * stride);
            y[j] = v_load_8u(b + i + (size_t)j * stride);
        }
        add_vectors(t, i / V32F_N, n, x, y, sum, wide, upper);
        SN_UNROLL for (int j = 0; j < n; ++j) v_store_8u(c + i + (size_t)j * stride, sum[j]);
    }
    const size_t rest = t->size - i;
    if (rest) {
        SN_UNROLL for (int j = 0; j < n; ++j) {
            x[j] = v_load_tail_8u(a + i + (size_t)j * stride, rest);
            y[j] = v_load_tail_8u(b + i + (size_t)j * stride, rest);
        }
        add_vectors(t, i / V32F_N, n, x, y, sum, wide, upper);
        SN_UNROLL for (int j = 0; j < n; ++j) v_store_tail_8u(c + i + (size_t)j * stride, sum[j], rest);
    }
}

SN_INLINE void add_table(const struct table * t, const uint8_t * a, const uint8_t * b, uint8_t * c, size_t pixels,
                         size_t stride, bool wide, uint8_t upper)
{
    size_t i = 0;
    for (; i + TOGETHER <= pixels; i += TOGETHER)
        add_pixels(t, TOGETHER, a + i * stride, b + i * stride, c + i * stride, stride, wide, upper);
    for (; i < pixels; ++i)
        add_pixels(t, 1, a + i * stride, b + i * stride, c + i * stride, stride, wide, upper);
}

static void add_with(const struct table * t, const struct sn_add_8i * p, size_t offset, size_t pixels, size_t stride)
{
    const uint8_t * a = p->a + offset, * b = p->b + offset;
    if (t->wide || p->upper < 255)
        add_table(t, a, b, p->c + offset, pixels, stride, true, p->upper);
    else
        add_table(t, a, b, p->c + offset, pixels, stride, false, p->upper);
}

/* How many pixels to take as one: the number that leaves the fewest bytes of vectors unused, and of tails. */
static size_t pixels_in_one(size_t channels, size_t pixels)
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

/* Fewer channels than CHANNELS: each array repeated for a group of pixels, then a rest of pixels. */
static void add_few_channels(const struct sn_add_8i * p, const float * const * array, size_t channels, size_t pixels)
{
    const size_t together = pixels_in_one(channels, pixels), size = together * channels, groups = pixels / together;
    float repeated[6][CHANNELS];
    const float * of[6];
    struct table t;
    for (int j = 0; j < 6; ++j) {
        of[j] = repeated[j];
        memcpy(repeated[j], array[j], channels * sizeof(float));
        for (size_t i = channels; i < size; ++i)
            repeated[j][i] = repeated[j][i - channels];
    }
    fill_table(&t, of, size);
    add_with(&t, p, 0, groups, size);
    const size_t done = groups * together;
    if (done < pixels) {
        t.size = (pixels - done) * channels;
        add_with(&t, p, done * channels, 1, t.size);
    }
}

static void add_nhwc(const struct sn_add_8i * p, const float * const * array, size_t channels, size_t pixels)
{
    if (channels <= CHANNELS / 2) {
        add_few_channels(p, array, channels, pixels);
        return;
    }
    for (size_t c = 0; c < channels; c += CHANNELS) {
        struct table t;
        const float * of[6];
        for (int j = 0; j < 6; ++j)
            of[j] = array[j] + c;
        fill_table(&t, of, sn_min(channels - c, CHANNELS));
        add_with(&t, p, c, pixels, channels);
    }
}

/*
 * Rows of NCHW that leave most of a vector empty: some of them together are one pixel whose channels are their values. Each
 * row's parameters are written over the surplus of the row before.
 */
static void add_short_rows(const struct sn_add_8i * p, const float * const * array, size_t channels, size_t spatial)
{
    const size_t together = CHANNELS / spatial;
    float repeated[6][CHANNELS + V32F_N] SN_ALIGNED;
    const float * of[6];
    struct table t;
    for (size_t c = 0; c < channels; c += together) {
        const size_t rows = sn_min(channels - c, together);
        for (int j = 0; j < 6; ++j) {
            of[j] = repeated[j];
            for (size_t r = 0; r < rows; ++r)
                for (size_t i = 0; i < spatial; i += V32F_N)
                    v_store_32f(repeated[j] + r * spatial + i, v_set_32f(array[j][c + r]));
        }
        fill_table(&t, of, rows * spatial);
        add_with(&t, p, c * spatial, 1, rows * spatial);
    }
}

static void add_8i(const struct sn_add_8i * p, size_t channels, size_t spatial, SimdTensorFormatType format)
{
    const float * const array[6] = {p->aScale, p->aShift, p->bScale, p->bShift, p->cScale, p->cShift};
    if (format == SimdTensorFormatNhwc || spatial == 1)
        add_nhwc(p, array, channels, spatial);
    else if (spatial <= V32F_N)
        add_short_rows(p, array, channels, spatial);
    else
        add_nchw(p, channels, spatial);
}

void ISA_FN(install_add_8i)(struct sn_table * table) { table->add_8i = add_8i; }
