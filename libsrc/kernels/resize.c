/*
 * Resizing: rows from rows by weights of each element or of each pixel, and rows from the sums of rows.
 *
 * In rows of pixels with few channels each vector of results has indices of its own. Where all their sources lie within one
 * vector, as they do when an image is enlarged, they are looked up in it; otherwise they are collected one by one.
 */
#include "contract/resize.h"
#include "kernels/install.h"

enum { GROUP = 4 };

/* ---- elements as floats */

SN_INLINE v32f load_as(enum sn_resize_type type, const void * src, size_t i, size_t n, bool full)
{
    const char * p = src;
    switch (type) {
    case SN_RESIZE_32F: return full ? v_load_32f(p + 4 * i) : v_load_tail_32f(p + 4 * i, n);
    case SN_RESIZE_16B: return full ? v_load_16b_32f(p + 2 * i) : v_load_tail_16b_32f(p + 2 * i, n);
    case SN_RESIZE_16U: {
        const v32f upper = full ? v_load_16b_32f(p + 2 * i) : v_load_tail_16b_32f(p + 2 * i, n);
        return v_cvt_32i_32f(v_shr_32i(v_cast_32f_32i(upper), 16));
    }
    default: return v_cvt_32i_32f(full ? v_load_8u_32i(p + i) : v_load_tail_8u_32i(p + i, n));
    }
}

SN_INLINE void widen_as(enum sn_resize_type type, const void * src, size_t size, sn_32f * dst)
{
    size_t i = 0;
    for (; i + V32F_N <= size; i += V32F_N)
        v_store_32f(dst + i, load_as(type, src, i, V32F_N, true));
    if (i < size)
        v_store_tail_32f(dst + i, load_as(type, src, i, size - i, false), size - i);
}

static void widen(enum sn_resize_type type, const void * src, size_t size, sn_32f * dst)
{
    switch (type) {
    case SN_RESIZE_32F: widen_as(SN_RESIZE_32F, src, size, dst); break;
    case SN_RESIZE_16B: widen_as(SN_RESIZE_16B, src, size, dst); break;
    case SN_RESIZE_16U: widen_as(SN_RESIZE_16U, src, size, dst); break;
    default: widen_as(SN_RESIZE_8U, src, size, dst);
    }
}

/* ---- rows: wide pixels */

/* One vector of a pixel; `copies` means one tap of weight 1. */
SN_INLINE v32f of_pixel(const sn_32f * p, size_t channels, const sn_32f * weight, size_t taps, bool copies, size_t n,
                        bool full)
{
    v32f sum = full ? v_load_32f(p) : v_load_tail_32f(p, n);
    if (copies)
        return sum;
    sum = v_mul_32f(sum, v_set_32f(weight[0]));
    for (size_t t = 1; t < taps; ++t) {
        const sn_32f * q = p + t * channels;
        sum = v_fma_32f(full ? v_load_32f(q) : v_load_tail_32f(q, n), v_set_32f(weight[t]), sum);
    }
    return sum;
}

SN_INLINE void row_wide_by(const struct sn_resize_axis * x, size_t channels, const sn_32f * src, sn_32f * dst, size_t taps,
                           bool copies)
{
    for (size_t i = 0; i < x->dst; ++i, dst += channels) {
        const sn_32f * p = src + x->begin[i] * channels;
        const sn_32f * weight = x->weight + i * taps;
        size_t c = 0;
        for (; c + V32F_N <= channels; c += V32F_N)
            v_store_32f(dst + c, of_pixel(p + c, channels, weight, taps, copies, V32F_N, true));
        if (c < channels)
            v_store_tail_32f(dst + c, of_pixel(p + c, channels, weight, taps, copies, channels - c, false), channels - c);
    }
}

static void row_wide(const struct sn_resize_axis * x, size_t channels, const sn_32f * src, sn_32f * dst)
{
    if (x->copies)
        row_wide_by(x, channels, src, dst, 1, true);
    else if (x->taps == 2)
        row_wide_by(x, channels, src, dst, 2, false);
    else
        row_wide_by(x, channels, src, dst, x->taps, false);
}

/* ---- rows: few channels */

/* Where the sources of elements e .. e + n - 1 lie: all within one vector from `base`, or not. */
struct sources {
    size_t base;
    bool near;
    v32f table;
};

SN_INLINE struct sources sources_of(const struct sn_resize_axis * x, size_t channels, const sn_32f * src, size_t e, size_t n)
{
    const size_t last = e + n - 1, size = x->src * channels;
    const size_t base = (size_t)x->at[e] - (channels == 1 ? 0 : e % channels);
    const size_t end = (size_t)x->at[last] - (channels == 1 ? 0 : last % channels) + x->taps * channels;
    struct sources s = {base, end - base <= V32F_N, v_zero_32f()};
    if (s.near)
        s.table = size - base >= V32F_N ? v_load_32f(src + base) : v_load_tail_32f(src + base, size - base);
    return s;
}

/* Source `offset` after the first one of each of the elements. */
SN_INLINE v32f collected(const int32_t * at, const sn_32f * src, size_t offset, size_t n)
{
    float lanes[V32F_N] SN_ALIGNED = {0};
    for (size_t l = 0; l < n; ++l)
        lanes[l] = src[(size_t)at[l] + offset];
    return v_load_32f(lanes);
}

SN_INLINE void row_few_by(const struct sn_resize_axis * x, size_t channels, const sn_32f * src, sn_32f * dst, size_t taps,
                          bool copies)
{
    const size_t all = x->dst * channels;
    for (size_t e = 0; e < all; e += V32F_N) {
        const size_t n = sn_min(all - e, V32F_N);
        const struct sources s = sources_of(x, channels, src, e, n);
        v32i from = v_sub_32i(v_load_tail_32i(x->at + e, n), v_set_32i((int32_t)s.base));
        v32f sum = v_zero_32f();
        for (size_t t = 0; t < taps; ++t) {
            const v32f v = s.near ? v_lookup_32f(s.table, from) : collected(x->at + e, src, t * channels, n);
            if (copies) {
                sum = v;
                break;
            }
            const v32f weight = v_load_tail_32f(x->lane + t * all + e, n);
            sum = t == 0 ? v_mul_32f(v, weight) : v_fma_32f(v, weight, sum);
            from = v_add_32i(from, v_set_32i((int32_t)channels));
        }
        v_store_tail_32f(dst + e, sum, n);
    }
}

static void row_few(const struct sn_resize_axis * x, size_t channels, const sn_32f * src, sn_32f * dst)
{
    if (x->copies)
        row_few_by(x, channels, src, dst, 1, true);
    else if (x->taps == 2)
        row_few_by(x, channels, src, dst, 2, false);
    else
        row_few_by(x, channels, src, dst, x->taps, false);
}

/* ---- rows: one channel, enlarged by two */

SN_INLINE v32f of_phase(const sn_32f * p, const sn_32f * weight, size_t taps, bool copies)
{
    if (copies)
        return v_load_32f(p);
    v32f sum = v_mul_32f(v_load_32f(p), v_set_32f(weight[0]));
    for (size_t t = 1; t < taps; ++t)
        sum = v_fma_32f(v_load_32f(p + t), v_set_32f(weight[t]), sum);
    return sum;
}

/* Outputs 2 * low .. 2 * high - 1; the last vector begins early enough to be whole, and some outputs are computed twice. */
SN_INLINE void doubled_by(const struct sn_resize_axis * x, const sn_32f * src, sn_32f * dst, size_t taps, bool copies)
{
    const sn_32f * weight = x->weight + 2 * x->low * taps;
    const ptrdiff_t even = x->shift[0], odd = x->shift[1];
    for (size_t next = x->low; next < x->high; next += V32F_N) {
        const size_t i = sn_min(next, x->high - V32F_N);
        const v32f a = of_phase(src + ((ptrdiff_t)i + even), weight, taps, copies);
        const v32f b = copies && even == odd ? a : of_phase(src + ((ptrdiff_t)i + odd), weight + taps, taps, copies);
        v_store_32f(dst + 2 * i, v_zip_low_32f(a, b));
        v_store_32f(dst + 2 * i + V32F_N, v_zip_high_32f(a, b));
    }
}

/* The few outputs at the ends of such a row. */
static void ends(const struct sn_resize_axis * x, const sn_32f * src, sn_32f * dst, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; ++i) {
        const sn_32f * weight = x->weight + i * x->taps;
        const sn_32f * p = src + x->begin[i];
        float sum = x->copies ? p[0] : weight[0] * p[0];
        for (size_t t = 1; t < x->taps; ++t)
            sum += weight[t] * p[t];
        dst[i] = sum;
    }
}

static void doubled(const struct sn_resize_axis * x, const sn_32f * src, sn_32f * dst)
{
    ends(x, src, dst, 0, 2 * x->low);
    if (x->copies)
        doubled_by(x, src, dst, 1, true);
    else if (x->taps == 2)
        doubled_by(x, src, dst, 2, false);
    else
        doubled_by(x, src, dst, x->taps, false);
    ends(x, src, dst, 2 * x->high, x->dst);
}

static void row(const struct sn_resize_axis * x, size_t channels, const sn_32f * src, sn_32f * dst)
{
    if (channels >= SN_RESIZE_WIDE)
        row_wide(x, channels, src, dst);
    else if (x->high >= x->low + V32F_N)
        doubled(x, src, dst);
    else
        row_few(x, channels, src, dst);
}

/* ---- columns */

SN_INLINE v32f load_part(const sn_32f * row, size_t n, bool full)
{
    return full ? v_load_32f(row) : v_load_tail_32f(row, n);
}

/* Elements of vector g of n elements in all. */
SN_INLINE size_t part_of(size_t n, size_t g) { return sn_min(n - sn_min(n, g * V32F_N), V32F_N); }

/* Sums of GROUP vectors from element i on, which has n elements; `full` means all. */
SN_INLINE void sums_of(const struct sn_resize_column * c, size_t i, size_t n, bool full, size_t taps, v32f sum[GROUP])
{
    const v32f first = v_set_32f(c->weight[0]);
    SN_UNROLL for (size_t g = 0; g < GROUP; ++g)
        sum[g] = v_mul_32f(load_part(c->row[0] + i + sn_min(g * V32F_N, n), part_of(n, g), full), first);
    for (size_t t = 1; t < taps; ++t) {
        const v32f weight = v_set_32f(c->weight[t]);
        SN_UNROLL for (size_t g = 0; g < GROUP; ++g)
            sum[g] = v_fma_32f(load_part(c->row[t] + i + sn_min(g * V32F_N, n), part_of(n, g), full), weight, sum[g]);
    }
}

/* The whole part of x >= 0, a multiple of 1 / 128 or an integer. */
SN_INLINE v32i whole(v32f x) { return v_cvt_32f_32i(v_sub_32f(x, v_set_32f(0.5f - 0x1p-8f))); }

/* Weights have 14 bits, rows 7 more than they need: each product is cut on its own. */
SN_INLINE void shifted_of(const struct sn_resize_column * c, size_t i, size_t n, bool full, v32i result[GROUP])
{
    SN_UNROLL for (size_t g = 0; g < GROUP; ++g) {
        v32i sum = v_set_32i(16);
        for (size_t t = 0; t < c->taps; ++t) {
            const v32f row = load_part(c->row[t] + i + sn_min(g * V32F_N, n), part_of(n, g), full);
            const v32i cut = whole(v_mul_32f(row, v_set_32f(1.0f / 128)));
            const v32i weight = v_set_32i((int32_t)c->weight[t]);
            sum = v_add_32i(sum, v_shr_32i(v_madd_16i_32i(v_cast_32i_16i(cut), v_cast_32i_16i(weight)), 16));
        }
        result[g] = v_shr_32i(sum, 5);
    }
}

/* Rows have 20 bits and products 30, more than a float: the upper and the lower 10 bits of rows are added separately. */
SN_INLINE void area_of(const struct sn_resize_column * c, size_t i, size_t n, bool full, v32i result[GROUP])
{
    SN_UNROLL for (size_t g = 0; g < GROUP; ++g) {
        v32f upper = v_zero_32f(), lower = v_zero_32f();
        for (size_t t = 0; t < c->taps; ++t) {
            const v32i row = v_cvt_32f_32i(load_part(c->row[t] + i + sn_min(g * V32F_N, n), part_of(n, g), full));
            const v32f weight = v_set_32f(c->weight[t]);
            upper = v_fma_32f(v_cvt_32i_32f(v_shr_32i(row, 10)), weight, upper);
            lower = v_fma_32f(v_cvt_32i_32f(v_and_32i(row, v_set_32i(1023))), weight, lower);
        }
        const v32i sum = v_add_32i(v_shl_32i(v_cvt_32f_32i(upper), 10), v_cvt_32f_32i(lower));
        result[g] = v_shr_32i(v_add_32i(sum, v_set_32i(1 << 21)), 22);
    }
}

SN_INLINE v32i rounded(v32f sum, float scale, float bias)
{
    const v32f x = v_fma_32f(sum, v_set_32f(scale), v_set_32f(bias));
    return v_cvt_32f_32i(v_min_32f(v_max_32f(x, v_zero_32f()), v_set_32f(255)));
}

SN_INLINE void put_bytes(const struct sn_resize_column * c, size_t i, size_t n, bool full, uint8_t * dst)
{
    v32i r[GROUP];
    if (c->type == SN_RESIZE_8U_AREA) {
        area_of(c, i, n, full, r);
    } else if (c->type == SN_RESIZE_8U_SHIFTED) {
        shifted_of(c, i, n, full, r);
    } else {
        v32f sum[GROUP];
        sums_of(c, i, n, full, c->taps, sum);
        SN_UNROLL for (size_t g = 0; g < GROUP; ++g) r[g] = rounded(sum[g], c->scale, c->bias);
    }
    const v8u bytes = v_pack_32i_8u(r[0], r[1], r[2], r[3]);
    if (full)
        v_store_8u(dst, bytes);
    else
        v_store_tail_8u(dst, bytes, n);
}

/* The lower halves of integers are even elements. */
SN_INLINE void put_shorts(const v32f sum[GROUP], size_t n, char * dst)
{
    v16i half[GROUP];
    SN_UNROLL for (size_t g = 0; g < GROUP; ++g) half[g] = v_cast_32i_16i(v_cvt_32f_32i(sum[g]));
    SN_UNROLL for (size_t g = 0; g < GROUP; g += 2)
        v_store_tail_16i(dst + 2 * sn_min(g * V32F_N, n), v_even_16i(half[g], half[g + 1]),
                         part_of(n, g) + part_of(n, g + 1));
}

/* dst is where the n elements from i on are written; floats are full. */
SN_INLINE void put_block(const struct sn_resize_column * c, size_t i, size_t n, bool full, size_t taps,
                         enum sn_resize_type type, char * dst)
{
    v32f sum[GROUP];
    sums_of(c, i, n, full, taps, sum);
    if (type == SN_RESIZE_16U) {
        put_shorts(sum, n, dst);
        return;
    }
    SN_UNROLL for (size_t g = 0; g < GROUP; ++g) {
        const size_t k = sn_min(g * V32F_N, n);
        if (type == SN_RESIZE_16B)
            v_store_tail_16b_32f(dst + 2 * k, sum[g], part_of(n, g));
        else
            v_store_32f(dst + 4 * k, sum[g]);
    }
}

/* One vector of floats. */
SN_INLINE void put_vector(const struct sn_resize_column * c, size_t i, size_t n, bool full, size_t taps, sn_32f * dst)
{
    v32f sum = v_mul_32f(load_part(c->row[0] + i, n, full), v_set_32f(c->weight[0]));
    for (size_t t = 1; t < taps; ++t)
        sum = v_fma_32f(load_part(c->row[t] + i, n, full), v_set_32f(c->weight[t]), sum);
    if (full)
        v_store_32f(dst, sum);
    else
        v_store_tail_32f(dst, sum, n);
}

SN_INLINE void column_of_floats(const struct sn_resize_column * c, size_t begin, size_t size, sn_32f * dst, size_t taps)
{
    size_t i = 0;
    for (; i + GROUP * V32F_N <= size; i += GROUP * V32F_N)
        put_block(c, begin + i, GROUP * V32F_N, true, taps, SN_RESIZE_32F, (char *)(dst + i));
    for (; i + V32F_N <= size; i += V32F_N)
        put_vector(c, begin + i, V32F_N, true, taps, dst + i);
    if (i < size)
        put_vector(c, begin + i, size - i, false, taps, dst + i);
}

SN_INLINE void column_as(const struct sn_resize_column * c, size_t begin, size_t size, void * dst, size_t taps,
                         enum sn_resize_type type)
{
    char * p = dst;
    size_t i = 0;
    for (; i + GROUP * V32F_N <= size; i += GROUP * V32F_N)
        put_block(c, begin + i, GROUP * V32F_N, true, taps, type, p + 2 * i);
    if (i < size)
        put_block(c, begin + i, size - i, false, taps, type, p + 2 * i);
}

static void column_of_bytes(const struct sn_resize_column * c, size_t begin, size_t size, uint8_t * dst)
{
    size_t i = 0;
    for (; i + GROUP * V32F_N <= size; i += GROUP * V32F_N)
        put_bytes(c, begin + i, GROUP * V32F_N, true, dst + i);
    if (i < size)
        put_bytes(c, begin + i, size - i, false, dst + i);
}

static void column(const struct sn_resize_column * c, size_t begin, size_t size, void * dst)
{
    switch (c->type) {
    case SN_RESIZE_32F:
        if (c->taps == 2)
            column_of_floats(c, begin, size, dst, 2);
        else
            column_of_floats(c, begin, size, dst, c->taps);
        break;
    case SN_RESIZE_16B: column_as(c, begin, size, dst, c->taps, SN_RESIZE_16B); break;
    case SN_RESIZE_16U: column_as(c, begin, size, dst, c->taps, SN_RESIZE_16U); break;
    default: column_of_bytes(c, begin, size, dst);
    }
}

SN_INSTALL(resize, resize)
{
    slots->widen = widen;
    slots->row = row;
    slots->column = column;
}
