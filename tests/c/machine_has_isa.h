/* For programs that are compiled once per instruction set: whether this machine can run them. They are linked with the library's
 * own detection, which test_cpu checks: __builtin_cpu_supports() of ziglang finds nothing on Windows. */
#ifndef SN_TESTS_MACHINE_HAS_ISA_H
#define SN_TESTS_MACHINE_HAS_ISA_H

#include "runtime/cpu.h"

static inline bool machine_has_isa(void)
{
#if defined(__AVX512F__)
    const uint32_t needed = SN_CPU_AVX512F | SN_CPU_AVX512BW | SN_CPU_AVX512DQ | SN_CPU_AVX512VL | SN_CPU_FMA;
#elif defined(__AVX2__)
    const uint32_t needed = SN_CPU_AVX2 | SN_CPU_FMA;
#elif defined(__SSE4_1__)
    const uint32_t needed = SN_CPU_SSE41;
#else
    const uint32_t needed = 0;
#endif
    return (sn_cpu()->features & needed) == needed;
}

#endif
