/* --bench: the time of one call on each level, interleaved so that changes in the speed of the machine affect all levels
 * alike. */
#define _POSIX_C_SOURCE 199309L
#include <stdlib.h>
#include <time.h>

#include "bench/limits.h"
#include "check_frame.h"

enum { ROUNDS = 15 };
static const double BATCH = 2e-3; /* seconds of one timing */
static const double LIMIT = 1.0;  /* total seconds for a level */
static const double PEAK = 1e7;   /* operations of one measurement of the peak */

struct timing {
    void * context;
    size_t repeats, rounds;
    double spent, time[ROUNDS];
    double together[ROUNDS]; /* with --threads, times with that many threads */
    double peak; /* operations per second of bare multiply-adds, measured in the same rounds */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double time_of(size_t repeats, void * context, void * const * a, check_call_fn call, const void * job)
{
    const double begin = now();
    for (size_t i = 0; i < repeats; ++i)
        call(job, context, a);
    return (now() - begin) / (double)repeats;
}

/* Base's is a single scalar chain, slow and of no use here. */
static void measure_peak(struct timing * t, size_t index)
{
    if (index == 0)
        return;
    const struct limits * limits = limits_of(frame_level[index]);
    const double begin = now();
    const double work = (double)limits->fma((size_t)PEAK);
    t->peak = fmax(t->peak, work / (now() - begin));
}

static int by_value(const void * a, const void * b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char * level, const struct timing * t, double base, double flops, double bytes)
{
    const double least = t->time[0], median = t->time[t->rounds / 2];
    printf("%-34s %-44s %-10s min %11.0f ns  median %11.0f ns", frame_case.function, frame_case.geometry, level, least * 1e9,
           median * 1e9);
    if (flops > 0)
        printf("  %7.2f GFLOP/s", flops / least * 1e-9);
    if (flops > 0 && t->peak > 0)
        printf(" (%.3f of peak, median %.3f)", flops / least / t->peak, flops / median / t->peak);
    if (bytes > 0)
        printf("  %7.2f GB/s", bytes / least * 1e-9);
    printf("  %7.2fx", base / least);
    if (frame_option.threads > 1) {
        const double several = t->together[t->rounds / 2];
        printf("  %zu threads: median %11.0f ns, %.2fx", frame_option.threads, several * 1e9, median / several);
    }
    printf("\n");
    fflush(stdout);
}

void check_bench(check_call_fn call, const void * job, double flops, double bytes)
{
    static struct timing timing[FRAME_LEVELS];
    void * a[FRAME_ARRAYS];
    if (!frame_option.bench || !frame_selected())
        return;
    frame_set_up(FRAME_BEGIN, a);
    for (size_t i = 0; i < frame_levels; ++i) {
        struct timing * t = &timing[i];
        memset(t, 0, sizeof(*t));
        frame_use_level(frame_level[i]);
        if (frame_case.open)
            t->context = frame_case.open(job, a);
        t->spent = time_of(1, t->context, a, call, job); /* warms up; also gives the first estimate */
        if (SimdnetLastErrorKind() != 0) {
            printf("%s [%s] on %s: %s\n", frame_case.function, frame_case.geometry, frame_level[i], SimdnetLastError());
            exit(1);
        }
        t->repeats = t->spent < BATCH ? (size_t)(BATCH / (t->spent + 1e-9)) + 1 : 1;
    }
    for (size_t round = 0; round < ROUNDS; ++round)
        for (size_t i = 0; i < frame_levels; ++i) {
            struct timing * t = &timing[i];
            if (t->spent > LIMIT && t->rounds > 0)
                continue;
            frame_use_level(frame_level[i]);
            if (flops > 0)
                measure_peak(t, i);
            const double one = time_of(t->repeats, t->context, a, call, job);
            t->spent += one * (double)t->repeats;
            if (frame_option.threads > 1) {
                SimdSetThreadNumber(frame_option.threads);
                time_of(2, t->context, a, call, job); /* wakes the threads */
                t->together[t->rounds] = time_of(t->repeats, t->context, a, call, job);
                SimdSetThreadNumber(1);
            }
            t->time[t->rounds++] = one;
        }
    for (size_t i = 0; i < frame_levels; ++i) {
        qsort(timing[i].time, timing[i].rounds, sizeof(double), by_value);
        qsort(timing[i].together, timing[i].rounds, sizeof(double), by_value);
        if (timing[i].context)
            SimdRelease(timing[i].context);
    }
    for (size_t i = 0; i < frame_levels; ++i)
        print(frame_level[i], &timing[i], timing[0].time[0], flops, bytes);
}
