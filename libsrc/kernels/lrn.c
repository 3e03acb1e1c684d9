/*
 * Local response normalization: x * (k0 + k1 * sum) ^ k2, where sum is of the squares of 2 * half + 1 channels.
 *
 * Sums add up what belongs to a window and nothing else: a running sum, which adds one square and subtracts another, would lose
 * small values beside large ones. Up to SMALL channels on either side are added pairwise, each time anew; more by doubling: sums of
 * 1, 2, 4 ... neighbours, and one more where the number is odd, log2 of the window in all. Either way the order of the additions
 * is the same for every channel and position, and the error grows with the logarithm of the window.
 *
 * NCHW: strips of positions; the squares of the channels in the window are in a ring of rows that stays in the first cache.
 * NHWC: the squares of some pixels, with `half` zeros between two, are one array, and a sum is of neighbours in it. Pixels of less
 * than a vector are made planes first, and planes of less than a vector pixels (kernels/lanes.h).
 *
 * Powers that are multiples of 1/4 up to 1 come from square roots; the one most used, -3/4, from 1 / sqrt, times its square root.
 */
#include "kernels/install.h"
#include "kernels/lanes.h"
#include "kernels/vec_math.h"

#include <string.h>

enum { SMALL = 4, STRIP = 256, PIXELS = 1024, WIDE = 16 };

/* ---- dst = x * base ^ exponent */

/* quarters: the exponent times 4, or OTHER; a constant. */
enum { OTHER = 5 };

SN_INLINE v32f scaled(v32f x, v32f base, v32f exponent, int quarters)
{
    v32f root;
    switch (quarters) {
    case -4: return v_div_32f(x, base);
    case -3: root = v_rsqrt_32f(base); return v_mul_32f(x, v_mul_32f(root, v_sqrt_32f(root)));
    case -2: return v_mul_32f(x, v_rsqrt_32f(base));
    case -1: return v_mul_32f(x, v_sqrt_32f(v_rsqrt_32f(base)));
    case 0: return x;
    case 1: return v_mul_32f(x, v_sqrt_32f(v_sqrt_32f(base)));
    case 2: return v_mul_32f(x, v_sqrt_32f(base));
    case 3: root = v_sqrt_32f(base); return v_mul_32f(x, v_mul_32f(root, v_sqrt_32f(root)));
    case 4: return v_mul_32f(x, base);
    default: return v_mul_32f(x, v_pow_32f(base, exponent));
    }
}

/* base has room for whole vectors, and is 1 where there is nothing of x. */
SN_INLINE void scale_by(const float * x, const float * base, size_t size, float exponent, float * dst, int quarters)
{
    const v32f e = v_set_32f(exponent);
    size_t i = 0;
    for (; i + V32F_N <= size; i += V32F_N)
        v_store_32f(dst + i, scaled(v_load_32f(x + i), v_load_32f(base + i), e, quarters));
    if (i < size) {
        const v32f v = v_load_tail_32f(x + i, size - i), b = v_load_tail_32f(base + i, size - i);
        v_store_tail_32f(dst + i, scaled(v, b, e, quarters), size - i);
    }
}

static void scale(const float * x, const float * base, size_t size, float exponent, float * dst)
{
    const float quarters = 4 * exponent;
    switch (quarters >= -4 && quarters <= 4 && (float)(int)quarters == quarters ? (int)quarters : OTHER) {
    case -4: scale_by(x, base, size, exponent, dst, -4); break;
    case -3: scale_by(x, base, size, exponent, dst, -3); break;
    case -2: scale_by(x, base, size, exponent, dst, -2); break;
    case -1: scale_by(x, base, size, exponent, dst, -1); break;
    case 0: scale_by(x, base, size, exponent, dst, 0); break;
    case 1: scale_by(x, base, size, exponent, dst, 1); break;
    case 2: scale_by(x, base, size, exponent, dst, 2); break;
    case 3: scale_by(x, base, size, exponent, dst, 3); break;
    case 4: scale_by(x, base, size, exponent, dst, 4); break;
    default: scale_by(x, base, size, exponent, dst, OTHER);
    }
}

/* ---- sums */

SN_INLINE void add_pairs(v32f * q, int n, int step)
{
    SN_UNROLL for (int i = 0; i + step < n; i += 2 * step) q[i] = v_add_32f(q[i], q[i + step]);
}

/* Of n vectors, n <= 2 * SMALL + 1 a constant. */
SN_INLINE v32f sum_of(v32f * q, int n)
{
    add_pairs(q, n, 1);
    add_pairs(q, n, 2);
    add_pairs(q, n, 4);
    add_pairs(q, n, 8);
    return q[0];
}

SN_INLINE v32f base_of(v32f sum, const float * k) { return v_fma_32f(sum, v_set_32f(k[1]), v_set_32f(k[0])); }

/*
 * sum[i] of n rows of q from row i, for i < number; rows are `pitch` floats. q has number + n - 1 rows, and both arrays have room
 * for a vector more. From m to 2 * m rows, or to 2 * m + 1, as the binary digits of n say.
 */
static void sums_by_doubling(const float * q, size_t number, size_t n, size_t pitch, float * sum)
{
    size_t digit = 1, m = 1;
    while (digit <= n / 2)
        digit *= 2;
    memcpy(sum, q, (number + n - 1) * pitch * sizeof(float));
    while (digit /= 2) {
        const bool odd = n & digit;
        const size_t size = (number + n - 2 * m - odd) * pitch;
        for (size_t i = 0; i < size; i += V32F_N) {
            v32f s = v_add_32f(v_load_32f(sum + i), v_load_32f(sum + i + m * pitch));
            if (odd)
                s = v_add_32f(s, v_load_32f(q + i + 2 * m * pitch));
            v_store_32f(sum + i, s);
        }
        m = 2 * m + odd;
    }
}

/* ---- planes: `size` positions, at most STRIP, of planes that lie `stride` apart; dst may be src */

struct planes {
    const float * src;
    size_t channels, stride, size;
    const float * k;
    float * dst;
};

SN_INLINE v32f square_at(const float * p, size_t i, size_t size)
{
    const v32f x = size - i >= V32F_N ? v_load_32f(p + i) : v_load_tail_32f(p + i, size - i);
    return v_mul_32f(x, x);
}

/* A window of n channels, a constant. */
SN_INLINE void planes_by_ring(const struct planes * p, int n)
{
    float ring[2 * SMALL + 1][STRIP] SN_ALIGNED, base[STRIP] SN_ALIGNED;
    float * row[2 * SMALL + 1];
    const size_t half = (size_t)n / 2;
    for (int j = 0; j < n; ++j)
        row[j] = ring[j];
    for (size_t j = 0; j + 1 < (size_t)n; ++j) /* row j + 1 for channel j - half, as channel 0 will find it */
        for (size_t i = 0; i < p->size; i += V32F_N) {
            const bool there = j >= half && j - half < p->channels;
            const v32f q = there ? square_at(p->src + (j - half) * p->stride, i, p->size) : v_zero_32f();
            v_store_32f(row[j + 1] + i, q);
        }
    for (size_t c = 0; c < p->channels; ++c) {
        float * oldest = row[0];
        for (int j = 0; j + 1 < n; ++j)
            row[j] = row[j + 1];
        row[n - 1] = oldest;
        for (size_t i = 0; i < p->size; i += V32F_N) {
            v32f q[2 * SMALL + 1];
            SN_UNROLL for (int j = 0; j + 1 < n; ++j) q[j] = v_load_32f(row[j] + i);
            q[n - 1] = c + half < p->channels ? square_at(p->src + (c + half) * p->stride, i, p->size) : v_zero_32f();
            v_store_32f(oldest + i, q[n - 1]);
            v_store_32f(base + i, base_of(sum_of(q, n), p->k));
        }
        scale(p->src + c * p->stride, base, p->size, p->k[2], p->dst + c * p->stride);
    }
}

/* Any window; size is at most WIDE. */
static void planes_by_doubling(const struct planes * p, size_t half, float * work)
{
    const size_t rows = p->channels + 2 * half;
    float * q = work, * sum = work + (rows + 1) * WIDE, base[WIDE] SN_ALIGNED;
    memset(q, 0, rows * WIDE * sizeof(float));
    for (size_t c = 0; c < p->channels; ++c)
        for (size_t i = 0; i < p->size; i += V32F_N)
            v_store_32f(q + (half + c) * WIDE + i, square_at(p->src + c * p->stride, i, p->size));
    sums_by_doubling(q, p->channels, 2 * half + 1, WIDE, sum);
    for (size_t c = 0; c < p->channels; ++c) {
        for (size_t i = 0; i < WIDE; i += V32F_N)
            v_store_32f(base + i, base_of(v_load_32f(sum + c * WIDE + i), p->k));
        scale(p->src + c * p->stride, base, p->size, p->k[2], p->dst + c * p->stride);
    }
}

static void planes(const struct planes * all, size_t half, float * work)
{
    const size_t step = half > SMALL ? WIDE : STRIP;
    for (size_t s = 0; s < all->size; s += step) {
        struct planes p = *all;
        p.src += s;
        p.dst += s;
        p.size = sn_min(all->size - s, step);
        switch (half) {
        case 0: planes_by_ring(&p, 1); break;
        case 1: planes_by_ring(&p, 3); break;
        case 2: planes_by_ring(&p, 5); break;
        case 3: planes_by_ring(&p, 7); break;
        case 4: planes_by_ring(&p, 9); break;
        default: planes_by_doubling(&p, half, work);
        }
    }
}

/* ---- pixels; dst may be src */

/* Bases of `number` pixels, dense, from squares of which those of pixel j begin at q + half + j * (channels + half). */
SN_INLINE void bases_by_sums(const float * q, size_t channels, size_t half, size_t number, const float * k, float * base, int n)
{
    for (size_t j = 0; j < number; ++j)
        for (size_t c = 0; c < channels; c += V32F_N) {
            const float * from = q + j * (channels + half) + c;
            v32f x[2 * SMALL + 1];
            SN_UNROLL for (int i = 0; i < n; ++i) x[i] = v_load_32f(from + i);
            v_store_32f(base + j * channels + c, base_of(sum_of(x, n), k));
        }
}

static void bases(const float * q, size_t channels, size_t half, size_t number, const float * k, float * base, float * sum)
{
    switch (half) {
    case 0: bases_by_sums(q, channels, half, number, k, base, 1); break;
    case 1: bases_by_sums(q, channels, half, number, k, base, 3); break;
    case 2: bases_by_sums(q, channels, half, number, k, base, 5); break;
    case 3: bases_by_sums(q, channels, half, number, k, base, 7); break;
    case 4: bases_by_sums(q, channels, half, number, k, base, 9); break;
    default:
        sums_by_doubling(q, number * (channels + half) - half, 2 * half + 1, 1, sum);
        for (size_t j = 0; j < number; ++j)
            for (size_t c = 0; c < channels; c += V32F_N)
                v_store_32f(base + j * channels + c, base_of(v_load_32f(sum + j * (channels + half) + c), k));
    }
}

static void wide_pixels(const float * src, size_t channels, size_t half, size_t number, const float * k, float * dst, float * work)
{
    const size_t pitch = channels + half, step = sn_max(PIXELS / pitch, 1), room = sn_max(PIXELS, pitch) + half + 2 * V32F_N;
    float * q = work, * sum = q + room, * base = sum + room;
    memset(q, 0, room * sizeof(float));
    for (size_t s = 0; s < number; s += step) {
        const size_t n = sn_min(number - s, step);
        const float * x = src + s * channels;
        /* A pixel's last vector is filled up with zeros, which leave those after it what they are or are overwritten. */
        for (size_t j = 0; j < n; ++j)
            for (size_t c = 0; c < channels; c += V32F_N)
                v_store_32f(q + half + j * pitch + c, square_at(x + j * channels, c, channels));
        bases(q, channels, half, n, k, base, sum);
        scale(x, base, n * channels, k[2], dst + s * channels);
    }
}

static void narrow_pixels(const float * src, size_t channels, size_t half, size_t number, const float * k, float * dst,
                          float * work)
{
    float plane[V32F_N * STRIP] SN_ALIGNED;
    for (size_t s = 0; s < number; s += STRIP) {
        const size_t n = sn_min(number - s, STRIP);
        const struct planes p = {plane, channels, STRIP, n, k, plane};
        lanes_to_planes(src + s * channels, channels, n, plane, STRIP, channels, channels);
        planes(&p, half, work);
        planes_to_lanes(plane, STRIP, channels, n, dst + s * channels, channels, channels);
    }
}

/* ---- images */

/* NCHW of so few positions that they are taken for pixels of lanes, and the channels for positions. */
static void narrow_planes(const struct sn_lrn * p, float * work)
{
    float * pixels = work + sn_lrn_work_of_pixels(p);
    lanes_to_planes(p->src, p->spatial, p->channels, pixels, p->channels, p->spatial, p->spatial);
    wide_pixels(pixels, p->channels, p->half, p->spatial, p->k, pixels, work);
    planes_to_lanes(pixels, p->channels, p->spatial, p->channels, p->dst, p->spatial, p->spatial);
}

static void lrn_32f(const struct sn_lrn * p, size_t begin, size_t end, float * work)
{
    const size_t pixel = begin * p->channels, number = end - begin;
    if (p->channels > 1 && (p->spatial == 1 || p->format == SimdTensorFormatNhwc)) {
        if (p->channels < V32F_N)
            narrow_pixels(p->src + pixel, p->channels, p->half, number, p->k, p->dst + pixel, work);
        else
            wide_pixels(p->src + pixel, p->channels, p->half, number, p->k, p->dst + pixel, work);
    } else if (p->spatial < V32F_N && p->channels >= V32F_N) {
        narrow_planes(p, work);
    } else {
        const struct planes all = {p->src + begin, p->channels, p->spatial, number, p->k, p->dst + begin};
        planes(&all, p->half, work);
    }
}

void ISA_FN(install_lrn)(struct sn_table * table) { table->lrn_32f = lrn_32f; }
