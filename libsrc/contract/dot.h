/*
 * The register tile of instructions that multiply groups of small numbers, bytes (Convolution8i) or bfloat16
 * (Convolution16b), into 32-bit sums, and conversions of images for it. All addresses and steps count bytes.
 */
#ifndef SN_CONTRACT_DOT_H
#define SN_CONTRACT_DOT_H

#include "runtime/common.h"

/* ---- the tile: contract/gemm.h explains what a run computes, and how it serves convolutions */

struct sn_dot {
    const uint8_t * a; /* rows (y, x) at a + y * aStepY + x * aStepX */
    size_t height, width;
    size_t aStepY, aStepX;
    const size_t * segment; /* offsets in a row, `segments` of them */
    size_t segments, length; /* groups of numbers in each; a last group may extend into other data, multiplied by 0 */

    const void * b; /* [segments * length][width of the panel][group] weights, zeros beyond `columns`; aligned */
    size_t columns; /* 1 .. tile->columns */
    const void * start; /* initial sums: int32 for bytes (see biased below), float for bfloat16 */

    uint8_t * c; /* rows (y, x) at c + y * cStepY + x * cStepX, `columns` results each */
    size_t cStepY, cStepX;
    const void * result; /* struct sn_result_8i or sn_result_16b; its arrays begin with the first column */

    /* A hint for tiles that are `aligned`: NULL, or what will be needed next; each SN_ALIGN bytes of a row of tiles prefetch so
     * many bytes. */
    const uint8_t * prefetch;
    size_t prefetchStep;
};

typedef void (*sn_dot_fn)(const struct sn_dot * dot);

/* The tile of an instruction set, and its properties for drivers; run is NULL if there is none. */
struct sn_dot_tile {
    sn_dot_fn run;
    sn_dot_fn run_narrow; /* with a whole panel whose numbers of 16 bits are bytes with a sign; NULL: there is none */
    size_t rows;    /* of the largest register tile */
    size_t columns; /* of a panel of B */
    size_t granule; /* the width of the last panel is a multiple of this */
    size_t group;   /* numbers that are multiplied together */
    size_t number;  /* bytes of a number of A; B has `group` numbers in 4 bytes */
    bool fast;      /* faster than the tile of floats, even if A must be rounded first */
    bool biased;    /* the tile multiplies (activation - 128), so sums start with 128 * (sum of the weights) */
    bool aligned;   /* rows of A that begin at multiples of SN_ALIGN bytes are read faster */
};

/* ---- images to rows of A and back */

/*
 * Converts pixels of an image, NHWC or NCHW, for the tile. Channel c of pixel i is element i * srcPixel + c * srcChannel of
 * src, and is written to dst + i * dstPixel + c * (bytes of a number). One of the two steps of src is 1.
 */
struct sn_pixels {
    const void * src;
    bool floats; /* else elements are bytes, or bfloat16 */
    size_t srcPixel, srcChannel;
    const sn_32f * scale; /* float to byte: nearest(x * scale[c] + zero) limited to 0 .. 255, 0 for NaN */
    float zero;
    size_t channels, pixels;
    uint8_t * dst;
    size_t dstPixel;
    bool wide; /* bytes are written in 16 bits, bfloat16 numbers as floats */
};
typedef void (*sn_pixels_fn)(const struct sn_pixels * p);

/* Copies channel c of pixel i, element c of src + i * step, to element c * plane + i of dst; bytes or bfloat16. */
typedef void (*sn_planes_fn)(const uint8_t * src, size_t step, size_t channels, size_t pixels, uint8_t * dst, size_t plane);

#endif
