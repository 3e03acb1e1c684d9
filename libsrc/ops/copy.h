/* Copies of elements between arrays of any strides, on several threads. */
#ifndef SN_OPS_COPY_H
#define SN_OPS_COPY_H

#include <string.h>

#include "contract/table.h"

enum {
    SN_COPY_DIMENSIONS = 8,
    SN_COPY_LONG = 256 /* bytes of a run that is copied by memcpy() */
};

/* Bytes from an index to the next one. */
struct sn_copy_dimension {
    size_t extent;
    ptrdiff_t src, dst;
};

/*
 * A copy: `element` bytes for all indices of the dimensions, none of which is empty. sn_copy_plan() brings it into the form
 * in which sn_copy() computes: the last two dimensions, j and i, are a block. If `rows`, i are bytes, one after another;
 * otherwise i is the dimension in which elements are written one after another, and j the one in which they are read so, if
 * there is such a dimension: then a block is a transposition.
 */
struct sn_copy {
    size_t count, element;
    struct sn_copy_dimension d[SN_COPY_DIMENSIONS + 2];
    ptrdiff_t src, dst; /* bytes from the arrays' beginning to the first element; 0 before sn_copy_plan() */
    bool rows;
};

void sn_copy_plan(struct sn_copy * c);

void sn_copy(const struct sn_table * table, const struct sn_copy * c, const void * src, void * dst);

/* How a plan copies, for people. */
const char * sn_copy_how(const struct sn_copy * c);

/* Plans and copies. */
void sn_copy_once(struct sn_copy c, const void * src, void * dst);

/* n bytes, fewer than SN_COPY_LONG: a call of memcpy() would take longer than the copy. */
SN_INLINE void sn_copy_short(uint8_t * dst, const uint8_t * src, size_t n)
{
    if (n >= 16) {
        for (size_t k = 0; k + 16 < n; k += 16)
            memcpy(dst + k, src + k, 16);
        memcpy(dst + n - 16, src + n - 16, 16);
    } else if (n >= 8) {
        memcpy(dst, src, 8);
        memcpy(dst + n - 8, src + n - 8, 8);
    } else if (n >= 4) {
        memcpy(dst, src, 4);
        memcpy(dst + n - 4, src + n - 4, 4);
    } else
        for (size_t k = 0; k < n; ++k)
            dst[k] = src[k];
}

/* The number of bytes of an element, for all types of SimdTensorDataType except Unknown. */
size_t sn_copy_element(int type);

#endif
