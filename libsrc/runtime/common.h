/* Small things every file may use: attributes, loop pragmas, minima of sizes. No other header of ours is needed for it. */
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

/* For the words of the vocabulary and for templates whose constant arguments must reach the innermost loop. */
#define SN_INLINE static inline __attribute__((always_inline, unused))

/*
 * Unrolls the loop that follows completely; its trip count must be a constant. Register tiles are arrays that the compiler
 * keeps in registers only when *every* loop over them carries this: one missing, even in an epilogue, costs 3 to 10 times.
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

/* Fetches the cache line of an address, which may be any, into the second cache. */
#define SN_PREFETCH(p) __builtin_prefetch((const void *)(p), 0, 2)

/* For arrays on the stack that vectors are loaded from: a load across two cache lines costs as much as two. */
#define SN_ALIGNED __attribute__((aligned(64)))

/*
 * Elements of the caller's arrays, which may lie at any byte address: pointers have these types, so that the compiler counts
 * on no alignment. But for that they are the types of the public functions, float and uint16_t. All pointers to floats are
 * written so, those to memory of the library too: nobody has to know whose array it is, and gcc warns of no mix.
 */
typedef float sn_32f __attribute__((aligned(1)));
typedef uint16_t sn_16b __attribute__((aligned(1)));

/* What a condition nearly always is. */
#define SN_LIKELY(condition) __builtin_expect((condition) != 0, 1)

/* For a variable that several files share: it is reached without the table of what other libraries may replace. */
#define SN_HIDDEN __attribute__((visibility("hidden")))

/*
 * For a variable that each thread has for itself: it lies in the block that a thread begins with. The usual kind lies in a
 * block that is allocated when a thread first uses it, if the library was opened by dlopen(), and without memory for that
 * the process ends. There is little room in the former: 16 bytes for all such variables together.
 */
#define SN_PER_THREAD __thread __attribute__((tls_model("initial-exec")))

#define SN_PRINTF(text, first) __attribute__((format(printf, text, first)))

#define SN_JOIN2_(a, b) a##b
#define SN_JOIN2(a, b) SN_JOIN2_(a, b)
#define SN_JOIN3(a, b, c) SN_JOIN2(SN_JOIN2(a, b), c)
#define SN_STRING_(a) #a
#define SN_STRING(a) SN_STRING_(a)

static inline size_t sn_min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t sn_max(size_t a, size_t b) { return a > b ? a : b; }
static inline size_t sn_ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }

#endif
