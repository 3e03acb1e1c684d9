#include "isa/base/base.h"

void sn_install_base(struct sn_table * table)
{
    table->alignment = 16;
#define SN_INSTALL(name) sn_install_##name##_base(table);
    SN_BASE(SN_INSTALL)
#undef SN_INSTALL
}
