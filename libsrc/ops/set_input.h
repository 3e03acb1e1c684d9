/* Conversion of pictures to tensors, on several threads: arguments checked and not empty. */
#ifndef SN_OPS_SET_INPUT_H
#define SN_OPS_SET_INPUT_H

#include "contract/table.h"

void sn_set_input_32f(const struct sn_set_input * p);

#endif
