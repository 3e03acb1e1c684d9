/*
 * Many threads do everything at once: first calls, shared contexts of every kind, contexts of their own, functions that
 * allocate, while some of them change the number of threads, the instruction set and the verbosity, and read the table.
 * Results are those of one thread, and ThreadSanitizer (make tsan) finds no race.
 *
 * test_races [ROUNDS [STARTS]]: the number of such actions, and of processes whose threads make their first calls together.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#ifndef _WIN32
#include <sys/wait.h>
#endif

#include "runtime/threads.h"
#include "layers.h"
#include "test.h"

enum { THREADS = 3 };

static struct layer layer[LAYERS];
static void * context[LAYERS];
static float * expected[LAYERS];
static size_t layers;
static int rounds = 10000, wrong;
static pthread_barrier_t together;

static void expect(bool good, const char * what)
{
    if (good)
        return;
    __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    printf("FAIL %s (last error: \"%s\")\n", what, SimdnetLastError());
}

static void forward(size_t i, float * dst)
{
    memset(dst, 0, MOST * sizeof(float));
    layer[i].kind->forward(context[i], dst);
    expect(SimdnetLastErrorKind() == 0 && memcmp(dst, expected[i], MOST * sizeof(float)) == 0, layer[i].kind->name);
}

/* For the instruction set that is currently in use. */
static void own_context(size_t i, float * dst)
{
    void * own = layer[i].kind->init(&layer[i]);
    expect(own, "a context of its own");
    layer[i].kind->set(own);
    layer[i].kind->forward(own, dst);
    expect(SimdnetLastErrorKind() == 0 && *SimdnetContextInfo(own), "a context of its own");
    SimdRelease(own);
}

static void functions(float * dst)
{
    const float one = 1, none = 0, k[3] = {1, 0.1f, -0.75f};
    SimdGemm32fNN(20, 40, 30, &one, ones, 30, ones, 40, &none, dst, 40);
    expect(SimdnetLastErrorKind() == 0 && dst[0] == 30, "a product");
    SimdSynetLrnLayerCrossChannels(ones, 2, 50, 40, k, dst, SimdTensorFormatNhwc);
    SimdSynetRelu32f(ones, 5000, &none, dst);
    expect(SimdnetLastErrorKind() == 0 && dst[4999] == 1, "an activation");
    SimdSynetRelu32f(NULL, 1, &none, dst);
    expect(SimdnetLastErrorKind() == 1 && strstr(SimdnetLastError(), "src"), "a refusal");
    expect(SimdVersion() && SimdnetLastErrorKind() == 0, "a call after it");
}

static void settings(size_t turn)
{
    switch (turn % 6) {
    case 0: sn_threads_force(1 + turn / 6 % 4); break;
    case 1: SimdSetThreadNumber(1 + turn / 6 % 2); break;
    case 2: SimdnetSetMaxIsa(turn / 6 % 2 ? NULL : SimdnetIsaLevel(1)); break;
    case 3: SimdnetSetVerbose((int)(turn / 6 % 2)); break;
    case 4: (void)SimdPerformanceStatistic(); break;
    default: expect(SimdGetThreadNumber() >= 1 && *SimdnetActiveIsa(), "an answer");
    }
    expect(SimdnetLastErrorKind() == 0, "a setting");
}

static void * all_rounds(void * unused)
{
    float * dst = calloc(MOST, sizeof(float));
    for (int left; (left = __atomic_sub_fetch(&rounds, 1, __ATOMIC_RELAXED)) >= 0;) {
        const size_t turn = (size_t)left / 8, i = turn % layers;
        switch (left % 8) {
        case 0: settings(turn); break;
        case 1: own_context(i, dst); break;
        case 2: functions(dst); break;
        default: forward(i, dst); /* threads share the same context */
        }
    }
    free(dst);
    return unused;
}

/* These make the library read the environment, detect the processor and build its tables. */
static void * first_calls(void * number)
{
    const float slope = 0;
    float x[4] = {1, 2, 3, 4};
    pthread_barrier_wait(&together);
    switch ((uintptr_t)number) {
    case 0: SimdSynetRelu32f(x, 4, &slope, x); break;
    case 1: expect(SimdGetThreadNumber() >= 1, "the number of threads"); break;
    default: expect(SimdCpuInfo(SimdCpuInfoThreads) && SimdnetIsaLevel(0), "the machine");
    }
    SimdSynetRelu32f(NULL, 4, &slope, x);
    expect(SimdnetLastErrorKind() == 1, "a refusal");
    return NULL;
}

static void on_threads(void * (*run)(void *))
{
    pthread_t thread[THREADS];
    for (size_t i = 0; i < THREADS; ++i)
        if (pthread_create(&thread[i], NULL, run, (void *)(uintptr_t)i) != 0)
            exit(1);
    for (size_t i = 0; i < THREADS; ++i)
        pthread_join(thread[i], NULL);
}

/* First calls happen once in a process, so each of these is a child; Windows has none. */
static void start(int times)
{
#ifdef _WIN32
    (void)times;
#else
    int good = 0;
    for (int i = 0; i < times; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            on_threads(first_calls);
            _exit(wrong != 0);
        }
        int status = 0;
        good += child > 0 && waitpid(child, &status, 0) == child && status == 0;
    }
    TEST(good == times);
#endif
}

int main(int argc, char ** argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    const int all = rounds, starts = argc > 2 ? atoi(argv[2]) : 50;
    test_alarm();
    pthread_barrier_init(&together, NULL, THREADS);
    start(starts);
    on_threads(first_calls);
    fill_layers();
    layers = all_layers(layer);
    for (size_t i = 0; i < layers; ++i) {
        context[i] = layer[i].kind->init(&layer[i]);
        layer[i].kind->set(context[i]);
        expected[i] = calloc(MOST, sizeof(float));
        layer[i].kind->forward(context[i], expected[i]);
        TEST_NO_ERROR();
    }
    on_threads(all_rounds);
    TEST(wrong == 0);
    SimdnetSetVerbose(0);
    for (size_t i = 0; i < layers; ++i) {
        SimdRelease(context[i]);
        free(expected[i]);
    }
    printf("scorecard: {\"rounds\": %d, \"starts\": %d}\n", all, starts);
    return test_end();
}
