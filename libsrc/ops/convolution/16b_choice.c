/* Which algorithm computes a convolution of bfloat16 numbers; `base`; and what the others share. */
#include "ops/convolution/16b.h"

#include <string.h>

/* ---- `base`: the loops of the formula, with weights and parameters in the caller's layout */

static bool plan(struct sn_convolution * c)
{
    sn_channels_plain(c);
    return sn_floats(&c->weightSize, sn_weight_count(c));
}

static void pack(const struct sn_convolution * c, const void * weight)
{
    for (size_t i = 0; i < sn_weight_count(c); ++i)
        sn_weights(c)[i] = sn_16b_weight(c, ((const sn_32f *)weight)[i]);
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    for (size_t b = 0; b < c->batch; ++b) {
        const struct sn_plain image = sn_plain_of(a, b);
        c->table->convolution_16b.plain(&c->p, sn_dot_of(c)->exact, c->weight, c->bias, c->slope ? c->slope : c->param, &image);
    }
}

const struct sn_convolution_algorithm sn_convolution_16b_base = {.name = "base", .plain = true,
    .supports = sn_dot_base_supports, .plan = plan, .pack = pack, .forward = forward};

/* ---- the family */

static void result(const struct sn_convolution * c, size_t first, union sn_dot_result * to)
{
    to->as_16b = (struct sn_result_16b){.narrow = c->p.dstT == SN_DATA_16B, .activation = sn_activation_of(c),
        .slope = c->slope ? c->slope + first : NULL, .param = {c->param[0], c->param[1]}};
}

struct sn_tile_shape sn_tile_16b(const struct sn_table * table)
{
    return (struct sn_tile_shape){table->convolution_16b.tile.rows, table->convolution_16b.tile.columns};
}

enum sn_error_kind sn_convolution_16b_prepare(struct sn_convolution * c)
{
    const struct sn_convolution_16b_slots * slots = &c->table->convolution_16b;
    struct sn_dot_family * dot = (void *)c->familyData;
    *dot = (struct sn_dot_family){.tile = &slots->tile, .pixels = slots->pixels, .planes = slots->planes, .spaced = true,
        .exact = c->family == &sn_convolution_16b && c->format == SN_NHWC && c->p.group > 1 && sn_is_depthwise(c),
        .rounded = true, .result = result};
    return SN_ERROR_NONE;
}

static enum sn_error_kind prepare(struct sn_convolution * c)
{
    return sn_16b_use_floats(c) ? SN_ERROR_NONE : sn_convolution_16b_prepare(c);
}

static bool are_rounded(const sn_32f * weight, size_t count)
{
    uint32_t all = 0, bits;
    for (size_t i = 0; i < count; ++i, all |= bits)
        memcpy(&bits, weight + i, sizeof(bits));
    return !(all & 0xFFFF);
}

/* The weights stay floats, which pack() rounds. */
const void * sn_convolution_16b_set_params(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                                           struct sn_fault * fault)
{
    struct sn_dot_family * dot = (void *)c->familyData;
    (void)scratch, (void)fault;
    dot->rounded = !dot->exact || are_rounded(given->weight, sn_weight_count(c));
    sn_convolution_scatter(c, given->bias, c->bias);
    return given->weight;
}

static void numbers_of(const struct sn_convolution * c, struct sn_family_numbers * to)
{
    *to = (struct sn_family_numbers){.flag = {sn_dot_of(c)->rounded}};
}

static void set_numbers(struct sn_convolution * c, const struct sn_family_numbers * from)
{
    struct sn_dot_family * dot = (void *)c->familyData;
    dot->rounded = !dot->exact || from->flag[0];
}

SN_FITS_FAMILY_DATA(struct sn_dot_family);
const struct sn_candidate sn_convolution_16b_candidates[] = {
    {SN_ALGORITHMS(&sn_convolution_16b_base), NULL},
    {SN_ALGORITHMS(&sn_convolution_16b_depthwise_planes), sn_16b_depthwise_planes_preferred},
    {SN_ALGORITHMS(&sn_convolution_16b_depthwise), NULL},
    {SN_ALGORITHMS(&sn_convolution_dot_tiled), NULL},
    {NULL, NULL},
};

static const struct sn_candidate rounded_candidates[] = {
    {SN_ALGORITHMS(&sn_convolution_16b_base), NULL}, {SN_ALGORITHMS(&sn_convolution_dot_tiled), NULL}, {NULL, NULL}};

#define FAMILY_16B(list, buffer, name, by, prepares)                                                                        \
    {.candidates = list, .smallType = SN_DATA_16B, .joins = true, .unit = buffer, .units = name, .align = SN_ALIGN, .prefix = by,           \
     .tile = sn_tile_16b, .simplify = sn_convolution_crop, .prepare = prepares,                                             \
     .set_params = sn_convolution_16b_set_params, .numbers = numbers_of, .set_numbers = set_numbers}
const struct sn_convolution_family sn_convolution_16b = FAMILY_16B(sn_convolution_16b_candidates, 1, "bytes", "", prepare);
const struct sn_convolution_family sn_convolution_32f_rounded = FAMILY_16B(rounded_candidates, sizeof(float), "floats",
    "by bfloat16, ", sn_convolution_16b_prepare);
