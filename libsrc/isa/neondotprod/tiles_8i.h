/* Tiles of quantised convolutions by sdot: up to 20 sums, with 4 vectors of B and one of A, of 32 registers. */
#ifndef SN_ISA_NEONDOTPROD_TILES_8I_H
#define SN_ISA_NEONDOTPROD_TILES_8I_H

#define TILE_SHAPES(X) X(8, 1) X(8, 2) X(7, 3) X(5, 4)

#endif
