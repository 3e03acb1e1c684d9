/*
 * The program of coverage-guided fuzzing: libFuzzer's bytes become calls of the public functions, each with its arrays.
 *
 * An execution runs one target three times with the same bytes: on level `base`, on another level of this machine, and on that
 * level again with the arrays at other addresses and caches that seem small. Every array has exactly the documented size; it
 * ends, or in the last run begins, at an inaccessible page. After each call the frame verifies that
 *
 *   - a refused call has a sentence that begins with its name, and has written nothing
 *   - an accepted call has no error, and none of its arrays has a size that no memory can have
 *   - sources and the bytes beside arrays are unchanged
 *   - all levels accept and refuse the same
 *   - results agree with base's by the rule of the target, and the two runs of a level have the same bits
 *
 * and ends the program, with the text of the call, if not. Bounds of floats are wide here: the checker has the tight ones.
 *
 * A target reads its bytes, declares arrays and calls functions by CALL() and OPEN(). It must do the same in all three runs.
 */
#ifndef SN_FUZZ_H
#define SN_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simdnet.h"

enum fuzz_type { F32, B16, U8, I8, I32, I64, TYPES };

struct fuzz_target {
    const char * name;
    void (*run)(void);
};

/* functions.c, layers.c and contexts.c (with convolutions.c); each list ends with a NULL. */
extern const struct fuzz_target fuzz_functions[], fuzz_layers[], fuzz_contexts[];

/* ---- bytes; zeros behind the last one */

uint8_t fuzz_byte(void);
size_t fuzz_pick(size_t low, size_t high); /* low .. high, from one byte */
bool fuzz_chance(void);                    /* a bit of a byte */
/* Usually 1 .. high; sometimes 0, or a size that no array can have. */
size_t fuzz_size(size_t high);
/* A parameter that is a number: of usual ones, or, with wild contents, not finite. */
float fuzz_number(void);
/* One of the first `usual` enumerators, sometimes another number. */
int fuzz_enum(size_t usual);

/* A product that is SIZE_MAX if it does not fit, 0 if any factor is. */
size_t fuzz_cells(const size_t * n, size_t count);
#define CELLS(...) fuzz_cells((const size_t[]){__VA_ARGS__}, sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))
/* Elements from the first to the last one of `rows` rows of `row` elements, `stride` apart. */
size_t fuzz_span(size_t rows, size_t stride, size_t row);

/* ---- arrays; sometimes the result is NULL */

void * fuzz_in(enum fuzz_type type, size_t count);
void * fuzz_inout(enum fuzz_type type, size_t count);
void * fuzz_out(enum fuzz_type type, size_t count);
void * fuzz_scratch(size_t bytes);       /* its content after the call does not matter; NULL if there is not that much */
const float * fuzz_scalar(float number); /* an array of one number */
void * fuzz_given(const void * content, enum fuzz_type type, size_t count); /* an array with this content */
/* Sometimes the source that was declared last, if it has this size: for functions that work in place. */
void * fuzz_out_or_source(enum fuzz_type type, size_t count);

/* ---- comparison with base: exact, unless one of these is called in the target. Exact means that any NaN equals a NaN, and 0
 * equals -0. */

void fuzz_close(void);              /* floats: near, if the contents are finite numbers of ordinary size */
void fuzz_near(double relative);    /* the same with this error relative to the largest result */
void fuzz_within_one(void);         /* integers: by 1; floats: near */
void fuzz_anything(void);           /* not compared with base */
void fuzz_padded(void);             /* infinite weights times padding: NaN or left out, as an algorithm cuts its work */
bool fuzz_wild(void);               /* contents and numbers may be infinite, NaN, huge or denormal */

/* ---- calls */

void fuzz_before(const char * function);
bool fuzz_after(void); /* whether it was accepted */
bool fuzz_possible(void); /* every array that was declared has memory; for calls of contexts, which know sizes from Init */
void fuzz_opened(const void * context);
void fuzz_result(size_t result); /* a result that all levels must have */

#define CALL(function, ...) (fuzz_before(#function), function(__VA_ARGS__), (void)fuzz_after())
#define OPEN(context, function, ...) (fuzz_before(#function), (context) = function(__VA_ARGS__), fuzz_opened(context))

#endif
