/*
 * The sum of two byte tensors with scales and shifts, exactly as the formula says it in float32:
 *
 *   t = (a * aScale + aShift + b * bScale + bShift) * cScale + cShift,   result: nearest integer, within 0 .. upper
 *
 * Bytes. Every 32-bit lane of a vector holds four; number k of each lane is taken by a mask (after a shift by 16 for k = 2
 * and 3), and the four results are put back the same way. Widening in order costs a shuffle for each vector instead, 1.2
 * times the time in all.
 *
 * Products. A byte in the low bits of 2^23, or in bits 8 .. 15 of 2^15, is the float 2^23 + a or 2^15 + a: no conversion.
 * Then fma(base + a, scale, -(base * scale)) is a * scale, rounded once, for base * scale has no rounding of its own: the
 * exact product of the formula. (A zero may have the other sign, which no result shows.) Without fused operations the base
 * is subtracted first.
 *
 * Clamping. Where the scales promise that |t| stays below 2^31 and upper is 255, it is left to the saturating pack, and
 * base * scale is finite too. Else ("wide") t is clamped as a float, which also makes 0 of a NaN, and the base is subtracted
 * first.
 *
 * Layouts. A row of NCHW has one set of parameters. For NHWC a table holds the parameters of up to CHANNELS channels in the
 * order of the bytes, and is used for two pixels at a time; with few channels it holds a group of pixels ("a pixel" below).
 */
#include "kernels/install.h"

#include <math.h>
#include <string.h>

/* What one byte of each lane needs; base is that of even k or of odd k. */
struct line {
    v32f aScale, aBase, aShift, bScale, bBase, bShift, cScale, cShift; /* Base: -base * scale */
};

enum { PARAMETERS = 8 };

static const float base_of[2] = {0x1p23f, 0x1p15f};

/* base + byte k of each lane; x is already shifted for k = 2 and 3. */
SN_INLINE v32f with_base(v32i x, int k)
{
    const v32i mask = v_set_32i(k % 2 ? 0xFF00 : 0xFF), bits = v_set_32i(k % 2 ? 0x47000000 : 0x4B000000);
    return v_cast_32i_32f(v_and_or_32i(x, mask, bits));
}

SN_INLINE v32f product(v32i x, int k, v32f scale, v32f base, bool wide)
{
    const v32f y = with_base(x, k);
    if (wide || !V_FMA)
        return v_mul_32f(v_sub_32f(y, v_set_32f(base_of[k % 2])), scale);
    return v_fma_32f(y, scale, base);
}

SN_INLINE v32i add_lanes(const struct line * l, v32i a, v32i b, int k, bool wide, v32f upper)
{
    const v32f x = v_add_32f(product(a, k, l->aScale, l->aBase, wide), l->aShift);
    const v32f y = v_add_32f(product(b, k, l->bScale, l->bBase, wide), l->bShift);
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

SN_INLINE struct line line_of(const struct sn_add_8i * p, size_t c, int k)
{
    const v32f base = v_set_32f(-base_of[k % 2]);
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

SN_INLINE v8u add_row_vector(const struct line * even, const struct line * odd, v8u x, v8u y, bool wide, uint8_t upper)
{
    const v32i a = v_cast_8u_32i(x), b = v_cast_8u_32i(y), a2 = v_shr_32i(a, 16), b2 = v_shr_32i(b, 16);
    const v32f most = v_set_32f(upper);
    return v_join_32i_8u(add_lanes(even, a, b, 0, wide, most), add_lanes(odd, a, b, 1, wide, most),
                         add_lanes(even, a2, b2, 2, wide, most), add_lanes(odd, a2, b2, 3, wide, most));
}

SN_INLINE void add_row(const struct sn_add_8i * p, size_t c, size_t size, bool wide)
{
    const struct line even = line_of(p, c, 0), odd = line_of(p, c, 1);
    const uint8_t * restrict a = p->a + c * size, * restrict b = p->b + c * size;
    uint8_t * restrict dst = p->c + c * size;
    const uint8_t upper = p->upper;
    size_t i = 0;
    for (; i + V8U_N <= size; i += V8U_N)
        v_store_8u(dst + i, add_row_vector(&even, &odd, v_load_8u(a + i), v_load_8u(b + i), wide, upper));
    if (i < size) {
        const v8u x = v_load_tail_8u(a + i, size - i), y = v_load_tail_8u(b + i, size - i);
        v_store_tail_8u(dst + i, add_row_vector(&even, &odd, x, y, wide, upper), size - i);
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

enum { CHANNELS = 512 }; /* whose table has 16 KB */

struct table {
    float value[CHANNELS / V32F_N][PARAMETERS][V32F_N]; /* [vector of bytes * 4 + k] */
    size_t size;                                        /* channels in it */
    bool wide;
};

SN_INLINE struct line line_at(const struct table * t, size_t i)
{
    const float (*v)[V32F_N] = t->value[i];
    const struct line l = {v_load_32f(v[0]), v_load_32f(v[1]), v_load_32f(v[2]), v_load_32f(v[3]),
                           v_load_32f(v[4]), v_load_32f(v[5]), v_load_32f(v[6]), v_load_32f(v[7])};
    return l;
}

/* Values i .. i + V8U_N - 1 of an array of `size`, as r[k] = values i + k, i + k + 4, i + k + 8 ... */
SN_INLINE void load_by_byte(const float * p, size_t size, size_t i, v32f r[4])
{
    v32f x[4];
    for (size_t j = 0; j < 4; ++j)
        x[j] = v_load_tail_32f(p + sn_min(i + j * V32F_N, size), sn_min(size - sn_min(i + j * V32F_N, size), V32F_N));
    const v32f even0 = v_even_32f(x[0], x[1]), even1 = v_even_32f(x[2], x[3]);
    const v32f odd0 = v_odd_32f(x[0], x[1]), odd1 = v_odd_32f(x[2], x[3]);
    r[0] = v_even_32f(even0, even1);
    r[1] = v_even_32f(odd0, odd1);
    r[2] = v_odd_32f(even0, even1);
    r[3] = v_odd_32f(odd0, odd1);
}

/* Not less than the largest |t|, and huge where a scale is too large for a base; is_wide() by vectors. */
SN_INLINE v32f most_of(v32f aScale, v32f aShift, v32f bScale, v32f bShift, v32f cScale, v32f cShift)
{
    const v32f a = v_abs_32f(aScale), b = v_abs_32f(bScale), scales = v_add_32f(a, b);
    const v32f sum = v_add_32f(v_mul_32f(v_set_32f(256), scales), v_add_32f(v_abs_32f(aShift), v_abs_32f(bShift)));
    const v32f t = v_add_32f(v_mul_32f(sum, v_abs_32f(cScale)), v_abs_32f(cShift));
    return v_add_32f(t, v_mul_32f(scales, v_set_32f(0x1p-70f)));
}

/* The parameters of `size` bytes that lie together; array[0 .. 5] are those of the formula in its order. */
static void fill_table(struct table * t, const float * const * array, size_t size)
{
    v32f bad = v_zero_32f();
    for (size_t i = 0; i < size; i += V8U_N) {
        v32f v[6][4];
        for (int j = 0; j < 6; ++j)
            load_by_byte(array[j], size, i, v[j]);
        for (size_t k = 0; k < 4; ++k) {
            const v32f base = v_set_32f(-base_of[k % 2]);
            const v32f most = most_of(v[0][k], v[1][k], v[2][k], v[3][k], v[4][k], v[5][k]);
            const v32f line[PARAMETERS] = {v[0][k], v_mul_32f(v[0][k], base), v[1][k], v[2][k], v_mul_32f(v[2][k], base),
                                           v[3][k], v[4][k],                  v[5][k]};
            bad = v_add_32f(bad, v_select_32f(v_lt_32f(most, v_set_32f(0x1p30f)), v_zero_32f(), v_set_32f(1)));
            for (int j = 0; j < PARAMETERS; ++j)
                v_store_32f(t->value[i / V32F_N + k][j], line[j]);
        }
    }
    t->size = size;
    t->wide = v_any(v_lt_32f(v_zero_32f(), bad));
}

/* n vectors, one in each of n pixels, with the same parameters. */
SN_INLINE void add_vectors(const struct table * t, size_t first, int n, const v8u * x, const v8u * y, v8u * sum, bool wide,
                           uint8_t upper)
{
    v32i r[2][4];
    SN_UNROLL for (int k = 0; k < 4; ++k) {
        const struct line l = line_at(t, first + (size_t)k);
        SN_UNROLL for (int j = 0; j < n; ++j) {
            const v32i a = v_cast_8u_32i(x[j]), b = v_cast_8u_32i(y[j]);
            r[j][k] = k < 2 ? add_lanes(&l, a, b, k, wide, v_set_32f(upper))
                            : add_lanes(&l, v_shr_32i(a, 16), v_shr_32i(b, 16), k, wide, v_set_32f(upper));
        }
    }
    SN_UNROLL for (int j = 0; j < n; ++j)
        sum[j] = v_join_32i_8u(r[j][0], r[j][1], r[j][2], r[j][3]);
}

/* The table's channels of n pixels, `stride` apart. */
SN_INLINE void add_pixels(const struct table * t, int n, const uint8_t * a, const uint8_t * b, uint8_t * c, size_t stride,
                          bool wide, uint8_t upper)
{
    v8u x[2], y[2], sum[2];
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
    for (; i + 2 <= pixels; i += 2)
        add_pixels(t, 2, a + i * stride, b + i * stride, c + i * stride, stride, wide, upper);
    if (i < pixels)
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

static void add_nhwc(const struct sn_add_8i * p, size_t channels, size_t pixels)
{
    const float * const array[6] = {p->aScale, p->aShift, p->bScale, p->bShift, p->cScale, p->cShift};
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

static void add_8i(const struct sn_add_8i * p, size_t channels, size_t spatial, SimdTensorFormatType format)
{
    if (format == SimdTensorFormatNchw && spatial > 1)
        add_nchw(p, channels, spatial);
    else
        add_nhwc(p, channels, spatial);
}

void ISA_FN(install_add_8i)(struct sn_table * table) { table->add_8i = add_8i; }
