/* Aligned blocks, checked products of sizes, and memory of each thread. */
#ifndef SN_RUNTIME_MEMORY_H
#define SN_RUNTIME_MEMORY_H

#include "runtime/common.h"

/* The alignment of all memory that the library allocates for itself: a cache line, and the widest vector. */
#define SN_ALIGN 64

static inline size_t sn_align(size_t size, size_t align) { return (size + align - 1) & ~(align - 1); }

/*
 * The product of `count` factors as a number of elements: false if so many elements, of up to 8 bytes each, exceed the
 * largest possible array. If any factor is 0, so is the product.
 */
bool sn_product_of(size_t * product, const size_t * factors, size_t count);

#define sn_product(product, ...)                                                                                            \
    sn_product_of(product, (const size_t[]){__VA_ARGS__}, sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))

/* Blocks aligned to `align`, a power of two; NULL if there is no memory. */
void * sn_allocate(size_t size, size_t align);
void sn_free(void * block);

/*
 * At least `size` bytes for this thread alone, aligned to SN_ALIGN, valid until its next call of sn_scratch; NULL if there
 * is no memory. The block only grows, so repeated calls allocate nothing; it is freed when the thread ends.
 */
void * sn_scratch(size_t size);

/*
 * SN_THREAD_TEXT bytes for this thread alone, "" at first, always at the same address; NULL if there is no memory. They are
 * freed when the thread ends.
 */
char * sn_thread_text(void);

enum { SN_THREAD_TEXT = 320 };

#endif
