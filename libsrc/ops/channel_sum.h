/* Sums of the values of each channel, on several threads: arguments as in the public function, checked. */
#ifndef SN_OPS_CHANNEL_SUM_H
#define SN_OPS_CHANNEL_SUM_H

#include "contract/enums.h"
#include "runtime/common.h"

void sn_channel_sum_16b(const sn_16b * src, size_t channels, size_t spatial, enum sn_format format, sn_32f * sum);

#endif
