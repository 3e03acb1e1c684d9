#include "ops/convolution/cost.h"

#include <math.h>

#include "ops/cache_sets.h"
#include "ops/convolution/32f.h"
#include "ops/convolution/deconvolution.h"
#include "ops/convolution/phases.h"
#include "ops/units.h"

/*
 * ---- constants. A cycle is the time in which a core multiplies 16 floats; a vector cycle, one vector. All were measured
 * with 512-bit vectors, but those of depthwise layers, and are used for every level: only their ratios matter. `make
 * calibrate` compares them with measurements on this machine.
 */

/* Direct products, on 3x3 layers. */
static const double DIRECT_NHWC = 9.3 / 9;   /* cycles of 16 products */
static const double DIRECT_NCHW = 10.3 / 9;  /* the same with gathered pixels as columns */
static const double LOW = 4.5, LOW_ROWS = 3; /* fewer rows than LOW make low tiles; LOW_ROWS fewer take twice as long */

/* Weights that are read from the L3 cache, or from memory. */
static const double L3_BYTES = 9e6;                       /* from memory if there are more bytes */
static const double L3_SPEED = 20, MEMORY_SPEED = 5.5;    /* bytes per cycle */
static const double WAITED_BYTES = 1e6, WAITED_SPEED = 10; /* weights of a single pass, which are waited for */

/* Winograd's algorithm, on 3x3 layers, but for rows and columns. */
static const double WINOGRAD_PRODUCT = 1.05;  /* cycles of 16 products of a plane */
static const double WINOGRAD_START = 2;       /* the cost of starting a sum, in products */
static const double TRANSFORM = 7;            /* vector cycles for each coefficient, in or out */
static const double TRANSFORM_4 = 4;          /* the same for F(4,3) */
static const double TRANSFORM_STRIDED = 5;    /* the same for stride 2 */
static const double TRANSFORM_ROW = 9;        /* the same for a row or column, with few coefficients in a tile */
static const double WINOGRAD_CALL = 1000;     /* cycles */
static const double WINOGRAD_CONVERTED = 5;   /* vector cycles to convert a vector of NCHW, in or out */
static const double WINOGRAD_GAIN = 0.95;     /* used if its cost is less than this part of the direct cost */

/* Direct NCHW, or by NHWC: vector cycles, on all layers of ten networks. */
static const double PLANES_1 = 1.03, GATHERED_1 = 4;  /* 1x1: products; gathering a vector of pixels for all outputs */
static const double PLANES = 1.17, GATHERED = 10;     /* other kernels */
static const double SORTED = 1.5;                      /* times the cost of lines with a stride, below: of many planes */
static const double PIXELS = 1.035, CONVERTED = 9;    /* by NHWC: products; converting a vector in or out; */
static const double PIXELS_SHORT = 0.6;               /* more for groups, divided by their inputs; */
static const double PIXELS_NARROW = 2;                /* times more if a group has a single vector of outputs */

/* Few outputs, NHWC: vector cycles. */
static const double LANES_ADDED = 3;  /* to add up the lanes of a sum */

/* Few channels a group: vector cycles of a product, 3x3 and others, of groups side by side and of single groups; and by the
 * tile, where sums are short. */
static const double GROUPED = 1.35, GROUPED_SINGLE = 1.17, GROUPED_ANY = 2.2, GROUPED_SINGLE_ANY = 1.5;
static const double TILE_OF_GROUP = 1.1, TILE_SHORT = 1.4; /* TILE_SHORT: divided by the inputs of a group */

/* Depthwise NCHW: fitted to 154 layers of 3x3 to 380x38 pixels, with 256-bit vectors (Zen 3), and by NHWC to 24 of these. */
static const double DEPTHWISE_PLANES = 1.97;     /* cycles of 16 products of rows that share inputs, */
static const double DEPTHWISE_ANY = 2.87;        /* or of others; */
static const double DEPTHWISE_PLANE = 159;       /* for a plane; */
static const double LINE = 12;                   /* to copy a line of any kernel, for each phase, */
static const double LINE_COPIED = 5.6;           /* and for each 16 floats of it, */
static const double LINE_SPLIT = 11;             /* or with stride 2, */
static const double LINE_SINGLE = 18;            /* or a larger stride */
static const double PLANES_VECTOR = 47;          /* in place, for 16 floats of four rows, */
static const double PLANES_EDGE = 150;           /* and more if any of their inputs may be outside of the plane; */
static const double PLANES_ROWS = 18;            /* for four rows of an edge, or of what is between them, */
static const double PLANES_CHANNEL = 126;        /* and for a plane; */
static const double DEPTHWISE_PIXELS = 1.35;     /* by NHWC: cycles of 16 products in blocks of pixels, */
static const double DEPTHWISE_COLUMN = 2.4;      /* of which those of one column share no inputs, */
static const double DEPTHWISE_PIXELS_ANY = 3.6;  /* or pixel by pixel; */
static const double DEPTHWISE_CONVERTED = 8.7;   /* to convert 16 floats in or out, */
static const double DEPTHWISE_ROW = 20;          /* for a row and a vector of channels, */
static const double DEPTHWISE_CALL = 138;        /* and for a vector of channels */

/* Deconvolution in NCHW, or by NHWC: vector cycles for each output of a phase. */
static const double PHASES_PLANES = 1.1, PHASES_GATHERED = 10, PHASES_WRITTEN = 14; /* a product, an input, an output */
static const double PHASES_PIXELS = 1.03, PHASES_CONVERTED = 9; /* by NHWC: a product, a float converted; */
static const double PHASES_NARROW = 1.5;                        /* times more if products have a single vector of outputs; */
static const double PHASES_ROW = 1 << 18; /* not if a row of all phases is more floats: the workspace holds one in NHWC */

/* Deconvolution by products of all taps, fitted to 77 layers with 256-bit vectors (Zen 3): vector cycles. */
static const double COL2IM_PRODUCT = 1.15, COL2IM_ADDED = 17;                    /* a product of an input, adding one to its sum, */
static const double COL2IM_PACKED = 9, COL2IM_WRITTEN = 20, COL2IM_CHANNELS = 7; /* an input, a result, more for it in NHWC; */
static const double COL2IM_ROW = 90;                                             /* cycles of a row of results */

/* Depthwise deconvolution in NCHW: cycles. */
static const double PHASE_CALL = 65;     /* for a phase of a plane, */
static const double PHASE_VECTOR = 6;    /* and a vector of its outputs; */
static const double INTERLEAVED_ROW = 185, INTERLEAVED = 12; /* for a row of other than 2 or 4 phases, and a vector of it */
static const double PHASES_GAIN = 0.8;   /* converted if its cost is less than this part: edges of images are not counted */

/* Copying a float of a band, in cycles. */
static const double COPIED = 0.4;

/* Bytes of packed weights that stay in the L2 cache besides a layer's images. */
enum { L2_WEIGHTS = 256 << 10 };

/* ---- common to several models */

static bool is_nchw(const struct sn_convolution * c) { return c->p.srcF == SN_NCHW; }

static double taps_of(const struct sn_convolution * c) { return (double)(c->p.kernelY * c->p.kernelX); }

/* Multiply-adds of one output. */
static double depth_of(const struct sn_convolution * c) { return taps_of(c) * (double)sn_inputs(c); }

/* The columns that the tile computes, of which `columns` are used. */
static double width_of(const struct sn_convolution * c, size_t columns)
{
    return (double)sn_gemm_width(&c->table->gemm.tile_32f, columns);
}

static double vectors_of(const struct sn_convolution * c, size_t floats) { return (double)sn_ceil_div(floats, sn_lanes(c)); }

static double src_pixels(const struct sn_convolution * c) { return (double)(c->p.srcH * c->p.srcW); }
static double dst_pixels(const struct sn_convolution * c) { return (double)(c->p.dstH * c->p.dstW); }

/* Vector cycles to cycles. */
static double of_vectors(const struct sn_convolution * c, double cycles) { return cycles * (double)sn_lanes(c) / 16; }

static double fetched(double bytes) { return bytes / (bytes < L3_BYTES ? L3_SPEED : MEMORY_SPEED); }

/* Copies a line of a plane in NCHW, sorted into phases by the stride. */
static double line_copied(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double phases = (double)sn_min(p->strideX, (p->kernelX - 1) * p->dilationX + 1);
    const double vector = p->strideX == 1 ? LINE_COPIED : p->strideX == 2 ? LINE_SPLIT : LINE_SINGLE;
    return phases * (LINE + of_vectors(c, vectors_of(c, p->dstW)) * vector);
}

/* ---- Winograd's algorithm, against the direct one */

/* The conversions from NCHW to NHWC, and of the result back. */
static double both_converted(const struct sn_convolution * c)
{
    const double in = src_pixels(c) * vectors_of(c, c->p.srcC), out = dst_pixels(c) * vectors_of(c, c->p.dstC);
    return is_nchw(c) ? of_vectors(c, WINOGRAD_CONVERTED * (in + out)) : 0;
}

static double nhwc_products(const struct sn_convolution * c)
{
    const double rows = (double)sn_max(c->p.dstH, c->p.dstW), low = rows < LOW ? 1 + (LOW - rows) / LOW_ROWS : 1;
    const double outputs = dst_pixels(c) * width_of(c, sn_outputs(c)) * (double)c->p.group / 16;
    return DIRECT_NHWC * depth_of(c) * outputs * low;
}

static double weights_fetched(const struct sn_convolution * c) { return fetched(4 * depth_of(c) * (double)c->p.dstC); }

double sn_nhwc_cycles(const struct sn_convolution * c) { return fmax(nhwc_products(c), weights_fetched(c)); }

/*
 * The cost of the direct algorithm as the alternative: in NCHW, columns may be pixels, which are gathered. This is not the
 * cost by which direct NCHW and its conversion are compared below, which is higher for few outputs and for conversions: with
 * that one no layer of tests/bench/convolutions.txt changes, but 4% of other 3x3 layers in NCHW do, mostly to Winograd's
 * algorithm. Of 40 of these on avx512, 14 became slower with warm caches, by up to 1.25, and 29 with cold ones, by 1.14 on
 * average and up to 2.7.
 */
static double direct_cycles(const struct sn_convolution * c)
{
    const double gathered = DIRECT_NCHW / 16 * width_of(c, c->p.dstH * c->p.dstW) * (double)c->p.dstC * depth_of(c);
    const double products = nhwc_products(c) + both_converted(c);
    return fmax(is_nchw(c) ? fmin(gathered, products) : products, weights_fetched(c));
}

/*
 * The cost for a single image. Images of a batch share the passes over the weights, but if the choice followed from their
 * number, an image would have other bits in a batch than alone: 512x7x7 to 512 would be F(4,3) from two images on.
 *
 * Only the first pass over a panel of weights waits for them; later passes find them in a near cache, and so do planes that
 * share weights with an earlier one. While there are several passes over a plane, the next one is fetched; a plane of a
 * single pass that comes from memory is waited for, then used. So 512x7x7 to 512 channels is F(2,3), whose 16 tiles are two
 * passes of avx512: on Emerald Rapids, cold, F(3,3) takes 1.99 times as long, on Zen 4 0.84 times. From 7 to 9.4 MB of
 * L3_BYTES and from 5.5 to 6 of MEMORY_SPEED, regrets by docs/figures are the same. Smaller weights of a single pass are
 * waited for likewise, unless the L2 cache keeps them: 256x10x10 to 64 channels by F(4,3) (2.4 MB) takes 1.2 times as long as by
 * F(2,3) warm and 2.5 times cold, 256x8x8 1.6 and 2.7 times (Emerald Rapids).
 *
 * Not built: weights that are transformed a panel ahead of their use, 1.8, 2.8 and 4 times fewer bytes from memory. Counted
 * for 512x7x7, for 16 filters, in ns, without calls and waits: on Zen 4 (3.7 GHz, 28 GB/s) F(2,3) multiplies for 69, reads
 * 1024 bytes meanwhile in 37, and would write 16 vectors for another 9. On Emerald Rapids (2.7 GHz, 18 GB/s) it multiplies
 * for 47 and reads in 57; with the transform, 35 operations on two ports, it would take 54 at the least, and F(3,3) 64. That
 * is at most 1.06 times as fast, and on Zen 4, or with warm caches, 1.1 times as slow. What is lost cold is that bytes are
 * waited for (100 ns in place of 57), and plain weights would have to be fetched ahead just the same.
 */
double sn_winograd_cycles(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const enum sn_winograd kind = (enum sn_winograd)c->algorithm->variant;
    const struct sn_winograd_size s = sn_winograd_size(kind);
    const double planes = (double)sn_winograd_planes(s), filters = (double)sn_winograd_filters(s), m = (double)s.blockY;
    const double tiles = (double)sn_winograd_tiles(p->dstH, s.blockY, p->dilationY) *
                         (double)sn_winograd_tiles(p->dstW, s.blockX, p->dilationX);
    const double width = width_of(c, sn_outputs(c)) * (double)p->group, inputs = (double)sn_inputs(c);
    const double products = WINOGRAD_PRODUCT * planes * tiles * width / 16 * (inputs + WINOGRAD_START);
    const double own = s.stride == 1 ? planes : (m + 1) * (m + 1);
    const double passes = ceil(tiles / (double)c->table->gemm.tile_32f.rows);
    const double first = products / passes * own / planes;
    const double bytes = 4 * filters * width * inputs, fetch = fetched(bytes) * own / filters;
    const double waited = bytes < L3_BYTES ? fmax(fetch, bytes / WAITED_SPEED * own / filters) : fetch;
    const double weighted = passes == 1 && bytes >= WAITED_BYTES ? first + waited : fmax(first, fetch);
    const bool row = s.kernelY == 1 || s.kernelX == 1;
    const double transform = kind == SN_WINOGRAD_4_3 ? TRANSFORM_4
                             : s.stride == 2         ? TRANSFORM_STRIDED
                             : row                   ? TRANSFORM_ROW
                                                     : TRANSFORM;
    const double transforms = planes * tiles * (vectors_of(c, p->srcC) + vectors_of(c, p->dstC)) * transform;
    return products - first + weighted + of_vectors(c, transforms) + both_converted(c) + WINOGRAD_CALL;
}

/* The cheapest variant that supports the shape, if it is cheap enough; NULL for none. */
static const struct sn_convolution_algorithm * cheapest_winograd(const struct sn_convolution * c)
{
    const struct sn_convolution_algorithm * best = NULL;
    struct sn_convolution trial = *c;
    double least = WINOGRAD_GAIN * direct_cycles(c);
    for (const struct sn_candidate * one = c->family->candidates; one->algorithm; ++one) {
        trial.algorithm = one->algorithm;
        if (one->cycles != sn_winograd_cycles || !trial.algorithm->supports(&trial))
            continue;
        const double cycles = sn_winograd_cycles(&trial);
        best = cycles < least ? one->algorithm : best;
        least = fmin(cycles, least);
    }
    return best;
}

bool sn_winograd_preferred(const struct sn_convolution * c) { return cheapest_winograd(c) == c->algorithm; }

/* ---- few outputs */

/*
 * Winograd's algorithm, which saves three of four multiplications, is faster for four or three outputs if there are enough
 * inputs to be worth the transforms, and if the image is a multiple of its tiles: 64 x 56 x 56 by 1.08.
 */
static bool is_for_winograd(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (p->dstC < 3 || p->srcC < 4 * sn_lanes(c) || p->dstH % (4 * p->dilationY) || p->dstW % (4 * p->dilationX))
        return false;
    const struct sn_convolution_algorithm * best = cheapest_winograd(c);
    return best && best->variant == SN_WINOGRAD_4_3;
}

/* The tile takes a cycle for each step of the sum and each vector of outputs; this algorithm takes a cycle for each vector
 * of steps and each output, where three outputs count as four. */
double sn_few_nhwc_cycles(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double outputs = p->dstC == 3 ? 4 : (double)p->dstC;
    const double vectors = p->dilationX == 1 ? (double)p->kernelY * vectors_of(c, p->kernelX * p->srcC)
                                             : taps_of(c) * vectors_of(c, p->srcC);
    return of_vectors(c, dst_pixels(c) * outputs * (vectors + LANES_ADDED));
}

bool sn_few_nhwc_preferred(const struct sn_convolution * c)
{
    const double tile = dst_pixels(c) * depth_of(c) * width_of(c, c->p.dstC) / 16;
    return !is_for_winograd(c) && sn_few_nhwc_cycles(c) < tile;
}

bool sn_few_nchw_preferred(const struct sn_convolution * c) { return !is_for_winograd(c); }

/* ---- direct NCHW, or by NHWC */

/*
 * Pixels are lanes in the NCHW algorithm: the 49 pixels of an image of 7 x 7 cost as much as 56. Gathering a panel costs
 * some cycles for each vector, more with several taps, and the time spent waiting for weights. With a stride, lines are
 * sorted into phases first: 791 to 13 channels of 26 x 26 by 3x3 with stride 4 took 4.6 times as long as by NHWC, 64 to 64 of
 * 112 x 112 1.5 times. The choice is right, or wrong by at most 3%, except for 3 inputs and 64 outputs of 224 x 224, where the
 * NCHW algorithm takes 1.2 times as long and is kept.
 */
double sn_nchw_cycles(const struct sn_convolution * c)
{
    const double vectors = width_of(c, c->p.dstH * c->p.dstW) / (double)sn_lanes(c), outputs = (double)c->p.dstC;
    const double groups = (double)c->p.group; /* each is gathered */
    const double step = taps_of(c) > 1 ? PLANES * outputs + GATHERED * groups : PLANES_1 * outputs + GATHERED_1 * groups;
    const double lines = c->p.strideX == 1 ? 0 : (double)(c->p.kernelY == 1 ? c->p.dstH : c->p.srcH);
    return of_vectors(c, vectors * depth_of(c) * step) + SORTED * (double)c->p.srcC * lines * line_copied(c);
}

double sn_converted_cycles(const struct sn_convolution * c)
{
    const double lanes = (double)sn_lanes(c);
    const double in = src_pixels(c) * (double)c->p.srcC / lanes, out = dst_pixels(c) * (double)c->p.dstC / lanes;
    const double width = width_of(c, sn_outputs(c)), vectors = width * (double)c->p.group / lanes;
    const double narrow = width == lanes ? PIXELS_NARROW : 1, of_group = PIXELS + PIXELS_SHORT / (double)sn_inputs(c);
    const double product = c->p.group == 1 ? PIXELS : narrow * of_group;
    return of_vectors(c, product * dst_pixels(c) * depth_of(c) * vectors + CONVERTED * (in + out));
}

bool sn_converted_preferred(const struct sn_convolution * c) { return sn_converted_cycles(c) < sn_nchw_cycles(c); }

/* ---- groups side by side in a vector, against the tile */

/* Whether blocks of several rows share inputs among taps, see kernels/grouped_nhwc_32f.c. */
static bool is_shared(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const bool plain = p->strideY == p->strideX && p->strideY <= 2 && p->dilationY == 1 && p->dilationX == 1;
    return p->kernelY == 3 && p->kernelX == 3 && (plain || (p->strideY == 1 && p->strideX == 1));
}

double sn_grouped_cycles(const struct sn_convolution * c)
{
    const bool single = sn_grouped_single(c);
    const double product = is_shared(c) ? single ? GROUPED_SINGLE : GROUPED : single ? GROUPED_SINGLE_ANY : GROUPED_ANY;
    const double in = src_pixels(c) * vectors_of(c, c->p.srcC), out = dst_pixels(c) * vectors_of(c, c->p.dstC);
    const double moved = is_nchw(c) ? CONVERTED * (in + out) : 0;
    return of_vectors(c, dst_pixels(c) * depth_of(c) * (double)sn_grouped_vectors(c) * product + moved);
}

/* Groups of several vectors are left to the tile, whose multiply-adds of two vectors share inputs: 0.8 to 0.93 of the time.
 */
bool sn_grouped_preferred(const struct sn_convolution * c)
{
    if (is_nchw(c))
        return sn_grouped_cycles(c) < fmin(sn_nchw_cycles(c), sn_converted_cycles(c));
    const double vectors = (double)c->p.group * vectors_of(c, sn_outputs(c)), inputs = (double)sn_inputs(c);
    const double tile = dst_pixels(c) * depth_of(c) * vectors * (TILE_OF_GROUP + TILE_SHORT / inputs);
    return sn_outputs(c) <= sn_lanes(c) && sn_grouped_cycles(c) < of_vectors(c, tile);
}

/* ---- depthwise */

bool sn_pixels_share_sets(const struct sn_convolution * c)
{
    return sn_share_sets(c->p.srcC * sizeof(float), SN_TWO_SETS);
}

/*
 * If pixels are a multiple of 2 KB apart, the inputs of a block map to the same few sets of the L1 cache and evict each
 * other; with vectors of half a cache line, or less, they are fetched again for the other half. Then slices of channels are
 * copied side by side: up to 1.8 times as fast with vectors of 8 floats (1024x7x7). With vectors as long as a cache line, or
 * pixels 1 KB apart, it took up to 1.3 times as long.
 */
bool sn_sliced_preferred(const struct sn_convolution * c)
{
    return sn_pixels_share_sets(c) && sn_lanes(c) * sizeof(float) < SN_ALIGN;
}

/* The cycles of 16 products in planes: the kernel has instances for some kernels, where rows share inputs. */
static double planes_product(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const size_t taps = p->kernelY == p->kernelX && p->strideY == 1 ? p->kernelY : 0;
    return taps == 2 || taps == 3 || (taps == 5 && sn_lanes(c) == 16) ? DEPTHWISE_PLANES : DEPTHWISE_ANY;
}

/* The same by NHWC, see the instances of kernels/depthwise_nhwc.h. */
static double pixels_product(const struct sn_convolution_parameters * p)
{
    const bool small = p->kernelY == p->kernelX && (p->kernelX == 3 || p->kernelX == 5) && p->strideX == 2;
    if (p->dilationX > 1 || p->dstW < 4 || (p->strideX > 1 && !small))
        return DEPTHWISE_PIXELS_ANY;
    return p->kernelX == 1 ? DEPTHWISE_COLUMN : DEPTHWISE_PIXELS;
}

/*
 * The direct algorithm computes some pixels of each row twice, and copies every line first unless the image needs no padding;
 * a stride sorts pixels into phases. So small images, strides and kernels of many taps are converted: 960x7x7 by 3x3 takes
 * 0.6 of the time, 128x56x56 by 5x5 0.55, 512x14x14 with stride 2 0.35. Dilated kernels and single taps are not: 420x38x16
 * with dilation 2 takes 0.77, by 1x1 0.5. With AVX2 the choice of these two is right with warm caches on 24 layers but one:
 * 420x38x16 by 1x3 takes 1.16 times as long.
 */
double sn_depthwise_nchw_cycles(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double floats = of_vectors(c, vectors_of(c, p->dstW)); /* in units of 16 */
    const double copied = sn_depthwise_copied(c) ? (double)p->srcH * line_copied(c) : 0;
    return (double)p->dstC * ((double)p->dstH * planes_product(c) * floats * taps_of(c) + copied + DEPTHWISE_PLANE);
}

double sn_depthwise_converted_cycles(const struct sn_convolution * c)
{
    const double moved = DEPTHWISE_CONVERTED * (src_pixels(c) + dst_pixels(c));
    const double pixels = pixels_product(&c->p) * dst_pixels(c) * taps_of(c) + moved;
    return vectors_of(c, c->p.dstC) * (of_vectors(c, pixels) + DEPTHWISE_ROW * (double)c->p.dstH + DEPTHWISE_CALL);
}

bool sn_depthwise_converted_preferred(const struct sn_convolution * c)
{
    return sn_depthwise_converted_cycles(c) < sn_depthwise_nchw_cycles(c);
}

/* In place. Vectors with inputs outside of the plane are fast only with one column of padding, see the kernel. */
double sn_depthwise_planes_cycles(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    const double vectors = vectors_of(c, p->dstW), edges = fmin(vectors, 2);
    const bool common = p->dstW > sn_lanes(c) && p->padX <= 1 && p->padW <= 1;
    const double row = PLANES_VECTOR * vectors + (common ? 0 : PLANES_EDGE * edges);
    const double rows = of_vectors(c, row) + PLANES_ROWS * fmin(vectors, 3);
    return (double)p->dstC * ((double)sn_ceil_div(p->dstH, 4) * rows + PLANES_CHANNEL);
}

bool sn_depthwise_planes_preferred(const struct sn_convolution * c)
{
    return sn_depthwise_planes_cycles(c) < fmin(sn_depthwise_converted_cycles(c), sn_depthwise_nchw_cycles(c));
}

/* ---- deconvolution, NCHW: costs with pixels as lanes, and with channels as lanes and conversions */

/* Vector cycles for one output of a phase to cycles for all. */
static double of_phases(const struct sn_convolution * c, double cycles)
{
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    return cycles * (double)(y->number * x->number) * (double)(y->count * x->count) / 16;
}

static double phases_depth(const struct sn_convolution * c)
{
    return depth_of(c) / (double)(sn_phases_y(c)->number * sn_phases_x(c)->number);
}

double sn_phases_nchw_cycles(const struct sn_convolution * c)
{
    const size_t pixels = sn_phases_y(c)->count * sn_phases_x(c)->count;
    const double used = vectors_of(c, pixels) * (double)sn_lanes(c) / (double)pixels, outputs = (double)c->p.dstC;
    const double gathered = PHASES_GATHERED * (double)c->p.group / (double)sn_phases_alike(sn_phases_x(c), 0);
    return of_phases(c, used * (phases_depth(c) * (PHASES_PLANES * outputs + gathered) + PHASES_WRITTEN * outputs));
}

double sn_phases_nhwc_cycles(const struct sn_convolution * c)
{
    const size_t alike = c->p.group == 1 ? sn_phases_alike(sn_phases_x(c), 0) : 1;
    const size_t width = sn_panels_width(&c->table->gemm.tile_32f, alike * sn_outputs(c));
    const double columns = (double)width / (double)alike * (width == sn_lanes(c) ? PHASES_NARROW : 1);
    return of_phases(c, PHASES_PIXELS * phases_depth(c) * columns * (double)c->p.group);
}

double sn_phases_converted_cycles(const struct sn_convolution * c)
{
    const double phases = (double)(sn_phases_y(c)->number * sn_phases_x(c)->number);
    return sn_phases_nhwc_cycles(c) + of_phases(c, PHASES_CONVERTED * ((double)c->p.dstC + (double)c->p.srcC / phases));
}

static bool may_convert(const struct sn_convolution * c)
{
    const bool fits = (double)(sn_phases_y(c)->number * c->p.dstW) * (double)c->p.dstC <= PHASES_ROW;
    return is_nchw(c) && c->p.group == 1 && fits;
}

bool sn_phases_converted_preferred(const struct sn_convolution * c)
{
    return may_convert(c) && sn_phases_converted_cycles(c) < sn_phases_nchw_cycles(c);
}

/* ---- deconvolution by products of all taps, of the pixels of the image; against phases */

double sn_col2im_cycles(const struct sn_convolution * c)
{
    const double vectors = width_of(c, c->p.srcH * c->p.srcW) / (double)sn_lanes(c), products = taps_of(c) * (double)c->p.dstC;
    const double product = COL2IM_PRODUCT * (double)sn_inputs(c) + COL2IM_ADDED;
    const double rows = (double)c->p.dstH, results = rows * vectors_of(c, c->p.dstW) * (double)c->p.dstC;
    const double written = (COL2IM_WRITTEN + (is_nchw(c) ? 0 : COL2IM_CHANNELS)) * results;
    return of_vectors(c, vectors * (products * product + COL2IM_PACKED * (double)c->p.srcC) + written) + COL2IM_ROW * rows;
}

bool sn_col2im_preferred(const struct sn_convolution * c)
{
    const double pixels = is_nchw(c) ? sn_phases_nchw_cycles(c) : sn_phases_nhwc_cycles(c);
    return sn_col2im_cycles(c) < (may_convert(c) ? fmin(pixels, sn_phases_converted_cycles(c)) : pixels);
}

/* ---- depthwise deconvolution, NCHW */

double sn_phases_depthwise_nchw_cycles(const struct sn_convolution * c)
{
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    const double phases = (double)(y->number * x->number), rows = (double)(y->number * y->count);
    const double vectors = (double)x->number * vectors_of(c, x->count), taps = taps_of(c) / phases;
    const bool zipped = x->number == 2 || x->number == 4;
    const double interleaved = zipped ? 0 : INTERLEAVED_ROW + INTERLEAVED * vectors_of(c, c->p.dstW);
    const double row = vectors * (PHASE_VECTOR + taps) + interleaved;
    return (double)c->p.dstC * (DEPTHWISE_PLANE + PHASE_CALL * phases + rows * row);
}

double sn_phases_depthwise_converted_cycles(const struct sn_convolution * c)
{
    const double phases = (double)(sn_phases_y(c)->number * sn_phases_x(c)->number);
    const double moved = DEPTHWISE_CONVERTED * (src_pixels(c) + dst_pixels(c));
    const double products = DEPTHWISE_PIXELS_ANY * dst_pixels(c) * taps_of(c) / phases;
    const double calls = phases * (DEPTHWISE_CALL + DEPTHWISE_ROW * (double)sn_phases_y(c)->count);
    return vectors_of(c, c->p.dstC) * of_vectors(c, moved + products) +
           (double)sn_ceil_div(c->p.dstC, sn_phases_depthwise_channels(c)) * calls;
}

/*
 * Planes of few pixels, and phases in x that planes are not zipped to, are converted: 1883x1x1 by 2x2 takes 0.03 of the time,
 * 896x4x4 0.3, 112x8x8 by 3x3 with stride 3 0.4 (AVX2).
 */
bool sn_phases_depthwise_converted_preferred(const struct sn_convolution * c)
{
    return sn_phases_depthwise_converted_cycles(c) < PHASES_GAIN * sn_phases_depthwise_nchw_cycles(c);
}

/* ---- other choices */

/* Rows are divided into tiles once more at the sides, which costs about as much as the outputs computed there. */
bool sn_only_edges_preferred(const struct sn_convolution * c, size_t sides)
{
    const double products = depth_of(c) * (double)sn_ceil_div(c->p.dstC, 16);
    return (double)sides * (double)c->p.dstH * products < COPIED * (double)(c->srcSize / sizeof(float));
}

bool sn_weights_exceed_l2(const struct sn_convolution * c) { return c->weightSize > L2_WEIGHTS; }

/* ---- times: rough values suffice, see ops/units.h. With one thread they are not used, and not computed, which would slow
 * down small layers. */

/* The time of a number of products, and of moving `moved` floats for each image. */
static double time_of(const struct sn_convolution * c, double products, double moved)
{
    return (double)c->batch * (sn_cost_of_sums(products, c->table->alignment) + sn_cost_of_bytes(moved));
}

static double elements(size_t size, enum sn_data type) { return (double)(size / sn_element(type)); }

double sn_convolution_32f_time(const struct sn_convolution * c)
{
    if (sn_threads() == 1)
        return 0;
    return time_of(c, elements(c->dstSize, SN_DATA_32F) * depth_of(c), (double)c->srcSize + (double)c->dstSize);
}

double sn_convolution_dot_time(const struct sn_convolution * c)
{
    const double outputs = elements(c->dstSize, c->p.dstT);
    return time_of(c, outputs * depth_of(c) / 2, 4 * outputs + 8 * (double)c->srcSize);
}

double sn_deconvolution_32f_time(const struct sn_convolution * c)
{
    const double taps = taps_of(c) * (double)sn_outputs(c);
    return time_of(c, elements(c->srcSize, SN_DATA_32F) * taps, (double)c->srcSize + (double)c->dstSize);
}
