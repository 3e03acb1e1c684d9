/*
 * Conversion of the sums of a quantised convolution to its results: struct sn_result_8i of contract/convolution_8i.h on
 * vectors. Each product and addition is rounded separately, so that results are bit-identical on all instruction sets.
 */
#ifndef SN_KERNELS_RESULT_8I_H
#define SN_KERNELS_RESULT_8I_H

#include "contract/convolution_8i.h"
#include "kernels/activate.h"

/* The values of sums of channels `at` on, before activations that activate_rows() applies. `type` is a constant, or is
 * tested for each vector. */
SN_INLINE v32f result_value(v32i sum, const struct sn_result_8i * r, size_t at, enum sn_activation type)
{
    v32f v = v_add_32f(v_mul_32f(v_cvt_32i_32f(sum), v_load_32f(r->norm + at)), v_load_32f(r->bias + at));
    if (type == SN_ACTIVATION_IDENTITY)
        return v;
    const v32f p0 = v_set_32f(r->param[0]), slope = type == SN_ACTIVATION_PRELU ? v_load_32f(r->slope + at) : p0;
    return activate_32f(v, type, slope, p0, v_set_32f(r->param[1]));
}

/* The bytes of values as integers; the order of min and max converts NaN to 0. */
SN_INLINE v32i result_integer(v32f v, const struct sn_result_8i * r, size_t at)
{
    const v32f t = v_add_32f(v_mul_32f(v, v_load_32f(r->scale + at)), v_set_32f(r->zero));
    return v_cvt_32f_32i(v_min_32f(v_max_32f(t, v_zero_32f()), v_set_32f(255)));
}

/* The bytes of requantised sums as integers. */
SN_INLINE v32i result_requantised(v32i sum, v32i first, v32f norm, v32i offset)
{
    return v_add_32i(v_cvt_32f_32i(v_mul_32f(v_cvt_32i_32f(v_add_32i(sum, first)), norm)), offset);
}

/* Stores n of these bytes. */
SN_INLINE void result_store(const v32i x[4], const struct sn_result_8i * r, size_t at, size_t n, uint8_t * dst)
{
    v8u bytes = v_pack_32i_8u(x[0], x[1], x[2], x[3]);
    bytes = v_min_8u(v_max_8u(bytes, v_load_8u(r->low + at)), v_load_8u(r->high + at));
    if (n == V8U_N)
        v_store_8u(dst, bytes);
    else
        v_store_tail_8u(dst, bytes, n);
}

/* Up to a vector of bytes of one row: n sums of channels `at` on. */
SN_INLINE void result_bytes(const int32_t * sums, const struct sn_result_8i * r, size_t at, size_t n, uint8_t * dst,
                            enum sn_activation type)
{
    v32i x[4];
    SN_UNROLL for (size_t i = 0; i < 4; ++i)
    {
        const size_t first = i * V32F_N;
        x[i] = first < n ? result_integer(result_value(v_load_32i(sums + first), r, at + first, type), r, at + first)
                         : v_set_32i(0);
    }
    result_store(x, r, at, n, dst);
}

/* The same of requantised sums, limited before they become integers, since they may exceed these. */
static __attribute__((noinline, unused)) void result_unbounded(const int32_t * sums, const struct sn_result_8i * r, size_t at,
                                                               size_t n, uint8_t * dst)
{
    const v32f low = v_set_32f((float)-r->offset), high = v_set_32f((float)(255 - r->offset));
    v32i x[4];
    SN_UNROLL for (size_t i = 0; i < 4; ++i)
    {
        const size_t first = i * V32F_N;
        x[i] = v_set_32i(0);
        if (first >= n)
            continue;
        const v32i sum = v_add_32i(v_load_32i(sums + first), v_load_32i(r->first + at + first));
        const v32f v = v_mul_32f(v_cvt_32i_32f(sum), v_load_32f(r->norm + at + first));
        x[i] = v_add_32i(v_cvt_32f_32i(v_min_32f(v_max_32f(v, low), high)), v_set_32i(r->offset));
    }
    result_store(x, r, at, n, dst);
}

SN_INLINE void result_floats(const int32_t * sums, const struct sn_result_8i * r, size_t at, size_t n, uint8_t * dst)
{
    for (size_t i = 0; i < n; i += V32F_N) {
        const v32f v = result_value(v_load_32i(sums + i), r, at + i, r->activation);
        v_store_tail_32f(dst + i * sizeof(float), v, sn_min(n - i, V32F_N));
    }
}

/* The results of n sums of channels `at` on, with an activation that activate_rows() applies. */
static __attribute__((noinline, unused)) void result_activated(const int32_t * sums, const struct sn_result_8i * r, size_t at,
                                                               size_t n, uint8_t * dst)
{
    float values[V8U_N] = {0};
    v32i x[4];
    uint8_t * floats = r->bytes ? (uint8_t *)values : dst;
    result_floats(sums, r, at, n, floats);
    ACTIVATE_ROWS((sn_32f *)(void *)floats, 1, n, 0, r->activation, r->param);
    if (!r->bytes)
        return;
    SN_UNROLL for (size_t i = 0; i < 4; ++i)
        x[i] = i * V32F_N < n ? result_integer(v_load_32f(values + i * V32F_N), r, at + i * V32F_N) : v_set_32i(0);
    result_store(x, r, at, n, dst);
}

/*
 * Bytes of bounded values, rows of sums `step` apart: the constants stay in registers. Multiplications and additions are
 * balanced between their execution units: x * 1 + b is x + b.
 */
SN_INLINE void result_bounded(const int32_t * sums, size_t step, const struct sn_result_8i * r, size_t n, uint8_t * dst,
                              size_t dstStep, size_t rows)
{
    const v32f zero = v_set_32f(r->zero), one = v_set_32f(1);
    const v8u low = v_load_8u(r->low), high = v_load_8u(r->high);
    v32f norm[4], bias[4], scale[4];
    SN_UNROLL for (size_t i = 0; i < 4; ++i)
    {
        const bool used = i * V32F_N < n;
        norm[i] = used ? v_load_32f(r->norm + i * V32F_N) : zero;
        bias[i] = used ? v_load_32f(r->bias + i * V32F_N) : zero;
        scale[i] = used ? v_load_32f(r->scale + i * V32F_N) : zero;
    }
    for (; rows; --rows, sums += step, dst += dstStep) {
        v32i x[4];
        SN_UNROLL for (size_t i = 0; i < 4; ++i)
        {
            x[i] = v_set_32i(0);
            if (i * V32F_N < n) {
                const v32f v = v_fma_32f(v_mul_32f(v_cvt_32i_32f(v_load_32i(sums + i * V32F_N)), norm[i]), one, bias[i]);
                x[i] = v_cvt_32f_32i(v_add_32f(v_mul_32f(v, scale[i]), zero));
            }
        }
        const v8u bytes = v_min_8u(v_max_8u(v_pack_32i_8u(x[0], x[1], x[2], x[3]), low), high);
        if (n == V8U_N)
            v_store_8u(dst, bytes);
        else
            v_store_tail_8u(dst, bytes, n);
    }
}

/* The same of bounded requantised sums. */
SN_INLINE void result_bounded_requantised(const int32_t * sums, size_t step, const struct sn_result_8i * r, size_t n,
                                          uint8_t * dst, size_t dstStep, size_t rows)
{
    const v32i offset = v_set_32i(r->offset), zero = v_set_32i(0);
    const v8u low = v_load_8u(r->low), high = v_load_8u(r->high);
    v32f norm[4];
    v32i first[4];
    SN_UNROLL for (size_t i = 0; i < 4; ++i)
    {
        const bool used = i * V32F_N < n;
        norm[i] = used ? v_load_32f(r->norm + i * V32F_N) : v_set_32f(0);
        first[i] = used ? v_load_32i(r->first + i * V32F_N) : zero;
    }
    for (; rows; --rows, sums += step, dst += dstStep) {
        v32i x[4];
        SN_UNROLL for (size_t i = 0; i < 4; ++i)
            x[i] = i * V32F_N < n ? result_requantised(v_load_32i(sums + i * V32F_N), first[i], norm[i], offset) : zero;
        const v8u bytes = v_min_8u(v_max_8u(v_pack_32i_8u(x[0], x[1], x[2], x[3]), low), high);
        if (n == V8U_N)
            v_store_8u(dst, bytes);
        else
            v_store_tail_8u(dst, bytes, n);
    }
}

/* A row of sums, in whole vectors, to `channels` results. */
SN_INLINE void result_row(const int32_t * sums, const struct sn_result_8i * r, size_t channels, uint8_t * dst)
{
    for (size_t at = 0; at < channels; at += V8U_N) {
        const size_t n = sn_min(channels - at, V8U_N);
        if (r->sums)
            memcpy(dst + at * sizeof(*sums), sums + at, n * sizeof(*sums));
        else if (r->requantised)
            result_unbounded(sums + at, r, at, n, dst + at);
        else if (activates_rows(r->activation))
            result_activated(sums + at, r, at, n, dst + at * (r->bytes ? 1 : sizeof(float)));
        else if (!r->bytes)
            result_floats(sums + at, r, at, n, dst + at * sizeof(float));
        else
            result_bytes(sums + at, r, at, n, dst + at, r->activation);
    }
}

/* The same from channel `first` on. */
static inline struct sn_result_8i result_from(const struct sn_result_8i * all, size_t first)
{
    struct sn_result_8i r = *all;
    r.norm += first, r.bias += first, r.scale += first, r.low += first, r.high += first;
    r.slope = r.slope ? r.slope + first : NULL;
    r.first = r.first ? r.first + first : NULL;
    return r;
}

/* Whether results are bounded bytes, which take fewer operations. */
SN_INLINE bool result_is_bounded(const struct sn_result_8i * r)
{
    return r->bytes && r->bounded && r->activation == SN_ACTIVATION_IDENTITY && !r->requantised;
}

/* Whether the fast loops make the results: bounded bytes, or bounded requantised sums. */
SN_INLINE bool result_is_quick(const struct sn_result_8i * r)
{
    return r->requantised ? r->bounded : result_is_bounded(r);
}

/* Whether bounded bytes of n channels, V8U_N or V32F_N, take even fewer: the zero point is 0, the limits those of a byte. */
SN_INLINE bool result_is_plain(const struct sn_result_8i * r, size_t n)
{
    int used = 0;
    for (size_t i = 0; i < n; ++i)
        used |= r->low[i] | (255 - r->high[i]);
    return r->zero == 0 && used == 0 && !r->requantised;
}

/* Rows of sums to n results each, which are quick. */
SN_INLINE void result_quick(const int32_t * sums, size_t step, const struct sn_result_8i * r, size_t n, uint8_t * dst,
                            size_t dstStep, size_t rows)
{
    if (r->requantised)
        result_bounded_requantised(sums, step, r, n, dst, dstStep, rows);
    else
        result_bounded(sums, step, r, n, dst, dstStep, rows);
}

/* At most V8U_N rows of sums, in whole vectors, to `channels` results each. Panels of half a vector of bytes, as of the widest
 * tile of avx2, have loops without conditions: 64x56x56 to 64 channels 1x1 takes 0.93 of the time. */
static __attribute__((noinline, unused)) void result_rows(const int32_t * sums, size_t step, const struct sn_result_8i * r,
                                                          size_t channels, uint8_t * dst, size_t dstStep, size_t rows)
{
    const bool quick = result_is_quick(r) && channels <= V8U_N;
    if (quick && channels == V8U_N / 2)
        result_quick(sums, step, r, V8U_N / 2, dst, dstStep, rows);
    else if (quick)
        result_quick(sums, step, r, channels, dst, dstStep, rows);
    else
        for (; rows; --rows, sums += step, dst += dstStep)
            result_row(sums, r, channels, dst);
}

/* Limits of the bytes of four rows of a vector of sums. */
struct result_limits {
    SN_ALIGNED uint8_t low[V8U_N], high[V8U_N];
};

static inline struct result_limits result_limits_of(const struct sn_result_8i * r)
{
    struct result_limits l;
    for (size_t i = 0; i < V8U_N; i += V32F_N) {
        memcpy(l.low + i, r->low, V32F_N);
        memcpy(l.high + i, r->high, V32F_N);
    }
    return l;
}

/*
 * Rows of a vector of sums, a multiple of four, to quick results: four vectors become bytes together. Without gaps between rows,
 * with avxvnni, 8x60x60 to 8 by 3x3 takes 0.76 of the time, 8x128x378 to 8 by 4x4 0.84, 24x80x80 to 24 by 1x1 in
 * NCHW 0.88; with avx512vnni 16x80x80 to 16 by 3x3 0.96 (Xeon with AMX). Rows of two vectors gain nothing.
 * With gaps, of groups or of the last panel, 104x28x28 by 1x1 in 13 groups takes 0.92 to 0.98, 64x28x28 by 3x3 in 8 groups 0.89 to
 * 0.97, 64x56x56 to 24 with avxvnni 0.88.
 */
static __attribute__((noinline, unused)) void result_joined(const int32_t * sums, const struct sn_result_8i * r,
                                                            const struct result_limits * l, uint8_t * dst, size_t dstStep,
                                                            size_t rows)
{
    SN_ALIGNED uint8_t bytes[V8U_N];
    const v32f zero = v_set_32f(r->zero), one = v_set_32f(1), norm = v_load_32f(r->norm);
    const v8u low = v_load_8u(l->low), high = v_load_8u(l->high);
    const v32i offset = v_set_32i(r->offset), first = r->requantised ? v_load_32i(r->first) : offset;
    const v32f bias = r->requantised ? zero : v_load_32f(r->bias), scale = r->requantised ? zero : v_load_32f(r->scale);
    for (; rows; rows -= 4, sums += 4 * V32F_N, dst += 4 * dstStep) {
        v32i x[4];
        if (r->requantised)
            SN_UNROLL for (size_t i = 0; i < 4; ++i)
                x[i] = result_requantised(v_load_32i(sums + i * V32F_N), first, norm, offset);
        else
            SN_UNROLL for (size_t i = 0; i < 4; ++i)
            {
                const v32f v = v_fma_32f(v_mul_32f(v_cvt_32i_32f(v_load_32i(sums + i * V32F_N)), norm), one, bias);
                x[i] = v_cvt_32f_32i(v_add_32f(v_mul_32f(v, scale), zero));
            }
        v_store_8u(dstStep == V32F_N ? dst : bytes, v_min_8u(v_max_8u(v_pack_32i_8u(x[0], x[1], x[2], x[3]), low), high));
        if (dstStep > V32F_N)
            SN_UNROLL for (size_t i = 0; i < 4; ++i) memcpy(dst + i * dstStep, bytes + i * V32F_N, V32F_N);
    }
}

#endif
