#define _DEFAULT_SOURCE /* madvise() */
#include "runtime/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

bool sn_product_of(size_t * product, const size_t * factors, size_t count)
{
    const size_t limit = PTRDIFF_MAX / 8;
    *product = 1;
    for (size_t i = 0; i < count; ++i)
        if (factors[i] == 0) {
            *product = 0;
            return true;
        }
    for (size_t i = 0; i < count; ++i) {
        if (factors[i] > limit / *product)
            return false;
        *product *= factors[i];
    }
    return true;
}

/*
 * errno stays the same on success: malloc() of glibc sets it where the heap cannot grow and other memory is used.
 *
 * Large blocks request large pages (madvise): every Forward reads all packed weights, and pages of 4 KB in place of 2 MB
 * make a network with many weights 3% slower (ResNet-18).
 */
enum { LARGE_PAGE = 2 << 20 };

void * sn_allocate(size_t size, size_t align)
{
    align = sn_max(align, sizeof(void *));
    if (align > PTRDIFF_MAX || size > PTRDIFF_MAX - sn_max(align, LARGE_PAGE))
        return NULL;
    const int before = errno;
    void * block;
    size = sn_align(size, align);
    if (posix_memalign(&block, size < LARGE_PAGE ? align : sn_max(align, LARGE_PAGE), size) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (size >= LARGE_PAGE)
        (void)madvise(block, size, MADV_HUGEPAGE); /* a hint: without it the pages are small */
#endif
    errno = before;
    return block;
}

void sn_free(void * block) { free(block); }

/* The memory of a thread: the value of a thread-specific key, whose destructor frees it. */
struct thread_memory {
    size_t size; /* of the scratch block */
    void * scratch;
    char text[SN_THREAD_TEXT];
};

static pthread_key_t key;
static bool key_made;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void thread_memory_free(void * value)
{
    struct thread_memory * memory = value;
    sn_free(memory->scratch);
    free(memory);
}

static void make_key(void) { key_made = pthread_key_create(&key, thread_memory_free) == 0; }

/* The destructor of another key may run after ours and allocate this again; our destructor then runs once more. */
static struct thread_memory * memory_of_thread(void)
{
    pthread_once(&key_once, make_key);
    if (!key_made)
        return NULL;
    struct thread_memory * memory = pthread_getspecific(key);
    if (!memory) {
        const int before = errno;
        memory = calloc(1, sizeof(*memory));
        if (memory && pthread_setspecific(key, memory) != 0) {
            free(memory);
            memory = NULL;
        }
        errno = before;
    }
    return memory;
}

void * sn_scratch(size_t size)
{
    struct thread_memory * memory = memory_of_thread();
    if (!memory)
        return NULL;
    if (memory->size < size || !memory->scratch) {
        void * block = sn_allocate(size, SN_ALIGN);
        if (!block)
            return NULL;
        sn_free(memory->scratch);
        memory->scratch = block;
        memory->size = size;
    }
    return memory->scratch;
}

char * sn_thread_text(void)
{
    struct thread_memory * memory = memory_of_thread();
    return memory ? memory->text : NULL;
}
