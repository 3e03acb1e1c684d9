/*
 * NCHW, computed as NHWC: the lines that a band of the output needs are converted, and so is each panel of the result. The
 * conversion moves every input and every output once, which is worth it for many channels. The NHWC algorithm divides rows
 * of pixels into tiles of any height, where vectors of pixels waste lanes at the end of a small image, and reads the weights
 * sequentially. With groups, all panels are computed before the result is converted.
 */
#include "ops/convolution/32f_nhwc.h"
#include "ops/convolution/converted.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/nhwc_images.h"
#include "runtime/cpu.h"

/* Pixels of a panel's result, unless a row has more: it should stay in the cache until it is converted. */
enum { PANEL_PIXELS = 512, LINE = SN_ALIGN / sizeof(float) };

struct converted {
    struct sn_direct_nhwc direct;
    size_t lines, result; /* floats of the converted lines of a band, and of the result of a panel */
    size_t images, source; /* that are computed together, and floats of the source of one: converted lines, or their copy */
};
SN_FITS_ALGORITHM_DATA(struct converted);

static const struct converted * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c)
{
    return c->p.srcF == SN_NCHW && c->srcSize && c->dstSize;
}

/* Vector cycles of a product, on all layers of ten networks; more for groups, divided by their inputs, and times more if a
 * group has a single vector of outputs. */
static const double CONVERTED_PRODUCT = 1.035, CONVERTED_SHORT = 0.6, CONVERTED_NARROW = 2;

/* The same for a vector of a result of many channels and several taps, whose sum is started and stored: of few channels, direct
 * NCHW takes as much more for lines and panels. */
enum { MANY_OUTPUTS = 128 };
static const double CONVERTED_START = 9;

/* The same for an input, if the lines of a row of outputs leave the L2 cache before they are multiplied: 40x22x1125 to 40 by 22x1
 * takes 0.64 of the time by direct NCHW (avx2 0.9), 32x64x480 by 64x1 0.75 (0.97), 64x15x500 to 64 by 15x1 0.82 (0.87). */
static const double CONVERTED_FAR = 10, NEAR_BYTES = 1e6;

static double far_inputs(const struct sn_convolution * c)
{
    const size_t lines = sn_min(sn_used(1, 1, c->p.kernelY, c->p.dilationY), c->p.srcH);
    return (double)lines * (double)(c->p.srcW * c->p.srcC) * sizeof(float) > NEAR_BYTES ? CONVERTED_FAR : 0;
}

static double cost(const struct sn_convolution * c)
{
    const double lanes = (double)sn_lanes(c);
    const double in = sn_src_pixels(c) * (double)c->p.srcC / lanes, out = sn_dst_pixels(c) * (double)c->p.dstC / lanes;
    const double width = sn_tile_width(c, sn_outputs(c)), vectors = width * (double)c->p.group / lanes;
    const double narrow = width == lanes ? CONVERTED_NARROW : 1;
    const double of_group = CONVERTED_PRODUCT + CONVERTED_SHORT / (double)sn_inputs(c);
    const double product = c->p.group == 1 ? CONVERTED_PRODUCT : narrow * of_group;
    const double start = c->p.group == 1 && sn_taps(c) > 1 && c->p.dstC > MANY_OUTPUTS ? CONVERTED_START : 0;
    const double products = product * sn_dst_pixels(c) * sn_depth(c) * vectors;
    return sn_of_vectors(c, products + SN_VECTOR_CONVERTED * (in + out) + far_inputs(c) * in + start * out);
}

/* The output channels that are computed before they are converted. */
static size_t channels_at_once(const struct sn_convolution * c)
{
    return c->p.group == 1 ? c->table->gemm.tile_32f.columns : c->p.dstC;
}

/*
 * Floats of a band. It is worth its weights: for each band all of them are read again, from afar if there are many, and lines
 * that it shares with the next one are converted again; lines that exceed the L2 cache are read from afar for each panel. With
 * bands of several times the weights of a panel 1664x38x38 to 38 by 3x2 with stride 2, which had one row, takes 0.75 of the
 * time (avx2 0.92), 2048x14x14 to 256 by 3x3 with stride 2 0.86 (0.82), 1024x40x40 to 512 by 3x2 0.97 (0.99); twice as high
 * ones 0.65, 0.76 and 0.95 (Xeon with AMX). But the workspace, which may have a copy of the lines, remains below an L2 cache
 * and twice the lines of one row.
 */
static size_t band_floats(const struct sn_convolution * c, const struct sn_direct_nhwc * d, bool copies)
{
    enum { TIMES = 4, COLUMNS = 32 };
    const size_t near = sn_cpu()->cacheL2 / 2 / sizeof(float);
    const size_t worth = TIMES * d->nhwc.depth * sn_min(sn_outputs(c), COLUMNS);
    const size_t one = sn_used(1, 1, c->p.kernelY, c->p.dilationY) * d->nhwc.band.line;
    return sn_max(near, sn_min(worth, (near + one) * (copies ? 1 : 2)));
}

/*
 * How many small images are computed together, panel by panel, so that weights that do not stay in the L2 cache are read once
 * for all of them. The sources of these images stay there. batch 4, 576x7x7 to 320 by 3x3 with stride 2 takes 0.81 of the time,
 * batch 16, 512x4x4 to 512 by 3x3 0.82 (avx2 0.97, 0.98; Xeon with AMX).
 */
static size_t images_at_once(const struct sn_convolution * c, const struct converted * o)
{
    const struct sn_direct_nhwc * d = &o->direct;
    if (c->p.group > 1 || d->edges || d->nhwc.apart || d->nhwc.band.rows < c->p.dstH || !sn_weights_exceed_l2(c))
        return 1;
    const size_t most = sn_max(sn_cpu()->cacheL2 / 2 / sizeof(float) / sn_max(o->source, 1), 1);
    return sn_ceil_div(c->batch, sn_max(sn_ceil_div(c->batch, most), 1));
}

static bool plan(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct converted * o = (void *)c->algorithmData;
    struct sn_band * band = &o->direct.nhwc.band;
    if (!sn_direct_nhwc_plan(c, &o->direct))
        return false;
    const size_t most = p->group == 1 ? PANEL_PIXELS : sn_cpu()->cacheL2 / 4 / sizeof(float) / p->dstC;
    const bool copies = sn_nhwc_copied(c, &o->direct.nhwc, (struct sn_nhwc_image){NULL, p->srcC});
    if (!o->direct.nhwc.apart)
        sn_band_rows(band, p, band_floats(c, &o->direct, copies));
    sn_band_limit(band, p, sn_min(band->rows, sn_max(most / p->dstW, 1)));
    size_t copied = 0, image, result;
    if ((copies && !sn_nhwc_copy_size(c, &o->direct.nhwc, &copied)) ||
        !sn_product(&image, sn_converted_lines(p, band->rows), p->srcW, p->srcC) ||
        !sn_product(&result, band->rows, p->dstW, channels_at_once(c)))
        return false;
    o->lines = sn_align(image, LINE);
    o->result = sn_align(result, LINE);
    o->source = copies ? sn_align(copied, LINE) : o->lines;
    o->images = images_at_once(c, o);
    return sn_floats(&c->workSize, o->images * o->result + o->lines + copied + (o->images - 1) * o->source);
}

static void offsets(const struct sn_convolution * c) { sn_nhwc_offsets(c, &data_of(c)->direct.nhwc); }

static void pack(const struct sn_convolution * c, const void * weight)
{
    sn_direct_nhwc_pack(c, &data_of(c)->direct, weight);
}

/* Where some rows of an image are computed. */
struct place {
    const struct sn_arrays * a; /* of the image */
    size_t row;
    sn_32f * image, * band;     /* its lines as NHWC, as if from the first one on, and their copy */
};

/* The panel from `first` on. */
static void set_panel(const struct sn_convolution * c, size_t first, struct sn_nhwc_rows * r)
{
    r->first = first;
    r->dstPixel = sn_min(channels_at_once(c), c->p.dstC - first);
    r->outputs = c->p.group == 1 ? r->dstPixel : 0;
    r->dstLine = c->p.dstW * r->dstPixel;
}

/* Converts a panel of what is added to the place of its result, if there is something, and the result. */
static void convert_added(const struct sn_convolution * c, const struct sn_arrays * a, struct sn_nhwc_rows * r)
{
    r->add = a->add ? r->dst : NULL;
    if (a->add)
        sn_rows_to_nhwc(c, r->dstPixel, (const sn_32f *)a->add + r->first * c->dstPlane, r->row, r->rows, r->dst);
}

static void convert_result(const struct sn_convolution * c, const struct sn_arrays * a, const struct sn_nhwc_rows * r)
{
    sn_rows_to_nchw(c, r->dstPixel, r->dst, r->row, r->rows, (sn_32f *)a->dst + r->first * c->dstPlane);
}

/* Computes some output rows and some panels of one image. */
static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct converted * o = data_of(c);
    const struct sn_direct_nhwc * direct = &o->direct;
    sn_32f * result = a->work, * lines = result + o->result, * band = lines + o->lines;
    const struct sn_nhwc_image image = {sn_lines_to_nhwc(c, c->p.srcC, a->src, s->line, s->lines, lines), c->p.srcC};
    struct sn_nhwc_rows r = {.row = s->line, .rows = s->lines, .dst = result};
    if (!direct->edges)
        sn_nhwc_source(c, &direct->nhwc, image, s->line, band, &r);
    for (size_t first = s->first; first < s->first + s->columns; first += channels_at_once(c)) {
        set_panel(c, first, &r);
        convert_added(c, a, &r);
        if (direct->edges)
            sn_direct_nhwc_rows(c, direct, image, s->line, band, r);
        else
            sn_direct_nhwc_compute(c, direct, &r);
        convert_result(c, a, &r);
    }
}

/*
 * Whether the rows of a tile are pixels of several images, where those of one line are few: batch 5, 896x4x4 to 896 by 1x5 takes
 * 0.73 of the time (avx2 0.93), 16 images of 512x4x4 to 512 by 3x3 0.82; with tiles of 6 rows (avx2) 1.04, as 4 are not few.
 */
static bool images_are_rows(const struct sn_convolution * c, const struct sn_nhwc_rows * r)
{
    const size_t width = c->p.dstW, rows = c->table->gemm.tile_32f.rows;
    if (r->srcLine == width * r->srcPixel)
        return false;
    const bool lines = c->p.kernelY == 1 && !c->p.padY; /* see sn_direct_nhwc_images() */
    return lines ? width < rows : 2 * width <= rows && data_of(c)->images > width;
}

/* Converts the lines of all images of a share to `sources`, through `lines` if they are copied then; sets the source of r. */
static void convert_images(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a,
                           sn_32f * lines, sn_32f * sources, struct sn_nhwc_rows * r)
{
    const struct converted * o = data_of(c);
    for (size_t i = s->lines; i-- > 0;) { /* the source of r is that of the first image at last */
        const struct sn_arrays one = sn_image_of(a, s->line + i, NULL);
        sn_32f * source = sources + i * o->source;
        const sn_32f * image = sn_lines_to_nhwc(c, c->p.srcC, one.src, 0, r->rows, sources == lines ? source : lines);
        sn_nhwc_source(c, &o->direct.nhwc, (struct sn_nhwc_image){image, c->p.srcC}, 0, source, r);
    }
}

/* One panel of all images of a share; r is set for that of the first one. */
static void compute_panel(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a,
                          struct sn_nhwc_rows r)
{
    const struct converted * o = data_of(c);
    const bool rows = images_are_rows(c, &r);
    const size_t size = r.rows * r.dstLine;
    struct sn_nhwc_rows of_image = r;
    for (size_t i = 0; i < s->lines; ++i, of_image.dst += size, of_image.src += o->source) {
        const struct sn_arrays one = sn_image_of(a, s->line + i, NULL);
        convert_added(c, &one, &of_image);
        if (!rows)
            sn_direct_nhwc_compute(c, &o->direct, &of_image);
    }
    r.add = a->add ? r.dst : NULL;
    if (rows)
        sn_direct_nhwc_images(c, &o->direct, &r, s->lines, o->source, size, sn_direct_nhwc_leaves_out(c, &r));
    for (size_t i = 0; i < s->lines; ++i, r.dst += size) {
        const struct sn_arrays one = sn_image_of(a, s->line + i, NULL);
        convert_result(c, &one, &r);
    }
}

/* Some panels of several images; the "lines" of the share are images. */
static void compute_images(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const struct converted * o = data_of(c);
    const bool copies = sn_nhwc_copied(c, &o->direct.nhwc, (struct sn_nhwc_image){NULL, c->p.srcC});
    sn_32f * results = a->work, * lines = results + o->images * o->result;
    struct sn_nhwc_rows r = {.rows = c->p.dstH, .dst = results};
    convert_images(c, s, a, lines, lines + (copies ? o->lines : 0), &r);
    for (size_t first = s->first; first < s->first + s->columns; first += channels_at_once(c)) {
        set_panel(c, first, &r);
        compute_panel(c, s, a, r);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const size_t images = data_of(c)->images;
    if (images > 1) {
        sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute_images, .joined = true,
            .time = sn_convolution_32f_time(c), .shares = {.lines = c->batch, .most = images, .columns = p->dstC,
            .width = tile->columns, .weights = c->weightSize, .source = c->batch * c->srcSize, .start = true, .least = 1}});
        return;
    }
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c), .columns = !data_of(c)->direct.nhwc.apart,
        .near = c->weightSize <= sn_cpu()->cacheL2 / 4, .narrow = sn_direct_nhwc_narrow,
        .shares = {.lines = p->dstH, .most = data_of(c)->direct.nhwc.band.rows,
        .columns = p->dstC, .width = p->group == 1 ? tile->columns : 0, .weights = c->weightSize, .source = c->srcSize,
        .start = true, .least = sn_ceil_div(2 * tile->rows, p->dstW)}});
}

const struct sn_convolution_algorithm sn_convolution_32f_converted = {.name = "direct NCHW by NHWC", .tiled = true,
    .adds = true, .supports = supports, .cost = cost, .plan = plan, .offsets = offsets, .pack = pack,
    .forward = forward};
