/*
 * The one-dimensional Winograd transforms of F(m, r) on vectors: m outputs of a filter of r taps, n = m + r - 1 inputs. The
 * matrices are those in include/simdnet.h; sums that two rows share are computed once. For inputs and outputs, m and r are
 * compile-time constants, so one branch of each function remains, and results that the caller does not use are not computed.
 *
 * Two dimensions are columns, then rows: see kernels/winograd/tile.h.
 */
#ifndef SN_KERNELS_WINOGRAD_TRANSFORMS_H
#define SN_KERNELS_WINOGRAD_TRANSFORMS_H

#include "kernels/vec.h"

enum { WINOGRAD_SIDE = 8 }; /* the largest n */

/* a + k * b, a - k * b, k * b with a constant k */
SN_INLINE v32f add_times(v32f a, float k, v32f b) { return v_fma_32f(v_set_32f(k), b, a); }
SN_INLINE v32f sub_times(v32f a, float k, v32f b) { return v_fnma_32f(v_set_32f(k), b, a); }
SN_INLINE v32f times(float k, v32f b) { return v_mul_32f(v_set_32f(k), b); }

/* v = B' d, which depends on n only: all use the first n - 1 of the points 0, 1, -1, 2, -2, 3, -3, and infinity. */
SN_INLINE void winograd_input(int m, int r, const v32f * d, v32f * v)
{
    const int n = m + r - 1;
    if (n == 3) {
        v[0] = v_sub_32f(d[0], d[1]);
        v[1] = d[1];
        v[2] = v_sub_32f(d[2], d[1]);
    } else if (n == 4) {
        v[0] = v_sub_32f(d[0], d[2]);
        v[1] = v_add_32f(d[1], d[2]);
        v[2] = v_sub_32f(d[2], d[1]);
        v[3] = v_sub_32f(d[1], d[3]);
    } else if (n == 5) {
        const v32f a = v_sub_32f(d[3], d[1]);
        v[0] = add_times(a, 2, v_sub_32f(d[0], d[2]));
        v[1] = sub_times(v_sub_32f(d[3], d[2]), 2, d[1]);
        v[2] = add_times(sub_times(d[3], 3, d[2]), 2, d[1]);
        v[3] = a;
        v[4] = sub_times(v_sub_32f(d[4], d[2]), 2, a);
    } else if (n == 6) {
        const v32f a = sub_times(d[4], 4, d[2]), b = sub_times(d[3], 4, d[1]);
        const v32f e = v_sub_32f(d[4], d[2]), f = v_sub_32f(d[3], d[1]);
        v[0] = add_times(sub_times(d[4], 5, d[2]), 4, d[0]);
        v[1] = v_add_32f(a, b);
        v[2] = v_sub_32f(a, b);
        v[3] = add_times(e, 2, f);
        v[4] = sub_times(e, 2, f);
        v[5] = add_times(sub_times(d[5], 5, d[3]), 4, d[1]);
    } else {
        const v32f a = add_times(sub_times(d[6], 13, d[4]), 36, d[2]), b = add_times(sub_times(d[5], 13, d[3]), 36, d[1]);
        const v32f e = add_times(sub_times(d[6], 10, d[4]), 9, d[2]), f = add_times(sub_times(d[5], 10, d[3]), 9, d[1]);
        const v32f p = add_times(sub_times(d[6], 5, d[4]), 4, d[2]), q = add_times(sub_times(d[5], 5, d[3]), 4, d[1]);
        v[0] = v_sub_32f(add_times(sub_times(times(36, d[0]), 49, d[2]), 14, d[4]), d[6]);
        v[1] = v_add_32f(a, b);
        v[2] = v_sub_32f(a, b);
        v[3] = add_times(e, 2, f);
        v[4] = sub_times(e, 2, f);
        v[5] = add_times(p, 3, q);
        v[6] = sub_times(p, 3, q);
        v[7] = sub_times(add_times(sub_times(d[7], 14, d[5]), 49, d[3]), 36, d[1]);
    }
}

/*
 * The same for F(4,5), F(6,3) and F(2,7) of convolutions, with the points 1/2, -1/2 in place of 3, -3 of the public functions: the
 * rounding error is a tenth of theirs.
 */
SN_INLINE void winograd_input_halves(const v32f * d, v32f * v)
{
    const v32f a = sub_times(v_add_32f(d[2], d[6]), 4.25f, d[4]), b = sub_times(v_add_32f(d[1], d[5]), 4.25f, d[3]);
    const v32f e = add_times(sub_times(d[6], 1.25f, d[4]), 0.25f, d[2]);
    const v32f f = add_times(sub_times(d[5], 1.25f, d[3]), 0.25f, d[1]);
    const v32f p = add_times(sub_times(d[6], 5, d[4]), 4, d[2]), q = add_times(sub_times(d[5], 5, d[3]), 4, d[1]);
    v[0] = add_times(v_sub_32f(d[0], d[6]), 5.25f, v_sub_32f(d[4], d[2]));
    v[1] = v_add_32f(a, b);
    v[2] = v_sub_32f(a, b);
    v[3] = add_times(e, 2, f);
    v[4] = sub_times(e, 2, f);
    v[5] = add_times(p, 0.5f, q);
    v[6] = sub_times(p, 0.5f, q);
    v[7] = add_times(v_sub_32f(d[7], d[1]), 5.25f, v_sub_32f(d[3], d[5]));
}

static void winograd_filter_halves(int r, const v32f * g, v32f * u)
{
    const v32f zero = v_zero_32f(), g3 = r > 3 ? g[3] : zero, g4 = r > 3 ? g[4] : zero, g5 = r > 5 ? g[5] : zero;
    const v32f g6 = r > 5 ? g[6] : zero;
    const v32f a = v_add_32f(v_add_32f(v_add_32f(g[0], g[2]), g4), g6), b = v_add_32f(v_add_32f(g[1], g3), g5);
    const v32f e = add_times(add_times(add_times(g[0], 4, g[2]), 16, g4), 64, g6), f = add_times(add_times(g[1], 4, g3), 16, g5);
    const v32f p = add_times(add_times(add_times(g4, 4, g[2]), 16, g[0]), 0.25f, g6);
    const v32f q = add_times(add_times(g3, 4, g[1]), 0.25f, g5);
    u[0] = g[0];
    u[1] = times(-2.0f / 9, v_add_32f(a, b));
    u[2] = times(-2.0f / 9, v_sub_32f(a, b));
    u[3] = times(1.0f / 90, add_times(e, 2, f));
    u[4] = times(1.0f / 90, sub_times(e, 2, f));
    u[5] = times(2.0f / 45, add_times(p, 2, q));
    u[6] = times(2.0f / 45, sub_times(p, 2, q));
    u[7] = g[r - 1];
}

SN_INLINE void winograd_output_halves(int m, const v32f * p, v32f * y)
{
    const v32f s = v_add_32f(p[1], p[2]), d = v_sub_32f(p[1], p[2]);
    const v32f t = v_add_32f(p[3], p[4]), u = v_sub_32f(p[3], p[4]);
    const v32f v = v_add_32f(p[5], p[6]), w = v_sub_32f(p[5], p[6]);
    y[0] = v_add_32f(v_add_32f(v_add_32f(p[0], s), t), v);
    y[1] = add_times(add_times(m == 2 ? v_add_32f(d, p[7]) : d, 2, u), 0.5f, w);
    if (m == 2)
        return;
    y[2] = add_times(add_times(s, 4, t), 0.25f, v);
    y[3] = add_times(add_times(m == 4 ? v_add_32f(d, p[7]) : d, 8, u), 0.125f, w);
    if (m == 6) {
        y[4] = add_times(add_times(s, 16, t), 0.0625f, v);
        y[5] = add_times(add_times(v_add_32f(d, p[7]), 32, u), 0.03125f, w);
    }
}

/* u = G g; not inlined, since filters are transformed once */
static void winograd_filter(int m, int r, const v32f * g, v32f * u)
{
    if (m == 2 && r == 2) {
        u[0] = g[0];
        u[1] = v_add_32f(g[0], g[1]);
        u[2] = g[1];
    } else if (m == 2 && r == 3) {
        const v32f even = v_add_32f(g[0], g[2]);
        u[0] = g[0];
        u[1] = times(0.5f, v_add_32f(even, g[1]));
        u[2] = times(0.5f, v_sub_32f(even, g[1]));
        u[3] = g[2];
    } else if (r == 2) {
        u[0] = times(0.5f, g[0]);
        u[1] = times(-0.5f, v_add_32f(g[0], g[1]));
        u[2] = times(1.0f / 6, v_sub_32f(g[1], g[0]));
        u[3] = times(1.0f / 6, add_times(g[0], 2, g[1]));
        u[4] = g[1];
    } else if (m == 3) {
        const v32f even = v_add_32f(g[0], g[2]);
        u[0] = times(0.5f, g[0]);
        u[1] = times(-0.5f, v_add_32f(even, g[1]));
        u[2] = times(1.0f / 6, v_sub_32f(g[1], even));
        u[3] = times(1.0f / 6, add_times(add_times(g[0], 2, g[1]), 4, g[2]));
        u[4] = g[2];
    } else if (r == 3) {
        const v32f even = v_add_32f(g[0], g[2]), wide = add_times(g[0], 4, g[2]);
        u[0] = times(0.25f, g[0]);
        u[1] = times(-1.0f / 6, v_add_32f(even, g[1]));
        u[2] = times(-1.0f / 6, v_sub_32f(even, g[1]));
        u[3] = times(1.0f / 24, add_times(wide, 2, g[1]));
        u[4] = times(1.0f / 24, sub_times(wide, 2, g[1]));
        u[5] = g[2];
    } else if (m == 2) {
        const v32f a = v_add_32f(v_add_32f(g[0], g[2]), g[4]), b = v_add_32f(g[1], g[3]);
        const v32f e = add_times(add_times(g[0], 4, g[2]), 16, g[4]), f = add_times(g[1], 4, g[3]);
        u[0] = times(0.25f, g[0]);
        u[1] = times(-1.0f / 6, v_add_32f(a, b));
        u[2] = times(-1.0f / 6, v_sub_32f(a, b));
        u[3] = times(1.0f / 24, add_times(e, 2, f));
        u[4] = times(1.0f / 24, sub_times(e, 2, f));
        u[5] = g[4];
    } else {
        const v32f a = v_add_32f(v_add_32f(g[0], g[2]), g[4]), b = v_add_32f(g[1], g[3]);
        const v32f e = add_times(add_times(g[0], 4, g[2]), 16, g[4]), f = add_times(g[1], 4, g[3]);
        const v32f p = add_times(add_times(g[0], 9, g[2]), 81, g[4]), q = add_times(g[1], 9, g[3]);
        u[0] = times(1.0f / 36, g[0]);
        u[1] = times(1.0f / 48, v_add_32f(a, b));
        u[2] = times(1.0f / 48, v_sub_32f(a, b));
        u[3] = times(-1.0f / 120, add_times(e, 2, f));
        u[4] = times(-1.0f / 120, sub_times(e, 2, f));
        u[5] = times(1.0f / 720, add_times(p, 3, q));
        u[6] = times(1.0f / 720, sub_times(p, 3, q));
        u[7] = g[4];
    }
}

/* y = A' p */
SN_INLINE void winograd_output(int m, int r, const v32f * p, v32f * y)
{
    if (m == 2 && r == 2) {
        y[0] = v_add_32f(p[0], p[1]);
        y[1] = v_add_32f(p[1], p[2]);
        return;
    }
    const v32f s = v_add_32f(p[1], p[2]), d = v_sub_32f(p[1], p[2]);
    if (m == 2 && r == 3) {
        y[0] = v_add_32f(p[0], s);
        y[1] = v_sub_32f(d, p[3]);
    } else if (m == 3 || r == 2) {
        y[0] = v_add_32f(v_add_32f(p[0], s), p[3]);
        y[1] = add_times(d, 2, p[3]);
        y[2] = add_times(m == 3 ? v_add_32f(s, p[4]) : s, 4, p[3]);
        if (m == 4)
            y[3] = add_times(v_add_32f(d, p[4]), 8, p[3]);
    } else {
        const v32f t = v_add_32f(p[3], p[4]), u = v_sub_32f(p[3], p[4]);
        y[0] = v_add_32f(v_add_32f(p[0], s), t);
        y[1] = add_times(m == 2 ? v_add_32f(d, p[5]) : d, 2, u);
        if (m == 2)
            return;
        y[2] = add_times(s, 4, t);
        y[3] = add_times(v_add_32f(d, p[r + 2]), 8, u);
        if (r == 5) {
            const v32f v = v_add_32f(p[5], p[6]), w = v_sub_32f(p[5], p[6]);
            y[0] = v_add_32f(y[0], v);
            y[1] = add_times(y[1], 3, w);
            y[2] = add_times(y[2], 9, v);
            y[3] = add_times(y[3], 27, w);
        }
    }
}

#endif
