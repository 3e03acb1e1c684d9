/* Quantised depthwise convolution, by a kernel with vectors of channels. */
#include "ops/convolution/8i.h"

SN_FITS_ALGORITHM_DATA(struct sn_dot_band);

static const struct sn_dot_band * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

/* The outputs of an axis in a phase of the dilation for which it is run alone: those of a block of the kernel. */
enum { PHASE = 4 };

static bool is_in_phases(size_t dst, size_t dilation) { return dilation > 1 && dst / dilation >= PHASE; }

/* The lines, or pixels, of which a convolution uses one. */
static size_t every_of(size_t kernel, size_t stride, size_t dilation)
{
    return kernel > 1 ? sn_divisor(stride, dilation) : 1;
}

/*
 * The shape that is packed and run. If the stride and the dilation have a common divisor, only one of so many lines or pixels is
 * used; of stride 1, a dilated convolution is plain on every dilation-th.
 */
static struct sn_convolution_parameters phase_of(const struct sn_convolution * c)
{
    struct sn_convolution_parameters p = c->p;
    const size_t y = every_of(p.kernelY, p.strideY, p.dilationY), x = every_of(p.kernelX, p.strideX, p.dilationX);
    p.strideY /= y, p.dilationY /= y;
    p.strideX /= x, p.dilationX /= x;
    if (p.strideY == 1 && p.strideX == 1) {
        p.dilationY = is_in_phases(p.dstH, p.dilationY) ? 1 : p.dilationY;
        p.dilationX = is_in_phases(p.dstW, p.dilationX) ? 1 : p.dilationX;
    }
    return p;
}

bool sn_depthwise_8i_by_lines(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters p = phase_of(c);
    return c->table->convolution_8i.depthwise.by_lines(&p);
}

/*
 * True if the kernel handles padding itself: by lines, or if it has not too many taps. With stride 2 813x19x19 by 3x3 with dilation 9
 * takes 0.46 of the time of a padded copy with avx512vnni, 0.57 with avxvnni, 0.69 with avx2, 64x112x112 with dilation 2 0.58, 0.59
 * and 0.75, with stride 3 240x31x31 with dilation 4 0.66, 0.77 and 0.83 (Xeon with AMX).
 */
static bool handles_padding(const struct sn_convolution * c)
{
    return sn_depthwise_8i_by_lines(c) || (c->p.kernelY <= SN_PADDED_TAPS && c->p.kernelY * c->p.kernelX <= SN_PADDED_TAPS);
}

static bool supports(const struct sn_convolution * c) { return sn_is_depthwise(c); }

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p, phase = phase_of(c);
    struct sn_dot_band * b = (void *)c->algorithmData;
    const enum sn_dot_reads reads = handles_padding(c) ? SN_READS_LINES : SN_READS_PIXELS;
    size_t most;
    c->segments = p->kernelY * p->kernelX;
    c->channels = p->dstC;
    c->runStep = 1;
    b->number = 1;
    b->inputs = 1;
    if (!sn_product(&most, c->segments, 128, p->dstC + 64) || !sn_dot_band_plan(c, b, reads, p->dstC * sn_element(p->dstT)))
        return false;
    c->weightSize = c->table->convolution_8i.depthwise.size(&phase);
    return true;
}

static void offsets(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &data_of(c)->band;
    for (size_t t = 0; t < c->segments; ++t)
        c->segment[t] = t / p->kernelX * p->dilationY * band->line + t % p->kernelX * p->dilationX * band->pixel;
}

/* The stride for which the weights are arranged; 0 for any. */
static size_t packed_stride(const struct sn_convolution * c) { return sn_depthwise_8i_by_lines(c) ? phase_of(c).strideY : 0; }

static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_convolution_parameters phase = phase_of(c);
    c->table->convolution_8i.depthwise.pack(&phase, weight, c->weight);
}

static bool alike(const struct sn_convolution * c, const struct sn_convolution * from)
{
    return packed_stride(c) == packed_stride(from);
}

/* Sets the padding around the lines in memory. A band includes its padding, the image does not. */
static void set_padding(const struct sn_convolution * c, bool copied, size_t row, size_t rows,
                        struct sn_depthwise_run_8i * d)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (copied) {
        d->srcRows = sn_used(rows, p->strideY, p->kernelY, p->dilationY);
        d->srcColumns = data_of(c)->band.columns;
        return;
    }
    const size_t image = row * p->strideY; /* d->src is this line */
    const size_t first = image > p->padY ? sn_min(image - p->padY, p->srcH) : 0;
    d->src -= (image - first) * d->srcStepY;
    d->srcRows = p->srcH - first;
    d->srcColumns = p->srcW;
    d->top = image > p->padY ? 0 : p->padY - image;
    d->left = p->padX;
    d->zero = (uint8_t)sn_dot_of(c)->srcZero;
}

/* Reduces the inputs of an axis to every `every`-th from `first` on; returns the first that is left. */
static size_t inputs_from(size_t first, size_t every, size_t * src, size_t * before)
{
    const size_t padding = *before > first ? sn_ceil_div(*before - first, every) : 0;
    const size_t at = first + padding * every - *before;
    *src = at < *src ? sn_ceil_div(*src - at, every) : 0;
    *before = padding;
    return at;
}

/* Leaves out the lines and pixels of which no output uses any. */
static void leave_out(const struct sn_convolution * c, struct sn_depthwise_run_8i * d)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t y = every_of(p->kernelY, p->strideY, p->dilationY), x = every_of(p->kernelX, p->strideX, p->dilationX);
    d->src += inputs_from(0, y, &d->srcRows, &d->top) * d->srcStepY;
    d->src += inputs_from(0, x, &d->srcColumns, &d->left) * d->srcStepX;
    d->srcStepY *= y, d->srcStepX *= x;
    d->strideY /= y, d->strideX /= x;
    d->dilationY /= y, d->dilationX /= x;
}

/* Runs each phase of the dilation. */
static void run_phases(const struct sn_convolution * c, const struct sn_depthwise_run_8i * all)
{
    const size_t apartY = all->dilationY, apartX = all->dilationX;
    for (size_t i = 0; i < sn_min(apartY, all->rows) * apartX; ++i) {
        const size_t y = i / apartX, x = i % apartX;
        struct sn_depthwise_run_8i d = *all;
        d.rows = sn_ceil_div(d.rows - y, apartY), d.columns = sn_ceil_div(d.columns - x, apartX);
        d.src += inputs_from(y, apartY, &d.srcRows, &d.top) * d.srcStepY;
        d.src += inputs_from(x, apartX, &d.srcColumns, &d.left) * d.srcStepX;
        d.dst += y * d.dstStepY + x * d.dstStepX;
        d.srcStepY *= apartY, d.srcStepX *= apartX;
        d.dstStepY *= apartY, d.dstStepX *= apartX;
        c->table->convolution_8i.depthwise.run(&d);
    }
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t row = s->line, rows = s->lines;
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &data_of(c)->band;
    union sn_dot_result result;
    uint8_t * work = a->work ? (uint8_t *)a->work + data_of(c)->bytes : NULL;
    const struct sn_dot_lines lines = sn_dot_lines_of(c, data_of(c), s, a);
    struct sn_depthwise_run_8i d = {.src = lines.first, .srcStepY = lines.line, .srcStepX = lines.pixel,
        .strideY = band->strideY, .strideX = band->strideX, .kernelY = p->kernelY, .kernelX = p->kernelX,
        .dilationY = p->dilationY, .dilationX = p->dilationX, .tap = sn_depthwise_8i_by_lines(c) ? NULL : c->segment,
        .weight = c->weight, .start = (const int32_t *)(const void *)c->bias, .channels = p->dstC,
        .rows = rows, .columns = p->dstW, .result = &result.as_8i};
    sn_dot_of(c)->result(c, 0, &result);
    if (handles_padding(c))
        set_padding(c, lines.copied, row, rows, &d);
    d.dst = sn_dot_result_at(c, 0, p->dstC, row, work, a, &d.dstStepX);
    d.dstStepY = p->dstW * d.dstStepX;
    if (!d.tap) {
        leave_out(c, &d);
        run_phases(c, &d);
    } else {
        c->table->convolution_8i.depthwise.run(&d);
    }
    sn_dot_result_store(c, work, 0, p->dstC, row, rows, a);
    sn_dot_result_finish(c, 0, p->dstC, row, rows, a);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_dot_run(c, data_of(c), a, 0, compute);
}

/*
 * Fewer channels than a vector of sums has lanes use a part of the vectors here, while the tile computes them as one group, with
 * weights of 0, where it multiplies bytes: 8x97x97 by 3x3 with stride 2 takes 0.30 of the time with amx, 0.54 with avx512vnni, 0.50
 * with avxvnni, 16 channels 0.33, 0.84 and (more than the lanes) 2.6; 8x28x28 in NCHW by 5x5 0.50, 0.76, 0.75; 16x23x23 by 11x11
 * 0.45 and 1.8; of stride 1, 16x32x32 in NCHW 0.73 and 1.4 (Xeon with AMX). Whole blocks cost the same however few the channels.
 */
enum { MOST_DOTS = 8 };

bool sn_depthwise_8i_preferred(const struct sn_convolution * c)
{
    const struct sn_dot_tile * tile = sn_dot_of(c)->tile;
    const size_t most = tile->aligned ? tile->granule : sn_min(tile->granule, c->p.strideX > 1 ? MOST_DOTS : 0);
    return tile->number > 1 || c->p.srcC > most;
}

const struct sn_convolution_algorithm sn_convolution_8i_depthwise = {.name = "depthwise", .supports = supports, .plan = plan,
    .offsets = offsets, .pack = pack, .alike = alike, .forward = forward};
