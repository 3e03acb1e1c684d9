/*
 * Tiles of quantised convolutions with 32 registers of 16 sums: up to 24 sums, 4 vectors of B, one of A and a product. Tiles
 * of 6 x 4 store whole cache lines of results; 24 sums hide the latency of vpdpbusd, and 10 loads for 24 products do not
 * saturate the load unit.
 */
#ifndef SN_ISA_AVX512_TILES_8I_H
#define SN_ISA_AVX512_TILES_8I_H

#define TILE_SHAPES(X) X(14, 1) X(12, 2) X(8, 3) X(6, 4)
#define TILE_NARROW_SHAPE(X) X(6, 4)
#define TILE_BYTES_SHAPES(X) X(6, 4)

#endif
