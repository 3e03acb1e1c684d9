#include "runtime/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/os.h"

void sn_append(char * text, size_t size, const char * format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void sn_message(const char * format, ...)
{
    const int before = errno;
    char line[1200] = "simdnet: ";
    const size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, sizeof(line) - used - 1, format, arguments);
    va_end(arguments);
    const size_t length = strlen(line);
    for (size_t i = used; i < length; ++i)
        if ((unsigned char)line[i] < ' ' || line[i] == 127)
            line[i] = '?';
    line[length] = '\n';
    sn_os_write_error(line, length + 1);
    errno = before;
}
