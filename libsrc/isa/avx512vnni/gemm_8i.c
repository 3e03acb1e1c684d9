/*
 * Tiles of quantised convolutions by vpdpbusd, which adds four products of bytes to each 32-bit sum and never saturates.
 * Tiles of 6 x 4 store whole cache lines of results; 24 sums hide the latency, and 10 loads for 24 products leave the
 * load unit idle.
 */
#include "kernels/gemm_8i.h"
#include "kernels/install.h"

enum { TILE_GROUP = 4 };

SN_INLINE v32i tile_load(const uint8_t * p) { return tile_broadcast(p); }

/*
 * In assembler, for gcc 12 moves the sums of the intrinsic through memory once there is anything behind the loop: 0.4 of the
 * speed.
 */
SN_INLINE v32i tile_dot(v32i sum, v32i a, v32i b)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

#include "isa/avx512/tiles_8i.h"

/* The entry point that core/dispatch.c knows; the other is in depthwise_8i.c. */
void ISA_FN(install)(struct sn_table * table);
void ISA_FN(install_depthwise_8i)(struct sn_table * table);

void ISA_FN(install)(struct sn_table * table)
{
    ISA_FN(install_depthwise_8i)(table);
    install_tiles(table);
}
