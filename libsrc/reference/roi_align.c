#include "contract/roi_align.h"

#include "reference/reference.h"

static float weighted(float v, float high, float low, bool max)
{
    const float weight = max && v < 0 ? low : high;
    return weight == 0 ? 0 : weight * v;
}

static float with(float sum, float v, bool max) { return !max ? sum + v : v > sum ? v : sum; }

static void line(const struct sn_roi_tap * tap, size_t taps, bool max, const sn_32f * src, size_t step, size_t n, sn_32f * line)
{
    for (size_t x = 0; x < n; ++x) {
        float sum = 0;
        for (size_t t = 0; t < taps; ++t) {
            const float v = weighted(src[tap[t].at * step + x], tap[t].high, tap[t].low, max);
            sum = t ? with(sum, v, max) : v;
        }
        line[x] = sum;
    }
}

static void bins(const struct sn_roi_bins * b, bool max, const sn_32f * lines, sn_32f * dst)
{
    for (size_t n = 0; n < b->bins; ++n) {
        float sum = 0;
        for (size_t t = 0; t < b->taps; ++t) {
            const float v = weighted(lines[b->at[t][n]], b->high[t][n], b->low[t][n], max);
            sum = t ? with(sum, v, max) : v;
        }
        dst[n] = sum;
    }
}

SN_INSTALL(roi_align, roi_align)
{
    slots->line = line;
    slots->bins = bins;
}
