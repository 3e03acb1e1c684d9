/*
 * Results must not overlap the other arrays of a call. What pointers and sizes show in constant time is refused:
 *
 *     if (!sn_apart(__func__, SN_ARRAY(dst, elements), SN_ARRAY(src, elements)))
 *         return;
 *
 * Adjacent arrays do not overlap, and an array without elements overlaps nothing. Single numbers are not checked: they are
 * read before anything is written. A check takes less than a nanosecond.
 */
#ifndef SN_API_OVERLAP_H
#define SN_API_OVERLAP_H

#include "runtime/common.h"

/* An array, with the name of its argument. */
struct sn_array {
    const char * name;
    const void * at;
    size_t bytes;
};

#define SN_ARRAY(pointer, count) ((struct sn_array){#pointer, pointer, (count) * sizeof(*(pointer))})

static inline bool sn_overlap(const struct sn_array * a, const struct sn_array * b)
{
    const uintptr_t p = (uintptr_t)a->at, q = (uintptr_t)b->at; /* a distance below 0 is larger than any array */
    return (p - q < b->bytes || q - p < a->bytes) && a->bytes && b->bytes;
}

/* Sets the last error, and returns false. */
bool sn_refuse_overlap(const char * function, const char * dst, const char * src);
bool sn_refuse_overlap_in_part(const char * function, const char * dst, const char * src);

/* True if a result does not overlap another array; else the last error is set. */
static inline bool sn_apart(const char * function, struct sn_array dst, struct sn_array src)
{
    return SN_LIKELY(!sn_overlap(&dst, &src)) || sn_refuse_overlap(function, dst.name, src.name);
}

/* The same for a function that works in place: the result may be that array, but not another part of it. */
static inline bool sn_apart_or_same(const char * function, struct sn_array dst, struct sn_array src)
{
    return dst.at == src.at || SN_LIKELY(!sn_overlap(&dst, &src)) ||
           sn_refuse_overlap_in_part(function, dst.name, src.name);
}

/* An array of rows, `step` bytes from one to the next; elements of others may lie between them. */
struct sn_rows {
    const char * name;
    const void * at;
    size_t rows, bytes, step; /* bytes of a row */
};

#define SN_ROWS(pointer, rows, count, step)                                                                                 \
    ((struct sn_rows){#pointer, pointer, rows, (count) * sizeof(*(pointer)), (step) * sizeof(*(pointer))})

/* True if no rows overlap, or if it takes more than constant time to find out: both arrays have gaps, and different steps. */
bool sn_rows_apart(const char * function, struct sn_rows dst, struct sn_rows src);

#endif
