/* Floats of 16 bits: bfloat16 (16b) and IEEE half precision (16f). */
#ifndef SN_CONTRACT_NARROW_H
#define SN_CONTRACT_NARROW_H

#include "runtime/common.h"

/* Converts `size` elements. Arrays are of floats or of numbers of 16 bits, at any address. */
typedef void (*sn_narrow_fn)(const uint8_t * src, size_t size, uint8_t * dst);

enum sn_narrow { SN_32F_TO_16B, SN_16B_TO_32F, SN_32F_TO_16F, SN_16F_TO_32F, SN_NARROWS };

/* The kernels of a level. */
struct sn_narrow_slots {
    sn_narrow_fn run[SN_NARROWS];
};

#endif
