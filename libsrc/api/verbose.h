/*
 * Reports of calls: SIMDNET_VERBOSE, SimdnetSetVerbose(), and the lines and the table that they turn on. api/call.h
 * determines what is a call.
 */
#ifndef SN_API_VERBOSE_H
#define SN_API_VERBOSE_H

#include "runtime/common.h"

enum sn_verbose {
    SN_VERBOSE_UNKNOWN = -1, /* the environment has not been read yet */
    SN_VERBOSE_OFF = 0,
    SN_VERBOSE_TABLE = 1,    /* calls are counted */
    SN_VERBOSE_LINES = 2     /* and each is reported by a line on stderr */
};

extern SN_HIDDEN int sn_verbose_level; /* an enum sn_verbose, read and written atomically */

/* The only check that a call makes while reports are off. */
SN_INLINE bool sn_verbose_off(void)
{
    return SN_LIKELY(__atomic_load_n(&sn_verbose_level, __ATOMIC_RELAXED) == SN_VERBOSE_OFF);
}

/* The level in use. The first call reads the environment. */
enum sn_verbose sn_verbose(void);

/* The first level above SN_VERBOSE_OFF prints a line about the library; turning reports on again begins a new table. */
void sn_verbose_set(enum sn_verbose level);

struct sn_call_record {
    const char * function, * shape, * algorithm, * isa; /* words without blanks */
    size_t threads;
    const char * error; /* NULL unless the call was refused */
    uint64_t nanoseconds;
};

/* Reports a call as the level requires. A refused call has a line, but is not counted in the table. */
void sn_verbose_report(const struct sn_call_record * call);

#endif
