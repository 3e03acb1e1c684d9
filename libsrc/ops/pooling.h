/* The driver of pooling: divides the units of one image among threads. */
#ifndef SN_OPS_POOLING_H
#define SN_OPS_POOLING_H

#include "contract/table.h"

void sn_pooling(sn_pooling_fn pooling, const struct sn_pooling * p);

#endif
