/*
 * vpdpbusd for quantised depthwise convolution, with the interface of kernels/default/joined_8i.h; for avxvnni and
 * avx512vnni, whose joined_8i.h have the parts that depend on the width. Bytes of four lines or taps are interleaved, so
 * that each 32-bit lane holds those of a channel: 8 shuffles for four vectors. The result is permuted: vector k has channel
 * 16 * L + 4 * k + i in lane 4 * L + i; weights and constants are stored in the same order, and the packs to bytes restore
 * the order of channels.
 */
#ifndef SN_ISA_AVXVNNI_QUADS_8I_H
#define SN_ISA_AVXVNNI_QUADS_8I_H

enum { JOINED = 4, RUN = 4, GROUPS = 4 / JOINED };

/* The position of channel c of a block in this order. */
SN_INLINE size_t place(size_t c) { return c % 16 / 4 * V32F_N + c / 16 * 4 + c % 4; }

SN_INLINE size_t place_two(size_t second, size_t c) { return second * (V8U_N / 2) + c; }

SN_INLINE v32i joined_dot(v32i sum, v32i x, v32i w) { return tile_dot(sum, x, w); }

SN_INLINE void joined(const v8u line[4], int k, v32i x[GROUPS])
{
    const v8u ab = k < 2 ? vx_zip_low_8(line[0], line[1]) : vx_zip_high_8(line[0], line[1]);
    const v8u cd = k < 2 ? vx_zip_low_8(line[2], line[3]) : vx_zip_high_8(line[2], line[3]);
    x[0] = k % 2 ? vx_zip_high_16(ab, cd) : vx_zip_low_16(ab, cd);
}

SN_INLINE v8u joined_bytes(const v32i v[4]) { return vx_pack_32i_8u(v[0], v[1], v[2], v[3]); }

#endif
