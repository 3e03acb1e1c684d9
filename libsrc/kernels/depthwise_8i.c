/*
 * Quantised depthwise convolution by 16-bit products of pairs, which are the halves of 32-bit lanes: pairs of lines for 3x3,
 * pairs of taps for any kernel.
 */
#include "kernels/install.h"

enum { JOINED = 2 };

#include "kernels/depthwise_8i.h"

/* The sum is kept, or gcc 12 adds products in an order of its own, for which it has to keep them in memory. */
SN_INLINE v32i joined_dot(v32i sum, v32i x, v32i w)
{
    sum = v_add_32i(sum, v_madd_16i_32i(v_cast_32i_16i(x), v_cast_32i_16i(w)));
    return v_cast_32f_32i(v_keep_32f(v_cast_32i_32f(sum)));
}

SN_INLINE void joined(const uint8_t * const * from, size_t at, size_t n, uint8_t * to)
{
    SN_UNROLL for (size_t i = 0; i < V8U_N; i += V32F_N)
    {
        const size_t rest = n == V8U_N ? V32F_N : n > i ? sn_min(n - i, V32F_N) : 0;
        const v32i lower = rest == V32F_N ? v_load_8u_32i(from[0] + at + i) : v_load_tail_8u_32i(from[0] + at + i, rest);
        const v32i upper = rest == V32F_N ? v_load_8u_32i(from[1] + at + i) : v_load_tail_8u_32i(from[1] + at + i, rest);
        v_store_32i(to + 4 * i, v_or_32i(lower, v_shl_32i(upper, 16)));
    }
}

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
        lines_pack(weight, planes, lines, channels, packed);
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
        struct sn_result_8i result = *d->result;
        result.norm += c, result.bias += c, result.scale += c, result.low += c, result.high += c;
        result.slope += result.slope ? c : 0;
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
