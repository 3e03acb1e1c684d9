/*
 * For bench.pool: a library whose pool notes the jobs of calls, and computes them on the caller.
 *
 * It is linked with --wrap=sn_parallel_run. Drivers see the number of threads that is asked for, which may be larger than the
 * machine's, so that they divide their work as for these.
 */
#include <time.h>

#include "runtime/threads.h"

enum { MOST = 1 << 16 };

struct noted {
    double units, least, cost, taken; /* cost: as the driver states it; taken: nanoseconds */
};

static struct noted jobs[MOST];
static size_t count;
static bool notes, inside;

void __real_sn_parallel_run(const struct sn_parallel * p);
void __wrap_sn_parallel_run(const struct sn_parallel * p);

/* Notes jobs from now on, for this number of threads; with 0, the pool works as ever, on one thread until it is told. */
__attribute__((visibility("default"))) void SimdnetBenchNotes(size_t threads);
__attribute__((visibility("default"))) size_t SimdnetBenchJobs(struct noted * to, size_t most);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

void __wrap_sn_parallel_run(const struct sn_parallel * p)
{
    if (!notes) {
        __real_sn_parallel_run(p);
        return;
    }
    const bool outermost = !inside;
    const double start = now();
    inside = true;
    p->run(p->job, p->work, 0, p->units);
    if (outermost && count < MOST)
        jobs[count++] = (struct noted){(double)p->units, (double)p->least, p->cost, now() - start};
    inside = !outermost;
}

void SimdnetBenchNotes(size_t threads)
{
    sn_threads_set(1);
    notes = threads > 0;
    count = 0;
    if (notes)
        __atomic_store_n(&sn_thread_number, threads, __ATOMIC_RELAXED);
}

/* The jobs since the last call; their number. */
size_t SimdnetBenchJobs(struct noted * to, size_t most)
{
    const size_t n = sn_min(count, most);
    for (size_t i = 0; i < n; ++i)
        to[i] = jobs[i];
    count = 0;
    return n;
}
