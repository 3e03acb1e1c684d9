/* Conversion of pictures to tensors. */
#ifndef SN_CONTRACT_SET_INPUT_H
#define SN_CONTRACT_SET_INPUT_H

#include "contract/enums.h"
#include "runtime/common.h"

/* The arguments of SimdSynetSetInput. */
struct sn_set_input {
    const uint8_t * src;
    size_t width, height, stride;
    enum sn_pixel srcFormat;
    const sn_32f * lower, * upper;
    sn_32f * dst;
    size_t channels;
    enum sn_format dstFormat;
};

/* Rows begin .. end - 1. */
typedef void (*sn_set_input_32f_fn)(const struct sn_set_input * p, size_t begin, size_t end);

/* The kernels of a level. */
struct sn_set_input_slots {
    sn_set_input_32f_fn run_32f;
};

#endif
