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

SN_INLINE bool sn_overlap(const struct sn_array * a, const struct sn_array * b)
{
    const uintptr_t p = (uintptr_t)a->at, q = (uintptr_t)b->at; /* a distance below 0 is larger than any array */
    return (p - q < b->bytes || q - p < a->bytes) && a->bytes && b->bytes;
}

/* Sets the last error, and returns false. */
bool sn_refuse_overlap(const char * function, const char * dst, const char * src, bool in_place);

/* True if a result does not overlap another array; else the last error is set. For a function that works in place it may be
 * that array, but not another part of it. */
SN_INLINE bool sn_apart_for(const char * function, struct sn_array dst, struct sn_array src, bool in_place)
{
    return SN_LIKELY(!sn_overlap(&dst, &src)) || (in_place && dst.at == src.at) ||
           sn_refuse_overlap(function, dst.name, src.name, in_place);
}

SN_INLINE bool sn_apart(const char * function, struct sn_array dst, struct sn_array src)
{
    return sn_apart_for(function, dst, src, false);
}

SN_INLINE bool sn_apart_or_same(const char * function, struct sn_array dst, struct sn_array src)
{
    return sn_apart_for(function, dst, src, true);
}

/* An array of rows, `step` bytes from one to the next; elements of others may lie between them. */
struct sn_rows {
    const char * name;
    const void * at;
    size_t rows, bytes, step; /* bytes of a row */
};

#define SN_ROWS(pointer, rows, count, step)                                                                                 \
    ((struct sn_rows){#pointer, pointer, rows, (count) * sizeof(*(pointer)), (step) * sizeof(*(pointer))})

/* From the first byte to the last. */
SN_INLINE struct sn_array sn_whole(const struct sn_rows * r)
{
    return (struct sn_array){r->name, r->at, r->rows && r->bytes ? (r->rows - 1) * r->step + r->bytes : 0};
}

/* For arrays that overlap as a whole. */
bool sn_rows_between(const char * function, const struct sn_rows * dst, const struct sn_rows * src);

/* True if no rows overlap, or if it may take more than constant time to find out: both have gaps, and different steps. */
SN_INLINE bool sn_rows_apart(const char * function, struct sn_rows dst, struct sn_rows src)
{
    const struct sn_array a = sn_whole(&dst), b = sn_whole(&src);
    return SN_LIKELY(!sn_overlap(&a, &b)) || sn_rows_between(function, &dst, &src);
}

/* `count` parts of a result, `stride` elements apart; the parts of one level lie inside those of another, in any order. */
struct sn_level {
    const char * name; /* of the argument with the distance */
    size_t count, stride;
};

/* True if no two parts have an element in common; the innermost, which no level describes, have `columns` elements. `parts`
 * is what the message calls them. The order of the levels changes. */
bool sn_levels_distinct(const char * function, struct sn_level levels[3], size_t columns, const char * parts);

#endif
