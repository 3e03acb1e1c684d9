/*
 * What depends on the operating system, in os_linux.c and os_windows.c, of which a build has one: memory, processors,
 * threads, time, the environment. Functions keep errno unless they report a failure, and no other file of the library
 * includes headers of a system.
 */
#ifndef SN_RUNTIME_OS_H
#define SN_RUNTIME_OS_H

#include "runtime/common.h"

/* ---- memory */

/* Aligned blocks: `align` is a power of two, a multiple of a pointer's size, and divides `size`. */
void * sn_os_allocate(size_t size, size_t align);
void sn_os_free(void * block);

size_t sn_os_page(void);

/* Asks for large pages; a hint. */
void sn_os_use_large_pages(void * block, size_t size);

/* Returns the memory of whole pages to the system, but not their addresses: their contents are lost. */
void sn_os_discard(void * pages, size_t size);

/* ---- processors */

/* A set of processors as bits. Windows numbers them group * 64 + number in the group. */
enum { SN_SET_WORDS = 128 }; /* 8192 processors */
struct sn_processor_set {
    uint64_t word[SN_SET_WORDS];
};

/* The processors that the calling thread may use; false if the system does not say. */
bool sn_os_affinity(struct sn_processor_set * set);

/* Restricts the calling thread to these processors. If the system refuses, it runs where it ran. */
void sn_os_set_affinity(const struct sn_processor_set * set);

/* A thread of this process, for sn_os_leave(). */
typedef intptr_t sn_os_thread;
sn_os_thread sn_os_this_thread(void);

/* Moves a thread off this processor; false if it may use no other. Its affinity is the same afterwards. */
bool sn_os_leave(sn_os_thread thread, int processor);

/* The processor that runs the calling thread. */
int sn_os_processor(void);

/* The number of processors that are online, at least 1. */
size_t sn_os_online(void);

/* Numbers of packages, cores and hardware threads, and bytes of caches; what the system does not report stays the same. */
struct sn_topology {
    size_t sockets, cores, threads;
    size_t cache[3];
};
void sn_os_topology(struct sn_topology * topology);

/* The beginning of a small file as a string; false if it is missing or empty. For files in which Linux describes itself:
 * Windows has none. */
bool sn_os_read_text(const char * path, char * text, size_t size);

#if defined(__x86_64__)
/*
 * Asks the system to let this process use the tiles of AMX, whose 8 KB it saves only for processes that have asked; false if
 * it does not. Linux refuses if a thread has a stack for signals that is too small for them.
 */
bool sn_os_allow_tiles(void);
#endif

#if defined(__aarch64__)
/* SN_CPU_*, and a name of the processor, "" if unknown: only the system knows them. */
uint32_t sn_os_features(void);
void sn_os_model_name(char name[49]);
#endif

/* ---- threads */

/* Starts threads that run until the process ends, up to `count`: the number of those that were started. They have a stack of
 * their own size, and handle none of the program's signals except those raised by an instruction. */
size_t sn_os_start_threads(void (*run)(void), size_t count);

/* Sleeps while *address is `value`; may return early. Windows has one queue of sleepers, whatever the address. */
void sn_os_wait(const uint32_t * address, uint32_t value);

/* Wakes up to `count` of these threads; the number of those that were woken. */
size_t sn_os_wake(const uint32_t * address, uint32_t count);

/* Sleeps for about this time, where Windows can; is no cancellation point. */
void sn_os_sleep(uint32_t nanoseconds);

/* Lets another thread use this processor. */
void sn_os_yield(void);

/* Runs a function once; other threads wait until it has returned. */
struct sn_once {
    uint32_t done;
    union {
        int number;
        void * pointer;
    } state; /* of the system; zeros at first */
};
void sn_os_once(struct sn_once * once, void (*function)(void));
SN_INLINE void sn_once(struct sn_once * once, void (*function)(void))
{
    if (!SN_LIKELY(__atomic_load_n(&once->done, __ATOMIC_ACQUIRE)))
        sn_os_once(once, function);
}

/* The library's one lock, for what takes nanoseconds. */
void sn_os_lock(void);
void sn_os_unlock(void);

/* Functions, or NULL, to be called before fork() and behind it, in the parent and in the child; false if there is no memory.
 * On Windows, which has no fork(), they are never called. */
bool sn_os_on_fork(void (*before)(void), void (*parent)(void), void (*child)(void));

/* One value of each thread, at first NULL. A thread that ends calls end() with its value unless that is NULL. False: there
 * is no memory. */
bool sn_os_make_thread_value(void (*end)(void * value));
void * sn_os_thread_value(void);
bool sn_os_set_thread_value(void * value);

/* ---- time, environment, messages */

/* Nanoseconds since some moment. */
int64_t sn_os_now(void);

/* A variable of the environment; NULL if there is none, and in a setuid program. */
const char * sn_os_environment(const char * name);

/* The path of this library, or of the program that contains it; "-" if unknown. The first call must have returned before
 * others. */
const char * sn_os_library(void);

/* Writes to stderr, all at once. */
void sn_os_write_error(const char * text, size_t length);

#endif
