/*
 * Separates channels into even and odd ones.
 *
 * NHWC: every pixel has an even number of channels, so these are the even and odd elements of the whole array. With one
 * source nothing else is needed; with two, a pixel of the result is the concatenation of one from each. Pixels wider than
 * half a vector are written one by one, by whole vectors whose surplus is overwritten by the next ones; narrow ones in
 * chunks: they are separated into buffers that fit in the L1 cache, which kernels/concat.h then concatenates.
 *
 * NCHW: planes are copied, also by whole vectors. If planes are smaller than half a vector, permutations collect the even
 * ones and the odd ones of a vector.
 */
#include "contract/shuffle.h"
#include "kernels/concat.h"
#include "kernels/install.h"

/* ---- even and odd elements */

/* Separates 2 * size elements of src. */
static void part(const sn_32f * src, size_t size, sn_32f * even, sn_32f * odd)
{
    size_t i = 0;
    for (; i + V32F_N <= size; i += V32F_N) {
        const v32f a = v_load_32f(src + 2 * i), b = v_load_32f(src + 2 * i + V32F_N);
        v_store_32f(even + i, v_even_32f(a, b));
        v_store_32f(odd + i, v_odd_32f(a, b));
    }
    if (i == size)
        return;
    const size_t n = 2 * (size - i);
    const v32f a = v_load_tail_32f(src + 2 * i, sn_min(n, V32F_N));
    const v32f b = n > V32F_N ? v_load_tail_32f(src + 2 * i + V32F_N, n - V32F_N) : v_zero_32f();
    v_store_tail_32f(even + i, v_even_32f(a, b), size - i);
    v_store_tail_32f(odd + i, v_odd_32f(a, b), size - i);
}

/* The same, reading and writing up to whole vectors. */
SN_INLINE void part_over(const sn_32f * src, size_t size, sn_32f * even, sn_32f * odd)
{
    for (size_t i = 0; i < size; i += V32F_N) {
        const v32f a = v_load_32f(src + 2 * i), b = v_load_32f(src + 2 * i + V32F_N);
        v_store_32f(even + i, v_even_32f(a, b));
        v_store_32f(odd + i, v_odd_32f(a, b));
    }
}

/* ---- NHWC: `number` pixels of size0 and size1 even channels, and as many odd ones */

static void part_wide(const sn_32f * src0, size_t size0, const sn_32f * src1, size_t size1, size_t number, sn_32f * dst0,
                      sn_32f * dst1)
{
    const size_t size = size0 + size1;
    /* At most V32F_N - 1 values, twice as many in the sources, are accessed beyond a pixel: those of this many pixels. */
    const size_t cut = sn_min(number, sn_ceil_div(V32F_N - 1, sn_min(size0, size1)));
    for (size_t q = 0; q < number; ++q) {
        const sn_32f * p0 = src0 + 2 * q * size0, * p1 = src1 + 2 * q * size1;
        sn_32f * even = dst0 + q * size, * odd = dst1 + q * size;
        if (q < number - cut) {
            part_over(p0, size0, even, odd);
            part_over(p1, size1, even + size0, odd + size0);
        } else {
            part(p0, size0, even, odd);
            part(p1, size1, even + size0, odd + size0);
        }
    }
}

enum { CHUNK = 1024 }; /* even elements of a chunk */

static void part_narrow(const sn_32f * src0, size_t size0, const sn_32f * src1, size_t size1, size_t number, sn_32f * dst0,
                        sn_32f * dst1)
{
    float even[CHUNK] SN_ALIGNED, odd[CHUNK] SN_ALIGNED;
    const size_t size = size0 + size1, step = CHUNK / size;
    for (size_t q = 0; q < number; q += step) {
        const size_t n = sn_min(number - q, step), second = n * size0;
        part(src0 + 2 * q * size0, n * size0, even, odd);
        part(src1 + 2 * q * size1, n * size1, even + second, odd + second);
        concat_32f(even, size0, even + second, size1, n, dst0 + q * size);
        concat_32f(odd, size0, odd + second, size1, n, dst1 + q * size);
    }
}

static void shuffle_nhwc_32f(const struct sn_shuffle * p, size_t begin, size_t end)
{
    const size_t size0 = p->srcC0 / 2, size1 = p->srcC1 / 2, size = size0 + size1, number = end - begin;
    const sn_32f * src0 = p->src0 + begin * p->srcC0, * src1 = p->src1 + begin * p->srcC1;
    sn_32f * dst0 = p->dst0 + begin * size, * dst1 = p->dst1 + begin * size;
    if (size0 == 0 || size1 == 0)
        part(size0 ? src0 : src1, number * size, dst0, dst1);
    else if (2 * size <= V32F_N)
        part_narrow(src0, size0, src1, size1, number, dst0, dst1);
    else
        part_wide(src0, size0, src1, size1, number, dst0, dst1);
}

/* ---- NCHW: `number` pairs of planes of `size` elements, one after the other */

static void part_small_planes(const sn_32f * src, size_t size, size_t number, sn_32f * even, sn_32f * odd)
{
    const size_t step = V32F_N / (2 * size); /* pairs in a vector */
    int32_t from[2][V32F_N];
    for (size_t l = 0; l < V32F_N; ++l)
        for (size_t k = 0; k < 2; ++k)
            from[k][l] = l < step * size ? (int32_t)((l / size * 2 + k) * size + l % size) : 0;
    const v32i evens = v_load_32i(from[0]), odds = v_load_32i(from[1]);
    for (size_t q = 0; q < number; q += step) {
        const size_t left = (number - q) * size;
        const sn_32f * p = src + 2 * q * size;
        const v32f x = 2 * left >= V32F_N ? v_load_32f(p) : v_load_tail_32f(p, 2 * left);
        const v32f a = v_lookup_32f(x, evens), b = v_lookup_32f(x, odds);
        if (left >= V32F_N) {
            v_store_32f(even + q * size, a);
            v_store_32f(odd + q * size, b);
        } else {
            v_store_tail_32f(even + q * size, a, left);
            v_store_tail_32f(odd + q * size, b, left);
        }
    }
}

/* The first plane of each pair. What is written beyond the end of one is overwritten by the next. */
static void every_second_plane(const sn_32f * src, size_t size, size_t number, sn_32f * dst)
{
    const size_t cut = sn_min(number, sn_ceil_div(V32F_N - 1, size));
    for (size_t q = 0; q < number - cut; ++q)
        concat_row(src + 2 * q * size, size, dst + q * size);
    for (size_t q = number - cut; q < number; ++q)
        concat_row_cut(src + 2 * q * size, size, dst + q * size);
}

static void part_planes(const sn_32f * src, size_t size, size_t number, sn_32f * even, sn_32f * odd)
{
    if (size == 1) {
        part(src, number, even, odd);
    } else if (2 * size <= V32F_N) {
        part_small_planes(src, size, number, even, odd);
    } else {
        every_second_plane(src, size, number, even);
        every_second_plane(src + size, size, number, odd);
    }
}

static void shuffle_nchw_32f(const struct sn_shuffle * p, size_t begin, size_t end)
{
    const size_t S = p->spatial, half = p->srcC0 / 2, middle = sn_max(begin, sn_min(end, half));
    if (begin < middle)
        part_planes(p->src0 + 2 * begin * S, S, middle - begin, p->dst0 + begin * S, p->dst1 + begin * S);
    if (middle < end)
        part_planes(p->src1 + 2 * (middle - half) * S, S, end - middle, p->dst0 + middle * S, p->dst1 + middle * S);
}

SN_INSTALL(shuffle, shuffle)
{
    slots->nchw_32f = shuffle_nchw_32f;
    slots->nhwc_32f = shuffle_nhwc_32f;
}
