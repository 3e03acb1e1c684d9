/* Reductions over any dimensions, on several threads. */
#ifndef SN_OPS_REDUCE_H
#define SN_OPS_REDUCE_H

#include "contract/enums.h"
#include "runtime/common.h"

enum { SN_REDUCE_DIMENSIONS = 8 };

/* SimdnetReduceOperation. */
enum sn_reduce_op {
    SN_REDUCE_SUM,
    SN_REDUCE_MEAN,
    SN_REDUCE_MAX,
    SN_REDUCE_MIN,
    SN_REDUCE_L2,
    SN_REDUCE_L1,
    SN_REDUCE_SUM_SQUARE,
    SN_REDUCE_PRODUCT,
    SN_REDUCE_LOG_SUM_EXP,
    SN_REDUCE_ARG_MAX,
    SN_REDUCE_ARG_MIN
};

struct sn_reduce_dimension {
    size_t extent, stride; /* floats of src from an index to the next */
    bool reduced;
};

/* Arguments as in SimdnetReduce(), checked; dst is not empty. */
struct sn_reduce {
    enum sn_reduce_op op;
    enum sn_data type; /* of sn_reduce_integers() */
    bool last;
    size_t count;
    struct sn_reduce_dimension d[SN_REDUCE_DIMENSIONS + 2];
    const sn_32f * src;
    void * dst;
};

void sn_reduce(struct sn_reduce r);

/* Of elements of `bytes` bytes, any but floats; LogSumExp is for floats alone. */
void sn_reduce_integers(const struct sn_reduce * r, size_t bytes);

#endif
