/*
 * The checker: every instruction set of this machine against `base`, on the public functions.
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
 * Arrays are declared in any order, once each, under the name that the header gives the argument; a[i] is the i-th
 * declared. A context is made by an `open` function, see check_open().
 *
 * What check_run() does: for base and for each level it places every array three times (ending at an unreadable page;
 * beginning behind one; at any of 64 bytes of a page, between canaries, and then with caches that seem small, which cuts
 * work into other blocks and streams results past them), gives dst a different dirt each time, leaves an error text behind,
 * and calls; under --threads by several threads but for the first place. Then it verifies that src and canaries are
 * untouched, that the error text is empty, that finite arrays have raised no floating-point exceptions but where base does,
 * that the result agrees with base's (by default to the bit), and that the three results have the same bits. A crash is
 * reported and counted as a failure of the case. Every failure prints a command line that repeats it.
 *
 * So what a family computes from a[i] itself it reads as sn_32f. Arrays of pointers, of sizes, and structs are not data:
 * they belong to the job, with the alignment of their type.
 *
 * Random numbers depend on the seed, the function and the geometry text only, so that text must tell everything that
 * matters; a case that is left out by --function or --case does not change the others. For random geometries use
 * check_random(), and check_count() for how many; let fixed ones cover: every tail (sizes 0 .. 2 vectors + 1), multiples of
 * vector and tile and their neighbours, every format, every fill.
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

/* What an array of a case holds. For CHECK_8U the float fills have the nearest meaning that bytes can have. */
enum check_fill {
    CHECK_RANDOM,   /* -1 .. 1; all bytes */
    CHECK_LARGE,    /* alternately +-1e30; 0 and 255 */
    CHECK_DENORMAL, /* denormals, zeros and the smallest normals of both signs */
    CHECK_EQUAL,    /* one value everywhere */
    CHECK_TIES,     /* -2 .. 2 in halves, both zeros */
    CHECK_INF,      /* random, every 5th or so an infinity */
    CHECK_NAN,      /* random, every 5th or so a NaN or an infinity */
    CHECK_FILLS,    /* the number of the above; CHECK_INF is the number of those that are finite */
    CHECK_ZERO
};

/* Freedoms of an exact comparison, see check_exact(). */
enum { CHECK_NAN_FREE = 1, CHECK_ZERO_FREE = 2 };

typedef void (*check_call_fn)(const void * job, void * context, void * const * a);
typedef void * (*check_open_fn)(const void * job, void * const * a);

/* Begins the function that runs a family's cases. The Makefile collects these lines: there is no other list. */
#define CHECK_FAMILY(name)                                                                                                  \
    void check_##name(void);                                                                                                \
    void check_##name(void)

/* ---- describing a case */

/* Begins a case: the public function and its geometry, which ends up in reports and seeds the data. False when the options
 * leave the case out: nothing more need be done for it, and no bound may be computed (see check_bound()). */
bool check_case(const char * function, const char * geometry, ...) __attribute__((format(printf, 2, 3)));

/* Declare the next array of the case. The result is its content, which may be changed before check_run(). */
void * check_in(const char * name, enum check_type type, size_t count, enum check_fill fill);    /* read only */
void * check_inout(const char * name, enum check_type type, size_t count, enum check_fill fill); /* read, then written */
void check_out(const char * name, enum check_type type, size_t count);                           /* written only */

/* The array declared last may be NULL: check_refused_null() leaves it alone. */
void check_optional(void);

/* How the results are held against base's; one of them, the default is check_exact(0). */
void check_exact(int freedoms);    /* to the bit; CHECK_NAN_FREE: any NaN for a NaN; CHECK_ZERO_FREE: 0 for -0 */
void check_ulp(double ulp);        /* within so many units in the last place; NaN for NaN, infinity for the same one */
void check_bytes_within(int n);    /* integers: within n */
void check_anything(void);         /* not compared: only memory, errors and the same bits at every place */

/* Within |bound[i]| of base, for the output declared last; the family fills the array it gets, in double. A result where
 * base has an infinity or a NaN must be that. An infinite bound is for terms that are not finite: the rest is then held to
 * that, and a finite result (an activation's limit) to 4 units in the last place. Where the bound is NaN, anything goes.
 * Bounds take longer than all else that prepares a case: one for a case that is left out ends the checker. */
double * check_bound(void);

/* The case may raise floating-point exceptions: a parameter that is no array is not finite, or what comes of it is not. */
void check_raises(void);

/* The case works on a context: open() makes it (SetParams included), once for each placement; NULL is a failure. It is
 * released after the call by SimdRelease(). */
void check_open(check_open_fn open);

/* ---- running it */

void check_run(check_call_fn call, const void * job);

/* The call must be refused: outputs untouched, SimdnetLastErrorKind() == kind, and a text that names the function and
 * `argument`. With call NULL it is the open function that must refuse, with NULL. */
enum { CHECK_VALUE = 1, CHECK_MEMORY = 2, CHECK_STATE = 3 };
void check_refused(int kind, const char * argument, check_call_fn call, const void * job);

/* check_refused() with a NULL in place of each declared array in turn. */
void check_refused_null(check_call_fn call, const void * job);

/* With NULL in place of all arrays the call must succeed: for outputs of zero elements. */
void check_empty(check_call_fn call, const void * job);

/* Times the call on each level under --bench, and does nothing otherwise. flops and bytes are what one call does and moves;
 * 0 for what is of no interest. In --bench, check_run() and the others do nothing: the family's function calls this too. */
void check_bench(check_call_fn call, const void * job, double flops, double bytes);

/* For use inside a call: bytes that lie as the case's arrays do, are floats of signaling NaNs, and live until the call's
 * end. */
void * check_buffer(size_t bytes);

/* A condition that a family's own test has computed, counted as a case; the text tells what went wrong. */
void check_that(bool condition, const char * function, const char * text, ...) __attribute__((format(printf, 3, 4)));

/* False when --function leaves out this one: what check_that() would be given need not be computed. */
bool check_selected(const char * function);

/* ---- for choosing geometries */

/* True when the slow cases are to be left out (under emulators and sanitizers). */
bool check_quick(void);

/* The number of random cases to draw where `usual` are usual; --count and --quick change it. */
size_t check_count(size_t usual);

/* low .. high, from the family's own stream. */
size_t check_random(size_t low, size_t high);
float check_random_32f(float low, float high);

const char * check_fill_name(enum check_fill fill);
const char * check_format_name(SimdTensorFormatType format);

#endif
