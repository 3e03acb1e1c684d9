/* Checks of shapes and formats of arrays. */
#ifndef SN_API_ARRAYS_H
#define SN_API_ARRAYS_H

#include "runtime/common.h"
#include "simdnet.h"

/* True if the number of dimensions is possible, and *elements is the product of the extents; else the last error is set. */
bool sn_take_shape(const char * function, size_t count, const size_t * shape, size_t * elements);

/* True for a type of elements, of *element bytes; likewise. */
bool sn_take_element(const char * function, const char * name, SimdTensorDataType type, size_t * element);

/* Checks that the shapes a and b are equal and not larger than an array can be, and computes the number of elements. */
bool sn_check_shapes(const char * function, const size_t * aShape, size_t aCount, const size_t * bShape, size_t bCount,
                     size_t * size);

/* True for NCHW and NHWC, of an argument of this name; else the last error is set, as by the first, which returns false. */
bool sn_refuse_format(const char * function, const char * name, int format);
static inline bool sn_check_format(const char * function, const char * name, int format)
{
    return SN_LIKELY(format == SimdTensorFormatNchw || format == SimdTensorFormatNhwc) ||
           sn_refuse_format(function, name, format);
}

#endif
