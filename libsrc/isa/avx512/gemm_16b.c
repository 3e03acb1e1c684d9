/* 14 x 32, as of floats: 28 of the 32 registers are sums, two hold B, one A. */
#include "kernels/gemm_16b_float.h"
#include "kernels/install.h"

#include "isa/avx512/tiles_16b.h"

void ISA_FN(install_gemm_16b)(struct sn_table * table)
{
    install_tiles(table);
}
