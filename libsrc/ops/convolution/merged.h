/*
 * Successive convolutions of NHWC images: expansion, depthwise, projection; the first or the last may be missing. What plans of
 * all element types share; each kind (struct sn_merged_kind) has its file.
 */
#ifndef SN_OPS_CONVOLUTION_MERGED_H
#define SN_OPS_CONVOLUTION_MERGED_H

#include "ops/convolution/plan.h"

enum sn_merged_stage { SN_EXPANSION, SN_DEPTHWISE, SN_PROJECTION, SN_MERGED_STAGES };

/* Whether the source is added to the result of the last stage; for quantised bytes also in which order, on which the rounding
 * depends. */
enum sn_merged_addition { SN_ADDS_NOTHING, SN_ADDS_SOURCE, SN_ADDS_TO_SOURCE };

struct sn_merged;

struct sn_merged_kind {
    enum sn_data smallType; /* the element type that images may have besides float */
    size_t unit;            /* bytes of the unit of buffer sizes */
    bool adds;              /* a call may add an array of floats, if the context does not add its source */

    /* Plans all stages; false: a size is too large. */
    bool (*plan)(struct sn_merged * m);

    /* Computes all images. */
    void (*forward)(const struct sn_merged * m, const struct sn_arrays * a);
};

/* merged_32f.c: floats; merged_dot.c: bfloat16 numbers, floats that multiply them, and bytes with statistics; merged_quantized.c: bytes with scales and zero
 * points. */
extern const struct sn_merged_kind sn_merged_32f, sn_merged_32f_rounded, sn_merged_16b, sn_merged_8i, sn_merged_quantized;

struct sn_merged {
    const struct sn_merged_kind * kind;
    const struct sn_table * table;
    size_t batch;
    enum sn_merged_stage given; /* the first of the caller's convolutions, */
    size_t count;               /* and their number, 2 or 3 */
    enum sn_merged_addition add;
    enum sn_merged_stage first, last; /* of the stages: those convolutions and, for bytes, conversions before or after them */
    struct sn_convolution stage[SN_MERGED_STAGES]; /* plans of one image, with their parameters */

    struct sn_distances dense; /* of the source and of the result */
    size_t workSize;           /* bytes of workspace for one thread; may be 0 */
    size_t rows;               /* a step has so many output rows of the depthwise stage; 0: whole images, stage by stage */
    struct { /* floats: a ring of padded lines that the expansion fills */
        size_t lines, line, pixel; /* lines, 0 without expansion; floats between them and between pixels */
        size_t bufferPixel;        /* floats between pixels of the depthwise result, which the projection reads */
        size_t buffer, band, flat; /* offsets in the workspace, after the ring, in floats */
    } ring;
    struct { /* small numbers: lines of the expansion */
        size_t lines;
        size_t middle, sums, added, rest; /* offsets in the workspace, after these lines: the numbers between depthwise and
                                             projection, sums to which the source is added, the source as floats, the
                                             workspace of the stages */
    } step;
    struct { /* whole images between the stages: two that take turns */
        size_t second, rest; /* offsets in the workspace: of the second image, and of the workspace of the stages */
    } images;
};

/* Computes all sizes for kind, table, batch, given, count, add, and p of the caller's convolutions, which are set; false: one is
 * too large. */
bool sn_merged_plan(struct sn_merged * m);

/* Sets the parameters of the stages first .. last; with a fault, all of them stay unchanged. */
struct sn_fault sn_merged_set(struct sn_merged * m, const struct sn_set_params * given);

/* The bytes that the stages occupy; 0 before SetParams. */
size_t sn_merged_memory(const struct sn_merged * m);

void sn_merged_free(struct sn_merged * m);

/* ---- for the kinds */

/* The number of stages. */
static inline size_t sn_merged_stages(const struct sn_merged * m) { return (size_t)m->last - m->first + 1; }

/*
 * For stages whose lines are computed in steps: leaves out taps that see only padding, and makes lines of images of one column,
 * see sn_convolution_turn(). 9x640x1 to 18 and by 3x3 to 96 takes 0.18 of the time (avx2 0.35), 32x640x1 by 5x5 to 48 0.21 (0.42;
 * Xeon with AMX).
 */
void sn_merged_simplify(struct sn_merged * m);

/* Prepares stage i for an algorithm, or NULL for the one that is best alone, */
void sn_merged_prepare(struct sn_merged * m, int i, const struct sn_convolution_family * family,
                       const struct sn_convolution_algorithm * algorithm);

/* and plans it, for one image; false: a size is too large. */
bool sn_merged_plan_stage(struct sn_merged * m, int i);

/* For m->rows: of `all` rows, so many that the data of a step, step_size() bytes, fit into half of the L2 cache. Four, which the
 * depthwise kernel computes together, as more are no faster with few weights; with many, which each step reads from beyond that
 * cache, a multiple of four, up to SN_MOST_ROWS, and of narrow images so many that a step has 64 pixels: 320x2 pixels of three
 * blocks take 0.4 to 0.8 of the time, 60x5 0.74 to 0.9, 7x7 0.86 to 1.02; with 128 pixels no wider images gain (Xeon with AMX). */
enum { SN_MOST_ROWS = 32 };
size_t sn_merged_rows(const struct sn_merged * m, size_t all, size_t (*step_size)(const struct sn_merged *, size_t rows));

/* Plans the workspace for whole images. */
bool sn_merged_plan_images(struct sn_merged * m);

/* Computes one image so, with a->add for the last stage. */
void sn_merged_images(const struct sn_merged * m, const struct sn_arrays * a);

/* Computes all images and adds a->add: forward() adds it before the activation if it `adds`; otherwise a pass over all results. */
void sn_merged_forward_added(const struct sn_merged * m, bool adds,
                             void (*forward)(const struct sn_merged * m, const struct sn_arrays * a), const struct sn_arrays * a);

#endif
