/* Each family's kernels put themselves into the table of the instruction set they were compiled for. */
#ifndef SN_KERNELS_INSTALL_H
#define SN_KERNELS_INSTALL_H

#include "core/table.h"
#include "kernels/vec.h"

/*
 * The families, the one list of them for kernels: X(name) is install_<name> of kernels/<name>.c. A family that is missing
 * here has no prototype, which the compiler tells.
 */
#define SN_KERNELS(X)                                                                                                       \
    X(activation)                                                                                                           \
    X(add)                                                                                                                  \
    X(add_8i)                                                                                                               \
    X(channelwise)                                                                                                          \
    X(convolution_32f)                                                                                                      \
    X(convolution_16b)                                                                                                      \
    X(convolution_8i)                                                                                                       \
    X(deconvolution_32f)                                                                                                    \
    X(depthwise_8i)                                                                                                         \
    X(depthwise_nchw_32f)                                                                                                   \
    X(depthwise_nhwc_32f)                                                                                                   \
    X(eltwise)                                                                                                              \
    X(few_32f)                                                                                                              \
    X(gemm)                                                                                                                 \
    X(inner_product)                                                                                                        \
    X(layout)                                                                                                               \
    X(lrn)                                                                                                                  \
    X(pooling)                                                                                                              \
    X(set_input)                                                                                                            \
    X(shuffle)                                                                                                              \
    X(softmax)                                                                                                              \
    X(unary)                                                                                                                \
    X(winograd)                                                                                                             \
    X(gemm_32f) /* in isa/<isa>/, as the next */                                                                            \
    X(gemm_8i)                                                                                                              \
    X(gemm_16b)

#define SN_INSTALL(name) void ISA_FN(install_##name)(struct sn_table * table);
SN_KERNELS(SN_INSTALL)
#undef SN_INSTALL

/* All of them, and the width of a vector: the entry point that core/dispatch.c knows. */
void ISA_FN(install)(struct sn_table * table);

#endif
