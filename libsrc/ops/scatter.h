/* Elements and parts of arrays replaced or changed by indices, and cumulative sums: arguments are checked. */
#ifndef SN_OPS_SCATTER_H
#define SN_OPS_SCATTER_H

#include "contract/enums.h"
#include "runtime/common.h"

enum { SN_SCATTER_DIMENSIONS = 8 };

/* SimdnetScatterReduction. */
enum sn_scatter_reduction { SN_SCATTER_NONE, SN_SCATTER_ADD, SN_SCATTER_MULTIPLY, SN_SCATTER_MAXIMUM, SN_SCATTER_MINIMUM };

struct sn_scatter_elements {
    enum sn_data type; /* any if the reduction is None */
    enum sn_scatter_reduction reduction;
    size_t bytes, count, axis; /* of an element; dimensions */
    const size_t *shape, *updatesShape, *indexShape;
    const sn_64i * index;
    const uint8_t * updates;
    uint8_t * dst; /* with the elements of src */
};
void sn_scatter_elements(const struct sn_scatter_elements * s);

struct sn_scatter_nd {
    enum sn_data type;
    enum sn_scatter_reduction reduction;
    size_t bytes, batch, depth, inner, indices;
    const size_t * shape;
    const sn_64i * index;
    const uint8_t * from; /* updates, or src of a gather */
    uint8_t * dst;
    const sn_64i * rows; /* of updates, for each index; NULL: one after the other */
    size_t rowCount;
};
void sn_scatter_nd(const struct sn_scatter_nd * s);
void sn_gather_nd(const struct sn_scatter_nd * s);

/* The place of the first number of an index that is out of range; their count if there is none. */
size_t sn_nd_beyond(const struct sn_scatter_nd * s);

struct sn_cumulative {
    enum sn_data type;
    size_t bytes, outer, count, inner;
    bool exclusive, reverse;
    const uint8_t * src;
    uint8_t * dst;
};
void sn_cumulative_sum(const struct sn_cumulative * c);

#endif
