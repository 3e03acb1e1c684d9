/*
 * `base`: the executable specification. Plain loops, one for each formula, in double where a result is held to a bound and
 * in float32 operations in the printed order where it is held to the bit. Never optimised, and it shares no packing and no
 * blocking with the fast kernels: comparing a level with base tests its driver and its kernels together.
 *
 * A file ends with SN_INSTALL(its name, the family whose slots it fills), as files of kernels do (kernels/install.h).
 */
#ifndef SN_REFERENCE_H
#define SN_REFERENCE_H

#include "runtime/common.h"

#define SN_INSTALL(file, family)                                                                                            \
    void sn_install_##file##_base(struct sn_##family##_slots * slots);                                                      \
    void sn_install_##file##_base(struct sn_##family##_slots * slots)

#endif
