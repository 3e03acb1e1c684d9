/* Attention of the public function; arguments are checked, and no result is empty. */
#ifndef SN_OPS_ATTENTION_H
#define SN_OPS_ATTENTION_H

#include "contract/table.h"

/* The most columns of a tile of bfloat16 numbers that is `fast`; tests/c/test_dispatch.c looks at those of all levels. */
enum { SN_ATTENTION_COLUMNS = 64 };

/* Members as in SimdnetAttentionParameters, distances and numbers of the batch as they are meant. */
struct sn_attention {
    size_t rows, columns; /* of scores */
    size_t depth, width;  /* floats of a query and of a key; of a value */
    bool transposedK, transposedV;
    bool rounded; /* products may be of bfloat16 numbers */
    float scale;
    const sn_32f * q, * k, * v, * bias;
    sn_32f * dst;
    size_t ldq, ldk, ldv, ldb, ldd;
    size_t batch[2];
    size_t strideQ[2], strideK[2], strideV[2], strideB[2], strideD[2];
};

/* False, with dst unchanged, if there is no memory for a buffer. */
bool sn_attention(const struct sn_table * table, const struct sn_attention * a);

#endif
