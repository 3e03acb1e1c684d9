#include "runtime/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "runtime/memory.h"

static SN_PER_THREAD enum sn_error_kind last;

void sn_error_clear(void) { last = SN_ERROR_NONE; }

void sn_error_set(enum sn_error_kind kind, const char * function, const char * format, ...)
{
    char * text = sn_thread_text();
    const size_t size = text ? SN_THREAD_TEXT : 0;
    const int used = snprintf(text, size, "%s: ", function);
    if (used >= 0 && (size_t)used < size) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text + used, size - (size_t)used, format, arguments);
        va_end(arguments);
    }
    last = kind;
    errno = kind == SN_ERROR_MEMORY ? ENOMEM : EINVAL;
}

const char * sn_error_text(void)
{
    if (last == SN_ERROR_NONE)
        return "";
    const char * text = sn_thread_text();
    return text && *text ? text : "there is not enough memory for the text of this error";
}

enum sn_error_kind sn_error_kind(void) { return last; }
