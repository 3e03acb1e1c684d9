/*
 * Averages of bfloat16 numbers: the arithmetic is that of floats, and results are rounded when they are stored. The code is
 * compact, of 30 KB for each level without the sums of large windows, which are 15 KB: with all specialised functions it had
 * 90 KB, and took 0.8 of the time (avx512, Emerald Rapids; the geometric mean of shapes; 0.5 at best). The one for windows
 * of 2 x 2, of 1 KB, is kept: with 16 to 512 channels these take 0.44 to 0.91 of the time by it, 0.32 to 1.00 on avx2.
 */
#include "contract/pooling.h"
#include "kernels/install.h"

#define ELEMENT sn_16b
#define CELL sn_32f
#define ARRAY 16b_32f
#define COMPACT 1
#include "kernels/pooling/average.h"

SN_INSTALL(pooling_average_16b, pooling) { slots->average_16b = pooling; }
