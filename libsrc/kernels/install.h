/* Each family's kernels put themselves into the table of the instruction set they were compiled for. */
#ifndef SN_KERNELS_INSTALL_H
#define SN_KERNELS_INSTALL_H

#include "core/table.h"
#include "kernels/vec.h"

/* All of the below, and the width of a vector: the entry point that core/dispatch.c knows. */
void ISA_FN(install)(struct sn_table * table);

void ISA_FN(install_activation)(struct sn_table * table);
void ISA_FN(install_convolution_32f)(struct sn_table * table);
void ISA_FN(install_inner_product)(struct sn_table * table);
void ISA_FN(install_add)(struct sn_table * table);
void ISA_FN(install_add_8i)(struct sn_table * table);
void ISA_FN(install_gemm_32f)(struct sn_table * table); /* in isa/<isa>/gemm_32f.c */
void ISA_FN(install_layout)(struct sn_table * table);
void ISA_FN(install_limit)(struct sn_table * table);
void ISA_FN(install_pooling)(struct sn_table * table);
void ISA_FN(install_softmax)(struct sn_table * table);

#endif
