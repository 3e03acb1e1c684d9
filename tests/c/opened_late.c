/*
 * A program opens the library late and has no memory when one of its threads calls it for the first time: nothing aborts,
 * every refusal has its kind, and texts of errors are available again when memory is. Destructors of thread-specific data
 * that run after the library's own can still use the thread's state in the library.
 *
 * With a number, the library is opened, used by several threads and closed so many times instead.
 *
 * tests/sh/check_library.sh runs it: opened_late LIBRARY [ROUNDS]. A program linked with the library would not test this, since
 * its thread-local storage is allocated from the start.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simdnet.h"

/* ---- allocation that can fail, for the library and for the C library's own use */

extern void * __libc_malloc(size_t size);
extern void * __libc_calloc(size_t count, size_t size);
extern void * __libc_realloc(void * block, size_t size);
extern void * __libc_memalign(size_t align, size_t size);

void * malloc(size_t size);
void * calloc(size_t count, size_t size);
void * realloc(void * block, size_t size);
int posix_memalign(void ** block, size_t align, size_t size);

static volatile bool no_memory;

void * malloc(size_t size) { return no_memory ? NULL : __libc_malloc(size); }
void * calloc(size_t count, size_t size) { return no_memory ? NULL : __libc_calloc(count, size); }
void * realloc(void * block, size_t size) { return no_memory ? NULL : __libc_realloc(block, size); }

int posix_memalign(void ** block, size_t align, size_t size)
{
    *block = no_memory ? NULL : __libc_memalign(align, size);
    return *block ? 0 : ENOMEM;
}

/* ---- the library */

static struct {
    void (*relu)(const float * src, size_t size, const float * slope, float * dst);
    void * (*allocate)(size_t size, size_t align);
    void (*free)(void * block);
    void * (*init)(size_t batch, const SimdConvolutionParameters * conv, SimdGemm32fNNPtr gemm);
    const char * (*error)(void);
    int (*kind)(void);
    void (*set_threads)(size_t number);
    void (*set_params)(void * context, const float * weight, SimdBool * internal, const float * bias, const float * params);
    void (*forward)(void * context, const float * src, float * buf, float * dst);
    void (*release)(void * context);
} library;

static void * opened;

static bool open_library(const char * path)
{
    opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!opened)
        return false;
    *(void **)&library.relu = dlsym(opened, "SimdSynetRelu32f");
    *(void **)&library.allocate = dlsym(opened, "SimdAllocate");
    *(void **)&library.free = dlsym(opened, "SimdFree");
    *(void **)&library.init = dlsym(opened, "SimdSynetConvolution32fInit");
    *(void **)&library.error = dlsym(opened, "SimdnetLastError");
    *(void **)&library.kind = dlsym(opened, "SimdnetLastErrorKind");
    *(void **)&library.set_threads = dlsym(opened, "SimdSetThreadNumber");
    *(void **)&library.set_params = dlsym(opened, "SimdSynetConvolution32fSetParams");
    *(void **)&library.forward = dlsym(opened, "SimdSynetConvolution32fForward");
    *(void **)&library.release = dlsym(opened, "SimdRelease");
    return library.relu && library.allocate && library.free && library.init && library.error && library.kind &&
           library.set_threads && library.set_params && library.forward && library.release;
}

/* ---- the threads */

static int wrong;

static void expect(bool condition, const char * what)
{
    if (!condition) {
        ++wrong;
        printf("FAIL %s (last error %d: \"%s\")\n", what, library.kind(), library.error());
    }
}

static bool refused(int kind, int number, const char * word)
{
    return library.kind() == kind && errno == number && strstr(library.error(), word);
}

static pthread_key_t early, late; /* created before and after the library's own */

static void call_in_destructor(void * value)
{
    (void)value;
    library.relu(NULL, 1, NULL, NULL);
    expect(refused(1, EINVAL, "src is NULL"), "a refusal in a destructor");
}

static pthread_barrier_t no_more_memory;

static void * first_calls(void * unused)
{
    const SimdConvolutionParameters p = {.srcC = 1, .srcH = 1, .srcW = 1, .srcT = SimdTensorData32f,
        .srcF = SimdTensorFormatNhwc, .dstC = 1, .dstH = 1, .dstW = 1, .dstT = SimdTensorData32f,
        .dstF = SimdTensorFormatNhwc, .kernelY = 1, .kernelX = 1, .dilationY = 1, .dilationX = 1, .strideY = 1, .strideX = 1,
        .group = 1};
    float x = 1, slope = 0;
    pthread_setspecific(early, &early);
    pthread_setspecific(late, &late);
    pthread_barrier_wait(&no_more_memory);
    pthread_barrier_wait(&no_more_memory);
    library.relu(&x, 1, &slope, &x);
    const bool good = library.kind() == 0 && *library.error() == '\0';
    library.relu(NULL, 1, &slope, &x);
    const bool value = refused(1, EINVAL, "memory for the text");
    const bool memory = !library.allocate(100, 64) && refused(2, ENOMEM, "memory for the text");
    const bool context = !library.init(1, &p, NULL) && refused(2, ENOMEM, "memory for the text");
    library.relu(&x, 1, &slope, &x);
    const bool cleared = library.kind() == 0 && *library.error() == '\0';
    no_memory = false;
    expect(good && cleared, "a call without memory that needs none");
    expect(value, "a bad argument without memory");
    expect(memory && context, "no memory");
    library.relu(NULL, 1, &slope, &x);
    expect(refused(1, EINVAL, "src is NULL"), "the sentence, when there is memory again");
    return unused;
}

/* ---- opened and closed many times */

enum { SIDE = 96, CHANNELS = 16, SIZE = SIDE * SIDE * CHANNELS, THREADS = 2 };

/* A convolution with 1x1 kernels that doubles; large enough for the pool. The thread ends after the library is closed. */
static void * doubled(void * closed)
{
    const SimdConvolutionParameters p = {.srcC = CHANNELS, .srcH = SIDE, .srcW = SIDE, .srcT = SimdTensorData32f,
        .srcF = SimdTensorFormatNhwc, .dstC = CHANNELS, .dstH = SIDE, .dstW = SIDE, .dstT = SimdTensorData32f,
        .dstF = SimdTensorFormatNhwc, .kernelY = 1, .kernelX = 1, .dilationY = 1, .dilationX = 1, .strideY = 1, .strideX = 1,
        .group = 1};
    float weight[CHANNELS * CHANNELS] = {0}, * x = __libc_malloc(2 * SIZE * sizeof(*x)), * y = x + SIZE;
    bool good = x != NULL;
    for (size_t i = 0; i < CHANNELS; ++i)
        weight[i * CHANNELS + i] = 2;
    for (size_t i = 0; good && i < SIZE; ++i)
        x[i] = (float)(i % 1000);
    void * context = library.init(1, &p, NULL);
    library.set_params(context, weight, NULL, NULL, NULL);
    library.forward(context, x, NULL, y);
    good = good && library.kind() == 0;
    for (size_t i = 0; good && i < SIZE; ++i)
        good = y[i] == 2 * (float)(i % 1000);
    library.release(context);
    library.relu(NULL, 1, NULL, NULL); /* so that the thread has a text, which is freed at its end */
    good = good && refused(1, EINVAL, "src is NULL");
    free(x);
    pthread_barrier_wait(closed);
    pthread_barrier_wait(closed);
    return good ? NULL : "wrong";
}

static void open_and_close(const char * path, int rounds)
{
    pthread_barrier_t closed;
    pthread_barrier_init(&closed, NULL, THREADS + 1);
    for (int i = 0; i < rounds; ++i) {
        pthread_t thread[THREADS];
        if (i > 0 && !open_library(path)) {
            ++wrong;
            printf("FAIL not opened in round %d: %s\n", i, dlerror());
            return;
        }
        library.set_threads(2);
        for (int k = 0; k < THREADS; ++k)
            if (pthread_create(&thread[k], NULL, doubled, &closed) != 0)
                exit(1);
        pthread_barrier_wait(&closed);
        if (dlclose(opened) != 0) /* threads of the pool and the two threads still exist */
            expect(false, "closing");
        pthread_barrier_wait(&closed);
        for (int k = 0; k < THREADS; ++k) {
            void * result = "wrong";
            pthread_join(thread[k], &result);
            expect(result == NULL, "a result, or a refusal");
        }
    }
    printf("scorecard: {\"opened\": %d}\n", rounds);
}

int main(int count, char ** arguments)
{
    alarm(count > 2 ? 600 : 60);
    pthread_t thread;
    pthread_key_create(&early, call_in_destructor);
    if (count < 2 || !open_library(arguments[1])) {
        printf("FAIL no library\n");
        return 1;
    }
    if (count > 2) {
        open_and_close(arguments[1], atoi(arguments[2]));
        return wrong != 0;
    }
    library.relu(NULL, 1, NULL, NULL); /* the library creates its key */
    expect(refused(1, EINVAL, "src is NULL"), "a bad argument");
    pthread_key_create(&late, call_in_destructor);
    pthread_barrier_init(&no_more_memory, NULL, 2);
    if (pthread_create(&thread, NULL, first_calls, NULL) != 0)
        return 1;
    pthread_barrier_wait(&no_more_memory);
    no_memory = true;
    pthread_barrier_wait(&no_more_memory);
    pthread_join(thread, NULL);
    return wrong != 0;
}
