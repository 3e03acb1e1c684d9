/* Elements read at indices, on several threads: arguments are checked. An index t below 0 is count + t. */
#ifndef SN_OPS_GATHER_H
#define SN_OPS_GATHER_H

#include "runtime/common.h"

/* `size` indices: int64_t if wide, else int32_t. */
struct sn_indices {
    const void * at;
    bool wide;
    size_t size;
};

static inline int64_t sn_index_at(const struct sn_indices * indices, size_t i)
{
    return indices->wide ? ((const sn_64i *)indices->at)[i] : ((const sn_32i *)indices->at)[i];
}

/* The place of the first index that is not one of -count .. count - 1; `size` if there is none. */
size_t sn_index_beyond(const struct sn_indices * indices, size_t count);

/* dst(o, j) = src(o, indices(j)), items of `bytes` bytes each. */
struct sn_gather {
    const uint8_t * src;
    size_t outer, count, bytes;
    struct sn_indices indices;
    uint8_t * dst;
};
void sn_gather(const struct sn_gather * g);

/* dst(o, c, i) = src(o, indices(o, c, i), i), elements of 1, 2 or 4 bytes; c < selected. */
struct sn_gather_elements {
    const uint8_t * src;
    size_t outer, count, inner, selected, bytes;
    struct sn_indices indices;
    uint8_t * dst;
};
void sn_gather_elements(const struct sn_gather_elements * g);

#endif
