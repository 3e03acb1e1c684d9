/* The table of `base`, which fills every slot except those of tiles. */
#include "contract/table.h"

#define SN_INSTALL(file, family) void sn_install_##file##_base(struct sn_##family##_slots * slots);
#include "installs.h"
#undef SN_INSTALL

/* The entry point that dispatch/dispatch.c calls. */
void sn_install_base(struct sn_table * table);

void sn_install_base(struct sn_table * table)
{
    table->alignment = 16;
#define SN_INSTALL(file, family) sn_install_##file##_base(&table->family);
#include "installs.h"
#undef SN_INSTALL
}
