/*
 * Depthwise convolution by 3x3 with vdpbf16ps, for weights that are bfloat16 numbers. A lane of the instruction has two taps of
 * a channel, one above the other: for each vector of 32 channels and each row, pixels of two lines are interleaved, once for
 * all outputs that see them. The third line is widened to floats, in the same order of channels, because a tap of weight 0 next
 * to it would make a NaN of an infinity that the output does not see.
 *
 * A vector of 16 results takes 6 multiplications, 2 shuffles and 2 operations to round it or to order it; in the kernel of
 * floats it takes 9 multiplications, 4.5 shuffles and shifts, and 4 to round it. Each sum is one chain in the order of kx, at
 * any position of its output. Kernels of 5x5, whose weights do not fit in registers, would be limited by loads: 240x28x28 took
 * 1.1 times as long.
 */
#ifndef SN_ISA_AVX512BF16_PAIRS_16B_H
#define SN_ISA_AVX512BF16_PAIRS_16B_H

/* Numbers of a vector, vectors of their sums, and rows and columns of the kernel. */
enum { NUMBERS = 32, HALVES = 2, TAPS = 3 };

/* Channels in the order of _mm512_unpacklo_epi16 and _mm512_unpackhi_epi16. */
struct halves {
    v32f v[HALVES];
};

/* Three taps of a column of the kernel, or three pixels: a pair, and one as floats. */
struct tap_column {
    v32i pair[HALVES];
    v32f last[HALVES];
};

/* 32 channels from `first` on. */
struct channels {
    struct tap_column weight[TAPS];
    struct halves bias;
    struct limits limits;
    size_t first;
};

static const sn_16b nothing[NUMBERS] SN_ALIGNED;

SN_INLINE struct tap_column interleaved(__m512i a, __m512i b, __m512i c)
{
    const __m512i zero = _mm512_setzero_si512();
    return (struct tap_column){{_mm512_unpacklo_epi16(a, b), _mm512_unpackhi_epi16(a, b)},
        {_mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, c)), _mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, c))}};
}

/* In assembler, see dot_16b.h. */
SN_INLINE v32f dot_pairs(v32f sum, v32i a, v32i b)
{
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

SN_INLINE struct halves add_column(struct halves s, const struct tap_column * x, const struct tap_column * w)
{
    SN_UNROLL for (int h = 0; h < HALVES; ++h) s.v[h] = dot_pairs(s.v[h], x->pair[h], w->pair[h]);
    SN_UNROLL for (int h = 0; h < HALVES; ++h) s.v[h] = v_fma_32f(x->last[h], w->last[h], s.v[h]);
    return s;
}

/* Bytes of a result. */
SN_INLINE size_t element_of(const struct sn_depthwise_nhwc * d) { return d->narrow ? sizeof(sn_16b) : sizeof(sn_32f); }

/* Stores the results of a pixel, rounded or as floats: the same sums, so that results are those in float, rounded. */
SN_INLINE void store_pixel(uint8_t * dst, const struct halves * s, const struct limits * l, bool rounded)
{
    const v32f a = limit(s->v[0], *l), b = limit(s->v[1], *l);
    if (rounded) {
        const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
        _mm512_storeu_si512(dst, _mm512_permutexvar_epi64(order, (__m512i)_mm512_cvtne2ps_pbh(b, a)));
    } else {
        const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
        v_store_32f((sn_32f *)dst, _mm512_permutex2var_ps(a, first, b));
        v_store_32f((sn_32f *)dst + V32F_N, _mm512_permutex2var_ps(a, _mm512_add_epi32(first, _mm512_set1_epi32(8)), b));
    }
}

/* Weights that stay in registers: if they were loaded for each column, loads would be the limit. */
SN_INLINE struct tap_column kept(const struct tap_column * w)
{
    struct tap_column k;
    SN_UNROLL for (int h = 0; h < HALVES; ++h)
    {
        k.pair[h] = v_keep_32i(w->pair[h]);
        k.last[h] = v_keep_32f(w->last[h]);
    }
    return k;
}

/*
 * A row of outputs. Column t * stride + i of the lines is column m * stride + i of the kernel for output t - m, whose sums are
 * s[m]; those of s[last] are complete after the first column of a step.
 */
SN_INLINE void row_of_pairs(const struct sn_depthwise_nhwc * d, const struct channels * c, const void * const * line,
                            uint8_t * dst, int stride)
{
    enum { SUMS = TAPS };
    const int last = (TAPS - 1) / stride, count = last + 1;
    const bool rounded = d->narrow;
    const size_t width = d->srcW, columns = d->dstW + (size_t)last, right = d->dstPixel * element_of(d);
    const struct tap_column w[TAPS] = {kept(&c->weight[0]), kept(&c->weight[1]), kept(&c->weight[2])};
    const struct halves bias = c->bias;
    const struct limits limits = c->limits;
    const sn_16b * from[TAPS];
    size_t next[TAPS], at = 0 - d->padX; /* wraps to a huge value left of the line */
    struct halves s[SUMS];
    SN_UNROLL for (int l = 0; l < TAPS; ++l)
    {
        next[l] = line[l] ? d->srcPixel : 0;
        from[l] = line[l] ? (const sn_16b *)line[l] + d->offset + c->first + at * next[l] : nothing;
    }
    SN_UNROLL for (int m = 0; m < count; ++m) s[m] = bias;
    for (size_t t = 0; t < columns; ++t) {
        SN_UNROLL for (int i = 0; i < stride; ++i, ++at)
        {
            __m512i pixel[TAPS];
            SN_UNROLL for (int l = 0; l < TAPS; ++l)
                {
                pixel[l] = _mm512_loadu_si512(at < width ? from[l] : nothing);
                from[l] += next[l];
            }
            const struct tap_column x = interleaved(pixel[0], pixel[1], pixel[2]);
            SN_UNROLL for (int m = 0; m < count; ++m)
                if (m * stride + i < TAPS)
                    s[m] = add_column(s[m], &x, &w[m * stride + i]);
            if (i == 0 && t >= (size_t)last)
                store_pixel(dst + (t - (size_t)last) * right, &s[last], &limits, rounded);
        }
        SN_UNROLL for (int m = count - 1; m > 0; --m) s[m] = s[m - 1];
        s[0] = bias;
    }
}

typedef void (*row_of_pairs_fn)(const struct sn_depthwise_nhwc * d, const struct channels * c, const void * const * line,
                                uint8_t * dst);
#define ROW_OF_PAIRS(name, stride)                                                                                          \
    static __attribute__((noinline)) void name(const struct sn_depthwise_nhwc * d, const struct channels * c,               \
                                               const void * const * line, uint8_t * dst)                                    \
    {                                                                                                                       \
        row_of_pairs(d, c, line, dst, stride);                                                                              \
    }
ROW_OF_PAIRS(row_of_pairs_1, 1)
ROW_OF_PAIRS(row_of_pairs_2, 2)

/* ---- weights */

/* Tap t of the channels from `first` on, of the packed weights, whose vectors are of V32F_N channels. */
SN_INLINE __m512i tap_of(const struct sn_depthwise_nhwc * d, size_t first, size_t t)
{
    enum { ALL = TAPS * TAPS };
    sn_32f weight[NUMBERS];
    const sn_32f * low = d->weight + (first / V32F_N * ALL + t) * V32F_N, * high = low + ALL * V32F_N;
    if (first % V32F_N) {
        for (size_t i = 0; i < NUMBERS; ++i)
            weight[i] = d->weight[((first + i) / V32F_N * ALL + t) * V32F_N + (first + i) % V32F_N];
        low = weight, high = weight + V32F_N;
    }
    return _mm512_inserti64x4(_mm512_castsi256_si512(vx_upper_halves(_mm512_loadu_si512(low))),
                              vx_upper_halves(_mm512_loadu_si512(high)), 1);
}

static void set_channels(const struct sn_depthwise_nhwc * d, size_t first, struct channels * c)
{
    const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
    const v32f a = v_load_32f(d->bias + first), b = v_load_32f(d->bias + first + V32F_N);
    c->first = first;
    c->limits = limits_of(d->activation, d->param);
    c->bias.v[0] = _mm512_permutex2var_ps(a, low, b);
    c->bias.v[1] = _mm512_permutex2var_ps(a, _mm512_add_epi32(low, _mm512_set1_epi32(4)), b);
    for (size_t kx = 0; kx < TAPS; ++kx)
        c->weight[kx] = interleaved(tap_of(d, first, kx), tap_of(d, first, kx + TAPS), tap_of(d, first, kx + 2 * TAPS));
}

static void compute_pairs(const struct sn_depthwise_nhwc * d)
{
    const row_of_pairs_fn row = d->strideX == 1 ? row_of_pairs_1 : row_of_pairs_2;
    for (size_t first = 0; first < d->channels; first += NUMBERS) {
        struct channels c;
        set_channels(d, sn_min(first, d->channels - NUMBERS), &c);
        for (size_t y = 0; y < d->rows; ++y)
            row(d, &c, d->line + y * d->lineStep, (uint8_t *)d->dst + (y * d->dstRow + c.first) * element_of(d));
    }
}

static sn_depthwise_nhwc_fn depthwise_pairs(const struct sn_depthwise_nhwc * d)
{
    const bool shape = d->kernelY == TAPS && d->kernelX == TAPS && d->dilationX == 1 && d->strideX <= 2;
    return shape && !second_pass(d->activation) && d->channels >= NUMBERS ? compute_pairs : NULL;
}

#endif
