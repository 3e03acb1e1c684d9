/* What test programs need of the system: pages, crashes of a call, processes. windows/system.h has the same functions. Included
 * after a definition of _GNU_SOURCE. */
#ifndef SN_TESTS_SYSTEM_H
#define SN_TESTS_SYSTEM_H

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stack.h"

/* Readable and writable pages; NULL if there are none. */
static inline void * system_pages(size_t bytes)
{
    void * pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

/* The same, shared with the processes of system_processes(). */
static inline void * system_shared(size_t bytes)
{
    void * pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

/* Makes some of these pages inaccessible. */
static inline bool system_guard(void * pages, size_t bytes) { return mprotect(pages, bytes, PROT_NONE) == 0; }

static inline void system_drop(void * pages, size_t bytes) { munmap(pages, bytes); }

static inline size_t system_page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* Ends the program after this time; 0: no longer. */
static inline void system_alarm(unsigned seconds) { alarm(seconds); }

static inline bool system_run_on_stack(size_t size, void * (*run)(void * argument), void * argument)
{
    return run_on_stack(size, run, argument);
}

/* ---- crashes */

static sigjmp_buf system_crash;
static volatile sig_atomic_t system_in_call;
static pthread_t system_thread;
static void * volatile system_address;
static void (*system_ends)(int number);

static inline void system_on_crash(int number, siginfo_t * info, void * machine)
{
    (void)machine;
    if (system_in_call && pthread_equal(pthread_self(), system_thread)) {
        system_address = info->si_addr;
        siglongjmp(system_crash, number);
    }
    system_ends(number);
    _exit(1);
}

/* From now on a crash of a call by system_call() in this thread returns; another one calls ends() and ends the program. */
static inline void system_catch_crashes(void (*ends)(int number))
{
    static char stack[1 << 16];
    const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_sigaction = system_on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&alternative, NULL);
    const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); ++i)
        sigaction(signals[i], &action, NULL);
    system_thread = pthread_self();
    system_ends = ends;
}

/* 0, and the result of the call, or the number of the signal and its address. */
static inline int system_call(bool (*run)(const void * argument, void ** a), const void * argument, void ** a, bool * good,
                              const char ** address)
{
    const int number = sigsetjmp(system_crash, 1);
    system_in_call = number == 0;
    *good = number == 0 && run(argument, a);
    system_in_call = 0;
    *address = system_address;
    return number;
}

static inline const char * system_signal(int number) { return strsignal(number); }

/* Writes a line to stderr, also while a signal is handled. */
#define system_line(...) dprintf(STDERR_FILENO, __VA_ARGS__)

/* ---- processes */

/* Runs a function in `count` processes at once: the number of those that did not finish. */
static inline size_t system_processes(size_t count, void (*run)(size_t number))
{
    size_t unfinished = 0;
    for (size_t i = 0; i < count; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            run(i);
            exit(0);
        }
        if (child < 0) {
            fprintf(stderr, "check: no process: %s\n", strerror(errno));
            ++unfinished;
            break;
        }
    }
    for (int status; wait(&status) > 0;) {
        if (status != 0) {
            fprintf(stderr, "check: a process ended by signal %d, with status %d\n", WTERMSIG(status), WEXITSTATUS(status));
            ++unfinished;
        }
    }
    return unfinished;
}

#endif
