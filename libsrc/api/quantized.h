/* What functions of quantised bytes share. */
#ifndef SN_API_QUANTIZED_H
#define SN_API_QUANTIZED_H

#include "contract/quantized_binary.h"
#include "simdnet.h"

/* Checks of the scale and the zero of a tensor of bytes, signed ones if `negative`: the last error is set if they return
 * false. */
bool sn_check_scale(const char * function, const char * name, float scale);
bool sn_check_scales(const char * function, const char * name, const sn_32f * scale, size_t count); /* these may be 0 */
bool sn_check_zero(const char * function, const char * name, int32_t zero);
bool sn_check_zero_of(const char * function, const char * name, int32_t zero, bool negative);

/* Whether sums are small enough for `near` of struct sn_quantized_binary. */
bool sn_is_near_sum(float aScale, float bScale, float shift);

/* The numbers of SimdnetQuantizedBinary(), whose arguments are checked. */
struct sn_quantized_binary sn_quantized_numbers(const SimdnetQuantizedBinaryParameters * q);

#endif
