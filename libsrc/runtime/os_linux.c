/* _GNU_SOURCE is for affinity, madvise(), dladdr() and secure_getenv(). */
#define _GNU_SOURCE
#include "runtime/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/features.h"

/* ---- memory */

/* errno stays the same on success: malloc() of glibc sets it where the heap cannot grow and other memory is used. */
void * sn_os_allocate(size_t size, size_t align)
{
    const int before = errno;
    void * block;
    if (posix_memalign(&block, align, size) != 0)
        return NULL;
    errno = before;
    return block;
}

void sn_os_free(void * block) { free(block); }

size_t sn_os_page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

void sn_os_use_large_pages(void * block, size_t size)
{
#ifdef MADV_HUGEPAGE
    const int before = errno;
    (void)madvise(block, size, MADV_HUGEPAGE);
    errno = before;
#else
    (void)block, (void)size;
#endif
}

void sn_os_discard(void * pages, size_t size)
{
    const int before = errno;
    (void)madvise(pages, size, MADV_DONTNEED);
    errno = before;
}

/* ---- processors */

bool sn_os_affinity(struct sn_processor_set * set)
{
    *set = (struct sn_processor_set){{0}};
    return sched_getaffinity(0, sizeof(*set), (cpu_set_t *)set) == 0;
}

void sn_os_set_affinity(const struct sn_processor_set * set)
{
    const int before = errno;
    (void)sched_setaffinity(0, sizeof(*set), (const cpu_set_t *)set);
    errno = before;
}

sn_os_thread sn_os_this_thread(void) { return (sn_os_thread)syscall(SYS_gettid); }

static bool move_off(pid_t thread, int processor)
{
    struct sn_processor_set own = {{0}};
    const size_t at = (size_t)processor / 64;
    const uint64_t bit = (uint64_t)1 << (size_t)processor % 64;
    if (at >= SN_SET_WORDS || sched_getaffinity(thread, sizeof(own), (cpu_set_t *)&own) != 0)
        return false;
    own.word[at] &= ~bit;
    if (sched_setaffinity(thread, sizeof(own), (const cpu_set_t *)&own) != 0)
        return false;
    own.word[at] |= bit;
    return sched_setaffinity(thread, sizeof(own), (const cpu_set_t *)&own) == 0;
}

bool sn_os_leave(sn_os_thread thread, int processor)
{
    const int before = errno;
    const bool moved = move_off((pid_t)thread, processor);
    errno = before;
    return moved;
}

int sn_os_processor(void) { return sched_getcpu(); }

size_t sn_os_online(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (size_t)online : 1;
}

bool sn_os_read_text(const char * path, char * text, size_t size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const ssize_t length = read(file, text, size - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* The first number in a small file of /sys, with an optional suffix K or M; -1 if there is none. */
static long read_number(const char * path)
{
    char text[32], * end;
    if (!sn_os_read_text(path, text, sizeof(text)))
        return -1;
    long number = strtol(text, &end, 10);
    if (end == text)
        return -1;
    return *end == 'K' ? number << 10 : *end == 'M' ? number << 20 : number;
}

/* True if a processor is the first in a list of its topology: true for one processor of each core, or of each package. */
static bool is_first_of(const char * list, long processor)
{
    char path[96];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld/topology/%s", processor, list);
    return read_number(path) == processor;
}

void sn_os_topology(struct sn_topology * topology)
{
    const long configured = sysconf(_SC_NPROCESSORS_CONF);
    size_t sockets = 0, cores = 0;
    for (long i = 0; i < configured; ++i) {
        cores += is_first_of("thread_siblings_list", i);
        sockets += is_first_of("core_siblings_list", i);
    }
    topology->threads = sn_os_online();
    topology->cores = cores ? cores : topology->cores;
    topology->sockets = sockets ? sockets : topology->sockets;
    /* index1 is the instruction cache of the first level on every Linux system; the others come in order. */
    static const int index[] = {0, 2, 3};
    for (size_t i = 0; i < 3; ++i) {
        char path[96];
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", index[i]);
        const long size = read_number(path);
        topology->cache[i] = size > 0 ? (size_t)size : topology->cache[i];
    }
}

#if defined(__x86_64__)
/* Linux, Documentation/arch/x86/xstate.rst; older kernels than 5.16 do not know the request. */
bool sn_os_allow_tiles(void)
{
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    const int before = errno;
    const bool allowed = syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
    errno = before;
    return allowed;
}
#endif

#if defined(__aarch64__)
#include <string.h>
#include <sys/auxv.h>
#ifndef HWCAP_ASIMD
#define HWCAP_ASIMD (1 << 1)
#endif
#ifndef HWCAP_ASIMDDP
#define HWCAP_ASIMDDP (1 << 20)
#endif

uint32_t sn_os_features(void)
{
    const unsigned long caps = getauxval(AT_HWCAP);
    return (caps & HWCAP_ASIMD ? SN_CPU_NEON : 0) | (caps & HWCAP_ASIMDDP ? SN_CPU_DOTPROD : 0);
}

/* The register that identifies the model, since there are no names. */
void sn_os_model_name(char name[49])
{
    if (sn_os_read_text("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", name, 49))
        name[strcspn(name, "\n")] = '\0';
    else
        name[0] = '\0';
}
#endif

/* ---- threads */

/* Bytes: enough for the functions and for the program's signal handlers and thread-local variables. The default size is set
 * by the program, and may be smaller. */
enum { THREAD_STACK = 1 << 20 };

static void * start(void * run)
{
    ((void (*)(void))(uintptr_t)run)();
    return NULL;
}

size_t sn_os_start_threads(void (*run)(void), size_t count)
{
    static const int raised[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return 0;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, THREAD_STACK);
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof(raised) / sizeof(raised[0]); ++i)
        sigdelset(&all, raised[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    size_t started = 0;
    while (started < count && pthread_create(&thread, &attributes, start, (void *)(uintptr_t)run) == 0)
        ++started;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

void sn_os_wait(const uint32_t * address, uint32_t value)
{
    syscall(SYS_futex, address, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

size_t sn_os_wake(const uint32_t * address, uint32_t count)
{
    const long woken = syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
    return woken > 0 ? (size_t)woken : 0;
}

/* On a futex that is never woken, not in nanosleep(), which is a cancellation point: the job of a cancelled caller would
 * vanish while workers use it. */
void sn_os_sleep(uint32_t nanoseconds)
{
    static const uint32_t never;
    const struct timespec time = {.tv_nsec = nanoseconds};
    const int before = errno;
    syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
    errno = before;
}

void sn_os_yield(void) { sched_yield(); }

/* pthread_once() knows cancelled threads and children of fork(). */
void sn_os_once(struct sn_once * once, void (*function)(void))
{
    pthread_once(&once->state.number, function);
    __atomic_store_n(&once->done, 1, __ATOMIC_RELEASE);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void sn_os_lock(void) { pthread_mutex_lock(&lock); }
void sn_os_unlock(void) { pthread_mutex_unlock(&lock); }

bool sn_os_on_fork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    return pthread_atfork(before, parent, child) == 0;
}

static pthread_key_t key;

bool sn_os_make_thread_value(void (*end)(void * value)) { return pthread_key_create(&key, end) == 0; }
void * sn_os_thread_value(void) { return pthread_getspecific(key); }
bool sn_os_set_thread_value(void * value) { return pthread_setspecific(key, value) == 0; }

/* ---- time, environment, messages */

int64_t sn_os_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

const char * sn_os_environment(const char * name) { return secure_getenv(name); }

const char * sn_os_library(void)
{
    static const char here;
    Dl_info info;
    return dladdr(&here, &info) && info.dli_fname ? info.dli_fname : "-";
}

void sn_os_write_error(const char * text, size_t length)
{
    const ssize_t written = write(STDERR_FILENO, text, length);
    (void)written; /* a failure cannot be reported */
}
