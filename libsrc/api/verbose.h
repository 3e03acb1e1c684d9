/*
 * What the library tells about its calls: SIMDNET_VERBOSE, SimdnetSetVerbose(), and the lines and the table that they turn
 * on. Which calls there are is known to api/call.h alone.
 */
#ifndef SN_API_VERBOSE_H
#define SN_API_VERBOSE_H

#include "runtime/common.h"

enum sn_verbose {
    SN_VERBOSE_UNKNOWN = -1, /* the environment has not been asked */
    SN_VERBOSE_OFF = 0,
    SN_VERBOSE_TABLE = 1,    /* calls are counted */
    SN_VERBOSE_LINES = 2     /* and each is a line on stderr */
};

extern SN_HIDDEN int sn_verbose_now; /* an enum sn_verbose, read and written atomically */

/* The one question of a call while nothing is to be told. */
static inline bool sn_verbose_off(void)
{
    return SN_LIKELY(__atomic_load_n(&sn_verbose_now, __ATOMIC_RELAXED) == SN_VERBOSE_OFF);
}

/* What is to be told. The first one who asks has the environment read. */
enum sn_verbose sn_verbose(void);

/* The first level above SN_VERBOSE_OFF has the library introduce itself; the first after that level begins a new table. */
void sn_verbose_set(enum sn_verbose level);

struct sn_told {
    const char * function, * shape, * algorithm, * isa; /* words without blanks */
    size_t threads;
    const char * error; /* NULL for a call that was not refused */
    uint64_t nanoseconds;
};

/* Tells about a call what sn_verbose() asks for. A refused one has its line, but does not count. */
void sn_verbose_tell(const struct sn_told * call);

#endif
