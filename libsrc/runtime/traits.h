/*
 * What a processor is good at, beyond what it reports about itself: a small table by vendor, family and model, with a
 * default for processors that it does not list. A trait may change the default level, and tiles, blocking, prefetching and
 * streaming within a level; it never changes a bit of a level's results.
 */
#ifndef SN_RUNTIME_TRAITS_H
#define SN_RUNTIME_TRAITS_H

#include "runtime/common.h"

struct sn_traits {
    /* Features (SN_CPU_*) whose instructions are slower than those they replace. A level that needs one of them is not the
     * default; a caller may still select it. */
    uint32_t slow;

    /* The bytes of sources and result up to which the result stays in the caches for the next layer; larger results are
     * written with non-temporal stores. */
    size_t cached;

    /* Products of matrices: it is faster to prefetch the rows of C that a tile only writes. */
    bool prefetchC;

    /* A large result is written faster in the order of its addresses than in panels of columns. */
    bool ordered;
};

/* A processor, as CPUID describes it; an empty vendor is unknown. */
struct sn_model {
    char vendor[13];
    uint32_t family, model;
};

/* The traits of a processor with an L3 cache of this many bytes. */
struct sn_traits sn_traits_of(const struct sn_model * model, size_t cacheL3);

#endif
