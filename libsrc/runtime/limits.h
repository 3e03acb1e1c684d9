/* How many processors this process may use. What the system says is read, never changed. */
#ifndef SN_RUNTIME_LIMITS_H
#define SN_RUNTIME_LIMITS_H

#include "runtime/common.h"

/*
 * At least 1: the processors in the calling thread's affinity mask, but no more than the quotas of the control groups that
 * the process was in at the first call allow, rounded down.
 */
size_t sn_processors(void);

/*
 * The least quota, in processors, of the control groups (v1 and v2) that the file `groups` names, as /proc/self/cgroup does,
 * and of those above them, under the directory `root`; 0 when there is none.
 */
size_t sn_group_quota(const char * groups, const char * root);

#endif
