/*
 * Operands that are broadcast become dense blocks of a few KB, which stay in the L1 cache: functions of two or three operands
 * then need one loop for each type, not one for each combination of arrays and repeated numbers.
 */
#include "ops/elementwise/broadcast.h"

#include <string.h>


struct sn_operand sn_operand_of(const void * at, size_t bytes, size_t count, const size_t * shape, const size_t * result)
{
    struct sn_operand p = {.at = at, .bytes = bytes};
    for (size_t k = 0; k < count; ++k) {
        const bool repeats = shape[k] == 1;
        if (result[k] == 1)
            continue;
        if (p.count > 0 && repeats == (p.d[p.count - 1].stride == 0))
            p.d[p.count - 1].extent *= result[k];
        else
            p.d[p.count++] = (struct sn_operand_dimension){result[k], repeats ? 0 : 1};
    }
    for (size_t k = p.count, stride = bytes; k-- > 0;)
        if (p.d[k].stride) {
            p.d[k].stride = stride;
            stride *= p.d[k].extent;
        }
    return p;
}

/* n elements, in chunks that compilers make vectors of. */
#define REPEAT(type)                                                                                                        \
    do {                                                                                                                    \
        const type value = *(const type *)src;                                                                              \
        SN_FOR_EACH(n, ((type *)dst)[i] = value);                                                                           \
    } while (0)

static void fill(uint8_t * dst, const uint8_t * src, size_t n, size_t bytes)
{
    switch (bytes) {
    case 1: memset(dst, *src, n); break;
    case 2: REPEAT(sn_16b); break;
    case 4: REPEAT(sn_32i); break;
    default: REPEAT(sn_64i);
    }
}

/* The address of the row that contains a result, and where this is in the row. */
static const uint8_t * row_of(const struct sn_operand * p, size_t result, size_t * column)
{
    const uint8_t * at = p->at;
    *column = result % p->d[p->count - 1].extent;
    for (size_t k = p->count - 1, row = result / p->d[k].extent; k-- > 0; row /= p->d[k].extent)
        at += row % p->d[k].extent * p->d[k].stride;
    return at;
}

/* n elements of a row, from a column on, and of the same row again and again: what is there is copied, twice as much each
 * time. */
static void repeat_row(uint8_t * dst, const uint8_t * row, size_t column, size_t n, struct sn_operand_dimension last,
                       size_t bytes)
{
    const size_t first = sn_min(n, last.extent - column), second = sn_min(n - first, column);
    memcpy(dst, row + column * last.stride, first * bytes);
    memcpy(dst + first * bytes, row, second * bytes);
    for (size_t done = first + second, m; done < n; done += m) {
        m = sn_min(n - done, done);
        memcpy(dst + done * bytes, dst, m * bytes);
    }
}

/* Dimensions that repeat and others take turns. */
const uint8_t * sn_operand_block(const struct sn_operand * p, size_t first, size_t n, void * block)
{
    uint8_t * dst = block;
    if (p->count == 0)
        return p->at;
    const struct sn_operand_dimension last = p->d[p->count - 1];
    const size_t repeats = last.stride && p->count > 1 ? p->d[p->count - 2].extent : 1; /* of a row */
    for (size_t done = 0, m, column; done < n; done += m) {
        const uint8_t * row = row_of(p, first + done, &column);
        m = sn_min(n - done, last.extent - column);
        if (m == n && last.stride)
            return row + column * last.stride;
        if (last.stride) {
            m = sn_min(n - done, (repeats - (first + done) / last.extent % repeats) * last.extent - column);
            repeat_row(dst + done * p->bytes, row, column, m, last, p->bytes);
        } else
            fill(dst + done * p->bytes, row, m, p->bytes);
    }
    return block;
}
