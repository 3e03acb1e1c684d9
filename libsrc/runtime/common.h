/* Basic macros and functions for every file: attributes, loops, minima of sizes. Includes no other header of ours. */
#ifndef SN_RUNTIME_COMMON_H
#define SN_RUNTIME_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(__GNUC__)
#error "simdnet needs gcc or clang"
#endif

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "simdnet needs IEEE arithmetic: no -ffast-math, no -Ofast"
#endif

/* For functions of the vector vocabulary, and for templates whose constant arguments must reach the innermost loop. */
#define SN_INLINE static inline __attribute__((always_inline, unused))

/*
 * Unrolls the loop that follows completely; its trip count must be a constant. Register tiles are arrays that the compiler
 * keeps in registers only if *every* loop over them has this macro: one missing, even in an epilogue, makes code 3 to 10
 * times slower.
 */
#if defined(__clang__)
#if __has_feature(address_sanitizer)
#define SN_UNROLL /* instrumented, the unrolled tiles would take minutes to compile */
#else
#define SN_UNROLL _Pragma("clang loop unroll(full)")
#endif
#else
#define SN_UNROLL _Pragma("GCC unroll 64")
#endif

/* Bytes of a cache line on every processor we know. */
enum { SN_LINE = 64 };

/* Prefetches the cache line of an address into the L2 cache; any address is allowed. */
#define SN_PREFETCH(p) __builtin_prefetch((const void *)(p), 0, 2)

/* For arrays on the stack from which vectors are loaded: a load across two cache lines costs as much as two loads. */
#define SN_ALIGNED __attribute__((aligned(64)))

/*
 * Elements of the caller's arrays, which may start at any byte address: pointers have these types, so that the compiler
 * assumes no alignment. Otherwise they are the types of the public functions (float, uint16_t). All pointers to floats
 * have this type, also those to the library's own memory: functions accept both, and gcc does not warn about mixing them.
 */
typedef float sn_32f __attribute__((aligned(1)));
typedef uint16_t sn_16b __attribute__((aligned(1)));
typedef int32_t sn_32i __attribute__((aligned(1)));
typedef int64_t sn_64i __attribute__((aligned(1)));
typedef uint64_t sn_64u __attribute__((aligned(1)));

/* For a condition that is nearly always true. */
#define SN_LIKELY(condition) __builtin_expect((condition) != 0, 1)

/* For a variable that several files share: it is accessed without the global offset table. */
#define SN_HIDDEN __attribute__((visibility("hidden")))

/*
 * For a thread-local variable: it is in the static TLS block, which exists when a thread starts. With the default TLS model
 * and a library opened by dlopen(), glibc allocates the block when a thread first uses it, and ends the process if there is
 * no memory. Static TLS is small: all such variables together have 16 bytes. musl allocates the blocks of all threads in
 * dlopen(), and refuses to open a library that needs static TLS.
 */
#if defined(__GLIBC__)
#define SN_PER_THREAD __thread __attribute__((tls_model("initial-exec")))
#else
#define SN_PER_THREAD __thread
#endif

#define SN_PRINTF(text, first) __attribute__((format(printf, text, first)))

#define SN_JOIN2_(a, b) a##b
#define SN_JOIN2(a, b) SN_JOIN2_(a, b)
#define SN_JOIN3(a, b, c) SN_JOIN2(SN_JOIN2(a, b), c)
#define SN_STRING_(a) #a
#define SN_STRING(a) SN_STRING_(a)

/* A statement for each i < n, in chunks of a constant size, which compilers make vectors of. */
#define SN_FOR_EACH(n, statement)                                                                                           \
    do {                                                                                                                    \
        enum { SN_CHUNK = 32 };                                                                                             \
        size_t i = 0;                                                                                                       \
        for (size_t end = SN_CHUNK; end <= (n); end += SN_CHUNK)                                                            \
            for (size_t k = 0; k < SN_CHUNK; ++k, ++i)                                                                      \
                statement;                                                                                                  \
        for (; i < (n); ++i)                                                                                                \
            statement;                                                                                                      \
    } while (0)

static inline size_t sn_min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t sn_max(size_t a, size_t b) { return a > b ? a : b; }
static inline size_t sn_ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }

/* The greatest common divisor. */
static inline size_t sn_divisor(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
