/*
 * The number of threads a call may use, and the pool that runs work in them.
 *
 * A driver cuts its work into units that write disjoint outputs, about equal, and says what all of them cost:
 *
 *     sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = rows, .cost = nanoseconds,
 *                                           .work = work, .workBytes = bytes});
 *
 * and run() does the units of a range, in the workspace it is given. Nothing that can be seen in a result may depend on how
 * units are cut into ranges, which differs from call to call.
 */
#ifndef SN_RUNTIME_THREADS_H
#define SN_RUNTIME_THREADS_H

#include "runtime/common.h"

struct sn_parallel {
    /* Does units begin .. end - 1. Ranges together cover all units once; several may run at the same time. */
    void (*run)(const void * job, void * work, size_t begin, size_t end);
    const void * job;
    size_t units;
    double cost;  /* nanoseconds that all units take one thread, about: how many threads are worth it follows from that */
    size_t least; /* units that a range should have, as far as there are so many; 0 is 1 */

    /* The caller's workspace. Other threads have their own, of so many bytes, aligned to SN_ALIGN; 0 is none. */
    void * work;
    size_t workBytes;
};

/*
 * The number set, 1 by default or what SIMDNET_NUM_THREADS says; setting limits it to 1 .. sn_processors(). Workers run on
 * the processors that the thread may use which sets it.
 */
extern size_t sn_thread_number; /* 0: the environment has not been read yet */
size_t sn_threads_of_environment(void);
static inline size_t sn_threads(void)
{
    const size_t number = __atomic_load_n(&sn_thread_number, __ATOMIC_RELAXED);
    return number ? number : sn_threads_of_environment();
}
void sn_threads_set(size_t number);

/*
 * For tests: as many threads as are asked for, however few processors there are. Every call is then cut into single units,
 * whatever it costs, and waits until its workers are there. Ends with sn_threads_set().
 */
void sn_threads_force(size_t number);

/* The threads that this thread's calls had since it was cleared, at most: the caller, and workers that did a part. */
void sn_threads_used_clear(void);
size_t sn_threads_used(void);

/* The threads of the pool that exist now, without any caller. */
size_t sn_threads_alive(void);

/* For sn_parallel_for(): decides how many threads the work is worth. */
void sn_parallel_together(const struct sn_parallel * p);

/* Runs all units, in one range on the caller or, where that is faster, in ranges on several threads. */
static inline void sn_parallel_for(const struct sn_parallel * p)
{
    if (p->units > 1 && sn_threads() > 1)
        sn_parallel_together(p);
    else if (p->units)
        p->run(p->job, p->work, 0, p->units);
}

#endif
