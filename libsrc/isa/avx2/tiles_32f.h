/*
 * 6 x 16: 12 of the 16 registers are sums, two hold B, one A; 8 loads for 12 multiply-adds. A single last vector of a panel
 * uses tiles of 12 x 8: 6 sums would not hide the latency of the two units.
 */
#ifndef SN_ISA_AVX2_TILES_32F_H
#define SN_ISA_AVX2_TILES_32F_H

#define TILE_SHAPES(X) X(12, 1) X(6, 2)
#define TILE_SHAPES_HALF(X)
#define TILE_PREFETCHES(vectors) true

#endif
