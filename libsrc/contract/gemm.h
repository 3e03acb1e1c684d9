/*
 * The GEMM tile: the one routine for matrix products, convolutions and inner products of batches, with bias and activation.
 *
 * A run computes one column of register tiles, all rows of A times one packed panel of B:
 *
 *     C(y, x, n) = activation(start(n) + sum over s, k of A(y, x)[segment[s] + k] * B[s * length + k][n])
 *
 * for y < height, x < width, n < columns; start is the bias, an array with the layout of C, or their sum. That array is C
 * itself if the sum continues an earlier run. Rows of A are read in place: a matrix is one line of rows with one segment; a
 * 1x1 convolution is the same for pixels of an image; a K x K convolution on a padded image has one segment per kernel row
 * (whose taps are adjacent in memory) or, with dilation, one per tap. So no im2col matrix is built. Each element of C is one
 * chain of multiply-adds in the order of s and k for every tile shape, so results do not depend on the division of rows or
 * on where sums are interrupted.
 */
#ifndef SN_CONTRACT_GEMM_H
#define SN_CONTRACT_GEMM_H

#include "contract/enums.h"
#include "runtime/common.h"

struct sn_gemm_32f {
    /* A: rows (y, x) at a + y * aStepY + x * aStepX. */
    const sn_32f * a;
    size_t height, width;
    size_t aStepY, aStepX;
    const size_t * segment; /* offsets in a row, `segments` of them, `length` floats each */
    size_t segments, length;

    /* B: segments * length rows of sn_gemm_width(tile, columns) floats: zeros beyond `columns`; aligned to SN_ALIGN. */
    const sn_32f * b;
    size_t columns; /* 1 .. tile->columns */

    /* C: rows (y, x) at c + y * cStepY + x * cStepX, `columns` floats each. */
    sn_32f * c;
    size_t cStepY, cStepX;
    const sn_32f * from; /* NULL, or initial sums in addition to the bias; has the layout of C, may be C */
    const sn_32f * beta; /* `from` is multiplied by this; NULL means 1 */

    /* One value for each column of B, or, with byRow, one for each x. A NULL bias means zeros. */
    const sn_32f * bias;
    const sn_32f * slope; /* for Prelu */
    bool byRow;
    bool shortSums; /* of few outputs alone, see contract/convolution_32f.h */
    enum sn_activation activation; /* any but LeakyRelu, which is a Prelu with equal slopes */
    float param[2]; /* of RestrictRange, Elu, Hswish */

    /*
     * Any memory that will be needed soon, or NULL. A hint: while row x of A is used, the prefetchStep floats from
     * prefetch + x * prefetchStep on are prefetched into the L2 cache, evenly over the steps of a tile, and at most a cache
     * line in each step.
     */
    const sn_32f * prefetch;
    size_t prefetchStep;
    bool onward; /* it is what follows B; a divided sum prefetches the next part with each part */
    bool coldC;  /* a hint: rows of C that are only written are not prefetched */
    bool stream; /* a hint: C may be written with non-temporal stores, its rows are whole cache lines; the caller fences */
};

typedef void (*sn_gemm_32f_fn)(const struct sn_gemm_32f * gemm);

/* The tile of an instruction set, and its properties for drivers; run is NULL if there is none. */
struct sn_gemm_32f_tile {
    sn_gemm_32f_fn run;
    size_t rows;    /* of the largest register tile: more rows are divided into tiles of about equal height */
    size_t columns; /* of a panel of B */
    size_t granule; /* the width of the last panel is a multiple of this */
    size_t deep;    /* bytes of a panel above which sums are divided */
};

/*
 * C = activation(alpha * A * B + beta * C + bias), A and B as in SimdnetGemm(). With a batch it is computed for each index;
 * kernels see a single product, and only `plain` a transposed A, a bias and an activation.
 */
struct sn_gemm {
    bool transposed; /* B */
    size_t M, N, K;
    float alpha, beta;
    const sn_32f * A, * B;
    sn_32f * C;
    size_t lda, ldb, ldc;
    bool transposedA;
    const sn_32f * panels; /* NULL, or B in panels of the tile, one after another; then there is no B, and alpha is 1 */
    const sn_32f * add;    /* with panels: NULL, or what is added before the activation; has the layout of C */
    void * work;           /* NULL, or sn_gemm_work() bytes of scratch memory, aligned to SN_ALIGN */

    /* The number of products, as two dimensions; 0 means 1. Floats from the matrices of a product to those of the next. */
    size_t batch[2];
    size_t strideA[2], strideB[2], strideC[2];

    /* Values of the columns, and the activation, as in struct sn_gemm_32f. */
    const sn_32f * bias, * slope;
    enum sn_activation activation;
    float param[2];
};
typedef void (*sn_gemm_fn)(const struct sn_gemm * g);

/*
 * Computes columns begin .. end - 1 of a product of at most `rows` rows with a B that is not transposed, K at least 1: B is
 * read once and is not packed.
 */
struct sn_gemm_few_32f {
    void (*run)(const struct sn_gemm * g, size_t begin, size_t end);
    size_t rows;
};

/*
 * Packs a matrix, multiplied by alpha, into panels of B: panel n / wide, at panel + n / wide * pitch, has alpha * B(k, n) in
 * column n % wide of its row k, for k < depth and n < columns. Rows have `wide` floats, whole vectors; those of a last panel
 * with fewer columns have `narrow`, with zeros beyond `columns`, and up to a vector after the last of them is written.
 * B(k, n) is b[k * step + n], or, if transposed, b[n * step + k].
 */
struct sn_gemm_panels_32f {
    const sn_32f * b;
    size_t step;
    size_t depth, columns;
    float alpha;
    sn_32f * panel;
    size_t wide, narrow, pitch;
};
typedef void (*sn_gemm_panels_32f_fn)(const struct sn_gemm_panels_32f * p);

/*
 * The product of one row or a few and whole panels of the tile, one after another, with the bits of the tile:
 * C(i, n) = activation(bias[n] + sum over k of A(i, k) * B(k, n)) for i < rows, k < depth and n < panels * tile->columns.
 * One row may have more `columns` of a last panel, less than those of the tile.
 */
struct sn_gemm_rows_32f {
    const sn_32f * a, * b, * bias;
    size_t lda, ldc;
    size_t rows, depth, panels, columns;
    sn_32f * c;
    const sn_32f * slope; /* as in struct sn_gemm_32f */
    enum sn_activation activation;
    float param[2];
    bool far; /* B exceeds the L2 cache */
};

/* The kernel, and the most rows. */
struct sn_gemm_rows_32f_slot {
    void (*run)(const struct sn_gemm_rows_32f * p);
    size_t rows;
};

/* The floats in a row of B of which `columns` are used. */
static inline size_t sn_gemm_width(const struct sn_gemm_32f_tile * tile, size_t columns)
{
    return sn_ceil_div(columns, tile->granule) * tile->granule;
}

/*
 * Whether a run computes all its rows by a part of B, and then by the next one: many rows, in tiles higher than 4. 40 rows
 * take 1.03 times as long, low tiles up to 1.04 (avx2, 40x90x90 to 40 by 5x5 in NCHW, 256x14x14 to 256 by 3x3 with stride 2).
 */
static inline bool sn_gemm_is_deep(const struct sn_gemm_32f_tile * tile, const struct sn_gemm_32f * g)
{
    enum { MANY = 48, LOW = 4 };
    const size_t bytes = g->segments * g->length * sn_gemm_width(tile, g->columns) * sizeof(float);
    return bytes > tile->deep && g->height * g->width >= MANY && g->width > LOW * sn_ceil_div(g->width, tile->rows);
}

/* The kernels of a level. */
struct sn_gemm_slots {
    struct sn_gemm_32f_tile tile_32f; /* for everything that multiplies matrices; `base` has none */
    sn_gemm_fn plain; /* the formula; only `base` needs it */
    sn_gemm_panels_32f_fn panels_32f[2]; /* [transposed]; these and the next belong to the tile */
    struct sn_gemm_few_32f few_32f;
    struct sn_gemm_rows_32f_slot rows_32f;
};

#endif
