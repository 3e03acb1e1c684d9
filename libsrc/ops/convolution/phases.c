#include "ops/convolution/phases.h"

#include "ops/convolution/cost.h"

/* Limits of the table, so that it is small and fast to compute: shapes beyond them use the loops of the formula. */
enum { MOST_PHASES = 1 << 13, MOST_TAPS = 1 << 20 };

/* Finds the taps of each phase. `from` is the input that the last tap uses for output 0: it may be negative, and then
 * wraps. */
static void find_taps(struct sn_phases * a, size_t kernel, size_t dilation, size_t pad, size_t dst)
{
    for (size_t f = 0; f < a->number; ++f)
        a->phase[f] = (struct sn_phase){.count = sn_ceil_div(dst - f, a->stride)};
    for (size_t k = 0; k < sn_min(kernel, a->tapStep); ++k) {
        const size_t f = (k * dilation % a->stride + a->stride - pad % a->stride) % a->stride;
        if (f >= a->number)
            continue;
        struct sn_phase * phase = &a->phase[f];
        phase->taps = sn_ceil_div(kernel - k, a->tapStep);
        phase->first = k;
        const ptrdiff_t end = (ptrdiff_t)(f + pad), tap = (ptrdiff_t)(sn_phase_tap(a, phase, 0) * dilation);
        phase->from = (size_t)((end - tap) / (ptrdiff_t)a->stride); /* without a remainder */
        a->taps = sn_max(a->taps, phase->taps);
    }
}

/* Computes the members that need no table; false if the table would be too large. */
static bool count_phases(struct sn_phases * a, size_t kernel, size_t dilation, size_t stride, size_t dst)
{
    a->number = sn_min(stride, dst);
    a->stride = stride;
    a->count = sn_ceil_div(dst, stride);
    a->tapStep = stride / sn_divisor(stride, dilation);
    a->lineStep = dilation / sn_divisor(stride, dilation);
    return a->number <= MOST_PHASES && sn_min(kernel, a->tapStep) <= MOST_TAPS;
}

static void plan_axis(struct sn_phases * a, struct sn_phase * table, size_t kernel, size_t dilation, size_t pad, size_t dst)
{
    a->phase = table;
    find_taps(a, kernel, dilation, pad, dst);
    ptrdiff_t low = PTRDIFF_MAX, high = 0;
    for (size_t f = 0; f < a->number; ++f)
        if (a->phase[f].taps) {
            const ptrdiff_t from = (ptrdiff_t)a->phase[f].from;
            const ptrdiff_t to = from + (ptrdiff_t)((a->phase[f].taps - 1) * a->lineStep);
            high = low == PTRDIFF_MAX || to > high ? to : high;
            low = from < low ? from : low;
        }
    a->low = a->taps ? low : 0;
    a->reach = a->taps ? (size_t)(high - low) : 0;
    for (size_t f = 0; f < a->number; ++f)
        a->phase[f].from -= a->phase[f].taps ? (size_t)low : 0;
}

size_t sn_phases_alike(const struct sn_phases * a, size_t f)
{
    const struct sn_phase * first = &a->phase[f];
    size_t n = 1;
    for (; f + n < a->number; ++n) {
        const struct sn_phase * next = first + n;
        if (next->taps != first->taps || next->from != first->from || next->count != first->count)
            break;
    }
    return n;
}

static bool same_axis(const struct sn_phases * a, const struct sn_phases * b)
{
    if (a->number != b->number || a->tapStep != b->tapStep)
        return false;
    for (size_t f = 0; f < a->number; ++f)
        if (a->phase[f].taps != b->phase[f].taps || a->phase[f].first != b->phase[f].first ||
            sn_phases_alike(a, f) != sn_phases_alike(b, f))
            return false;
    return true;
}

bool sn_phases_same(const struct sn_convolution * c, const struct sn_convolution * other)
{
    return same_axis(sn_phases_y(c), sn_phases_y(other)) && same_axis(sn_phases_x(c), sn_phases_x(other));
}

double sn_phases_with_taps(const struct sn_phases * a)
{
    size_t with = 0;
    for (size_t f = 0; f < a->number; ++f)
        with += a->phase[f].taps > 0;
    return (double)with / (double)a->number;
}

/* Taps of a phase, on average. An axis shorter than its stride has fewer phases than the stride, and not all taps of the kernel. */
static double taps_of(const struct sn_phases * a)
{
    size_t taps = 0;
    for (size_t f = 0; f < a->number; ++f)
        taps += a->phase[f].taps;
    return (double)taps / (double)a->number;
}

double sn_phases_depth(const struct sn_convolution * c)
{
    return taps_of(sn_phases_y(c)) * taps_of(sn_phases_x(c)) * (double)sn_inputs(c);
}

double sn_of_phases(const struct sn_convolution * c, double cycles)
{
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    return cycles * (double)(y->number * x->number) * (double)(y->count * x->count) / 16;
}

struct sn_span sn_span_of(ptrdiff_t low, size_t count, size_t extent)
{
    struct sn_span span = {low < 0 ? sn_min((size_t)-low, count) : 0, low < 0 ? 0 : (size_t)low, 0};
    if (span.begin < extent)
        span.inside = sn_min(extent - span.begin, count - span.before);
    return span;
}

enum sn_error_kind sn_phases_plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_phase_axes * phases = (void *)c->familyData;
    struct sn_phases * y = &phases->y, * x = &phases->x;
    const bool any = p->srcC && p->dstC; /* without channels there are no taps, whatever the kernel */
    const size_t kernelY = any ? p->kernelY : 0, kernelX = any ? p->kernelX : 0;
    if (!c->table->gemm.tile_32f.run || !count_phases(y, kernelY, p->dilationY, p->strideY, p->dstH) ||
        !count_phases(x, kernelX, p->dilationX, p->strideX, p->dstW))
        return SN_ERROR_NONE;
    c->tablesSize = (y->number + x->number) * sizeof(struct sn_phase);
    struct sn_phase * table = c->tables = sn_allocate(c->tablesSize, SN_ALIGN);
    if (!table)
        return SN_ERROR_MEMORY;
    plan_axis(y, table, kernelY, p->dilationY, p->padY, p->dstH);
    plan_axis(x, table + y->number, kernelX, p->dilationX, p->padX, p->dstW);
    return SN_ERROR_NONE;
}

SN_FITS_FAMILY_DATA(struct sn_phase_axes);
