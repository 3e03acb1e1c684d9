/*
 * Convolutions of all element types, and deconvolutions: what their plans have in common.
 *
 * A plan is made once for a shape and an instruction set. It holds the packed weights, the bias and the parameters of the
 * activation, never a pointer of the caller, and Forward does not change it: many threads may run one plan.
 *
 * A family (struct sn_convolution_family) is one kind of convolution: of floats, of bytes, of bfloat16 numbers, a
 * deconvolution. It has algorithms (struct sn_convolution_algorithm), each a file of its own, of which one is chosen by the
 * shape. Both keep what they compute for a plan in the plan itself, so that plans can be copied. Sizes count bytes.
 */
#ifndef SN_OPS_CONVOLUTION_H
#define SN_OPS_CONVOLUTION_H

#include "contract/table.h"
#include "ops/shares.h"
#include "runtime/error.h"
#include "runtime/memory.h"

struct sn_convolution;

/* The arrays of a call: all images, or one of them (a group of one, where the algorithm takes groups by themselves). */
struct sn_arrays {
    const void * src;
    void * work;      /* workSize bytes, aligned to SN_ALIGN */
    const void * add; /* NULL, or what is added before the activation; lies as dst */
    void * dst;
};

struct sn_convolution_algorithm {
    const char * name;
    bool tiled;     /* it uses the tile of the family */
    bool adds;      /* it takes `add`; else that is a pass over the result */
    size_t variant; /* tells algorithms of one file apart */

    /* True when it can take this shape on this instruction set; what would be best is a matter of its candidate. */
    bool (*admits)(const struct sn_convolution * c);

    /* Computes weightSize, channels, groupStep, segments, workSize and what is its own. False when a size is too large for
     * an array. */
    bool (*plan)(struct sn_convolution * c);

    /* Writes weightSize bytes, which are zero, from weights in the caller's layout, and `segments` offsets. Not called where
     * there are no weights. */
    void (*pack)(const struct sn_convolution * c, const void * weight);

    /* Copies one float per output channel to where it is needed among `channels` floats, which are zero; NULL: each to
     * sn_place(). */
    void (*spread)(const struct sn_convolution * c, const sn_32f * values, sn_32f * spread);

    /* Computes all images. */
    void (*forward)(const struct sn_convolution * c, const struct sn_arrays * a);
};

/* What SetParams is given; stats for bytes alone. */
struct sn_given {
    const sn_32f * weight, * bias, * params; /* bias may be NULL */
    const sn_32f * const * stats;
};

/* Why it is refused: there was no memory, or a number cannot be. Neither when all is well. */
struct sn_fault {
    const char * name; /* as in "stats[0] of channel"; NULL for none */
    size_t channel;
    float value;
    const char * expected;
    bool memory; /* there was none */
};

/* An algorithm of a family, and what is expected of it (ops/convolution_cost.h). */
struct sn_candidate {
    const struct sn_convolution_algorithm * algorithm;
    bool (*pays)(const struct sn_convolution * c);     /* NULL: wherever no other was taken before it */
    double (*cycles)(const struct sn_convolution * c); /* NULL: there is no model */
};

struct sn_convolution_family {
    /* In order of preference, ended by NULL. `base` comes first, and where it admits a shape there is nothing else; the last
     * one takes what is left. */
    const struct sn_candidate * candidates;

    enum sn_data small;  /* what images may have beside floats */
    size_t unit;         /* bytes of what the sizes of buffers count, */
    const char * units;  /* and its name */
    size_t align;        /* of the arrays that SetParams makes, but for offsets and weights, which are aligned to SN_ALIGN */
    const char * note;   /* before the name of the algorithm */

    /* The tile of an instruction set, as infos name it. */
    struct sn_tile_shape {
        size_t rows, columns;
    } (*tile)(const struct sn_table * table);

    /* Takes out of p what has no effect. */
    void (*simplify)(struct sn_convolution * c);

    /* NULL, or computes what the family has in c->shared, before an algorithm is chosen. */
    enum sn_error_kind (*prepare)(struct sn_convolution * c);

    /* NULL, or the bytes of memory that take() needs, and nobody afterwards. */
    size_t (*scratch)(const struct sn_convolution * c);

    /* Fills in bias, and what the family has in held; returns the weights for pack(), perhaps in scratch. Not called
     * without outputs. */
    const void * (*take)(struct sn_convolution * c, const struct sn_given * given, void * scratch, struct sn_fault * fault);

    /* NULL, or sets the arrays that the family has in held, which begin at `at`; returns where they end. */
    uintptr_t (*lay_out)(struct sn_convolution * c, uintptr_t at);
};

enum { SN_SHARED = 192, SN_OWN = 192 };

struct sn_convolution {
    struct sn_convolution_parameters p;
    size_t batch;
    const struct sn_table * table;
    const struct sn_convolution_family * family;
    const struct sn_convolution_algorithm * algorithm; /* NULL until it is chosen */

    size_t srcSize, dstSize;   /* of one image */
    size_t weightSize;         /* of the packed weights */
    size_t channels;           /* values in an array of one per output channel, as the algorithm spreads it, */
    size_t groupStep;          /* and those from a group's first one to the next group's */
    size_t segments;           /* offsets, for the tile or as the algorithm likes */
    size_t workSize;           /* of workspace for one thread; may be 0 */

    void * tables;             /* tablesSize bytes that the family has made with it; NULL for none */
    size_t tablesSize;

    void * held;               /* everything that SetParams gave, heldSize bytes; NULL before */
    size_t heldSize;
    size_t * segment;          /* in held, as the next three */
    void * weight;
    sn_32f * bias;             /* `channels` floats; of bytes, int32 that sums begin with */
    sn_32f * slope;            /* `channels` floats for Prelu and LeakyRelu (all the same then), else NULL */
    float param[2];            /* of the other activations */

    /* What the family and the algorithm compute for themselves, each a struct of its own. */
    char shared[SN_SHARED] __attribute__((aligned(8)));
    char own[SN_OWN] __attribute__((aligned(8)));
};

/* That a family's or an algorithm's struct fits. */
#define SN_FITS_SHARED(type) typedef char sn_fits_shared[sizeof(type) <= SN_SHARED ? 1 : -1] __attribute__((unused))
#define SN_FITS_OWN(type) typedef char sn_fits_own[sizeof(type) <= SN_OWN ? 1 : -1] __attribute__((unused))

/* ---- for contexts */

/* Chooses the algorithm, unless c->algorithm is one, and computes all sizes for p, batch, table and family, which are set.
 * SN_ERROR_VALUE: a size is too large. */
enum sn_error_kind sn_convolution_plan(struct sn_convolution * c);

/* The algorithms that admit a plan, in order of preference; their number. */
enum { SN_MOST_ALGORITHMS = 16 };
size_t sn_convolution_admitted(const struct sn_convolution * c, const struct sn_convolution_algorithm ** list);

/* What the algorithm of a plan should take for one image, in cycles of a core that multiplies 16 floats in each; 0 where
 * there is no model. */
double sn_convolution_cycles(const struct sn_convolution * c);

enum { SN_MOST_PLANS = 3 };

/* `count` plans take in what they are given; with a fault, all of them are as before. */
struct sn_fault sn_convolution_set(struct sn_convolution * c, const struct sn_given * given, size_t count);

/* The bytes that it holds: what it was given, and the tables; 0 before. */
size_t sn_convolution_held(const struct sn_convolution * c);

/* Frees what the plan owns. */
void sn_convolution_free(struct sn_convolution * c);

/* The floats in the `params` of an activation. */
size_t sn_activation_params(enum sn_activation activation, size_t channels);

/* ---- for families and algorithms */

/* Takes out the stride to a single output, and the dilation of a single tap, whatever they are. */
void sn_convolution_simplify(struct sn_convolution * c);

/* The bytes of an element. */
static inline size_t sn_element(enum sn_data type) { return type == SN_DATA_32F ? 4 : type == SN_DATA_16B ? 2 : 1; }

/* The activation as kernels have it: LeakyRelu is a Prelu. */
static inline enum sn_activation sn_activation_of(const struct sn_convolution * c)
{
    return c->slope ? SN_ACTIVATION_PRELU : c->p.activation;
}

/* The floats of a vector. */
static inline size_t sn_lanes(const struct sn_convolution * c) { return c->table->alignment / sizeof(float); }

/* The channels of a group. */
static inline size_t sn_inputs(const struct sn_convolution * c) { return c->p.srcC / c->p.group; }
static inline size_t sn_outputs(const struct sn_convolution * c) { return c->p.dstC / c->p.group; }

/* The packed weights, where they are floats. */
static inline sn_32f * sn_weights(const struct sn_convolution * c) { return c->weight; }

/* The caller's weights. */
static inline size_t sn_weight_count(const struct sn_convolution * c)
{
    return c->p.dstC * sn_inputs(c) * c->p.kernelY * c->p.kernelX;
}

/* Every channel a group, with one output. */
static inline bool sn_is_depthwise(const struct sn_convolution * c)
{
    return c->p.group == c->p.srcC && c->p.group == c->p.dstC;
}

/* Where the value of output channel o lies in the arrays. */
static inline size_t sn_place(const struct sn_convolution * c, size_t o)
{
    return o / sn_outputs(c) * c->groupStep + o % sn_outputs(c);
}

/* For plan(): one value for each output channel, without gaps. */
static inline void sn_channels_plain(struct sn_convolution * c)
{
    c->channels = c->p.dstC;
    c->groupStep = sn_outputs(c);
}

/* Copies one float per output channel, if there are such, as the algorithm needs them. */
void sn_convolution_spread(const struct sn_convolution * c, const sn_32f * values, sn_32f * spread);

/* For lay_out(): an array of `bytes` bytes at the next address that is aligned, behind which *at moves. */
void * sn_lay(uintptr_t * at, size_t bytes, size_t align);

/* The product of some factors as bytes of so many floats; false when it is too large. */
#define sn_floats(bytes, ...) (sn_product(bytes, __VA_ARGS__) && (*(bytes) *= sizeof(float), true))

/*
 * compute() for all shares of all images, on all threads that pay. `parts` of an image that follow each other, its groups
 * say, count as images of their own.
 */
struct sn_convolution_run {
    const struct sn_convolution * c;
    const struct sn_arrays * arrays;
    struct sn_shares shares; /* as sn_shares_of() takes it */
    size_t parts;            /* 0 is 1 */
    double time;             /* nanoseconds of all images */
    void (*compute)(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a);
};
void sn_convolution_run(const struct sn_convolution_run * r);

#endif
