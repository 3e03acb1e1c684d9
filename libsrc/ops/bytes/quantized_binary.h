/* Sums and products of bytes with scales and zeros, with broadcasting, on several threads: arguments are checked. */
#ifndef SN_OPS_BYTES_QUANTIZED_BINARY_H
#define SN_OPS_BYTES_QUANTIZED_BINARY_H

#include "contract/quantized_binary.h"
#include "ops/elementwise/broadcast.h"

struct sn_quantized_pair {
    bool add; /* otherwise it multiplies */
    struct sn_quantized_binary numbers;
    struct sn_operand a, b;
    uint8_t * dst;
    size_t size;
};

void sn_quantized_binary(const struct sn_quantized_pair * p);

#endif
