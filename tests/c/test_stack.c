/*
 * Stack use of the functions that the checker does not cover (check --stack covers the others), including first calls; and
 * that the stacks of the pool's threads suffice, whatever the size of the program's own.
 */
#define _GNU_SOURCE
#include "stack.h"

#include <fcntl.h>
#include <unistd.h>

#include "runtime/threads.h"
#include "test.h"

/* Enough kinds of calls to fill the table. */
static void fill_table(void)
{
    static float x[1600];
    const float slope = 0;
    for (size_t i = 1; i < sizeof(x) / sizeof(x[0]); ++i)
        SimdSynetRelu32f(x, i, &slope, x);
}

static void * infrastructure(void * unused)
{
    TEST(SimdnetSetVerbose(2));
    TEST(SimdGetThreadNumber() == 1);
    SimdSetThreadNumber(1000);
    SimdSetThreadNumber(1);
    TEST_NO_ERROR();
    TEST(*SimdVersion() && SimdnetVersionNumber());
    TEST(SimdCpuInfo(SimdCpuInfoThreads) && SimdAlign(5, 4) == 8 && SimdAlignment());
    TEST(*SimdnetActiveIsa() && SimdnetIsaLevel(0) && SimdnetSetMaxIsa("base") && SimdnetSetMaxIsa(NULL));
    void * block = SimdAllocate(100, 64);
    TEST(block);
    SimdFree(block);
    TEST(!SimdAllocate(100, 3));
    TEST_REFUSED(1, "align");
    SimdRelease(NULL);
    fill_table();
    const char * table = SimdPerformanceStatistic();
    TEST(strstr(table, "(others)"));
    TEST(SimdnetSetVerbose(0));
    return unused;
}

static float image[1 << 18], result[1 << 18];

/* Except for the Winograd transforms, this function needs most stack on all levels above `base`. */
static void * on_all_levels(void * unused)
{
    const float k[3] = {1, 0.1f, -0.75f};
    for (size_t i = 0; SimdnetIsaLevel(i); ++i) {
        SimdnetSetMaxIsa(SimdnetIsaLevel(i));
        SimdSynetLrnLayerCrossChannels(image, 2, 64, 4096, k, result, SimdTensorFormatNchw);
        SimdSynetLrnLayerCrossChannels(image, 2, 3, 4096, k, result, SimdTensorFormatNhwc);
        TEST_NO_ERROR();
    }
    SimdnetSetMaxIsa(NULL);
    return unused;
}

/* In a program whose threads have the smallest possible stack. */
static void workers(void)
{
    pthread_attr_t usual, small;
    TEST(pthread_getattr_default_np(&usual) == 0 && pthread_attr_init(&small) == 0);
    TEST(pthread_attr_setstacksize(&small, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0);
    TEST(pthread_setattr_default_np(&small) == 0);
    sn_threads_force(3);
    on_all_levels(NULL);
    TEST(sn_threads_alive() == 2);
    sn_threads_set(1);
    TEST(pthread_setattr_default_np(&usual) == 0);
}

int main(void)
{
    test_alarm();
    if (!STACK_MEASURED) {
        printf("skipped: stacks, in a build with sanitizers or without optimisation\n");
        return 0;
    }
    const int errors = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO); /* the lines of SIMDNET_VERBOSE */
    TEST(run_on_stack(STACK_PROMISED, infrastructure, NULL));
    dup2(errors, STDERR_FILENO);
    TEST(run_on_stack(STACK_PROMISED, on_all_levels, NULL));
    workers();
    return test_end();
}
