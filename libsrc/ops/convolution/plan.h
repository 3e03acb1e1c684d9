/*
 * The common plan of convolutions of all element types, and deconvolutions.
 *
 * A plan is made once for a shape and an instruction set. It holds the packed weights, the bias and the parameters of the
 * activation, never a pointer of the caller, and Forward does not change it: many threads may run one plan.
 *
 * A family (struct sn_convolution_family) is one kind of convolution: of floats, of bytes, of bfloat16 numbers, or a
 * deconvolution. It has algorithms (struct sn_convolution_algorithm), each in its own file; the shape determines which one
 * is used. Both store their values for a plan in the plan itself, so plans can be copied. Sizes are in bytes.
 */
#ifndef SN_OPS_CONVOLUTION_PLAN_H
#define SN_OPS_CONVOLUTION_PLAN_H

#include "contract/table.h"
#include "ops/convolution/shares.h"
#include "runtime/error.h"
#include "runtime/memory.h"
#include "runtime/preference.h"

struct sn_convolution;

/* Where the pixels of arrays are, and where `add` is added. Calls with dense arrays use the plan's: filling one for each
 * call, and copying it for each share, took 4 ns. */
struct sn_distances {
    size_t srcPixel, addPixel, dstPixel; /* elements between pixels: in NCHW, and in dense NHWC, the number of channels */
    size_t srcImage, addImage, dstImage; /* bytes between images */
    bool after;       /* adds to the results of the activation; algorithms other than `base` never see it */
};

/* The arrays of a call: all images, or one of them (or one group of it, if the algorithm processes groups separately). */
struct sn_arrays {
    const void * src;
    void * work;      /* workSize bytes, aligned to SN_ALIGN */
    const void * add; /* NULL, or an array that is added before the activation; for algorithms it has the layout of dst */
    void * dst;
    const struct sn_distances * at;
};

struct sn_convolution_algorithm {
    const char * name;
    bool tiled;     /* uses the tile of the family */
    bool adds;      /* supports `add` before the activation; otherwise another pass over the result adds it */
    bool plain;     /* supports any `add`, in either order and with pixels at another distance than those of dst */
    size_t variant; /* distinguishes algorithms of one file */

    /* True if it supports this shape on this instruction set. */
    bool (*supports)(const struct sn_convolution * c);

    /* The estimated cost of one image, in cycles of a core that multiplies 16 floats per cycle, see cost.h; NULL: there is no
     * model. */
    double (*cost)(const struct sn_convolution * c);

    /* Computes weightSize, channels, runStep, segments, workSize and its private struct. False if a size exceeds the
     * largest array. */
    bool (*plan)(struct sn_convolution * c);

    /* Writes the `segments` offsets, which are zero; NULL: they stay so. Not called if there are none. */
    void (*offsets)(const struct sn_convolution * c);

    /* Packs weights from the caller's layout into weightSize bytes, which are zero. Not called if there are no weights. */
    void (*pack)(const struct sn_convolution * c, const void * weight);

    /* NULL, or false if pack() arranges the weights of two plans differently, whose channels, kernels and groups are the
     * same. */
    bool (*alike)(const struct sn_convolution * c, const struct sn_convolution * from);

    /* Copies one float per output channel to its places in an array of `channels` floats, which are zero; NULL: each to
     * sn_channel_index(). */
    void (*spread)(const struct sn_convolution * c, const sn_32f * values, sn_32f * spread);

    /* Computes all images. */
    void (*forward)(const struct sn_convolution * c, const struct sn_arrays * a);
};

/* Those of QuantizedConvolution: scales and zero points of the source, between sums and activation, and of the destination. */
struct sn_set_quantized {
    float scale[3];
    int32_t zero[3];
    const int8_t * weight;
    const sn_32f * weightScale;
    const sn_32i * bias; /* may be NULL */
    const uint8_t * table; /* NULL, or the bytes of results, with Identity */
    const struct sn_quantized_sum * sum; /* NULL, or what calls may add to them, likewise */
};

/* A sum of results of bytes and of those of a call; `first`: the latter are the first operand. */
struct sn_quantized_sum {
    struct sn_quantized_binary numbers;
    bool first;
};

/* The arguments of SetParams; stats for bytes only: the last two may be NULL for results that are floats. */
struct sn_set_params {
    const sn_32f * weight, * bias, * params; /* bias may be NULL */
    const sn_32f * const * stats;
    const struct sn_set_quantized * quantized; /* in place of weight, bias and stats */
};

/* Why SetParams fails: no memory, or an invalid number. Neither on success. */
struct sn_fault {
    const char * name; /* as in "stats[0] of channel"; NULL for none */
    size_t channel;
    float value;
    const char * expected;
    bool memory; /* there was not enough */
};

/* Algorithms of a family whose costs can be compared, ended by NULL: the cheapest of those that support a shape is used, the
 * first of equals. One that is alone needs no model. */
#define SN_ALGORITHMS(...) (const struct sn_convolution_algorithm * const[]){__VA_ARGS__, NULL}

struct sn_candidate {
    const struct sn_convolution_algorithm * const * algorithms;

    /* Whether to use the cheapest of them, c->algorithm, if no earlier candidate was chosen; NULL: always. */
    bool (*preferred)(const struct sn_convolution * c);
};

/* What set_params() of a family of bytes stores outside `packed`: each family has its own meaning for them. */
struct sn_family_numbers {
    int32_t zero[3];
    float value[6];
    uint32_t flag[2];
};

struct sn_convolution_family {
    /* In order of preference, ended by NULL. `base` is the first, and the only one for the shapes that it supports; the
     * last candidate supports all remaining shapes. */
    const struct sn_candidate * candidates;

    enum sn_data smallType; /* the element type that images may have besides float */
    size_t unit;            /* bytes of the unit of buffer sizes, */
    const char * units;     /* and its name */
    size_t align;           /* of the arrays that SetParams makes, but the weights, which are aligned to SN_ALIGN */
    const char * prefix;    /* prefix of the algorithm's name */
    const char * inputs, * outputs; /* names of srcC and dstC in messages; NULL: these */

    /* The shape of an instruction set's tile, for context infos. */
    struct sn_tile_shape {
        size_t rows, columns;
    } (*tile)(const struct sn_table * table);

    /* Normalises parameters of p that have no effect. */
    void (*simplify)(struct sn_convolution * c);

    /* NULL, or computes the family's values in c->familyData, before an algorithm is chosen. */
    enum sn_error_kind (*prepare)(struct sn_convolution * c);

    /* NULL, or the bytes of temporary memory that set_params() needs. */
    size_t (*scratch)(const struct sn_convolution * c);

    /* Writes the bias and the family's arrays in `packed`; returns the weights for pack(), which may be in scratch. Not
     * called if there are no outputs. `crops`: it is given all weights, also with c->crop, and returns those that are used. */
    const void * (*set_params)(struct sn_convolution * c, const struct sn_set_params * given, void * scratch,
                               struct sn_fault * fault);
    bool crops;

    /* Whether no parameter belongs to an input channel, so that the pixels of an image may be joined. */
    bool joins;

    /* NULL, or sets the pointers to the family's arrays in `packed`, which begin at `at`; returns their end. */
    uintptr_t (*layout_arrays)(struct sn_convolution * c, uintptr_t at);

    /* NULL, or what set_params() has stored in c->familyData; and stores it there. */
    void (*numbers)(const struct sn_convolution * c, struct sn_family_numbers * numbers);
    void (*set_numbers)(struct sn_convolution * c, const struct sn_family_numbers * numbers);

    /* NULL, or a family that computes by the algorithms of floats although p has other types: enlarges the workspace that
     * the algorithm has planned, and computes all images. */
    bool (*plan)(struct sn_convolution * c);
    void (*forward)(const struct sn_convolution * c, const struct sn_arrays * a);
};

enum { SN_FAMILY_DATA = 192, SN_ALGORITHM_DATA = 192 };

struct sn_convolution {
    struct sn_convolution_parameters p;
    enum sn_format format; /* that the caller gave: of weights, and of images: p has another one if these are the same in memory */
    size_t batch;
    const struct sn_table * table;
    const struct sn_convolution_family * family;
    const struct sn_convolution_algorithm * algorithm; /* NULL until it is chosen */
    enum sn_preference preference;

    size_t srcSize, dstSize;   /* of one image */
    size_t srcPlane, dstPlane; /* NCHW: elements from a channel to the next, also in a part of the columns of a line */
    struct sn_distances dense; /* of arrays without gaps */
    struct sn_crop {
        size_t kernelY, kernelX; /* the caller's kernel, if p has fewer taps, else 0; */
        size_t y, x;             /* and the first tap of it that is used; */
        size_t turned;           /* 1: the axes of p are the caller's, exchanged, see sn_convolution_turn() */
    } crop;
    size_t joined;             /* pixels of the caller's image in NCHW that are one of p, or 0 for 1 */
    size_t weightSize;         /* of the packed weights */
    size_t channels;           /* size of arrays with a value of each output channel, which are in runs: */
    size_t run;                /* channels in sequence, those of a group if plan() does not change it, */
    size_t runStep;            /* and values from the first one of a run to that of the next */
    size_t segments;           /* number of offsets, for the tile or other use by the algorithm */
    size_t workSize;           /* of workspace for one thread; may be 0 */

    void * tables;             /* tablesSize bytes allocated by the family; NULL for none */
    size_t tablesSize;

    size_t * segment;          /* the offsets; NULL for none, and before SetParams */

    void * packed;             /* arrays from SetParams, which plans of other images may use too; NULL before */
    size_t packedSize;         /* its bytes; 0 if another plan allocated it, or the caller */
    bool borrowed;             /* whether it is the caller's, see sn_convolution_borrow() */
    void * weight;             /* in `packed`, as the next two */
    sn_32f * bias;             /* `channels` floats; for bytes, int32 initial sums */
    sn_32f * slope;            /* `channels` floats for Prelu and LeakyRelu (all the same then), else NULL */
    float param[2];            /* of the other activations */

    /* The private structs of the family and of the algorithm. */
    char familyData[SN_FAMILY_DATA] __attribute__((aligned(8)));
    char algorithmData[SN_ALGORITHM_DATA] __attribute__((aligned(8)));
};

/* Asserts that a family's or an algorithm's struct fits. */
#define SN_FITS_FAMILY_DATA(type) _Static_assert(sizeof(type) <= SN_FAMILY_DATA, #type " is too large for the plan")
#define SN_FITS_ALGORITHM_DATA(type) _Static_assert(sizeof(type) <= SN_ALGORITHM_DATA, #type " is too large for the plan")

/* ---- for contexts */

/* Chooses the algorithm, unless c->algorithm is set, and computes all sizes from p, batch, table and family, which are set.
 * SN_ERROR_VALUE: a size is too large. */
enum sn_error_kind sn_convolution_plan(struct sn_convolution * c);

/* Lists the algorithms that admit a plan; returns their number. */
enum { SN_MOST_ALGORITHMS = 32 };
size_t sn_convolution_supported(const struct sn_convolution * c, const struct sn_convolution_algorithm ** list);

/* What cost() of an algorithm of the family says about the plan's shape; 0 if there is no model. */
double sn_convolution_cost(const struct sn_convolution * c, const struct sn_convolution_algorithm * algorithm);

/* The cheapest of some algorithms that support the plan's shape; NULL for none. */
const struct sn_convolution_algorithm * sn_convolution_cheapest(const struct sn_convolution * c,
                                                                const struct sn_convolution_algorithm * const * algorithms);

/* The algorithm that the family chooses for a plan whose sizes are computed. */
const struct sn_convolution_algorithm * sn_convolution_choose(const struct sn_convolution * c);

enum { SN_MOST_PLANS = 3 };

/* Sets the parameters of `count` plans; with a fault, all of them stay unchanged. */
struct sn_fault sn_convolution_set(struct sn_convolution * c, const struct sn_set_params * given, size_t count);

/* True if the parameters of `from` are packed as those of c would be; p is the same, except for sizes of images. */
bool sn_convolution_alike(const struct sn_convolution * c, const struct sn_convolution * from);

/* Lets `count` plans use the parameters of others, which have some, and are alike; false if there is no memory. */
bool sn_convolution_share(struct sn_convolution * c, const struct sn_convolution * from, size_t count);

/* The bytes of the parameters as SetParams packs them; 0 if these are not all: then some are in c->familyData. */
size_t sn_convolution_packed_size(const struct sn_convolution * c);

/* Lets `count` plans use parameters that plans which are alike have packed, one block of that size for each, aligned to
 * SN_ALIGN, which must exist as long as plans use it, with c->param of these; false if there is no memory. */
struct sn_borrowed {
    void * packed;
    float param[2];
    struct sn_family_numbers numbers;
};
bool sn_convolution_borrow(struct sn_convolution * c, const struct sn_borrowed * from, size_t count);

/* The bytes that the plan holds: its parameters, unless it shares those of another, and the tables; 0 before SetParams. */
size_t sn_convolution_memory(const struct sn_convolution * c);

/* Frees what the plan owns. */
void sn_convolution_free(struct sn_convolution * c);

/* Dense arrays; the workspace is not set. */
SN_INLINE struct sn_arrays sn_dense_arrays(const struct sn_convolution * c, const void * src, const void * add,
                                           void * dst)
{
    return (struct sn_arrays){src, NULL, add, dst, &c->dense};
}

/* One image, or part, with a workspace. */
SN_INLINE struct sn_arrays sn_image_of(const struct sn_arrays * all, size_t image, void * work)
{
    struct sn_arrays a = *all;
    a.src = (const char *)all->src + image * all->at->srcImage;
    a.work = work;
    a.add = all->add ? (const char *)all->add + image * all->at->addImage : NULL;
    a.dst = (char *)all->dst + image * all->at->dstImage;
    return a;
}

/* Image `b` of the arrays, for the loops of `base`. */
SN_INLINE struct sn_plain sn_plain_of(const struct sn_arrays * a, size_t b)
{
    const struct sn_arrays one = sn_image_of(a, b, NULL);
    return (struct sn_plain){one.src, one.add, one.dst, a->at->srcPixel, a->at->addPixel, a->at->dstPixel, a->at->after};
}

/* Computes all images of dense arrays without an addition. */
static inline void sn_convolution_forward_plain(const struct sn_convolution * c, const struct sn_arrays * a)
{
    (c->family->forward ? c->family->forward : c->algorithm->forward)(c, a);
}

/* Computes all images, with any addition; the elements of `add` are floats. */
void sn_convolution_forward_32f(const struct sn_convolution * c, const struct sn_arrays * a);

/*
 * The same for a plan that ends with the convolution `last`: forward() computes it with additions before the activation, if
 * it `adds` any, of arrays with the layout of dst; `last` may be replaced by a copy without activation.
 */
struct sn_added {
    const void * plan;
    const struct sn_convolution * last;
    bool adds;
    void (*forward)(const void * plan, const struct sn_convolution * last, const struct sn_arrays * a);
};
void sn_forward_added(const struct sn_added * added, const struct sn_arrays * a);

/* The floats in the `params` of an activation. */
size_t sn_activation_params(enum sn_activation activation, size_t channels);

/* ---- for families and algorithms */

/* Sets the stride of an axis with a single output, and the dilation of an axis with a single tap, to 1; joins images. */
void sn_convolution_simplify(struct sn_convolution * c);

/* Leaves out the taps of the kernel that see only padding, makes images of one pixel NHWC, and those in NCHW that a kernel covers
 * one pixel, and simplifies. For families whose packing does not depend on weights that are left out, or that are given all
 * weights, see `crops`. */
void sn_convolution_crop(struct sn_convolution * c);

/* The first part of it, which leaves out taps. */
void sn_convolution_crop_taps(struct sn_convolution * c);

/*
 * Images of one column, on both sides, with a kernel of one: in memory they are images of one line, and weights the same. Kernels
 * compute neighbouring pixels of lines together, and the columns of a line are divided among threads: 14 convolutions of floats by
 * 1 to 9 taps take 0.1 to 1.05 of the time in NHWC, 0.19 to 1.0 in NCHW, 64x500x1 by 3x1 in 8 groups 0.21 and 0.48, 3x4000x1 by 7x1
 * to 32 0.87 and 0.19 (AVX-512, Xeon with AMX).
 */
bool sn_convolution_is_column(const struct sn_convolution * c);
void sn_convolution_turn(struct sn_convolution * c);

/*
 * Makes a NHWC image of one channel, with a result of one, NCHW: they are the same, and so are their weights, but vectors are then
 * of pixels. 1x128x128 by 3x3 with stride 2 takes 0.31 of the time, as a deconvolution 0.09. The last step of simplify(), for
 * families whose forward() is sn_convolution_forward_32f(): this copies images with gaps between pixels.
 */
void sn_convolution_plane(struct sn_convolution * c);
SN_INLINE bool sn_is_plane(const struct sn_convolution * c) { return c->format == SN_NHWC && c->p.srcF == SN_NCHW; }

/* The floats of such an image and of its result, each from an aligned address on. */
SN_INLINE size_t sn_plane_src(const struct sn_convolution * c) { return sn_align(c->p.srcH * c->p.srcW, SN_ALIGN / sizeof(float)); }
SN_INLINE size_t sn_plane_dst(const struct sn_convolution * c) { return sn_align(c->p.dstH * c->p.dstW, SN_ALIGN / sizeof(float)); }

/* The offset of a weight of the kernel of p in the caller's layout: [tap][input][output] for c->format NHWC, [output][input][tap]
 * for NCHW; o counts through all groups, i inside one. */
SN_INLINE size_t sn_weight_at(enum sn_format format, const struct sn_convolution_parameters * p, size_t o, size_t i, size_t tap)
{
    const size_t inputs = p->srcC / p->group;
    return format == SN_NHWC ? (tap * inputs + i) * p->dstC + o : (o * inputs + i) * p->kernelY * p->kernelX + tap;
}

/* Copies the weights that are used, of `size` bytes each, in the caller's layout; only if c->crop has a kernel. */
void sn_convolution_copy_cropped(const struct sn_convolution * c, const void * weight, size_t size, void * cropped);

/* The lines and columns of the caller's kernel that are used. */
SN_INLINE size_t sn_used_y(const struct sn_convolution * c) { return c->crop.turned ? c->p.kernelX : c->p.kernelY; }
SN_INLINE size_t sn_used_x(const struct sn_convolution * c) { return c->crop.turned ? c->p.kernelY : c->p.kernelX; }

/* The caller's kernel. */
SN_INLINE size_t sn_given_y(const struct sn_convolution * c) { return sn_max(c->crop.kernelY, sn_used_y(c)); }
SN_INLINE size_t sn_given_x(const struct sn_convolution * c) { return sn_max(c->crop.kernelX, sn_used_x(c)); }

/*
 * If lines of the output are independent, as in a 1x1 convolution in NHWC, a batch becomes one image with many lines: small
 * images then fill the tile, and weights are read once. 32 pixels of 1024 to 1000 channels are 2.8 times as fast. Every line
 * of *plain, the height of one side, has `stride` lines of *strided, the height of the other side, to itself.
 */
void sn_convolution_join_images(struct sn_convolution * c, size_t stride, size_t * strided, size_t * plain);

/* The bytes of an element. */
SN_INLINE size_t sn_element(enum sn_data type) { return type == SN_DATA_32F ? 4 : type == SN_DATA_16B ? 2 : 1; }

/* The activation for kernels: LeakyRelu is a Prelu. */
SN_INLINE enum sn_activation sn_activation_of(const struct sn_convolution * c)
{
    return c->slope ? SN_ACTIVATION_PRELU : c->p.activation;
}

/* The floats of a vector. */
SN_INLINE size_t sn_lanes(const struct sn_convolution * c) { return c->table->alignment / sizeof(float); }

/* The channels of a group. */
SN_INLINE size_t sn_inputs(const struct sn_convolution * c) { return c->p.srcC / c->p.group; }
SN_INLINE size_t sn_outputs(const struct sn_convolution * c) { return c->p.dstC / c->p.group; }

/* The packed weights, if they are floats. */
SN_INLINE sn_32f * sn_weights(const struct sn_convolution * c) { return c->weight; }

/* The number of weights in the caller's layout. */
SN_INLINE size_t sn_weight_count(const struct sn_convolution * c)
{
    return c->p.dstC * sn_inputs(c) * c->p.kernelY * c->p.kernelX;
}

/* True if every channel is a group with one output. */
SN_INLINE bool sn_is_depthwise(const struct sn_convolution * c)
{
    return c->p.group == c->p.srcC && c->p.group == c->p.dstC;
}

/* The index of output channel o in arrays of `channels` values. */
SN_INLINE size_t sn_channel_index(const struct sn_convolution * c, size_t o)
{
    return o / c->run * c->runStep + o % c->run;
}

/* For plan(): one value for each output channel, without gaps. */
SN_INLINE void sn_channels_plain(struct sn_convolution * c)
{
    c->channels = c->p.dstC;
    c->runStep = sn_outputs(c);
}

/* Copies one float per output channel, if `values` is not NULL, to the places that the algorithm needs. */
void sn_convolution_scatter(const struct sn_convolution * c, const sn_32f * values, sn_32f * spread);

/* For layout_arrays(): an array of `bytes` bytes at the next aligned address; *at moves to its end. */
void * sn_layout_array(uintptr_t * at, size_t bytes, size_t align);

/* The bytes of an array of floats, whose number is the product of some factors; false if it is too large. */
#define sn_floats(bytes, ...) (sn_product(bytes, __VA_ARGS__) && (*(bytes) *= sizeof(float), true))

/*
 * Runs compute() for all shares of all images, on as many threads as are worth it. With `parts` above 1, consecutive parts
 * of an image, for example its groups, count as images.
 */
struct sn_convolution_run {
    const struct sn_convolution * c;
    const struct sn_arrays * arrays;
    struct sn_shares shares; /* the argument of sn_shares_of() */
    size_t parts;            /* 0 means 1 */
    bool joined;             /* shares count the lines of all images, which sn_part_at() finds; `parts` is 1 */
    double time;             /* nanoseconds of all images */
    void (*compute)(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a);

    /* Some columns of an image of one line, such as a signal, are a convolution of their own: compute() may get a copy of the
     * plan whose p has these; if `near`, no more than stay in the L2 cache. narrow(): NULL, or adapts the algorithm's private
     * struct to p of the copy. */
    bool columns, near;
    void (*narrow)(struct sn_convolution * part);
};
void sn_convolution_run(const struct sn_convolution_run * r);

#endif
