/* Short sums of few outputs in NHWC, a part of `few_nhwc` of contract/convolution_32f.h. */
#ifndef SN_CONTRACT_FEW_32F_H
#define SN_CONTRACT_FEW_32F_H

#include "contract/convolution_32f.h"

/*
 * With `byRow`, lanes are results of several neighbouring pixels, whose inputs are in one vector: each step of the sum selects
 * an input for each lane. Segments are at most a vector long, sums have at most SN_FEW_SHORT steps, and there may be more
 * than SN_FEW outputs (`columns`), up to half of a vector. Levels with vectors of SN_FEW_SHORT_LANES floats or more.
 */
enum { SN_FEW_SHORT = 64, SN_FEW_SHORT_LANES = 8 };

#endif
