/*
 * Counts the allocations of the library, and lets some of them fail, also in threads of the pool.
 *
 * The linker replaces the allocation functions of the C library by the functions below (-Wl,--wrap), in the library and in
 * the program that includes this file; the C library itself keeps using its own. On Windows they are replaced in the library
 * alone (tests/windows.mk).
 */
#ifndef SN_TESTS_ALLOCATIONS_H
#define SN_TESTS_ALLOCATIONS_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "test.h"

#ifdef _WIN32
#include <malloc.h>
#define __real_malloc malloc
#define __real_calloc calloc
#define __real_free free
#else
void * __real_malloc(size_t size);
void * __real_calloc(size_t count, size_t size);
void __real_free(void * block);
#endif
void * __wrap_malloc(size_t size);
void * __wrap_calloc(size_t count, size_t size);
void __wrap_free(void * block);

static int allocations;  /* attempted */
static int blocks;       /* currently allocated */
static size_t allocated; /* bytes */
static int first, last;  /* range of allocations that fail, counted from 1 */
static bool refused;     /* one of them was attempted */

static void count_from_here(void)
{
    __atomic_store_n(&allocations, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&refused, false, __ATOMIC_SEQ_CST);
}

static void refuse(int from, int to)
{
    first = from;
    last = to;
    count_from_here();
}

static void refuse_none(void) { first = last = 0; }

static int blocks_now(void) { return __atomic_load_n(&blocks, __ATOMIC_SEQ_CST); }

/* A new thread also has blocks of its own, which are counted when it has ended. */
static bool in_new_thread;
static bool as_many_blocks(int before) { return in_new_thread || blocks_now() == before; }

static bool granted(void)
{
    const int number = __atomic_add_fetch(&allocations, 1, __ATOMIC_SEQ_CST);
    if (number < first || number > last)
        return true;
    __atomic_store_n(&refused, true, __ATOMIC_SEQ_CST);
    return false;
}

static void * counted(void * block, size_t size)
{
    __atomic_add_fetch(&blocks, block != NULL, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&allocated, block ? size : 0, __ATOMIC_SEQ_CST);
    return block;
}

void * __wrap_malloc(size_t size) { return granted() ? counted(__real_malloc(size), size) : NULL; }
void * __wrap_calloc(size_t count, size_t size)
{
    return granted() ? counted(__real_calloc(count, size), count * size) : NULL;
}

void __wrap_free(void * block)
{
    __atomic_sub_fetch(&blocks, block != NULL, __ATOMIC_SEQ_CST);
    __real_free(block);
}

#ifdef _WIN32
static void * aligned_malloc(size_t size, size_t align)
{
    void * block = granted() ? counted(_aligned_malloc(size, align), size) : NULL;
    if (!block)
        errno = ENOMEM;
    return block;
}

static void aligned_free(void * block)
{
    __atomic_sub_fetch(&blocks, block != NULL, __ATOMIC_SEQ_CST);
    _aligned_free(block);
}

extern void * (*const replaced_aligned_malloc)(size_t size, size_t align);
extern void (*const replaced_aligned_free)(void * block);
void * (*const replaced_aligned_malloc)(size_t size, size_t align) = aligned_malloc;
void (*const replaced_aligned_free)(void * block) = aligned_free;
#else
/* The system may have no memory for the value of a key, either. */
static bool no_specific;

int __real_pthread_setspecific(pthread_key_t key, const void * value);
int __wrap_pthread_setspecific(pthread_key_t key, const void * value);

int __wrap_pthread_setspecific(pthread_key_t key, const void * value)
{
    return no_specific ? ENOMEM : __real_pthread_setspecific(key, value);
}

int __real_posix_memalign(void ** block, size_t align, size_t size);
int __wrap_posix_memalign(void ** block, size_t align, size_t size);

int __wrap_posix_memalign(void ** block, size_t align, size_t size)
{
    void * made = NULL;
    if (!granted() || __real_posix_memalign(&made, align, size) != 0)
        return ENOMEM;
    *block = counted(made, size);
    return 0;
}
#endif

/*
 * Lets each allocation of a call fail in turn. A trial prepares what it needs, calls refuse(from, to), makes the call, calls
 * refuse_none(), and tests the outcome. The loop ends when a call makes too few allocations to reach the one that would
 * fail.
 */
typedef void (*trial_fn)(const void * of, int from, int to);

static int points; /* trials in which an allocation failed */

static void each_refused(trial_fn trial, const void * of)
{
    for (int number = 1; number == 1 || refused; ++number) { /* only that one */
        trial(of, number, number);
        points += refused;
    }
    for (int number = 1; number == 1 || refused; ++number) { /* that one and all later ones */
        trial(of, number, INT_MAX);
        points += refused;
    }
}

/* Runs in a thread of its own, whose memory is freed when it ends, even if some allocations failed. */
static void in_thread(void * (*run)(void * of), void * of)
{
    pthread_t thread;
    const int before = blocks_now();
    if (pthread_create(&thread, NULL, run, of) != 0 || pthread_join(thread, NULL) != 0)
        exit(1);
    TEST(blocks_now() == before);
}

/* A trial in a thread of its own, which has neither scratch memory nor memory for the text of an error. */
struct thread_trial {
    trial_fn trial;
    const void * of;
    int from, to;
};

static void * run_trial(void * of)
{
    const struct thread_trial * t = of;
    in_new_thread = true;
    t->trial(t->of, t->from, t->to);
    in_new_thread = false;
    return NULL;
}

static void try_in_thread(const void * of, int from, int to)
{
    struct thread_trial t = *(const struct thread_trial *)of;
    t.from = from;
    t.to = to;
    in_thread(run_trial, &t);
}

/* In this thread, and in a new one. */
static void each_refused_twice(trial_fn trial, const void * of)
{
    const struct thread_trial t = {trial, of, 0, 0};
    each_refused(trial, of);
    each_refused(try_in_thread, &t);
}

#endif
