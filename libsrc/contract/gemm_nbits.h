/* Products of floats and matrices of 4 or 8 bits, whose numbers are quantised in blocks. */
#ifndef SN_CONTRACT_GEMM_NBITS_H
#define SN_CONTRACT_GEMM_NBITS_H

#include "runtime/common.h"

/*
 * A quantised matrix: `rows` rows of `blocks` blocks, each of `block` numbers, of `bits` bits, the lowest bits of a byte
 * first. Number k of row j stands for (q - zero[j * blocks + k / block]) * scale[j * blocks + k / block]. In the contract
 * zeros are floats; NULL means 2^(bits - 1).
 */
struct sn_nbits {
    const uint8_t * weight;
    const sn_32f * scale, * zero;
    size_t bits, block, blocks;
};

static inline size_t sn_nbits_bytes(const struct sn_nbits * w) { return w->blocks * w->block * w->bits / 8; } /* of a row */

/* dst[i * ldd + j] = bias[j] + sum over k < depth of src[i * lds + k] * (number k of row j), for i < M and j < N. */
struct sn_nbits_product {
    struct sn_nbits w;
    const sn_32f * src, * bias; /* a bias of NULL means zeros */
    sn_32f * dst;
    size_t lds, ldd;
    size_t M, N, depth;
    bool quantised; /* sources are quantised in blocks, as SimdnetGemmNBits() does */
};

/* What a block of sources is quantised with; infinite or NaN if one of its numbers is, which are then zeros. */
static inline float sn_nbits_scale(float largest) { return largest / 127; }

/* A source as a byte; the scale is finite and above 0. */
static inline int32_t sn_nbits_byte(float x, float scale)
{
    const float v = x / scale, limited = v < 127 ? v > -127 ? v : -127 : 127; /* of tiny scales, which are not exact */
    return (int32_t)((limited + 0x1.8p23f) - 0x1.8p23f);                      /* nearest, ties to even */
}

/* A row of sources that is quantised. */
struct sn_nbits_row {
    size_t bits, block, depth; /* of the matrix */
    const sn_32f * src;
    void * dst; /* in the form that product_8i() reads */
};

/* The numbers of `bytes` bytes as floats, such as zeros. */
struct sn_nbits_decode {
    const uint8_t * src;
    size_t bits, bytes;
    sn_32f * dst;
};

/* Numbers as a panel of columns: dst[k * width + j] is number k of row j of w, for k < depth and j < columns. The next columns,
 * up to `width`, have any finite values. The first number is that of a block, of which w.scale and w.zero are the values. */
struct sn_nbits_panel {
    struct sn_nbits w;
    size_t depth, columns, width;
    sn_32f * dst;
};

/* Floats of an ordered row are a multiple of this: 8 numbers for each word of the widest vector. */
enum { SN_NBITS_ORDER = 128 };

/* The kernels of a level. */
struct sn_gemm_nbits_slots {
    void (*plain)(const struct sn_nbits_product * p); /* the formula; only `base` needs it */

    /* The same for one row of sources, M 1, which order() has copied. */
    void (*product)(const struct sn_nbits_product * p);

    /* Copies a row of `depth` floats in the order in which product() reads it, with zeros behind them: `dst` has space for
     * `depth` rounded up to a multiple of SN_NBITS_ORDER. */
    void (*order)(size_t bits, size_t depth, const sn_32f * src, sn_32f * dst);

    void (*decode)(const struct sn_nbits_decode * d);
    void (*panel)(const struct sn_nbits_panel * p);

    /* A product of M rows of sources that quantise_8i() has written: p->src are these, p->lds apart. size_8i() is the number
     * of floats that a row takes, a multiple of 16. */
    void (*product_8i)(const struct sn_nbits_product * p);
    void (*quantise_8i)(const struct sn_nbits_row * r);
    size_t (*size_8i)(size_t bits, size_t depth);
};

#endif
