/*
 * Division of a convolution of one line, such as a signal, into parts of its columns. Some columns are a convolution of their own,
 * with a part of the padding: it is computed by a copy of the plan that has the sizes of the part.
 *
 * Otherwise such an image is computed by one thread, unless it has several panels of outputs: for each of these all of its
 * source is read, and each pixel of the result is written in parts. On two threads signals that took 0.98 to 1.2 of the time
 * of one take 0.5 to 0.55. With parts that stay in the L2 cache one thread takes 0.59 of the time for 128x1x4000 to 128 by
 * 1x3 in 8 groups (NHWC), 0.68 to 0.8 for 32x1x16000 to 1 by 1x7, 0.8 to 0.9 for 24x1x20000 to 3 by 1x5 (Xeon with AMX).
 */
#ifndef SN_OPS_CONVOLUTION_COLUMNS_H
#define SN_OPS_CONVOLUTION_COLUMNS_H

#include "ops/convolution/plan.h"

/* Runs a convolution whose columns are divided. `all`: the arrays of all images, or parts of them, of which there are
 * shares->images. False: they are not divided, and nothing was computed. */
bool sn_convolution_run_columns(const struct sn_convolution_run * r, const struct sn_shares * shares,
                                const struct sn_arrays * all);

#endif
