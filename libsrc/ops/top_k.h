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

/*
 * A value that at least k of the values are as good as, the largest or the smallest ones, of which NaN is as good as any: the
 * kth of the best ones of about 4 * k columns, or an infinity if that is not worth it. Few values are better than it, while of
 * random values k * log(count / k) enter a heap: 300 of 8400 take 0.8 of the time, but of 672000 1.5. `ranks` is room for k.
 */
float sn_top_k_bound(const sn_32f * src, size_t count, size_t k, bool largest, uint64_t * ranks);

/* False if there is no memory. */
bool sn_top_k_32f(const struct sn_top_k * t);
bool sn_top_k_integers(const struct sn_top_k * t, size_t bytes); /* of an element */

#endif
