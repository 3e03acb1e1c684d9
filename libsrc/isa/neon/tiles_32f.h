/*
 * 8 x 8: 16 of the 32 registers are sums. A single last vector of a panel uses tiles of the same height.
 */
#ifndef SN_ISA_NEON_TILES_32F_H
#define SN_ISA_NEON_TILES_32F_H

#define TILE_SHAPES(X) X(8, 1) X(8, 2)
#define TILE_SHAPES_HALF(X)
#define TILE_PREFETCHES(vectors) false

#endif
