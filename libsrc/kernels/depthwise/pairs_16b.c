/* Depthwise convolution of bfloat16 numbers by products of pairs, on levels that have them. */
#include "contract/convolution_16b.h"
#include "kernels/activate.h"
#include "kernels/install.h"

#include <pairs_16b.h>

SN_INSTALL(depthwise_pairs_16b, convolution_16b) { slots->depthwise_pairs = depthwise_pairs; }
