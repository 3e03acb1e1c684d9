/*
 * 3 x 16 without fused multiply-adds: 12 of the 16 registers are sums, one holds A and the others the products, with B as a
 * memory operand. Broadcasts and copies take issue slots of the core, so wide tiles are faster: 0.87 of the peak, compared
 * with 0.84 by 4 x 12 and 0.74 by 4 x 8.
 */
#ifndef SN_ISA_SSE41_TILES_32F_H
#define SN_ISA_SSE41_TILES_32F_H

#define TILE_SHAPES(X) X(8, 1) X(5, 2) X(4, 3) X(3, 4)
#define TILE_SHAPES_HALF(X)
#define TILE_PREFETCHES(vectors) ((vectors) == 1)

#endif
