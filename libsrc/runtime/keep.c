/*
 * The weights of a network are some megabytes in dozens of blocks, which every pass reads once. On pages of 4 KB they are
 * more pages than the processor remembers, and what fetches weights in advance stops at the end of each: MobileNetV1 and V2
 * lose 1% to 2% of their time. So blocks of middle size lie behind each other in chunks of large pages. A chunk is only
 * address space until it is written to, and goes when its last block has gone; pages of single blocks go with them.
 *
 * No lock, which a fork could find taken: who cuts a block off the current chunk takes the chunk out meanwhile, and whoever
 * comes at the same time makes a chunk of its own.
 */
#define _DEFAULT_SOURCE /* madvise() */
#include "runtime/keep.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/memory.h"

enum { CHUNK = 32 << 20, LEAST = 64 << 10, MOST = CHUNK / 4 };

struct chunk {
    size_t used; /* bytes from its begin on */
    size_t keepers; /* its blocks, and one while it is current or taken out */
};

/* Before each block, in a line of its own. */
struct label {
    struct chunk * chunk;
    size_t size;
};

static struct chunk * current; /* that blocks are cut off, or NULL; read and written atomically */

static struct chunk * new_chunk(size_t size)
{
    struct chunk * chunk = sn_allocate(size, SN_ALIGN);
    if (chunk)
        *chunk = (struct chunk){SN_ALIGN, 1};
    return chunk;
}

static void leave(struct chunk * chunk)
{
    if (chunk && __atomic_sub_fetch(&chunk->keepers, 1, __ATOMIC_ACQ_REL) == 0)
        sn_free(chunk);
}

static void put_back(struct chunk * chunk)
{
    struct chunk * none = NULL;
    if (!__atomic_compare_exchange_n(&current, &none, chunk, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        leave(chunk);
}

/* A block for who has the chunk alone. */
static void * cut(struct chunk * chunk, size_t size)
{
    uint8_t * block = (uint8_t *)chunk + chunk->used + SN_ALIGN;
    *(struct label *)(block - SN_ALIGN) = (struct label){chunk, size};
    chunk->used += SN_ALIGN + size;
    return block;
}

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* Where the next block of a shared chunk begins, with its label. */
static size_t next_page(const struct chunk * chunk) { return sn_align(chunk->used, page_size()); }

static void * keep_alone(size_t size)
{
    struct chunk * own = new_chunk(2 * SN_ALIGN + size);
    return own ? cut(own, size) : NULL;
}

void * sn_keep(size_t size)
{
    if (size > PTRDIFF_MAX - CHUNK)
        return NULL;
    size = sn_align(size, SN_ALIGN);
    if (size < LEAST || size > MOST || SN_SANITIZED)
        return keep_alone(size);
    struct chunk * chunk = __atomic_exchange_n(&current, NULL, __ATOMIC_ACQ_REL);
    if (chunk && next_page(chunk) + SN_ALIGN + size > CHUNK) {
        leave(chunk);
        chunk = NULL;
    }
    if (!chunk && !(chunk = new_chunk(CHUNK)))
        return keep_alone(size); /* so much address space is not to be had */
    __atomic_fetch_add(&chunk->keepers, 1, __ATOMIC_RELAXED);
    chunk->used = next_page(chunk);
    void * block = cut(chunk, size);
    put_back(chunk);
    return block;
}

/* The pages of a block of a chunk that others keep. */
static void give_back_pages(struct chunk * chunk, uint8_t * block, size_t size)
{
    const size_t begin = (size_t)(block - (uint8_t *)chunk) - SN_ALIGN;
    (void)madvise(block - SN_ALIGN, sn_min(sn_align(begin + SN_ALIGN + size, page_size()), CHUNK) - begin, MADV_DONTNEED);
}

void sn_drop(void * block)
{
    if (!block)
        return;
    const struct label * label = (struct label *)((uint8_t *)block - SN_ALIGN);
    struct chunk * chunk = label->chunk;
    const size_t keepers = __atomic_load_n(&chunk->keepers, __ATOMIC_ACQUIRE);
    /* The last block of a current chunk keeps its pages: who makes contexts one after the other finds them again. */
    if (keepers > 2 || (keepers == 2 && __atomic_load_n(&current, __ATOMIC_RELAXED) != chunk))
        give_back_pages(chunk, block, label->size);
    leave(chunk);
    if (keepers != 2) /* of two, the other one may be `current`: then the chunk is empty, and begins anew */
        return;
    struct chunk * taken = __atomic_exchange_n(&current, NULL, __ATOMIC_ACQ_REL);
    if (taken && __atomic_load_n(&taken->keepers, __ATOMIC_ACQUIRE) == 1)
        taken->used = SN_ALIGN;
    if (taken)
        put_back(taken);
}
