/*
 * `base`: the executable specification. Plain loops, one per formula, in double where a result is held to a bound and in
 * float32 operations in the printed order where it is held to the bit. Never optimised, and it shares no packing and no
 * blocking with the fast kernels: comparing a level with base tests its driver and its kernels together.
 */
#ifndef SN_ISA_BASE_H
#define SN_ISA_BASE_H

#include "core/table.h"

/* The families, the one list of them for base: X(name) is sn_install_<name>_base of isa/base/<name>.c. */
#define SN_BASE(X)                                                                                                          \
    X(activation)                                                                                                           \
    X(add)                                                                                                                  \
    X(channelwise)                                                                                                          \
    X(convolution_32f)                                                                                                      \
    X(convolution_16b)                                                                                                      \
    X(convolution_8i)                                                                                                       \
    X(deconvolution_32f)                                                                                                    \
    X(eltwise)                                                                                                              \
    X(gemm)                                                                                                                 \
    X(inner_product)                                                                                                        \
    X(layout)                                                                                                               \
    X(lrn)                                                                                                                  \
    X(pooling)                                                                                                              \
    X(set_input)                                                                                                            \
    X(shuffle)                                                                                                              \
    X(softmax)                                                                                                              \
    X(unary)                                                                                                                \
    X(winograd)

#define SN_INSTALL(name) void sn_install_##name##_base(struct sn_table * table);
SN_BASE(SN_INSTALL)
#undef SN_INSTALL

/* All of them, and the rest of the table: the entry point that core/dispatch.c knows. */
void sn_install_base(struct sn_table * table);

#endif
