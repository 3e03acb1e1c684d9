/* Aligned blocks, rounding, overflow in products of sizes, scratch memory of threads, errno. */
#define _DEFAULT_SOURCE /* sbrk(), MAP_ANONYMOUS */
#include "runtime/arena.h"
#include "runtime/memory.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulated.h"
#include "test.h"
#include "used.h"

static void blocks(void)
{
    for (size_t align = 1; align <= 8192; align *= 2)
        for (size_t size = 0; size < 300; size += 37) {
            unsigned char * block = SimdAllocate(size, align);
            TEST(block != NULL && (uintptr_t)block % align == 0);
            TEST_NO_ERROR();
            if (block)
                memset(block, 0xA5, SimdAlign(size, align));
            SimdFree(block);
        }
    SimdFree(NULL);
    TEST_NO_ERROR();
    const size_t wrong[] = {0, 3, 24, 65, SIZE_MAX};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        TEST(SimdAllocate(100, wrong[i]) == NULL);
        TEST_REFUSED(1, "align");
    }
    const size_t huge[] = {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, (size_t)PTRDIFF_MAX - 64};
    for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); ++i) {
        TEST(SimdAllocate(huge[i], 64) == NULL);
        TEST_REFUSED(2, "memory");
    }
}

static void rounding(void)
{
    for (size_t align = 1; align <= 64; align *= 2)
        for (size_t size = 0; size < 200; ++size) {
            const size_t rounded = SimdAlign(size, align);
            TEST(rounded >= size && rounded < size + align && rounded % align == 0);
        }
    TEST(SimdAlign(77, 0) == 0);
    TEST(SimdAlign(77, 1) == 77);
    TEST(SimdAlign(SIZE_MAX, 1) == SIZE_MAX && SimdAlign(SIZE_MAX - 63, 64) == SIZE_MAX - 63);
    TEST_NO_ERROR();
    TEST(SimdAlign(77, 48) == 0);
    TEST_REFUSED(1, "48");
    TEST(SimdAlign(SIZE_MAX - 62, 64) == 0);
    TEST_REFUSED(1, "size");
}

static void products(void)
{
    size_t p;
    const size_t limit = PTRDIFF_MAX / 8;
    TEST(sn_product(&p, 3, 5, 7) && p == 105);
    TEST(sn_product(&p, 1) && p == 1);
    TEST(sn_product(&p, limit) && p == limit);
    TEST(sn_product(&p, limit, 1, 1) && p == limit);
    TEST(!sn_product(&p, limit + 1));
    TEST(!sn_product(&p, limit, 2));
    TEST(!sn_product(&p, 2, limit));
    TEST(!sn_product(&p, (size_t)1 << 32, (size_t)1 << 32));             /* wraps to 0 */
    TEST(!sn_product(&p, (size_t)1 << 21, (size_t)1 << 22, (size_t)1 << 21));
    TEST(!sn_product(&p, ((size_t)1 << 32) + 1, (size_t)1 << 32));       /* wraps to a small number */
    TEST(!sn_product(&p, SIZE_MAX, SIZE_MAX));                            /* wraps to 1 */
    TEST(sn_product(&p, 0) && p == 0);
    TEST(sn_product(&p, SIZE_MAX, SIZE_MAX, 0) && p == 0);                /* the order of factors does not matter */
    TEST(sn_product(&p, 0, SIZE_MAX, SIZE_MAX) && p == 0);
    TEST(sn_product(&p, (size_t)1 << 30, (size_t)1 << 29) && p == (size_t)1 << 59);
    TEST(!sn_product(&p, (size_t)1 << 30, (size_t)1 << 30));              /* 2^60 elements of 8 bytes are 2^63 bytes */
}

static void * scratch_of_another(void * unused)
{
    (void)unused;
    unsigned char * block = sn_scratch(1000);
    if (block)
        memset(block, 1, 1000);
    return block;
}

static void scratch(void)
{
    unsigned char * a = sn_scratch(100);
    TEST(a != NULL && (uintptr_t)a % SN_ALIGN == 0);
    TEST(sn_scratch(100) == a);
    TEST(sn_scratch(0) == a);
    TEST(sn_scratch(7) == a);
    memset(a, 2, 100);
    pthread_t thread;
    void * other = NULL;
    TEST(pthread_create(&thread, NULL, scratch_of_another, NULL) == 0 && pthread_join(thread, &other) == 0);
    TEST(other != NULL && other != a);
    TEST(a[0] == 2 && a[99] == 2);
    unsigned char * b = sn_scratch(1 << 20);
    TEST(b != NULL && (uintptr_t)b % SN_ALIGN == 0);
    memset(b, 3, 1 << 20);
    TEST(sn_scratch(1 << 19) == b);
    TEST(sn_scratch(SIZE_MAX) == NULL);
    TEST(sn_scratch(1 << 20) == b); /* keeps the block it had */
}

/* Blocks of all sizes, released in another order than allocated: none overlaps another, with one thread or many. */
static void * allocate_and_free(void * of_thread)
{
    enum { COUNT = 18 };
    static const size_t sizes[] = {1, 100, 70000, 300000, 65536, 9 << 20, 1 << 20, 3000001, 8 << 20};
    unsigned char * block[COUNT] = {NULL};
    size_t size[COUNT] = {0};
    bool sound = true;
    for (int turn = 0; turn < 5 * COUNT; ++turn) {
        const int i = turn * 7 % COUNT;
        const unsigned char mark = (unsigned char)(i + *(int *)of_thread);
        if (block[i])
            sound &= block[i][0] == mark && block[i][size[i] / 2] == mark && block[i][size[i] - 1] == mark;
        sn_arena_free(block[i]);
        size[i] = sizes[(size_t)(turn + *(int *)of_thread) % (sizeof(sizes) / sizeof(sizes[0]))];
        block[i] = sn_arena_allocate(size[i]);
        sound &= block[i] && (uintptr_t)block[i] % SN_ALIGN == 0;
        if (block[i])
            memset(block[i], mark, size[i]);
    }
    for (int i = 0; i < COUNT; ++i)
        sn_arena_free(block[i]);
    return sound ? of_thread : NULL;
}

static void arena(void)
{
    enum { THREADS = 3 };
    int number[THREADS];
    pthread_t thread[THREADS];
    void * sound = NULL;
    for (int i = 0; i < THREADS; ++i) {
        number[i] = 50 * i;
        TEST(pthread_create(&thread[i], NULL, allocate_and_free, &number[i]) == 0);
    }
    for (int i = 0; i < THREADS; ++i)
        TEST(pthread_join(thread[i], &sound) == 0 && sound);
    TEST(sn_arena_allocate(SIZE_MAX) == NULL && sn_arena_allocate(PTRDIFF_MAX) == NULL);
    sn_arena_free(NULL);
    void * first = sn_arena_allocate(1 << 20); /* an empty chunk is reused from its beginning */
    sn_arena_free(first);
    void * again = sn_arena_allocate(1 << 20);
    TEST(first != NULL && (SN_SANITIZED || again == first));
    sn_arena_free(again);
}

/* If most blocks are released, but not all, their memory is returned to the system. */
static void memory_returns(void)
{
    enum { BLOCKS = 2000, SIZE = 70 << 10, REMAINING = 100 };
    static void * block[BLOCKS];
    const size_t before = used().resident;
    for (size_t i = 0; i < BLOCKS; ++i)
        if ((block[i] = sn_arena_allocate(SIZE)) != NULL)
            memset(block[i], 1, SIZE);
    for (size_t i = 0; i < BLOCKS; ++i)
        if (i % REMAINING)
            sn_arena_free(block[i]);
    TEST(!before || used().resident < before + BLOCKS * (size_t)SIZE / 4);
    for (size_t i = 0; i < BLOCKS; i += REMAINING)
        sn_arena_free(block[i]);
}

/* The memory of each released block but the last of those in the newest chunk returns, and chunks without blocks do. */
static void chunks_return(void)
{
    enum { SIZE = 1 << 20, BLOCKS = 30 };
    void * block[BLOCKS];
    sn_arena_free(sn_arena_allocate(SIZE)); /* there is a chunk, which is empty */
    const struct used before = used();
    for (size_t i = 0; i < BLOCKS; ++i)
        if ((block[i] = sn_arena_allocate(SIZE)) != NULL)
            memset(block[i], 1, SIZE);
    for (size_t i = BLOCKS; i-- > 0;) {
        const size_t resident = used().resident;
        sn_arena_free(block[i]);
        TEST(!resident || i % 3 == 0 || used().resident < resident - SIZE / 2);
    }
    TEST(!before.space || used().space < before.space + 2 * (4 << 20));
}

/* A small block does not reserve a large range of address space. */
static void little_space(void)
{
    const pid_t child = fork();
    if (child == 0) {
        enum { MORE = 4 << 20 };
        size_t all = 0;
        FILE * file = fopen("/proc/self/statm", "r");
        const bool known = file && fscanf(file, "%zu", &all) == 1;
        const rlim_t limit = all * (size_t)sysconf(_SC_PAGESIZE) + MORE;
        if (!known || setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit}) != 0)
            _exit(0);
        _exit(sn_arena_allocate(80 << 10) && !sn_arena_allocate(16 << 20) ? 0 : 1);
    }
    int status = -1;
    TEST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* If the heap cannot grow, malloc() uses other memory, and errno is ENOMEM although it succeeds. Good calls keep errno. */
static void errno_of_a_heap_that_cannot_grow(void)
{
    enum { BLOCKS = 100 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const uintptr_t end = ((uintptr_t)sbrk(0) + page - 1) / page * page;
    void * barrier = mmap((void *)end, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* there, if it is free */
    void * block[BLOCKS];
    for (size_t i = 0; i < BLOCKS; ++i) {
        errno = 0;
        block[i] = SimdAllocate(60000, 64);
        TEST(block[i] && errno == 0);
    }
    for (size_t i = 0; i < BLOCKS; ++i)
        SimdFree(block[i]);
    if (barrier != MAP_FAILED)
        munmap(barrier, page);
}

int main(void)
{
    test_alarm();
    if (!emulated() && !SN_SANITIZED) {
        little_space();
        memory_returns();
        chunks_return();
        errno_of_a_heap_that_cannot_grow();
    }
    blocks();
    rounding();
    products();
    scratch();
    arena();
    return test_end();
}
