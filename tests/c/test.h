/* For the small test programs: TEST() checks a condition, test_end() prints how many hold. */
#ifndef SN_TEST_H
#define SN_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#include "simdnet.h"

static int test_passed, test_failed;

#define TEST(condition)                                                                                                     \
    do {                                                                                                                    \
        if (condition) {                                                                                                    \
            ++test_passed;                                                                                                  \
        } else {                                                                                                            \
            ++test_failed;                                                                                                  \
            printf("FAIL %s:%d: %s   (last error: \"%s\")\n", __FILE__, __LINE__, #condition, SimdnetLastError());          \
        }                                                                                                                   \
    } while (0)

/* The last call was refused with this kind of error and a text that contains `word`. */
#define TEST_REFUSED(kind, word)                                                                                            \
    TEST(SimdnetLastErrorKind() == (kind) && strstr(SimdnetLastError(), word) != NULL)

#define TEST_NO_ERROR() TEST(SimdnetLastErrorKind() == 0 && SimdnetLastError()[0] == '\0')

/* Ends a test that hangs, which is then a failure: no test takes this long, even under an emulator or a sanitizer. Under Wine,
 * the Makefile does that. */
static inline void test_alarm(void)
{
#ifndef _WIN32
    alarm(600);
#endif
}

static inline int test_end(void)
{
    printf("%d passed, %d failed\n", test_passed, test_failed);
    return test_failed != 0;
}

#endif
