/*
 * vpdpbusd on 256 bits: see isa/avx512vnni/dot_8i.h. The VEX encoding is given explicitly: the assembler would choose that
 * of AVX-512, which processors with AVX-VNNI may lack. Tests on a processor without AVX-VNNI compile it for AVX-512.
 */
#ifndef SN_ISA_AVXVNNI_DOT_8I_H
#define SN_ISA_AVXVNNI_DOT_8I_H

#if defined(__AVXVNNI__)
#define VX_VPDPBUSD "%{vex%} vpdpbusd"
#elif defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define VX_VPDPBUSD "vpdpbusd"
#else
#error "isa/avxvnni needs -mavxvnni"
#endif

enum { TILE_GROUP = 4, TILE_BIASED = false };

SN_INLINE v32i tile_load(const uint8_t * p) { return v_broadcast_32i(p); }

SN_INLINE v32i tile_dot(v32i sum, v32i a, v32i b)
{
    __asm__(VX_VPDPBUSD " %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
    return sum;
}

/* The same with b in memory, aligned. */
SN_INLINE v32i vx_dot_memory(v32i sum, v32i a, const void * b)
{
    __asm__(VX_VPDPBUSD " %2, %1, %0" : "+x"(sum) : "x"(a), "m"(*(const v32i *)b));
    return sum;
}

#endif
