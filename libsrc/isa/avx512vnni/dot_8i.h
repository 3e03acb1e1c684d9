/*
 * vpdpbusd adds four products of bytes to each 32-bit sum and never saturates. In assembler, because gcc 12 spills the sums
 * of the intrinsic to memory if anything follows the loop: 0.4 of the speed.
 */
#ifndef SN_ISA_AVX512VNNI_DOT_8I_H
#define SN_ISA_AVX512VNNI_DOT_8I_H

enum { TILE_GROUP = 4, TILE_BIASED = false };

SN_INLINE v32i tile_load(const uint8_t * p) { return v_broadcast_32i(p); }

SN_INLINE v32i tile_dot(v32i sum, v32i a, v32i b)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

/* The same with b in memory, aligned. */
SN_INLINE v32i vx_dot_memory(v32i sum, v32i a, const void * b)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "m"(*(const v32i *)b));
    return sum;
}

#endif
