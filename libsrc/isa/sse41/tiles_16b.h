/* 5 x 8 without fused multiply-adds: 10 of the 16 registers are sums, two hold B, one A, and the others products. */
#ifndef SN_ISA_SSE41_TILES_16B_H
#define SN_ISA_SSE41_TILES_16B_H

#define TILE_SHAPES(X) X(8, 1) X(5, 2)

#endif
