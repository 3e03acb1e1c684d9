/*
 * The number of threads a call may use, and the pool that runs work in them.
 *
 * A driver divides its work into units of about equal cost that write disjoint outputs, and states the cost of all of them:
 *
 *     sn_parallel_for(&(struct sn_parallel){.run = run, .job = &job, .units = rows, .cost = nanoseconds,
 *                                           .work = work, .workBytes = bytes});
 *
 * run() computes the units of a range, in the workspace that it is given. Results must not depend on the division of units
 * into ranges, which differs from call to call.
 */
#ifndef SN_RUNTIME_THREADS_H
#define SN_RUNTIME_THREADS_H

#include "runtime/common.h"

struct sn_parallel {
    /* Computes units begin .. end - 1. The ranges cover each unit once; several may run at the same time. */
    void (*run)(const void * job, void * work, size_t begin, size_t end);
    const void * job;
    size_t units;
    double cost;  /* approximate nanoseconds of all units on one thread; determines the number of threads */
    size_t least; /* units that a range should have at least, if there are so many; 0 means 1 */

    /* The caller's workspace. Other threads have their own of workBytes, aligned to SN_ALIGN; 0 means none. */
    void * work;
    size_t workBytes;
};

/*
 * The number of threads: as set, else SIMDNET_NUM_THREADS, else 1; limited to 1 .. sn_processors() when it is set. Workers
 * run on the processors that the thread which sets it may use.
 */
extern size_t sn_thread_number; /* 0: the environment has not been read yet */
size_t sn_threads_of_environment(void);
SN_INLINE size_t sn_threads(void)
{
    const size_t number = __atomic_load_n(&sn_thread_number, __ATOMIC_RELAXED);
    return number ? number : sn_threads_of_environment();
}
void sn_threads_set(size_t number);

/*
 * For tests: this number of threads, even if there are fewer processors. Every call is then divided into single units,
 * whatever its cost, and waits until its workers have arrived. sn_threads_set() ends it.
 */
void sn_threads_force(size_t number);

/* The maximum number of threads of this thread's calls since the last clear: the caller and workers that computed a part. */
void sn_threads_used_clear(void);
size_t sn_threads_used(void);

/* The number of workers that exist now. */
size_t sn_threads_alive(void);

/* For sn_parallel_for(): decides how many threads the work is worth. */
void sn_parallel_run(const struct sn_parallel * p);

/* Runs all units: in one range on the caller or, if that is faster, in ranges on several threads. */
SN_INLINE void sn_parallel_for(const struct sn_parallel * p)
{
    if (p->units > 1 && sn_threads() > 1)
        sn_parallel_run(p);
    else if (p->units)
        p->run(p->job, p->work, 0, p->units);
}

#endif
