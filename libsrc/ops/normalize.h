/* Normalization of images, on several threads: arguments checked and not empty. False if there is no memory. */
#ifndef SN_OPS_NORMALIZE_H
#define SN_OPS_NORMALIZE_H

#include "contract/table.h"

bool sn_normalize_32f(const struct sn_normalize * p);

#endif
