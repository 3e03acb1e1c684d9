/*
 * Inner products of M rows of bfloat16 numbers: convolutions in NHWC of M pixels, K channels to N, with a kernel of one pixel,
 * by the tile. A kernel packs B from either order, rounded if it has floats.
 *
 * A B that is not constant is packed in each call, into the workspace, panel by panel on several threads.
 */
#include "ops/inner_product_16b.h"

#include <string.h>

#include "ops/units.h"
#include "runtime/threads.h"

static bool any(const struct sn_convolution * c)
{
    (void)c;
    return true;
}

/* Whether SetParams with the same arguments would set the same numbers. */
static bool alike(const struct sn_convolution * c, const struct sn_convolution * from)
{
    return sn_dot_alike(c, from) && sn_inner_product_data_of(c)->bias == sn_inner_product_data_of(from)->bias;
}

/* ---- `base` */

/* K rows of N floats with the values of the numbers of B. */
static void unpack(const struct sn_convolution * c, const void * B, bool floats, sn_32f * to)
{
    const size_t N = c->p.dstC, K = c->p.srcC;
    for (size_t k = 0; k < K; ++k)
        for (size_t j = 0; j < N; ++j) {
            const size_t from = sn_dot_of(c)->transposed ? j * K + k : k * N + j;
            const uint16_t number = floats ? sn_32f_to_16b(((const sn_32f *)B)[from]) : ((const sn_16b *)B)[from];
            to[k * N + j] = sn_16b_to_32f(number);
        }
}

static void pack_base(const struct sn_convolution * c, const void * weight) { unpack(c, weight, true, sn_weights(c)); }
static bool plan_base(struct sn_convolution * c) { return sn_convolution_16b_base.plan(c); }
static void forward_base(const struct sn_convolution * c, const struct sn_arrays * a) { sn_convolution_16b_base.forward(c, a); }

static const struct sn_convolution_algorithm base = {.name = "base", .plain = true,
    .supports = sn_dot_base_supports, .plan = plan_base, .pack = pack_base, .alike = alike, .forward = forward_base};

/* ---- packed panels of B */

struct job {
    const struct sn_convolution * c;
    const void * B;
    bool floats;
    uint8_t * packed;
};

/* Units are panels. */
static void pack_panels(const void * argument, void * work, size_t begin, size_t end)
{
    const struct job * job = argument;
    const struct sn_convolution * c = job->c;
    const struct sn_dot_tile * tile = sn_dot_of(c)->tile;
    const bool transposed = sn_dot_of(c)->transposed;
    const size_t N = c->p.dstC, K = c->p.srcC, number = job->floats ? sizeof(sn_32f) : sizeof(sn_16b);
    (void)work;
    for (size_t i = begin; i < end; ++i) {
        const size_t first = i * tile->columns, columns = sn_min(tile->columns, N - first);
        c->table->convolution_16b.panel(&(struct sn_panel_16b){.floats = job->floats, .transposed = transposed,
            .b = (const uint8_t *)job->B + first * (transposed ? K : 1) * number, .step = transposed ? K : N, .depth = K,
            .columns = columns, .width = sn_ceil_div(columns, tile->granule) * tile->granule,
            .panel = job->packed + first * sn_ceil_div(K, 2) * 4});
    }
}

static size_t panels(const struct sn_convolution * c) { return sn_ceil_div(c->p.dstC, sn_dot_of(c)->tile->columns); }

static void pack(const struct sn_convolution * c, const void * weight)
{
    pack_panels(&(struct job){c, weight, true, c->weight}, NULL, 0, panels(c));
}

static bool plan(struct sn_convolution * c) { return sn_convolution_dot_tiled.plan(c); }
static void offsets(const struct sn_convolution * c) { sn_convolution_dot_tiled.offsets(c); }
static void forward(const struct sn_convolution * c, const struct sn_arrays * a) { sn_convolution_dot_tiled.forward(c, a); }

static const struct sn_convolution_algorithm packed = {.name = "packed", .tiled = true, .supports = any, .plan = plan,
    .offsets = offsets, .pack = pack, .alike = alike, .forward = forward};

static const struct sn_candidate packed_candidates[] = {{SN_ALGORITHMS(&base), NULL}, {SN_ALGORITHMS(&packed), NULL}, {NULL, NULL}};

#define PACKED(buffer, name, by)                                                                                            \
    {.candidates = packed_candidates, .smallType = SN_DATA_16B, .unit = buffer, .units = name, .align = SN_ALIGN,            \
     .prefix = by, .inputs = "K", .outputs = "N", .tile = sn_tile_16b, .simplify = sn_convolution_simplify,                 \
     .prepare = sn_convolution_16b_prepare, .set_params = sn_convolution_16b_set_params}
const struct sn_convolution_family sn_inner_product_16b_packed = PACKED(1, "bytes", "");
const struct sn_convolution_family sn_inner_product_32f_rounded = PACKED(sizeof(float), "floats", "by bfloat16, ");

/* ---- B of each call: the workspace begins with it, packed */

/* B is no weight of the plan. */
static bool plan_given(struct sn_convolution * c)
{
    struct sn_inner_product_16b * data = (void *)c->familyData;
    if (!(sn_dot_base_supports(c) ? plan_base : plan)(c))
        return false;
    data->packed = sn_align(c->weightSize, SN_ALIGN);
    c->weightSize = 0;
    return sn_product(&c->workSize, 1, c->workSize + data->packed);
}

void sn_inner_product_16b_given_b(const struct sn_convolution * c, const void * B, const struct sn_arrays * a)
{
    const size_t size = sn_inner_product_16b_of(c)->packed, K = c->p.srcC;
    const struct job job = {c, B, sn_inner_product_16b_of(c)->floats, a->work};
    struct sn_convolution with = *c;
    struct sn_arrays rest = *a;
    size_t offset = 0; /* of the only segment, unless sums are empty */
    with.weight = a->work;
    with.workSize -= size;
    with.segment = &offset;
    with.segments = K > 0;
    rest.work = (uint8_t *)a->work + size;
    if (sn_dot_base_supports(c)) {
        unpack(c, B, job.floats, a->work);
        forward_base(&with, &rest);
        return;
    }
    if (K > 0)
        sn_parallel_for(&(struct sn_parallel){.run = pack_panels, .job = &job, .units = panels(c), .least = 1,
            .cost = sn_cost_of_bytes(6 * (double)c->p.dstC * (double)K)});
    forward(&with, &rest);
}

static const struct sn_convolution_algorithm base_given = {.name = "base", .supports = sn_dot_base_supports,
    .plan = plan_given, .alike = alike};
static const struct sn_convolution_algorithm given = {.name = "matrix product", .tiled = true, .supports = any,
    .plan = plan_given, .alike = alike};

static const struct sn_candidate given_candidates[] = {{SN_ALGORITHMS(&base_given), NULL}, {SN_ALGORITHMS(&given), NULL},
                                                       {NULL, NULL}};

const struct sn_convolution_family sn_inner_product_16b_given = {.candidates = given_candidates, .smallType = SN_DATA_16B,
    .unit = 1, .units = "bytes", .align = SN_ALIGN, .prefix = "", .inputs = "K", .outputs = "N", .tile = sn_tile_16b,
    .simplify = sn_convolution_simplify, .prepare = sn_convolution_16b_prepare, .set_params = sn_convolution_16b_set_params};
