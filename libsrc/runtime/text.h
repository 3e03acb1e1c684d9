/* Text without stdio streams: formatting into a buffer, and messages on stderr. */
#ifndef SN_RUNTIME_TEXT_H
#define SN_RUNTIME_TEXT_H

#include "runtime/common.h"

/* Appends to a text in an array of `size` bytes and truncates it to fit. Not for fractions: the locale sets their dot. */
void sn_append(char * text, size_t size, const char * format, ...) SN_PRINTF(3, 4);

/*
 * Writes "simdnet: " and this message to stderr as one line, by one write(), so that lines of several threads do not mix.
 * Control characters become '?', and errno does not change.
 */
void sn_message(const char * format, ...) SN_PRINTF(1, 2);

#endif
