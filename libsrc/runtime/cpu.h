/* Properties of this machine: instruction sets that the processor and the operating system support, caches, counts. */
#ifndef SN_RUNTIME_CPU_H
#define SN_RUNTIME_CPU_H

#include "runtime/common.h"
#include "runtime/features.h"
#include "runtime/traits.h"

/* What CPUID and XGETBV return about instruction sets of x86; a leaf that a processor does not have is 0. */
enum sn_cpuid_leaf { SN_LEAF_1, SN_LEAF_7, SN_LEAF_7_1, SN_LEAVES };
enum sn_cpuid_register { SN_EAX, SN_EBX, SN_ECX, SN_EDX, SN_REGISTERS };

struct sn_cpuid {
    uint32_t leaf[SN_LEAVES][SN_REGISTERS];
    uint32_t xcr0; /* registers that the system saves; 0 if it has not enabled XGETBV */
};

/* The features (SN_CPU_*) of a processor and a system that return these values. */
uint32_t sn_cpu_features(const struct sn_cpuid * cpuid);

/* Family and model from EAX of CPUID's leaf 1. */
void sn_cpu_model(uint32_t signature, struct sn_model * model);

/* The name from CPUID's leaves 0x80000002 .. 0x80000004: 48 characters, fewer if one of them is 0. */
void sn_cpu_name(const uint32_t leaves[3 * SN_REGISTERS], char name[49]);

struct sn_cpu {
    char name[49];              /* of the model, "" if unknown */
    struct sn_model model;
    uint32_t features;          /* SN_CPU_*; a set whose registers the operating system does not save is absent */
    size_t sockets;             /* processor packages, physical cores and hardware threads that are online */
    size_t cores;
    size_t threads;
    size_t cacheL1;             /* bytes of data cache; 32 K, 256 K and 2 M if the system does not report them */
    size_t cacheL2;
    size_t cacheL3;
    struct sn_traits traits;
};

/* The L1 data cache: 64 sets of 8 or 12 lines on every processor we know. */
enum { SN_SETS = 64 };

/*
 * Bytes that a thread moves into or out of the L2 cache per nanosecond, and cycles per nanosecond: for estimates of how many
 * threads some work is worth. Rough values suffice: measured 97 bytes on Zen 4 and 28 on Emerald Rapids (copies of 4 MB),
 * 3.7 and 2.7 cycles.
 */
enum { SN_BYTES_PER_NS = 50, SN_CYCLES_PER_NS = 3 };

/* Detected by the first call; later calls return the same. */
const struct sn_cpu * sn_cpu(void);

/* For tests: sets the size of the L2 cache in bytes, and the traits. Only while no other thread computes. */
void sn_cpu_set(size_t cacheL2, const struct sn_traits * traits);

/* This thread's rounding mode and treatment of denormal numbers, and the bits of it by which those become 0; sn_relax() is
 * the pause of spin loops. */
#if defined(__x86_64__)
enum { SN_FLOAT_FLUSH = 1 << 15 | 1 << 6 };
static inline uint32_t sn_float_control(void) { return __builtin_ia32_stmxcsr(); }
static inline void sn_set_float_control(uint32_t control) { __builtin_ia32_ldmxcsr(control); }
static inline void sn_relax(void) { __builtin_ia32_pause(); }
#elif defined(__aarch64__)
enum { SN_FLOAT_FLUSH = 1 << 24 };
static inline uint32_t sn_float_control(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (uint32_t)control;
}
static inline void sn_set_float_control(uint32_t control)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)control));
}
static inline void sn_relax(void) { __asm__ volatile("yield"); }
#else
enum { SN_FLOAT_FLUSH = 0 };
static inline uint32_t sn_float_control(void) { return 0; }
static inline void sn_set_float_control(uint32_t control) { (void)control; }
static inline void sn_relax(void) {}
#endif

#endif
