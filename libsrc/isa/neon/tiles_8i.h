/*
 * Tiles of quantised convolutions on NEON, by 16-bit products: 10 sums, 2 vectors of B, one of A, and registers for the
 * products of many rows, which gcc 12 computes in advance: with more sums it spills some of them.
 */
#ifndef SN_ISA_NEON_TILES_8I_H
#define SN_ISA_NEON_TILES_8I_H

#define TILE_SHAPES(X) X(8, 1) X(5, 2)
#define TILE_NARROW_SHAPE(X) X(5, 2)

#endif
