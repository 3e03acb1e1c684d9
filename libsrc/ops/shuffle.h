/* Shuffling of channels, on several threads: arguments checked and not empty. */
#ifndef SN_OPS_SHUFFLE_H
#define SN_OPS_SHUFFLE_H

#include "contract/table.h"

void sn_shuffle_32f(const struct sn_shuffle * p, enum sn_format format);

#endif
