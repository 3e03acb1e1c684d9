/* Checks of the scale and the zero of a tensor of bytes: the last error is set if they return false. */
#ifndef SN_API_QUANTIZED_H
#define SN_API_QUANTIZED_H

#include "runtime/common.h"

bool sn_check_scale(const char * function, const char * name, float scale);
bool sn_check_zero(const char * function, const char * name, int32_t zero);

#endif
