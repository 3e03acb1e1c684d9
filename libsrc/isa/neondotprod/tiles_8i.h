/* Tiles of quantised convolutions by sdot: of 32 registers, up to 20 are sums, 4 hold vectors of B and one A. */
#ifndef SN_ISA_NEONDOTPROD_TILES_8I_H
#define SN_ISA_NEONDOTPROD_TILES_8I_H

#define TILE_SHAPES(X) X(8, 1) X(8, 2) X(7, 3) X(5, 4)

#endif
