/*
 * Quantised depthwise convolution of flat lines (struct sn_flat_run_8i): vectors hold neighbouring bytes of a line, whatever
 * their pixels and channels. For planes of NCHW, which need not become pixels for it, and for pixels of few channels, which
 * would leave most of a vector unused.
 *
 * The taps of a vector of outputs are read at any address, joined in fours, and multiplied; the loads, each used once, and
 * the joins of every tap are what lines of pixels avoid (lines_8i.h). See ops/convolution/8i_flat.c for what was gained.
 * Expects joined_8i.h.
 */
#ifndef SN_KERNELS_DEPTHWISE_FLAT_8I_H
#define SN_KERNELS_DEPTHWISE_FLAT_8I_H

#include "kernels/depthwise/block_8i.h"

/* ---- weights: [plane][group][number], or for pixels [phase][quad of taps][vector][group of the quad][lane][number] */

static size_t flat_quads(size_t taps) { return sn_ceil_div(taps, FOUR_LINES); }

/* Vectors after which the channels are again those of the first. */
static size_t flat_phases(size_t channels)
{
    size_t a = channels, b = V8U_N;
    while (b) {
        const size_t rest = a % b;
        a = b, b = rest;
    }
    return channels / a;
}

/* The bytes of the weights of a plane, or of those of a phase. */
static size_t flat_weights(size_t taps, bool planes)
{
    return flat_quads(taps) * (planes ? FOUR_LINES * (4 / JOINED) : VECTORS * GROUPS * V8U_N);
}

static size_t flat_size(bool planes, size_t taps, size_t channels)
{
    return flat_weights(taps, planes) * (planes ? channels : flat_phases(channels));
}

static void flat_pack_planes(const int8_t * weight, size_t taps, size_t channels, uint8_t * to)
{
    for (size_t c = 0; c < channels; ++c, to += flat_weights(taps, true))
        for (size_t t = 0; t < taps; ++t)
            put_number(to, t, weight[c * taps + t]);
}

static void flat_pack_pixels(const int8_t * weight, size_t taps, size_t channels, uint8_t * to)
{
    for (size_t phase = 0; phase < flat_phases(channels); ++phase, to += flat_weights(taps, false))
        for (size_t i = 0; i < V8U_N * taps; ++i) {
            const size_t byte = i / taps, t = i % taps, k = place(byte) / V32F_N;
            const size_t vector = (t / FOUR_LINES * VECTORS + k) * GROUPS + t % FOUR_LINES / JOINED;
            put_number(to, (vector * V32F_N + place(byte) % V32F_N) * JOINED + t % JOINED,
                       weight[t * channels + (phase * V8U_N + byte) % channels]);
        }
}

static void flat_pack(bool planes, size_t taps, size_t channels, const int8_t * weight, void * packed)
{
    (planes ? flat_pack_planes : flat_pack_pixels)(weight, taps, channels, packed);
}

/* ---- sums */

/* Adds `groups` groups of a quad of taps. */
SN_INLINE void flat_quad(const uint8_t * src, const size_t * tap, const uint8_t * weight, int groups, bool planes,
                         v32i sum[VECTORS])
{
    v8u line[FOUR_LINES];
    SN_UNROLL for (int i = 0; i < FOUR_LINES; ++i) line[i] = v_load_8u(src + tap[i < groups * JOINED ? i : 0]);
    SN_UNROLL for (int k = 0; k < VECTORS; ++k)
    {
        v32i x[GROUPS];
        joined(line, k, x);
        SN_UNROLL for (int g = 0; g < groups; ++g)
        {
            int32_t numbers;
            memcpy(&numbers, weight + 4 * g, sizeof(numbers));
            const v32i w = planes ? v_set_32i(numbers) : v_load_32i(weight + (k * GROUPS + g) * (int)V8U_N);
            sum[k] = joined_dot(sum[k], x[g], w);
        }
    }
}

SN_INLINE void flat_sums(const struct sn_flat_run_8i * d, const uint8_t * src, const uint8_t * weight, bool planes,
                         v32i sum[VECTORS])
{
    const size_t quad = flat_weights(1, planes), groups = sn_ceil_div(d->taps, JOINED);
    size_t g = 0;
    SN_UNROLL for (int k = 0; k < VECTORS; ++k) sum[k] = v_set_32i(0);
    for (; g + GROUPS <= groups; g += GROUPS, weight += quad)
        flat_quad(src, d->tap + g * JOINED, weight, GROUPS, planes, sum);
    if (g < groups)
        flat_quad(src, d->tap + g * JOINED, weight, 1, planes, sum);
}

/* ---- results */

/* The constants of a vector of outputs, in the order of channels. */
struct flat_constants {
    SN_ALIGNED float norm[V8U_N], bias[V8U_N], scale[V8U_N], slope[V8U_N];
    SN_ALIGNED uint8_t low[V8U_N], high[V8U_N];
    SN_ALIGNED int32_t first[V8U_N];
};

/* Sets the constants for outputs whose first one is of channel `first`. */
static void flat_set(struct block * b, struct flat_constants * f, const struct sn_result_8i * r, size_t first, size_t channels)
{
    for (size_t i = 0, c = first; i < V8U_N; ++i, c = c + 1 == channels ? 0 : c + 1) {
        f->norm[i] = r->norm[c], f->bias[i] = r->bias[c], f->scale[i] = r->scale[c];
        f->slope[i] = r->slope ? r->slope[c] : 0;
        f->low[i] = r->low[c], f->high[i] = r->high[c];
        f->first[i] = r->first ? r->first[c] : 0;
    }
    b->result = *r;
    b->result.norm = f->norm, b->result.bias = f->bias, b->result.scale = f->scale;
    b->result.slope = r->slope ? f->slope : NULL;
    b->result.low = f->low, b->result.high = f->high;
    b->result.first = r->first ? f->first : NULL;
    set_constants(b);
}

SN_INLINE void flat_store(struct block * b, const v32i sum[VECTORS], uint8_t * dst, enum kind kind)
{
    v32i result[VECTORS];
    SN_UNROLL for (int k = 0; k < VECTORS; ++k)
    {
        if (kind == ANY_RESULT)
            v_store_32i(b->sums + k * (int)V32F_N, sum[k]);
        else
            result[k] = converted(b, sum[k], k, kind);
    }
    if (kind == ANY_RESULT)
        store_any(b, b->sums, dst);
    else
        v_store_8u(dst, limited(b, result, kind));
}

/* ---- loops */

/* The outputs of each line from `first` on, in every `step`-th vector. */
SN_INLINE void flat_lines(struct block * b, const struct sn_flat_run_8i * d, const uint8_t * weight, size_t first, size_t step,
                          bool planes, enum kind kind)
{
    const size_t element = b->result.bytes ? 1 : sizeof(float);
    SN_ALIGNED uint8_t last[V8U_N * sizeof(float)];
    for (size_t y = 0; y < d->rows; ++y) {
        const uint8_t * src = d->src + y * d->srcStepY;
        uint8_t * dst = d->dst + y * d->dstStepY;
        for (size_t i = first; i < d->count; i += step) {
            const size_t n = sn_min(d->count - i, V8U_N);
            v32i sum[VECTORS];
            flat_sums(d, src + i, weight, planes, sum);
            flat_store(b, sum, n == V8U_N ? dst + i * element : last, kind);
            if (n < V8U_N)
                memcpy(dst + i * element, last, n * element);
        }
    }
}

#define FLAT_LINES(name, planes, kind)                                                                                      \
    static __attribute__((noinline)) void name(struct block * b, const struct sn_flat_run_8i * d, const uint8_t * weight,   \
                                               size_t first, size_t step)                                                   \
    {                                                                                                                       \
        flat_lines(b, d, weight, first, step, planes, kind);                                                                \
    }
FLAT_LINES(flat_planes_any, true, ANY_RESULT)
FLAT_LINES(flat_planes, true, BOUNDED)
FLAT_LINES(flat_pixels_any, false, ANY_RESULT)
FLAT_LINES(flat_pixels, false, BOUNDED)

static void flat_run(const struct sn_flat_run_8i * d)
{
    const size_t phases = d->plane ? 1 : flat_phases(d->channels), first = d->plane ? d->channel : 0;
    const uint8_t * weight = (const uint8_t *)d->weight + first * flat_weights(d->taps, d->plane);
    struct flat_constants constants;
    struct block b;
    memset(&b, 0, offsetof(struct block, partial));
    b.channels = V8U_N;
    for (size_t v = 0; v < phases; ++v, weight += flat_weights(d->taps, d->plane)) {
        const struct sn_result_8i r = result_from(d->result, first);
        if (d->plane)
            flat_set(&b, &constants, &r, 0, 1);
        else
            flat_set(&b, &constants, &r, v * V8U_N % d->channels, d->channels);
        if (d->plane)
            (result_is_quick(&b.result) ? flat_planes : flat_planes_any)(&b, d, weight, 0, V8U_N);
        else
            (result_is_quick(&b.result) ? flat_pixels : flat_pixels_any)(&b, d, weight, v * V8U_N, phases * V8U_N);
    }
}

#endif
