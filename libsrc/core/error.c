#include "core/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static __thread struct {
    enum sn_error_kind kind;
    char text[320];
} last;

void sn_error_clear(void)
{
    last.kind = SN_ERROR_NONE;
    last.text[0] = '\0';
}

void sn_error_set(enum sn_error_kind kind, const char * function, const char * format, ...)
{
    last.kind = kind;
    int used = snprintf(last.text, sizeof(last.text), "%s: ", function);
    if (used >= 0 && (size_t)used < sizeof(last.text)) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(last.text + used, sizeof(last.text) - (size_t)used, format, arguments);
        va_end(arguments);
    }
    errno = kind == SN_ERROR_MEMORY ? ENOMEM : EINVAL;
}

const char * sn_error_text(void) { return last.text; }

enum sn_error_kind sn_error_kind(void) { return last.kind; }
