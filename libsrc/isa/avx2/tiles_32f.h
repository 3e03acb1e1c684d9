/*
 * 6 x 16: 12 of the 16 registers are sums, two hold B, one A; 8 loads for 12 multiply-adds. The lone last vector of a panel
 * goes with tiles 12 x 8: with 6 sums the latency of two units would show.
 */
#ifndef SN_ISA_AVX2_TILES_32F_H
#define SN_ISA_AVX2_TILES_32F_H

#define TILE_SHAPES(X) X(12, 1) X(6, 2)
#define TILE_SHAPES_HALF(X)
#define TILE_SHAPES_AHEAD(X) X(6, 2)

#endif
