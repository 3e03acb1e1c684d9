/* The driver of pooling: hands the units of one image to the threads. */
#ifndef SN_OPS_POOLING_H
#define SN_OPS_POOLING_H

#include "contract/table.h"

void sn_pooling(sn_pooling_fn pooling, const struct sn_pooling * p);

#endif
