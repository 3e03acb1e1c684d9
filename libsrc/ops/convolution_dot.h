/*
 * Convolution by products of small numbers, bytes or bfloat16 (contract/dot.h): what the two families share. Whatever the
 * image is, rows of A are pixels of NHWC: a band of the image is copied and converted where it is anything else, and
 * results of NCHW are pixels first and then planes.
 *
 * A plan is made once for a shape and an instruction set. It holds copies of all that SetParams gave, and Forward does not
 * change it: many threads may run one plan.
 */
#ifndef SN_OPS_CONVOLUTION_DOT_H
#define SN_OPS_CONVOLUTION_DOT_H

#include "contract/table.h"
#include "ops/band.h"
#include "ops/shares.h"

struct sn_convolution_dot;

/* One way to compute a convolution. */
struct sn_convolution_dot_way {
    const char * name;
    bool tiled; /* it uses the tile */

    /*
     * Computes weightBytes, channels, segments, workBytes and what is its own. False when a size is too large for an
     * array.
     */
    bool (*plan)(struct sn_convolution_dot * c);

    /* Writes weightBytes bytes, which are zero, from small weights in the caller's layout, and `segments` offsets. */
    void (*pack)(const struct sn_convolution_dot * c, const void * weight);

    /* Computes all images. work: workBytes bytes, aligned to SN_ALIGN. */
    void (*forward)(const struct sn_convolution_dot * c, const uint8_t * src, uint8_t * work, uint8_t * dst);
};

/* It takes everything. */
extern const struct sn_convolution_dot_way sn_convolution_dot_tiled;

/* Room for what the tile makes results with. */
union sn_dot_result {
    struct sn_result_8i as_8i;
    struct sn_result_16b as_16b;
};

/* What a family is to the shared parts. */
struct sn_convolution_dot_family {
    size_t small;        /* bytes of a small number of images: 1 or 2 */
    size_t weight;       /* and of a weight as pack() gets it */
    bool spaced;         /* groups of numbers do not reach into other pixels: 0 times what lies there may be a NaN */

    /* The results of channels from `first` of the spread arrays on. */
    void (*result)(const struct sn_convolution_dot * c, size_t first, union sn_dot_result * result);
};

struct sn_convolution_dot {
    struct sn_convolution_parameters p;
    size_t batch;
    const struct sn_table * table;

    /* Set by the family before sn_convolution_dot_plan(). */
    const struct sn_convolution_dot_family * family;
    const struct sn_convolution_dot_way * way;
    const struct sn_dot_tile * tile;
    sn_pixels_fn pixels;
    sn_planes_fn planes;

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
    void * start;                  /* of sums, 4 bytes for each of `channels` */
    sn_32f * slope;                /* only for Prelu and LeakyRelu (all the same then) */
    sn_32f * srcScale;             /* of bytes: srcC */
    float srcZero;                 /* the number that stands for 0 */
    float param[2];                /* of the other activations */

    /* What the ways plan for themselves. */
    struct sn_band band;           /* pixel and line in bytes */
    size_t number;                 /* bytes of a number of the band */
    size_t inputs;                 /* numbers of a group of channels in a pixel of the band, with what spaces them */
    size_t group;                  /* outputs of a group begin at multiples of this in spread arrays */
    size_t depth, length;          /* groups of numbers in a sum, and in a segment */
    size_t bandBytes;              /* of the band, in the workspace; results of NCHW lie behind it */
    size_t resultBytes, roundBytes; /* depthwise bfloat16: where floats to be rounded begin and end behind the band */
};

/* Computes all sizes for p, batch, table and what the family has set; false: one is too large. */
bool sn_convolution_dot_plan(struct sn_convolution_dot * c);

/* The bytes that `lay_out` ends at when it begins at 0 become heldBytes, and held such a block of zeros, laid out. */
bool sn_convolution_dot_hold(struct sn_convolution_dot * c,
                             uintptr_t (*lay_out)(struct sn_convolution_dot * c, uintptr_t at));

/* For lay_out: `bytes` bytes from *at on, which moves behind them; and those arrays that both families have. */
void * sn_dot_take(uintptr_t * at, size_t bytes);
uintptr_t sn_dot_lay_out(struct sn_convolution_dot * c, uintptr_t at);

/* Sets slope and param. */
void sn_convolution_dot_params(struct sn_convolution_dot * c, const sn_32f * params);

/* The activation as kernels know it: LeakyRelu is a Prelu. */
static inline enum sn_activation sn_dot_activation(const struct sn_convolution_dot * c)
{
    return c->slope ? SN_ACTIVATION_PRELU : c->p.activation;
}

/* Where the result of output channel o lies in the arrays. */
static inline size_t sn_dot_spread(const struct sn_convolution_dot * c, size_t o)
{
    const size_t outputs = c->p.dstC / c->p.group;
    return o / outputs * c->group + o % outputs;
}

/* The offset of a weight in the caller's layout; o counts through all groups, i inside one. */
static inline size_t sn_weight_at(const struct sn_convolution_parameters * p, size_t o, size_t i, size_t ky, size_t kx)
{
    const size_t inputs = p->srcC / p->group;
    return p->srcF == SN_NHWC ? ((ky * p->kernelX + kx) * inputs + i) * p->dstC + o
                                           : ((o * inputs + i) * p->kernelY + ky) * p->kernelX + kx;
}

/* ---- for the ways */

/*
 * What kernels read: always a copy; the image itself if there is no padding, and no byte beyond it; or the image itself, of
 * which they know where padding begins.
 */
enum sn_dot_reads { SN_READS_COPY, SN_READS_PIXELS, SN_READS_LINES };

/*
 * Plans c->band, bandBytes and workBytes for numbers of `number` bytes. Results that go to planes are computed `most` bytes
 * of a pixel at a time.
 */
bool sn_dot_band_plan(struct sn_convolution_dot * c, size_t number, enum sn_dot_reads reads, size_t most);

/*
 * Where results of output rows from `row` on, `channels` channels from `first` on, are to be written, and the bytes
 * between their pixels: into the image, or, for NCHW, to `work`, from where sn_dot_result_done() copies them to planes.
 */
uint8_t * sn_dot_result_at(const struct sn_convolution_dot * c, size_t first, size_t channels, size_t row, uint8_t * work,
                           uint8_t * dst, size_t * step);
void sn_dot_result_done(const struct sn_convolution_dot * c, const uint8_t * work, size_t first, size_t channels, size_t row,
                        size_t rows, uint8_t * dst);

/*
 * compute() for all rows of all images: `lines` is the input of those of s, dst the image, work the workspace behind the
 * band.
 */
struct sn_dot_bands {
    const struct sn_convolution_dot * c;
    const uint8_t * src;
    uint8_t * work, * dst; /* work: workBytes */
    void (*compute)(const struct sn_convolution_dot * c, const uint8_t * lines, const struct sn_share * s, uint8_t * work,
                    uint8_t * dst);
    size_t panel;              /* outputs of a panel, where compute() can do some of them; 0: it does all */
    struct sn_shares shares;   /* filled in by sn_dot_bands_run() */
};
void sn_dot_bands_run(struct sn_dot_bands * bands);

#endif
