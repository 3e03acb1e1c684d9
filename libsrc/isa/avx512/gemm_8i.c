/* Tiles of quantised convolutions on AVX-512 without VNNI, by 16-bit products: 24 sums, 4 vectors of B, A, a product. */
#include "kernels/gemm_8i.h"
#include "kernels/install.h"

enum { TILE_GROUP = 2 };

SN_INLINE v32i tile_load(const uint8_t * p) { return tile_broadcast(p); }

SN_INLINE v32i tile_dot(v32i sum, v32i a, v32i b)
{
    return v_add_32i(sum, v_madd_16i_32i(v_cast_32i_16i(a), v_cast_32i_16i(b)));
}

#include "isa/avx512/tiles_8i.h"

void ISA_FN(install_gemm_8i)(struct sn_table * table)
{
    install_tiles(table);
}
