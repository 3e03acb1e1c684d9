#include "runtime/cpu.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "runtime/os.h"

/* ------------------------------------------------------------------------------------------ instruction sets */

#if defined(__x86_64__)

/* Bits of XCR0: registers that the operating system saves at a context switch. */
#define SAVES_NONE 0x00u
#define SAVES_AVX 0x06u     /* xmm and the upper halves of ymm */
#define SAVES_AVX512 0xE6u  /* also the masks, the upper halves of zmm, and zmm16..31 */
#define SAVES_TILES 0x60000u /* the tiles of AMX and their configuration */

/* A feature is one bit of one register of one CPUID leaf, and usable if the system saves the registers it needs. */
static const struct cpuid_bit {
    uint32_t feature;
    enum sn_cpuid_leaf leaf;
    enum sn_cpuid_register reg;
    int bit;
    uint32_t xcr0;
} cpuid_bits[] = {
    {SN_CPU_SSE, SN_LEAF_1, SN_EDX, 25, SAVES_NONE},
    {SN_CPU_SSE2, SN_LEAF_1, SN_EDX, 26, SAVES_NONE},
    {SN_CPU_SSE3, SN_LEAF_1, SN_ECX, 0, SAVES_NONE},
    {SN_CPU_SSSE3, SN_LEAF_1, SN_ECX, 9, SAVES_NONE},
    {SN_CPU_SSE41, SN_LEAF_1, SN_ECX, 19, SAVES_NONE},
    {SN_CPU_SSE42, SN_LEAF_1, SN_ECX, 20, SAVES_NONE},
    {SN_CPU_AVX, SN_LEAF_1, SN_ECX, 28, SAVES_AVX},
    {SN_CPU_F16C, SN_LEAF_1, SN_ECX, 29, SAVES_AVX},
    {SN_CPU_FMA, SN_LEAF_1, SN_ECX, 12, SAVES_AVX},
    {SN_CPU_AVX2, SN_LEAF_7, SN_EBX, 5, SAVES_AVX},
    {SN_CPU_AVXVNNI, SN_LEAF_7_1, SN_EAX, 4, SAVES_AVX},
    {SN_CPU_AVX512F, SN_LEAF_7, SN_EBX, 16, SAVES_AVX512},
    {SN_CPU_AVX512DQ, SN_LEAF_7, SN_EBX, 17, SAVES_AVX512},
    {SN_CPU_AVX512BW, SN_LEAF_7, SN_EBX, 30, SAVES_AVX512},
    {SN_CPU_AVX512VL, SN_LEAF_7, SN_EBX, 31, SAVES_AVX512},
    {SN_CPU_AVX512VBMI, SN_LEAF_7, SN_ECX, 1, SAVES_AVX512},
    {SN_CPU_AVX512VNNI, SN_LEAF_7, SN_ECX, 11, SAVES_AVX512},
    {SN_CPU_AVX512BF16, SN_LEAF_7_1, SN_EAX, 5, SAVES_AVX512},
    {SN_CPU_AMX_BF16, SN_LEAF_7, SN_EDX, 22, SAVES_TILES},
    {SN_CPU_AMX_TILE, SN_LEAF_7, SN_EDX, 24, SAVES_TILES},
    {SN_CPU_AMX_INT8, SN_LEAF_7, SN_EDX, 25, SAVES_TILES},
};

uint32_t sn_cpu_features(const struct sn_cpuid * cpuid)
{
    uint32_t features = 0;
    for (size_t i = 0; i < sizeof(cpuid_bits) / sizeof(cpuid_bits[0]); ++i) {
        const struct cpuid_bit * b = &cpuid_bits[i];
        if ((cpuid->leaf[b->leaf][b->reg] >> b->bit & 1) && (cpuid->xcr0 & b->xcr0) == b->xcr0)
            features |= b->feature;
    }
    return features;
}

/* XCR0; 0 if the system has not enabled XGETBV, which then must not be executed. */
static uint32_t saved_by_system(const struct sn_cpuid * cpuid)
{
    const uint32_t osxsave = 1u << 27;
    uint32_t eax, edx;
    if (!(cpuid->leaf[SN_LEAF_1][SN_ECX] & osxsave))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    return eax;
}

static uint32_t detect_features(void)
{
    static const uint32_t number[SN_LEAVES][2] = {[SN_LEAF_1] = {1, 0}, [SN_LEAF_7] = {7, 0}, [SN_LEAF_7_1] = {7, 1}};
    struct sn_cpuid cpuid;
    memset(&cpuid, 0, sizeof(cpuid));
    for (size_t i = 0; i < SN_LEAVES; ++i) {
        uint32_t * r = cpuid.leaf[i];
        __get_cpuid_count(number[i][0], number[i][1], &r[SN_EAX], &r[SN_EBX], &r[SN_ECX], &r[SN_EDX]);
    }
    cpuid.xcr0 = saved_by_system(&cpuid);
    const uint32_t features = sn_cpu_features(&cpuid), tiles = SN_CPU_AMX_TILE | SN_CPU_AMX_INT8 | SN_CPU_AMX_BF16;
    return (features & SN_CPU_AMX_TILE) && !sn_os_allow_tiles() ? features & ~tiles : features;
}

/* From CPUID's leaf 1: extensions are added to family 15, and models of families 6 and 15 have four more bits (Intel SDM,
 * volume 2A, CPUID; AMD APM, volume 3, appendix E). */
void sn_cpu_model(uint32_t signature, struct sn_model * model)
{
    const uint32_t family = signature >> 8 & 15, extended = signature >> 16 & 15;
    model->family = family + (family == 15 ? signature >> 20 & 255 : 0);
    model->model = (signature >> 4 & 15) + (family == 6 || family == 15 ? extended << 4 : 0);
}

static void detect_model(struct sn_model * model)
{
    uint32_t eax, vendor[3], rest[3];
    if (__get_cpuid(0, &eax, &vendor[0], &vendor[2], &vendor[1]))
        memcpy(model->vendor, vendor, sizeof(vendor));
    if (__get_cpuid(1, &eax, &rest[0], &rest[1], &rest[2]))
        sn_cpu_model(eax, model);
}

/* The name is in three leaves of 16 characters; blanks at both ends are removed. */
void sn_cpu_name(const uint32_t leaves[3 * SN_REGISTERS], char name[49])
{
    const char * text = (const char *)leaves;
    const char * zero = memchr(text, '\0', 48);
    size_t begin = 0, end = zero ? (size_t)(zero - text) : 48;
    while (begin < end && text[begin] == ' ')
        ++begin;
    while (begin < end && text[end - 1] == ' ')
        --end;
    memcpy(name, text + begin, end - begin);
    name[end - begin] = '\0';
}

static void detect_name(char name[49])
{
    uint32_t leaves[3 * SN_REGISTERS], * r = leaves;
    for (uint32_t leaf = 0x80000002; leaf <= 0x80000004; ++leaf, r += SN_REGISTERS)
        if (!__get_cpuid(leaf, &r[SN_EAX], &r[SN_EBX], &r[SN_ECX], &r[SN_EDX]))
            return;
    sn_cpu_name(leaves, name);
}

#elif defined(__aarch64__)

static uint32_t detect_features(void) { return sn_os_features(); }
static void detect_name(char name[49]) { sn_os_model_name(name); }
static void detect_model(struct sn_model * model) { (void)model; }

#else

static uint32_t detect_features(void) { return 0; }
static void detect_name(char name[49]) { name[0] = '\0'; }
static void detect_model(struct sn_model * model) { (void)model; }

#endif

/* -------------------------------------------------------------------------------------------- counts, caches */

static void detect_topology(struct sn_cpu * cpu)
{
    struct sn_topology found = {.sockets = 1, .threads = 1, .cache = {32 << 10, 256 << 10, 2 << 20}};
    sn_os_topology(&found);
    cpu->sockets = found.sockets;
    cpu->threads = found.threads;
    cpu->cores = found.cores ? found.cores : found.threads;
    cpu->cacheL1 = found.cache[0];
    cpu->cacheL2 = found.cache[1];
    cpu->cacheL3 = found.cache[2];
}

static struct sn_cpu machine;
static struct sn_once machine_once;

static void detect(void)
{
    machine.features = detect_features();
    detect_name(machine.name);
    detect_model(&machine.model);
    detect_topology(&machine);
    machine.traits = sn_traits_of(&machine.model, machine.cacheL3);
}

const struct sn_cpu * sn_cpu(void)
{
    sn_once(&machine_once, detect);
    return &machine;
}

void sn_cpu_set(size_t cacheL2, const struct sn_traits * traits)
{
    sn_once(&machine_once, detect);
    machine.cacheL2 = cacheL2;
    machine.traits = *traits;
}
