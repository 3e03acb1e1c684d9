/* Blocks that are kept for long and read often: the packed weights of contexts. */
#ifndef SN_RUNTIME_KEEP_H
#define SN_RUNTIME_KEEP_H

#include "runtime/common.h"

/* Whether a sanitizer watches the ends of blocks: then each is one of its own. */
#if defined(__SANITIZE_ADDRESS__)
#define SN_SANITIZED true
#elif defined(__clang__)
#define SN_SANITIZED __has_feature(address_sanitizer)
#else
#define SN_SANITIZED false
#endif

/* A block aligned to SN_ALIGN, NULL when there is no memory; sn_drop() frees it, NULL too, from any thread. */
void * sn_keep(size_t size);
void sn_drop(void * block);

#endif
