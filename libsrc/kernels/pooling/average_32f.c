/* Averages. */
#include "contract/pooling.h"
#include "kernels/install.h"

#define ELEMENT sn_32f
#include "kernels/pooling/average.h"

SN_INSTALL(pooling_average_32f, pooling) { slots->average_32f = pooling; }
