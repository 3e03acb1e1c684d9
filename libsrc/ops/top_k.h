/* The largest or smallest values of lines, on several threads: arguments as in the public function, checked, not empty. */
#ifndef SN_OPS_TOP_K_H
#define SN_OPS_TOP_K_H

#include "contract/enums.h"
#include "runtime/common.h"

struct sn_top_k {
    enum sn_data type;
    const void * src;
    size_t outer, count, inner, k;
    bool largest, sorted;
    void * values;
    sn_64i * indices;
};

/* False if there is no memory. */
bool sn_top_k_32f(const struct sn_top_k * t);
bool sn_top_k_integers(const struct sn_top_k * t, size_t bytes); /* of an element */

#endif
