/* Names of enumerators, for messages and reports. */
#ifndef SN_API_ENUMS_H
#define SN_API_ENUMS_H

#include "runtime/common.h"

/* The enumerators first .. first + count - 1 of a type; all their names begin with `prefix`. */
struct sn_enumeration {
    const char * prefix;
    int first, count;
    const char * const * names;
};

extern SN_HIDDEN const struct sn_enumeration sn_formats, sn_data_types, sn_activations, sn_pixel_formats;

/* "Nhwc"; NULL for a value without an enumerator. */
const char * sn_enumerator(const struct sn_enumeration * e, int value);

/* "SimdTensorFormatNhwc", or the number of a value without an enumerator, written to `text`. */
enum { SN_NAME_SIZE = 56 };
const char * sn_name(const struct sn_enumeration * e, int value, char text[SN_NAME_SIZE]);

/* The same as an argument of a message. */
#define SN_NAME(enumeration, value) sn_name(&(enumeration), (int)(value), (char[SN_NAME_SIZE]){0})

/* Bytes of an element of a SimdTensorDataType; 0 for SimdTensorDataUnknown and values without an enumerator. */
size_t sn_data_bytes(int type);

#endif
