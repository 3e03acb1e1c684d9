/*
 * Convolution by products of small numbers, bytes or bfloat16 (contract/dot.h): the common part of the two families. Rows of
 * A are always NHWC pixels of small numbers: for any other image a band is copied and converted, and results for NCHW are
 * computed as pixels and then converted to planes.
 */
#ifndef SN_OPS_CONVOLUTION_DOT_H
#define SN_OPS_CONVOLUTION_DOT_H

#include "ops/convolution/band.h"
#include "ops/convolution/nhwc_edges.h"
#include "ops/convolution/plan.h"

/* The argument by which the tile converts sums to results. */
union sn_dot_result {
    struct sn_result_8i as_8i;
    struct sn_result_16b as_16b;
};

/* Results that are changed once they are computed: runs of bytes, `step` apart, and those that are added to them. */
struct sn_dot_results {
    uint8_t * dst;
    size_t step, size, runs; /* bytes of a run, and their number */
    size_t first;            /* of runs that are pixels: the output of their first byte */
    const uint8_t * add;     /* NULL for nothing */
    size_t addStep;
    bool after;              /* adds to what a table of bytes gives */
};

/* The beginning of c->familyData in both families. */
struct sn_dot_family {
    const struct sn_dot_tile * tile;
    sn_pixels_fn pixels;
    sn_planes_fn planes;
    bool exact;        /* a depthwise convolution of bfloat16 numbers rounds neither a float source nor its weights */
    bool rounded;      /* whether the weights that are multiplied are bfloat16 numbers: all, unless `exact` */
    bool spaced;       /* groups of numbers must not extend into other pixels: 0 times such a number may be NaN */
    bool transposed;   /* of inner products: weights are N rows of K numbers; set after the plan is made */

    /* Sets *result for the channels from index `first` of the spread arrays on. */
    void (*result)(const struct sn_convolution * c, size_t first, union sn_dot_result * result);

    /* NULL, or changes results. With an addition, runs need not be pixels. */
    void (*finish)(const struct sn_convolution * c, const struct sn_dot_results * r);

    sn_32f * srcScale; /* for bytes: srcC scales, in `packed` */
    float srcZero;     /* the number that represents 0 */
};

static inline const struct sn_dot_family * sn_dot_of(const struct sn_convolution * c) { return (const void *)c->familyData; }

/* Whether `base` computes: on a level without a tile. */
static inline bool sn_dot_base_supports(const struct sn_convolution * c) { return !sn_dot_of(c)->tile->run; }

/* For algorithms that compute inner products, too: whether the same B would be packed to the same numbers. */
static inline bool sn_dot_alike(const struct sn_convolution * c, const struct sn_convolution * from)
{
    return sn_dot_of(c)->transposed == sn_dot_of(from)->transposed;
}

/* By the tile; supports every shape. */
extern const struct sn_convolution_algorithm sn_convolution_dot_tiled;

/* Computes some output rows of one image by it, for plans of several convolutions. */
void sn_dot_tiled_rows(const struct sn_convolution * c, size_t row, size_t rows, const struct sn_arrays * a);

/* The bytes of a small number in images. */
static inline size_t sn_small(const struct sn_convolution * c) { return sn_element(c->family->smallType); }

/* ---- bands */

struct sn_dot_band {
    struct sn_band band; /* pixel and line in bytes */
    size_t number;       /* bytes of a number of it */
    size_t inputs;       /* numbers of a group of channels in a pixel, with spacing */
    bool anywhere;       /* an image whose pixels have gaps between them can be read in place; otherwise it is copied */
    bool aligned;        /* pixels of a copy are, to SN_ALIGN, with gaps between them */
    bool unlessAligned;  /* an image of which every or every other pixel is aligned is read in place, although band.copied */
    bool edges;          /* only the input of outputs that need padding is copied (nhwc_edges.h), see sn_dot_parts() */
    bool unpadded;       /* the copy is the whole image without padding, for kernels that read lines */
    size_t bytes;        /* of its copy, which begins the workspace; results for NCHW follow */
};

/*
 * What kernels read: always a copy; the image itself if there is no padding and no byte beyond it is read; or its parts, where
 * only some need padding; or the image itself in any case, with the extent of the padding as arguments.
 */
enum sn_dot_reads { SN_READS_COPY, SN_READS_PIXELS, SN_READS_PARTS, SN_READS_LINES };

/*
 * Plans the band, whose number and inputs are set, and c->workSize. Results to be converted to planes are computed `most`
 * bytes of a pixel at a time.
 */
bool sn_dot_band_plan(struct sn_convolution * c, struct sn_dot_band * b, enum sn_dot_reads reads, size_t most);

/* Runs compute() for all rows of all images; panel: the outputs of a panel if it can compute a part of them, 0 if it always
 * computes all. */
void sn_dot_run(const struct sn_convolution * c, const struct sn_dot_band * b, const struct sn_arrays * a, size_t panel,
                void (*compute)(const struct sn_convolution * c, const struct sn_share * s, const struct sn_arrays * a));

/* For compute(): the input for the rows of a share, in the image or copied to the workspace. */
struct sn_dot_lines {
    const uint8_t * first;
    bool copied;
    size_t pixel, line; /* bytes between pixels and between lines */
};
struct sn_dot_lines sn_dot_lines_of(const struct sn_convolution * c, const struct sn_dot_band * b, const struct sn_share * s,
                                    const struct sn_arrays * a);

/* For compute() of a band of edges: the parts of a share, each with its input; all have the same lines. */
struct sn_dot_parts {
    const void * job;
    void (*compute)(const struct sn_dot_parts * parts, const struct sn_edges_part * part, const struct sn_dot_lines * lines);
};
void sn_dot_parts(const struct sn_convolution * c, const struct sn_dot_band * b, const struct sn_share * s,
                  const struct sn_arrays * a, const struct sn_dot_parts * parts);

/*
 * The address for results of output rows from `row` on, `channels` channels from `first` on, and the bytes between their
 * pixels: in the image or, for NCHW, in `work`, where sn_dot_result_store() finishes them, and copies them to planes.
 */
uint8_t * sn_dot_result_at(const struct sn_convolution * c, size_t first, size_t channels, size_t row, uint8_t * work,
                           const struct sn_arrays * a, size_t * step);
void sn_dot_result_store(const struct sn_convolution * c, uint8_t * work, size_t first, size_t channels, size_t row,
                         size_t rows, const struct sn_arrays * a);

/* Finishes all results of a share in the image, but for NCHW: as few calls as possible. */
void sn_dot_result_finish(const struct sn_convolution * c, size_t first, size_t channels, size_t row, size_t rows,
                          const struct sn_arrays * a);

#endif
