/*
 * AMX: instructions that multiply whole blocks. A block is one of eight registers of 16 rows of 64 bytes; how many rows and
 * bytes are used is configured for each register. A product of two adds up to 16 x 16 sums of 16 groups of 4 bytes in 16
 * cycles, however few of them are used, and gives its sums 52 cycles after it began: four products in a row hide that, loads
 * between them do not matter. (Intel, Optimization Reference Manual, chapter on AMX; measured on Emerald Rapids.)
 *
 *   BLOCK_LOAD(n, p, step)    loads register n from rows at p, p + step and so on; step may be 0
 *   BLOCK_STORE(n, p, step)   stores it
 *   BLOCK_ZERO(n)             sets it to zeros
 *   BLOCK_DOT_8I(c, a, b)     c += a * b, unsigned bytes by signed bytes, to sums of 32 bits that wrap
 *   BLOCK_DOT_8S(c, a, b)     the same of signed bytes
 *   BLOCK_DOT_16B(c, a, b)    c += a * b, pairs of bfloat16 numbers; subnormal numbers and sums count as zeros
 *
 * Registers are literal numbers, because they are a part of the instruction.
 */
#ifndef SN_ISA_AMX_BLOCK_H
#define SN_ISA_AMX_BLOCK_H

#include "runtime/common.h"

enum { BLOCK_ROWS = 16, BLOCK_GROUPS = 16, BLOCK_BYTES = 64 };

#define BLOCK_LOAD(n, p, step)                                                                                              \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #n : : "r"(p), "r"((size_t)(step)) : "memory")
#define BLOCK_STORE(n, p, step)                                                                                             \
    __asm__ volatile("tilestored %%tmm" #n ", (%0,%1,1)" : : "r"(p), "r"((size_t)(step)) : "memory")
#define BLOCK_ZERO(n) __asm__ volatile("tilezero %tmm" #n)
#define BLOCK_DOT_8I(c, a, b) __asm__ volatile("tdpbusd %tmm" #b ", %tmm" #a ", %tmm" #c)
#define BLOCK_DOT_8S(c, a, b) __asm__ volatile("tdpbssd %tmm" #b ", %tmm" #a ", %tmm" #c)
#define BLOCK_DOT_16B(c, a, b) __asm__ volatile("tdpbf16ps %tmm" #b ", %tmm" #a ", %tmm" #c)

/* What LDTILECFG reads (Intel SDM, volume 1, chapter on programming with AMX). */
struct block_shapes {
    uint8_t palette, startRow, reserved[14];
    uint16_t bytes[16]; /* of a row */
    uint8_t rows[16];
};

/*
 * Registers 0 to 3: sums of `rows` rows. 4 and 5: operands A and B with all groups, 6 and 7: with the last `rest` ones of a
 * segment. Until blocks_end() the registers are in use, so the system saves 8 KB more at a switch of threads.
 */
SN_INLINE void blocks_begin(size_t rows, size_t rest)
{
    struct block_shapes s = {.palette = 1};
    for (int i = 0; i < 8; ++i) {
        s.bytes[i] = BLOCK_BYTES;
        s.rows[i] = (uint8_t)rows;
    }
    s.rows[5] = BLOCK_GROUPS;
    s.rows[7] = (uint8_t)sn_max(rest, 1);
    s.bytes[6] = (uint16_t)(4 * sn_max(rest, 1));
    __asm__ volatile("ldtilecfg %0" : : "m"(s));
}

SN_INLINE void blocks_end(void) { __asm__ volatile("tilerelease"); }

#endif
