/* The tables of this machine and the choice among them. */
#ifndef SN_DISPATCH_DISPATCH_H
#define SN_DISPATCH_DISPATCH_H

#include "contract/table.h"

/* The table in use: of the levels of this machine the last, or the last that is not behind the cap of SIMDNET_MAX_ISA or
 * sn_dispatch_cap(). */
const struct sn_table * sn_table(void);

/* The tables of this machine, oldest first; NULL past the end. */
const struct sn_table * sn_table_at(size_t index);

/* The levels of a machine with these features (SN_CPU_*): bit i is sn_level_name(i). */
uint32_t sn_levels_of(uint32_t features);

/* The levels of this library, those of isa/levels.h that it was built with, oldest first; NULL past the end. */
const char * sn_level_name(size_t index);

/* Caps the level by name; NULL lifts the cap. False, without effect, for a name that no level of this library has. */
bool sn_dispatch_cap(const char * name);

#endif
