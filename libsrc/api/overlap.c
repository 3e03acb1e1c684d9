#include "api/overlap.h"

#include "api/check.h"
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

bool sn_levels_distinct(const char * function, struct sn_level levels[3], size_t columns, const char * parts)
{
    size_t reach = columns;
    for (int done = 0; done < 3; ++done) {
        int least = done;
        for (int i = done + 1; i < 3; ++i)
            least = levels[i].stride < levels[least].stride ? i : least;
        const struct sn_level next = levels[least];
        levels[least] = levels[done];
        SN_CHECK_FOR(function, next.count <= 1 || next.stride >= reach, false,
                     "%s is %zu, expected at least %zu: the %s would have elements in common", next.name, next.stride, reach,
                     parts);
        reach += next.count > 1 ? (next.count - 1) * next.stride : 0;
    }
    return true;
}
