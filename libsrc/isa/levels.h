/*
 * The list of instruction sets, oldest first, with a line for each:
 *
 *     SN_LEVEL(name, parent, features that it needs besides those of its parent)
 *
 * The table of a level is a copy of its parent's, in which the kernels that the level improves are replaced. The last level
 * that a machine supports is the default. The folder of a level has level.mk, with FLAGS_<name> for the compiler and, if it
 * improves only some of its parent's kernels, their list KERNELS_<name>.
 *
 * The Makefile reads the levels from this file, and writes the lines of those that it builds (make ISAS=...) to the levels.h
 * of the build, which dispatch.c includes; the parent is there the nearest one that was built.
 */
SN_LEVEL(base, base, 0)
#if defined(__x86_64__)
SN_LEVEL(sse41, base, SN_CPU_SSE3 | SN_CPU_SSSE3 | SN_CPU_SSE41)
SN_LEVEL(avx2, sse41, SN_CPU_AVX2 | SN_CPU_FMA | SN_CPU_F16C)
SN_LEVEL(avxvnni, avx2, SN_CPU_AVXVNNI)
SN_LEVEL(avx512, avx2, SN_CPU_AVX512F | SN_CPU_AVX512BW | SN_CPU_AVX512DQ | SN_CPU_AVX512VL)
SN_LEVEL(avx512vnni, avx512, SN_CPU_AVX512VNNI)
SN_LEVEL(avx512bf16, avx512vnni, SN_CPU_AVX512BF16)
SN_LEVEL(amx, avx512vnni, SN_CPU_AMX_TILE | SN_CPU_AMX_INT8 | SN_CPU_AMX_BF16)
#elif defined(__aarch64__)
SN_LEVEL(neon, base, SN_CPU_NEON)
SN_LEVEL(neondotprod, neon, SN_CPU_DOTPROD)
#endif
