/*
 * The thread pool. Its threads (workers) are created by the first call that can use them and exist until the process ends.
 * Between two jobs they spin for a while, so that successive calls start within a microsecond, then sleep until a job wakes
 * them.
 *
 * One atomic word, the gate, synchronises everything: it holds the number of workers that may still join the job (permits)
 * and the number of active workers, those that have joined it. A worker that takes a permit may access the job, which is on
 * the caller's stack; the caller closes the gate when no units are left, and returns when no worker is active. So a worker
 * that arrives late finds the gate closed and accesses nothing. The caller does not wait for workers to arrive: it starts at
 * once, and all threads take ranges of units until none is left.
 *
 * There is one job at a time. A call that finds the pool busy (with another thread's call, or from inside a job) runs alone.
 *
 * Unusual decisions and their gain: time of calls on two threads over that on one, medians, Zen 4, two processors.
 * - Workers spin before they sleep: calls of 40 to 100 us, 30 us apart, take 0.6; 1.0 if workers sleep at once. They spin
 *   ten times as long as waking one takes, since a woken one may have to wait: see the last of these.
 * - The work of successive small calls is added up until waking a worker is worth it: calls of 10 to 100 us in succession
 *   take 0.6; 1.0 if each call is considered separately.
 * - A worker on the caller's processor moves to another: beside another busy process calls of 40 to 500 us take 0.55; 1.0 if
 *   it waits until the system moves it, which is milliseconds later.
 * - The caller moves workers that do not come, since the system may put a woken one on the caller's processor although
 *   others are idle (Linux 6.18): the 45 calls of a text recogniser (4 ms), 20 or 100 ms after the last, take 0.66 and
 *   0.75; 1.0 if it waits there, 0.9 if workers then spin for 50 us only.
 * - A thread gets 1.5 us of work at least: what a step of 3 us reads is in the caches of the threads that wrote it, and a
 *   job starts within a microsecond. Models of 10, 21 and 680 us take 0.59, 0.81 and 0.95 of what they take with 3 us
 *   (Zen 5); up to 1.5, models of 0.3 ms, where the processors share no cache.
 * Tried without gain: a caller that yields its processor after a wake, so that the worker can leave (no faster on an idle
 * machine, up to 7 times slower beside two busy processes); fewer wakes after wakes that no worker followed (no faster).
 */
#include "runtime/threads.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cpu.h"
#include "runtime/limits.h"
#include "runtime/memory.h"
#include "runtime/os.h"
#include "runtime/text.h"

/* ---- the number */

size_t sn_thread_number;
static bool forced;          /* see sn_threads_force() */
static bool oversubscribed;  /* more threads than processors: a spinning thread keeps another from working */
static struct sn_once number_once;

/*
 * The processors that workers may use: the affinity mask of the thread that set the number, not of the one whose call
 * creates the workers. The version changes with the mask. Words are atomic, as a worker may read while a thread sets them.
 */
static struct sn_processor_set mask;
static uint32_t mask_version;
static bool forked;          /* since the mask was set */
static bool no_fork_handler; /* the fork handler could not be registered: a child would rely on workers that do not exist
                              * in it, so there is no pool */

static bool get_flag(const bool * flag) { return __atomic_load_n(flag, __ATOMIC_RELAXED); }
static void set_flag(bool * flag, bool value) { __atomic_store_n(flag, value, __ATOMIC_RELAXED); }

static void save_mask(void)
{
    struct sn_processor_set now;
    set_flag(&forked, false);
    if (!sn_os_affinity(&now))
        return;
    for (size_t i = 0; i < SN_SET_WORDS; ++i)
        __atomic_store_n(&mask.word[i], now.word[i], __ATOMIC_RELAXED);
    __atomic_fetch_add(&mask_version, 1, __ATOMIC_RELEASE);
}

static void reset_after_fork(void);

static size_t max_threads(void) { return get_flag(&no_fork_handler) ? 1 : sn_processors(); }

/* Runs before the first call. The value must be digits only: no sign, no space. It is limited to max_threads(). */
static void read_environment(void)
{
    set_flag(&no_fork_handler, !sn_os_on_fork(NULL, NULL, reset_after_fork));
    const char * text = sn_os_environment("SIMDNET_NUM_THREADS");
    const bool digits = text && strspn(text, "0123456789") == strlen(text);
    const unsigned long wanted = digits ? strtoul(text, NULL, 10) : 0;
    if (text && *text && !wanted)
        sn_message("SIMDNET_NUM_THREADS is ignored, expected a number of at least 1: %.80s", text);
    save_mask();
    __atomic_store_n(&sn_thread_number, wanted ? sn_min(wanted, max_threads()) : 1, __ATOMIC_RELAXED);
}

size_t sn_threads_of_environment(void)
{
    sn_once(&number_once, read_environment);
    return __atomic_load_n(&sn_thread_number, __ATOMIC_RELAXED);
}

/* ---- the pool */

enum { PERMIT = 1 << 16, ACTIVE = PERMIT - 1, MAX_WORKERS = 1024 };

/* A worker, on its own stack. Workers exist until the process ends, so the list only grows. */
struct worker {
    struct worker * next;
    sn_os_thread thread;
    uint32_t moving; /* a thread is changing its affinity */
};

/* Slightly longer than waking a worker takes, and how long idle workers spin. */
enum { WAKING_NS = 50000, IDLE_NS = 500000 };

/* The least work that is worth waking workers. The work of smaller calls is added up if the pauses between them are not
 * longer than workers spin. */
enum { WAKE_NS = 150000 };

/* The time that a range should take, and the least work for each thread. */
enum { RANGE_NS = 2000, SHARE_NS = 1500 };

static struct {
    uint32_t gate __attribute__((aligned(128))); /* free permits * PERMIT + active workers */
    uint32_t sleepers; /* workers asleep, with those that were woken and do not run yet */
    uint32_t woken;    /* the latter alone */

    uint64_t left __attribute__((aligned(128))); /* units not yet taken: the first, and << 32 the last plus 1 */

    /* The job, for the caller and the active workers. */
    const struct sn_parallel * p __attribute__((aligned(128)));
    size_t scale;      /* units of p that count as one in `left` */
    size_t parts, least;
    uint32_t control;  /* the caller's floating-point control register */
    int processor;     /* of the caller */
    size_t helpers;    /* workers that computed a part of it */

    uint32_t busy __attribute__((aligned(128))); /* a call uses the pool */
    uint32_t callers;                            /* calls in progress that could use it */

    /* For the call that uses the pool. */
    struct worker * list;
    size_t workers;
    bool create_failed; /* the system did not create another thread */
    double serial_work; /* nanoseconds of work of successive calls that ran on one thread since the last wake */
    int64_t end;        /* when the last call ended */
    int64_t helped;     /* when workers last came, or the first call after a pause began */
    int64_t patience;   /* how long they may stay away */
} pool;

/* Subtracts 1, unless it is 0. */
static void decrement(uint32_t * number)
{
    uint32_t n = __atomic_load_n(number, __ATOMIC_RELAXED);
    while (n && !__atomic_compare_exchange_n(number, &n, n - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

/* ---- workers that do not come */

/* Two threads that changed the affinity of a worker at once could leave it without a processor of its mask. */
static bool begin_moving(struct worker * w) { return !__atomic_exchange_n(&w->moving, 1, __ATOMIC_ACQUIRE); }
static void end_moving(struct worker * w) { __atomic_store_n(&w->moving, 0, __ATOMIC_RELEASE); }

/*
 * Moves a worker off the caller's processor, where it would only delay the caller; false if it may use no other, or if
 * another thread is moving it. Its affinity mask is the same afterwards.
 */
static bool leave_processor(struct worker * w, int processor)
{
    if (!begin_moving(w))
        return false;
    const bool moved = sn_os_leave(w->thread, processor);
    end_moving(w);
    return moved;
}

/* The most workers that are moved at once, and the longest patience. */
enum { MOST_MOVED = 8, MOST_PATIENCE_NS = 64 * WAKING_NS };

/* For the caller of a job that no worker has joined yet: moves them if none has come for a while, and, if that does not help
 * because other processes use all processors, less and less often. */
static void move_absent_workers(void)
{
    const int64_t time = sn_os_now();
    if (time - pool.helped < pool.patience)
        return;
    struct worker * w = __atomic_load_n(&pool.list, __ATOMIC_ACQUIRE);
    for (size_t i = 0; w && i < MOST_MOVED; ++i, w = w->next)
        leave_processor(w, sn_os_processor());
    pool.helped = time;
    pool.patience = pool.patience < MOST_PATIENCE_NS ? 2 * pool.patience : pool.patience;
}

static void note_help(bool came)
{
    const int64_t time = sn_os_now();
    __atomic_store_n(&pool.end, time, __ATOMIC_RELAXED);
    if (!came)
        return;
    pool.helped = time;
    pool.patience = WAKING_NS;
}

/* ---- inside a job */

/* Takes the next range of units: the caller from the front, so that its ranges are adjacent, workers from the back. */
static bool take_range(bool front, size_t * begin, size_t * end)
{
    uint64_t left = __atomic_load_n(&pool.left, __ATOMIC_RELAXED), rest;
    uint32_t first, last, count;
    do {
        first = (uint32_t)left, last = (uint32_t)(left >> 32);
        if (first == last)
            return false;
        count = (uint32_t)sn_min(last - first, sn_max((last - first) / pool.parts, pool.least));
        rest = front ? left + count : left - ((uint64_t)count << 32);
    } while (!__atomic_compare_exchange_n(&pool.left, &left, rest, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    const size_t from = front ? first : last - count;
    *begin = from * pool.scale;
    *end = sn_min((from + count) * pool.scale, pool.p->units);
    return true;
}

/* False if no range was left. */
static bool run_ranges(void * work, bool front, size_t workers)
{
    size_t begin, end, count = 0;
    for (; take_range(front, &begin, &end); ++count) {
        pool.p->run(pool.p->job, work, begin, end);
        if (front && __atomic_load_n(&pool.gate, __ATOMIC_RELAXED) == workers * PERMIT)
            move_absent_workers();
    }
    return count > 0;
}

static void close_gate(void) { __atomic_fetch_and(&pool.gate, ACTIVE, __ATOMIC_ACQUIRE); }

/* A worker without memory for its workspace takes no range; the other threads compute all. */
static void run_part(void)
{
    void * work = pool.p->workBytes ? sn_scratch(pool.p->workBytes) : NULL;
    if (work || !pool.p->workBytes) {
        sn_set_float_control(pool.control);
        if (run_ranges(work, false, 0))
            __atomic_fetch_add(&pool.helpers, 1, __ATOMIC_RELAXED);
        close_gate();
    }
    __atomic_fetch_sub(&pool.gate, 1, __ATOMIC_RELEASE);
}

/* ---- workers */

static bool try_join(uint32_t gate)
{
    while (gate >= PERMIT)
        if (__atomic_compare_exchange_n(&pool.gate, &gate, gate - PERMIT + 1, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
    return false;
}

/* Applies a changed mask to this worker, later if another thread is moving it. If the system refuses, its affinity stays the
 * same. */
static void apply_mask(struct worker * self, uint32_t * version)
{
    const uint32_t newest = __atomic_load_n(&mask_version, __ATOMIC_ACQUIRE);
    if (*version == newest || !begin_moving(self))
        return;
    *version = newest;
    struct sn_processor_set own;
    for (size_t i = 0; i < SN_SET_WORDS; ++i)
        own.word[i] = __atomic_load_n(&mask.word[i], __ATOMIC_RELAXED);
    sn_os_set_affinity(&own);
    end_moving(self);
}

static bool spin_to_join(struct worker * self)
{
    enum { POLLS = 32 };
    if (get_flag(&oversubscribed))
        return try_join(__atomic_load_n(&pool.gate, __ATOMIC_RELAXED));
    const int64_t end = sn_os_now() + IDLE_NS;
    do {
        const int processor = __atomic_load_n(&pool.processor, __ATOMIC_RELAXED);
        if (sn_os_processor() == processor && !leave_processor(self, processor))
            sn_os_yield();
        for (int i = 0; i < POLLS; ++i) {
            if (try_join(__atomic_load_n(&pool.gate, __ATOMIC_RELAXED)))
                return true;
            sn_relax();
        }
    } while (sn_os_now() < end);
    return false;
}

static void wake(uint32_t count)
{
    if (!__atomic_load_n(&pool.sleepers, __ATOMIC_SEQ_CST))
        return;
    __atomic_fetch_add(&pool.woken, count, __ATOMIC_RELAXED); /* before one of them runs */
    for (size_t missing = count - sn_os_wake(&pool.gate, count); missing > 0; --missing)
        decrement(&pool.woken);
}

static void enlist(struct worker * w)
{
    w->next = __atomic_load_n(&pool.list, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&pool.list, &w->next, w, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
}

/* Waking takes microseconds, so the caller wakes one worker, and each woken worker wakes two more while permits are free. */
static void worker(void)
{
    uint32_t version = 0;
    struct worker self = {.thread = sn_os_this_thread()};
    enlist(&self);
    for (;;) {
        bool slept = false;
        apply_mask(&self, &version);
        while (!spin_to_join(&self)) {
            /* The caller opens the gate, then reads `sleepers`; this increments `sleepers`, then reads the gate. So either
             * the job is seen here, or the caller wakes this worker. */
            __atomic_fetch_add(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
            const uint32_t gate = __atomic_load_n(&pool.gate, __ATOMIC_SEQ_CST);
            if (gate < PERMIT)
                sn_os_wait(&pool.gate, gate);
            __atomic_fetch_sub(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
            decrement(&pool.woken);
            slept = true;
            apply_mask(&self, &version);
        }
        if (slept && __atomic_load_n(&pool.gate, __ATOMIC_SEQ_CST) >= PERMIT)
            wake(2);
        run_part();
    }
}

/* After fork() a child has none of the threads: the pool starts empty, and jobs of the parent are forgotten. */
static void reset_after_fork(void)
{
    memset(&pool, 0, sizeof(pool));
    set_flag(&forked, true);
}

/* Creates workers until there are `wanted`, or as many as the system allows. */
static void create_workers(size_t wanted)
{
    if (get_flag(&pool.create_failed) || pool.workers >= wanted)
        return;
    if (get_flag(&forked))
        save_mask(); /* child processes are often given other processors */
    const size_t started = sn_os_start_threads(worker, wanted - pool.workers);
    __atomic_store_n(&pool.workers, pool.workers + started, __ATOMIC_RELAXED);
    set_flag(&pool.create_failed, pool.workers < wanted);
}

/* ---- callers */

/* True if these nanoseconds of work, with those of the calls just before, are worth waking workers. */
static bool worth_waking(double work, bool paused)
{
    if (paused)
        pool.serial_work = 0;
    pool.serial_work += work;
    if (pool.serial_work < WAKE_NS)
        return false;
    pool.serial_work = 0;
    return true;
}

/* The number of workers for the job, at most `free`; *wakes: some of them sleep and should be woken. */
static size_t workers_for(const struct sn_parallel * p, size_t free, bool * wakes)
{
    *wakes = get_flag(&forced);
    if (*wakes) {
        create_workers(free);
        return sn_min(free, pool.workers);
    }
    const double shares = p->cost / SHARE_NS, ranges = (double)p->units / (double)sn_max(p->least, 1);
    const double most = shares < ranges ? shares : ranges;
    const size_t workers = most < (double)free + 1 ? (size_t)sn_max((size_t)most, 1) - 1 : free;
    const size_t sleepers = __atomic_load_n(&pool.sleepers, __ATOMIC_RELAXED);
    const size_t asleep = sleepers - sn_min(__atomic_load_n(&pool.woken, __ATOMIC_RELAXED), sleepers);
    const size_t awake = pool.workers - sn_min(asleep, pool.workers);
    const int64_t time = sn_os_now();
    const bool paused = time - __atomic_load_n(&pool.end, __ATOMIC_RELAXED) > WAKING_NS;
    if (paused) {
        pool.helped = time;
        pool.patience = WAKING_NS;
    }
    if (workers <= awake)
        return workers;
    *wakes = worth_waking(p->cost, paused);
    if (*wakes)
        create_workers(workers);
    return sn_min(workers, *wakes ? pool.workers : awake);
}

/*
 * Sets the length of ranges. A few large units: one range for each thread, all equal. Otherwise several for each thread,
 * first long and then shorter, so that all threads finish together even if one is slow or late.
 */
static void set_ranges(size_t units, size_t threads)
{
    if (get_flag(&forced)) {
        pool.parts = SIZE_MAX;
        pool.least = 1;
        return;
    }
    const double short_range = RANGE_NS / pool.p->cost * (double)units;
    pool.parts = 2 * threads;
    pool.least = sn_max(sn_max(pool.p->least / pool.scale, (size_t)short_range), 1);
    if (units / pool.least < 4 * threads)
        pool.least = sn_ceil_div(units, threads);
}

/* Sets up the job and opens the gate. */
static void start_job(const struct sn_parallel * p, size_t workers, bool wakes)
{
    pool.p = p;
    pool.helpers = 0;
    pool.scale = p->units / UINT32_MAX + 1;
    pool.control = sn_float_control();
    __atomic_store_n(&pool.processor, sn_os_processor(), __ATOMIC_RELAXED);
    const size_t units = sn_ceil_div(p->units, pool.scale);
    set_ranges(units, workers + 1);
    __atomic_store_n(&pool.left, (uint64_t)units << 32, __ATOMIC_RELAXED);
    __atomic_store_n(&pool.gate, (uint32_t)workers * PERMIT, __ATOMIC_SEQ_CST);
    if (wakes)
        wake(1);
}

/*
 * Waits while the gate is at `bound` or above. Usually this is short; otherwise another thread occupies the processor that a
 * worker needs. If that is the caller itself, with a real-time priority to which workers never get preference, only sleeping
 * helps.
 */
static void wait_below(uint32_t bound)
{
    enum { SPINS = 1500, YIELDS = 4000 }; /* 20 microseconds; a millisecond or more */
    for (size_t i = 0; __atomic_load_n(&pool.gate, __ATOMIC_ACQUIRE) >= bound; ++i) {
        sn_relax();
        if (i > SPINS + YIELDS)
            sn_os_sleep(WAKING_NS);
        else if (i > SPINS || get_flag(&oversubscribed))
            sn_os_yield();
    }
}

static SN_PER_THREAD uint32_t used;

void sn_threads_used_clear(void) { used = 1; }
size_t sn_threads_used(void) { return used; }

void sn_parallel_run(const struct sn_parallel * p)
{
    const size_t threads = sn_threads();
    const bool all = get_flag(&forced);
    size_t workers = 0;
    bool wakes = false;
    if (!all && p->cost < 2 * SHARE_NS) {
        p->run(p->job, p->work, 0, p->units);
        return;
    }
    /* Each other caller occupies a processor; workers are for the remaining ones. */
    const size_t callers = __atomic_add_fetch(&pool.callers, 1, __ATOMIC_RELAXED);
    const size_t free = sn_min(all ? threads - 1 : threads - sn_min(threads, callers), p->units - 1);
    if (free && !__atomic_exchange_n(&pool.busy, 1, __ATOMIC_ACQUIRE)) {
        workers = workers_for(p, sn_min(free, MAX_WORKERS), &wakes);
        if (workers) {
            start_job(p, workers, wakes);
            if (all)
                wait_below(PERMIT);
            run_ranges(p->work, true, workers);
            close_gate();
            wait_below(1);
            used = (uint32_t)sn_max(used, 1 + pool.helpers);
            note_help(pool.helpers > 0);
        }
        __atomic_store_n(&pool.busy, 0, __ATOMIC_RELEASE);
    }
    if (!workers) {
        p->run(p->job, p->work, 0, p->units);
        __atomic_store_n(&pool.end, sn_os_now(), __ATOMIC_RELAXED);
    }
    __atomic_sub_fetch(&pool.callers, 1, __ATOMIC_RELAXED);
}

/* ---- setting */

static void set(size_t wanted, bool force)
{
    sn_threads_of_environment(); /* now, so that it does not replace the number later */
    wanted = force ? wanted : sn_min(wanted, max_threads());
    set_flag(&forced, force);
    set_flag(&oversubscribed, wanted > sn_processors());
    set_flag(&pool.create_failed, false);
    save_mask();
    __atomic_store_n(&sn_thread_number, sn_max(wanted, 1), __ATOMIC_RELAXED);
}

void sn_threads_set(size_t wanted) { set(wanted, false); }
void sn_threads_force(size_t wanted) { set(wanted, true); }

size_t sn_threads_alive(void) { return __atomic_load_n(&pool.workers, __ATOMIC_RELAXED); }
