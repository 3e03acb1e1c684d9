/* Functions of every element: activations and unary operations. */
#ifndef SN_CONTRACT_POINTWISE_H
#define SN_CONTRACT_POINTWISE_H

#include "runtime/common.h"

enum sn_pointwise {
    SN_RELU,           /* slope */
    SN_ELU,            /* alpha */
    SN_HSWISH,         /* shift, scale */
    SN_RESTRICT_RANGE, /* lower, upper */
    SN_SIGMOID,        /* slope */
    SN_SOFTPLUS,       /* beta, threshold */
    SN_TANH,           /* slope */
    SN_SWISH,          /* slope */
    SN_MISH,           /* threshold */
    SN_HARD_SIGMOID,   /* scale, shift */
    SN_GELU,
    SN_ABS,
    SN_EXP,
    SN_LOG,
    SN_NEG,
    SN_RSQRT,
    SN_SQRT,
    SN_ZERO,
    SN_CEIL,
    SN_COS,
    SN_ERF,
    SN_FLOOR,
    SN_NOT,
    SN_RCP,
    SN_ROUND,
    SN_SIGN,
    SN_SIN,
    SN_FILL,           /* value; src is not read */
    SN_ADD_VALUE,      /* value */
    SN_POW,            /* exponent */
    SN_POINTWISE /* their number */
};

/* dst = f(src); dst may be src. With `stream` dst may be written with non-temporal stores. */
typedef void (*sn_pointwise_32f_fn)(const sn_32f * src, size_t size, const sn_32f * params, sn_32f * dst, bool stream);

/* The kernels of a level. */
struct sn_pointwise_slots {
    sn_pointwise_32f_fn run_32f[SN_POINTWISE];
};

#endif
