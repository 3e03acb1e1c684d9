/* A thread with a stack of a given number of bytes, including what the C library stores there and the caller's own
 * variables. */
#ifndef SN_TESTS_STACK_H
#define SN_TESTS_STACK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* The promise of the header: a thread with such a stack may call every function. */
enum { STACK_PROMISED = 64 << 10 };

/* Whether the promise applies to this build. */
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK_MEASURED false
#elif defined(__clang__)
#define STACK_MEASURED (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#else
#define STACK_MEASURED true
#endif

/*
 * Runs the function in such a thread, to its end; false if the thread cannot be created. Below the stack are inaccessible
 * pages, more than the variables of any function take. On systems whose minimum is larger, some of these pages belong to the
 * stack.
 */
static inline bool run_on_stack(size_t size, void * (*run)(void * argument), void * argument)
{
    const size_t below = (size_t)4 << 20, least = (size_t)sysconf(_SC_THREAD_STACK_MIN), given = size < least ? least : size;
    char * pages = mmap(NULL, below + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    if (pages == MAP_FAILED)
        return false;
    const bool good = mprotect(pages + below, size, PROT_READ | PROT_WRITE) == 0 && pthread_attr_init(&attributes) == 0 &&
                      pthread_attr_setstack(&attributes, pages + below + size - given, given) == 0 &&
                      pthread_create(&thread, &attributes, run, argument) == 0 && pthread_join(thread, NULL) == 0;
    munmap(pages, below + size);
    return good;
}

#endif
