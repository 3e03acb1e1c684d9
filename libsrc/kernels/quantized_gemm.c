/*
 * Packs rows of B for the tile of products of bytes: numbers of a column that are multiplied together become neighbours. Rows
 * of A, and results of sums that the tile cannot convert.
 */
#include <float.h>

#include "contract/quantized_gemm.h"
#include "kernels/install.h"

/* Bytes `at` on of row k in lanes of 32 bits, 0 behind the last row. */
SN_INLINE v32i bytes_of(const struct sn_quantized_pack * p, size_t k, size_t at, size_t n)
{
    if (k >= p->rows)
        return v_set_32i(0);
    const uint8_t * from = p->b + k * p->step + at;
    return n == V32F_N ? v_load_8u_32i(from) : v_load_tail_8u_32i(from, n);
}

/* Four bytes with a sign: those without one less 128. */
SN_INLINE v32i four(const struct sn_quantized_pack * p, size_t k, size_t at, size_t n)
{
    const v32i low = v_or_32i(bytes_of(p, k, at, n), v_shl_32i(bytes_of(p, k + 1, at, n), 8));
    const v32i high = v_or_32i(v_shl_32i(bytes_of(p, k + 2, at, n), 16), v_shl_32i(bytes_of(p, k + 3, at, n), 24));
    return v_xor_32i(v_or_32i(low, high), v_set_32i(p->with_sign ? 0 : (int32_t)0x80808080));
}

/* The low bytes of lanes as two numbers of 16 bits: the sign is copied from bit 7. */
SN_INLINE v32i pair(v32i low, v32i high)
{
    return v_or_32i(v_shr_32i(v_sra_32i(v_shl_32i(low, 24), 8), 16),
                    v_and_32i(v_sra_32i(v_shl_32i(high, 24), 8), v_set_32i((int32_t)0xFFFF0000)));
}

/* The same as two numbers of 16 bits. */
SN_INLINE v32i two(const struct sn_quantized_pack * p, size_t k, size_t at, size_t n)
{
    const v32i flip = v_set_32i(p->with_sign ? 0 : 0x80);
    return pair(v_xor_32i(bytes_of(p, k, at, n), flip), v_xor_32i(bytes_of(p, k + 1, at, n), flip));
}

SN_INLINE void pack_groups(const struct sn_quantized_pack * p, size_t group)
{
    uint8_t * to = p->panel;
    for (size_t k = 0; k < p->rows; k += group, to += p->width * 4)
        for (size_t j = 0; j < p->columns; j += V32F_N) {
            const size_t n = sn_min(V32F_N, p->columns - j);
            v_store_32i(to + j * 4, group == 4 ? four(p, k, j, n) : two(p, k, j, n));
        }
}

static void pack(const struct sn_quantized_pack * p)
{
    if (p->group == 4)
        pack_groups(p, 4);
    else
        pack_groups(p, 2);
}

static void widen(const uint8_t * from, size_t count, uint8_t * to)
{
    for (size_t i = 0; i < count; i += V16I_N)
        v_store_16i(to + 2 * i, v_load_8i_16i(from + i));
}

static void narrow(const uint8_t * from, size_t count, uint8_t * to)
{
    for (size_t i = 0; i < count; i += V8U_N)
        v_store_8u(to + i, v_even_8u(v_load_8u(from + 2 * i), v_load_8u(from + 2 * i + V8U_N)));
}

static void split(const uint8_t * from, size_t rows, size_t count, bool with_sign, uint8_t * to)
{
    const v32i flip = v_set_32i(with_sign ? 0 : (int32_t)0x80808080);
    for (; rows; --rows, from += count * 4, to += count * 8)
        for (size_t j = 0; j < count * 4; j += V8U_N) {
            const v32i x = v_xor_32i(v_load_32i(from + j), flip);
            v_store_32i(to + j, pair(x, v_shr_32i(x, 8)));
            v_store_32i(to + count * 4 + j, pair(v_shr_32i(x, 16), v_shr_32i(x, 24)));
        }
}

/* ---- rows of A */

enum { MOST_SUMS = 32 }; /* vectors of bytes whose sums fit into 16 bits with a sign */

/* Of neighbours, 16 bits each. */
SN_INLINE v32i sums_of_bytes(v32i x)
{
    const v32i low = v_set_32i(0x00FF00FF);
    return v_add_32i(v_and_32i(x, low), v_and_32i(v_shr_32i(x, 8), low));
}

SN_INLINE int32_t sum_of_lanes(v32i x)
{
    int32_t lane[V32F_N], sum = 0;
    v_store_32i(lane, x);
    for (size_t i = 0; i < V32F_N; ++i)
        sum += lane[i];
    return sum;
}

static int32_t sum_of_row(const uint8_t * a, size_t size, bool with_sign)
{
    const v32i flip = v_set_32i(with_sign ? (int32_t)0x80808080 : 0);
    const v16i one = v_set_16i(1);
    const size_t whole = size / V8U_N * V8U_N, rest = size - whole;
    v32i sum = v_set_32i(0);
    for (size_t i = 0, end; i < whole; i = end) {
        v32i some = v_set_32i(0);
        end = sn_min(whole, i + MOST_SUMS * V8U_N);
        for (size_t k = i; k < end; k += V8U_N)
            some = v_add_32i(some, sums_of_bytes(v_xor_32i(v_load_32i(a + k), flip)));
        sum = v_add_32i(sum, v_madd_16i_32i(v_cast_32i_16i(some), one));
    }
    if (rest == 0)
        return sum_of_lanes(sum);
    const v32i last = sums_of_bytes(v_xor_32i(v_cast_8u_32i(v_load_tail_8u(a + whole, rest)), flip));
    return sum_of_lanes(v_add_32i(sum, v_madd_16i_32i(v_cast_32i_16i(last), one))) -
           (with_sign ? (int32_t)(V8U_N - rest) * 128 : 0); /* what is behind the row */
}

static void copy_row(const uint8_t * a, size_t size, bool with_sign, uint8_t * to)
{
    const v32i flip = v_set_32i(with_sign ? (int32_t)0x80808080 : 0);
    size_t k = 0;
    for (; k + V8U_N <= size; k += V8U_N)
        v_store_32i(to + k, v_xor_32i(v_load_32i(a + k), flip));
    if (k < size) {
        const v32i last = v_cast_8u_32i(v_load_tail_8u(a + k, size - k));
        v_store_tail_8u(to + k, v_cast_32i_8u(v_xor_32i(last, flip)), size - k);
    }
}

static void widen_row(const uint8_t * a, size_t size, bool with_sign, uint8_t * to)
{
    const v32i flip = v_set_32i(with_sign ? 0x00800080 : 0);
    size_t k = 0;
    for (; k + V16I_N <= size; k += V16I_N)
        v_store_32i(to + 2 * k, v_xor_32i(v_cast_16i_32i(v_load_8u_16i(a + k)), flip));
    if (k < size) {
        const v32i last = v_cast_16i_32i(v_load_tail_8u_16i(a + k, size - k));
        v_store_tail_16i(to + 2 * k, v_cast_32i_16i(v_xor_32i(last, flip)), size - k);
    }
}

static void rows(const struct sn_quantized_rows * r)
{
    for (size_t i = 0; i < r->rows; ++i) {
        const uint8_t * a = r->a + i * r->step;
        if (r->sum)
            r->sum[i] = sum_of_row(a, r->size, r->with_sign);
        if (r->to && r->wide)
            widen_row(a, r->size, r->with_sign, r->to + i * r->pitch);
        else if (r->to)
            copy_row(a, r->size, r->with_sign, r->to + i * r->pitch);
    }
}

/* ---- columns and results */

/* x * y that wraps, y in the range of 16 bits with a sign. */
SN_INLINE v32i times(v32i x, v32i y)
{
    const v32i low = v_and_32i(y, v_set_32i(0xFFFF)), high = v_shl_32i(y, 16);
    const v16i halves = v_cast_32i_16i(v_add_32i(x, v_shl_32i(v_and_32i(x, v_set_32i(0x8000)), 1))); /* the low has a sign */
    return v_add_32i(v_madd_16i_32i(halves, v_cast_32i_16i(low)),
                     v_shl_32i(v_madd_16i_32i(halves, v_cast_32i_16i(high)), 16));
}

/* The first n numbers of a vector, 0 behind them. */
SN_INLINE v32f some_32f(const sn_32f * p, size_t n) { return n == V32F_N ? v_load_32f(p) : v_load_tail_32f(p, n); }
SN_INLINE v32i some_32i(const sn_32i * p, size_t n) { return n == V32F_N ? v_load_32i(p) : v_load_tail_32i(p, n); }

/* The zeros of columns from j on, of bytes with a sign. */
SN_INLINE v32i zeros_of(const struct sn_quantized_gemm * g, size_t j, size_t n)
{
    if (!g->zeroB || !g->perColumn)
        return v_set_32i(sn_quantized_zero(g->zeroB, false, g->signedB, 0) - (g->signedB ? 0 : 128));
    const v32i zero = n == V32F_N ? v_load_8u_32i(g->zeroB + j) : v_load_tail_8u_32i(g->zeroB + j, n);
    return g->signedB ? v_sra_32i(v_shl_32i(zero, 24), 24) : v_sub_32i(zero, v_set_32i(128));
}

SN_INLINE v32f norms_of(const struct sn_quantized_gemm * g, size_t j, size_t n)
{
    const bool each = g->scaleB && g->perColumn;
    v32f norm = each ? some_32f(g->scaleB + j, n) : v_set_32f(g->scaleB ? g->scaleB[0] : 1);
    if (g->perRow)
        return norm;
    norm = v_mul_32f(v_set_32f(g->scaleA ? g->scaleA[0] : 1), norm);
    return sn_quantized_element(g->type) == 1 ? v_div_32f(norm, v_set_32f(g->scaleC)) : norm;
}

static void columns(const struct sn_quantized_columns * c)
{
    const struct sn_quantized_gemm * g = c->g;
    const bool floats = g->bias && g->type == SN_DATA_32F, integers = g->bias && !floats;
    const v32i factor = v_set_32i(c->factor);
    for (size_t j = 0; j < c->columns; j += V32F_N) {
        const size_t n = sn_min(V32F_N, c->columns - j), at = c->first + j;
        const v32i start = times(some_32i(c->sumB + j, n), factor);
        const v32i bias = integers ? some_32i((const sn_32i *)g->bias + at, n) : v_set_32i(0);
        v_store_32i(c->start + j, c->joined ? v_add_32i(start, bias) : start);
        v_store_32f(c->norm + j, norms_of(g, at, n));
        v_store_32f(c->biasFloat + j, floats ? some_32f((const sn_32f *)g->bias + at, n) : v_zero_32f());
        if (c->joined)
            continue;
        v_store_32i(c->bias + j, bias);
        v_store_32i(c->zero + j, zeros_of(g, at, n));
    }
}

static bool are_scales(const sn_32f * scale, size_t count)
{
    const v32f zero = v_zero_32f(), one = v_set_32f(1), most = v_set_32f(FLT_MAX);
    v32f good = one;
    for (size_t i = 0; i < count; i += V32F_N) {
        const v32f x = some_32f(scale + i, sn_min(V32F_N, count - i));
        good = v_select_32f(v_le_32f(x, most), v_select_32f(v_le_32f(zero, x), good, zero), zero);
    }
    return !v_any(v_lt_32f(good, one));
}

/* The values of a row. */
struct row {
    v32i zero, rest; /* of A, and what zeros of B are multiplied by */
    v32f scale, divisor;
    bool scales, divides;
};

SN_INLINE struct row row_of(const struct sn_quantized_finish * f, size_t i)
{
    const struct sn_quantized_gemm * g = f->g;
    const uint32_t zero = (uint32_t)sn_quantized_zero_of_row(g, i);
    return (struct row){.zero = v_set_32i((int32_t)zero),
        .rest = v_set_32i((int32_t)((uint32_t)f->sumA[i] - (uint32_t)g->K * zero)),
        .scale = v_set_32f(g->perRow && g->scaleA ? g->scaleA[i] : 1), .divisor = v_set_32f(g->scaleC),
        .scales = g->perRow, .divides = g->perRow && sn_quantized_element(g->type) == 1};
}

/* A vector of complete sums, columns j on. */
SN_INLINE v32i complete(const struct sn_quantized_finish * f, const struct row * row, const int32_t * sums, size_t j)
{
    const v32i zeros = v_add_32i(times(v_load_32i(f->sumB + j), row->zero), times(row->rest, v_load_32i(f->zeroB + j)));
    return v_sub_32i(v_add_32i(v_load_32i(sums + j), v_load_32i(f->bias + j)), zeros);
}

SN_INLINE v32f scaled(const struct sn_quantized_finish * f, const struct row * row, v32i sum, size_t j)
{
    v32f norm = v_load_32f(f->norm + j);
    if (row->scales)
        norm = v_mul_32f(row->scale, norm);
    if (row->divides)
        norm = v_div_32f(norm, row->divisor);
    return v_mul_32f(v_cvt_32i_32f(sum), norm);
}

/* Up to a vector of bytes of a row, from their sums; NaN becomes the least. */
SN_INLINE void finish_bytes(const struct sn_quantized_finish * f, const struct row * row, const int32_t * sums, size_t j,
                            size_t n, uint8_t * to)
{
    const int32_t move = f->g->type == SN_DATA_8I ? 128 : 0, zero = f->g->zeroC + move;
    const v32f low = v_set_32f((float)-zero), high = v_set_32f((float)(255 - zero));
    const v32i flip = v_set_32i(move ? (int32_t)0x80808080 : 0);
    v32i x[4];
    SN_UNROLL for (size_t q = 0; q < 4; ++q) {
        const size_t at = q * V32F_N;
        x[q] = v_set_32i(0);
        if (at >= n)
            continue;
        const v32f v = scaled(f, row, complete(f, row, sums, j + at), j + at);
        x[q] = v_add_32i(v_cvt_32f_32i(v_min_32f(v_max_32f(v, low), high)), v_set_32i(zero));
    }
    const v8u bytes = v_cast_32i_8u(v_xor_32i(v_cast_8u_32i(v_pack_32i_8u(x[0], x[1], x[2], x[3])), flip));
    v_store_tail_8u(to + j, bytes, n);
}

static void finish_row(const struct sn_quantized_finish * f, size_t i, const int32_t * sums)
{
    const struct sn_quantized_gemm * g = f->g;
    const struct row row = row_of(f, i);
    uint8_t * to = g->C + (i * g->N + f->first) * sn_quantized_element(g->type);
    if (sn_quantized_element(g->type) == 1) {
        for (size_t j = 0; j < f->columns; j += V8U_N)
            finish_bytes(f, &row, sums, j, sn_min(V8U_N, f->columns - j), to);
        return;
    }
    for (size_t j = 0; j < f->columns; j += V32F_N) {
        const size_t n = sn_min(V32F_N, f->columns - j);
        const v32i sum = complete(f, &row, sums, j);
        if (g->type == SN_DATA_32I)
            v_store_tail_32i(to + j * 4, sum, n);
        else
            v_store_tail_32f(to + j * 4, v_add_32f(scaled(f, &row, sum, j), v_load_32f(f->biasFloat + j)), n);
    }
}

static void finish(const struct sn_quantized_finish * f)
{
    for (size_t i = 0; i < f->rows; ++i)
        finish_row(f, f->row + i, f->sums + i * f->step);
}

SN_INSTALL(quantized_gemm, quantized_gemm)
{
    slots->pack = pack;
    slots->widen = widen;
    slots->narrow = narrow;
    slots->split = split;
    slots->rows = rows;
    slots->columns = columns;
    slots->are_scales = are_scales;
    slots->finish = finish;
}
