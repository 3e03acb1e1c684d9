/* The lines that the library writes under SIMDNET_VERBOSE, and the table of SimdPerformanceStatistic(). */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/threads.h"
#include "runtime/statistic.h"
#include "emulated.h"
#include "test.h"

/*
 * All that a fresh process in which the variable has this value (NULL: unset) writes to stderr when `run` is called. A fork
 * is fresh, since this process never calls the library before.
 */
static const char * say(const char * value, void (*run)(void))
{
    static char text[1 << 16];
    int ends[2], status = 1;
    size_t length = 0;
    if (pipe(ends) != 0)
        exit(1);
    const pid_t pid = fork();
    if (pid == 0) {
        test_failed = 0;
        dup2(ends[1], STDERR_FILENO);
        if (value)
            setenv("SIMDNET_VERBOSE", value, 1);
        else
            unsetenv("SIMDNET_VERBOSE");
        run();
        fflush(NULL);
        _exit(test_failed != 0);
    }
    close(ends[1]);
    for (ssize_t n = 1; n > 0 && length < sizeof(text) - 1; length += n > 0 ? (size_t)n : 0)
        n = read(ends[0], text + length, sizeof(text) - 1 - length);
    text[length] = '\0';
    close(ends[0]);
    waitpid(pid, &status, 0);
    TEST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return text;
}

static size_t count(const char * text, const char * word)
{
    size_t number = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        ++number;
    return number;
}

static float x[64];
static const float slope;

static void nothing(void) { SimdVersion(); }

static void one_of_each(void)
{
    SimdSynetRelu32f(x, 16, &slope, x);
    SimdSynetRelu32f(NULL, 16, &slope, x);
    TEST(errno == EINVAL && SimdnetLastErrorKind() == 1); /* reporting changes neither */
    errno = 77;
    SimdSynetRelu32f(NULL, 0, NULL, NULL);
    TEST(errno == 77);
    TEST_NO_ERROR();
    SimdSynetAddBias(x + 32, 2, 3, x, SimdTensorFormatNhwc);
    SimdSynetAddBias(x + 32, 2, 3, x, (SimdTensorFormatType)99);
    TEST_REFUSED(1, "99");
    TEST(count(SimdPerformanceStatistic(), "SimdSynet") == 3);
}

static void contexts(void)
{
    const SimdConvolutionParameters p = {.srcC = 2, .srcH = 4, .srcW = 4, .srcF = SimdTensorFormatNhwc, .dstC = 4, .dstH = 2,
        .dstW = 4, .dstF = SimdTensorFormatNhwc, .kernelY = 1, .kernelX = 1, .dilationY = 1, .dilationX = 1, .strideY = 2,
        .strideX = 1, .group = 2};
    void * context = SimdSynetConvolution32fInit(1, &p, NULL);
    SimdSynetConvolution32fForward(context, x, NULL, x + 32);
    SimdSynetConvolution32fSetParams(context, x, NULL, NULL, NULL);
    SimdSynetConvolution32fForward(context, x, NULL, x + 32);
    TEST_NO_ERROR();
    SimdRelease(context);
    SimdSynetConvolution32fForward(NULL, x, NULL, x + 32);
    TEST_REFUSED(1, "context");
}

/* Three threads are allowed, and a large call may use them; a small one runs on the calling thread. */
static void threads(void)
{
    static float large[4096 * 8];
    sn_threads_force(3);
    SimdSynetRelu32f(large, sizeof(large) / sizeof(large[0]), &slope, large);
    SimdSynetRelu32f(x, 1, &slope, x);
}

static void set(void)
{
    SimdSynetRelu32f(x, 16, &slope, x);
    TEST(SimdPerformanceStatistic()[0] == '\0');
    TEST(SimdnetSetVerbose(3) == SimdFalse);
    TEST_REFUSED(1, "level is 3");
    TEST(SimdnetSetVerbose(-1) == SimdFalse && SimdnetLastErrorKind() == 1);
    SimdSynetRelu32f(x, 16, &slope, x);
    TEST(SimdPerformanceStatistic()[0] == '\0');
    TEST(SimdnetSetVerbose(1) == SimdTrue);
    SimdSynetRelu32f(x, 16, &slope, x);
    TEST(SimdnetSetVerbose(2) == SimdTrue); /* continues the table */
    SimdSynetRelu32f(x, 16, &slope, x);
    TEST(SimdnetSetVerbose(0) == SimdTrue);
    SimdSynetRelu32f(x, 16, &slope, x);
    TEST(strstr(SimdPerformanceStatistic(), "\n        2 ") != NULL);
    TEST(SimdnetSetVerbose(1) == SimdTrue); /* starts a new table */
    TEST(SimdPerformanceStatistic()[0] == '\0');
}

static void environment(void)
{
    TEST(count(say(NULL, nothing), "\n") == 0);
    TEST(count(say("", nothing), "\n") == 0 && count(say("0", nothing), "\n") == 0);
    static const char * const wrong[] = {"3", "-1", "on", "2 ", " 1", "two\nlines"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        const char * text = say(wrong[i], nothing);
        TEST(count(text, "\n") == 1 && strncmp(text, "simdnet: SIMDNET_VERBOSE is ignored", 35) == 0);
        TEST(strchr(wrong[i], '\n') || strstr(text, wrong[i]));
    }
    for (int level = 1; level <= 2; ++level) {
        const char * text = say(level == 1 ? "1" : "2", nothing);
        TEST(count(text, "\n") == 1 && strncmp(text, "simdnet: version=" SIMDNET_VERSION " cpu=", 15) == 0);
        TEST(strstr(text, " levels=base,") || strstr(text, " levels=base "));
        TEST(strstr(text, " threads=1 library=/") || strstr(text, "test_verbose\n"));
        TEST(strstr(text, " level="));
    }
}

static void lines(void)
{
    const char * text = say("2", one_of_each);
    TEST(count(text, "\n") == 6);
    TEST(count(text, "simdnet: function=SimdSynetRelu32f shape=size:16 algorithm=- level=") == 2);
    TEST(count(text, "simdnet: function=SimdSynetRelu32f shape=size:0 ") == 1);
    TEST(count(text, "simdnet: function=SimdSynetAddBias shape=channels:2,spatial:3,format:nhwc ") == 1);
    TEST(count(text, "simdnet: function=SimdSynetAddBias shape=channels:2,spatial:3,format:99 ") == 1);
    TEST(count(text, " us=") == 3 && count(text, " error=value\n") == 2);

    text = say("2", contexts);
    TEST(count(text, "\n") == 5);
    TEST(count(text, "SimdSynetConvolution32fForward shape=1x2x4x4->4x2x4,1x1,s2x1,g2,nhwc algorithm=") == 2);
    TEST(count(text, "SimdSynetConvolution32fSetParams shape=1x2x4x4->4x2x4,1x1,s2x1,g2,nhwc algorithm=") == 1);
    TEST(count(text, " error=state\n") == 1 && count(text, " us=") == 2);
    TEST(count(text, "SimdSynetConvolution32fForward shape=- algorithm=- ") == 1 && count(text, " error=value\n") == 1);

    text = say("2", threads);
    const char * small = strstr(text, "shape=size:1 ");
    TEST(count(text, "function=SimdSynetRelu32f") == 2 && small && strstr(small, " threads=1 us="));

    text = say(NULL, set);
    TEST(count(text, "\n") == 2 && count(text, "version=") == 1 && count(text, "function=SimdSynetRelu32f") == 1);
}

/* ---- the table, when many threads write it, when it is full, and in a child that was forked meanwhile */

enum { THREADS = 6, CALLS = 500 };

/* A line that cannot be written, and errno, which a good call leaves alone. */
static void closed(void)
{
    SimdVersion();
    const int output = dup(STDERR_FILENO);
    close(STDERR_FILENO);
    errno = 77;
    SimdSynetRelu32f(x, 16, &slope, x);
    TEST(errno == 77);
    dup2(output, STDERR_FILENO);
    SimdSynetRelu32f(x, 16, &slope, x);
}

/* Refused, so that arrays of these extents are not needed. */
static void eight_dimensions(void)
{
    const SimdnetCopyParameters copy = {.size = sizeof(copy), .count = 8, .shape = {2, 3, 4, 5, 6, 7, 8, 9}};
    const SimdnetPadParameters pad = {.size = sizeof(pad), .count = 8, .shape = {2, 3, 4, 5, 6, 7, 8, 9}};
    const SimdnetReduceParameters reduce = {.size = sizeof(reduce), .count = 8, .shape = {2, 3, 4, 5, 6, 7, 8, 9}};
    SimdnetCopy(&copy);
    SimdnetPad(&pad);
    SimdnetReduce(&reduce);
}

static void * call_often(void * argument)
{
    float y[8] = {0};
    const size_t size = 1 + (size_t)(uintptr_t)argument % 2;
    for (int i = 0; i < CALLS; ++i) {
        SimdSynetRelu32f(y, size, &slope, y);
        if (i % 100 == 0 && !strstr(SimdPerformanceStatistic(), "SimdSynetRelu32f"))
            return NULL;
    }
    return argument;
}

/* The number of calls in the row with this text; 0 if there is none. */
static unsigned long calls_of(const char * table, const char * text)
{
    const char * at = strstr(table, text);
    while (at && at > table && at[-1] != '\n')
        --at;
    return at ? strtoul(at, NULL, 10) : 0;
}

static void many_threads(void)
{
    pthread_t thread[THREADS];
    SimdVersion();
    for (size_t i = 0; i < THREADS; ++i)
        if (pthread_create(&thread[i], NULL, call_often, (void *)(uintptr_t)(i + 2)) != 0)
            exit(1);
    const pid_t pid = fork();
    if (pid == 0) { /* the lock of the table is free here, whichever thread held it in the parent */
        SimdSynetRelu32f(x, 7, &slope, x);
        _exit(calls_of(SimdPerformanceStatistic(), "SimdSynetRelu32f size:7 ") != 1);
    }
    for (size_t i = 0; i < THREADS; ++i) {
        void * good = NULL;
        TEST(pthread_join(thread[i], &good) == 0 && good);
    }
    int status = 1;
    waitpid(pid, &status, 0);
    TEST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const char * table = SimdPerformanceStatistic();
    TEST(count(table, "\n") == 3);
    TEST(calls_of(table, "SimdSynetRelu32f size:1 ") == THREADS / 2 * CALLS);
    TEST(calls_of(table, "SimdSynetRelu32f size:2 ") == THREADS / 2 * CALLS);

    SimdnetSetVerbose(0);
    SimdnetSetVerbose(1);
    static float big[2000];
    for (size_t size = 1; size <= 2000; ++size)
        SimdSynetRelu32f(big, size, &slope, big);
    table = SimdPerformanceStatistic();
    TEST(count(table, "\n") == 1502 && calls_of(table, "(others) - - -\n") == 500);
}

/* Many threads at once, for long enough to collide, two rows and a reader: no call is lost, and no row is created twice. */
enum { ADDERS = 4 };
static int adds, enough;

static void * add_often(void * row)
{
    int count = 0;
    for (; !__atomic_load_n(&enough, __ATOMIC_RELAXED); ++count)
        sn_statistic_add(count % 2 ? row : "even - - -", 1);
    __atomic_add_fetch(&adds, count, __ATOMIC_RELAXED);
    return NULL;
}

static void adders(void)
{
    static char row[] = "odd - - -";
    pthread_t thread[ADDERS];
    sn_statistic_clear();
    for (size_t i = 0; i < ADDERS; ++i)
        if (pthread_create(&thread[i], NULL, add_often, row) != 0)
            exit(1);
    unsigned long before = 0;
    bool ordered = true;
    for (const time_t end = time(NULL) + 3; time(NULL) < end;) {
        const unsigned long now = calls_of(sn_statistic_text(), " even - - -");
        ordered &= now >= before;
        before = now;
    }
    __atomic_store_n(&enough, 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < ADDERS; ++i)
        pthread_join(thread[i], NULL);
    const char * table = sn_statistic_text();
    TEST(ordered && count(table, "\n") == 3);
    TEST(calls_of(table, " even - - -") + calls_of(table, " odd - - -") == (unsigned long)adds);
    sn_statistic_clear();
}

int main(void)
{
    test_alarm();
    adders();
    environment();
    lines();
    TEST(count(say("2", closed), "function=SimdSynetRelu32f") == 1);
    TEST(count(say("2", eight_dimensions), ",count:8,n[0]:2,n[1]:3,n[2]:4,n[3]:5,n[4]:6,n[5]:7,n[6]:8,n[7]:9 ") == 3);
    if (emulated())
        printf("skipped: threads in a child, under an emulator\n");
    else
        TEST(count(say("1", many_threads), "\n") == 1);
    return test_end();
}
