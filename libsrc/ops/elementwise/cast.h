/* Elements converted to another type, on several threads: arguments are checked. */
#ifndef SN_OPS_ELEMENTWISE_CAST_H
#define SN_OPS_ELEMENTWISE_CAST_H

#include "contract/enums.h"
#include "runtime/common.h"

/* dst(i) = src(i), i < count; the types are all but 16b, of `srcBytes` and `dstBytes` bytes an element. */
struct sn_cast {
    enum sn_data srcType, dstType;
    size_t srcBytes, dstBytes, count;
    const uint8_t * src;
    uint8_t * dst;
};
void sn_cast(const struct sn_cast * c);

/* Whether a bit is set, of the halves together: the instructions of x86-64 that every level has compare no 64 bits. */
SN_INLINE bool sn_is_not_0(uint64_t x) { return ((uint32_t)x | (uint32_t)(x >> 32)) != 0; }

/* Integers of any type as integers of 64 bits, and the low bits of these; of Bool, whether there is one. */
void sn_widen(enum sn_data from, const uint8_t * src, size_t n, sn_64i * restrict wide);
void sn_narrow_integers(enum sn_data to, const sn_64i * wide, size_t n, uint8_t * restrict dst);

/* An integer or a boolean, as sn_widen() has it; an unsigned one of 64 bits keeps its bits. For loops of one known type. */
SN_INLINE int64_t sn_widened(enum sn_data type, const uint8_t * at)
{
    switch (type) {
    case SN_DATA_8I: return (int8_t)*at;
    case SN_DATA_8U: return *at;
    case SN_DATA_BOOL: return *at != 0;
    case SN_DATA_32I: return *(const sn_32i *)at;
    default: return *(const sn_64i *)at;
    }
}

#endif
