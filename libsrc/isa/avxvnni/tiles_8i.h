/*
 * Tiles of quantised convolutions by vpdpbusd where there are 16 registers of 8 sums: 12 sums, with 2 vectors of B and one
 * of A. Two units of latency 5 need 10 sums, so the lone last vector of a panel goes with tiles 12 x 8.
 */
#ifndef SN_ISA_AVXVNNI_TILES_8I_H
#define SN_ISA_AVXVNNI_TILES_8I_H

#define TILE_SHAPES(X) X(12, 1) X(6, 2)

#endif
