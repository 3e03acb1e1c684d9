/*
 * Convolution of floats: the choice of an algorithm for a shape, and what all algorithms share.
 *
 * A plan is made once for a shape and an instruction set. It holds the packed weights, the bias and the parameters of the
 * activation, never a pointer of the caller, and Forward does not change it: many threads may run one plan.
 */
#ifndef SN_OPS_CONVOLUTION_32F_H
#define SN_OPS_CONVOLUTION_32F_H

#include "contract/table.h"
#include "ops/band.h"
#include "runtime/error.h"

struct sn_convolution_32f;

/* One way to compute a convolution: a room of its own, ops/convolution_32f_<name>.c. */
struct sn_convolution_32f_way {
    const char * name;
    bool tiled; /* it uses the GEMM tile */

    /* True when it can take this shape on this instruction set. */
    bool (*takes)(const struct sn_convolution_32f * c);

    /* Computes weightSize, channels, segments, workSize and what is its own. False when a size is too large for an array. */
    bool (*plan)(struct sn_convolution_32f * c);

    /* Writes weightSize floats from the caller's weights, which are not NULL, and `segments` offsets. */
    void (*pack)(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment);

    /* Copies an array of one float per output channel to where it wants it among `channels` floats, which are zero. */
    void (*spread)(const struct sn_convolution_32f * c, const sn_32f * values, sn_32f * spread);

    /* Computes all images. work: workSize floats, aligned to SN_ALIGN. */
    void (*forward)(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst);

    /* The same; add is NULL, or what is added before the activation, and lies as dst. NULL where a pass over the result, by
     * ops/convolution_32f_add.c, has to do. */
    void (*forward_add)(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, const sn_32f * add,
                        sn_32f * dst);
};

/* The loops of the formula, weights and parameters as the caller gave them; `base` has no other. A deconvolution has all of
 * it but the loops. */
extern const struct sn_convolution_32f_way sn_convolution_32f_base;
bool sn_base_takes(const struct sn_convolution_32f * c);
bool sn_base_plan(struct sn_convolution_32f * c);
void sn_base_pack(const struct sn_convolution_32f * c, const sn_32f * weight, sn_32f * packed, size_t * segment);
void sn_base_spread(const struct sn_convolution_32f * c, const sn_32f * values, sn_32f * spread);

/* In order of preference, the last takes everything. */
extern const struct sn_convolution_32f_way sn_convolution_32f_depthwise_sliced, sn_convolution_32f_depthwise_nhwc,
    sn_convolution_32f_depthwise_converted, sn_convolution_32f_depthwise_nchw, sn_convolution_32f_few_nhwc,
    sn_convolution_32f_few_nchw, sn_convolution_32f_winograd_2, sn_convolution_32f_winograd_3, sn_convolution_32f_winograd_4,
    sn_convolution_32f_winograd_strided_2, sn_convolution_32f_winograd_strided_4, sn_convolution_32f_converted,
    sn_convolution_32f_nhwc, sn_convolution_32f_nchw;

/* Of a deconvolution, along one axis: see ops/deconvolution_32f.h. */
struct sn_phases {
    struct sn_phase * phase;
    size_t number, bytes;      /* of phases, and of their table */
    size_t stride;             /* from one output of a phase to the next */
    size_t count;              /* outputs of the first phase, of which no other has more */
    size_t tapStep, lineStep;  /* between the taps of a phase, and between the lines of input that they find */
    size_t taps;               /* of the phase that has most of them */
    size_t reach;              /* lines that all phases together want for one output of each, less one */
    ptrdiff_t low;             /* the first of them for output 0, in the image */
};

struct sn_convolution_32f {
    struct sn_convolution_parameters p;
    size_t batch;
    const struct sn_table * table;
    const struct sn_convolution_32f_way * way; /* NULL until the plan has chosen */
    bool edges;                /* NHWC: the band has only what outputs at the edges need, the others read the image itself */
    bool few;                  /* the direct ways leave the sums to those of ops/convolution_32f_few.c */
    /* Of a deconvolution computed as a convolution, whose weights come as the former has them: turns them into an array of
     * its own, NULL without memory. Else NULL. */
    sn_32f * (*turn)(const struct sn_convolution_32f * c, const sn_32f * weight);

    size_t srcSize, dstSize;   /* floats of one image */
    size_t weightSize;         /* floats of the packed weights */
    size_t channels;           /* floats of an array with one value per output channel, as the algorithm spreads it */
    size_t segments;           /* offsets, for the tile or as the algorithm likes */
    size_t workSize;           /* floats of workspace for one thread; may be 0 */

    void * held;               /* everything that SetParams gave, heldSize floats; NULL before */
    size_t heldSize;
    const size_t * segment;    /* in held, as the next three */
    const sn_32f * weight;
    const sn_32f * bias;       /* `channels` floats */
    const sn_32f * slope;      /* `channels` floats for Prelu and LeakyRelu (all the same then), else NULL */
    float param[2];            /* of the other activations */

    /* What the algorithms plan for themselves. */
    struct sn_band band;
    size_t depth;              /* multiply-adds of one output: kernelY * kernelX * srcC / group */
    size_t length;             /* of a segment */
    size_t step;               /* floats from one row of packed weights to the next */
    size_t block, stripe;      /* of depth, and of pixels, that are packed at a time */
    size_t converted;          /* floats of the lines that a band is converted from */
    struct sn_winograd_block {
        enum sn_winograd kind;
        size_t tilesY, tilesX; /* of the output */
        size_t tiles;          /* that are computed together */
        size_t pixel, input;   /* floats between transformed tiles, and between planes of them */
        size_t product;        /* and between planes of products */
        size_t lines;          /* NCHW: floats of the lines that a block needs */
    } winograd;
    struct sn_phases y, x;     /* of a deconvolution */
    size_t outputs;            /* of a deconvolution in NCHW: channels that are computed together */
};

/* The activation as the tile knows it: LeakyRelu is a Prelu. */
static inline enum sn_activation sn_tile_activation(const struct sn_convolution_32f * c)
{
    return c->slope ? SN_ACTIVATION_PRELU : c->p.activation;
}

/* The floats of a vector. */
static inline size_t sn_lanes(const struct sn_convolution_32f * c) { return c->table->alignment / sizeof(float); }

/* For NCHW: chooses the band, or the image itself, and computes what all ways have; workSize is what the band needs. */
bool sn_nchw_plan(struct sn_convolution_32f * c);

/* For NCHW: the band of `planes` channels, its lines split in phases; and the offset of a tap in it. False: too large. */
bool sn_split_plan(struct sn_convolution_32f * c, size_t planes);
size_t sn_split_tap(const struct sn_convolution_32f * c, size_t plane, size_t ky, size_t kx);

/* Copies what output rows row .. row + rows - 1 need of one plane of the image. */
void sn_split_copy(const struct sn_convolution_32f * c, const sn_32f * src, size_t row, size_t rows, sn_32f * to);

/* Packs weights [kernelY][kernelX][channels] as struct sn_depthwise_nhwc_32f wants them, but for the end of the last
 * vector. */
void sn_depthwise_nhwc_pack(const struct sn_table * table, size_t taps, size_t channels, const sn_32f * weight,
                            sn_32f * packed);

/* The number of floats in the `params` of an activation. */
size_t sn_activation_params(enum sn_activation activation, size_t channels);

/* Some output rows of a direct NHWC convolution: where their input lies (a stride is in the steps), and where they go. */
struct sn_nhwc_rows {
    size_t rows, columns;     /* 0 columns: all */
    const sn_32f * src;
    size_t srcLine, srcPixel; /* floats between the inputs of neighbouring outputs */
    sn_32f * dst;
    size_t dstLine, dstPixel;
    const sn_32f * add;       /* NULL, or what is added before the activation; lies as dst */
    size_t first, outputs;    /* only these output channels, a panel of the tile, the first one at dst; 0 outputs: all */
    const sn_32f * ahead;     /* NULL, or so many floats that will be wanted next: they are fetched meanwhile */
    size_t aheadSize;
};

/* For NHWC: where the segments of a sum begin, from a pixel's first input on. */
void sn_nhwc_segments(const struct sn_convolution_32f * c, size_t * segment);

/* Computes them. */
void sn_nhwc_compute(const struct sn_convolution_32f * c, const struct sn_nhwc_rows * r);

/* Sets the source of r, for r->rows output rows from `row` on of the image src, by a band in `work` where c->band has one.
 * r->rows is not more than c->band.rows. Not with c->edges. */
void sn_nhwc_source(const struct sn_convolution_32f * c, const sn_32f * src, size_t row, sn_32f * work,
                    struct sn_nhwc_rows * r);

/* Both: sets the source and computes. */
void sn_nhwc_band(const struct sn_convolution_32f * c, const sn_32f * src, size_t row, sn_32f * work, struct sn_nhwc_rows r);

/* Few outputs: computes r->rows rows of an NHWC convolution; in NCHW those of group g, from the band's first plane at
 * src. */
void sn_few_nhwc(const struct sn_convolution_32f * c, const struct sn_nhwc_rows * r);
void sn_few_nchw(const struct sn_convolution_32f * c, size_t g, const sn_32f * src, size_t rows, sn_32f * dst);

/* Chooses the algorithm, unless c->way is one, and computes all sizes for p, batch and table, which are set. No error,
 * SN_ERROR_VALUE: a size is too large, or SN_ERROR_MEMORY: there is none for tables. */
enum sn_error_kind sn_convolution_32f_plan(struct sn_convolution_32f * c);

/* Takes in weights, bias (may be NULL) and parameters; false without memory, and then the plan is as before. */
bool sn_convolution_32f_set(struct sn_convolution_32f * c, const sn_32f * weight, const sn_32f * bias,
                            const sn_32f * params);

void sn_convolution_32f_forward(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work, sn_32f * dst);

/* The same with what is added before the activation, which lies as dst. */
void sn_convolution_32f_forward_add(const struct sn_convolution_32f * c, const sn_32f * src, sn_32f * work,
                                    const sn_32f * add, sn_32f * dst);

/* The floats that it holds: what it was given, and the tables of a deconvolution; 0 before. */
size_t sn_convolution_32f_held(const struct sn_convolution_32f * c);

/* For struct sn_parallel: what all images take, by the number of products of the formula. */
double sn_convolution_32f_cost(const struct sn_convolution_32f * c);

/* Frees what the plan owns. */
void sn_convolution_32f_free(struct sn_convolution_32f * c);

#endif
