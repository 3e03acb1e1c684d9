/*
 * Convolution of bfloat16 numbers by the algorithms of floats, some images at a time: the source is rounded and widened to
 * floats in the workspace, and results are rounded from there. Deconvolutions are computed so, too.
 *
 * Convolutions are if the algorithms of floats are faster by more than these passes take (floats_preferred()). A plan is
 * made for the images of one pass, as floats; plan() then restores what the caller gave.
 */
#include <string.h>

#include "ops/convolution/16b.h"
#include "ops/convolution/32f.h"
#include "ops/convolution/cost.h"
#include "ops/units.h"
#include "ops/widened.h"
#include "runtime/cpu.h"
#include "runtime/threads.h"

/* ---- conversion of images: rows of `width` elements, `step` apart, that are dense on the side of the floats */

struct image {
    const struct sn_table * table;
    const void * src;
    void * dst;
    size_t width, step;
    bool floats; /* the source: they are rounded */
};

/* Rounds floats in blocks. */
static void round_row(const struct sn_table * table, const sn_32f * src, size_t count, sn_32f * dst)
{
    enum { BLOCK = 512 };
    sn_16b small[BLOCK];
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t n = sn_min(count - i, BLOCK);
        sn_narrow_rows(table, src + i, 1, n, n, small);
        sn_widen_rows(table, small, 1, n, n, dst + i);
    }
}

/* Units are rows. */
static void widen(const void * argument, void * work, size_t begin, size_t end)
{
    const struct image * i = argument;
    sn_32f * dst = (sn_32f *)i->dst + begin * i->width;
    (void)work;
    if (!i->floats)
        sn_widen_rows(i->table, (const sn_16b *)i->src + begin * i->step, end - begin, i->width, i->step, dst);
    else
        for (size_t row = begin; row < end; ++row, dst += i->width)
            round_row(i->table, (const sn_32f *)i->src + row * i->step, i->width, dst);
}

static void narrow(const void * argument, void * work, size_t begin, size_t end)
{
    const struct image * i = argument;
    (void)work;
    sn_narrow_rows(i->table, (const sn_32f *)i->src + begin * i->width, end - begin, i->width, i->step,
                   (sn_16b *)i->dst + begin * i->step);
}

/* `count` elements; pixels if there are gaps between them. */
static void convert(struct image i, void (*run)(const void *, void *, size_t, size_t), size_t count, size_t channels,
                    size_t pixel, size_t line)
{
    i.width = pixel == channels ? line : channels;
    i.step = pixel == channels ? line : pixel;
    if (count)
        sn_parallel_for(&(struct sn_parallel){.run = run, .job = &i, .units = count / i.width,
            .cost = sn_cost_of_bytes(6 * (double)count), .least = sn_items_per_unit(i.width)});
}

/* ---- the family of floats inside */

static size_t src_count(const struct sn_convolution * c) { return c->srcSize / sn_element(c->p.srcT); }
static size_t dst_count(const struct sn_convolution * c) { return c->dstSize / sn_element(c->p.dstT); }

/* Bytes of the images of floats, with which the workspace begins: the sources, and results that are rounded. */
static size_t src_bytes(const struct sn_convolution * c, size_t images)
{
    return sn_align(images * src_count(c) * sizeof(float), SN_ALIGN);
}

static size_t dst_bytes(const struct sn_convolution * c, size_t images)
{
    return c->p.dstT == SN_DATA_16B ? sn_align(images * dst_count(c) * sizeof(float), SN_ALIGN) : 0;
}

bool sn_16b_floats_plan(struct sn_convolution * c, size_t images)
{
    size_t src, dst;
    return sn_product(&src, images, src_count(c), sizeof(float)) && sn_product(&dst, images, dst_count(c), sizeof(float)) &&
           sn_product(&c->workSize, 1, c->workSize + src_bytes(c, images) + dst_bytes(c, images));
}

/* Images without gaps between them are converted as one. */
static void widen_images(const struct sn_convolution * c, const struct sn_arrays * a, size_t images, sn_32f * to)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t line = p->srcF == SN_NCHW ? p->srcW : p->srcW * p->srcC;
    const bool dense = a->at->srcImage == c->srcSize;
    for (size_t i = 0; i < (dense ? 1 : images); ++i)
        convert((struct image){.table = c->table, .src = (const uint8_t *)a->src + i * a->at->srcImage,
            .dst = to + i * src_count(c), .floats = p->srcT == SN_DATA_32F}, widen,
            src_count(c) * (dense ? images : 1), p->srcC, a->at->srcPixel, line);
}

static void narrow_images(const struct sn_convolution * c, const struct sn_arrays * a, size_t images, const sn_32f * from)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t line = p->dstF == SN_NCHW ? p->dstW : p->dstW * p->dstC;
    const bool dense = a->at->dstImage == c->dstSize;
    for (size_t i = 0; i < (dense ? 1 : images); ++i)
        convert((struct image){.table = c->table, .src = from + i * dst_count(c),
            .dst = (uint8_t *)a->dst + i * a->at->dstImage}, narrow,
            dst_count(c) * (dense ? images : 1), p->dstC, a->at->dstPixel, line);
}

void sn_16b_floats_forward(const struct sn_convolution * c, const struct sn_arrays * a,
                           const struct sn_convolution_family * family, size_t images)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_convolution floats = *c;
    const bool narrows = p->dstT == SN_DATA_16B;
    floats.family = family;
    floats.p.srcT = floats.p.dstT = SN_DATA_32F;
    floats.batch = images;
    floats.srcSize = src_count(c) * sizeof(float), floats.dstSize = dst_count(c) * sizeof(float);
    floats.workSize -= src_bytes(c, images) + dst_bytes(c, images);
    struct sn_distances at = *a->at;
    at.srcPixel = p->srcC, at.srcImage = floats.srcSize;
    if (narrows)
        at.dstPixel = p->dstC, at.dstImage = floats.dstSize;
    for (size_t b = 0; b < c->batch; b += images) {
        const struct sn_arrays some = sn_image_of(a, b, a->work);
        uint8_t * source = a->work, * result = source + src_bytes(c, images);
        struct sn_arrays inner = {source, result + dst_bytes(c, images), some.add, narrows ? result : some.dst, &at};
        widen_images(c, &some, images, (sn_32f *)(void *)source);
        sn_convolution_forward_32f(&floats, &inner);
        if (narrows)
            narrow_images(c, &some, images, (const sn_32f *)(void *)result);
    }
}

size_t sn_16b_floats_scratch(const struct sn_convolution * c) { return sn_weight_count(c) * sizeof(float); }

const void * sn_16b_floats_set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                                      struct sn_fault * fault)
{
    round_row(c->table, given->weight, sn_weight_count(c), scratch);
    sn_convolution_32f_set_params(c, given, NULL, fault);
    return scratch;
}

/* ---- convolutions */

struct floats {
    size_t batch, srcSize, dstSize; /* as the caller gave them */
    size_t images;                  /* of a pass */
};
SN_FITS_FAMILY_DATA(struct floats);

static const struct floats * data_of(const struct sn_convolution * c) { return (const void *)c->familyData; }

/* As many images as fit into half of the L2 cache, and divide the batch. */
static size_t images_together(const struct sn_convolution * c, size_t bytes)
{
    size_t images = sn_min(sn_max(sn_cpu()->cacheL2 / 2 / sn_max(bytes, 1), 1), sn_max(c->batch, 1));
    while (c->batch % images)
        --images;
    return images;
}

/* The most weights, which are twice as long as floats, and floats of an image and its result. */
enum { WEIGHTS = 1 << 16, FLOATS = 8000000 };

/*
 * Depthwise convolutions of few channels that leave lanes of the last vector unused: the kernel of bfloat16 numbers computes that
 * vector row by row, where floats have several pixels in one. The most whole vectors follow from the taps. 3x224x224 by 7x7
 * in NCHW takes 0.13 of the time (avx2; avx512 0.09), 5x80x80 by 5x5 0.23 (0.26), 12x56x56 0.45 (0.49), with stride 2 0.76
 * (0.88), 20x56x56 by 7x7 in NHWC 0.80 (0.49). With more vectors 44x28x28 by 3x3 would take 1.04 (1.06), 56x56x56 by 5x5 with
 * stride 2 1.12 (1.44).
 */
enum { TAPS_OF_VECTOR = 24, LONG_VECTOR = 16 };

static bool is_few_depthwise(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t lanes = sn_lanes(c), taps = p->kernelY * p->kernelX / p->strideY / p->strideX; /* of an input */
    const size_t most = taps / TAPS_OF_VECTOR + (lanes < LONG_VECTOR);
    return sn_is_depthwise(c) && c->format == p->srcF && p->srcT == SN_DATA_16B && p->srcC % lanes && p->srcC / lanes <= most &&
           !sn_16b_depthwise_planes_preferred(c);
}

static bool supports(const struct sn_convolution * c)
{
    return !c->algorithm && c->table->convolution_16b.tile.run && c->preference != SN_PREFER_MEMORY && c->srcSize &&
           c->dstSize && (!sn_is_depthwise(c) || is_few_depthwise(c)) && sn_weight_count(c) <= WEIGHTS &&
           src_count(c) <= FLOATS && dst_count(c) <= FLOATS - src_count(c);
}

/*
 * Cycles of the tile of bfloat16 numbers, see cost.h, fitted to 90 layers on each level (Granite Rapids): 16 columns of a step
 * of a row of A, by the type of the tile; a pixel's vector of results; an input that is copied, one that is moved to its group
 * of two, and a result that is copied; a row of a group. The step of avx512bf16 is that of processors whose products of
 * bfloat16 numbers are twice as fast as those of floats: others would gain with more layers.
 */
static const double STEP_AMX = 4.1, STEP_16B = 1, STEP_32F = 2.3, RESULT = 12, COPIED = 0.6, SPACED = 1, ROW = 250;
enum { PAIRS_AMX = 16 }; /* of a step */

static double tile_cost(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_dot_tile * tile = &c->table->convolution_16b.tile;
    const bool odd = sn_inputs(c) % 2, adjacent = p->group == 1 && p->dilationX == 1, nchw = p->srcF == SN_NCHW;
    const bool copied = odd || nchw || p->padY + p->padX + p->padH + p->padW > 0 || tile->number > sizeof(sn_16b);
    const size_t pairs = sn_ceil_div(sn_inputs(c), 2) * (adjacent ? p->kernelX : 1);
    const size_t vectors = sn_ceil_div(sn_outputs(c), tile->granule);
    const double segments = (double)(p->kernelY * (adjacent ? 1 : p->kernelX));
    const double steps = segments * (double)(tile->fast ? sn_ceil_div(pairs, PAIRS_AMX) : pairs);
    const double step = tile->fast ? STEP_AMX : tile->number == sizeof(sn_16b) ? STEP_16B : STEP_32F;
    const double results = sn_dst_pixels(c) * (double)(p->group * vectors);
    const double read = sn_dst_pixels(c) * sn_taps(c); /* pixels: with a stride, not all */
    const double src = (double)p->srcC * (read < sn_src_pixels(c) ? read : sn_src_pixels(c));
    return results * (steps * step * (double)tile->granule / 16 + RESULT) + (copied ? COPIED * src : 0) +
           (odd ? SPACED * src : 0) + (nchw ? COPIED * (double)dst_count(c) : 0) +
           (p->group > 1 ? ROW * (double)(p->group * p->dstH) : 0);
}

/* Cycles to convert a number, and the part of the tile's time that must suffice. */
static const double CONVERTED = 1.4, GAIN = 0.85;

/*
 * Few inputs or outputs in a group leave most of a step or of the tile's columns unused, and odd inputs are moved apart. On amx,
 * avx512bf16, avx512 and avx2, in parts of the tile's time: 3x150x192 to 3 by 1x1 in NCHW 0.08 to 0.13, 80x112x112 to 160 by 3x3
 * in 80 groups 0.15 to 0.25, 9x56x56 by 3x3 in 3 groups 0.18 to 0.24, 56x8x8 by 11x11 in 28 groups 0.34 to 0.55; 112x112x16 to 1
 * by 9x9 in NHWC 0.89, 0.08, 0.10, 0.17. Of many inputs, on avx512bf16, avx512 and avx2: 256x14x14 to 1 by 3x3 0.15, 0.2, 0.26,
 * 288x28x28 to 8 in 2 groups in NCHW 0.26, 0.27, 0.48 (Xeon with AMX).
 */
static bool floats_preferred(const struct sn_convolution * c, const struct sn_convolution * floats)
{
    const struct sn_convolution_algorithm * best = sn_convolution_choose(floats);
    const double numbers = (double)(src_count(c) + dst_count(c));
    if (sn_is_depthwise(c))
        return true;
    return best->cost && sn_convolution_cost(floats, best) + CONVERTED * numbers < GAIN * tile_cost(c);
}

static const struct sn_convolution_family by_floats;

bool sn_16b_use_floats(struct sn_convolution * c)
{
    if (!supports(c))
        return false;
    struct sn_convolution floats = *c;
    const size_t src = src_count(c) * sizeof(float), dst = dst_count(c) * sizeof(float);
    *(struct floats *)(void *)floats.familyData =
        (struct floats){c->batch, c->srcSize, c->dstSize, images_together(c, src + dst)};
    floats.family = &by_floats;
    floats.preference = SN_PREFER_EXACT; /* the documented error is that of direct sums */
    floats.batch = data_of(&floats)->images, floats.srcSize = src, floats.dstSize = dst;
    if (!floats_preferred(c, &floats))
        return false;
    *c = floats;
    return true;
}

/* Weights of several depthwise channels in NHWC are not rounded, see `exact` of struct sn_dot_family. */
static const void * set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                               struct sn_fault * fault)
{
    if (c->format == SN_NHWC && sn_is_depthwise(c) && c->p.group > 1)
        return sn_convolution_32f_set_params(c, given, scratch, fault);
    return sn_16b_floats_set_params(c, given, scratch, fault);
}

static bool plan(struct sn_convolution * c)
{
    c->batch = data_of(c)->batch, c->srcSize = data_of(c)->srcSize, c->dstSize = data_of(c)->dstSize;
    return sn_16b_floats_plan(c, data_of(c)->images);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_16b_floats_forward(c, a, &sn_convolution_32f, data_of(c)->images);
}

static const struct sn_convolution_family by_floats = {.candidates = sn_convolution_32f_candidates,
    .smallType = SN_DATA_16B, .unit = 1, .units = "bytes", .align = SN_ALIGN, .prefix = "by floats, ", .tile = sn_tile_32f,
    .simplify = sn_convolution_crop, .scratch = sn_16b_floats_scratch, .set_params = set_params, .plan = plan,
    .forward = forward};
