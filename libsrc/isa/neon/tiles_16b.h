/* 8 x 8, as for floats: 16 of the 32 registers are sums. */
#ifndef SN_ISA_NEON_TILES_16B_H
#define SN_ISA_NEON_TILES_16B_H

#define TILE_SHAPES(X) X(8, 1) X(8, 2)

#endif
