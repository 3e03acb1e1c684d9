/*
 * Depthwise convolution of bfloat16 numbers, by the kernel of floats: there are no sums over channels, for which products of
 * pairs would be useful. The band and the weights hold bfloat16 numbers as floats; results that are to be rounded are first
 * written to the workspace as floats.
 */
#include "ops/convolution_16b.h"
#include "runtime/numeric.h"

struct depthwise {
    struct sn_dot_band band;
    size_t floats, lines; /* bytes from the end of the band to the floats to be rounded, and to the pointers to lines */
};
SN_FITS_ALGORITHM_DATA(struct depthwise);

static const struct depthwise * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

/* Lines from one output row to the next if rows share lines; otherwise each row has its own. */
static size_t line_step(const struct sn_convolution * c)
{
    const size_t strideY = data_of(c)->band.band.strideY;
    return c->p.dilationY == 1 && strideY < c->p.kernelY ? strideY : c->p.kernelY;
}

static bool supports(const struct sn_convolution * c) { return sn_is_depthwise(c); }

/* The workspace after the band: results to be converted to planes, floats to be rounded, pointers to lines. */
static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct depthwise * d = (void *)c->algorithmData;
    const struct sn_band * band = &d->band.band;
    size_t floats, lines;
    c->segments = 0;
    c->channels = sn_align(p->dstC, sn_lanes(c));
    c->runStep = 1;
    d->band.number = sizeof(float);
    d->band.inputs = 1;
    if (!sn_floats(&c->weightSize, p->kernelY, p->kernelX, c->channels) ||
        !sn_dot_band_plan(c, &d->band, SN_READS_COPY, p->dstC * sn_element(p->dstT)) ||
        !sn_product(&floats, p->dstT == SN_DATA_16B, band->rows, p->dstW, p->dstC, sizeof(float)) ||
        !sn_product(&lines, (band->rows - 1) * line_step(c) + p->kernelY, sizeof(sn_32f *)))
        return false;
    d->floats = sn_align(c->workSize - d->band.bytes, SN_ALIGN);
    d->lines = d->floats + sn_align(floats, SN_ALIGN);
    return sn_product(&c->workSize, d->band.bytes + d->lines + lines, 1);
}

/* For each vector of channels all taps, see struct sn_depthwise_nhwc_32f. */
static void pack(const struct sn_convolution * c, const void * weight)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lanes = sn_lanes(c), taps = p->kernelY * p->kernelX;
    const sn_16b * small = weight;
    sn_32f * packed = c->weight;
    for (size_t o = 0; o < p->dstC; ++o)
        for (size_t t = 0; t < taps; ++t)
            packed[(o / lanes * taps + t) * lanes + o % lanes] = sn_16b_to_32f(small[sn_weight_at(p, o, 0, 0, t)]);
}

static void find_lines(const struct sn_convolution * c, const uint8_t * lines, size_t rows, const sn_32f ** line)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band band = data_of(c)->band.band;
    const size_t step = line_step(c);
    for (size_t y = 0; y < rows; ++y)
        for (size_t ky = 0; ky < p->kernelY; ++ky)
            line[y * step + ky] = (const sn_32f *)(const void *)(lines + (y * band.strideY + ky * p->dilationY) * band.line);
}

static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t row = s->line, rows = s->lines;
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &data_of(c)->band.band;
    const struct sn_dot_lines lines = sn_dot_lines_of(c, &data_of(c)->band, s, a);
    uint8_t * work = (uint8_t *)a->work + data_of(c)->band.bytes;
    const sn_32f ** line = (const sn_32f **)(void *)(work + data_of(c)->lines);
    const bool narrow = p->dstT == SN_DATA_16B;
    size_t step;
    uint8_t * to = sn_dot_result_at(c, 0, p->dstC, row, work, a, &step);
    sn_32f * floats = (sn_32f *)(void *)(narrow ? work + data_of(c)->floats : to);
    const size_t pixel = narrow ? p->dstC : step / sizeof(float); /* of the floats */
    find_lines(c, lines.first, rows, line);
    const struct sn_depthwise_nhwc_32f d = {.line = line, .lineStep = line_step(c), .srcW = band->columns,
        .srcPixel = band->pixel / sizeof(float), .kernelY = p->kernelY, .kernelX = p->kernelX, .strideX = band->strideX,
        .dilationX = p->dilationX, .channels = p->dstC, .weight = c->weight, .bias = c->bias, .slope = c->slope,
        .activation = sn_activation_of(c), .param = {c->param[0], c->param[1]}, .dst = floats, .rows = rows, .dstW = p->dstW,
        .dstRow = p->dstW * pixel, .dstPixel = pixel};
    c->table->convolution_32f.depthwise_nhwc(&d);
    if (narrow)
        sn_dot_of(c)->pixels(&(struct sn_pixels){.src = floats, .floats = true, .srcPixel = p->dstC, .srcChannel = 1,
            .channels = p->dstC, .pixels = rows * p->dstW, .dst = to, .dstPixel = step});
    sn_dot_result_store(c, work, 0, p->dstC, row, rows, a);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_dot_run(c, &data_of(c)->band, a, 0, compute);
}

const struct sn_convolution_algorithm sn_convolution_16b_depthwise = {.name = "depthwise", .supports = supports,
    .plan = plan, .pack = pack, .forward = forward};
