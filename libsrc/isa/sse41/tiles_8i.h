/* Tiles of quantised convolutions on SSE4.1, by 16-bit products: 8 sums leave registers for B, A and a product. */
#ifndef SN_ISA_SSE41_TILES_8I_H
#define SN_ISA_SSE41_TILES_8I_H

#define TILE_SHAPES(X) X(4, 1) X(4, 2)
#define TILE_NARROW_SHAPE(X) X(4, 2)

#endif
