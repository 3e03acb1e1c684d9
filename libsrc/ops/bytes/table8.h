/* Bytes replaced by those of a table, on several threads: arguments are checked, and not empty. */
#ifndef SN_OPS_BYTES_TABLE8_H
#define SN_OPS_BYTES_TABLE8_H

#include "contract/table8.h"

/* t->prepared is not used. */
void sn_table8(const uint8_t * table, const struct sn_table8 * t);

#endif
