#include "api/overlap.h"

#include "runtime/error.h"

bool sn_refuse_overlap(const char * function, const char * dst, const char * src, bool in_place)
{
    if (in_place)
        sn_error_set(SN_ERROR_VALUE, function,
                     "%s overlaps %s in part, expected %s itself or memory of its own: use another array", dst, src, src);
    else
        sn_error_set(SN_ERROR_VALUE, function, "%s overlaps %s, expected memory of its own: use another array", dst, src);
    return false;
}

/*
 * Compares the first row of the array that begins later with the rows of the other one: it begins `offset` bytes behind the
 * nearest of them. If steps are equal, or if there is one row, the other rows need not be compared.
 */
bool sn_rows_between(const char * function, const struct sn_rows * dst, const struct sn_rows * src)
{
    const bool later = (uintptr_t)src->at >= (uintptr_t)dst->at;
    const struct sn_rows * first = later ? dst : src, * second = later ? src : dst;
    const size_t distance = (uintptr_t)second->at - (uintptr_t)first->at;
    const size_t offset = first->rows > 1 ? distance % first->step : distance;
    if (offset >= first->bytes && offset + second->bytes <= first->step)
        return true;
    return sn_refuse_overlap(function, dst->name, src->name, false);
}
