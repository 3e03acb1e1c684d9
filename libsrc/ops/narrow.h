/* Conversions of floats to 16 bits and back, on several threads: arguments are checked, and size is not 0. */
#ifndef SN_OPS_NARROW_H
#define SN_OPS_NARROW_H

#include "contract/narrow.h"

void sn_narrow(enum sn_narrow which, const void * src, size_t size, void * dst);

#endif
