/* The last error of each thread: one sentence and its kind. The kind needs no memory; without any, the sentence is that. */
#ifndef SN_RUNTIME_ERROR_H
#define SN_RUNTIME_ERROR_H

#include "runtime/common.h"

/* The values of SimdnetLastErrorKind(). */
enum sn_error_kind { SN_ERROR_NONE = 0, SN_ERROR_VALUE = 1, SN_ERROR_MEMORY = 2, SN_ERROR_STATE = 3 };

void sn_error_clear(void);

/*
 * Stores "<function>: <sentence>", cut to what the text holds, and sets errno to EINVAL or ENOMEM: it is there when the
 * public function returns, since nothing sets it to 0, so who finds a 0 need not ask for the last error.
 */
void sn_error_set(enum sn_error_kind kind, const char * function, const char * format, ...) SN_PRINTF(3, 4);

const char * sn_error_text(void);
enum sn_error_kind sn_error_kind(void);

#endif
