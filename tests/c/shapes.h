/* Shapes of arrays of any number of dimensions. */
#ifndef SN_TESTS_SHAPES_H
#define SN_TESTS_SHAPES_H

#include <stddef.h>
#include <stdio.h>

/* The number of elements. */
static inline size_t shape_size(const size_t * shape, size_t count)
{
    size_t size = 1;
    for (size_t k = 0; k < count; ++k)
        size *= shape[k];
    return size;
}

/* As "2x3x4". */
static inline const char * shape_text(const size_t * shape, size_t count, char text[100])
{
    size_t at = 0;
    text[0] = 0;
    for (size_t k = 0; k < count; ++k)
        at += (size_t)snprintf(text + at, 100 - at, "%s%zu", k ? "x" : "", shape[k]);
    return text;
}

#endif
