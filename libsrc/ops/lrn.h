/* Local response normalization, on several threads: arguments checked and not empty. False if there is no memory. */
#ifndef SN_OPS_LRN_H
#define SN_OPS_LRN_H

#include "contract/table.h"

bool sn_lrn_32f(const struct sn_lrn * p);

#endif
