/* Blocks that are used for a long time and read often: the packed weights of contexts. */
#ifndef SN_RUNTIME_ARENA_H
#define SN_RUNTIME_ARENA_H

#include "runtime/common.h"

/* Whether AddressSanitizer checks the bounds of blocks: then each block has its own allocation. */
#if defined(__SANITIZE_ADDRESS__)
#define SN_SANITIZED true
#elif defined(__clang__)
#define SN_SANITIZED __has_feature(address_sanitizer)
#else
#define SN_SANITIZED false
#endif

/* A block aligned to SN_ALIGN, NULL if there is no memory. sn_arena_free() frees it, from any thread, and accepts NULL. */
void * sn_arena_allocate(size_t size);
void sn_arena_free(void * block);

/* Another owner of the block, which is freed when each has called sn_arena_free(). Returns the block. */
void * sn_arena_share(void * block);

#endif
