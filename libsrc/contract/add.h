/* Addition of two arrays. */
#ifndef SN_CONTRACT_ADD_H
#define SN_CONTRACT_ADD_H

#include "contract/enums.h"
#include "runtime/common.h"

/* The arguments of SimdSynetAdd8i except sizes and format; upper is the largest byte of the result. */
struct sn_add_8i {
    const uint8_t * a;
    const sn_32f * aScale, * aShift;
    const uint8_t * b;
    const sn_32f * bScale, * bShift;
    uint8_t * c;
    const sn_32f * cScale, * cShift;
    uint8_t upper;
};

/* One image of SimdSynetAdd8i, NCHW or NHWC. */
typedef void (*sn_add_8i_fn)(const struct sn_add_8i * add, size_t channels, size_t spatial, enum sn_format format);

/* dst[i] = a[i] + b[i], elements float or bfloat16, at any address. */
typedef void (*sn_add_16b_fn)(const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size);

/* The kernels of a level. */
struct sn_add_slots {
    sn_add_8i_fn run_8i;
    sn_add_16b_fn run_16b[2][2][2]; /* [a][b][dst]: 0 is float, 1 is bfloat16 */
};

#endif
