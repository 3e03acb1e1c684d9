/*
 * Quantised convolution: what SetParams makes of weights and statistics, the choice of an algorithm, and what they share.
 *
 * A plan is made once for a shape and an instruction set. It holds copies of all that SetParams gave, and Forward does not
 * change it: many threads may run one plan.
 */
#ifndef SN_OPS_CONVOLUTION_8I_H
#define SN_OPS_CONVOLUTION_8I_H

#include "core/table.h"
#include "ops/shares.h"

struct sn_convolution_8i;

/* One way to compute a convolution. */
struct sn_convolution_8i_way {
    const char * name;
    bool tiled; /* it uses the tile */

    /*
     * Computes weightBytes, channels, segments, workBytes and what is its own. False when a size is too large for an
     * array.
     */
    bool (*plan)(struct sn_convolution_8i * c);

    /* Writes weightBytes bytes, which are zero, from weights in the caller's layout, `segments` offsets, and `start`. */
    void (*pack)(const struct sn_convolution_8i * c, const int8_t * weight);

    /* Computes all images. work: workBytes bytes, aligned to SN_ALIGN. */
    void (*forward)(const struct sn_convolution_8i * c, const uint8_t * src, uint8_t * work, uint8_t * dst);
};

/* base has the first; the third takes everything. */
extern const struct sn_convolution_8i_way sn_convolution_8i_base, sn_convolution_8i_depthwise, sn_convolution_8i_tiled;

/*
 * A band: the input that some output rows need as bytes (or 16 bits) of NHWC, with its padding; or the image itself where
 * that is just this. Where the kernel is one cell high (or wide), what a stride passes over is left out, and the stride
 * becomes 1.
 */
struct sn_band_8i {
    bool copied;
    size_t rows;             /* output rows computed from one band */
    size_t lines;            /* input lines for so many, padding included */
    size_t columns;          /* columns of a line, padding included */
    size_t strideY, strideX; /* between the inputs of neighbouring outputs, in lines and columns of the band */
    size_t element;          /* bytes of a number */
    size_t pixel, line;      /* bytes between columns and between lines */
};

struct sn_convolution_8i {
    SimdConvolutionParameters p;
    size_t batch;
    const struct sn_table * table;
    const struct sn_convolution_8i_way * way;

    size_t srcElement, dstElement; /* bytes of an element */
    size_t srcBytes, dstBytes;     /* of one image */
    size_t weightCount;            /* of the caller's weights */
    size_t weightBytes;            /* of the packed weights */
    size_t channels;               /* of an array with one value per output channel, as the algorithm spreads it */
    size_t segments;               /* offsets of taps */
    size_t workBytes;              /* of workspace for one thread; may be 0 */

    void * held;                   /* everything that SetParams gave, heldBytes bytes; NULL before */
    size_t heldBytes;
    size_t * segment;              /* in held, as all that follow */
    void * weight;
    int32_t * start;
    float * norm, * bias, * slope; /* slope: only for Prelu and LeakyRelu */
    float * dstScale, * srcScale;  /* the latter has srcC */
    uint8_t * low, * high;
    float * given;                 /* the parameters of the activation, as the caller gave them */
    float srcZero, dstZero, param[2];
    bool tame;                     /* see struct sn_result_8i */

    /* What the algorithms plan for themselves. */
    struct sn_band_8i band;
    size_t group;                  /* outputs of a group begin at multiples of this in spread arrays */
    size_t depth, length;          /* groups of numbers in a sum, and in a segment */
    size_t bandBytes;              /* of the band, in the workspace; results of NCHW lie behind it */
};

/* A number given to SetParams that cannot be; `name` is NULL when all is well. */
struct sn_fault_8i {
    const char * name; /* as in "stats[0] of channel" */
    size_t channel;
    float value;
    const char * expected;
    bool memory; /* there was none */
};

/* Chooses the algorithm and computes all sizes for p, batch and table, which are set; false: one is too large. */
bool sn_convolution_8i_plan(struct sn_convolution_8i * c);

/* Takes in weights, bias (may be NULL), parameters and statistics. With a fault the plan is as before. */
struct sn_fault_8i sn_convolution_8i_set(struct sn_convolution_8i * c, const float * weight, const float * bias,
                                         const float * params, const float * const * stats);

void sn_convolution_8i_forward(const struct sn_convolution_8i * c, const uint8_t * src, uint8_t * work, uint8_t * dst);

/* ---- for the ways */

/* Where the result of output channel o lies in the arrays. */
static inline size_t sn_spread_8i(const struct sn_convolution_8i * c, size_t o)
{
    const size_t outputs = c->p.dstC / c->p.group;
    return o / outputs * c->group + o % outputs;
}

/* The offset of a weight in the caller's layout; o counts through all groups, i inside one. */
static inline size_t sn_weight_at(const SimdConvolutionParameters * p, size_t o, size_t i, size_t ky, size_t kx)
{
    const size_t inputs = p->srcC / p->group;
    return p->srcF == SimdTensorFormatNhwc ? ((ky * p->kernelX + kx) * inputs + i) * p->dstC + o
                                           : ((o * inputs + i) * p->kernelY + ky) * p->kernelX + kx;
}

/*
 * Plans c->band, bandBytes and workBytes for numbers of `element` bytes; the image itself is read only when `whole`: then
 * kernels read no byte beyond it. `most` results of a pixel are computed before they go to planes.
 */
bool sn_band_8i_plan(struct sn_convolution_8i * c, size_t element, bool whole, size_t most);

/* The part of the results that begins at `first` of the spread arrays. */
struct sn_result_8i sn_result_of(const struct sn_convolution_8i * c, size_t first);

/*
 * Where results of output rows from `row` on, `channels` channels from `first` on, are to be written, and the bytes
 * between their pixels: into the image, or, for NCHW, to `work`, from where sn_result_done() copies them to planes.
 */
uint8_t * sn_result_at(const struct sn_convolution_8i * c, size_t first, size_t channels, size_t row, uint8_t * work,
                       uint8_t * dst, size_t * step);
void sn_result_done(const struct sn_convolution_8i * c, const uint8_t * work, size_t first, size_t channels, size_t row,
                    size_t rows, uint8_t * dst);

/*
 * compute() for all rows of all images: `lines` is the input of those of s, dst the image, work the workspace behind the
 * band.
 */
struct sn_bands_8i {
    const struct sn_convolution_8i * c;
    const uint8_t * src;
    uint8_t * work, * dst; /* work: workBytes */
    void (*compute)(const struct sn_convolution_8i * c, const uint8_t * lines, const struct sn_share * s, uint8_t * work,
                    uint8_t * dst);
    size_t panel;              /* outputs of a panel, where compute() can do some of them; 0: it does all */
    struct sn_shares shares;   /* filled in by sn_bands_8i_run() */
};
void sn_bands_8i_run(struct sn_bands_8i * bands);

#endif
