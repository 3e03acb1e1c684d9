/* For programs that are compiled once per instruction set: whether this machine can run them. */
#ifndef SN_TESTS_MACHINE_HAS_ISA_H
#define SN_TESTS_MACHINE_HAS_ISA_H

#include "runtime/common.h"

static inline bool machine_has_isa(void)
{
#if defined(__AVX512F__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
#elif defined(__AVX2__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#elif defined(__SSE4_1__)
    return __builtin_cpu_supports("sse4.1");
#else
    return true;
#endif
}

#endif
