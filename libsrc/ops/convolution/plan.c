#include "ops/convolution/plan.h"

#include <string.h>

#include "runtime/arena.h"

size_t sn_activation_params(enum sn_activation activation, size_t channels)
{
    switch (activation) {
    case SN_ACTIVATION_IDENTITY:
    case SN_ACTIVATION_RELU:
    case SN_ACTIVATION_GELU:
    case SN_ACTIVATION_SIGMOID: return 0;
    case SN_ACTIVATION_LEAKY_RELU:
    case SN_ACTIVATION_ELU:
    case SN_ACTIVATION_MISH:
    case SN_ACTIVATION_SWISH: return 1;
    case SN_ACTIVATION_RESTRICT_RANGE:
    case SN_ACTIVATION_HSWISH:
    case SN_ACTIVATION_HARD_SIGMOID: return 2;
    case SN_ACTIVATION_PRELU: return channels;
    }
    return 0;
}

/* ---- the plan */

void sn_convolution_simplify(struct sn_convolution * c)
{
    struct sn_convolution_parameters * p = &c->p;
    p->strideY = p->dstH == 1 ? 1 : p->strideY;
    p->strideX = p->dstW == 1 ? 1 : p->strideX;
    p->dilationY = p->kernelY == 1 ? 1 : p->dilationY;
    p->dilationX = p->kernelX == 1 ? 1 : p->dilationX;
    sn_convolution_join_images(c, p->dstH == 1 ? p->srcH : p->strideY, &p->srcH, &p->dstH);
}

void sn_convolution_join_images(struct sn_convolution * c, size_t stride, size_t * strided, size_t * plain)
{
    struct sn_convolution_parameters * p = &c->p;
    size_t used, lines, all;
    if (!c->table->gemm.tile_32f.run) /* `base` takes no shortcuts: the others are tested against it */
        return;
    if (c->batch == 1 || p->srcF != SN_NHWC || p->padY || !sn_product(&used, p->kernelY - 1, p->dilationY) ||
        used >= stride || !sn_product(&lines, *plain, stride) || lines != *strided ||
        !sn_product(&all, c->batch, *strided) || !sn_product(&lines, c->batch, *plain))
        return;
    p->strideY = stride;
    *strided = all;
    *plain = lines;
    c->batch = 1;
}

/* ---- kernels without the taps that see only padding: 3x3 with padding on an image of one pixel is 1x1 */

/* An axis of the image and of the kernel. */
struct axis {
    size_t src, dst, stride, dilation;
    size_t * kernel, * before, * after; /* taps, and padding */
};

/* Whether the taps of a single output are all beside the image, before and behind it. */
static bool misses_image(const struct axis * a)
{
    const size_t first = sn_ceil_div(*a->before, a->dilation); /* that is not before the image */
    return a->dst == 1 && *a->before > 0 && (first >= *a->kernel || first * a->dilation - *a->before >= a->src);
}

/* Leaves out taps of one axis; returns how many at its beginning. The padding must stay at least 0, and one tap. */
static size_t crop_axis(const struct axis * a)
{
    if (a->dst == 0)
        return 0;
    if (misses_image(a)) {
        *a->kernel = *a->before = 1;
        *a->after = 0;
        return 0;
    }
    const size_t last = (a->dst - 1) * a->stride; /* padded line of the first tap of the last output */
    size_t first = *a->before > last ? (*a->before - last - 1) / a->dilation + 1 : 0;
    first = sn_min(first, sn_min(*a->kernel - 1, *a->before / a->dilation));
    *a->kernel -= first;
    *a->before -= first * a->dilation;
    const size_t end = *a->before + a->src, tap = (*a->kernel - 1) * a->dilation; /* of the last tap of the first output */
    size_t unused = tap >= end ? (tap - end) / a->dilation + 1 : 0;
    unused = sn_min(unused, sn_min(*a->kernel - 1, *a->after / a->dilation));
    *a->kernel -= unused;
    *a->after -= unused * a->dilation;
    return first;
}

/*
 * One pixel is the same in both layouts: in NHWC, vectors are of channels, and the pixels of a batch are one image. 16 images of
 * 8192x1x1 to 1 take 0.04 of the time of NCHW (avx512; avx2 0.03), 9216x1x1 to 512 0.54 (0.3), one of 2048x1x1 to 2 0.6 (0.52).
 */
static bool is_pixel(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return p->srcH * p->srcW == 1 && p->dstH * p->dstW == 1 && p->kernelY * p->kernelX == 1;
}

/*
 * A kernel over a whole image in NCHW, whose weights are in the order of the inputs, which are those of one pixel then. 512x4x4 to
 * 1 by 4x4 takes 0.26 of the time (avx512 0.35), 16 images 0.04, 512x7x7 to 256 by 7x7 0.55 (0.71; Xeon with AMX).
 */
static void join_pixels(struct sn_convolution * c)
{
    struct sn_convolution_parameters * p = &c->p;
    const bool whole = p->kernelY == p->srcH && p->kernelX == p->srcW && p->padY + p->padH + p->padX + p->padW == 0;
    size_t inputs;
    if (!whole || c->crop.kernelY || !c->family->joins || p->srcF != SN_NCHW || p->group > 1 ||
        !sn_product(&inputs, p->srcC, p->srcH, p->srcW))
        return;
    c->joined = p->srcH * p->srcW;
    p->srcC = inputs;
    p->srcH = p->srcW = p->kernelY = p->kernelX = p->dilationY = p->dilationX = 1;
}

bool sn_convolution_is_column(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return p->srcH > 1 && p->srcW == 1 && p->dstW == 1 && p->kernelX == 1 && p->padX == 0;
}

static void exchange(size_t * a, size_t * b)
{
    const size_t first = *a;
    *a = *b;
    *b = first;
}

void sn_convolution_turn(struct sn_convolution * c)
{
    struct sn_convolution_parameters * p = &c->p;
    exchange(&p->srcH, &p->srcW);
    exchange(&p->dstH, &p->dstW);
    exchange(&p->kernelY, &p->kernelX);
    exchange(&p->dilationY, &p->dilationX);
    exchange(&p->strideY, &p->strideX);
    exchange(&p->padY, &p->padX);
    exchange(&p->padH, &p->padW);
    c->crop.turned = 1;
}

void sn_convolution_crop_taps(struct sn_convolution * c)
{
    struct sn_convolution_parameters * p = &c->p;
    struct sn_crop crop = {.kernelY = p->kernelY, .kernelX = p->kernelX};
    crop.y = crop_axis(&(struct axis){p->srcH, p->dstH, p->strideY, p->dilationY, &p->kernelY, &p->padY, &p->padH});
    crop.x = crop_axis(&(struct axis){p->srcW, p->dstW, p->strideX, p->dilationX, &p->kernelX, &p->padX, &p->padW});
    if (crop.kernelY != p->kernelY || crop.kernelX != p->kernelX)
        c->crop = crop;
}

void sn_convolution_crop(struct sn_convolution * c)
{
    struct sn_convolution_parameters * p = &c->p;
    if (c->table->gemm.tile_32f.run) { /* `base` takes no shortcuts: the others are tested against it */
        sn_convolution_crop_taps(c);
        join_pixels(c);
        if (is_pixel(c))
            p->srcF = p->dstF = SN_NHWC;
        if (p->kernelY > 1 && sn_convolution_is_column(c)) /* inner products of one row and of more share their weights */
            sn_convolution_turn(c);
    }
    sn_convolution_simplify(c);
}

void sn_convolution_plane(struct sn_convolution * c)
{
    struct sn_convolution_parameters * p = &c->p;
    if (c->table->gemm.tile_32f.run && p->srcC == 1 && p->dstC == 1 && p->srcF == SN_NHWC && !is_pixel(c))
        p->srcF = p->dstF = SN_NCHW;
}

/* Adds to the workspace of a plane what its copies need: the source, an array to be added, and the result. */
static bool plan_plane(struct sn_convolution * c)
{
    size_t copies, two;
    c->workSize = sn_align(c->workSize, SN_ALIGN);
    return sn_product(&two, 2, sn_plane_dst(c)) && sn_floats(&copies, sn_plane_src(c) + two) &&
           sn_product(&c->workSize, c->workSize + copies, 1);
}

/* Copies the used columns of the used rows of one kernel, whose taps are `tap` bytes. */
static void copy_kernel(const struct sn_convolution * c, const uint8_t * from, size_t tap, uint8_t * to)
{
    const size_t row = sn_used_x(c) * tap;
    from += (c->crop.y * c->crop.kernelX + c->crop.x) * tap;
    for (size_t y = 0; y < sn_used_y(c); ++y, from += c->crop.kernelX * tap, to += row)
        memcpy(to, from, row);
}

void sn_convolution_copy_cropped(const struct sn_convolution * c, const void * weight, size_t size, void * cropped)
{
    const size_t taps = c->p.kernelY * c->p.kernelX, given = c->crop.kernelY * c->crop.kernelX;
    const size_t kernels = c->p.dstC * sn_inputs(c);
    if (c->format == SN_NHWC)
        copy_kernel(c, weight, kernels * size, cropped);
    else
        for (size_t i = 0; i < kernels; ++i)
            copy_kernel(c, (const uint8_t *)weight + i * given * size, size, (uint8_t *)cropped + i * taps * size);
}

/* ---- sizes, and the choice */

static bool plan_images(struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    size_t all, weights;
    if (!sn_product(&c->srcSize, p->srcC, p->srcH, p->srcW) || !sn_product(&all, c->batch, p->srcC, p->srcH, p->srcW) ||
        !sn_product(&c->dstSize, p->dstC, p->dstH, p->dstW) || !sn_product(&all, c->batch, p->dstC, p->dstH, p->dstW) ||
        !sn_product(&weights, p->dstC, sn_inputs(c), sn_given_y(c), sn_given_x(c)))
        return false;
    c->srcPlane = p->srcH * p->srcW;
    c->dstPlane = p->dstH * p->dstW;
    c->srcSize *= sn_element(p->srcT);
    c->dstSize *= sn_element(p->dstT);
    c->dense = (struct sn_distances){p->srcC, p->dstC, p->dstC, c->srcSize, c->dstSize, c->dstSize, false};
    return true;
}

static bool is_supported(const struct sn_convolution * c, const struct sn_convolution_algorithm * algorithm)
{
    struct sn_convolution trial = *c;
    trial.algorithm = algorithm;
    return algorithm->supports(&trial);
}

double sn_convolution_cost(const struct sn_convolution * c, const struct sn_convolution_algorithm * algorithm)
{
    struct sn_convolution trial = *c;
    trial.algorithm = algorithm;
    return algorithm->cost ? algorithm->cost(&trial) : 0;
}

const struct sn_convolution_algorithm * sn_convolution_cheapest(const struct sn_convolution * c,
                                                                const struct sn_convolution_algorithm * const * algorithms)
{
    const struct sn_convolution_algorithm * best = NULL;
    double least = 0;
    for (; *algorithms; ++algorithms) {
        if (!is_supported(c, *algorithms))
            continue;
        const double cost = sn_convolution_cost(c, *algorithms);
        if (!best || cost < least) {
            best = *algorithms;
            least = cost;
        }
    }
    return best;
}

const struct sn_convolution_algorithm * sn_convolution_choose(const struct sn_convolution * c)
{
    struct sn_convolution trial = *c;
    for (const struct sn_candidate * one = c->family->candidates;; ++one) {
        trial.algorithm = sn_convolution_cheapest(c, one->algorithms);
        if (trial.algorithm && (!one->preferred || one->preferred(&trial)))
            return trial.algorithm;
    }
}

size_t sn_convolution_supported(const struct sn_convolution * c, const struct sn_convolution_algorithm ** list)
{
    const struct sn_candidate * one = c->family->candidates;
    size_t number = 0;
    list[0] = one->algorithms[0];
    if (is_supported(c, list[0]))
        return 1;
    while ((++one)->algorithms)
        for (size_t i = 0; one->algorithms[i]; ++i)
            if (is_supported(c, one->algorithms[i]))
                list[number++] = one->algorithms[i];
    return number;
}

enum sn_error_kind sn_convolution_plan(struct sn_convolution * c)
{
    const bool given = c->algorithm != NULL;
    c->preference = sn_preference();
    if (!given) {
        c->format = c->p.srcF;
        c->family->simplify(c);
    }
    if (!plan_images(c))
        return SN_ERROR_VALUE;
    const enum sn_error_kind error = given || !c->family->prepare ? SN_ERROR_NONE : c->family->prepare(c);
    if (error != SN_ERROR_NONE)
        return error;
    c->algorithm = given ? c->algorithm : sn_convolution_choose(c);
    c->run = sn_outputs(c);
    if (!c->algorithm->plan(c) || (c->family->plan && !c->family->plan(c)) || (sn_is_plane(c) && !plan_plane(c)))
        return SN_ERROR_VALUE;
    if (c->weightSize == 0) /* no weights: the kernel has no taps, whatever its size */
        c->segments = 0;
    return SN_ERROR_NONE;
}

/* ---- parameters from SetParams: one block, and the offsets */

/* The offsets depend on the sizes of images, unlike the block, which plans for other images may share. They are made with
 * the first parameters, as there may be one for each input: Init is to be fast for any shape. False: there is no memory. */
static bool make_offsets(struct sn_convolution * c, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (c[i].segment || c[i].segments == 0)
            continue;
        c[i].segment = sn_allocate(c[i].segments * sizeof(size_t), SN_ALIGN);
        if (!c[i].segment)
            return false;
        memset(c[i].segment, 0, c[i].segments * sizeof(size_t));
        if (c[i].algorithm->offsets)
            c[i].algorithm->offsets(&c[i]);
    }
    return true;
}

static bool has_slope(const struct sn_convolution * c)
{
    return c->p.activation == SN_ACTIVATION_PRELU || c->p.activation == SN_ACTIVATION_LEAKY_RELU;
}

/* Frees those of plans that were refused their first parameters. */
static void drop_offsets(struct sn_convolution * c, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (!c[i].packed) {
            sn_free(c[i].segment);
            c[i].segment = NULL;
        }
}

void * sn_layout_array(uintptr_t * at, size_t bytes, size_t align)
{
    const uintptr_t here = sn_align(*at, align);
    *at = sn_align(here + bytes, align);
    return (void *)here;
}

static uintptr_t layout_arrays(struct sn_convolution * c, uintptr_t at)
{
    const size_t align = c->family->align, values = c->channels * sizeof(float);
    c->weight = sn_layout_array(&at, c->weightSize, align);
    c->bias = sn_layout_array(&at, values, align);
    c->slope = has_slope(c) ? sn_layout_array(&at, values, align) : NULL;
    return c->family->layout_arrays ? c->family->layout_arrays(c, at) : at;
}

/* Allocates a block of zeros and sets the pointers to its parts; false if there is no memory. */
static bool allocate_arrays(struct sn_convolution * c)
{
    size_t most; /* upper bounds of the families' arrays, checked for overflow */
    c->packed = NULL;
    c->borrowed = false;
    if (!sn_product(&most, c->channels, 256 + 6 * sizeof(float)) || !sn_product(&most, c->p.srcC, sizeof(float)))
        return false;
    c->packedSize = layout_arrays(c, 0);
    c->packed = sn_arena_allocate(sn_max(c->packedSize, 1));
    if (!c->packed)
        return false;
    memset(c->packed, 0, c->packedSize);
    layout_arrays(c, (uintptr_t)c->packed);
    return true;
}

void sn_convolution_scatter(const struct sn_convolution * c, const sn_32f * values, sn_32f * spread)
{
    if (!values)
        return;
    if (c->algorithm->spread) {
        c->algorithm->spread(c, values, spread);
        return;
    }
    for (size_t o = 0; o < c->p.dstC; o += c->run, spread += c->runStep)
        memcpy(spread, values + o, sn_min(c->run, c->p.dstC - o) * sizeof(float));
}

static void set_activation(struct sn_convolution * c, const sn_32f * params)
{
    if (c->p.activation == SN_ACTIVATION_PRELU)
        sn_convolution_scatter(c, params, c->slope);
    else if (c->slope)
        for (size_t i = 0; i < c->channels; ++i)
            c->slope[i] = params[0];
    else
        for (size_t i = 0; i < sn_activation_params(c->p.activation, c->p.dstC); ++i)
            c->param[i] = params[i];
}

static bool has_fault(const struct sn_fault * fault) { return fault->memory || fault->name; }

/* Memory for `bytes`, or NULL if none is needed; false if there is no memory. */
static bool allocate_if(bool needed, size_t bytes, void ** memory)
{
    *memory = needed ? sn_allocate(sn_max(bytes, 1), SN_ALIGN) : NULL;
    return !needed || *memory;
}

/* Sets the parameters of `next`, a copy of the present plan; with a fault it holds none. */
static struct sn_fault set_plan(struct sn_convolution * next, const struct sn_set_params * given)
{
    struct sn_fault fault = {NULL, 0, 0, NULL, false};
    const struct sn_convolution_family * family = next->family;
    struct sn_set_params used = *given;
    void * scratch = NULL, * cropped = NULL;
    fault.memory = !allocate_arrays(next) ||
                   !allocate_if(family->scratch, family->scratch ? family->scratch(next) : 0, &scratch) ||
                   !allocate_if(next->crop.kernelY && !family->crops, sn_weight_count(next) * sizeof(float), &cropped);
    if (!fault.memory && next->p.dstC) { /* without outputs there may be any number of groups */
        if (cropped) {
            sn_convolution_copy_cropped(next, given->weight, sizeof(float), cropped);
            used.weight = cropped;
        }
        set_activation(next, given->params);
        const void * weight = family->set_params(next, &used, scratch, &fault);
        if (!has_fault(&fault) && next->weightSize)
            next->algorithm->pack(next, weight);
    }
    sn_free(cropped);
    sn_free(scratch);
    if (has_fault(&fault)) {
        sn_arena_free(next->packed);
        next->packed = NULL;
    }
    return fault;
}

static void free_packed(const struct sn_convolution * c)
{
    if (!c->borrowed)
        sn_arena_free(c->packed);
}

struct sn_fault sn_convolution_set(struct sn_convolution * c, const struct sn_set_params * given, size_t count)
{
    struct sn_convolution next[SN_MOST_PLANS]; /* new plans, so that a fault leaves the present ones unchanged */
    struct sn_fault fault = {NULL, 0, 0, NULL, !make_offsets(c, count)};
    size_t made = 0;
    for (; made < count && !has_fault(&fault); ++made) {
        next[made] = c[made];
        fault = set_plan(&next[made], &given[made]);
    }
    for (size_t i = 0; i < made; ++i) {
        free_packed(has_fault(&fault) ? &next[i] : &c[i]);
        if (!has_fault(&fault))
            c[i] = next[i];
    }
    drop_offsets(c, count);
    return fault;
}

bool sn_convolution_alike(const struct sn_convolution * c, const struct sn_convolution * from)
{
    const struct sn_convolution_algorithm * a = c->algorithm, * b = from->algorithm;
    return c->family == from->family && c->weightSize == from->weightSize && c->channels == from->channels &&
           memcmp(&c->crop, &from->crop, sizeof(c->crop)) == 0 && c->p.kernelY == from->p.kernelY &&
           c->p.kernelX == from->p.kernelX &&
           a->pack == b->pack && a->spread == b->spread && a->variant == b->variant && (!a->alike || a->alike(c, from));
}

/* Parameters that this plan has not packed. */
static void use_packed(struct sn_convolution * c, void * packed, const sn_32f * param)
{
    c->packed = packed;
    c->packedSize = 0;
    layout_arrays(c, (uintptr_t)packed);
    memcpy(c->param, param, sizeof(c->param));
}

bool sn_convolution_share(struct sn_convolution * c, const struct sn_convolution * from, size_t count)
{
    if (!make_offsets(c, count)) {
        drop_offsets(c, count);
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        const struct sn_convolution before = c[i];
        use_packed(&c[i], from[i].borrowed ? from[i].packed : sn_arena_share(from[i].packed), from[i].param);
        c[i].borrowed = from[i].borrowed;
        if (c[i].family->numbers) {
            struct sn_family_numbers numbers;
            c[i].family->numbers(&from[i], &numbers);
            c[i].family->set_numbers(&c[i], &numbers);
        }
        free_packed(&before);
    }
    return true;
}

size_t sn_convolution_packed_size(const struct sn_convolution * c)
{
    struct sn_convolution trial = *c;
    return sn_max(layout_arrays(&trial, 0), 1);
}

bool sn_convolution_borrow(struct sn_convolution * c, const struct sn_borrowed * from, size_t count)
{
    if (!make_offsets(c, count)) {
        drop_offsets(c, count);
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        free_packed(&c[i]);
        use_packed(&c[i], from[i].packed, from[i].param);
        c[i].borrowed = true;
        if (c[i].family->numbers)
            c[i].family->set_numbers(&c[i], &from[i].numbers);
    }
    return true;
}

size_t sn_convolution_memory(const struct sn_convolution * c)
{
    return c->packed ? c->packedSize + c->tablesSize + c->segments * sizeof(size_t) : 0;
}

void sn_convolution_free(struct sn_convolution * c)
{
    free_packed(c);
    sn_free(c->tables);
    sn_free(c->segment);
}
