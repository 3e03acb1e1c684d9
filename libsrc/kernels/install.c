/* Writes the kernels of a level to the copy of its parent's table; compiled for each level with the list that the Makefile
 * collected. */
#include "contract/table.h"
#include "kernels/vec.h"

#define SN_INSTALL(file, family) void ISA_FN(install_##file)(struct sn_##family##_slots * slots);
#include "installs.h"
#undef SN_INSTALL

/* The entry point that dispatch/dispatch.c calls. */
void ISA_FN(install)(struct sn_table * table);

void ISA_FN(install)(struct sn_table * table)
{
    table->alignment = V8U_N;
#define SN_INSTALL(file, family) ISA_FN(install_##file)(&table->family);
#include "installs.h"
#undef SN_INSTALL
}
