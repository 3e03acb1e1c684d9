/* The largest or smallest values of lines, on several threads: arguments as in the public function, checked, not empty. */
#ifndef SN_OPS_TOP_K_H
#define SN_OPS_TOP_K_H

#include "runtime/common.h"

struct sn_top_k {
    const sn_32f * src;
    size_t outer, count, inner, k;
    bool largest, sorted;
    sn_32f * values;
    sn_64i * indices;
};

/* False if there is no memory. */
bool sn_top_k_32f(const struct sn_top_k * t);

#endif
