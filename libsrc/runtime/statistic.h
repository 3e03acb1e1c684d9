/* The table of SimdPerformanceStatistic(): numbers and times of calls. */
#ifndef SN_RUNTIME_STATISTIC_H
#define SN_RUNTIME_STATISTIC_H

#include "runtime/common.h"

/* Counts a call and its time. Calls with the same text, of at most SN_STATISTIC_TEXT bytes, share a row. */
void sn_statistic_add(const char * text, uint64_t nanoseconds);

enum { SN_STATISTIC_TEXT = 640 };

/* Removes all rows. */
void sn_statistic_clear(void);

/* The table as a text in this thread's scratch memory (runtime/memory.h), "" when it has no rows; NULL without memory. */
const char * sn_statistic_text(void);

#endif
