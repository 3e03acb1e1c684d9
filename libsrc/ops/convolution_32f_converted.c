/*
 * NCHW, computed as NHWC: the lines that a band of the output needs are converted, and so is each panel of the result. A
 * conversion moves every input and every output once, which products with many channels pay for; they gain what the NHWC way
 * has: rows of pixels that are cut into tiles of any height, where lanes of pixels are wasted at the end of a small image,
 * and weights that pass by as one stream.
 */
#include "ops/convolution_32f.h"
#include "ops/shares.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

/* The result of a panel is to stay near until it is converted: so many pixels, unless a row has more. */
enum { PIXELS = 512 };

/*
 * Cost model, in cycles of a vector's multiply-adds, of which the vectors of outputs need `depth` each. Pixels are lanes in
 * the NCHW way: the 49 of an image of 7 x 7 cost what 56 do. Gathering a panel costs it some 4 for each vector, 10 with
 * taps, and whatever weights it waits for; converting one in and out again costs 9. As measured with 512-bit vectors on
 * all layers of ten networks; it is right, or wrong by 3%, but for 3 channels to 64 of 224 x 224, where the NCHW way takes
 * 1.2 times as long and is kept.
 */
static double direct_cost(const struct sn_convolution_32f * c, double depth, double lanes)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double width = (double)sn_gemm_width(&c->table->gemm.tile_32f, p->dstH * p->dstW), outputs = (double)p->dstC;
    return width / lanes * depth * (p->kernelY * p->kernelX > 1 ? 1.17 * outputs + 10 : 1.03 * outputs + 4);
}

static double converted_cost(const struct sn_convolution_32f * c, double depth, double lanes)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double in = (double)(p->srcH * p->srcW) * (double)p->srcC / lanes, pixels = (double)(p->dstH * p->dstW);
    const double out = pixels * (double)p->dstC / lanes, width = (double)sn_gemm_width(&c->table->gemm.tile_32f, p->dstC);
    return 1.035 * pixels * depth * width / lanes + 9 * (in + out);
}

static bool takes(const struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (p->srcF != SN_NCHW || p->group != 1 || !c->srcSize || !c->dstSize)
        return false;
    const double depth = (double)(p->kernelY * p->kernelX) * (double)p->srcC, lanes = (double)sn_lanes(c);
    return converted_cost(c, depth, lanes) < direct_cost(c, depth, lanes);
}

/* Lines of the image for `rows` output rows. */
static size_t lines_of(const struct sn_convolution_parameters * p, size_t rows)
{
    return sn_min(sn_used(rows, p->strideY, p->kernelY, p->dilationY), p->srcH);
}

static bool plan(struct sn_convolution_32f * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    struct sn_band * band = &c->band;
    if (!sn_convolution_32f_nhwc.plan(c))
        return false;
    sn_band_limit(band, p, sn_min(band->rows, sn_max(PIXELS / p->dstW, 1)));
    size_t image, result;
    if (!sn_product(&c->workSize, band->copied, band->lines, band->line) ||
        !sn_product(&image, lines_of(p, band->rows), p->srcW, p->srcC) ||
        !sn_product(&result, band->rows, p->dstW, c->table->gemm.tile_32f.columns))
        return false;
    c->converted = sn_align(image, SN_ALIGN / sizeof(float));
    return sn_product(&c->workSize, c->workSize + c->converted + result, 1);
}

static void pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment)
{
    sn_convolution_32f_nhwc.pack(c, weight, packed, segment);
}

static void spread(const struct sn_convolution_32f * c, const sn_32f * values, sn_32f * spread)
{
    sn_convolution_32f_nhwc.spread(c, values, spread);
}


/* Some output rows of one image, some panels of them. */
static void compute_band(const struct sn_convolution_32f * c, const struct sn_share * s, const sn_32f * src, sn_32f * work,
                         const sn_32f * add, sn_32f * dst)
{
    const size_t row = s->line, rows = s->lines;
    const struct sn_convolution_parameters * p = &c->p;
    const size_t step = c->table->gemm.tile_32f.columns, srcPixels = p->srcH * p->srcW, dstPixels = p->dstH * p->dstW;
    sn_32f * lines = work, * result = lines + c->converted, * band = result + c->band.rows * p->dstW * step;
    /* The first line that is needed, and the one behind the last. */
    const size_t at = row * p->strideY, used = sn_used(rows, p->strideY, p->kernelY, p->dilationY);
    const size_t begin = sn_min(at > p->padY ? at - p->padY : 0, p->srcH);
    const size_t end = sn_max(sn_min(at + used > p->padY ? at + used - p->padY : 0, p->srcH), begin);
    const sn_32f * image = lines - begin * p->srcW * p->srcC;
    c->table->layout.image_32f(p->srcC, srcPixels, src, SN_NCHW, (sn_32f *)image, SN_NHWC,
                                begin * p->srcW, end * p->srcW);
    struct sn_nhwc_rows r = {.rows = rows, .dst = result};
    if (!c->edges)
        sn_nhwc_source(c, image, row, band, &r);
    for (r.first = s->first; r.first < s->first + s->columns; r.first += step) {
        r.outputs = r.dstPixel = sn_min(step, p->dstC - r.first);
        r.dstLine = p->dstW * r.dstPixel;
        if (add) {
            r.add = result;
            c->table->layout.image_32f(r.outputs, dstPixels, add + r.first * dstPixels, SN_NCHW,
                                        result - row * r.dstLine, SN_NHWC, row * p->dstW,
                                        (row + rows) * p->dstW);
        }
        if (c->edges)
            sn_nhwc_band(c, image, row, band, r);
        else
            sn_nhwc_compute(c, &r);
        c->table->layout.image_32f(r.outputs, dstPixels, result - row * r.dstLine, SN_NHWC,
                                    dst + r.first * dstPixels, SN_NCHW, row * p->dstW, (row + rows) * p->dstW);
    }
}

struct job {
    const struct sn_convolution_32f * c;
    const sn_32f * src;
    const sn_32f * add; /* lies as dst, or NULL */
    sn_32f * dst;
    struct sn_shares shares;
};

static void run(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_convolution_32f * c = job->c;
    struct sn_share s;
    for (; begin < end; begin += s.units) {
        s = sn_share_at(&job->shares, begin, end);
        compute_band(c, &s, job->src + s.image * c->srcSize, work, job->add ? job->add + s.image * c->dstSize : NULL,
                     job->dst + s.image * c->dstSize);
    }
}

static void forward_add(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, const sn_32f * add,
                        sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_gemm_32f_tile * tile = &c->table->gemm.tile_32f;
    const struct job job = {c, src, add, dst, sn_shares_of((struct sn_shares){.lines = p->dstH, .most = c->band.rows,
        .columns = p->dstC, .width = tile->columns, .weights = c->weightSize, .source = c->srcSize, .start = true,
        .least = sn_ceil_div(2 * tile->rows, p->dstW)})};
    sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = c->batch * job.shares.each,
        .cost = sn_convolution_32f_cost(c), .least = job.shares.least, .work = work,
        .workBytes = c->workSize * sizeof(float)});
}

static void forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst)
{
    forward_add(c, src, work, NULL, dst);
}

const struct sn_convolution_32f_way sn_convolution_32f_converted = {"direct NCHW by NHWC", true, takes, plan, pack, spread,
                                                                     forward, forward_add};
