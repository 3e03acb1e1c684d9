/* 6 x 16, as for floats: 12 of the 16 registers are sums, two hold B, one A. */
#ifndef SN_ISA_AVX2_TILES_16B_H
#define SN_ISA_AVX2_TILES_16B_H

#define TILE_SHAPES(X) X(12, 1) X(6, 2)

#endif
