/* Products of two matrices of bytes with scales and zeros. */
#ifndef SN_CONTRACT_QUANTIZED_GEMM_H
#define SN_CONTRACT_QUANTIZED_GEMM_H

#include "contract/enums.h"
#include "runtime/common.h"

/*
 * A product, as SimdnetQuantizedGemm() defines it. Bytes of A and B have no sign if their flag is false; their zeros and
 * scales are one for all rows (columns), or one each if perRow (perColumn). A NULL is 0, 1 and no bias.
 */
struct sn_quantized_gemm {
    size_t M, N, K;
    const uint8_t * A, * B;
    bool signedA, signedB, transposed, perRow, perColumn;
    const uint8_t * zeroA, * zeroB;
    const sn_32f * scaleA, * scaleB;
    float scaleC;
    int32_t zeroC;
    const void * bias; /* floats for results of floats, otherwise int32 */
    enum sn_data type;
    uint8_t * C;
};

static inline int32_t sn_quantized_byte(const uint8_t * p, bool with_sign) { return with_sign ? (int8_t)*p : *p; }

static inline int32_t sn_quantized_zero(const uint8_t * zero, bool each, bool with_sign, size_t i)
{
    return zero ? sn_quantized_byte(zero + (each ? i : 0), with_sign) : 0;
}

static inline size_t sn_quantized_element(enum sn_data type) { return type == SN_DATA_8U || type == SN_DATA_8I ? 1 : 4; }

/* What sums are multiplied by in row i and column j: the product of the scales, over that of C if C has bytes. */
static inline float sn_quantized_norm(const struct sn_quantized_gemm * g, size_t i, size_t j)
{
    const float a = g->scaleA ? g->scaleA[g->perRow ? i : 0] : 1, b = g->scaleB ? g->scaleB[g->perColumn ? j : 0] : 1;
    const float both = a * b;
    return sn_quantized_element(g->type) == 1 ? both / g->scaleC : both;
}

/* The bias of a column as an integer, 0 for results of floats; and as a float. */
static inline int32_t sn_quantized_bias(const struct sn_quantized_gemm * g, size_t j)
{
    return g->bias && g->type != SN_DATA_32F ? ((const sn_32i *)g->bias)[j] : 0;
}
static inline float sn_quantized_bias_32f(const struct sn_quantized_gemm * g, size_t j)
{
    return g->bias && g->type == SN_DATA_32F ? ((const sn_32f *)g->bias)[j] : 0;
}

/*
 * Packs columns of B, which is not transposed, into a panel of the tile (contract/dot.h): groups of 4 numbers in bytes, or of
 * 2 in 16 bits. Missing rows of the last group may become any numbers: they are multiplied by 0.
 */
struct sn_quantized_pack {
    const uint8_t * b;
    size_t step; /* bytes from row to row */
    size_t rows, columns, group;
    size_t width; /* of the panel: whole vectors, at least `columns` */
    bool with_sign; /* otherwise 128 is subtracted */
    uint8_t * panel;
};

/* The zero of row i of A as bytes without a sign. */
static inline int32_t sn_quantized_zero_of_row(const struct sn_quantized_gemm * g, size_t i)
{
    return sn_quantized_zero(g->zeroA, g->perRow, g->signedA, i) + (g->signedA ? 128 : 0);
}

/* Rows of A as bytes without a sign: the sum of each, and a copy. Either may be NULL; a copy may be in place. */
struct sn_quantized_rows {
    const uint8_t * a;
    size_t rows, size, step; /* of so many bytes, from row to row */
    bool with_sign;
    int32_t * sum;
    uint8_t * to;      /* rows `pitch` bytes apart */
    size_t pitch;
    bool wide;         /* each byte becomes 16 bits */
};

/*
 * What the tile (contract/dot.h) and finish() need of columns `first` on: arrays of whole vectors, whose numbers behind the
 * columns are not used. Sums begin with factor * sumB, which wraps, and the bias of integers if `joined`; else that is `bias`,
 * and zeros of B are needed, as of bytes with a sign. The factor has at most 16 bits with a sign. The norm is
 * sn_quantized_norm(), with values of each row only the scale of B.
 */
struct sn_quantized_columns {
    const struct sn_quantized_gemm * g;
    size_t first, columns;
    const int32_t * sumB; /* whole vectors */
    int32_t factor;
    bool joined;
    int32_t * start, * zero, * bias; /* zero and bias are written if not joined */
    sn_32f * norm, * biasFloat;
};

/*
 * Sums of products in rows `row` on of A, and columns `first` on, to results of the product: less zeros times sums, and with
 * the bias. Arrays of columns are whole vectors, and begin with the first one.
 */
struct sn_quantized_finish {
    const struct sn_quantized_gemm * g;
    size_t row, rows, first, columns;
    const int32_t * sums;  /* rows of whole vectors, `step` apart */
    size_t step;
    const int32_t * sumA;  /* of row 0 on */
    const int32_t * sumB, * zeroB, * bias;
    const sn_32f * norm;    /* with values of each row only the scale of B */
    const sn_32f * biasFloat;
};

/* The kernels of a level. */
struct sn_quantized_gemm_slots {
    void (*plain)(const struct sn_quantized_gemm * g); /* the formula; only `base` needs it */
    void (*pack)(const struct sn_quantized_pack * p);
    void (*widen)(const uint8_t * from, size_t count, uint8_t * to); /* bytes with a sign to 16 bits; whole vectors, aligned */
    void (*narrow)(const uint8_t * from, size_t count, uint8_t * to); /* `count` of these back; whole vectors */
    /* `count` groups of 4 bytes, whole vectors in each of `rows` rows, to groups of 2 numbers of 16 bits, in two rows for each.
     * 128 is subtracted if they have no sign. `from` may be the second half of the memory of the result. */
    void (*split)(const uint8_t * from, size_t rows, size_t count, bool with_sign, uint8_t * to);
    void (*rows)(const struct sn_quantized_rows * r);
    void (*columns)(const struct sn_quantized_columns * c);
    bool (*are_scales)(const sn_32f * scale, size_t count); /* whether all are finite and not below 0 */
    void (*finish)(const struct sn_quantized_finish * f);
};

#endif
