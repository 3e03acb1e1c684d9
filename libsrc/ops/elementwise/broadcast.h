/* Operands with the shapes that NumPy broadcasts, read in blocks of results: arguments are checked. */
#ifndef SN_OPS_ELEMENTWISE_BROADCAST_H
#define SN_OPS_ELEMENTWISE_BROADCAST_H

#include "runtime/common.h"

enum {
    SN_BROADCAST_DIMENSIONS = 8,
    SN_BROADCAST_BLOCK = 512 /* elements of 8 bytes of a block, at most; smaller ones are more */
};

/* An operand; neighbouring dimensions that it has, or repeats, are one. */
struct sn_operand {
    const uint8_t * at;
    size_t bytes, count; /* of an element; dimensions */
    struct sn_operand_dimension {
        size_t extent, stride; /* bytes from an index to the next, 0: repeated */
    } d[SN_BROADCAST_DIMENSIONS];
};

/* The operand of a shape each of whose extents is 1 or that of the result. */
struct sn_operand sn_operand_of(const void * at, size_t bytes, size_t count, const size_t * shape, const size_t * result);

/* The elements for the results first .. first + n - 1, of at most SN_BROADCAST_BLOCK * 8 bytes; they are copied to `block`
 * unless they are adjacent. */
const uint8_t * sn_operand_block(const struct sn_operand * p, size_t first, size_t n, void * block);

#endif
