/*
 * The transforms of filters.
 */
#ifndef SN_KERNELS_WINOGRAD_FILTERS_H
#define SN_KERNELS_WINOGRAD_FILTERS_H

#include "contract/winograd.h"
#include "kernels/lanes.h"
#include "kernels/winograd/parts.h"
#include "kernels/winograd/transforms.h"

enum { FILTERS = 4 * V32F_N, TAPS = 25 };

/* A vector of filters: coefficients u of taps g. Not unrolled, since it runs once per network. */
static void filter_tile(struct sn_winograd_size s, bool halves, const v32f * g, v32f * u)
{
    const bool turned = s.kernelX == 1; /* a column, transformed like a row */
    const int m = (int)(turned ? s.blockY : s.blockX), r = (int)(turned ? s.kernelY : s.kernelX), n = m + r - 1;
    const int taps = turned ? 1 : (int)s.kernelY, rows = taps == 1 ? 1 : n;
    if (halves) {
        winograd_filter_halves(r, g, u);
        return;
    }
    v32f w[WINOGRAD_SIDE][WINOGRAD_SIDE];
    for (int x = 0; x < r; ++x) {
        v32f column[WINOGRAD_SIDE], v[WINOGRAD_SIDE];
        for (int y = 0; y < taps; ++y) column[y] = v[y] = g[y * r + x];
        if (taps > 1)
            winograd_filter(m, r, column, v);
        for (int i = 0; i < rows; ++i) w[i][x] = v[i];
    }
    for (int i = 0; i < rows; ++i) winograd_filter(m, r, w[i], u + i * n);
}

/* The same for stride 2, see contract/winograd.h. */
static void strided_filter_tile(int m, const v32f * g, v32f * u)
{
    v32f w[3][WINOGRAD_SIDE];
    for (int x = 0; x < 3; ++x) {
        const v32f taps[] = {g[x], g[6 + x]};
        winograd_filter(m, 2, taps, w[x]);
    }
    for (int i = 0; i <= m; ++i, u += m + 1) {
        const v32f taps[] = {w[0][i], w[2][i]};
        winograd_filter(m, 2, taps, u);
    }
    for (int i = 0; i <= m; ++i) *u++ = w[1][i];
    const v32f taps[] = {g[3], g[5]};
    winograd_filter(m, 2, taps, u);
    u[m + 1] = g[4];
}

/* Taps of up to FILTERS consecutive filters, to planes. More taps than lanes are copied in parts that may overlap. */
static void spread_taps(const sn_32f * src, size_t taps, size_t count, sn_32f * planes)
{
    if (taps <= V32F_N) {
        lanes_to_planes(src, taps, count, planes, FILTERS, taps, taps);
        return;
    }
    for (size_t k = 0; k < taps; k += V32F_N) {
        const size_t first = sn_min(k, taps - V32F_N);
        lanes_to_planes(src + first, taps, count, planes + first * FILTERS, FILTERS, V32F_N, V32F_N);
    }
}

static void winograd_filter_32f(const struct sn_winograd_filter_32f * job)
{
    const struct sn_winograd_size s = sn_winograd_size(job->kind);
    const size_t taps = s.kernelY * s.kernelX;
    const bool halves = (job->kind >= SN_WINOGRAD_HALVES_4X_5X && job->kind <= SN_WINOGRAD_HALVES_2X_7X) ||
                        (job->kind >= SN_WINOGRAD_HALVES_4Y_5Y && job->kind <= SN_WINOGRAD_HALVES_2Y_7Y);
    float planes[TAPS * FILTERS] SN_ALIGNED;
    v32f g[TAPS], u[SIDE * SIDE];
    sn_32f * dst = job->dst;
    for (size_t i = job->begin, count; i < job->end; i += count, dst += count) {
        count = sn_min(job->end - i, FILTERS);
        if (!job->trans)
            spread_taps(job->src + i * taps, taps, count, planes);
        for (size_t j = 0; j < count; j += V32F_N) {
            const sn_32f * src = job->trans ? job->src + i + j : planes + j;
            const size_t step = job->trans ? job->size : FILTERS, lanes = sn_min(count - j, V32F_N);
            for (size_t k = 0; k < taps; ++k) g[k] = load_lanes(src + k * step, lanes);
            if (s.stride == 1)
                filter_tile(s, halves, g, u);
            else
                strided_filter_tile((int)s.blockX, g, u);
            for (size_t k = 0; k < sn_winograd_filters(s); ++k) store_lanes(dst + j + k * job->plane, u[k], lanes);
        }
    }
}

#endif
