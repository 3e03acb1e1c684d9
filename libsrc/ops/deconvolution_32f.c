#include "ops/deconvolution_32f.h"

#include <string.h>

#include "ops/pieces.h"
#include "ops/shares.h"
#include "runtime/memory.h"

/* ---- phases */

/* Their table is to be small and made in no time, whatever the numbers: a larger stride takes the loops of the formula. */
enum { MOST_PHASES = 1 << 13, MOST_TAPS = 1 << 20 };

static size_t divisor(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The taps of each phase. from is what the last of them finds for output 0, in the image: perhaps less than 0,
 * and wrapped. */
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

/* What needs no table; false when that would be too large. */
static bool count_phases(struct sn_phases * a, size_t kernel, size_t dilation, size_t stride, size_t dst)
{
    a->number = sn_min(stride, dst);
    a->stride = stride;
    a->count = sn_ceil_div(dst, stride);
    a->tapStep = stride / divisor(stride, dilation);
    a->lineStep = dilation / divisor(stride, dilation);
    return a->number <= MOST_PHASES && sn_min(kernel, a->tapStep) <= MOST_TAPS;
}

/* False without memory. */
static bool plan_axis(struct sn_phases * a, size_t kernel, size_t dilation, size_t pad, size_t dst)
{
    a->bytes = a->number * sizeof(struct sn_phase);
    a->phase = sn_allocate(a->bytes, SN_ALIGN);
    if (!a->phase)
        return false;
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
    return true;
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

struct sn_span sn_span_of(ptrdiff_t low, size_t count, size_t extent)
{
    struct sn_span span = {low < 0 ? sn_min((size_t)-low, count) : 0, low < 0 ? 0 : (size_t)low, 0};
    if (span.begin < extent)
        span.inside = sn_min(extent - span.begin, count - span.before);
    return span;
}

/* ---- bands */

void sn_deconvolution_32f_rows(struct sn_convolution_32f * c, size_t row, size_t fixed, size_t budget)
{
    const size_t fit = budget > fixed ? (budget - fixed) / sn_max(row, 1) : 0;
    const size_t rows = sn_min(sn_max(fit, 1), c->y.count);
    c->band.rows = sn_ceil_div(c->y.count, sn_ceil_div(c->y.count, rows));
    c->band.lines = c->band.rows + c->y.reach;
}

bool sn_deconvolution_32f_segments(struct sn_convolution_32f * c, size_t planes)
{
    c->segments = 0;
    return c->x.taps == 0 || sn_product(&c->segments, c->y.taps, 2 * c->x.taps - 1, planes);
}

void sn_deconvolution_32f_offsets(const struct sn_convolution_32f * c, size_t planes, size_t * segment)
{
    for (size_t taps = c->x.taps; taps && taps + 1 >= c->x.taps; --taps)
        for (size_t y = 0; y < c->y.taps; ++y)
            for (size_t x = 0; x < taps; ++x)
                for (size_t i = 0; i < planes; ++i)
                    *segment++ = y * c->y.lineStep * c->band.line + x * c->x.lineStep * c->band.pixel + i * c->band.plane;
}

/* ---- the way of `base` */

static void base_forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    (void)work;
    const sn_32f * params = c->slope ? c->slope : c->param;
    for (size_t b = 0; b < c->batch; ++b)
        c->table->deconvolution_32f.plain(&c->p, c->weight, c->bias, params, src + b * c->srcSize, dst + b * c->dstSize);
}

static const struct sn_convolution_32f_way base_way = {
    "base", false, sn_base_takes, sn_base_plan, sn_base_pack, sn_base_spread, base_forward, NULL};

/* ---- stride 1: a convolution */

/* The convolution with the flipped kernel; it cannot leave out more than all that the kernel adds at a side. */
static bool is_convolution(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t y = (p->kernelY - 1) * p->dilationY, x = (p->kernelX - 1) * p->dilationX;
    return !sn_base_takes(c) && p->strideY == 1 && p->strideX == 1 && p->padY <= y && p->padH <= y && p->padX <= x &&
           p->padW <= x;
}

static sn_32f * flip(const struct sn_convolution_32f * c, const sn_32f * weight)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t inputs = p->srcC / p->group, outputs = p->dstC / p->group, taps = p->kernelY * p->kernelX;
    sn_32f * turned = sn_allocate(p->srcC * outputs * taps * sizeof(float), SN_ALIGN);
    if (!turned)
        return NULL;
    if (p->srcF == SN_NHWC) { /* to the last tap first, then input channels */
        for (size_t i = 0; i < inputs; ++i)
            for (size_t k = 0; k < taps; ++k, weight += outputs)
                memcpy(turned + ((taps - 1 - k) * inputs + i) * outputs, weight, outputs * sizeof(float));
        return turned;
    }
    for (size_t i = 0; i < p->srcC; ++i)
        for (size_t o = 0; o < outputs; ++o, weight += taps) {
            sn_32f * to = turned + ((i / inputs * outputs + o) * inputs + i % inputs) * taps;
            for (size_t k = 0; k < taps; ++k)
                to[taps - 1 - k] = weight[k];
        }
    return turned;
}

static void make_convolution(struct sn_convolution_32f * c)
{
    struct sn_convolution_parameters * p = &c->p;
    const size_t y = (p->kernelY - 1) * p->dilationY, x = (p->kernelX - 1) * p->dilationX;
    p->padY = y - p->padY;
    p->padH = y - p->padH;
    p->padX = x - p->padX;
    p->padW = x - p->padW;
    c->turn = flip;
}

/* ---- the plan */

static double cost_of(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double taps = (double)(p->kernelY * p->kernelX) * (double)(p->dstC / p->group);
    return (double)c->batch * (sn_cost_of_sums((double)c->srcSize * taps, c->table->alignment) +
                               sn_cost_of_bytes(4 * ((double)c->srcSize + (double)c->dstSize)));
}

/* ---- bands */

struct job {
    const struct sn_convolution_32f * c;
    sn_deconvolution_32f_band_fn compute;
    const sn_32f * src;
    sn_32f * dst;
};

/* Units are rows of a phase, of all groups of all images. Those that make a band have a plan with a band of just so many. */
static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_convolution_32f * c = job->c;
    const struct sn_convolution_parameters * p = &c->p;
    const size_t srcPlanes = p->srcC / p->group * p->srcH * p->srcW, dstPlanes = p->dstC / p->group * p->dstH * p->dstW;
    const struct sn_shares all = {.lines = c->y.count, .most = c->band.rows, .panels = 1, .each = c->y.count};
    struct sn_convolution_32f plan = *c;
    struct sn_share s;
    for (; begin < end; begin += s.units) {
        s = sn_share_at(&all, begin, end);
        plan.band.rows = s.lines;
        plan.band.lines = s.lines + c->y.reach;
        job->compute(&plan, s.image % p->group, job->src + s.image * srcPlanes, work, s.line,
                     job->dst + s.image * dstPlanes);
    }
}

void sn_deconvolution_32f_bands(const struct sn_convolution_32f * c, sn_deconvolution_32f_band_fn compute,
                                const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    const struct job job = {c, compute, src, dst};
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = c->batch * c->p.group * c->y.count,
        .cost = cost_of(c), .least = sn_ceil_div(32, c->x.count), .work = work, .workBytes = c->workSize * sizeof(float)});
}

/* In order of preference, the last takes everything. */
static const struct sn_convolution_32f_way * const ways[] = {&sn_deconvolution_32f_depthwise, &sn_deconvolution_32f_nhwc,
    &sn_deconvolution_32f_converted, &sn_deconvolution_32f_nchw};

/*
 * Takes out what has no effect: the dilation of a single tap, and the stride of a single input, which becomes so large that
 * every output is a phase: it has one tap at most then, and no zeros to multiply.
 */
static void simplify(struct sn_convolution_parameters * p)
{
    p->dilationY = p->kernelY == 1 ? 1 : p->dilationY;
    p->dilationX = p->kernelX == 1 ? 1 : p->dilationX;
    p->strideY = p->srcH == 1 ? (p->kernelY - 1) * p->dilationY + 1 : p->strideY;
    p->strideX = p->srcW == 1 ? (p->kernelX - 1) * p->dilationX + 1 : p->strideX;
}

enum sn_error_kind sn_deconvolution_32f_plan(struct sn_convolution_32f * c)
{
    struct sn_convolution_parameters * p = &c->p;
    simplify(p);
    if (is_convolution(c)) {
        make_convolution(c);
        return sn_convolution_32f_plan(c);
    }
    const bool any = p->srcC && p->dstC; /* however large the kernel, no channels have no taps */
    const size_t kernelY = any ? p->kernelY : 0, kernelX = any ? p->kernelX : 0;
    if (sn_base_takes(c) || !count_phases(&c->y, kernelY, p->dilationY, p->strideY, p->dstH) ||
        !count_phases(&c->x, kernelX, p->dilationX, p->strideX, p->dstW)) {
        c->way = &base_way;
        return sn_convolution_32f_plan(c);
    }
    if (!plan_axis(&c->y, kernelY, p->dilationY, p->padY, p->dstH) ||
        !plan_axis(&c->x, kernelX, p->dilationX, p->padX, p->dstW))
        return SN_ERROR_MEMORY;
    for (size_t i = 0; !c->way; ++i)
        c->way = ways[i]->takes(c) ? ways[i] : NULL;
    return sn_convolution_32f_plan(c);
}
