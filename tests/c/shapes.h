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

/* The index in an array of shape `own`, broadcast to `shape`, of element i of the result. */
static inline size_t shape_index(const size_t * shape, const size_t * own, size_t count, size_t i)
{
    size_t at = 0, step = 1;
    for (size_t k = count; k-- > 0; i /= shape[k]) {
        at += own[k] == 1 ? 0 : i % shape[k] * step;
        step *= own[k];
    }
    return at;
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
