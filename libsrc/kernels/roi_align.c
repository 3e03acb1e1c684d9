/*
 * Regions of images as grids of bins: lines of an image, combined element by element, then elements of these lines, which lie
 * anywhere. Products are rounded before they are added, so that all levels have the same bits.
 */
#include "contract/roi_align.h"
#include <collect.h>
#include "kernels/install.h"

SN_INLINE v32f weighted(v32f v, v32f high, v32f low, bool max)
{
    const v32f zero = v_zero_32f(), weight = max ? v_select_32f(v_lt_32f(v, zero), low, high) : high;
    return v_select_32f(v_eq_32f(weight, zero), zero, v_mul_32f(weight, v));
}

SN_INLINE v32f with(v32f sum, v32f v, bool max) { return max ? v_max_32f(v, sum) : v_add_32f(sum, v); }

/* Of a row, `n` elements, at most a vector. */
SN_INLINE v32f of_row(const struct sn_roi_tap * tap, bool max, const sn_32f * src, size_t step, size_t n)
{
    const sn_32f * row = src + tap->at * step;
    const v32f v = n == V32F_N ? v_load_32f(row) : v_load_tail_32f(row, n);
    return weighted(v, v_set_32f(tap->high), v_set_32f(tap->low), max);
}

/*
 * The first tap is outside of the loop: GCC 12 makes a selection by the number of the tap, of whole vectors, one of the lowest
 * lane alone (AVX-512).
 */
SN_INLINE v32f of_rows(const struct sn_roi_tap * tap, size_t taps, bool max, const sn_32f * src, size_t step, size_t n)
{
    if (!taps)
        return v_zero_32f();
    v32f sum = of_row(tap, max, src, step, n);
    for (size_t t = 1; t < taps; ++t)
        sum = with(sum, of_row(tap + t, max, src, step, n), max);
    return sum;
}

SN_INLINE void line_by(const struct sn_roi_tap * tap, size_t taps, bool max, const sn_32f * src, size_t step, size_t n,
                       sn_32f * line)
{
    size_t x = 0;
    for (; x + V32F_N <= n; x += V32F_N)
        v_store_32f(line + x, of_rows(tap, taps, max, src + x, step, V32F_N));
    if (x < n)
        v_store_tail_32f(line + x, of_rows(tap, taps, max, src + x, step, n - x), n - x);
}

static void line(const struct sn_roi_tap * tap, size_t taps, bool max, const sn_32f * src, size_t step, size_t n, sn_32f * line)
{
    if (max)
        line_by(tap, taps, true, src, step, n, line);
    else
        line_by(tap, taps, false, src, step, n, line);
}

SN_INLINE v32f of_bins(const struct sn_roi_bins * b, bool max, const sn_32f * lines, size_t t, size_t n)
{
    const v32f high = v_load_32f(&b->high[t][n]), low = max ? v_load_32f(&b->low[t][n]) : high;
    return weighted(collected(&b->at[t][n], lines), high, low, max);
}

SN_INLINE void bins_by(const struct sn_roi_bins * b, bool max, const sn_32f * lines, sn_32f * dst)
{
    for (size_t n = 0; n < b->bins; n += V32F_N) {
        v32f sum = of_bins(b, max, lines, 0, n);
        for (size_t t = 1; t < b->taps; ++t)
            sum = with(sum, of_bins(b, max, lines, t, n), max);
        if (b->bins - n >= V32F_N)
            v_store_32f(dst + n, sum);
        else
            v_store_tail_32f(dst + n, sum, b->bins - n);
    }
}

static void bins(const struct sn_roi_bins * b, bool max, const sn_32f * lines, sn_32f * dst)
{
    if (max)
        bins_by(b, true, lines, dst);
    else
        bins_by(b, false, lines, dst);
}

SN_INSTALL(roi_align, roi_align)
{
    slots->line = line;
    slots->bins = bins;
}
