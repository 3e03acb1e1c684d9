/* The last error of each thread: a message and its kind. The kind needs no memory; if there is none for the message, a
 * constant message reports that. */
#ifndef SN_RUNTIME_ERROR_H
#define SN_RUNTIME_ERROR_H

#include "runtime/common.h"

/* The values of SimdnetLastErrorKind(). */
enum sn_error_kind { SN_ERROR_NONE = 0, SN_ERROR_VALUE = 1, SN_ERROR_MEMORY = 2, SN_ERROR_STATE = 3 };

void sn_error_clear(void);

/*
 * Stores "<function>: <message>", truncated to SN_THREAD_TEXT bytes, and sets errno to EINVAL or ENOMEM. Nothing resets
 * errno before the public function returns, so a caller that set it to 0 and finds 0 need not read the last error.
 */
void sn_error_set(enum sn_error_kind kind, const char * function, const char * format, ...) SN_PRINTF(3, 4);

const char * sn_error_text(void);
enum sn_error_kind sn_error_kind(void);

#endif
