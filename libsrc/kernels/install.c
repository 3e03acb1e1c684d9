#include "kernels/install.h"

void ISA_FN(install)(struct sn_table * table)
{
    table->alignment = V8U_N;
#define SN_INSTALL(name) ISA_FN(install_##name)(table);
    SN_KERNELS(SN_INSTALL)
#undef SN_INSTALL
}
