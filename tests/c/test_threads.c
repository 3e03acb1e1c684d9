/* The thread number and its limits, and calls from many threads at once. */
#include <pthread.h>
#include <stdlib.h>

#include "core/threads.h"
#include "test.h"

static void number(void)
{
    const size_t most = SimdCpuInfo(SimdCpuInfoThreads);
    TEST(SimdGetThreadNumber() == 1);
    const size_t wanted[] = {0, 1, 2, most, most + 1, 1000000, (size_t)-1};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
        SimdSetThreadNumber(wanted[i]);
        TEST_NO_ERROR();
        TEST(SimdGetThreadNumber() == (wanted[i] < 1 ? 1 : wanted[i] > most ? most : wanted[i]));
    }
    SimdSetThreadNumber(1);
    TEST(SimdGetThreadNumber() == 1);
}

static void count_units(const void * job, size_t begin, size_t end)
{
    int * seen = *(int * const *)job;
    for (size_t i = begin; i < end; ++i)
        ++seen[i];
}

/* Every unit of work is done once, whatever the count and the number of threads. */
static void units(void)
{
    enum { MOST = 1000 };
    static int seen[MOST + 1];
    int * const job = seen;
    for (size_t threads = 1; threads <= SimdCpuInfo(SimdCpuInfoThreads); ++threads)
        for (size_t count = 0; count <= MOST; count = count * 2 + 1) {
            SimdSetThreadNumber(threads);
            memset(seen, 0, sizeof(seen));
            sn_parallel_for(count_units, &job, count);
            bool once = true;
            for (size_t i = 0; i <= MOST; ++i)
                once &= seen[i] == (i < count);
            TEST(once);
        }
    SimdSetThreadNumber(1);
}

/* The first use of the library from many threads: the tables are made once. */
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

static void many_callers(void)
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

int main(void)
{
    many_callers();
    number();
    units();
    return test_end();
}
