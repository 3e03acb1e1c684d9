#include "api/overlap.h"

#include "runtime/error.h"

bool sn_refuse_overlap(const char * function, const char * dst, const char * src)
{
    sn_error_set(SN_ERROR_VALUE, function, "%s overlaps %s, expected memory of its own: use another array", dst, src);
    return false;
}

bool sn_refuse_overlap_in_part(const char * function, const char * dst, const char * src)
{
    sn_error_set(SN_ERROR_VALUE, function,
                 "%s overlaps %s in part, expected %s itself or memory of its own: use another array", dst, src, src);
    return false;
}

/* From the first byte to the last. */
static struct sn_array whole(const struct sn_rows * r)
{
    return (struct sn_array){r->name, r->at, r->rows && r->bytes ? (r->rows - 1) * r->step + r->bytes : 0};
}

/*
 * The first row of the array that begins later, against the rows of the other one, in which it begins `offset` bytes behind
 * the nearest. If steps are equal, or if there is one row, the other rows need not be compared.
 */
bool sn_rows_apart(const char * function, struct sn_rows dst, struct sn_rows src)
{
    const struct sn_array a = whole(&dst), b = whole(&src);
    if (SN_LIKELY(!sn_overlap(&a, &b)))
        return true;
    const bool later = (uintptr_t)src.at >= (uintptr_t)dst.at;
    const struct sn_rows * first = later ? &dst : &src, * second = later ? &src : &dst;
    const size_t distance = (uintptr_t)second->at - (uintptr_t)first->at;
    const size_t offset = first->rows > 1 ? distance % first->step : distance;
    if (offset >= first->bytes && offset + second->bytes <= first->step)
        return true;
    return sn_refuse_overlap(function, dst.name, src.name);
}
