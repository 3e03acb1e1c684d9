/* 14 x 32, as for floats: 28 of the 32 registers are sums, two hold B, one A. */
#ifndef SN_ISA_AVX512_TILES_16B_H
#define SN_ISA_AVX512_TILES_16B_H

#define TILE_SHAPES(X) X(14, 1) X(14, 2)

#endif
