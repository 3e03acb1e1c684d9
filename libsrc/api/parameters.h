/* Public structs of arguments, and the distances between pixels in them. */
#ifndef SN_API_PARAMETERS_H
#define SN_API_PARAMETERS_H

#include "contract/enums.h"
#include "runtime/common.h"

/* True if the struct, whose first member is its size, is one of this version, of `known` bytes; else the last error is set.
 * Members that a later version has appended, and this one does not know, must have no effect. */
bool sn_is_known(const char * function, const void * parameters, size_t known);

/* The same for a struct to which this version has appended members: copies it to `own`, of `known` bytes. A struct that ends
 * after `least` bytes or behind them has zeros for what it lacks. */
bool sn_take_known(const char * function, const void * parameters, size_t least, void * own, size_t known);

/* An array of pixels, and the name of its distance in messages. */
struct sn_pixel_array {
    const char * name;
    enum sn_format format;
    size_t batch, pixels, channels, element; /* pixels of an image; bytes of an element */
};

/* Checks *pixel, replaces 0 by the number of channels, and computes the bytes from image to image. */
bool sn_take_pixel(const char * function, struct sn_pixel_array array, size_t * pixel, size_t * image);

#endif
