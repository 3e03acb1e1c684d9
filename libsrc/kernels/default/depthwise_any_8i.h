/*
 * Quantised depthwise convolution of any kernel by 16-bit products of pairs of taps. As with joined_8i.h, an instruction set
 * may replace this header by its own of the same name. It defines
 *
 *   any_size(taps, channels)                        bytes of the packed weights
 *   any_pack(weight, planes, taps, channels, to)    packs them
 *   any_run(d)                                      computes struct sn_depthwise_run_8i with taps
 */
#ifndef SN_KERNELS_DEFAULT_DEPTHWISE_ANY_8I_H
#define SN_KERNELS_DEFAULT_DEPTHWISE_ANY_8I_H

static size_t pairs_of(size_t taps) { return (taps + 1) / 2; }

static size_t any_size(size_t taps, size_t channels)
{
    return pairs_of(taps) * 2 * sizeof(int16_t) * sn_ceil_div(channels, V32F_N) * V32F_N;
}

/* [vector of channels][pair of taps][channel][tap of the pair] */
static void any_pack(const int8_t * weight, bool planes, size_t taps, size_t channels, void * packed)
{
    int16_t * to = packed;
    const size_t pairs = pairs_of(taps);
    for (size_t c = 0; c < channels; ++c)
        for (size_t t = 0; t < taps; ++t)
            to[((c / V32F_N * pairs + t / 2) * V32F_N + c % V32F_N) * 2 + t % 2] =
                weight[planes ? c * taps + t : t * channels + c];
}

/* The sums of up to V32F_N channels of one output, which begin with `sum`. */
SN_INLINE v32i sum_of(v32i sum, size_t taps, const size_t * tap, const uint8_t * src, const int16_t * weight, size_t n)
{
    for (size_t t = 0; t < taps; t += 2, weight += V16I_N) {
        v32i x = v_load_tail_8u_32i(src + tap[t], n);
        if (t + 1 < taps)
            x = v_or_32i(x, v_shl_32i(v_load_tail_8u_32i(src + tap[t + 1], n), 16));
        sum = v_add_32i(sum, v_madd_16i_32i(v_cast_32i_16i(x), v_load_16i(weight)));
    }
    return sum;
}

/* The sums of up to V8U_N channels of one output. */
SN_INLINE void sums_of(size_t taps, const size_t * tap, const uint8_t * src, const int16_t * weight,
                       const int32_t * start, size_t channels, int32_t * sums)
{
    const size_t pairs = pairs_of(taps);
    for (size_t i = 0; i < channels; i += V32F_N, weight += pairs * V16I_N) {
        const v32i from = v_load_32i(start + i);
        v_store_32i(sums + i, channels - i >= V32F_N ? sum_of(from, taps, tap, src + i, weight, V32F_N)
                                                     : sum_of(from, taps, tap, src + i, weight, channels - i));
    }
}

/* Outputs whose sums become results together. */
enum { TOGETHER = 8 };

static void any_run(const struct sn_depthwise_run_8i * d)
{
    const size_t taps = d->kernelY * d->kernelX;
    struct taps part;
    SN_ALIGNED int32_t sums[TOGETHER * V8U_N];
    for (size_t c = 0; c < d->channels; c += V8U_N) {
        const size_t channels = sn_min(d->channels - c, V8U_N);
        const struct sn_result_8i result = result_from(d->result, c);
        const int16_t * weight = (const int16_t *)d->weight + c * 2 * pairs_of(taps);
        taps_begin(&part, d);
        while (taps_next(&part))
            for (size_t y = part.y; y < part.endY; ++y) {
                const uint8_t * line = d->src + y * d->strideY * d->srcStepY + c;
                uint8_t * dst = d->dst + y * d->dstStepY + c * (result.bytes ? 1 : sizeof(float));
                for (size_t x = part.x, n; x < part.endX; x += n) {
                    n = sn_min(part.endX - x, TOGETHER);
                    for (size_t i = 0; i < n; ++i) {
                        const uint8_t * src = line + (x + i) * d->strideX * d->srcStepX;
                        taps_move(&part, src, part.moved);
                        sums_of(taps, part.at, src, weight, d->start + c, channels, sums + i * V8U_N);
                    }
                    result_rows(sums, V8U_N, &result, channels, dst + x * d->dstStepX, d->dstStepX, n);
                }
            }
    }
}

#endif
