/* Checks of operands with broadcasting: the shapes and arrays of a call, the result first, then each operand. */
#ifndef SN_API_BROADCAST_H
#define SN_API_BROADCAST_H

#include "api/arrays.h"
#include "api/overlap.h"
#include "ops/elementwise/broadcast.h"

struct sn_broadcast {
    const char * function;
    size_t count, size; /* dimensions and elements of the result */
    const size_t * shape;
    bool covered[SIMDNET_MAX_DIMENSIONS]; /* by an operand of the result's extent */
    struct sn_array dst;
};

/* The functions set the last error if they return false. `bytes` are those of an element. */
bool sn_take_result(struct sn_broadcast * c, size_t count, const size_t * shape, const void * dst, size_t bytes);

/* An operand and the names of its arguments; `in_place`: dst may be this array if the shapes are equal. */
bool sn_take_operand(struct sn_broadcast * c, const char * names[2], const void * at, size_t bytes, const size_t * shape,
                     bool in_place, struct sn_operand * taken);

/* A dimension in which all operands are repeated is an error of the caller. */
bool sn_is_covered(const struct sn_broadcast * c);

#endif
