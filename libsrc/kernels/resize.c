/*
 * Resizing: rows from rows by weights of each element or of each pixel, and rows from the sums of rows.
 *
 * In rows of pixels with few channels each vector of results has indices of its own. Where all their sources lie within one
 * vector, as they do when an image is enlarged, they are looked up in it; otherwise they are collected one by one.
 */
#include "contract/resize.h"
#include "kernels/aligned.h"
#include <collect.h>
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

SN_INLINE v32f load_part(const sn_32f * row, size_t n, bool full)
{
    return full ? v_load_32f(row) : v_load_tail_32f(row, n);
}

/* Not inline: it is long. */
static v32f far_sources(const int32_t * from, const sn_32f * src) { return collected(from, src); }

/* The first source of each lane, from[0 .. V32F_N - 1] in `src`, or tap t of them; near ones are looked up in `table`. */
SN_INLINE v32f source(const struct sn_resize_window * window, v32f table, const int32_t * from, const sn_32f * src, size_t t)
{
    if (!window->near)
        return far_sources(from, src + t);
    return v_lookup_32f(table, v_add_32i(v_load_32i(from), v_set_32i((int32_t)t)));
}

/* Vector v of a row; `size` elements are read. */
SN_INLINE v32f of_sources(const struct sn_resize_axis * x, size_t channels, size_t v, const sn_32f * row, size_t taps,
                          bool copies, size_t size, bool full)
{
    const struct sn_resize_window * window = x->window + v;
    const int32_t * from = x->from + v * V32F_N;
    const sn_32f * src = row + window->begin, * weight = x->lane + v * V32F_N;
    const v32f table = load_part(src, size, full);
    v32f sum = source(window, table, from, src, 0);
    if (copies)
        return sum;
    sum = v_mul_32f(sum, v_load_32f(weight));
    for (size_t t = 1; t < taps; ++t)
        sum = v_fma_32f(source(window, table, from, src, t * channels), v_load_32f(weight + t * x->vectors * V32F_N), sum);
    return sum;
}

SN_INLINE void row_few_by(const struct sn_resize_axis * x, size_t channels, const sn_32f * src, sn_32f * dst, size_t taps,
                          bool copies, bool full)
{
    const struct sn_resize_axis axis = *x; /* which no store changes */
    const size_t all = x->dst * channels, n = sn_min(all, V32F_N), size = sn_min(x->src * channels, V32F_N);
    for (size_t v = 0; v < axis.vectors; ++v) {
        const size_t to = sn_min(v * V32F_N, all - n);
        if (full)
            v_store_32f(dst + to, of_sources(&axis, channels, v, src, taps, copies, size, true));
        else
            v_store_tail_32f(dst + to, of_sources(&axis, channels, v, src, taps, copies, size, false), n);
    }
}

/* `full`: rows of the source and of the result have a vector at least. */
static void row_few(const struct sn_resize_axis * x, size_t channels, const sn_32f * src, sn_32f * dst)
{
    const bool full = sn_min(x->src, x->dst) * channels >= V32F_N;
    if (x->copies && full)
        row_few_by(x, channels, src, dst, 1, true, true);
    else if (x->copies)
        row_few_by(x, channels, src, dst, 1, true, false);
    else if (x->taps == 2 && full)
        row_few_by(x, channels, src, dst, 2, false, true);
    else
        row_few_by(x, channels, src, dst, x->taps, false, full);
}

/* One channel, all elements twice, to `rows` rows from dst on. The last vector overlaps the one before. */
SN_INLINE void doubled(size_t size, const sn_32f * src, sn_32f * dst, size_t rows, size_t dstRow, bool stream)
{
    for (size_t next = 0; next < size; next += V32F_N) {
        const size_t i = sn_min(next, size - V32F_N);
        const v32f v = v_load_32f(src + i), low = v_zip_low_32f(v, v), high = v_zip_high_32f(v, v);
        SN_UNROLL for (size_t r = 0; r < rows; ++r)
        {
            put(dst + r * dstRow + 2 * i, low, stream);
            put(dst + r * dstRow + 2 * i + V32F_N, high, stream);
        }
    }
}

static void row(const struct sn_resize_axis * x, size_t channels, const sn_32f * src, sn_32f * dst)
{
    if (channels >= SN_RESIZE_WIDE)
        row_wide(x, channels, src, dst);
    else if (channels == 1 && x->doubles && x->src >= V32F_N)
        doubled(x->src, src, dst, 1, 0, false);
    else
        row_few(x, channels, src, dst);
}

/* ---- several rows: few channels */

/* Element e of V32F_N rows as one vector, for all elements; rows beyond n are the last one. */
SN_INLINE void to_columns(const struct sn_resize_rows * r, enum sn_resize_type type, size_t size)
{
    for (size_t next = 0; next < size; next += V32F_N) {
        const size_t e = sn_min(next, size - V32F_N);
        v32f square[V32F_N];
        SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
            square[i] = load_as(type, r->src[sn_min(i, r->n - 1)], e, V32F_N, true);
        v_transpose_32f(square);
        SN_UNROLL for (size_t i = 0; i < V32F_N; ++i) v_store_32f(r->work + (e + i) * V32F_N, square[i]);
    }
}

/* Element l of vector v of the rows, one in each lane. */
SN_INLINE v32f of_columns(const struct sn_resize_axis * x, size_t channels, const sn_32f * columns, size_t v, size_t l)
{
    const sn_32f * p = columns + (x->window[v].begin + (size_t)x->from[v * V32F_N + l]) * V32F_N;
    const sn_32f * weight = x->lane + v * V32F_N + l;
    v32f sum = v_mul_32f(v_load_32f(p), v_set_32f(*weight));
    for (size_t t = 1; t < x->taps; ++t) {
        p += channels * V32F_N;
        weight += x->vectors * V32F_N;
        sum = v_fma_32f(v_load_32f(p), v_set_32f(*weight), sum);
    }
    return sum;
}

/*
 * Lanes are rows: where the sources of neighbouring elements are far from each other, as they are when an image is made
 * smaller, all loads are of whole vectors. 3x480x640 to 224x224 with antialiasing, bytes and floats, takes 0.35 to 0.4 of the
 * time of row() on each row (avx2, Zen 3).
 */
static void rows(const struct sn_resize_axis * x, const struct sn_resize_rows * r)
{
    const size_t channels = r->channels, all = x->dst * channels;
    const struct sn_resize_axis axis = *x; /* which no store changes */
    switch (r->type) {
    case SN_RESIZE_32F: to_columns(r, SN_RESIZE_32F, x->src * channels); break;
    case SN_RESIZE_16B: to_columns(r, SN_RESIZE_16B, x->src * channels); break;
    case SN_RESIZE_16U: to_columns(r, SN_RESIZE_16U, x->src * channels); break;
    default: to_columns(r, SN_RESIZE_8U, x->src * channels);
    }
    for (size_t v = 0; v < axis.vectors; ++v) {
        const size_t to = sn_min(v * V32F_N, all - V32F_N);
        v32f square[V32F_N];
        SN_UNROLL for (size_t l = 0; l < V32F_N; ++l) square[l] = of_columns(&axis, channels, r->work, v, l);
        v_transpose_32f(square);
        SN_UNROLL for (size_t i = 0; i < V32F_N; ++i)
            if (i < r->n)
                v_store_32f(r->dst[i] + to, square[i]);
    }
}

/* ---- images of floats: both axes copy, or both have two taps */

SN_INLINE v32f between(v32f first, v32f second, const v32f weight[2])
{
    return v_fma_32f(second, weight[1], v_mul_32f(first, weight[0]));
}

/*
 * Pixels of whole vectors, the last of which overlaps the one before: rows i and, if `rows` is 2, i + 1, which have the same
 * sources.
 */
SN_INLINE v32f of_pixels(const sn_32f * p, size_t channels, const v32f weight[2], bool copies)
{
    return copies ? v_load_32f(p) : between(v_load_32f(p), v_load_32f(p + channels), weight);
}

SN_INLINE void wide_rows(const struct sn_resize_image * m, size_t i, size_t rows, bool copies)
{
    const size_t channels = m->channels;
    const sn_32f * src = m->src + m->y->begin[i] * m->srcRow;
    sn_32f * dst = m->dst + i * m->dstRow;
    v32f x[2] = {v_zero_32f(), v_zero_32f()}, y[2][2];
    SN_UNROLL for (size_t k = 0; k < 4; ++k)
        y[k / 2][k % 2] = copies || k >= 2 * rows ? v_zero_32f() : v_set_32f(m->y->weight[2 * i + k]);
    for (size_t j = 0; j < m->x->dst; ++j, dst += channels) {
        const sn_32f * p = src + m->x->begin[j] * channels;
        SN_UNROLL for (size_t t = 0; t < 2; ++t)
            x[t] = copies ? v_zero_32f() : v_set_32f(m->x->weight[2 * j + t]);
        for (size_t next = 0; next < channels; next += V32F_N) {
            const size_t c = sn_min(next, channels - V32F_N);
            const v32f upper = of_pixels(p + c, channels, x, copies);
            const v32f lower = copies ? upper : of_pixels(p + m->srcRow + c, channels, x, copies);
            SN_UNROLL for (size_t k = 0; k < rows; ++k)
                v_store_32f(dst + k * m->dstRow + c, copies ? upper : between(upper, lower, y[k]));
        }
    }
}

/* Few channels: vectors of all rows, one below the other. */
struct strip {
    size_t from, size, to, n; /* first element and number of elements of a row of the source and of the result */
    v32i left, right;
    v32f weight[2];
};

SN_INLINE struct strip strip_of(const struct sn_resize_image * m, size_t v, bool copies)
{
    const struct sn_resize_axis * x = m->x;
    const size_t channels = m->channels, all = x->dst * channels, n = sn_min(all, V32F_N);
    struct strip s = {.from = x->window[v].begin, .size = sn_min(x->src * channels, V32F_N),
        .to = sn_min(v * V32F_N, all - n), .n = n};
    s.left = v_load_32i(x->from + v * V32F_N);
    s.right = v_add_32i(s.left, v_set_32i((int32_t)channels));
    SN_UNROLL for (size_t t = 0; t < 2; ++t)
        s.weight[t] = copies ? v_zero_32f() : v_load_32f(x->lane + (t * x->vectors + v) * V32F_N);
    return s;
}

/* `full`: rows of the source and of the result have a vector at least. */
SN_INLINE v32f of_strip(const struct strip * s, const sn_32f * row, bool copies, bool full)
{
    const v32f table = load_part(row + s->from, s->size, full), left = v_lookup_32f(table, s->left);
    return copies ? left : between(left, v_lookup_32f(table, s->right), s->weight);
}

/* What a row of the source contributes is computed once, and stays in registers. Four strips at a time gain nothing. */
SN_INLINE void fill_strips(const struct sn_resize_image * m, size_t begin, size_t end, size_t v, size_t strips, bool copies,
                           bool full)
{
    const struct sn_resize_image i = *m; /* which no store changes */
    const uint32_t * rows = i.y->begin;
    const sn_32f * weight = i.y->weight;
    struct strip s[2];
    v32f upper[2], lower[2];
    size_t current = SIZE_MAX - 1;
    SN_UNROLL for (size_t g = 0; g < 2; ++g) {
        s[g] = strip_of(&i, v + (g < strips ? g : 0), copies);
        upper[g] = lower[g] = v_zero_32f();
    }
    for (size_t r = begin; r < end; ++r) {
        if (rows[r] != current) {
            const sn_32f * src = i.src + rows[r] * i.srcRow;
            SN_UNROLL for (size_t g = 0; g < strips; ++g) {
                upper[g] = !copies && rows[r] == current + 1 ? lower[g] : of_strip(&s[g], src, copies, full);
                if (!copies)
                    lower[g] = of_strip(&s[g], src + i.srcRow, copies, full);
            }
            current = rows[r];
        }
        v32f y[2];
        SN_UNROLL for (size_t t = 0; t < 2; ++t)
            y[t] = copies ? v_zero_32f() : v_set_32f(weight[2 * r + t]);
        SN_UNROLL for (size_t g = 0; g < strips; ++g) {
            const v32f result = copies ? upper[g] : between(upper[g], lower[g], y);
            if (full)
                v_store_32f(i.dst + r * i.dstRow + s[g].to, result);
            else
                v_store_tail_32f(i.dst + r * i.dstRow + s[g].to, result, s[g].n);
        }
    }
}

/* In bands of rows: the lines of the cache that strips share are still there when the next one is written. */
SN_INLINE void few_rows(const struct sn_resize_image * m, size_t begin, size_t end, bool copies)
{
    const size_t vectors = m->x->vectors, band = sn_max(4096 / m->dstRow, 8);
    const bool full = sn_min(m->x->src, m->x->dst) * m->channels >= V32F_N;
    for (size_t first = begin; first < end; first += band) {
        const size_t last = sn_min(end, first + band);
        size_t v = 0;
        for (; full && v + 2 <= vectors; v += 2)
            fill_strips(m, first, last, v, 2, copies, true);
        for (; v < vectors; ++v)
            fill_strips(m, first, last, v, 1, copies, false);
    }
}

SN_INLINE void image_by(const struct sn_resize_image * m, size_t begin, size_t end, bool copies)
{
    if (m->channels < V32F_N) {
        few_rows(m, begin, end, copies);
        return;
    }
    for (size_t i = begin; i < end; ++i)
        if (i + 1 < end && m->y->begin[i] == m->y->begin[i + 1])
            wide_rows(m, i++, 2, copies);
        else
            wide_rows(m, i, 1, copies);
}

/*
 * Rows of one channel with all elements twice. Two rows with the same source are written at once if they are short: 256x20x20
 * takes 0.82 of the time. Longer rows would be two streams: 128x80x80 takes 1.05 times as long so in the caches and 1.7 to 2.6
 * times from memory (Zen 4). Where stores bypass the caches the rows of each store are whole vectors.
 */
enum { SHORT_ROW = 64 }; /* floats */

SN_INLINE void doubled_rows(const struct sn_resize_image * m, size_t begin, size_t end, bool stream)
{
    for (size_t i = begin; i < end; ++i) {
        const sn_32f * src = m->src + m->y->begin[i] * m->srcRow;
        sn_32f * dst = m->dst + i * m->dstRow;
        if (m->dstRow <= SHORT_ROW && i + 1 < end && m->y->begin[i] == m->y->begin[i + 1]) {
            doubled(m->x->src, src, dst, 2, m->dstRow, stream);
            ++i;
        } else {
            doubled(m->x->src, src, dst, 1, 0, stream);
        }
    }
    if (stream)
        v_fence();
}

static void doubled_image(const struct sn_resize_image * m, size_t begin, size_t end)
{
    if (m->stream && m->x->src % V32F_N == 0 && m->dstRow % V32F_N == 0 && (uintptr_t)m->dst % sizeof(v32f) == 0)
        doubled_rows(m, begin, end, true);
    else
        doubled_rows(m, begin, end, false);
}

static void image(const struct sn_resize_image * m, size_t begin, size_t end)
{
    if (m->x->doubles && m->y->copies && m->channels == 1 && m->x->src >= V32F_N)
        doubled_image(m, begin, end);
    else if (m->x->copies)
        image_by(m, begin, end, true);
    else
        image_by(m, begin, end, false);
}

/* ---- columns */

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
    slots->rows = rows;
    slots->column = column;
    slots->image = image;
}
