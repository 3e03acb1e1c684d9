/* Channel-wise layers on several threads: one image, arguments checked and not empty. */
#ifndef SN_OPS_ELEMENTWISE_CHANNELWISE_H
#define SN_OPS_ELEMENTWISE_CHANNELWISE_H

#include "contract/table.h"

void sn_channelwise(const struct sn_channelwise * layer);

#endif
