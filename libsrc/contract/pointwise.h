/* Element-wise functions: activations and unary operations. */
#ifndef SN_CONTRACT_POINTWISE_H
#define SN_CONTRACT_POINTWISE_H

#include "runtime/common.h"

/*
 * The lists of these functions, of which everything that names them all is made: the enumerators and the slots, the functions
 * of pixels, the tests in C and the fuzzer.
 *
 * Activations, SimdSynet<Name>32f() and SimdnetPixelwise<Name>: the number of parameters and their names.
 */
#define SN_ACTIVATIONS(X)                                                                                                   \
    X(RELU, Relu, relu, 1, "slope")                                                                                         \
    X(ELU, Elu, elu, 1, "alpha")                                                                                            \
    X(HSWISH, Hswish, hswish, 2, "shift", "scale")                                                                          \
    X(RESTRICT_RANGE, RestrictRange, restrict_range, 2, "lower", "upper")                                                   \
    X(SIGMOID, Sigmoid, sigmoid, 1, "slope")                                                                                \
    X(SOFTPLUS, Softplus, softplus, 2, "beta", "threshold")                                                                 \
    X(TANH, Tanh, tanh, 1, "slope")                                                                                         \
    X(SWISH, Swish, swish, 1, "slope")                                                                                      \
    X(MISH, Mish, mish, 1, "threshold")                                                                                     \
    X(HARD_SIGMOID, HardSigmoid, hard_sigmoid, 2, "scale", "shift")                                                         \
    X(GELU, Gelu, gelu, 0, NULL)

/* Unary operations, SimdSynetUnaryOperation32f<Name> and SimdnetPixelwise<Name>. Tanh is the activation with a slope of 1. */
#define SN_UNARY_OPERATIONS(X)                                                                                              \
    X(ABS, Abs, abs)                                                                                                        \
    X(EXP, Exp, exp)                                                                                                        \
    X(LOG, Log, log)                                                                                                        \
    X(NEG, Neg, neg)                                                                                                        \
    X(RSQRT, Rsqrt, rsqrt)                                                                                                  \
    X(SQRT, Sqrt, sqrt)                                                                                                     \
    X(ZERO, Zero, zero)                                                                                                     \
    X(CEIL, Ceil, ceil)                                                                                                     \
    X(COS, Cos, cos)                                                                                                        \
    X(ERF, Erf, erf)                                                                                                        \
    X(FLOOR, Floor, floor)                                                                                                  \
    X(NOT, Not, not)                                                                                                        \
    X(RCP, Rcp, rcp)                                                                                                        \
    X(ROUND, Round, round)                                                                                                  \
    X(SIGN, Sign, sign)                                                                                                     \
    X(SIN, Sin, sin)

/* Functions that the documents lack, SimdnetPixelwise<Name> alone. */
#define SN_ANGLES(X)                                                                                                        \
    X(ACOS, Acos, acos)                                                                                                     \
    X(ACOSH, Acosh, acosh)                                                                                                  \
    X(ASIN, Asin, asin)                                                                                                     \
    X(ASINH, Asinh, asinh)                                                                                                  \
    X(ATAN, Atan, atan)                                                                                                     \
    X(ATANH, Atanh, atanh)                                                                                                  \
    X(COSH, Cosh, cosh)                                                                                                     \
    X(SINH, Sinh, sinh)                                                                                                     \
    X(TAN, Tan, tan)

#define SN_POINTWISE_ENUMERATOR(NAME, ...) SN_##NAME,
enum sn_pointwise {
    SN_ACTIVATIONS(SN_POINTWISE_ENUMERATOR)
    SN_UNARY_OPERATIONS(SN_POINTWISE_ENUMERATOR)
    SN_ANGLES(SN_POINTWISE_ENUMERATOR)
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

/* A row of a list in SN_INSTALL(): the slot of the function, whose kernel is named like it. */
#define SN_POINTWISE_SLOT(NAME, Name, name, ...) slots->run_32f[SN_##NAME] = name##_32f;

#endif
