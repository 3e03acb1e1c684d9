/* Texts without stdio streams: what is put together in a buffer, and what is said on stderr. */
#ifndef SN_RUNTIME_TEXT_H
#define SN_RUNTIME_TEXT_H

#include "runtime/common.h"

/* Appends to a text in an array of `size` bytes, cut to what that holds. No fractions: their dot is the locale's. */
void sn_append(char * text, size_t size, const char * format, ...) SN_PRINTF(3, 4);

/*
 * Says "simdnet: " and this on stderr, in one line and by one write: lines of many threads do not mix, control characters in
 * what is quoted become '?', and errno stays as it was.
 */
void sn_say(const char * format, ...) SN_PRINTF(1, 2);

#endif
