/*
 * `base`: the executable specification. Plain loops, one for each formula, in double if a result has an error bound, and in
 * float32 operations in the documented order if it must be bit-identical. Never optimised, and no packing or blocking is
 * shared with the fast kernels: comparing a level with base tests its driver and its kernels together.
 *
 * A file ends with SN_INSTALL(its name, the family whose slots it fills), like files of kernels (kernels/install.h).
 */
#ifndef SN_REFERENCE_H
#define SN_REFERENCE_H

#include "runtime/common.h"

#define SN_INSTALL(file, family)                                                                                            \
    void sn_install_##file##_base(struct sn_##family##_slots * slots);                                                      \
    void sn_install_##file##_base(struct sn_##family##_slots * slots)

#endif
