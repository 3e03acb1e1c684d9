/* Tiles of quantised convolutions on AVX2, by 16-bit products: 12 sums, 2 vectors of B, one of A, and a product. */
#ifndef SN_ISA_AVX2_TILES_8I_H
#define SN_ISA_AVX2_TILES_8I_H

#define TILE_SHAPES(X) X(6, 1) X(6, 2)
#define TILE_NARROW_SHAPE(X) X(6, 2)

#endif
