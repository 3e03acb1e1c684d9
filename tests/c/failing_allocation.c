/*
 * Replacements of malloc() and similar functions that count the calls made by one library itself and can make them fail:
 * preloaded (LD_PRELOAD) by tests/test_allocation.py, which compiles this file. Needs glibc, where the original functions
 * have a second name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

void * __libc_malloc(size_t size);
void * __libc_calloc(size_t count, size_t size);
void * __libc_realloc(void * block, size_t size);
void * __libc_memalign(size_t align, size_t size);
void __libc_free(void * block);

static uintptr_t begin, end; /* address range of the library */
static long first, calls;
static int armed, forever;

/* Blocks that the library has allocated. The caller of free() cannot be used: a function that ends with free() jumps
 * there. */
enum { BLOCKS = 4096 };
static void * blocks[BLOCKS];
static long used; /* no entry from here on was ever used */

/* Finds the library that contains this function. */
static int find(struct dl_phdr_info * object, size_t size, void * function)
{
    uintptr_t low = UINTPTR_MAX, high = 0;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; ++i)
        if (object->dlpi_phdr[i].p_type == PT_LOAD) {
            const uintptr_t at = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            low = at < low ? at : low;
            high = at + object->dlpi_phdr[i].p_memsz > high ? at + object->dlpi_phdr[i].p_memsz : high;
        }
    if ((uintptr_t)function < low || (uintptr_t)function >= high)
        return 0;
    begin = low;
    end = high;
    return 1;
}

/* 1 if the library was found. */
int failing_watch(void * function) { return dl_iterate_phdr(find, function); }

/* From now on the n-th allocation fails, and if `for_good` all later ones. */
void failing_arm(long n, int for_good)
{
    first = n;
    forever = for_good;
    __atomic_store_n(&calls, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&armed, 1, __ATOMIC_SEQ_CST);
}

/* Lets allocations succeed again; returns their number. */
long failing_disarm(void)
{
    __atomic_store_n(&armed, 0, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&calls, __ATOMIC_SEQ_CST);
}

static int exchange(long i, void * from, void * to)
{
    return __atomic_compare_exchange_n(&blocks[i], &from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* The number of blocks that the library has allocated and that were not freed. */
long failing_live(void)
{
    long live = 0;
    for (long i = 0; i < BLOCKS; ++i)
        live += __atomic_load_n(&blocks[i], __ATOMIC_SEQ_CST) != NULL;
    return live;
}

static int is_ours(const void * caller) { return (uintptr_t)caller >= begin && (uintptr_t)caller < end; }

static int fails(const void * caller)
{
    if (!is_ours(caller) || !__atomic_load_n(&armed, __ATOMIC_SEQ_CST))
        return 0;
    const long n = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    return n == first || (forever && n > first);
}

static void * counted(void * block, const void * caller)
{
    long i = 0;
    if (!block || !is_ours(caller))
        return block;
    while (!exchange(i, NULL, block))
        if (++i == BLOCKS)
            abort();
    for (long most = __atomic_load_n(&used, __ATOMIC_SEQ_CST); most <= i;)
        __atomic_compare_exchange_n(&used, &most, i + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return block;
}

#define CALLER __builtin_return_address(0)

static void * no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void * malloc(size_t size) { return fails(CALLER) ? no_memory() : counted(__libc_malloc(size), CALLER); }

void * calloc(size_t count, size_t size)
{
    return fails(CALLER) ? no_memory() : counted(__libc_calloc(count, size), CALLER);
}

static void forget(void * block)
{
    const long most = __atomic_load_n(&used, __ATOMIC_SEQ_CST);
    for (long i = 0; block && i < most; ++i)
        if (exchange(i, block, NULL))
            return;
}

void * realloc(void * block, size_t size)
{
    if (fails(CALLER))
        return no_memory();
    forget(block);
    return counted(__libc_realloc(block, size), CALLER);
}

void * aligned_alloc(size_t align, size_t size)
{
    return fails(CALLER) ? no_memory() : counted(__libc_memalign(align, size), CALLER);
}

int posix_memalign(void ** block, size_t align, size_t size)
{
    void * made = fails(CALLER) ? NULL : counted(__libc_memalign(align, size), CALLER);
    if (!made)
        return ENOMEM;
    *block = made;
    return 0;
}

void free(void * block)
{
    forget(block);
    __libc_free(block);
}

/* A thread needs memory for its stack. */
int pthread_create(pthread_t * thread, const pthread_attr_t * attributes, void * (*run)(void *), void * argument)
{
    static int (*create)(pthread_t *, const pthread_attr_t *, void * (*)(void *), void *);
    if (fails(CALLER))
        return EAGAIN;
    if (!create)
        *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, run, argument);
}
