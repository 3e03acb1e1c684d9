#include "ops/deconvolution_32f.h"

#include <string.h>

#include "ops/convolution_32f.h"
#include "ops/convolution_cost.h"

/* ---- phases */

/* Their table is to be small and made in no time, whatever the numbers: a larger stride has the loops of the formula. */
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

struct sn_span sn_span_of(ptrdiff_t low, size_t count, size_t extent)
{
    struct sn_span span = {low < 0 ? sn_min((size_t)-low, count) : 0, low < 0 ? 0 : (size_t)low, 0};
    if (span.begin < extent)
        span.inside = sn_min(extent - span.begin, count - span.before);
    return span;
}

/* ---- bands */

void sn_deconvolution_32f_rows(const struct sn_convolution * c, size_t row, size_t fixed, size_t budget,
                               struct sn_band * band)
{
    const size_t count = sn_phases_y(c)->count, fit = budget > fixed ? (budget - fixed) / sn_max(row, 1) : 0;
    band->rows = sn_ceil_div(count, sn_ceil_div(count, sn_min(sn_max(fit, 1), count)));
    band->lines = sn_phase_lines(c, band->rows);
}

bool sn_deconvolution_32f_segments(struct sn_convolution * c, size_t planes)
{
    const size_t taps = sn_phases_x(c)->taps;
    c->segments = 0;
    return taps == 0 || sn_product(&c->segments, sn_phases_y(c)->taps, 2 * taps - 1, planes);
}

void sn_deconvolution_32f_offsets(const struct sn_convolution * c, const struct sn_band * band, size_t planes)
{
    const struct sn_phases * py = sn_phases_y(c), * px = sn_phases_x(c);
    size_t * segment = c->segment;
    for (size_t taps = px->taps; taps && taps + 1 >= px->taps; --taps)
        for (size_t y = 0; y < py->taps; ++y)
            for (size_t x = 0; x < taps; ++x)
                for (size_t i = 0; i < planes; ++i)
                    *segment++ = y * py->lineStep * band->line + x * px->lineStep * band->pixel + i * band->plane;
}

void sn_deconvolution_32f_run(const struct sn_convolution * c, const struct sn_band * band, const struct sn_arrays * a,
                              void (*compute)(const struct sn_convolution * c, const struct sn_share * s,
                                              const struct sn_arrays * a))
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute, .parts = c->p.group,
        .time = sn_deconvolution_32f_time(c), .shares = {.lines = sn_phases_y(c)->count, .most = band->rows,
        .least = sn_ceil_div(32, sn_phases_x(c)->count)}});
}

/* ---- `base` */

static void base_forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const size_t srcSize = c->srcSize / sizeof(float), dstSize = c->dstSize / sizeof(float);
    const sn_32f * params = c->slope ? c->slope : c->param, * src = a->src;
    sn_32f * dst = a->dst;
    for (size_t b = 0; b < c->batch; ++b)
        c->table->deconvolution_32f.plain(&c->p, c->weight, c->bias, params, src + b * srcSize, dst + b * dstSize);
}

const struct sn_convolution_algorithm sn_deconvolution_32f_base = {.name = "base", .admits = sn_base_admits,
    .plan = sn_base_plan, .pack = sn_base_pack, .forward = base_forward};

/* ---- stride 1: a convolution */

/* The convolution with the flipped kernel; it cannot leave out more than all that the kernel adds at a side. */
static bool is_convolution(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t y = (p->kernelY - 1) * p->dilationY, x = (p->kernelX - 1) * p->dilationX;
    return !sn_base_admits(c) && p->strideY == 1 && p->strideX == 1 && p->padY <= y && p->padH <= y && p->padX <= x &&
           p->padW <= x;
}

static void flip(const struct sn_convolution * c, const sn_32f * weight, sn_32f * flipped)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t inputs = sn_inputs(c), outputs = sn_outputs(c), taps = p->kernelY * p->kernelX;
    if (p->srcF == SN_NHWC) { /* to the last tap first, then input channels */
        for (size_t i = 0; i < inputs; ++i)
            for (size_t k = 0; k < taps; ++k, weight += outputs)
                memcpy(flipped + ((taps - 1 - k) * inputs + i) * outputs, weight, outputs * sizeof(float));
        return;
    }
    for (size_t i = 0; i < p->srcC; ++i)
        for (size_t o = 0; o < outputs; ++o, weight += taps) {
            sn_32f * to = flipped + ((i / inputs * outputs + o) * inputs + i % inputs) * taps;
            for (size_t k = 0; k < taps; ++k)
                to[taps - 1 - k] = weight[k];
        }
}

static size_t flipped_size(const struct sn_convolution * c) { return sn_weight_count(c) * sizeof(float); }

static const void * take_flipped(struct sn_convolution * c, const struct sn_given * given, void * scratch,
                                 struct sn_fault * fault)
{
    sn_convolution_32f_take(c, given, NULL, fault);
    if (sn_weight_count(c))
        flip(c, given->weight, scratch);
    return scratch;
}

static enum sn_error_kind choose_convolution(struct sn_convolution * c) { return sn_convolution_32f.choose(c); }

static const struct sn_convolution_family flipped = {.small = SN_DATA_32F, .unit = sizeof(float), .units = "floats",
    .align = sizeof(float), .note = "as a convolution, ", .tile = sn_tile_32f, .choose = choose_convolution,
    .scratch = flipped_size, .take = take_flipped};

static void make_convolution(struct sn_convolution * c)
{
    struct sn_convolution_parameters * p = &c->p;
    const size_t y = (p->kernelY - 1) * p->dilationY, x = (p->kernelX - 1) * p->dilationX;
    p->padY = y - p->padY;
    p->padH = y - p->padH;
    p->padX = x - p->padX;
    p->padW = x - p->padW;
}

/* ---- the family */

/*
 * Takes out what has no effect: the dilation of a single tap, and the stride of a single input, which becomes so large that
 * every output is a phase: it has one tap at most then, and no zeros to multiply.
 */
static void simplify_axes(struct sn_convolution_parameters * p)
{
    p->dilationY = p->kernelY == 1 ? 1 : p->dilationY;
    p->dilationX = p->kernelX == 1 ? 1 : p->dilationX;
    p->strideY = p->srcH == 1 ? (p->kernelY - 1) * p->dilationY + 1 : p->strideY;
    p->strideX = p->srcW == 1 ? (p->kernelX - 1) * p->dilationX + 1 : p->strideX;
}

static void simplify(struct sn_convolution * c)
{
    simplify_axes(&c->p);
    if (!is_convolution(c))
        return;
    make_convolution(c);
    c->family = &flipped;
    sn_convolution_32f.simplify(c);
}

/* The phases of both axes, with their table; *base: it would be too large. */
static enum sn_error_kind plan_phases(struct sn_convolution * c, bool * base)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_phases_2 * phases = (void *)c->shared;
    struct sn_phases * y = &phases->y, * x = &phases->x;
    const bool any = p->srcC && p->dstC; /* however large the kernel, no channels have no taps */
    const size_t kernelY = any ? p->kernelY : 0, kernelX = any ? p->kernelX : 0;
    *base = sn_base_admits(c) || !count_phases(y, kernelY, p->dilationY, p->strideY, p->dstH) ||
            !count_phases(x, kernelX, p->dilationX, p->strideX, p->dstW);
    if (*base)
        return SN_ERROR_NONE;
    c->tablesSize = (y->number + x->number) * sizeof(struct sn_phase);
    struct sn_phase * table = c->tables = sn_allocate(c->tablesSize, SN_ALIGN);
    if (!table)
        return SN_ERROR_MEMORY;
    plan_axis(y, table, kernelY, p->dilationY, p->padY, p->dstH);
    plan_axis(x, table + y->number, kernelX, p->dilationX, p->padX, p->dstW);
    return SN_ERROR_NONE;
}

static enum sn_error_kind choose(struct sn_convolution * c)
{
    bool base;
    const enum sn_error_kind error = plan_phases(c, &base);
    if (error == SN_ERROR_NONE)
        c->algorithm = base ? &sn_deconvolution_32f_base : sn_convolution_choice(c);
    return error;
}

SN_FITS_SHARED(struct sn_phases_2);
const struct sn_convolution_family sn_deconvolution_32f = {.small = SN_DATA_32F, .unit = sizeof(float), .units = "floats",
    .align = sizeof(float), .note = "", .tile = sn_tile_32f, .simplify = simplify, .choose = choose,
    .take = sn_convolution_32f_take};
