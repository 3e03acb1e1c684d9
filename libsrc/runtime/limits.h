/* The number of processors that this process may use. The system's settings are only read. */
#ifndef SN_RUNTIME_LIMITS_H
#define SN_RUNTIME_LIMITS_H

#include "runtime/common.h"

/*
 * The number of processors in the calling thread's affinity mask, limited by the quotas of the control groups that the
 * process was in at the first call, rounded down; at least 1.
 */
size_t sn_processors(void);

/*
 * The smallest quota, in processors, of the control groups (v1 and v2) listed in the file `groups`, in the format of
 * /proc/self/cgroup, and of their ancestors, under the directory `root`; 0 if there is none.
 */
size_t sn_group_quota(const char * groups, const char * root);

#endif
