/* Local response normalization, split over threads: arguments checked and not empty. False when there is no memory. */
#ifndef SN_OPS_LRN_H
#define SN_OPS_LRN_H

#include "contract/table.h"

bool sn_lrn_32f(const struct sn_lrn * p);

#endif
