/*
 * Tiles of quantised convolutions on NEON, by 16-bit products: 10 sums, 2 vectors of B, one of A, and room for the products
 * of many rows, which gcc 12 computes ahead: with more sums it keeps some of them in memory.
 */
#ifndef SN_ISA_NEON_TILES_8I_H
#define SN_ISA_NEON_TILES_8I_H

#define TILE_SHAPES(X) X(8, 1) X(5, 2)

#endif
