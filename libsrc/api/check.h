/*
 * The checks of public functions.
 *
 * Every public function begins with SN_BEGIN(), or with SN_CALL() of api/call.h if it computes, and then checks its
 * arguments, one SN_CHECK for each condition, before it writes anything. A failed check stores "<function>: <message>" as
 * the thread's last error and returns from the function; the message names the argument, its value and what was expected:
 *
 *     SN_BEGIN();
 *     SN_CHECK(strideY > 0, SN_VOID, "strideY is 0, expected at least 1");
 *
 * A helper that checks for several functions takes the name of the public one as `function` and uses SN_CHECK_FOR.
 */
#ifndef SN_API_CHECK_H
#define SN_API_CHECK_H

#include "api/verbose.h"
#include "runtime/error.h"
#include "runtime/memory.h"
#include "simdnet.h"

/* The first call of the process reads SIMDNET_VERBOSE, and the library may then report its version. */
SN_INLINE void sn_begin_call(void)
{
    sn_error_clear();
    if (!sn_verbose_off())
        sn_verbose();
}

#define SN_BEGIN() sn_begin_call()

/* For the second argument of SN_CHECK in a function that returns nothing. */
#define SN_VOID

#define SN_CHECK_FOR(function, condition, result, ...)                                                                      \
    do {                                                                                                                    \
        if (!(condition)) {                                                                                                 \
            sn_error_set(SN_ERROR_VALUE, function, __VA_ARGS__);                                                            \
            return result;                                                                                                  \
        }                                                                                                                   \
    } while (0)

#define SN_CHECK(condition, result, ...) SN_CHECK_FOR(__func__, condition, result, __VA_ARGS__)

/* An array argument that must not be NULL. */
#define SN_CHECK_POINTER(pointer, result) SN_CHECK(pointer, result, #pointer " is NULL, expected an array")

#endif
