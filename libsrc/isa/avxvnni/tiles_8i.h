/*
 * Tiles of quantised convolutions by vpdpbusd with 16 registers of 8 sums: 12 sums, 2 vectors of B and one of A. Two units
 * of latency 5 need 10 sums, so a single last vector of a panel uses tiles of 12 x 8, which take 0.85 of the time of 6 x 8
 * on Zen 4 (latency 4), in the encoding of AVX-512. Tiles of 4 x 3 gain 1.08 times with 24 outputs there, lose as much with
 * 48, and make no difference with 64 or more.
 */
#ifndef SN_ISA_AVXVNNI_TILES_8I_H
#define SN_ISA_AVXVNNI_TILES_8I_H

#define TILE_SHAPES(X) X(12, 1) X(6, 2)

#endif
