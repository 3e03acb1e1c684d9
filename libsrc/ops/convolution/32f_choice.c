/*
 * Which algorithm computes a convolution of floats: the candidates in their order, each with a condition where its cost model cannot
 * be compared with those of the others, because they were fitted on different layers. Also `base`, the algorithm that is none.
 */
#include "ops/convolution/32f.h"

#include <math.h>
#include <string.h>

#include "ops/convolution/32f_nhwc.h"
#include "ops/convolution/cost.h"
#include "ops/convolution/depthwise_rows.h"

/* ---- `base`: the loops of the formula, with weights and parameters in the caller's layout */

bool sn_base_supports(const struct sn_convolution * c) { return !c->table->gemm.tile_32f.run; }

bool sn_base_plan(struct sn_convolution * c)
{
    sn_channels_plain(c);
    return sn_floats(&c->weightSize, sn_weight_count(c));
}

void sn_base_pack(const struct sn_convolution * c, const void * weight) { memcpy(c->weight, weight, c->weightSize); }

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    for (size_t b = 0; b < c->batch; ++b) {
        const struct sn_plain image = sn_plain_of(a, b);
        c->table->convolution_32f.plain(&c->p, c->weight, c->bias, c->slope ? c->slope : c->param, &image);
    }
}

const struct sn_convolution_algorithm sn_convolution_32f_base = {.name = "base", .plain = true, .supports = sn_base_supports,
    .plan = sn_base_plan, .pack = sn_base_pack, .forward = forward};

/* ---- the candidates, and comparisons of those whose models were fitted apart from each other */

static const struct sn_convolution_algorithm * const winograd[] = {&sn_convolution_32f_winograd_2,
    &sn_convolution_32f_winograd_3, &sn_convolution_32f_winograd_4, &sn_convolution_32f_winograd_strided_2,
    &sn_convolution_32f_winograd_strided_4, &sn_convolution_32f_winograd_row_3, &sn_convolution_32f_winograd_row_6_3,
    &sn_convolution_32f_winograd_row_5, &sn_convolution_32f_winograd_column_3, &sn_convolution_32f_winograd_column_6_3,
    &sn_convolution_32f_winograd_column_5, &sn_convolution_32f_winograd_row_7, &sn_convolution_32f_winograd_column_7,
    &sn_convolution_32f_winograd_5, NULL};

static const struct sn_convolution_algorithm * const direct[] = {&sn_convolution_32f_nhwc, &sn_convolution_32f_nchw,
    &sn_convolution_32f_converted, NULL};

static double cost_of(const struct sn_convolution * c) { return c->algorithm->cost(c); }

/*
 * If pixels are a multiple of 2 KB apart, the inputs of a block map to the same few sets of the L1 cache and evict each
 * other; with vectors of half a cache line, or less, they are fetched again for the other half. Then slices of channels are
 * copied side by side: up to 1.8 times as fast with vectors of 8 floats (1024x7x7). With vectors as long as a cache line, or
 * pixels 1 KB apart, it took up to 1.3 times as long. Images beyond the caches, whose lines are fetched ahead, take 0.25 to
 * 0.65 of the time in place (512x160x160 by 2x2, 512x112x112 by 3x3).
 */
static bool sliced_preferred(const struct sn_convolution * c)
{
    return sn_pixels_share_sets(c) && !sn_depthwise_in_order(c) && sn_lanes(c) * sizeof(float) < SN_ALIGN;
}

/* Products of direct NCHW, on 3x3 layers: cycles of 16, with gathered pixels as columns. */
static const double GATHERED_PRODUCT = 10.3 / 9;

/*
 * The cost of the direct algorithm as the alternative: in NCHW, columns may be pixels, which are gathered. This is not the
 * cost by which direct NCHW and its conversion are compared, which is higher for few outputs and for conversions: with that
 * one no layer of tests/bench/convolutions.txt changes, but 4% of other 3x3 layers in NCHW do, mostly to Winograd's
 * algorithm. Of 40 of these on avx512, 14 became slower with warm caches, by up to 1.25, and 29 with cold ones, by 1.14 on
 * average and up to 2.7.
 */
static double direct_cost(const struct sn_convolution * c)
{
    const double columns = sn_tile_width(c, c->p.dstH * c->p.dstW);
    const double gathered = GATHERED_PRODUCT / 16 * columns * (double)c->p.dstC * sn_depth(c);
    const double products = sn_direct_nhwc_products(c) + sn_both_converted(c);
    return fmax(c->p.srcF == SN_NCHW ? fmin(gathered, products) : products, sn_weights_fetched(c));
}

/* Products of bfloat16 numbers are for other layers, see rounded.h. */
static bool prefers_speed(const struct sn_convolution * c)
{
    return c->preference == SN_PREFER_SPEED || c->preference == SN_PREFER_BFLOAT16;
}

/* Winograd's algorithm is used if its cost is less than this part of the direct cost. */
static const double WINOGRAD_GAIN = 0.95;

/*
 * Its sums are 8 to 20 times less exact than direct ones, a NaN reaches all outputs of its tile, and its packed weights take 1.3
 * to 4 times the room of the caller's: it is for those who prefer speed.
 */
static bool winograd_preferred(const struct sn_convolution * c)
{
    return prefers_speed(c) && cost_of(c) < WINOGRAD_GAIN * direct_cost(c);
}

static const struct sn_convolution_algorithm * const grouped[] = {&sn_convolution_32f_grouped_nhwc,
    &sn_convolution_32f_grouped_nchw, NULL};

/* Vector cycles of a product by the tile, where sums are short: the last is divided by the inputs of a group. */
static const double TILE_OF_GROUP = 1.1, TILE_SHORT = 1.4;

static double tile_of_groups(const struct sn_convolution * c)
{
    const double vectors = (double)c->p.group * sn_vectors(c, sn_outputs(c)), inputs = (double)sn_inputs(c);
    return sn_of_vectors(c, sn_dst_pixels(c) * sn_depth(c) * vectors * (TILE_OF_GROUP + TILE_SHORT / inputs));
}

/* Groups that are few leave lanes of a vector of sums unused, see 32f_few_grouped.c, and are computed one by one: 64x40x40 to 4 by
 * 3x3 in 2 groups takes 0.31 of the time (avx2 0.55). Groups that fill it would take up to 1.25 times as long (Xeon with AMX). */
static const double ONE_BY_ONE_GAIN = 0.78;

static bool one_by_one_preferred(const struct sn_convolution * c)
{
    const struct sn_convolution_algorithm * lanes = sn_convolution_cheapest(c, grouped);
    return cost_of(c) < tile_of_groups(c) && (!lanes || cost_of(c) < sn_convolution_cost(c, lanes)) &&
           cost_of(c) < ONE_BY_ONE_GAIN * sn_convolution_cost(c, &sn_convolution_32f_few_grouped);
}

/*
 * Winograd's algorithm, which saves three of four multiplications, is faster for four or three outputs with vectors of less than 16,
 * if there are enough inputs to be worth the transforms, and if the image is a multiple of its tiles: 64 x 56 x 56 by 1.08. With
 * vectors of 16 few outputs take 0.54 to 0.74 of its time in NHWC, and 0.68 to 1.03 in NCHW (Xeon with AMX).
 */
static bool is_for_winograd(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    if (!prefers_speed(c) || p->dstC < 3 || p->srcC < 4 * sn_lanes(c) || sn_lanes(c) == 16 || p->dstH % (4 * p->dilationY) ||
        p->dstW % (4 * p->dilationX))
        return false;
    const struct sn_convolution_algorithm * best = sn_convolution_cheapest(c, winograd);
    return best && best->variant == SN_WINOGRAD_4_3 && sn_convolution_cost(c, best) < WINOGRAD_GAIN * direct_cost(c);
}

/* Whether Winograd's algorithm would be chosen, of those in its candidates. */
static bool is_better_by_winograd(const struct sn_convolution * c)
{
    const struct sn_convolution_algorithm * best = prefers_speed(c) ? sn_convolution_cheapest(c, winograd) : NULL;
    return best && sn_convolution_cost(c, best) < WINOGRAD_GAIN * direct_cost(c);
}

/* The tile takes a cycle for each step of the sum and each vector of outputs, if sums are not short. */
static bool few_nhwc_preferred(const struct sn_convolution * c)
{
    if (sn_few_nhwc_is_short(c))
        return true;
    if (sn_few_nhwc_is_in_parts(c))
        return !is_better_by_winograd(c);
    if (c->p.group > 1)
        return one_by_one_preferred(c);
    const double tile = sn_dst_pixels(c) * sn_depth(c) * sn_tile_width(c, c->p.dstC) / 16;
    return !is_for_winograd(c) && cost_of(c) < tile;
}

/* The models of the direct algorithms were fitted to large layers, of which small ones take 1.2 to 1.6 times as long. */
static const double DIRECT_SMALL = 1.3;

/*
 * The same for more outputs than HALF_VECTOR, less a margin: these take 1.05 to 1.2 times as long as their models say with
 * 64 inputs, up to 2 with 3 (Xeon with AMX).
 */
enum { HALF_VECTOR = 8 };
static const double DIRECT_LONG = 1.02, DIRECT_OF_INPUT = 0.9;

/* Whether Winograd's algorithm, or the one of groups side by side, would be chosen and costs less. */
static bool others_cost_less(const struct sn_convolution * c)
{
    const struct sn_convolution_algorithm * best = sn_convolution_cheapest(c, winograd);
    const double least = best && prefers_speed(c) ? sn_convolution_cost(c, best) : INFINITY;
    if (least < WINOGRAD_GAIN * direct_cost(c) && least < cost_of(c))
        return true;
    const struct sn_convolution_algorithm * lanes = sn_convolution_cheapest(c, grouped);
    return lanes && sn_convolution_cost(c, lanes) < cost_of(c);
}

/*
 * For short sums of 1x1 results count as well, in vector cycles of each. 69 layers of 2 to 32 inputs take 0.87 of the time with
 * vectors of 16 and 0.91 with vectors of 8, the worst 1.19; with vectors of 4 1.02, and layers of 64 to 512 inputs up to 1.3 with
 * planes of 52x52 (Xeon with AMX).
 */
enum { SHORT_SUM = 32 };
static const double DIRECT_SHORT = 1.25, DIRECT_RESULT = 24;

static bool is_short_sum(const struct sn_convolution * c)
{
    return sn_taps(c) == 1 && sn_inputs(c) <= SHORT_SUM && c->p.strideY == 1 && c->p.strideX == 1 &&
           sn_lanes(c) >= HALF_VECTOR;
}

static bool few_nchw_preferred(const struct sn_convolution * c)
{
    const double least = sn_convolution_cost(c, sn_convolution_cheapest(c, direct));
    if (is_short_sum(c)) {
        const double results = sn_vectors(c, c->p.dstH * c->p.dstW) * (double)c->p.dstC;
        return cost_of(c) < DIRECT_SHORT * least + sn_of_vectors(c, DIRECT_RESULT * results) && !others_cost_less(c);
    }
    if (sn_outputs(c) <= HALF_VECTOR)
        return !is_for_winograd(c) && cost_of(c) < DIRECT_SMALL * least;
    const double factor = DIRECT_LONG + DIRECT_OF_INPUT / (double)sn_inputs(c);
    return cost_of(c) < factor * least && !others_cost_less(c);
}

static bool few_grouped_preferred(const struct sn_convolution * c)
{
    const struct sn_convolution_algorithm * lanes = sn_convolution_cheapest(c, grouped);
    return cost_of(c) < tile_of_groups(c) && (!lanes || cost_of(c) < sn_convolution_cost(c, lanes));
}

/*
 * Winograd's algorithm for groups of a vector: its model is 0.38 to 0.45 of the time, that of groups side by side 0.65 to 0.75.
 * 64x28x28 by 3x3 in 4 groups takes 0.59 of the time, 64x56x56 0.64, 32x23x23 in 2 0.58; 128x14x14 in 8, which is left out, 0.88, but
 * 1.35 with cold caches (AVX-512, Xeon with AMX).
 */
static const double WINOGRAD_OF_GROUPS = 0.45;

static bool winograd_of_groups(const struct sn_convolution * c)
{
    const struct sn_convolution_algorithm * best = prefers_speed(c) ? sn_convolution_cheapest(c, winograd) : NULL;
    return best && sn_convolution_cost(c, best) < WINOGRAD_OF_GROUPS * cost_of(c);
}

/* Groups of several vectors are left to the tile, whose multiply-adds of two vectors share inputs: 0.8 to 0.93 of the time. */
static bool grouped_preferred(const struct sn_convolution * c)
{
    if (winograd_of_groups(c))
        return false;
    if (c->p.srcF == SN_NCHW)
        return cost_of(c) < sn_convolution_cost(c, sn_convolution_cheapest(c, direct));
    return sn_outputs(c) <= sn_lanes(c) && cost_of(c) < tile_of_groups(c);
}

static bool one_input_preferred(const struct sn_convolution * c) { return cost_of(c) < sn_one_input_direct(c); }

/* ---- the family */

struct sn_tile_shape sn_tile_32f(const struct sn_table * table)
{
    return (struct sn_tile_shape){table->gemm.tile_32f.rows, table->gemm.tile_32f.columns};
}

const void * sn_convolution_32f_set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                                           struct sn_fault * fault)
{
    (void)scratch, (void)fault;
    sn_convolution_scatter(c, given->bias, c->bias);
    return given->weight;
}

const struct sn_candidate sn_convolution_32f_candidates[] = {
    {SN_ALGORITHMS(&sn_convolution_32f_base), NULL},
    {SN_ALGORITHMS(&sn_convolution_32f_depthwise_flat), NULL},
    {SN_ALGORITHMS(&sn_convolution_32f_depthwise_sliced), sliced_preferred},
    {SN_ALGORITHMS(&sn_convolution_32f_depthwise_nhwc), NULL},
    {SN_ALGORITHMS(&sn_convolution_32f_depthwise_nchw, &sn_convolution_32f_depthwise_converted,
                   &sn_convolution_32f_depthwise_planes), NULL},
    {SN_ALGORITHMS(&sn_convolution_32f_few_nhwc), few_nhwc_preferred},
    {SN_ALGORITHMS(&sn_convolution_32f_few_nchw, &sn_convolution_32f_few_converted), few_nchw_preferred},
    {SN_ALGORITHMS(&sn_convolution_32f_few_grouped), few_grouped_preferred},
    {grouped, grouped_preferred},
    {winograd, winograd_preferred},
    {SN_ALGORITHMS(&sn_convolution_32f_one_input), one_input_preferred},
    {direct, NULL},
    {NULL, NULL},
};

static void simplify(struct sn_convolution * c)
{
    sn_convolution_crop(c);
    sn_convolution_plane(c);
}

const struct sn_convolution_family sn_convolution_32f = {.candidates = sn_convolution_32f_candidates,
    .smallType = SN_DATA_32F, .joins = true, .unit = sizeof(float), .units = "floats", .align = sizeof(float), .prefix = "",
    .tile = sn_tile_32f, .simplify = simplify, .set_params = sn_convolution_32f_set_params};
