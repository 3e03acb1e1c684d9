/*
 * `base`: the executable specification. Plain loops, one per formula, in double where a result is held to a bound and in
 * float32 operations in the printed order where it is held to the bit. Never optimised, and it shares no packing and no
 * blocking with the fast kernels: comparing a level with base tests its driver and its kernels together.
 */
#ifndef SN_ISA_BASE_H
#define SN_ISA_BASE_H

#include "core/table.h"

/* Each file installs its family's slots. */
void sn_install_activation_base(struct sn_table * table);
void sn_install_add_base(struct sn_table * table);
void sn_install_convolution_32f_base(struct sn_table * table);
void sn_install_inner_product_base(struct sn_table * table);
void sn_install_layout_base(struct sn_table * table);
void sn_install_limit_base(struct sn_table * table);
void sn_install_pooling_base(struct sn_table * table);
void sn_install_softmax_base(struct sn_table * table);

#endif
