/* Features of processors, as bits; each level of isa/levels.h requires some of them. */
#ifndef SN_RUNTIME_FEATURES_H
#define SN_RUNTIME_FEATURES_H

enum {
    SN_CPU_SSE = 1 << 0,
    SN_CPU_SSE2 = 1 << 1,
    SN_CPU_SSE3 = 1 << 2,
    SN_CPU_SSSE3 = 1 << 3,
    SN_CPU_SSE41 = 1 << 4,
    SN_CPU_SSE42 = 1 << 5,
    SN_CPU_AVX = 1 << 6,
    SN_CPU_F16C = 1 << 7,
    SN_CPU_FMA = 1 << 8,
    SN_CPU_AVX2 = 1 << 9,
    SN_CPU_AVX512F = 1 << 10,
    SN_CPU_AVX512BW = 1 << 11,
    SN_CPU_AVX512DQ = 1 << 12,
    SN_CPU_AVX512VL = 1 << 13,
    SN_CPU_AVX512VNNI = 1 << 14,
    SN_CPU_AVX512BF16 = 1 << 15,
    SN_CPU_AVXVNNI = 1 << 16,
    SN_CPU_NEON = 1 << 17,
    SN_CPU_DOTPROD = 1 << 18,
    SN_CPU_AVX512VBMI = 1 << 19,
    SN_CPU_AMX_TILE = 1 << 20,
    SN_CPU_AMX_INT8 = 1 << 21,
    SN_CPU_AMX_BF16 = 1 << 22
};

#endif
