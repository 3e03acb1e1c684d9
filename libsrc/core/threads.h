/* The number of threads a call may use, and the loop that hands ranges of work to them. */
#ifndef SN_CORE_THREADS_H
#define SN_CORE_THREADS_H

#include "core/common.h"

size_t sn_threads(void);
void sn_threads_set(size_t number); /* limited to 1 .. hardware threads */

/*
 * Runs the units of work 0 .. count - 1, calling run(job, begin, end) for ranges that together cover them once. Units write
 * disjoint outputs, so the result does not depend on how they are cut. For now one range, on the caller: the pool of worker
 * threads comes behind this function, and drivers are written for it.
 */
static inline void sn_parallel_for(void (*run)(const void * job, size_t begin, size_t end), const void * job, size_t count)
{
    if (count)
        run(job, 0, count);
}

#endif
