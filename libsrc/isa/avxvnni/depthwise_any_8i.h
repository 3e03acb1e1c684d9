/*
 * Quantised depthwise convolution of any kernel by vpdpbusd, four taps at a time: see kernels/default/depthwise_any_8i.h.
 * For avxvnni and avx512vnni.
 */
#ifndef SN_ISA_AVXVNNI_DEPTHWISE_ANY_8I_H
#define SN_ISA_AVXVNNI_DEPTHWISE_ANY_8I_H

enum { BLOCK = V8U_N, FOUR = 4 };

/* Four vectors: the channels of a block. */
struct quad {
    v32i v[FOUR];
};

SN_INLINE struct quad interleave(v8u a, v8u b, v8u c, v8u d)
{
    const v8u ab0 = vx_zip_low_8(a, b), ab1 = vx_zip_high_8(a, b), cd0 = vx_zip_low_8(c, d), cd1 = vx_zip_high_8(c, d);
    return (struct quad){{vx_zip_low_16(ab0, cd0), vx_zip_high_16(ab0, cd0), vx_zip_low_16(ab1, cd1),
        vx_zip_high_16(ab1, cd1)}};
}

SN_INLINE struct quad dot(struct quad sum, struct quad x, const int8_t * weight)
{
    SN_UNROLL for (int k = 0; k < FOUR; ++k) sum.v[k] = vx_dot_memory(sum.v[k], x.v[k], weight + k * (int)V8U_N);
    return sum;
}

/* ---- weights of any kernel: for each block of channels the groups of four taps in order */

static size_t weights_of(size_t taps) { return sn_ceil_div(taps, FOUR) * FOUR * BLOCK; }

static size_t any_size(size_t taps, size_t channels) { return weights_of(taps) * sn_ceil_div(channels, BLOCK); }

static void any_pack(const int8_t * weight, bool planes, size_t taps, size_t channels, void * packed)
{
    for (size_t c = 0; c < channels; ++c) {
        int8_t * block = (int8_t *)packed + c / BLOCK * weights_of(taps) + FOUR * place(c % BLOCK);
        for (size_t t = 0; t < taps; ++t)
            block[t / FOUR * FOUR * BLOCK + t % FOUR] = weight[planes ? c * taps + t : t * channels + c];
    }
}

/* ---- one block of channels */

struct pixels {
    struct taps taps;
    size_t first, channels;
    vx_tail tail; /* for the channels */
    const int8_t * weight;
    struct sn_result_8i result;
    SN_ALIGNED float norm[BLOCK], bias[BLOCK], scale[BLOCK]; /* in lane order */
    SN_ALIGNED int32_t addend[BLOCK], start[BLOCK];          /* `first` of requantised sums, and what sums begin with */
    v8u low, high;
};

/* Variants of the loop over pixels: the block has all its channels; results are result_is_quick(). */
enum { FULL = 1, QUICK = 2 };

SN_INLINE v8u load(const struct pixels * b, const uint8_t * src, int kind)
{
    return kind & FULL ? v_load_8u(src) : vx_load_8u(src, b->tail);
}

/* Stores sums in channel order, and converts them in the same way as the tile. */
static __attribute__((noinline)) void store_block(const struct pixels * b, const struct quad * sum, uint8_t * dst)
{
    SN_ALIGNED int32_t placed[BLOCK], sums[BLOCK];
    SN_UNROLL for (int k = 0; k < FOUR; ++k) v_store_32i(placed + k * (int)V32F_N, sum->v[k]);
    for (size_t c = 0; c < BLOCK; c += RUN)
        memcpy(sums + c, placed + place(c), RUN * sizeof(*sums));
    result_rows(sums, 0, &b->result, b->channels, dst, 0, 1);
}

SN_INLINE void store(const struct pixels * b, const struct quad * sum, uint8_t * dst, int kind)
{
    if (!(kind & QUICK)) {
        store_block(b, sum, dst);
        return;
    }
    const v32f zero = v_set_32f(b->result.zero);
    v32i x[FOUR];
    SN_UNROLL for (int k = 0; k < FOUR; ++k)
    {
        if (b->result.requantised) {
            x[k] = result_requantised(sum->v[k], v_load_32i(b->addend + k * (int)V32F_N),
                                      v_load_32f(b->norm + k * (int)V32F_N), v_set_32i(b->result.offset));
            continue;
        }
        const v32f norm = v_load_32f(b->norm + k * (int)V32F_N), bias = v_load_32f(b->bias + k * (int)V32F_N);
        const v32f v = v_add_32f(v_mul_32f(v_cvt_32i_32f(sum->v[k]), norm), bias);
        x[k] = v_cvt_32f_32i(v_add_32f(v_mul_32f(v, v_load_32f(b->scale + k * (int)V32F_N)), zero));
    }
    v8u bytes = joined_bytes(x);
    bytes = v_min_8u(v_max_8u(bytes, b->low), b->high);
    if (kind & FULL)
        v_store_8u(dst, bytes);
    else
        vx_store_8u(dst, bytes, b->tail);
}

/* Any kernel: groups of four taps, in order. */
SN_INLINE void any_kernel(struct pixels * b, int kind)
{
    const struct sn_depthwise_run_8i * d = b->taps.d;
    const size_t taps = d->kernelY * d->kernelX;
    const size_t right = d->strideX * d->srcStepX, element = b->result.bytes ? 1 : sizeof(float);
    while (taps_next(&b->taps)) {
        const size_t * tap = b->taps.at;
        const size_t columns = b->taps.endX - b->taps.x, moved = b->taps.moved;
        for (size_t y = b->taps.y; y < b->taps.endY; ++y) {
            const uint8_t * src = d->src + y * d->strideY * d->srcStepY + b->taps.x * right + b->first;
            uint8_t * dst = d->dst + y * d->dstStepY + b->taps.x * d->dstStepX + b->first * element;
            for (size_t x = 0; x < columns; ++x, src += right, dst += d->dstStepX) {
                taps_move(&b->taps, src, moved);
                const int8_t * weight = b->weight;
                struct quad sum;
                SN_UNROLL for (int k = 0; k < FOUR; ++k) sum.v[k] = v_load_32i(b->start + k * (int)V32F_N);
                size_t t = 0;
                for (; t + FOUR <= taps; t += FOUR, weight += FOUR * BLOCK)
                    sum = dot(sum, interleave(load(b, src + tap[t], kind), load(b, src + tap[t + 1], kind),
                                              load(b, src + tap[t + 2], kind), load(b, src + tap[t + 3], kind)), weight);
                if (t < taps) {
                    v8u rest[FOUR];
                    for (size_t i = 0; i < FOUR; ++i)
                        rest[i] = t + i < taps ? load(b, src + tap[t + i], kind) : v_set_8u(0);
                    sum = dot(sum, interleave(rest[0], rest[1], rest[2], rest[3]), weight);
                }
                store(b, &sum, dst, kind);
            }
        }
    }
}

static __attribute__((noinline)) void quick_full(struct pixels * b) { any_kernel(b, FULL | QUICK); }
static __attribute__((noinline)) void quick_tail(struct pixels * b) { any_kernel(b, QUICK); }
static __attribute__((noinline)) void any_result(struct pixels * b) { any_kernel(b, 0); }

static void any_run(const struct sn_depthwise_run_8i * d)
{
    const size_t taps = d->kernelY * d->kernelX;
    for (size_t first = 0; first < d->channels; first += BLOCK) {
        struct pixels b = {.first = first, .channels = sn_min(d->channels - first, BLOCK),
            .weight = (const int8_t *)d->weight + first / BLOCK * weights_of(taps), .result = result_from(d->result, first)};
        const struct sn_result_8i * r = &b.result;
        taps_begin(&b.taps, d);
        b.tail = vx_tail_of(b.channels);
        for (size_t c = 0; c < b.channels; ++c) {
            b.norm[place(c)] = r->norm[c];
            b.bias[place(c)] = r->bias[c];
            b.scale[place(c)] = r->scale[c];
            b.addend[place(c)] = r->first ? r->first[c] : 0;
            b.start[place(c)] = d->start[first + c];
        }
        b.low = v_load_8u(r->low);
        b.high = v_load_8u(r->high);
        if (result_is_quick(r))
            (b.channels == BLOCK ? quick_full : quick_tail)(&b);
        else
            any_result(&b);
    }
}

#endif
