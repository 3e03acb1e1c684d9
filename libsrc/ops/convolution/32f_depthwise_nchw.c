/*
 * Depthwise convolution, NCHW: vectors of pixels, channel by channel, from a copy of its lines with their padding, split
 * into phases (nchw_band.h). The image itself is used if there is no padding and no stride in x: 128x224x224 by 1x1
 * takes 0.4 of the time.
 */
#include <string.h>

#include "ops/convolution/32f.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/nchw_band.h"
#include "runtime/cpu.h"

/* Floats of the planes that are copied before the first of them is computed, unless one has more. */
enum { COPIED_FLOATS = 2048 };

struct depthwise_nchw {
    struct sn_band band;
    size_t planes; /* that are copied together */
    size_t period; /* of all rows as one, see struct sn_depthwise_nchw_32f */
    bool joined;   /* these are copied without padding in x */
};
SN_FITS_ALGORITHM_DATA(struct depthwise_nchw);

static const struct depthwise_nchw * data_of(const struct sn_convolution * c) { return (const void *)c->algorithmData; }

static bool supports(const struct sn_convolution * c) { return sn_is_depthwise(c) && c->p.srcF == SN_NCHW; }

/* The period of masks: rows, of at least as many outputs as a block has; and the ints of the mask of a column of taps. */
static size_t period_of(const struct sn_convolution * c)
{
    const size_t width = sn_max(c->p.dstW, 1);
    return sn_ceil_div(c->table->convolution_32f.depthwise_nchw_run, width) * width;
}

static size_t inside_step(const struct sn_convolution * c)
{
    return data_of(c)->period + c->table->convolution_32f.depthwise_nchw_run;
}

/* Whether lines are copied, with their padding: the kernel reads beyond the last input if a row is shorter than a vector. */
static bool is_copied(const struct sn_convolution * c)
{
    return c->p.dstW < sn_lanes(c) || !sn_planes_in_place(&c->p);
}

/* Cycles of 16 products of rows that share inputs, or of others: fitted to 154 layers of 3x3 to 380x38 pixels, with 256-bit
 * vectors (Zen 3). */
static const double NCHW_SHARED = 1.97, NCHW_ANY = 2.87;

/*
 * Kernels of SN_LARGE_ROWS rows and more, whose blocks share inputs, with vectors of 4 floats and longer ones; for each vector of
 * 16 floats that a block has less than there can be; and for a vector, whatever its taps. Fitted to 17 layers of 5x5 to 11x11
 * (Intel Xeon with AMX).
 */
static const double NCHW_LARGE_SHORT = 1.6, NCHW_LARGE = 1.27, NCHW_LARGE_FEWER = 0.09,
                    NCHW_LARGE_VECTOR = 14, NCHW_LARGE_VECTOR_16 = 7;

/* The rows of a block of a large kernel. */
static size_t large_rows(const struct sn_convolution * c) { return c->table->convolution_32f.depthwise_nchw_rows; }

static bool is_large(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool other = p->kernelY == 5 && p->kernelX == 5 && sn_lanes(c) == 16; /* has an instance */
    return p->kernelY >= SN_LARGE_ROWS && !other && p->strideY == 1 && p->dstW > sn_lanes(c) &&
           p->dstH / p->dilationY >= large_rows(c);
}

/* Cycles of 16 floats of all rows; the last rows are computed twice. */
static double large_cost(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t vectors = sn_ceil_div(p->dstW, sn_lanes(c)), most = c->table->convolution_32f.depthwise_nchw_vectors;
    const double less = (double)most - (double)vectors / (double)sn_ceil_div(vectors, most);
    const double few = sn_lanes(c) == 16 ? 1 + NCHW_LARGE_FEWER * less : 1;
    const double rows = (double)(sn_ceil_div(p->dstH, large_rows(c)) * large_rows(c));
    const double product = sn_lanes(c) == 4 ? NCHW_LARGE_SHORT : NCHW_LARGE;
    return rows * few * (product * sn_taps(c) + (sn_lanes(c) == 16 ? NCHW_LARGE_VECTOR_16 : NCHW_LARGE_VECTOR));
}

/* The kernel has instances for some kernels, where rows share inputs. */
static double product_of(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t taps = p->kernelY == p->kernelX && p->strideY == 1 ? p->kernelY : 0;
    return taps == 2 || taps == 3 || (taps == 5 && sn_lanes(c) == 16) ? NCHW_SHARED : NCHW_ANY;
}

/*
 * Some pixels of each row are computed twice, and every line is copied first unless the image needs no padding; a stride sorts
 * pixels into phases. So small images, strides and kernels of many taps are converted (32f_depthwise_converted.c): 960x7x7 by
 * 3x3 takes 0.6 of the time, 128x56x56 by 5x5 0.55, 512x14x14 with stride 2 0.35. Dilated kernels and single taps are not:
 * 420x38x16 with dilation 2 takes 0.77, by 1x1 0.5. With AVX2 the choice of these two is right with warm caches on 24 layers
 * but one: 420x38x16 by 1x3 takes 1.16 times as long.
 */
static double rows_cost(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double floats = sn_of_vectors(c, sn_vectors(c, p->dstW)); /* in units of 16 */
    const double copied = is_copied(c) ? (double)p->srcH * sn_line_copied(c) : 0;
    const double vectors = is_large(c) ? large_cost(c) : (double)p->dstH * product_of(c) * sn_taps(c);
    return (double)p->dstC * (vectors * floats + copied + SN_DEPTHWISE_PLANE);
}

/*
 * As wide as the image, without stride, a convolution can compute all rows of a plane as one, which fills vectors if planes are
 * narrow (kernels/depthwise/run_32f.h): cycles of 16 floats with vectors of 16 and with shorter ones, for each product, and
 * whatever the taps; and for a plane. Fitted to 30 layers of 1x3 to 7x7 and 8x5 to 300x6 pixels (Xeon with AMX), of which the
 * algorithms for planes that are chosen then take 1.02 times as long as the best ones. Of the time of those before 48x300x2 by
 * 3x3 takes 0.6 (AVX2; AVX-512 0.5 to 0.65), 48x196x6 0.65 to 0.8, 48x60x17 by 1x3 0.6 to 0.85 (0.5 to 0.65), 48x300x6 0.85 (0.3).
 */
static const double JOINED_PRODUCT_16 = 2.9, JOINED_PRODUCT = 2.4, JOINED_VECTOR_16 = 14, JOINED_VECTOR = 23,
                    JOINED_PLANE = 100;

static double joined_cost(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool longs = sn_lanes(c) == 16;
    const double product = longs ? JOINED_PRODUCT_16 : JOINED_PRODUCT, vector = longs ? JOINED_VECTOR_16 : JOINED_VECTOR;
    const double floats = sn_of_vectors(c, sn_vectors(c, p->dstH * p->dstW));
    return (double)p->dstC * (floats * (product * sn_taps(c) + vector) + JOINED_PLANE);
}

static bool is_joined(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return p->strideY == 1 && p->strideX == 1 && p->kernelX > 1 && p->dstW == p->srcW && c->srcSize && c->dstSize &&
           joined_cost(c) < rows_cost(c);
}

static double cost(const struct sn_convolution * c) { return is_joined(c) ? joined_cost(c) : rows_cost(c); }

/* Plans a band of lines without padding in x: `padX` floats precede the first one; what kernels read follows the last. */
static bool plan_joined(struct sn_convolution * c, struct sn_band * band)
{
    const struct sn_convolution_parameters * p = &c->p;
    *band = (struct sn_band){.copied = true, .strideY = 1, .strideX = 1, .phases = 1, .run = p->srcW, .line = p->srcW};
    sn_band_rows(band, p, sn_cpu()->cacheL2 / 2 / sizeof(float));
    const bool fits = sn_product(&band->plane, band->lines, band->line);
    band->plane += p->padX + p->padW + sn_lanes(c);
    return fits;
}

static bool plan(struct sn_convolution * c)
{
    struct depthwise_nchw * d = (void *)c->algorithmData;
    c->segments = c->p.kernelX;
    sn_channels_plain(c);
    d->planes = 1;
    d->joined = is_joined(c);
    d->period = period_of(c);
    if (d->joined) /* masks follow */
        c->segments += sn_ceil_div(c->p.kernelX * inside_step(c) * sizeof(sn_32i), sizeof(size_t));
    if (!d->joined && !is_copied(c)) {
        sn_planes_image(&c->p, &d->band);
    } else {
        if (!(d->joined ? plan_joined(c, &d->band) : sn_split_plan(c, 1, false, &d->band)))
            return false;
        const bool alone = d->joined && c->p.kernelY == 1;
        d->planes = alone ? 1 : sn_min(sn_max(COPIED_FLOATS / sn_max(d->band.plane, 1), 1), sn_max(c->p.dstC, 1));
        if (!sn_floats(&c->workSize, d->planes * d->band.plane + sn_lanes(c)))
            return false;
    }
    return sn_floats(&c->weightSize, c->p.kernelY, c->p.kernelX, c->p.dstC);
}

/* The masks follow the offsets. */
static sn_32i * inside_of(const struct sn_convolution * c) { return (sn_32i *)(void *)(c->segment + c->p.kernelX); }

static void offsets(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    for (size_t kx = 0; kx < p->kernelX; ++kx)
        c->segment[kx] = sn_split_tap(c, &data_of(c)->band, 0, 0, kx);
    sn_32i * inside = inside_of(c);
    for (size_t kx = 0; data_of(c)->joined && kx < p->kernelX; ++kx)
        for (size_t i = 0; i < inside_step(c); ++i)
            *inside++ = i % p->dstW + kx * p->dilationX - p->padX < p->srcW ? -1 : 0;
}

static void pack(const struct sn_convolution * c, const void * weight) { memcpy(c->weight, weight, c->weightSize); }

/* The column of taps whose inputs are all inside; kernelX if there is none. */
static size_t middle_of(const struct sn_convolution_parameters * p)
{
    return p->padX % p->dilationX ? p->kernelX : p->padX / p->dilationX;
}

/*
 * Whether the joined rows of a channel can be read where they are: inputs outside of its plane are left out like those of other
 * rows, and are in the image, with a vector more.
 */
static bool is_in_place(const struct sn_convolution * c, size_t channel)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t before = channel * c->srcPlane, behind = (p->srcC - 1 - channel) * c->srcPlane;
    return data_of(c)->joined && p->kernelY == 1 && p->padY == 0 && p->dstH == p->srcH && before >= p->padX &&
           behind >= p->padW + sn_lanes(c);
}

/* Copies the lines for output rows row .. row + rows - 1 of some planes. */
static void copy_joined(const struct sn_convolution * c, const sn_32f * src, size_t count, size_t row, size_t rows, sn_32f * to)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &data_of(c)->band;
    const struct sn_lines lines = sn_lines_of(p, row, rows);
    const size_t used = sn_used(rows, 1, p->kernelY, p->dilationY), out = p->padY - sn_min(row, p->padY);
    const size_t above = p->padX + sn_min(out, used) * p->srcW, inside = (lines.end - lines.begin) * p->srcW;
    for (size_t i = 0; i < count; ++i, src += c->srcPlane, to += band->plane) {
        memset(to, 0, above * sizeof(float));
        if (inside)
            memcpy(to + above, src + lines.begin * p->srcW, inside * sizeof(float));
        memset(to + above + inside, 0, (band->plane - above - inside) * sizeof(float));
    }
}

/* Some rows of one channel; src is its band. With dilation and no stride every dilationY-th row is a convolution without,
 * whose rows share inputs: 16x380x38 by 3x3 with dilation 3 takes 0.82 of the time. */
static void compute_rows(const struct sn_convolution * c, size_t channel, const sn_32f * src, size_t rows, sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &data_of(c)->band;
    struct sn_depthwise_nchw_32f d = {.src = src, .srcStep = band->strideY * band->line,
        .tapStep = p->dilationY * band->line, .tap = c->segment, .kernelY = p->kernelY, .kernelX = p->kernelX,
        .weight = sn_weights(c) + channel * p->kernelY * p->kernelX, .bias = c->bias[channel],
        .slope = c->slope ? c->slope[channel] : 0, .activation = sn_activation_of(c),
        .param = {c->param[0], c->param[1]}, .dst = dst, .dstStep = p->dstW, .rows = rows, .columns = p->dstW};
    if (data_of(c)->joined || (d.srcStep == p->dstW && !is_large(c))) { /* the inputs of a tap for all rows are neighbours */
        d.columns *= rows;
        d.rows = 1;
        d.inside = inside_of(c);
        d.insideStep = inside_step(c);
        d.period = data_of(c)->period;
        d.middle = data_of(c)->joined ? middle_of(p) : 0;
    }
    const size_t apart = band->strideY == 1 ? sn_min(p->dilationY, d.rows) : 1, step = d.srcStep;
    d.srcStep *= apart;
    d.dstStep *= apart;
    for (size_t y = 0, all = d.rows; y < apart; ++y) {
        d.rows = sn_ceil_div(all - y, apart);
        d.src = src + y * step;
        d.dst = dst + y * p->dstW;
        c->table->convolution_32f.depthwise_nchw(&d);
    }
}

/*
 * Some channels, of the planes src and dst. Loads of what has just been written, by other vectors, wait until it is in the
 * cache: so several small planes are copied before they are computed, 192x7x13 in 0.9 of the time.
 */
static void compute_channels(const struct sn_convolution * c, size_t channel, size_t count, const sn_32f * src, sn_32f * work,
                             sn_32f * dst)
{
    const struct sn_convolution_parameters * p = &c->p;
    const struct sn_band * band = &data_of(c)->band;
    const size_t srcPlane = p->srcH * p->srcW, dstPlane = p->dstH * p->dstW;
    for (size_t row = 0, rows; row < p->dstH; row += rows) {
        rows = sn_min(band->rows, p->dstH - row);
        if (is_in_place(c, channel)) { /* planes are computed one by one */
            compute_rows(c, channel, src + row * p->srcW - p->padX, rows, dst + row * p->dstW);
            continue;
        }
        if (data_of(c)->joined)
            copy_joined(c, src, count, row, rows, work);
        else if (band->copied)
            sn_split_copy(c, band, src, count, row, rows, work);
        for (size_t i = 0; i < count; ++i)
            compute_rows(c, channel + i, band->copied ? work + i * band->plane : src + i * srcPlane, rows,
                         dst + i * dstPlane + row * p->dstW);
    }
}

/* The "lines" of a share are channels. */
static void compute(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a)
{
    const size_t srcPlane = c->p.srcH * c->p.srcW, dstPlane = c->p.dstH * c->p.dstW, end = s->line + s->lines;
    const sn_32f * src = a->src;
    sn_32f * dst = a->dst;
    for (size_t i = s->line, count; i < end; i += count) {
        count = sn_min(data_of(c)->planes, end - i);
        compute_channels(c, i, count, src + i * srcPlane, a->work, dst + i * dstPlane);
    }
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    sn_convolution_run(&(struct sn_convolution_run){.c = c, .arrays = a, .compute = compute,
        .time = sn_convolution_32f_time(c), .shares = {.lines = c->p.dstC, .most = c->p.dstC}});
}

const struct sn_convolution_algorithm sn_convolution_32f_depthwise_nchw = {.name = "depthwise NCHW", .supports = supports,
    .cost = cost, .plan = plan, .offsets = offsets, .pack = pack, .forward = forward};
