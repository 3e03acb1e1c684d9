/*
 * A unit of work is a region. Its bins are computed in blocks of whole rows, or of parts of a row, as many as a kernel takes at
 * once: what a bin takes of the rows and of the columns of its image is found once for all channels.
 */
#include "ops/roi_align.h"

#include <math.h>
#include <string.h>

#include "dispatch/dispatch.h"
#include "ops/units.h"
#include "runtime/memory.h"

enum { FLOATS = SN_LINE / sizeof(float) };

/* A dimension of a region: the positions of samples follow from these numbers. */
struct axis {
    size_t n; /* elements of the image */
    float start, step, samples;
    bool all; /* of the samples are looked at: there are as many as the caller wants */
};

struct workspace {
    struct sn_roi_tap * rows, * columns; /* of SN_ROI_LANES bins */
    int32_t (*at)[SN_ROI_LANES];
    float (*high)[SN_ROI_LANES], (*low)[SN_ROI_LANES];
    sn_32f * lines;
};

struct job {
    const struct sn_roi_align * r;
    struct sn_roi_align_slots slots;
    size_t mostRows, mostColumns, line; /* taps of a bin; elements from line to line */
};

/* ---- samples */

static struct axis axis_of(const struct sn_roi_align * r, float first, float last, size_t bins, size_t n)
{
    const float offset = r->half ? 0.5f : 0, start = first * r->scale - offset, extent = last * r->scale - offset - start;
    const float step = (!r->half && extent < 1 ? 1 : extent) / (float)bins;
    return (struct axis){n, start, step, r->ratio ? (float)r->ratio : ceilf(step), r->ratio > 0};
}

/* Adds a weight to those of an element. Positions ascend or descend, so it is one of the last elements, or a new one. */
static size_t add_tap(struct sn_roi_tap * taps, size_t count, size_t at, float weight, bool max)
{
    for (size_t i = count; i > 0 && i + 3 > count; --i) {
        struct sn_roi_tap * tap = &taps[i - 1];
        if (tap->at == at) {
            tap->high = !max ? tap->high + weight : tap->high > weight ? tap->high : weight;
            tap->low = tap->low < weight ? tap->low : weight;
            return count;
        }
    }
    taps[count] = (struct sn_roi_tap){at, weight, weight};
    return count + 1;
}

/*
 * What a bin takes of each element; returns the number of those, at most that of the dimension or 2 for each sample. Of a huge
 * region only the samples around the image are looked at.
 */
static size_t take_taps(const struct axis * a, size_t bin, bool max, struct sn_roi_tap * taps)
{
    const float first = a->start + (float)bin * a->step, end = (float)a->n, before = (-1 - first) * (a->samples / a->step) - 3;
    const float skipped = !a->all && before > 0 ? floorf(before) : 0;
    const size_t most = a->all ? (size_t)a->samples : 2 * a->n + 16;
    size_t count = 0;
    bool none = false; /* some sample has no element, or one with a weight of 0 */
    for (size_t i = 0; i < most && skipped + (float)i < a->samples; ++i) {
        const float at = first + (skipped + (float)i + 0.5f) * a->step / a->samples;
        if (!(at >= -1 && at <= end)) {
            none = true;
            continue;
        }
        const float inside = at < 0 ? 0 : at > end - 1 ? end - 1 : at;
        const size_t low = (size_t)inside;
        const float share = inside - (float)low;
        count = add_tap(taps, count, low, 1 - share, max);
        if (share > 0)
            count = add_tap(taps, count, low + 1, share, max);
        none |= !(share > 0);
    }
    for (size_t t = 0; t < count && !max; ++t)
        taps[t].high /= a->samples;
    if (count && (none || skipped > 0))
        taps[0].low = 0;
    return count;
}

/* ---- bins */

/* Some bins of a row, and the columns of the image that they take. */
struct part {
    size_t first, bins, most, left, right, counts[SN_ROI_LANES];
};

static void take_columns(const struct job * job, const struct axis * x, const struct workspace * w, struct part * p)
{
    p->most = p->right = 0;
    p->left = x->n;
    for (size_t n = 0; n < p->bins; ++n) {
        struct sn_roi_tap * taps = w->columns + n * job->mostColumns;
        p->counts[n] = take_taps(x, p->first + n, job->r->max, taps);
        p->most = sn_max(p->most, p->counts[n]);
        for (size_t t = 0; t < p->counts[n]; ++t) {
            p->left = sn_min(p->left, taps[t].at);
            p->right = sn_max(p->right, taps[t].at + 1);
        }
    }
}

/* Tap t of a bin, or one that changes nothing. */
static struct sn_roi_tap tap_of(const struct job * job, const struct part * p, const struct workspace * w, size_t bin, size_t t)
{
    const size_t count = p->counts[bin];
    if (!count)
        return (struct sn_roi_tap){p->left, 0, 0};
    struct sn_roi_tap tap = w->columns[bin * job->mostColumns + sn_min(t, count - 1)];
    tap.high = t < count || job->r->max ? tap.high : 0;
    return tap;
}

/* The taps of all bins of some rows by their places in lines, which begin at p->left; kernels read whole vectors. */
static void set_places(const struct job * job, const struct part * p, size_t rows, const struct workspace * w)
{
    const size_t used = rows * p->bins, filled = sn_ceil_div(used, FLOATS) * FLOATS;
    for (size_t t = 0; t < p->most; ++t) {
        for (size_t bin = 0; bin < p->bins; ++bin) {
            const struct sn_roi_tap tap = tap_of(job, p, w, bin, t);
            for (size_t row = 0, n = bin; row < rows; ++row, n += p->bins) {
                w->at[t][n] = (int32_t)(tap.at - p->left + row * job->line);
                w->high[t][n] = tap.high;
                w->low[t][n] = tap.low;
            }
        }
        for (size_t n = used; n < filled; ++n)
            w->at[t][n] = 0, w->high[t][n] = w->low[t][n] = 0;
    }
}

/* Some rows of bins of a part, of all channels. */
static void take_rows(const struct job * job, const struct part * p, const struct axis * y, size_t row, size_t rows,
                      const struct workspace * w, const sn_32f * src, sn_32f * dst)
{
    const struct sn_roi_align * r = job->r;
    const struct sn_roi_bins b = {rows * p->bins, p->most, w->at, w->high, w->low};
    size_t counts[SN_ROI_LANES];
    for (size_t i = 0; i < rows; ++i)
        counts[i] = take_taps(y, row + i, r->max, w->rows + i * job->mostRows);
    set_places(job, p, rows, w);
    for (size_t c = 0; c < r->channels; ++c) {
        for (size_t i = 0; i < rows; ++i)
            job->slots.line(w->rows + i * job->mostRows, counts[i], r->max, src + c * r->srcH * r->srcW + p->left, r->srcW,
                            p->right - p->left, w->lines + i * job->line);
        job->slots.bins(&b, r->max, w->lines, dst + (c * r->dstH + row) * r->dstW + p->first);
    }
}

static void zero(const struct sn_roi_align * r, const struct part * p, sn_32f * dst)
{
    for (size_t row = 0; row < r->channels * r->dstH; ++row)
        memset(dst + row * r->dstW + p->first, 0, p->bins * sizeof(*dst));
}

static void take_region(const struct job * job, size_t n, const struct workspace * w)
{
    const struct sn_roi_align * r = job->r;
    const sn_32f * corners = r->regions + 4 * n, * src = r->src + (size_t)r->images[n] * r->channels * r->srcH * r->srcW;
    sn_32f * dst = r->dst + n * r->channels * r->dstH * r->dstW;
    const struct axis x = axis_of(r, corners[0], corners[2], r->dstW, r->srcW);
    const struct axis y = axis_of(r, corners[1], corners[3], r->dstH, r->srcH);
    struct part p;
    for (p.first = 0; p.first < r->dstW; p.first += p.bins) {
        p.bins = sn_min(r->dstW - p.first, SN_ROI_LANES);
        take_columns(job, &x, w, &p);
        const size_t most = r->dstW > SN_ROI_LANES ? 1 : SN_ROI_LANES / r->dstW;
        for (size_t row = 0, rows; p.most && row < r->dstH; row += rows) {
            rows = sn_min(r->dstH - row, most);
            take_rows(job, &p, &y, row, rows, w, src, dst);
        }
        if (!p.most)
            zero(r, &p, dst);
    }
}

static void regions(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    struct workspace w = {.rows = work};
    w.columns = w.rows + SN_ROI_LANES * job->mostRows;
    w.at = (void *)(w.columns + SN_ROI_LANES * job->mostColumns);
    w.high = (void *)(w.at + job->mostColumns);
    w.low = w.high + job->mostColumns;
    w.lines = (sn_32f *)(w.low + job->mostColumns);
    for (size_t n = begin; n < end; ++n)
        take_region(job, n, &w);
}

bool sn_roi_align(const struct sn_roi_align * r)
{
    const size_t samples = r->ratio ? 2 * r->ratio : SIZE_MAX, line = sn_ceil_div(r->srcW, FLOATS) * FLOATS;
    const struct job job = {r, sn_table()->roi_align, sn_min(r->srcH, samples), sn_min(r->srcW, samples), line};
    const size_t bytes = SN_ROI_LANES * ((job.mostRows + job.mostColumns) * sizeof(struct sn_roi_tap) +
        job.mostColumns * (sizeof(int32_t) + 2 * sizeof(float)) + line * sizeof(float));
    void * work = sn_scratch(bytes);
    if (!work)
        return false;
    const double values = (double)r->count * (double)r->channels * (double)(r->dstH * r->dstW);
    sn_parallel_for(&(struct sn_parallel){.run = regions, .job = &job, .units = r->count, .cost = 4 * values, .work = work,
        .workBytes = bytes});
    return true;
}
