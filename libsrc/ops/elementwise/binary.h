/* Functions of two arrays with broadcasting, on several threads. Arguments as of SimdnetBinary(), checked and not empty. */
#ifndef SN_OPS_ELEMENTWISE_BINARY_H
#define SN_OPS_ELEMENTWISE_BINARY_H

#include "contract/enums.h"
#include "runtime/common.h"

enum { SN_MOST_DIMENSIONS = 8 };

struct sn_binary {
    enum sn_binary_operation operation;
    size_t count;
    const size_t * shape, * aShape, * bShape;
    const sn_32f * a, * b;
    sn_32f * dst;
    enum sn_activation activation;
    const sn_32f * params;
};

void sn_binary_32f(const struct sn_binary * p);

#endif
