/* Version, machine, memory, threads, instruction sets, last error. */
#include "api/check.h"
#include "dispatch/dispatch.h"
#include "runtime/cpu.h"
#include "runtime/preference.h"
#include "runtime/statistic.h"
#include "runtime/threads.h"

const char * SimdVersion(void)
{
    SN_BEGIN();
    return SIMDNET_VERSION;
}

/* True for any set of the processor, even if only a newer level of the library contains it. */
static size_t feature(uint32_t bits) { return (sn_cpu()->features & bits) == bits; }

size_t SimdCpuInfo(SimdCpuInfoType type)
{
    SN_BEGIN();
    switch (type) {
    case SimdCpuInfoSockets: return sn_cpu()->sockets;
    case SimdCpuInfoCores: return sn_cpu()->cores;
    case SimdCpuInfoThreads: return sn_cpu()->threads;
    case SimdCpuInfoCacheL1: return sn_cpu()->cacheL1;
    case SimdCpuInfoCacheL2: return sn_cpu()->cacheL2;
    case SimdCpuInfoCacheL3: return sn_cpu()->cacheL3;
    case SimdCpuInfoSse: return feature(SN_CPU_SSE);
    case SimdCpuInfoSse2: return feature(SN_CPU_SSE2);
    case SimdCpuInfoSse3: return feature(SN_CPU_SSE3);
    case SimdCpuInfoSsse3: return feature(SN_CPU_SSSE3);
    case SimdCpuInfoSse41: return feature(SN_CPU_SSE41);
    case SimdCpuInfoSse42: return feature(SN_CPU_SSE42);
    case SimdCpuInfoAvx: return feature(SN_CPU_AVX);
    case SimdCpuInfoAvx2: return feature(SN_CPU_AVX2);
    case SimdCpuInfoAvx512f: return feature(SN_CPU_AVX512F);
    case SimdCpuInfoAvx512bw: return feature(SN_CPU_AVX512BW);
    case SimdCpuInfoNeon: return feature(SN_CPU_NEON);
    case SimdCpuInfoVmx:
    case SimdCpuInfoVsx:
    case SimdCpuInfoMsa: return 0;
    }
    SN_CHECK(false, 0, "type is %d, expected a SimdCpuInfoType", (int)type);
}

const char * SimdPerformanceStatistic(void)
{
    SN_BEGIN();
    const char * text = sn_statistic_text();
    if (!text)
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for the table");
    return text ? text : "";
}

SimdBool SimdGetFastMode(void)
{
    SN_BEGIN();
    return sn_float_control() & SN_FLOAT_FLUSH ? SimdTrue : SimdFalse;
}

void SimdSetFastMode(SimdBool value)
{
    SN_BEGIN();
    SN_CHECK(value == SimdFalse || value == SimdTrue, SN_VOID, "value is %d, expected SimdFalse or SimdTrue", (int)value);
    const uint32_t others = sn_float_control() & ~(uint32_t)SN_FLOAT_FLUSH;
    sn_set_float_control(value ? others | SN_FLOAT_FLUSH : others);
}

void * SimdAllocate(size_t size, size_t align)
{
    SN_BEGIN();
    SN_CHECK(align && (align & (align - 1)) == 0, NULL, "align is %zu, expected a power of two", align);
    void * block = sn_allocate(size, align);
    if (!block)
        sn_error_set(SN_ERROR_MEMORY, __func__, "no memory for %zu bytes aligned to %zu", size, align);
    return block;
}

void SimdFree(void * ptr)
{
    SN_BEGIN();
    sn_free(ptr);
}

size_t SimdAlign(size_t size, size_t align)
{
    SN_BEGIN();
    SN_CHECK((align & (align - 1)) == 0, 0, "align is %zu, expected a power of two", align);
    SN_CHECK(align <= 1 || size <= SIZE_MAX - (align - 1), 0, "size is %zu, which no multiple of %zu reaches", size, align);
    return sn_align(size, align);
}

size_t SimdAlignment(void)
{
    SN_BEGIN();
    return sn_table()->alignment;
}

size_t SimdGetThreadNumber(void)
{
    SN_BEGIN();
    return sn_threads();
}

void SimdSetThreadNumber(size_t threadNumber)
{
    SN_BEGIN();
    sn_threads_set(threadNumber);
}

int SimdnetVersionNumber(void)
{
    SN_BEGIN();
    return SIMDNET_VERSION_NUMBER;
}

const char * SimdnetLastError(void) { return sn_error_text(); }

int SimdnetLastErrorKind(void) { return sn_error_kind(); }

const char * SimdnetActiveIsa(void)
{
    SN_BEGIN();
    return sn_table()->isa;
}

SimdBool SimdnetSetMaxIsa(const char * name)
{
    SN_BEGIN();
    SN_CHECK(sn_dispatch_cap(name), SimdFalse, "name is \"%.40s\", expected an instruction set of this architecture or NULL",
             name);
    return SimdTrue;
}

const char * SimdnetIsaLevel(size_t index)
{
    SN_BEGIN();
    const struct sn_table * table = sn_table_at(index);
    return table ? table->isa : NULL;
}

SimdnetPreferenceType SimdnetGetPreference(void)
{
    SN_BEGIN();
    return (SimdnetPreferenceType)sn_preference();
}

SimdBool SimdnetSetPreference(SimdnetPreferenceType preference)
{
    SN_BEGIN();
    SN_CHECK((unsigned)preference <= SN_PREFER_BFLOAT16, SimdFalse, "preference is %d, expected a SimdnetPreferenceType",
             (int)preference);
    sn_preference_set((enum sn_preference)preference);
    return SimdTrue;
}

SimdBool SimdnetSetVerbose(int level)
{
    SN_BEGIN();
    SN_CHECK(level >= SN_VERBOSE_OFF && level <= SN_VERBOSE_LINES, SimdFalse, "level is %d, expected 0, 1 or 2", level);
    sn_verbose_set((enum sn_verbose)level);
    return SimdTrue;
}
