/* The tables of this machine and the choice among them. */
#ifndef SN_DISPATCH_DISPATCH_H
#define SN_DISPATCH_DISPATCH_H

#include "contract/table.h"

/* The table in use: that of the default level, or of the last level of this machine up to the one that SIMDNET_MAX_ISA or
 * sn_dispatch_cap() names. */
const struct sn_table * sn_table(void);

/* The tables of this machine, oldest first; NULL past the end. */
const struct sn_table * sn_table_at(size_t index);

/* The levels of a machine with these features (SN_CPU_*): bit i is sn_level_name(i). */
uint32_t sn_levels_of(uint32_t features);

/* The default among them: the last one that needs none of the slow features (struct sn_traits). The index of a level. */
size_t sn_default_level(uint32_t features, uint32_t slow);

/* The levels of this library, those of isa/levels.h that it was built with, oldest first; NULL past the end. */
const char * sn_level_name(size_t index);

/* Limits the level by name; NULL returns to the default. False, without effect, if this library has no level of that
 * name. */
bool sn_dispatch_cap(const char * name);

#endif
