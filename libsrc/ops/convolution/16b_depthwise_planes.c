/*
 * Depthwise convolution of planes of bfloat16 numbers by 3x3 without stride: lines become floats in the workspace, in bands
 * that the L1 cache holds, are computed where they are (kernels/depthwise/planes_32f.c), and are rounded. Other planes, and
 * small ones, become pixels (16b_depthwise.c).
 */
#include "ops/convolution/16b.h"
#include "ops/convolution/cost.h"
#include "ops/widened.h"
#include "runtime/cpu.h"

enum { TAPS = 9 };

struct planes {
    size_t rows;   /* of a band */
    size_t result; /* floats from the workspace to the results of a band */
};
SN_FITS_ALGORITHM_DATA(struct planes);

static const struct planes * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return sn_is_depthwise(c) && p->srcF == SN_NCHW && p->srcT == SN_DATA_16B && p->kernelY == 3 && p->kernelX == 3 &&
           p->dilationY == 1 && p->dilationX == 1 && p->strideY == 1 && p->strideX == 1 && c->srcSize && c->dstSize;
}

/*
 * Planes as they are instead of pixels: 96x112x112 takes 0.52 of the time with avx512vnni, 0.63 with avx2, 100x24x24 0.97 and
 * 0.89; 144x20x20 would take 1.16 and 1.19, 256x7x28 1.24 and 128x2x40 2.3 times as long (Emerald Rapids).
 */
enum { LEAST_COLUMNS = 24, LEAST_ROWS = 8 };

bool sn_16b_depthwise_planes_preferred(const struct sn_convolution * c)
{
    return supports(c) && c->p.dstW >= LEAST_COLUMNS && c->p.dstH >= LEAST_ROWS;
}

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct planes * o = (void *)c->algorithmData;
    struct sn_band band = {.line = p->srcW + p->dstW, .strideY = 1};
    size_t lines, results;
    sn_channels_plain(c);
    sn_band_rows(&band, p, sn_cpu()->cacheL1 / 2 / sizeof(float));
    if (!sn_product(&lines, sn_min(band.lines, p->srcH), p->srcW) || !sn_product(&results, band.rows, p->dstW))
        return false;
    o->rows = band.rows;
    o->result = sn_align(lines, SN_ALIGN / sizeof(float));
    return sn_floats(&c->workSize, o->result + results) && sn_floats(&c->weightSize, TAPS, p->dstC);
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    for (size_t i = 0; i < c->p.dstC * TAPS; ++i)
        sn_weights(c)[i] = sn_16b_weight(c, ((const sn_32f *)weight)[i]);
}

/* Some rows of a plane; `d` has what all rows share. */
static void compute_rows(const struct sn_convolution * c, struct sn_depthwise_plane_32f d, const sn_16b * src, size_t row,
                         void * dst, sn_32f * work)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_lines needed = sn_lines_of(p, row, d.rows);
    const bool rounded = p->dstT == SN_DATA_16B;
    sn_widen_rows(c->table, src + needed.begin * p->srcW, needed.end - needed.begin, p->srcW, p->srcW, work);
    d.src = work;
    d.height = needed.end - needed.begin;
    d.padY = needed.begin + p->padY - row;
    d.dst = rounded ? work + data_of(c)->result : (sn_32f *)dst + row * p->dstW;
    c->table->convolution_32f.depthwise_plane(&d);
    if (rounded)
        sn_narrow_rows(c->table, d.dst, d.rows, p->dstW, p->dstW, (sn_16b *)dst + row * p->dstW);
}

/* The "lines" of a share are channels. */
static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_depthwise_plane_32f d = {.width = p->srcW, .padX = p->padX, .activation = sn_activation_of(c),
        .param = {c->param[0], c->param[1]}, .columns = p->dstW};
    for (size_t channel = s->line; channel < s->line + s->lines; ++channel) {
        const sn_16b * src = (const sn_16b *)a->src + channel * p->srcH * p->srcW;
        uint8_t * dst = (uint8_t *)a->dst + channel * p->dstH * p->dstW * sn_element(p->dstT);
        d.weight = sn_weights(c) + channel * TAPS;
        d.bias = c->bias[channel];
        d.slope = c->slope ? c->slope[channel] : 0;
        for (size_t row = 0; row < p->dstH; row += d.rows) {
            d.rows = sn_min(data_of(c)->rows, p->dstH - row);
            compute_rows(c, d, src, row, dst, a->work);
        }
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_dot_time(c), .shares = {.lines = c->p.dstC, .most = c->p.dstC}});
}

const struct sn_convolution_algorithm sn_convolution_16b_depthwise_planes = {.name = "depthwise planes", .supports = supports,
    .plan = plan, .pack = pack, .forward = forward};
