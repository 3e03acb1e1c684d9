/*
 * Convolution of bytes with scales and zero points (SimdSynetQuantizedConvolution*): the algorithms of Convolution8i, whose
 * exact sums become bytes in another way. What a byte becomes by an activation is a table: of one byte, or, with a slope for
 * each channel, of a byte of each channel. A table that only limits bytes is a pair of limits.
 *
 * Inner products of quantised bytes (SimdSynetQuantizedInnerProduct*) are such convolutions of M pixels.
 */
#include <math.h>
#include <string.h>

#include "ops/convolution/8i.h"

enum { BYTES = SN_TABLE8 };

struct requantised {
    struct sn_dot_family dot;
    sn_32f * norm;         /* in `packed`, like the following arrays */
    int32_t * first;       /* bias - zero point of the source * sum of the weights */
    uint8_t * low, * high;
    uint8_t * table;       /* of each activation, or the caller's; of the only one, prepared for the level */
    sn_32f * given;        /* the caller's parameters of the activation, */
    int32_t * bias;        /* and bias: for `base` */
    float scale, inverse;
    int32_t zero[3];
    bool bounded;          /* see struct sn_result_8i */
    uint8_t finishes;      /* what finish() does: these flags */
    struct sn_add_quantized sum; /* of finish() */
};
enum { LOOKS_UP = 1, ADDS = 2, ADDS_FIRST = 4, ADDS_NEGATIVE = 8, ADDS_NEAR = 16 };
SN_FITS_FAMILY_DATA(struct requantised);

static const struct requantised * data_of(const struct sn_convolution * c) { return (const void *)c->familyData; }

bool sn_quantized_adds(const struct sn_convolution * c)
{
    return (c->family == &sn_convolution_quantized || c->family == &sn_inner_product_quantized) &&
           (data_of(c)->finishes & ADDS);
}

static bool is_identity(const struct sn_convolution * c) { return c->p.activation == SN_ACTIVATION_IDENTITY; }

/* Whether each channel has a table. */
static bool has_slopes(const struct sn_convolution * c) { return c->p.activation == SN_ACTIVATION_PRELU; }

/* The number of tables; Identity may have the caller's. */
static size_t tables(const struct sn_convolution * c) { return has_slopes(c) ? c->p.dstC : 1; }

/* ---- `base`: the loops of the formula, with all arrays in the caller's layout */

static struct sn_requantised_8i formula(const struct sn_convolution * c)
{
    const struct requantised * q = data_of(c);
    return (struct sn_requantised_8i){c->weight, q->norm, q->bias, {q->zero[0], q->zero[1], q->zero[2]}, q->scale, q->inverse,
        q->given};
}

/* The bytes of an image as runs: one, or its pixels. */
static struct sn_dot_results results_of(const struct sn_convolution * c, const struct sn_plain * image)
{
    const size_t pixels = c->p.dstH * c->p.dstW;
    const bool planes = c->p.dstF == SN_NCHW;
    return (struct sn_dot_results){image->dst, image->dstPixel, planes ? c->p.dstC * pixels : c->p.dstC, planes ? 1 : pixels,
        0, image->add, image->addPixel, image->after};
}

static void forward(const struct sn_convolution * c, const struct sn_arrays * a)
{
    const struct sn_requantised_8i q = formula(c);
    for (size_t b = 0; b < c->batch; ++b) {
        const struct sn_plain image = sn_plain_of(a, b);
        const struct sn_dot_results results = results_of(c, &image);
        c->table->convolution_8i.requantised(&c->p, &q, &image);
        if (is_identity(c) && data_of(c)->dot.finish)
            data_of(c)->dot.finish(c, &results);
    }
}

static const struct sn_convolution_algorithm base = {.name = "base", .supports = sn_dot_base_supports,
    .plan = sn_base_8i_plan, .pack = sn_base_8i_pack, .alike = sn_dot_alike, .forward = forward};

/* ---- results */

static void result(const struct sn_convolution * c, size_t first, union sn_dot_result * to)
{
    const struct requantised * q = data_of(c);
    to->as_8i = (struct sn_result_8i){.bytes = true, .requantised = true, .first = q->first + first,
        .offset = q->zero[is_identity(c) ? 2 : 1], .bounded = q->bounded, .norm = q->norm + first, .bias = q->norm + first,
        .scale = q->norm + first, .low = q->low + first, .high = q->high + first};
}

/* Replaces bytes by those of the tables. */
static void look_up(const struct sn_convolution * c, const struct sn_dot_results * r)
{
    const uint8_t * table = data_of(c)->table;
    if (!has_slopes(c)) {
        c->table->table8.run(&(struct sn_table8){table, r->dst, r->dst, r->step, r->step, r->size, r->runs});
        return;
    }
    for (size_t run = 0; run < r->runs; ++run)
        for (size_t i = 0; i < r->size; ++i)
            r->dst[run * r->step + i] = table[(r->first + i) * BYTES + r->dst[run * r->step + i]];
}

/* The sums of bytes and of those of the call. */
static void add(const struct sn_convolution * c, const struct sn_dot_results * r)
{
    const struct requantised * q = data_of(c);
    const struct sn_quantized_binary sum = {.aScale = q->sum.aScale, .bScale = q->sum.bScale, .shift = q->sum.shift,
        .negative = q->finishes & ADDS_NEGATIVE, .near = q->finishes & ADDS_NEAR};
    const bool first = q->finishes & ADDS_FIRST, dense = r->step == r->size && r->addStep == r->size;
    const size_t runs = dense ? 1 : r->runs, size = dense ? r->size * r->runs : r->size;
    for (size_t run = 0; run < runs; ++run) {
        uint8_t * dst = r->dst + run * r->step;
        const uint8_t * other = r->add + run * r->addStep;
        c->table->quantized_binary.add(&sum, first ? other : dst, first ? dst : other, dst, size);
    }
}

static void finish(const struct sn_convolution * c, const struct sn_dot_results * r)
{
    const bool looksUp = data_of(c)->finishes & LOOKS_UP, before = r->add && !r->after;
    if (looksUp && !before)
        look_up(c, r);
    if (r->add)
        add(c, r);
    if (looksUp && before)
        look_up(c, r);
}

/* ---- SetParams */

/* The place of a weight of output channel o in the caller's array. */
static size_t place_of(const struct sn_convolution * c, const struct sn_convolution_parameters * p, size_t o, size_t i, size_t t)
{
    return sn_dot_of(c)->transposed ? o * p->srcC + i : sn_weight_at(c->format, p, o, i, t);
}

/* Sets norm and first of output channel o; reports a norm that is not finite. */
static void set_channel(const struct sn_convolution * c, const struct sn_set_quantized * given, size_t o,
                        struct sn_fault * fault)
{
    const struct requantised * q = data_of(c);
    const struct sn_convolution_parameters p = sn_given_shape(c);
    const size_t taps = p.kernelY * p.kernelX, to = sn_channel_index(c, o);
    int64_t sum = 0, padded = 0;
    for (size_t i = 0; i < p.srcC / p.group; ++i)
        for (size_t t = 0; t < taps; ++t) {
            const int8_t w = given->weight[place_of(c, &p, o, i, t)];
            sum += w;
            padded += sn_is_used(c, t) ? 0 : w;
        }
    const float scales = given->scale[0] * given->weightScale[o];
    q->norm[to] = scales / given->scale[is_identity(c) ? 2 : 1];
    if (!isfinite(q->norm[to]))
        *fault = (struct sn_fault){"scale of output channel", o, q->norm[to], "a finite number once divided", false};
    q->bias[o] = given->bias ? given->bias[o] : 0;
    q->first[to] = (int32_t)(uint32_t)(q->bias[o] - given->zero[0] * sum);
    ((int32_t *)(void *)c->bias)[to] = sn_start_8i(c, sum, padded);
}

/* The tables of bytes, given or of the activation, and whether they are more than limits of what is computed: not of sums. */
static bool set_tables(const struct sn_convolution * c, const uint8_t * given, bool sums)
{
    const struct requantised * q = data_of(c);
    const struct sn_requantised_8i f = formula(c);
    uint8_t table[BYTES];
    bool limits = !has_slopes(c) && !sums && c->algorithm != &base; /* which ignores them */
    for (size_t o = 0; o < tables(c); ++o) {
        for (size_t i = 0; i < BYTES; ++i)
            table[i] = given ? given[i] : c->table->convolution_8i.activated(&f, c->p.activation, (uint8_t)i, o);
        if (has_slopes(c))
            memcpy(q->table + o * BYTES, table, BYTES);
        else
            c->table->table8.prepare(table, q->table);
    }
    const uint8_t low = table[0], high = table[BYTES - 1];
    for (size_t i = 0; i < BYTES; ++i)
        limits &= table[i] == (i < low ? low : i > high ? high : i);
    memset(q->low, limits ? low : 0, c->channels);
    memset(q->high, limits ? high : BYTES - 1, c->channels);
    return !limits;
}

/* What is to be done with results. */
static void set_finish(struct sn_convolution * c, const struct sn_set_quantized * given)
{
    struct requantised * q = (void *)c->familyData;
    const struct sn_quantized_sum * sum = given->sum;
    const bool looksUp = (given->table || !is_identity(c)) && set_tables(c, given->table, sum != NULL);
    q->finishes = looksUp ? LOOKS_UP : 0;
    if (sum) {
        const struct sn_quantized_binary * n = &sum->numbers;
        q->sum = (struct sn_add_quantized){.aScale = n->aScale, .bScale = n->bScale, .shift = n->shift};
        q->finishes |= ADDS | (sum->first ? ADDS_FIRST : 0) | (n->negative ? ADDS_NEGATIVE : 0) | (n->near ? ADDS_NEAR : 0);
    }
    q->dot.finish = q->finishes ? finish : NULL;
}

static struct sn_fault fault_of_scales(const struct sn_convolution * c, const struct sn_set_quantized * given)
{
    static const char * const expected = "a finite number above 0";
    const bool product = c->family == &sn_inner_product_quantized; /* whose API has checked the first ones */
    for (size_t i = 0; i < 3; ++i)
        if (!(given->scale[i] > 0 && isfinite(given->scale[i])) && (i != 1 || !is_identity(c)))
            return (struct sn_fault){"ioScale", i, given->scale[i], expected, false};
    for (size_t o = 0; o < c->p.dstC; ++o)
        if (!(given->weightScale[o] > 0 && isfinite(given->weightScale[o])))
            return (struct sn_fault){product ? "bScale of column" : "weightScale of output channel", o, given->weightScale[o],
                expected, false};
    if (!isfinite(1 / given->scale[2]) && !is_identity(c))
        return (struct sn_fault){"ioScale", 2, given->scale[2], "a number whose inverse is finite", false};
    return (struct sn_fault){NULL, 0, 0, NULL, false};
}

/* The weights that are used, if not all are; or those of an inner product in the order of a convolution's. */
static size_t scratch_size(const struct sn_convolution * c)
{
    return c->crop.kernelY || sn_dot_of(c)->transposed ? sn_weight_count(c) : 0;
}

static void transpose(const struct sn_convolution * c, const int8_t * weight, int8_t * to)
{
    for (size_t i = 0; i < c->p.srcC; ++i)
        for (size_t o = 0; o < c->p.dstC; ++o)
            *to++ = weight[o * c->p.srcC + i];
}

static const void * set_params(struct sn_convolution * c, const struct sn_set_params * all, void * scratch,
                               struct sn_fault * fault)
{
    struct requantised * q = (void *)c->familyData;
    const struct sn_set_quantized * given = all->quantized;
    *fault = fault_of_scales(c, given);
    for (size_t i = 0; i < sn_activation_params(c->p.activation, c->p.dstC); ++i)
        q->given[i] = all->params[i];
    memcpy(q->zero, given->zero, sizeof(q->zero));
    q->dot.srcZero = (float)given->zero[0];
    q->scale = given->scale[1];
    q->inverse = 1 / given->scale[2];
    q->bounded = true;
    for (size_t o = 0; o < c->p.dstC && !fault->name; ++o) {
        set_channel(c, given, o, fault);
        q->bounded &= q->norm[sn_channel_index(c, o)] <= 0.25f; /* sums are at most 2^31 */
    }
    if (fault->name)
        return NULL;
    memset(q->high, BYTES - 1, c->channels);
    set_finish(c, given);
    if (q->dot.transposed)
        transpose(c, given->weight, scratch);
    else if (c->crop.kernelY)
        sn_convolution_copy_cropped(c, given->weight, 1, scratch);
    else
        return given->weight;
    return scratch;
}

/* ---- the family */

static enum sn_error_kind prepare(struct sn_convolution * c)
{
    const struct sn_convolution_8i_slots * slots = &c->table->convolution_8i;
    struct requantised * q = (void *)c->familyData;
    *q = (struct requantised){.dot = {.tile = &slots->tile, .pixels = slots->pixels, .planes = slots->planes,
        .result = result}};
    return SN_ERROR_NONE;
}

static uintptr_t layout_arrays(struct sn_convolution * c, uintptr_t at)
{
    struct requantised * q = (void *)c->familyData;
    const size_t values = c->channels * sizeof(float);
    q->norm = sn_layout_array(&at, values, SN_ALIGN);
    q->first = sn_layout_array(&at, values, SN_ALIGN);
    q->low = sn_layout_array(&at, c->channels, SN_ALIGN); /* these are read in vectors of bytes, also beyond their ends */
    q->high = sn_layout_array(&at, c->channels + SN_ALIGN, SN_ALIGN);
    q->table = sn_layout_array(&at, tables(c) * BYTES, SN_ALIGN);
    q->given = sn_layout_array(&at, sn_activation_params(c->p.activation, c->p.dstC) * sizeof(float), SN_ALIGN);
    q->bias = sn_layout_array(&at, c->p.dstC * sizeof(int32_t), SN_ALIGN);
    return at;
}

static void numbers_of(const struct sn_convolution * c, struct sn_family_numbers * to)
{
    const struct requantised * q = data_of(c);
    *to = (struct sn_family_numbers){.zero = {q->zero[0], q->zero[1], q->zero[2]},
        .value = {q->dot.srcZero, q->scale, q->inverse, q->sum.aScale, q->sum.bScale, q->sum.shift},
        .flag = {q->bounded, q->finishes}};
}

static void set_numbers(struct sn_convolution * c, const struct sn_family_numbers * from)
{
    struct requantised * q = (void *)c->familyData;
    memcpy(q->zero, from->zero, sizeof(q->zero));
    q->dot.srcZero = from->value[0], q->scale = from->value[1], q->inverse = from->value[2];
    q->sum = (struct sn_add_quantized){.aScale = from->value[3], .bScale = from->value[4], .shift = from->value[5]};
    q->bounded = from->flag[0] != 0;
    q->finishes = (uint8_t)from->flag[1];
    q->dot.finish = q->finishes ? finish : NULL;
}

static const struct sn_candidate candidates[] = {
    {SN_ALGORITHMS(&base), NULL},
    {SN_ALGORITHMS(&sn_convolution_8i_depthwise_32f), sn_depthwise_32f_preferred},
    {SN_ALGORITHMS(&sn_convolution_8i_flat), sn_flat_8i_preferred},
    {SN_ALGORITHMS(&sn_convolution_8i_depthwise), sn_depthwise_8i_preferred},
    {SN_ALGORITHMS(&sn_convolution_8i_winograd), sn_winograd_8i_preferred},
    {SN_ALGORITHMS(&sn_convolution_dot_tiled), NULL},
    {NULL, NULL},
};

#define FAMILY                                                                                                              \
    .candidates = candidates, .smallType = SN_DATA_8U, .unit = 1, .units = "bytes", .align = SN_ALIGN, .prefix = "",        \
    .tile = sn_tile_8i, .simplify = sn_convolution_8i_simplify, .crops = true, .prepare = prepare, .scratch = scratch_size, \
    .set_params = set_params, .layout_arrays = layout_arrays, .numbers = numbers_of,         \
    .set_numbers = set_numbers

const struct sn_convolution_family sn_convolution_quantized = {FAMILY};
const struct sn_convolution_family sn_inner_product_quantized = {FAMILY, .inputs = "K", .outputs = "N"};
