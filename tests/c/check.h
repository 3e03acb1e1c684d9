/*
 * The checker: compares every instruction set of this machine with `base`, through the public functions.
 *
 * How to write check_<family>.c:
 *
 *     struct relu { size_t size; float slope; };
 *
 *     static void relu(const void * job, void * context, void * const * a)
 *     {
 *         const struct relu * r = job;
 *         SimdSynetRelu32f(a[0], r->size, &r->slope, a[1]);
 *     }
 *
 *     static void relu_case(size_t size, float slope, enum check_fill fill)
 *     {
 *         const struct relu job = {size, slope};
 *         if (!check_case("SimdSynetRelu32f", "size=%zu slope=%g %s", size, slope, check_fill_name(fill)))
 *             return;
 *         check_in("src", CHECK_32F, size, fill);
 *         check_out("dst", CHECK_32F, size);
 *         check_ulp(1);
 *         check_run(relu, &job);
 *     }
 *
 *     CHECK_FAMILY(activation)
 *     {
 *         ... calls relu_case() for the sizes, slopes and fills that matter ...
 *     }
 *
 * Arrays are declared in any order, once each, under the name of the argument in the header; a[i] is the i-th declared
 * array. A context is created by an `open` function, see check_open().
 *
 * What check_run() does: for base and for each level it places every array three times (ending at an inaccessible page;
 * beginning after one; at any of 64 byte offsets in a page, between canaries, where the caches are also reported as small,
 * so that work is cut into different blocks and results are written with streaming stores). Before each call it fills dst
 * with a different pattern, the memory that the library works in with signaling NaNs, and sets an error text. With --threads, calls
 * use several threads, except at the first place. Then it verifies that src and canaries are unchanged, that the error text is
 * empty, that finite arrays raised no floating-point exceptions, that the result agrees with base's (bit for bit by default), and
 * that the three results are bit-identical. A crash is reported and counted as a failure of the case. Every failure prints a
 * command line that repeats it.
 *
 * A family that computes with a[i] itself must therefore read it as sn_32f (unaligned). Arrays of pointers, arrays of sizes,
 * and structs are not data: they belong to the job and have the alignment of their type.
 *
 * Random numbers depend only on the seed, the function and the geometry text, so that text must contain everything that
 * matters; a case that is left out by --function or --case does not change the others. Random geometries come from
 * check_random(), their number from check_count(). Fixed geometries should cover every tail (sizes 0 .. 2 vectors + 1),
 * multiples of vectors and tiles and their neighbours, every format, every fill.
 */
#ifndef SN_CHECK_H
#define SN_CHECK_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "runtime/common.h"
#include "runtime/numeric.h"
#include "simdnet.h"

enum check_type { CHECK_32F, CHECK_16B, CHECK_8U, CHECK_32I };

/* Contents of the arrays of a case. For CHECK_8U, a float fill means the closest equivalent in bytes. */
enum check_fill {
    CHECK_RANDOM,   /* -1 .. 1; all bytes */
    CHECK_LARGE,    /* alternately +-1e30; 0 and 255 */
    CHECK_DENORMAL, /* denormals, zeros and the smallest normals of both signs */
    CHECK_EQUAL,    /* one value everywhere */
    CHECK_TIES,     /* -2 .. 2 in halves, both zeros */
    CHECK_INF,      /* random, about every 5th an infinity */
    CHECK_NAN,      /* random, about every 5th a NaN or an infinity */
    CHECK_FILLS,    /* number of fills; the fills before CHECK_INF are finite */
    CHECK_ZERO
};

/* Differences that an exact comparison allows, see check_exact(). */
enum { CHECK_NAN_FREE = 1, CHECK_ZERO_FREE = 2 };

typedef void (*check_call_fn)(const void * job, void * context, void * const * a);
typedef void * (*check_open_fn)(const void * job, void * const * a);

/* Begins the function that runs a family's cases. The Makefile collects these lines; there is no other list of families. */
#define CHECK_FAMILY(name)                                                                                                  \
    void check_##name(void);                                                                                                \
    void check_##name(void)

/* ---- describing a case */

/* Begins a case: the public function and its geometry, which appears in reports and seeds the data. Returns false if the
 * options leave the case out: the caller then returns, and must not compute a bound (see check_bound()). */
bool check_case(const char * function, const char * geometry, ...) __attribute__((format(printf, 2, 3)));

/* Declare the next array of the case. The result is its content, which may be changed before check_run(). */
void * check_in(const char * name, enum check_type type, size_t count, enum check_fill fill);    /* read only */
void * check_inout(const char * name, enum check_type type, size_t count, enum check_fill fill); /* read, then written */
void check_out(const char * name, enum check_type type, size_t count);                           /* written only */

/* The array declared last may be NULL: check_refused_null() skips it. */
void check_optional(void);

/* How results are compared with base's. At most one of these per case; the default is check_exact(0). */
void check_exact(int freedoms);    /* bit for bit; CHECK_NAN_FREE: any NaN equals a NaN; CHECK_ZERO_FREE: 0 equals -0 */
void check_ulp(double ulp);        /* at most `ulp` units in the last place; NaN for NaN, infinity for the same infinity */
void check_bytes_within(int n);    /* integers: difference at most n */
void check_anything(void);         /* no comparison: checks only memory, errors, and identical bits at every place */

/* Error at most |bound[i]|, for the output declared last; the family fills the returned array, in double. Where base has an
 * infinity or a NaN, the result must be the same. An infinite bound is for terms that are not finite: then only infinities
 * and NaNs must agree, and a finite result (an activation's limit) may differ by 4 units in the last place. Where the bound
 * is NaN, any result is accepted. Bounds take longer to compute than the rest of a case, so requesting one for a case that
 * is left out ends the checker. */
double * check_bound(void);

/* The case may raise floating-point exceptions: a scalar parameter, or something computed from one, is not finite. */
void check_raises(void);

/* The formula itself may raise them for finite numbers: the root of a negative one. A level may raise some where base does. */
void check_raises_like_base(void);

/* The case works on a context: open() creates it (SetParams included), once for each placement; NULL is a failure. After the
 * call, SimdRelease() frees it. */
void check_open(check_open_fn open);

/* ---- running it */

void check_run(check_call_fn call, const void * job);

/* The call must be refused: outputs unchanged, SimdnetLastErrorKind() == kind, and a text that contains the function's name
 * and `argument`. If `call` is NULL, the open function must refuse, by returning NULL. */
enum { CHECK_VALUE = 1, CHECK_MEMORY = 2, CHECK_STATE = 3 };
void check_refused(int kind, const char * argument, check_call_fn call, const void * job);

/* check_refused() once for each declared array, with NULL in its place. */
void check_refused_null(check_call_fn call, const void * job);

/* The call must be refused if a result overlaps another array by one byte at either end, or begins where it does (if it may
 * be a source of its size, `in_place`, a byte behind that), and succeed if it is adjacent. Arrays of one element are taken
 * for single numbers, which are not checked. */
void check_refused_overlap(bool in_place, check_call_fn call, const void * job);

/* The call must succeed with NULL in place of all arrays: for outputs of zero elements. */
void check_empty(check_call_fn call, const void * job);

/* With --bench, times the call on each level; otherwise does nothing. flops and bytes are the work and the memory traffic of
 * one call, 0 if irrelevant. With --bench, check_run() and the others do nothing, so a family's function calls this one in
 * addition, if check_timed(). */
void check_bench(check_call_fn call, const void * job, double flops, double bytes);

/* For use inside a call: memory placed like the case's arrays, filled with signaling float NaNs, valid until the call ends.
 * */
void * check_buffer(size_t bytes);

/* True if two results of one level have the same bits. Any NaN equals a NaN: the sign and payload of a sum or product of NaNs
 * depend on the order of the operands, which compilers may exchange. */
bool check_same(enum check_type type, const void * a, const void * b, size_t count);

/* A condition that a family's own test has computed, counted as a case; the text describes the failure. */
void check_that(bool condition, const char * function, const char * text, ...) __attribute__((format(printf, 3, 4)));

/* False if --function leaves this one out: the arguments of check_that() need not be computed. */
bool check_selected(const char * function);

/* ---- choice of geometries */

/* True with --bench: without it, the cases of benchmarks need not even be declared. */
bool check_timed(void);

/* True if slow cases are to be left out (under emulators and sanitizers). */
bool check_quick(void);

/* True if results that must have the same bits are to be computed in more ways than usual. */
bool check_repeated(void);

/* The number of random cases to draw: `usual`, unless --count or --quick changes it. */
size_t check_count(size_t usual);

/* A random number of low .. high, from the family's own stream. */
size_t check_random(size_t low, size_t high);

/* A random size of 1 .. high, two thirds of them at most 67: all tails, and all sizes of a few vectors. */
size_t check_random_size(size_t high);
float check_random_32f(float low, float high);

const char * check_fill_name(enum check_fill fill);
const char * check_format_name(SimdTensorFormatType format);

#endif
