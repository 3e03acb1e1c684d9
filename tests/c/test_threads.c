/*
 * The pool: every unit runs once, nested calls, where workers run, callers that are cancelled or have real-time priority,
 * threads that cannot be created. That no result depends on the number of threads is tested by the checker (check
 * --threads). The number itself: test_thread_number.c; many callers, and forks: test_callers.c.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cpu.h"
#include "runtime/os.h"
#include "runtime/threads.h"
#include "emulated.h"
#include "test.h"
#include "used.h"

/* ---- replaced functions: creating threads fails once none are left */

static int threads_left = 1 << 30;
static int creating, created_at_once; /* failing calls; only one at a time may own the pool */

int pthread_create(pthread_t * thread, const pthread_attr_t * attributes, void * (*start)(void *), void * argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void * (*)(void *), void *);
    if (threads_left-- <= 0) {
        if (__atomic_add_fetch(&creating, 1, __ATOMIC_RELAXED) > 1)
            __atomic_store_n(&created_at_once, 1, __ATOMIC_RELAXED);
        for (int i = 0; i < 100; ++i)
            sn_relax();
        __atomic_sub_fetch(&creating, 1, __ATOMIC_RELAXED);
        return EAGAIN;
    }
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, start, argument);
}

/* A caller that has waited for a long time sleeps on a futex with a time limit (-Wl,--wrap). Workers sleep without a limit;
 * a signal, or a debugger, may wake them. */
static int futex_sleeps, woken_by_chance;

/* Workers that sleep do not hear that there is a job, and may not be moved. */
static bool deaf;

int __real_sched_setaffinity(pid_t thread, size_t size, const cpu_set_t * mask);
int __wrap_sched_setaffinity(pid_t thread, size_t size, const cpu_set_t * mask);

int __wrap_sched_setaffinity(pid_t thread, size_t size, const cpu_set_t * mask)
{
    if (!deaf)
        return __real_sched_setaffinity(thread, size, mask);
    errno = EPERM;
    return -1;
}

/* A caller sleeps after thousands of yields, of which each lasts for milliseconds if other processes want the processor. */
static bool yields_at_once;

int __real_sched_yield(void);
int __wrap_sched_yield(void);

int __wrap_sched_yield(void) { return yields_at_once ? 0 : __real_sched_yield(); }

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (number == SYS_futex && b == FUTEX_WAKE_PRIVATE && deaf)
        return c;
    if (number == SYS_futex && b == FUTEX_WAIT_PRIVATE && !d && __atomic_load_n(&woken_by_chance, __ATOMIC_RELAXED)) {
        __atomic_add_fetch(&woken_by_chance, 1, __ATOMIC_RELAXED);
        errno = EINTR;
        return -1;
    }
    const long result = __real_syscall(number, a, b, c, d, e, f);
    if (number == SYS_futex && d)
        __atomic_add_fetch(&futex_sleeps, 1, __ATOMIC_RELAXED);
    return result;
}

/* ---- the pool */

enum { MOST = 1000 };

struct count {
    int * seen;
    int ranges;
    int nested;
};

static void count_units(const void * job, void * work, size_t begin, size_t end)
{
    struct count * count = *(struct count * const *)job;
    (void)work;
    __atomic_fetch_add(&count->ranges, 1, __ATOMIC_RELAXED);
    for (size_t i = begin; i < end; ++i)
        ++count->seen[i];
}

static bool all_once(const int * seen, size_t count)
{
    bool once = true;
    for (size_t i = 0; i <= MOST; ++i)
        once &= seen[i] == (i < count);
    return once;
}

/* Every unit of work runs once, whatever the count and the number of threads; no more threads are created than needed. */
static void units(void)
{
    static int seen[MOST + 1];
    struct count count = {.seen = seen}, * const job = &count;
    size_t others = 0;
    for (size_t threads = 1; threads <= 5; ++threads)
        for (size_t n = 0; n <= MOST; n = n * 2 + 1) {
            sn_threads_force(threads);
            memset(seen, 0, sizeof(seen));
            count.ranges = 0;
            sn_parallel_for(&(struct sn_parallel){.run = count_units, .job = &job, .units = n, .cost = 1});
            TEST(all_once(seen, n));
            TEST(count.ranges == (n == 0 ? 0 : threads == 1 ? 1 : (int)n));
            TEST(threads > 1 || sn_threads_alive() == 0);
            if (threads == 2) /* a sanitizer has a thread of its own, from the first creation on */
                others = threads_of_process() - sn_threads_alive();
        }
    TEST(sn_threads_alive() == 4 && threads_of_process() == others + 4);
    SimdSetThreadNumber(1);
    sn_parallel_for(&(struct sn_parallel){.run = count_units, .job = &job, .units = 10, .cost = 1e9});
    TEST(seen[9] == 2);
}

/* More units than the pool can count: it groups them. */
struct many {
    uint64_t units, ranges, last;
};

static void add_units(const void * job, void * work, size_t begin, size_t end)
{
    struct many * many = *(struct many * const *)job;
    (void)work;
    __atomic_fetch_add(&many->units, end - begin, __ATOMIC_RELAXED);
    __atomic_fetch_add(&many->ranges, 1, __ATOMIC_RELAXED);
    if (end == ((size_t)1 << 40) + 12345)
        __atomic_fetch_add(&many->last, 1, __ATOMIC_RELAXED);
}

static void very_many_units(void)
{
    const size_t units_of_job = ((size_t)1 << 40) + 12345;
    struct many many = {0, 0, 0}, * const job = &many;
    sn_threads_set(2);
    const struct sn_parallel p = {.run = add_units, .job = &job, .units = units_of_job, .cost = 1e6,
        .least = units_of_job / 100};
    sn_parallel_for(&p);
    TEST(many.units == units_of_job && many.last == 1 && many.ranges <= 100);
    sn_threads_set(1);
}

/* A workspace for each thread, aligned, of the requested size, and not written by other threads meanwhile. */
struct workspaces {
    void * caller;
    int wrong, others;
};

static void use_workspace(const void * job, void * work, size_t begin, size_t end)
{
    struct workspaces * w = *(struct workspaces * const *)job;
    unsigned char * bytes = work;
    bool good = (uintptr_t)work % 64 == 0;
    memset(bytes, (int)begin, 10000);
    sched_yield();
    for (size_t i = 0; i < 10000; ++i)
        good &= bytes[i] == (unsigned char)begin;
    __atomic_fetch_add(&w->wrong, !good || end != begin + 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&w->others, work != w->caller, __ATOMIC_RELAXED);
}

static void workspaces(void)
{
    static unsigned char own[10000] __attribute__((aligned(64)));
    struct workspaces w = {own, 0, 0}, * const job = &w;
    const time_t end = time(NULL) + 60;
    sn_threads_force(5);
    do /* on a busy machine the caller may be done before any other thread has begun */
        sn_parallel_for(&(struct sn_parallel){.run = use_workspace, .job = &job, .units = 200, .cost = 1, .work = own,
            .workBytes = sizeof(own)});
    while (w.others == 0 && time(NULL) < end);
    TEST(w.wrong == 0 && w.others > 0);
    SimdSetThreadNumber(1);
}

/* A nested call does its work on the thread that makes it. */
static void nest(const void * job, void * work, size_t begin, size_t end)
{
    struct count * count = *(struct count * const *)job;
    (void)work;
    for (size_t i = begin; i < end; ++i) {
        int seen[MOST + 1] = {0};
        struct count inner = {.seen = seen}, * const inner_job = &inner;
        sn_parallel_for(&(struct sn_parallel){.run = count_units, .job = &inner_job, .units = 100, .cost = 1e9});
        __atomic_fetch_add(&count->nested, all_once(seen, 100) && inner.ranges == 1, __ATOMIC_RELAXED);
    }
}

static void nested(void)
{
    struct count count = {.nested = 0}, * const job = &count;
    sn_threads_force(3);
    sn_parallel_for(&(struct sn_parallel){.run = nest, .job = &job, .units = 50, .cost = 1e9});
    TEST(count.nested == 50);
    SimdSetThreadNumber(1);
}

/* Workers use the caller's rounding mode, block signals, and leave the caller's thread as it was. */
struct modes {
    volatile float one, three;
    uint32_t expected;
    int wrong;
};

static void divide(const void * job, void * work, size_t begin, size_t end)
{
    struct modes * modes = *(struct modes * const *)job;
    (void)work, (void)begin, (void)end;
    const float third = modes->one / modes->three;
    uint32_t bits;
    memcpy(&bits, &third, sizeof(bits));
    __atomic_fetch_add(&modes->wrong, bits != modes->expected, __ATOMIC_RELAXED);
}

#if defined(__x86_64__)
enum { TO_ZERO = 3 << 13 };
#elif defined(__aarch64__)
enum { TO_ZERO = 3 << 22 };
#endif

static void rounding(void)
{
    static const uint32_t thirds[] = {0x3EAAAAAB, 0x3EAAAAAA};
    const uint32_t before = sn_float_control();
    sn_threads_force(4);
    for (int zero = 0; zero < 4; ++zero) {
        struct modes modes = {1, 3, thirds[zero & 1], 0}, * const job = &modes;
        const uint32_t mode = zero & 1 ? before | TO_ZERO : before;
        sn_set_float_control(mode);
        sn_parallel_for(&(struct sn_parallel){.run = divide, .job = &job, .units = 100, .cost = 1});
        TEST((sn_float_control() & TO_ZERO) == (mode & TO_ZERO));
        sn_set_float_control(before);
        TEST(modes.wrong == 0);
    }
    SimdSetThreadNumber(1);
}

static void * fast_elsewhere(void * fast)
{
    *(SimdBool *)fast = SimdGetFastMode();
    return NULL;
}

/* Fast mode is the caller's, also for its workers: denormals are 0 in all of a call, or nowhere. */
static void fast_mode(void)
{
    enum { SIZE = 100000 };
    static float x[2][SIZE];
    const uint32_t before = sn_float_control();
    const float none = 0;
    SimdBool elsewhere = SimdTrue;
    pthread_t thread;
    TEST(SimdGetFastMode() == SimdFalse);
    for (int fast = 1; fast >= 0; --fast) {
        SimdSetFastMode(fast ? SimdTrue : SimdFalse);
        TEST(SimdGetFastMode() == (fast ? SimdTrue : SimdFalse));
        for (int threads = 0; threads < 2; ++threads) {
            for (size_t i = 0; i < SIZE; ++i)
                x[threads][i] = 0x1p-140f;
            sn_threads_force(threads ? 4 : 1);
            SimdNeuralAddValue(&none, x[threads], SIZE);
        }
        uint32_t bits;
        memcpy(&bits, &x[0][SIZE / 2], sizeof(bits));
        TEST((bits == 0) == fast);
        TEST(memcmp(x[0], x[1], sizeof(x[0])) == 0);
        TEST(pthread_create(&thread, NULL, fast_elsewhere, &elsewhere) == 0 && pthread_join(thread, NULL) == 0);
    }
    TEST((sn_float_control() ^ before) >> 6 == 0); /* the lower bits are exceptions that have happened */
    SimdSetFastMode((SimdBool)2);
    TEST_REFUSED(1, "value");
    SimdSetThreadNumber(1);
}

static pthread_t main_thread;
static volatile sig_atomic_t signals_here, signals_elsewhere;

static void on_signal(int signal)
{
    (void)signal;
    if (pthread_equal(pthread_self(), main_thread))
        ++signals_here;
    else
        ++signals_elsewhere;
}

static void no_signals(void)
{
    main_thread = pthread_self();
    signal(SIGUSR1, on_signal);
    sigset_t user, before;
    sigemptyset(&user);
    sigaddset(&user, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &user, &before); /* if another thread can take the signal, it takes it now */
    kill(getpid(), SIGUSR1);
    usleep(2000);
    TEST(signals_elsewhere == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    TEST(signals_here == 1);
}

/* ---- how many threads took part, where they run, callers with real-time priority */

/* Units that wait for each other: each runs on a thread of its own. */
static int arrivals;

static void wait_for_all(const void * job, void * work, size_t begin, size_t end)
{
    (void)work;
    const int all = *(const int *)job;
    for (size_t i = begin; i < end; ++i)
        for (__atomic_add_fetch(&arrivals, 1, __ATOMIC_RELAXED); __atomic_load_n(&arrivals, __ATOMIC_RELAXED) < all;)
            sched_yield();
}

static void together(int threads)
{
    __atomic_store_n(&arrivals, 0, __ATOMIC_RELAXED);
    sn_parallel_for(&(struct sn_parallel){.run = wait_for_all, .job = &threads, .units = (size_t)threads, .cost = 1e9});
}

static void used_threads(void)
{
    sn_threads_force(4);
    sn_threads_used_clear();
    TEST(sn_threads_used() == 1);
    together(3);
    TEST(sn_threads_used() == 3);
    together(2);
    TEST(sn_threads_used() == 3); /* the maximum */
    sn_threads_used_clear();
    together(1);
    TEST(sn_threads_used() == 1);
    SimdSetThreadNumber(1);
}

/* Processors that the workers of a job may use: the minimum and the maximum number. */
struct processors {
    int threads, fewest, most;
};

static void count_processors(const void * job, void * work, size_t begin, size_t end)
{
    struct processors * p = *(struct processors * const *)job;
    cpu_set_t mask;
    const int count = sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : -1;
    if (!pthread_equal(pthread_self(), main_thread)) {
        __atomic_store_n(&p->fewest, sn_min((size_t)p->fewest, (size_t)count), __ATOMIC_RELAXED);
        __atomic_store_n(&p->most, sn_max((size_t)p->most, (size_t)count), __ATOMIC_RELAXED);
    }
    wait_for_all(&p->threads, work, begin, end);
}

static bool workers_have(int processors)
{
    struct processors p = {(int)SimdGetThreadNumber(), 1 << 20, 0}, * const job = &p;
    __atomic_store_n(&arrivals, 0, __ATOMIC_RELAXED);
    sn_parallel_for(&(struct sn_parallel){.run = count_processors, .job = &job, .units = (size_t)p.threads, .cost = 1e9});
    return p.fewest == processors && p.most == processors;
}

/* Only the one with index i of those in the mask. */
static cpu_set_t only(const cpu_set_t * mask, int i)
{
    cpu_set_t one;
    int processor = 0;
    for (; !CPU_ISSET(processor, mask) || i-- > 0; ++processor) {}
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    return one;
}

/* Workers run where the thread that set the number could, not where the thread that creates them can; setting the number
 * again moves them. */
static bool places(void)
{
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < 2)
        return true;
    const cpu_set_t one = only(&all, 0);
    bool good = true;
    sn_threads_force(3);
    good &= sched_setaffinity(0, sizeof(one), &one) == 0 && workers_have(CPU_COUNT(&all));
    sn_threads_force(3);
    good &= workers_have(1);
    good &= sched_setaffinity(0, sizeof(all), &all) == 0 && workers_have(1);
    sn_threads_force(3);
    return good && workers_have(CPU_COUNT(&all));
}

/* A worker that finds itself on the caller's processor moves to another. It may use the same ones as before afterwards. */
static bool same_places(void)
{
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < 2)
        return true;
    sn_threads_force(2);
    bool good = true;
    for (int i = 0; i < 100; ++i) {
        const cpu_set_t one = only(&all, i % 2);
        good &= sched_setaffinity(0, sizeof(one), &one) == 0 && workers_have(CPU_COUNT(&all));
    }
    return good;
}

/* A thread does not leave the only processor that it may use. */
static bool only_place(void)
{
    cpu_set_t one;
    const int processor = sched_getcpu();
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0 || sn_os_leave(sn_os_this_thread(), processor))
        return false;
    return sched_getaffinity(0, sizeof(one), &one) == 0 && CPU_COUNT(&one) == 1 && CPU_ISSET(processor, &one);
}

/* The number was set before the fork: the child's workers run where the thread that creates them may run. */
static bool places_of_child(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    return sched_setaffinity(0, sizeof(one), &one) == 0 && workers_have(1);
}

/* ---- a cancelled caller waits for its workers: no cancellation point lies inside a call */

static pthread_t cancelled;

static void sleep_in_workers(const void * job, void * work, size_t begin, size_t end)
{
    (void)work, (void)begin, (void)end;
    if (!pthread_equal(pthread_self(), cancelled))
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    __atomic_fetch_add(*(int * const *)job, 1, __ATOMIC_RELAXED);
}

static void * call_cancelled(void * count)
{
    int * const job = count;
    cancelled = pthread_self();
    pthread_cancel(pthread_self());
    sn_parallel_for(&(struct sn_parallel){.run = sleep_in_workers, .job = &job, .units = 2, .cost = 1e9});
    *job *= 10;
    return NULL;
}

static bool cancelled_caller(void)
{
    int count = 0;
    pthread_t thread;
    sn_threads_force(2);
    return pthread_create(&thread, NULL, call_cancelled, &count) == 0 && pthread_join(thread, NULL) == 0 && count == 20;
}

/*
 * Two threads on one processor, and the caller has a priority above all workers: it must sleep at times. The system reserves
 * a twentieth of the time for others, so the test measures how much time the caller spends waiting.
 */
static bool real_time(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    struct timespec spent;
    sn_threads_force(2);
    together(2); /* creates the worker, with normal priority */
    sn_threads_set(2);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        return true;
    sn_threads_force(2);
    if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}) != 0) {
        printf("skipped: real-time priority, which this user may not have\n");
        return true;
    }
    struct count count = {.seen = (int[MOST + 1]){0}}, * const job = &count;
    for (int i = 0; i < 3; ++i)
        sn_parallel_for(&(struct sn_parallel){.run = count_units, .job = &job, .units = 10, .cost = 1e9});
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return count.seen[9] == 3 && spent.tv_sec == 0 && spent.tv_nsec < 400000000;
}

static void in_child(const char * name, bool (*good)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        main_thread = pthread_self();
        _exit(good() ? 0 : 1);
    }
    int status = -1;
    const bool passed = waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!passed)
        printf("%s: status %#x\n", name, (unsigned)status);
    TEST(passed);
}

#define IN_CHILD(good) in_child(#good, good)

/*
 * Two callers that start at the same moment, again and again: one uses the pool, the other works alone. Workers cannot be
 * created, which makes rounds short. The owner of the pool tries to create one; two such attempts at once mean two owners.
 */
static int arrived, stopped;

static void * call_at_once(void * sets_number)
{
    for (int round = 1;; ++round) {
        int seen[MOST + 1] = {0};
        struct count count = {.seen = seen}, * const job = &count;
        if (sets_number)
            sn_threads_force(2); /* otherwise no creation is attempted again */
        for (__atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED); __atomic_load_n(&arrived, __ATOMIC_RELAXED) < 2 * round;)
            if (__atomic_load_n(&stopped, __ATOMIC_RELAXED))
                return NULL;
        for (volatile int i = 0; i < (sets_number ? 128 : round % 256); ++i) /* the last to arrive continues first */
            continue;
        sn_parallel_for(&(struct sn_parallel){.run = count_units, .job = &job, .units = 3, .cost = 1});
        if (!all_once(seen, 3))
            return "wrong";
    }
}

static bool at_once(void)
{
    static bool sets_number = true;
    pthread_t thread[2];
    void * wrong[2] = {NULL, NULL};
    threads_left = 2;
    for (int i = 0; i < 2; ++i)
        if (pthread_create(&thread[i], NULL, call_at_once, i ? &sets_number : NULL) != 0)
            return false;
    usleep(2000000);
    __atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
    return pthread_join(thread[0], &wrong[0]) == 0 && pthread_join(thread[1], &wrong[1]) == 0 && !wrong[0] && !wrong[1] &&
           !created_at_once && arrived > 2;
}

/* A caller that waits for its worker long enough to sleep leaves errno unchanged. */
static void sleep_on_worker(const void * job, void * work, size_t begin, size_t end)
{
    wait_for_all(job, work, begin, end);
    while (!pthread_equal(pthread_self(), main_thread) && !__atomic_load_n(&futex_sleeps, __ATOMIC_RELAXED))
        usleep(1000);
}

static bool errno_stays(void)
{
    const int threads = 2;
    sn_threads_force((size_t)threads);
    __atomic_store_n(&arrivals, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&futex_sleeps, 0, __ATOMIC_RELAXED);
    yields_at_once = true;
    errno = ERANGE;
    sn_parallel_for(&(struct sn_parallel){.run = sleep_on_worker, .job = &threads, .units = 2, .cost = 1e9});
    yields_at_once = false;
    return errno == ERANGE;
}

/* Workers that are woken although there is no job sleep again, and join the next one. */
static bool woken_without_job(void)
{
    sn_threads_force(2);
    __atomic_store_n(&woken_by_chance, 1, __ATOMIC_RELAXED); /* before the worker can sleep, from which nothing would wake it */
    together(2);
    for (const int before = __atomic_load_n(&woken_by_chance, __ATOMIC_RELAXED);
         __atomic_load_n(&woken_by_chance, __ATOMIC_RELAXED) < before + 3;)
        usleep(1000);
    __atomic_store_n(&woken_by_chance, 0, __ATOMIC_RELAXED);
    together(2);
    return true;
}

/* A caller that cannot move workers that do not come computes all alone, and leaves errno unchanged. */
static void take_time(const void * job, void * work, size_t begin, size_t end)
{
    (void)work;
    usleep(1000);
    __atomic_fetch_add(*(size_t * const *)job, end - begin, __ATOMIC_RELAXED);
}

static bool errno_stays_without_help(void)
{
    size_t count = 0, * const job = &count;
    sn_threads_force(2);
    together(2); /* creates the worker */
    sn_threads_set(2);
    usleep(100000); /* it sleeps */
    deaf = true;
    errno = ERANGE;
    sn_parallel_for(&(struct sn_parallel){.run = take_time, .job = &job, .units = 20, .cost = 1e9});
    const bool good = errno == ERANGE && count == 20;
    deaf = false;
    return good;
}

/* Fewer threads than requested are no error; a later request may succeed. In a child, whose pool is empty. */
static bool alive_after_job(size_t expected)
{
    struct count count = {.seen = (int[MOST + 1]){0}}, * const job = &count;
    sn_parallel_for(&(struct sn_parallel){.run = count_units, .job = &job, .units = 20, .cost = 1e9});
    return all_once(count.seen, 20) && sn_threads_alive() == expected;
}

static bool no_threads(void)
{
    bool good = true;
    sn_threads_force(6);
    threads_left = 0;
    good &= alive_after_job(0);
    sn_threads_force(6);
    threads_left = 2;
    good &= alive_after_job(2);
    threads_left = 100;
    good &= alive_after_job(2); /* no new attempt */
    sn_threads_force(6);
    return good && alive_after_job(5);
}

int main(void)
{
    test_alarm();
    unsetenv("SIMDNET_NUM_THREADS");
    units();
    very_many_units();
    workspaces();
    nested();
    rounding();
    fast_mode();
    no_signals();
    used_threads();
    if (emulated()) {
        printf("skipped: forks, under an emulator\n");
    } else {
        IN_CHILD(places);
        IN_CHILD(same_places);
        IN_CHILD(only_place);
        sn_threads_force(3);
        IN_CHILD(places_of_child);
        IN_CHILD(cancelled_caller);
        IN_CHILD(real_time);
        IN_CHILD(at_once);
        IN_CHILD(errno_stays);
        IN_CHILD(woken_without_job);
        IN_CHILD(errno_stays_without_help);
        IN_CHILD(no_threads);
    }
    return test_end();
}
