/*
 * Calls from many threads at once, including the first calls; forks, cancelled threads and signals during calls; and where
 * threads cannot be created or have one processor. The argument is the number of forks, of cancellations and of signals, 10
 * by default.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/threads.h"
#include "emulated.h"
#include "test.h"
#include "used.h"

enum { BATCH = 6, SIDE = 24 };
static float image[BATCH * SIDE * SIDE * 8], weight[9 * 8 * 8], expected[BATCH * SIDE * SIDE * 8];

static void * new_context(void)
{
    const SimdConvolutionParameters p = {.srcC = 8, .srcH = SIDE, .srcW = SIDE, .srcT = SimdTensorData32f,
        .srcF = SimdTensorFormatNhwc, .dstC = 8, .dstH = SIDE, .dstW = SIDE, .dstT = SimdTensorData32f,
        .dstF = SimdTensorFormatNhwc, .kernelY = 3, .kernelX = 3, .dilationY = 1, .dilationX = 1, .strideY = 1, .strideX = 1,
        .padY = 1, .padX = 1, .padH = 1, .padW = 1, .group = 1, .activation = SimdConvolutionActivationRelu};
    void * context = SimdSynetConvolution32fInit(BATCH, &p, NULL);
    SimdSynetConvolution32fSetParams(context, weight, NULL, NULL, NULL);
    TEST_NO_ERROR();
    return context;
}

/* The number of workers of a convolution with so many threads: base's is a plain loop on the calling thread. */
static size_t workers_of(size_t threads) { return strcmp(SimdnetActiveIsa(), "base") == 0 ? 0 : threads - 1; }

static bool forward_good(void * context)
{
    float * dst = malloc(sizeof(expected));
    SimdSynetConvolution32fForward(context, image, NULL, dst);
    const bool good = SimdnetLastErrorKind() == 0 && memcmp(dst, expected, sizeof(expected)) == 0;
    free(dst);
    return good;
}

static void * many_forwards(void * context)
{
    bool good = true;
    for (int i = 0; i < 25; ++i) {
        good &= forward_good(context);
        if (i % 5 == 0)
            sn_threads_force((size_t)(i / 5 + 1)); /* changes the number while other threads compute */
    }
    return good ? NULL : "wrong";
}

static void many_callers(void * context)
{
    enum { CALLERS = 8 };
    pthread_t thread[CALLERS];
    sn_threads_force(4);
    for (size_t i = 0; i < CALLERS; ++i)
        if (pthread_create(&thread[i], NULL, many_forwards, context) != 0)
            exit(1);
    for (size_t i = 0; i < CALLERS; ++i) {
        void * wrong = NULL;
        TEST(pthread_join(thread[i], &wrong) == 0 && wrong == NULL);
    }
    SimdSetThreadNumber(1);
}

/* A child has a pool of its own, also if it is forked while other threads use the parent's. */
static void fork_and_compute(void * context)
{
    sn_threads_force(3);
    TEST(forward_good(context));
    const pid_t child = fork();
    if (child == 0) {
        alarm(20); /* ends a child that hangs */
        const bool fresh = sn_threads_alive() == 0 && threads_of_process() == 1;
        const bool good = forward_good(context) && forward_good(context);
        _exit(fresh && good && sn_threads_alive() == workers_of(3) ? 0 : 1);
    }
    int status = -1;
    TEST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    TEST(forward_good(context));
    SimdSetThreadNumber(1);
}

static int stop;

static void * until_stopped(void * context)
{
    bool good = true;
    static float dst[sizeof(expected) / sizeof(expected[0])]; /* no malloc: a sanitizer's may be locked at the fork */
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        SimdSynetConvolution32fForward(context, image, NULL, dst);
        good &= memcmp(dst, expected, sizeof(expected)) == 0;
    }
    return good ? NULL : "wrong";
}

static void fork_meanwhile(void * context, int rounds)
{
    pthread_t thread;
    sn_threads_force(3);
    __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
    if (pthread_create(&thread, NULL, until_stopped, context) != 0)
        exit(1);
    for (int i = 0; i < rounds; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            static float dst[sizeof(expected) / sizeof(expected[0])];
            SimdSynetConvolution32fForward(context, image, NULL, dst);
            _exit(memcmp(dst, expected, sizeof(expected)) != 0);
        }
        int status = -1;
        TEST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    void * wrong = NULL;
    TEST(pthread_join(thread, &wrong) == 0 && wrong == NULL);
    SimdSetThreadNumber(1);
}

/*
 * Threads that are cancelled while they compute, with others that use the pool at the same time. A cancelled thread ends at a
 * cancellation point of its own, which comes after each call: the library has none, so no call is left half done, and the
 * memory that the thread had in the library is freed.
 */
struct cancelled {
    void * context;
    int last;  /* the thread cancels itself before this call, so that all of the call is made while this is pending */
    int calls; /* that the thread began, and that it completed with the right result */
    int right;
    float dst[sizeof(expected) / sizeof(expected[0])]; /* not on the stack of the thread: AddressSanitizer would take what
                                                        * the thread leaves there for an overflow when it ends */
};

static void * until_cancelled(void * argument)
{
    struct cancelled * c = argument;
    for (;;) {
        if (__atomic_add_fetch(&c->calls, 1, __ATOMIC_RELAXED) == c->last)
            pthread_cancel(pthread_self());
        SimdSynetConvolution32fForward(c->context, image, NULL, c->dst);
        c->right += memcmp(c->dst, expected, sizeof(expected)) == 0;
        pthread_testcancel();
    }
    return NULL; /* not reached, but not all compilers know */
}

static void cancel_meanwhile(void * context, int rounds)
{
    pthread_t other;
    sn_threads_force(3);
    __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
    if (pthread_create(&other, NULL, until_stopped, context) != 0)
        exit(1);
    for (int i = 0; i < rounds; ++i) {
        struct cancelled c = {.context = context, .last = i % 2 ? 1 + i / 2 % 3 : 0};
        pthread_t thread;
        void * result = NULL;
        TEST(pthread_create(&thread, NULL, until_cancelled, &c) == 0);
        while (!c.last && __atomic_load_n(&c.calls, __ATOMIC_RELAXED) < 1 + i % 3)
            sched_yield();
        for (volatile int k = 0; !c.last && k < i * 7919 % 20000; ++k) /* so that the call has got more or less far */
            continue;
        TEST((c.last || pthread_cancel(thread) == 0) && pthread_join(thread, &result) == 0);
        TEST(result == PTHREAD_CANCELED && c.right == c.calls);
        TEST(forward_good(context));
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    void * wrong = NULL;
    TEST(pthread_join(other, &wrong) == 0 && wrong == NULL);
    SimdSetThreadNumber(1);
}

/* Signals interrupt the caller and what it waits for. */
static volatile sig_atomic_t interruptions;

static void interrupted(int number)
{
    (void)number;
    ++interruptions;
}

static void signals(void * context, int rounds)
{
    const struct sigaction handled = {.sa_handler = interrupted}; /* without SA_RESTART: waiting ends with EINTR */
    struct sigaction before;
    TEST(sigaction(SIGALRM, &handled, &before) == 0); /* test_alarm() uses the same signal and is off meanwhile */
    sn_threads_force(3);
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    TEST(setitimer(ITIMER_REAL, &often, NULL) == 0);
    bool good = true;
    while (interruptions < rounds)
        good &= forward_good(context);
    TEST(setitimer(ITIMER_REAL, &never, NULL) == 0);
    TEST(good);
    TEST(sigaction(SIGALRM, &before, NULL) == 0);
    test_alarm();
    SimdSetThreadNumber(1);
}

/* ---- in a child each, which has no pool yet */

/* The system refuses more processes: calls succeed on the threads that there are. */
static bool no_more_processes(void * context)
{
    /* The limit does not apply to root, so the child becomes a user who has no other processes. */
    if (geteuid() == 0 && (setgid(54321) != 0 || setuid(54321) != 0)) {
        printf("skipped: a limit on processes, as this user\n");
        return true;
    }
    const struct rlimit one = {1, 1};
    if (setrlimit(RLIMIT_NPROC, &one) != 0)
        return false;
    sn_threads_force(5);
    bool good = true;
    for (int i = 0; i < 20; ++i)
        good &= forward_good(context);
    return good && sn_threads_alive() == 0 && threads_of_process() == 1;
}

/* More threads than the one processor that they may use. */
static bool one_processor(void * context)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        return false;
    bool good = true;
    sn_threads_force(5);
    for (int i = 0; i < 20; ++i)
        good &= forward_good(context);
    good &= sn_threads_alive() == workers_of(5);
    SimdSetThreadNumber(5); /* which this processor limits to 1 */
    return good && SimdGetThreadNumber() == 1 && forward_good(context);
}

static void in_child(bool (*good)(void * context), void * context)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(300);
        const bool result = good(context);
        fflush(stdout);
        _exit(result ? 0 : 1);
    }
    int status = -1;
    TEST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* First use of the library from many threads: the tables are built once. */
static void * first_use(void * unused)
{
    (void)unused;
    enum { SIZE = 1003 };
    float src[SIZE], dst[SIZE];
    const float slope = 0.25f;
    for (int i = 0; i < SIZE; ++i)
        src[i] = (float)(i % 7 - 3);
    SimdSynetRelu32f(src, SIZE, &slope, dst);
    bool good = SimdnetLastErrorKind() == 0;
    for (int i = 0; i < SIZE; ++i)
        good &= dst[i] == (src[i] > 0 ? src[i] : src[i] * slope);
    return good ? NULL : "wrong";
}

static void many_first_uses(void)
{
    enum { THREADS = 8 };
    pthread_t thread[THREADS];
    for (size_t i = 0; i < THREADS; ++i)
        if (pthread_create(&thread[i], NULL, first_use, NULL) != 0)
            exit(1);
    for (size_t i = 0; i < THREADS; ++i) {
        void * wrong = NULL;
        TEST(pthread_join(thread[i], &wrong) == 0 && wrong == NULL);
    }
}

int main(int count, char ** arguments)
{
    const int rounds = count > 1 ? atoi(arguments[1]) : 10;
    test_alarm();
    unsetenv("SIMDNET_NUM_THREADS");
    many_first_uses();
    for (size_t i = 0; i < sizeof(image) / sizeof(image[0]); ++i)
        image[i] = (float)((int)(i * 2654435761u >> 20) - 2048) / 1024;
    for (size_t i = 0; i < sizeof(weight) / sizeof(weight[0]); ++i)
        weight[i] = (float)((int)(i * 2246822519u >> 20) - 2048) / 1024;
    void * context = new_context();
    SimdSynetConvolution32fForward(context, image, NULL, expected);
    many_callers(context);
    if (emulated()) {
        printf("skipped: forks, under an emulator\n");
    } else {
        fork_and_compute(context);
        fork_meanwhile(context, rounds);
        cancel_meanwhile(context, rounds);
        signals(context, rounds);
        in_child(no_more_processes, context);
        in_child(one_processor, context);
        if (count > 1)
            printf("scorecard: {\"forks\": %d, \"cancellations\": %d, \"signals\": %d}\n", rounds, rounds, (int)interruptions);
    }
    SimdRelease(context);
    return test_end();
}
