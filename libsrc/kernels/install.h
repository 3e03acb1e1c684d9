/*
 * Kernels register themselves in the slots of their family. A file of kernels ends with
 *
 *     SN_INSTALL(depthwise_nhwc_32f, convolution_32f)
 *     {
 *         slots->depthwise_nhwc = ISA_FN(depthwise_nhwc_32f);
 *     }
 *
 * that is, with its own name, behind that of its folder if it has one, and the name of the contract with the slots. The
 * Makefile collects these lines: there is no other list.
 */
#ifndef SN_KERNELS_INSTALL_H
#define SN_KERNELS_INSTALL_H

#include "kernels/vec.h"

#define SN_INSTALL(file, family)                                                                                            \
    void ISA_FN(install_##file)(struct sn_##family##_slots * slots);                                                        \
    void ISA_FN(install_##file)(struct sn_##family##_slots * slots)

#endif
