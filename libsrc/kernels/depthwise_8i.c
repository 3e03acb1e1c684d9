/*
 * Quantised depthwise convolution by 16-bit products of pairs, which are the halves of 32-bit lanes: pairs of lines for 3x3,
 * pairs of taps for any kernel.
 */
#include "kernels/install.h"

enum { JOINED = 2, RUN = 1 };

#include "kernels/depthwise_8i.h"

/* The sum is kept, or gcc 12 adds products in an order of its own, for which it has to keep them in memory. */
SN_INLINE v32i joined_dot(v32i sum, v32i x, v32i w)
{
    sum = v_add_32i(sum, v_madd_16i_32i(v_cast_32i_16i(x), v_cast_32i_16i(w)));
    return v_cast_32f_32i(v_keep_32f(v_cast_32i_32f(sum)));
}

/* Channel 4 * i + k is in lane i of vector k: there are words for bytes of lanes. */
SN_INLINE size_t place(size_t c) { return c % 4 * V32F_N + c / 4; }

SN_INLINE v8u joined_bytes(const v32i v[VECTORS]) { return v_join_32i_8u(v[0], v[1], v[2], v[3]); }

/* Byte k of the lanes of two lines. */
SN_INLINE v32i pairs(v8u first, v8u second, int k)
{
    const v32i a = v_cast_8u_32i(first), b = v_cast_8u_32i(second), low = v_set_32i(255);
    switch (k) {
    case 0: return v_put_byte_32i(v_and_32i(a, low), v_shl_32i(b, 16), 2);
    case 1: return v_put_byte_32i(v_and_32i(v_shr_32i(a, 8), low), v_shl_32i(b, 8), 2);
    case 2: return v_put_byte_32i(v_and_32i(v_shr_32i(a, 16), low), b, 2);
    default: return v_put_byte_32i(v_shr_32i(a, 24), v_shr_32i(b, 8), 2);
    }
}

SN_INLINE void joined(const v8u line[LINES], int k, v32i x[GROUPS])
{
    SN_UNROLL for (int g = 0; g < GROUPS; ++g) x[g] = pairs(line[2 * g], line[2 * g + 1], k);
}

/* Four bytes of one in turns with four of the other. */
SN_INLINE v8u load_two(const uint8_t * p, const uint8_t * q, size_t n)
{
    const v32i a = v_cast_8u_32i(v_load_tail_8u(p, n)), b = v_cast_8u_32i(v_load_tail_8u(q, n));
    return v_cast_32i_8u(v_cast_32f_32i(v_zip_low_32f(v_cast_32i_32f(a), v_cast_32i_32f(b))));
}

SN_INLINE void store_two(uint8_t * p, uint8_t * q, v8u v, size_t n)
{
    const v32f x = v_cast_32i_32f(v_cast_8u_32i(v));
    v_store_tail_8u(p, v_cast_32i_8u(v_cast_32f_32i(v_even_32f(x, x))), n);
    v_store_tail_8u(q, v_cast_32i_8u(v_cast_32f_32i(v_odd_32f(x, x))), n);
}

SN_INLINE size_t place_two(size_t second, size_t c) { return c / 4 * 8 + second * 4 + c % 4; }

/* ---- any kernel */

static size_t pairs_of(size_t taps) { return (taps + 1) / 2; }

static size_t size(size_t taps, size_t channels, bool lines)
{
    return lines ? lines_size(channels) : pairs_of(taps) * 2 * sizeof(int16_t) * sn_ceil_div(channels, V32F_N) * V32F_N;
}

/* [vector of channels][pair of taps][channel][tap of the pair] */
static void pack(const int8_t * weight, bool planes, size_t taps, size_t channels, size_t lines, void * packed)
{
    int16_t * to = packed;
    const size_t pairs = pairs_of(taps);
    if (lines) {
        lines_pack(weight, planes, channels, packed);
        return;
    }
    for (size_t c = 0; c < channels; ++c)
        for (size_t t = 0; t < taps; ++t)
            to[((c / V32F_N * pairs + t / 2) * V32F_N + c % V32F_N) * 2 + t % 2] =
                weight[planes ? c * taps + t : t * channels + c];
}

/* The sums of up to V32F_N channels of one output. */
SN_INLINE v32i sum_of(const struct sn_depthwise_run_8i * d, const uint8_t * src, const int16_t * weight, size_t n)
{
    const size_t taps = d->kernelY * d->kernelX;
    v32i sum = v_set_32i(0);
    for (size_t t = 0; t < taps; t += 2, weight += V16I_N) {
        v32i x = v_load_tail_8u_32i(src + d->tap[t], n);
        if (t + 1 < taps)
            x = v_or_32i(x, v_shl_32i(v_load_tail_8u_32i(src + d->tap[t + 1], n), 16));
        sum = v_add_32i(sum, v_madd_16i_32i(v_cast_32i_16i(x), v_load_16i(weight)));
    }
    return sum;
}

static void run(const struct sn_depthwise_run_8i * d)
{
    if (!d->tap) {
        run_lines(d);
        return;
    }
    const size_t pairs = pairs_of(d->kernelY * d->kernelX);
    SN_ALIGNED int32_t sums[V8U_N];
    for (size_t c = 0; c < d->channels; c += V8U_N) {
        const size_t channels = sn_min(d->channels - c, V8U_N);
        const struct sn_result_8i result = result_from(d->result, c);
        for (size_t y = 0; y < d->rows; ++y)
            for (size_t x = 0; x < d->columns; ++x) {
                const uint8_t * src = d->src + y * d->strideY * d->srcStepY + x * d->strideX * d->srcStepX + c;
                const int16_t * weight = (const int16_t *)d->weight + c * 2 * pairs;
                for (size_t i = 0; i < channels; i += V32F_N, weight += pairs * V16I_N)
                    v_store_32i(sums + i, channels - i >= V32F_N ? sum_of(d, src + i, weight, V32F_N)
                                                                 : sum_of(d, src + i, weight, channels - i));
                result_rows(sums, 0, &result, channels,
                            d->dst + y * d->dstStepY + x * d->dstStepX + c * (result.bytes ? 1 : sizeof(float)), 0, 1);
            }
    }
}

void ISA_FN(install_depthwise_8i)(struct sn_table * table)
{
    table->depthwise_8i = (struct sn_depthwise_8i){run, size, pack};
}
