/*
 * Deconvolution of bfloat16 numbers. With stride 1 it is the convolution of such numbers with the flipped kernel. With any
 * other stride the algorithms of floats compute it, image by image: the source is rounded and widened to floats in the
 * workspace, and results are rounded from there. So it takes longer than a deconvolution of floats.
 */
#include "ops/convolution/16b.h"
#include "ops/convolution/32f.h"
#include "ops/convolution/deconvolution.h"
#include "ops/convolution/phases.h"
#include "ops/units.h"
#include "ops/widened.h"
#include "runtime/threads.h"

/* ---- conversion of an image: rows of `width` elements, `step` apart, that are dense on the side of the floats */

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

/* Bytes of the images of floats, with which the workspace begins: the source, and results that are rounded. */
static size_t src_bytes(const struct sn_convolution * c) { return sn_align(src_count(c) * sizeof(float), SN_ALIGN); }
static size_t dst_bytes(const struct sn_convolution * c)
{
    return c->p.dstT == SN_DATA_16B ? sn_align(dst_count(c) * sizeof(float), SN_ALIGN) : 0;
}

static bool plan(struct sn_convolution * c)
{
    size_t src, dst;
    return sn_product(&src, src_count(c), sizeof(float)) && sn_product(&dst, dst_count(c), sizeof(float)) &&
           sn_product(&c->workSize, 1, c->workSize + src_bytes(c) + dst_bytes(c));
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_convolution floats = *c;
    const bool narrows = p->dstT == SN_DATA_16B, nchw = p->srcF == SN_NCHW;
    floats.family = &sn_deconvolution_32f;
    floats.p.srcT = floats.p.dstT = SN_DATA_32F;
    floats.batch = 1;
    floats.srcSize = src_count(c) * sizeof(float), floats.dstSize = dst_count(c) * sizeof(float);
    floats.workSize -= src_bytes(c) + dst_bytes(c);
    struct sn_distances at = *a->at;
    at.srcPixel = p->srcC, at.srcImage = floats.srcSize;
    if (narrows)
        at.dstPixel = p->dstC, at.dstImage = floats.dstSize;
    for (size_t b = 0; b < c->batch; ++b) {
        const struct sn_arrays one = sn_image_of(a, b, a->work);
        uint8_t * source = a->work, * result = source + src_bytes(c);
        struct sn_arrays inner = {source, result + dst_bytes(c), one.add, narrows ? result : one.dst, &at};
        convert((struct image){.table = c->table, .src = one.src, .dst = source, .floats = p->srcT == SN_DATA_32F}, widen,
                src_count(c), p->srcC, a->at->srcPixel, nchw ? p->srcW : p->srcW * p->srcC);
        sn_convolution_forward_32f(&floats, &inner);
        if (narrows)
            convert((struct image){.table = c->table, .src = result, .dst = one.dst}, narrow, dst_count(c), p->dstC,
                    a->at->dstPixel, nchw ? p->dstW : p->dstW * p->dstC);
    }
}

/* ---- the families */

static const struct sn_convolution_family flipped = {.candidates = sn_convolution_16b_candidates, .smallType = SN_DATA_16B,
    .unit = 1, .units = "bytes", .align = SN_ALIGN, .prefix = "as a convolution, ", .tile = sn_tile_16b,
    .prepare = sn_convolution_16b_prepare, .scratch = sn_flipped_size, .set_params = sn_flipped_set_params};

static void simplify(struct sn_convolution * c) { sn_deconvolution_simplify(c, &flipped); }

static size_t rounded_size(const struct sn_convolution * c) { return sn_weight_count(c) * sizeof(float); }

static const void * set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                               struct sn_fault * fault)
{
    round_row(c->table, given->weight, sn_weight_count(c), scratch);
    sn_convolution_32f_set_params(c, given, NULL, fault);
    return scratch;
}

const struct sn_convolution_family sn_deconvolution_16b = {.candidates = sn_deconvolution_32f_candidates,
    .smallType = SN_DATA_16B, .unit = 1, .units = "bytes", .align = SN_ALIGN, .prefix = "by floats, ", .tile = sn_tile_32f,
    .simplify = simplify, .prepare = sn_phases_plan, .scratch = rounded_size, .set_params = set_params, .plan = plan,
    .forward = forward};
