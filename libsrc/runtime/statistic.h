/* The table of SimdPerformanceStatistic(): how often each kind of call was made, and how long it took. */
#ifndef SN_RUNTIME_STATISTIC_H
#define SN_RUNTIME_STATISTIC_H

#include "runtime/common.h"

/* Counts a call that took so many nanoseconds. Calls with the same text, of `SN_STATISTIC_TEXT` bytes at most,
 * share a row. */
void sn_statistic_add(const char * text, uint64_t nanoseconds);

enum { SN_STATISTIC_TEXT = 640 };

/* Begins a new table. */
void sn_statistic_clear(void);

/* The table as a text in this thread's scratch memory (runtime/memory.h), "" when it has no rows; NULL without memory. */
const char * sn_statistic_text(void);

#endif
