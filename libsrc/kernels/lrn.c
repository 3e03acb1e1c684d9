/*
 * Local response normalization: x * (k0 + k1 * sum) ^ k2, where sum is the sum of the squares of 2 * half + 1 channels.
 *
 * Each sum is computed from the values of its window only: a running sum, which adds one square and subtracts another, would
 * lose small values next to large ones. Up to SMALL channels on either side are added pairwise, separately for each window;
 * more by doubling: sums of 1, 2, 4 ... neighbours. In both cases the order of the additions is the same for every channel
 * and position, and the error grows with the logarithm of the window.
 *
 * NCHW: strips of positions; the squares of the channels in the window are in a ring of rows that fits in the L1 cache.
 * NHWC: the squares of several pixels, with `half` zeros between two, are one array, and a sum is of neighbours in it.
 * Pixels shorter than a vector are first converted to planes, and planes shorter than a vector to pixels (kernels/lanes.h).
 *
 * Powers that are multiples of 1/4 up to 1 are computed from square roots; the most common one, -3/4, as 1 / sqrt times its
 * square root.
 */
#include "contract/lrn.h"
#include "kernels/install.h"
#include "kernels/lanes.h"
#include "kernels/vec_math.h"
#include "runtime/memory.h"

#include <string.h>

enum { SMALL = 2, STRIP = 256, PIXELS = 1536, WIDE = 16 };

/* ---- x * (k0 + k1 * sum) ^ k2 */

/* The exponent times 4, or OTHER. Loops are compiled for THREE, for OTHER and for all others, QUARTERS, which branch for
 * each vector: with all in one, AVX2 runs out of registers (NCHW 86 us instead of 74). */
enum { THREE = -3, OTHER = 5, QUARTERS };

struct power {
    v32f k0, k1, exponent;
    int quarters;
};

static int kind_of(const sn_32f * k)
{
    const float quarters = 4 * k[2];
    const bool whole = quarters >= -4 && quarters <= 4 && (float)(int)quarters == quarters;
    return !whole ? OTHER : (int)quarters == THREE ? THREE : QUARTERS;
}

SN_INLINE struct power power_of(const sn_32f * k, int kind)
{
    return (struct power){v_set_32f(k[0]), v_set_32f(k[1]), v_set_32f(k[2]), kind == QUARTERS ? (int)(4 * k[2]) : kind};
}

/* n values, if fewer than a vector: the other lanes have no sum, and the power of k0 alone may be undefined. */
SN_INLINE v32f scaled(v32f x, v32f sum, const struct power * p, int kind, size_t n)
{
    v32f base = v_fma_32f(sum, p->k1, p->k0), root;
    if (n < V32F_N)
        base = v_ones_behind_32f(base, n);
    if (kind == OTHER)
        return v_mul_32f(x, v_pow_32f(base, p->exponent));
    switch (kind == QUARTERS ? p->quarters : kind) {
    case -4: return v_div_32f(x, base);
    case THREE: root = v_rsqrt_32f(base); return v_mul_32f(x, v_mul_32f(root, v_sqrt_32f(root)));
    case -2: return v_mul_32f(x, v_rsqrt_32f(base));
    case -1: return v_mul_32f(x, v_sqrt_32f(v_rsqrt_32f(base)));
    case 1: return v_mul_32f(x, v_sqrt_32f(v_sqrt_32f(base)));
    case 2: return v_mul_32f(x, v_sqrt_32f(base));
    case 3: root = v_sqrt_32f(base); return v_mul_32f(x, v_mul_32f(root, v_sqrt_32f(root)));
    case 4: return v_mul_32f(x, base);
    default: return x;
    }
}

SN_INLINE v32f load(const sn_32f * p, size_t n) { return n >= V32F_N ? v_load_32f(p) : v_load_tail_32f(p, n); }

SN_INLINE void store(sn_32f * p, v32f v, size_t n)
{
    if (n >= V32F_N)
        v_store_32f(p, v);
    else
        v_store_tail_32f(p, v, n);
}

SN_INLINE v32f square(v32f x) { return v_mul_32f(x, x); }

/* ---- sums */

SN_INLINE void add_pairs(v32f * q, int n, int step)
{
    SN_UNROLL for (int i = 0; i + step < n; i += 2 * step) q[i] = v_add_32f(q[i], q[i + step]);
}

/* The sum of n vectors; n <= 2 * SMALL + 1 is a compile-time constant. */
SN_INLINE v32f sum_of(v32f * q, int n)
{
    add_pairs(q, n, 1);
    add_pairs(q, n, 2);
    add_pairs(q, n, 4);
    return q[0];
}

/*
 * sum[i] is the sum of n rows of q from row i on, for i < number; rows are `pitch` floats. q has number + n - 1 rows, and
 * both arrays have space for another vector. A row of q becomes the sum of 4, 16, 64 ... rows, which gives sums of 1, 2, 4,
 * 8 ... rows, of which those in the binary representation of n are added, the least first: no value goes through more than
 * log2(n) + 1 additions. Two binary digits per pass over q take 0.7 to 0.9 of the time of one.
 */
static void sums_by_doubling(sn_32f * q, size_t number, size_t n, size_t pitch, sn_32f * sum)
{
    size_t done = 0; /* `sum` has sums of `done` rows */
    for (size_t m = 1; m <= n; m *= 4) {
        const size_t step = m * pitch, first = done * pitch, second = (done + (n & m)) * pitch;
        const bool begun = done > 0, one = n & m, two = n & 2 * m, more = n >= 4 * m;
        for (size_t i = 0; i < number * pitch; i += V32F_N) {
            v32f s = begun ? v_load_32f(sum + i) : v_zero_32f();
            if (one) {
                const v32f x = v_load_32f(q + i + first);
                s = begun ? v_add_32f(s, x) : x;
            }
            if (two) {
                const v32f x = v_add_32f(v_load_32f(q + i + second), v_load_32f(q + i + second + step));
                s = begun || one ? v_add_32f(s, x) : x;
            }
            v_store_32f(sum + i, s);
        }
        for (size_t i = 0; more && i < (number + n - 4 * m) * pitch; i += V32F_N) {
            const v32f a = v_add_32f(v_load_32f(q + i), v_load_32f(q + i + step));
            v_store_32f(q + i, v_add_32f(a, v_add_32f(v_load_32f(q + i + 2 * step), v_load_32f(q + i + 3 * step))));
        }
        done += n & (m | 2 * m);
    }
}

/* ---- planes: `size` positions, at most STRIP, of planes that lie `stride` apart; dst may be src */

struct planes {
    const sn_32f * src;
    size_t channels, stride, size;
    const sn_32f * k;
    sn_32f * dst;
};

/* A window of n channels, a compile-time constant. The ring, with a row for each, is allocated once by the caller. */
SN_INLINE void planes_by_ring(const struct planes * p, int n, float (*ring)[STRIP], int kind)
{
    sn_32f * row[2 * SMALL + 1];
    const size_t half = (size_t)n / 2, size = p->size;
    const struct power power = power_of(p->k, kind);
    for (int j = 0; j < n; ++j)
        row[j] = ring[j];
    for (size_t j = 0; j + 1 < (size_t)n; ++j) { /* row j + 1 has channel j - half, as channel 0 expects */
        const sn_32f * x = j < half ? NULL : p->src + (j - half) * p->stride;
        for (size_t i = 0; i < size; i += V32F_N)
            v_store_32f(row[j + 1] + i, x ? square(load(x + i, size - i)) : v_zero_32f());
    }
    for (size_t c = 0; c < p->channels; ++c) {
        const sn_32f * x = p->src + c * p->stride, * last = c + half < p->channels ? x + half * p->stride : NULL;
        sn_32f * dst = p->dst + c * p->stride, * oldest = row[0];
        for (int j = 0; j + 1 < n; ++j)
            row[j] = row[j + 1];
        row[n - 1] = oldest;
        for (size_t i = 0; i < size; i += V32F_N) {
            v32f q[2 * SMALL + 1];
            SN_UNROLL for (int j = 0; j + 1 < n; ++j) q[j] = v_load_32f(row[j] + i);
            q[n - 1] = last ? square(load(last + i, size - i)) : v_zero_32f();
            v_store_32f(oldest + i, q[n - 1]);
            store(dst + i, scaled(load(x + i, size - i), sum_of(q, n), &power, kind, size - i), size - i);
        }
    }
}

/* Any window; size is at most WIDE. */
SN_INLINE void planes_by_doubling(const struct planes * p, size_t half, sn_32f * work, int kind)
{
    const size_t rows = p->channels + 2 * half, size = p->size;
    const struct power power = power_of(p->k, kind);
    sn_32f * q = work, * sum = work + (rows + 1) * WIDE;
    memset(q, 0, rows * WIDE * sizeof(float));
    for (size_t c = 0; c < p->channels; ++c)
        for (size_t i = 0; i < size; i += V32F_N)
            v_store_32f(q + (half + c) * WIDE + i, square(load(p->src + c * p->stride + i, size - i)));
    sums_by_doubling(q, p->channels, 2 * half + 1, WIDE, sum);
    for (size_t c = 0; c < p->channels; ++c)
        for (size_t i = 0; i < size; i += V32F_N) {
            const v32f x = load(p->src + c * p->stride + i, size - i), s = v_load_32f(sum + c * WIDE + i);
            store(p->dst + c * p->stride + i, scaled(x, s, &power, kind, size - i), size - i);
        }
}

SN_INLINE void planes_of_kind(const struct planes * p, size_t half, float (*ring)[STRIP], sn_32f * work, int kind)
{
    switch (half) {
    case 1: planes_by_ring(p, 3, ring, kind); break;
    case 2: planes_by_ring(p, 5, ring, kind); break;
    default: planes_by_doubling(p, half, work, kind);
    }
}

static void planes(const struct planes * all, size_t half, sn_32f * work)
{
    float ring[2 * SMALL + 1][STRIP] SN_ALIGNED;
    const size_t step = half && half <= SMALL ? STRIP : WIDE;
    for (size_t s = 0; s < all->size; s += step) {
        struct planes p = *all;
        p.src += s;
        p.dst += s;
        p.size = sn_min(all->size - s, step);
        switch (kind_of(p.k)) {
        case THREE: planes_of_kind(&p, half, ring, work, THREE); break;
        case OTHER: planes_of_kind(&p, half, ring, work, OTHER); break;
        default: planes_of_kind(&p, half, ring, work, QUARTERS);
        }
    }
}

/* ---- pixels; dst may be src */

/* The sums of n neighbours from p on, for V32F_N values of p. */
SN_INLINE v32f sum_at(const sn_32f * p, int n)
{
    v32f q[2 * SMALL + 1];
    SN_UNROLL for (int i = 0; i < n; ++i) q[i] = v_load_32f(p + i);
    return sum_of(q, n);
}

/* `number` pixels; q is where the window of the first value of the first pixel begins, `pitch` between pixels. */
struct pixels {
    const sn_32f * src;
    size_t channels, number, pitch;
    const sn_32f * q, * k;
    sn_32f * dst;
};

/* Windows of n values, a compile-time constant. */
SN_INLINE void scale_pixels(const struct pixels * p, int n, int kind)
{
    const struct power power = power_of(p->k, kind);
    const size_t channels = p->channels;
    for (size_t j = 0; j < p->number; ++j) {
        const sn_32f * x = p->src + j * channels, * q = p->q + j * p->pitch;
        sn_32f * dst = p->dst + j * channels;
        for (size_t c = 0; c < channels; c += V32F_N)
            store(dst + c, scaled(load(x + c, channels - c), sum_at(q + c, n), &power, kind, channels - c), channels - c);
    }
}

SN_INLINE void pixels_of_kind(const struct pixels * p, size_t half, int kind)
{
    switch (half) {
    case 1: scale_pixels(p, 3, kind); break;
    case 2: scale_pixels(p, 5, kind); break;
    default: scale_pixels(p, 1, kind); /* no window, or the sums are already computed */
    }
}

static void wide_pixels(const sn_32f * src, size_t channels, size_t half, size_t number, const sn_32f * k, sn_32f * dst,
                        sn_32f * work)
{
    /* Squares of a pixel begin at a multiple of 16; zeros surround them, also in the rest of the last vector. */
    const size_t pitch = sn_align(channels + half, 16), before = sn_align(half, 16), step = sn_max(PIXELS / pitch, 1);
    const size_t room = step * pitch + before + 2 * V32F_N;
    sn_32f * q = work + before, * sum = work + room;
    for (size_t s = 0, n; s < number; s += n, src += n * channels, dst += n * channels) {
        n = sn_min(number - s, step);
        if (s == 0 || half > SMALL) /* the sums overwrite the zeros */
            memset(work, 0, room * sizeof(float));
        for (size_t j = 0; j < n; ++j)
            for (size_t c = 0; c < channels; c += V32F_N)
                v_store_32f(q + j * pitch + c, square(load(src + j * channels + c, channels - c)));
        struct pixels p = {src, channels, n, pitch, q - half, k, dst};
        if (half > SMALL) {
            sums_by_doubling(q - half, (n - 1) * pitch + channels, 2 * half + 1, 1, sum);
            p.q = sum;
        }
        switch (kind_of(k)) {
        case THREE: pixels_of_kind(&p, half, THREE); break;
        case OTHER: pixels_of_kind(&p, half, OTHER); break;
        default: pixels_of_kind(&p, half, QUARTERS);
        }
    }
}

static void narrow_pixels(const sn_32f * src, size_t channels, size_t half, size_t number, const sn_32f * k, sn_32f * dst,
                          sn_32f * work)
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

/* NCHW of so few positions that they are treated as lanes of pixels, and the channels as positions. */
static void narrow_planes(const struct sn_lrn * p, sn_32f * work)
{
    sn_32f * pixels = work + sn_lrn_work_of_pixels(p);
    lanes_to_planes(p->src, p->spatial, p->channels, pixels, p->channels, p->spatial, p->spatial);
    wide_pixels(pixels, p->channels, p->half, p->spatial, p->k, pixels, work);
    planes_to_lanes(pixels, p->channels, p->spatial, p->channels, p->dst, p->spatial, p->spatial);
}

static void lrn_32f(const struct sn_lrn * p, size_t begin, size_t end, sn_32f * work)
{
    const size_t pixel = begin * p->channels, number = end - begin;
    if (p->channels > 1 && (p->spatial == 1 || p->format == SN_NHWC)) {
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

SN_INSTALL(lrn, lrn) { slots->run_32f = lrn_32f; }
