/*
 * Which levels are chosen on which machine, from the results of CPUID and XGETBV there. Names and positions of the bits come
 * from the manuals (Intel SDM, volume 2A, CPUID; volume 1, chapter 13; AMD APM, volume 3, appendix E), not from
 * runtime/cpu.c. Features that no level needs are included because of their positions: with a wrong bit number, one of them
 * would be mistaken for a feature that is needed.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "dispatch/dispatch.h"
#include "runtime/cpu.h"
#include "test.h"

#define FOLDER "/sys/devices/system/cpu/"
#include "given_files.h"

/* The names of levels, separated by spaces. */
static const char * names_of(uint32_t levels)
{
    static char names[200];
    names[0] = '\0';
    for (size_t i = 0; sn_level_name(i); ++i)
        if (levels >> i & 1) {
            strcat(names, *names ? " " : "");
            strcat(names, sn_level_name(i));
        }
    return names;
}

/* Those of the given names that the library was built with: all of them, unless make was called with ISAS. */
static const char * built_of(const char * expected)
{
#if defined(SOME_ISAS)
    static char names[200];
    names[0] = '\0';
    char all[200];
    snprintf(all, sizeof(all), "%s", expected);
    for (const char * name = strtok(all, " "); name; name = strtok(NULL, " "))
        for (size_t i = 0; sn_level_name(i); ++i)
            if (strcmp(sn_level_name(i), name) == 0)
                snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", *names ? " " : "", name);
    return names;
#else
    return expected;
#endif
}

static void chosen(const char * machine, uint32_t features, const char * expected)
{
    expected = built_of(expected);
    const char * names = names_of(sn_levels_of(features));
    if (strcmp(names, expected) != 0)
        printf("%s has %s, not %s\n", machine, names, expected);
    TEST(strcmp(names, expected) == 0);
}

#if defined(__x86_64__)

#define BIT(n) (1u << (n))

enum leaf_1_ecx {
    SSE3 = BIT(0), PCLMULQDQ = BIT(1), SSSE3 = BIT(9), FMA = BIT(12), CX16 = BIT(13), SSE41 = BIT(19), SSE42 = BIT(20),
    MOVBE = BIT(22), POPCNT = BIT(23), AES = BIT(25), XSAVE = BIT(26), OSXSAVE = BIT(27), AVX = BIT(28), F16C = BIT(29),
    RDRAND = BIT(30)
};

enum leaf_1_edx { FPU = BIT(0), CMOV = BIT(15), MMX = BIT(23), FXSR = BIT(24), SSE = BIT(25), SSE2 = BIT(26) };

/* Macros, since bit 31 does not fit an enumerator. */
#define BMI1 BIT(3)
#define AVX2 BIT(5)
#define BMI2 BIT(8)
#define ERMS BIT(9)
#define AVX512F BIT(16)
#define AVX512DQ BIT(17)
#define RDSEED BIT(18)
#define ADX BIT(19)
#define AVX512IFMA BIT(21)
#define CLFLUSHOPT BIT(23)
#define CLWB BIT(24)
#define AVX512PF BIT(26)
#define AVX512ER BIT(27)
#define AVX512CD BIT(28)
#define SHA BIT(29)
#define AVX512BW BIT(30)
#define AVX512VL BIT(31)

enum leaf_7_ecx {
    AVX512VBMI = BIT(1), UMIP = BIT(2), PKU = BIT(3), AVX512VBMI2 = BIT(6), GFNI = BIT(8), VAES = BIT(9),
    VPCLMULQDQ = BIT(10), AVX512VNNI = BIT(11), AVX512BITALG = BIT(12), AVX512VPOPCNTDQ = BIT(14), RDPID = BIT(22)
};

enum leaf_7_edx {
    AVX5124VNNIW = BIT(2), AVX5124FMAPS = BIT(3), FSRM = BIT(4), AVX512VP2INTERSECT = BIT(8), HYBRID = BIT(15),
    AMXBF16 = BIT(22), AVX512FP16 = BIT(23), AMXTILE = BIT(24), AMXINT8 = BIT(25)
};

enum leaf_7_1_eax { AVXVNNI = BIT(4), AVX512BF16 = BIT(5), FZRM = BIT(10), FSRS = BIT(11) };

enum xcr0 {
    X87 = BIT(0), XMM = BIT(1), YMM = BIT(2), OPMASK = BIT(5), ZMM_HIGH = BIT(6), ZMM_16_31 = BIT(7), PKRU = BIT(9),
    TILECFG = BIT(17), TILEDATA = BIT(18)
};

/* Features that generations of processors share; each list contains the one before. */
#define EDX_1 (FPU | CMOV | MMX | FXSR | SSE | SSE2)
#define MEROM_1 (SSE3 | SSSE3 | CX16)
#define NEHALEM_1 (MEROM_1 | SSE41 | SSE42 | POPCNT)
#define SANDY_BRIDGE_1 (NEHALEM_1 | PCLMULQDQ | AES | XSAVE | OSXSAVE | AVX)
#define HASWELL_1 (SANDY_BRIDGE_1 | FMA | F16C | MOVBE | RDRAND)
#define GOLDMONT_1 (NEHALEM_1 | PCLMULQDQ | AES | XSAVE | OSXSAVE | MOVBE | RDRAND)
#define HASWELL_7 (BMI1 | AVX2 | BMI2 | ERMS)
#define SKYLAKE_7 (HASWELL_7 | RDSEED | ADX | CLFLUSHOPT)
#define SKYLAKE_X_7 (SKYLAKE_7 | CLWB | AVX512F | AVX512DQ | AVX512CD | AVX512BW | AVX512VL)
#define ICE_LAKE_7 (SKYLAKE_X_7 | AVX512IFMA | SHA)
#define ALDER_LAKE_7_ECX (UMIP | PKU | GFNI | VAES | VPCLMULQDQ | RDPID)
#define ICE_LAKE_7_ECX (ALDER_LAKE_7_ECX | AVX512VBMI | AVX512VBMI2 | AVX512VNNI | AVX512BITALG | AVX512VPOPCNTDQ)
#define ZEN_7 (SKYLAKE_7 | SHA)

#define SAVES_XMM (X87 | XMM)
#define SAVES_YMM (SAVES_XMM | YMM)
#define SAVES_ZMM (SAVES_YMM | OPMASK | ZMM_HIGH | ZMM_16_31 | PKRU)

#define UP_TO_SSE41 "base sse41"
#define UP_TO_AVX2 UP_TO_SSE41 " avx2"
#define UP_TO_AVXVNNI UP_TO_AVX2 " avxvnni"
#define UP_TO_AVX512 UP_TO_AVX2 " avx512"
#define UP_TO_VNNI UP_TO_AVX512 " avx512vnni"
#define UP_TO_BF16 UP_TO_VNNI " avx512bf16"
#define UP_TO_BF16_AND_AVXVNNI UP_TO_AVXVNNI " avx512 avx512vnni avx512bf16"
#define ALL UP_TO_BF16_AND_AVXVNNI " amx"

static const struct machine {
    const char * name;
    uint32_t ecx_1, ebx_7, ecx_7, edx_7, eax_7_1, xcr0;
    const char * levels;
} machines[] = {
    {"Merom", MEROM_1, 0, 0, 0, 0, 0, "base"},
    {"Penryn", MEROM_1 | SSE41, 0, 0, 0, 0, 0, UP_TO_SSE41},
    {"Bonnell", MEROM_1 | MOVBE, 0, 0, 0, 0, 0, "base"},
    {"K10", SSE3 | CX16 | POPCNT, 0, 0, 0, 0, 0, "base"},
    {"Nehalem", NEHALEM_1, 0, 0, 0, 0, 0, UP_TO_SSE41},
    {"Westmere", NEHALEM_1 | PCLMULQDQ | AES, 0, 0, 0, 0, 0, UP_TO_SSE41},
    {"Sandy Bridge", SANDY_BRIDGE_1, 0, 0, 0, 0, SAVES_YMM, UP_TO_SSE41},
    {"Ivy Bridge", SANDY_BRIDGE_1 | F16C | RDRAND, ERMS, 0, 0, 0, SAVES_YMM, UP_TO_SSE41},
    {"Piledriver", SANDY_BRIDGE_1 | FMA | F16C, BMI1, 0, 0, 0, SAVES_YMM, UP_TO_SSE41},
    {"Jaguar", SANDY_BRIDGE_1 | F16C | MOVBE, BMI1, 0, 0, 0, SAVES_YMM, UP_TO_SSE41},
    {"Excavator", HASWELL_1, BMI1 | AVX2 | BMI2, 0, 0, 0, SAVES_YMM, UP_TO_AVX2},
    {"Goldmont", GOLDMONT_1, ERMS | RDSEED | CLFLUSHOPT | SHA, 0, 0, 0, SAVES_XMM, UP_TO_SSE41},
    {"Denverton", GOLDMONT_1, ERMS | RDSEED | CLFLUSHOPT | SHA, 0, 0, 0, SAVES_XMM, UP_TO_SSE41},
    {"Haswell", HASWELL_1, HASWELL_7, 0, 0, 0, SAVES_YMM, UP_TO_AVX2},
    {"Broadwell", HASWELL_1, HASWELL_7 | RDSEED | ADX, 0, 0, 0, SAVES_YMM, UP_TO_AVX2},
    {"Skylake", HASWELL_1, SKYLAKE_7, 0, 0, 0, SAVES_YMM, UP_TO_AVX2},
    {"Knights Landing", HASWELL_1, SKYLAKE_7 | AVX512F | AVX512CD | AVX512ER | AVX512PF, 0, 0, 0, SAVES_ZMM, UP_TO_AVX2},
    {"Knights Mill", HASWELL_1, SKYLAKE_7 | AVX512F | AVX512CD | AVX512ER | AVX512PF, AVX512VPOPCNTDQ,
     AVX5124VNNIW | AVX5124FMAPS, 0, SAVES_ZMM, UP_TO_AVX2},
    {"Skylake-X", HASWELL_1, SKYLAKE_X_7, PKU, 0, 0, SAVES_ZMM, UP_TO_AVX512},
    {"Cannon Lake", HASWELL_1, ICE_LAKE_7, UMIP | PKU | AVX512VBMI, 0, 0, SAVES_ZMM, UP_TO_AVX512},
    {"Cascade Lake", HASWELL_1, SKYLAKE_X_7, PKU | AVX512VNNI, 0, 0, SAVES_ZMM, UP_TO_VNNI},
    {"Cooper Lake", HASWELL_1, SKYLAKE_X_7, PKU | AVX512VNNI, 0, AVX512BF16, SAVES_ZMM, UP_TO_BF16},
    {"Ice Lake", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX, FSRM, 0, SAVES_ZMM, UP_TO_VNNI},
    {"Tiger Lake", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX, FSRM | AVX512VP2INTERSECT, 0, SAVES_ZMM, UP_TO_VNNI},
    {"Rocket Lake", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX, FSRM, 0, SAVES_ZMM, UP_TO_VNNI},
    {"Alder Lake", HASWELL_1, SKYLAKE_7 | CLWB | SHA, ALDER_LAKE_7_ECX, FSRM | HYBRID, AVXVNNI | FZRM | FSRS,
     SAVES_YMM | PKRU, UP_TO_AVXVNNI},
    {"Alder Lake with AVX-512", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX, FSRM | AVX512VP2INTERSECT | AVX512FP16,
     AVXVNNI | AVX512BF16 | FZRM | FSRS, SAVES_ZMM, UP_TO_BF16_AND_AVXVNNI},
    {"Gracemont", HASWELL_1, SKYLAKE_7 | CLWB | SHA, ALDER_LAKE_7_ECX, FSRM, AVXVNNI, SAVES_YMM | PKRU, UP_TO_AVXVNNI},
    {"Sierra Forest", HASWELL_1, SKYLAKE_7 | CLWB | SHA, ALDER_LAKE_7_ECX, FSRM, AVXVNNI | FZRM | FSRS, SAVES_YMM | PKRU,
     UP_TO_AVXVNNI},
    {"Sapphire Rapids", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX, FSRM | AMXBF16 | AVX512FP16 | AMXTILE | AMXINT8,
     AVXVNNI | AVX512BF16 | FZRM | FSRS, SAVES_ZMM | TILECFG | TILEDATA, ALL},
    {"Emerald Rapids", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX, FSRM | AMXBF16 | AVX512FP16 | AMXTILE | AMXINT8,
     AVXVNNI | AVX512BF16 | FZRM | FSRS, SAVES_ZMM | TILECFG | TILEDATA, ALL},
    {"Granite Rapids", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX, FSRM | AMXBF16 | AVX512FP16 | AMXTILE | AMXINT8,
     AVXVNNI | AVX512BF16 | FZRM | FSRS, SAVES_ZMM | TILECFG | TILEDATA, ALL},
    {"Zen 1", HASWELL_1, ZEN_7, 0, 0, 0, SAVES_YMM, UP_TO_AVX2},
    {"Zen 2", HASWELL_1, ZEN_7 | CLWB, UMIP | RDPID, 0, 0, SAVES_YMM, UP_TO_AVX2},
    {"Zen 3", HASWELL_1, ZEN_7 | CLWB, UMIP | PKU | VAES | VPCLMULQDQ | RDPID, FSRM, 0, SAVES_YMM | PKRU, UP_TO_AVX2},
    {"Zen 4", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX, FSRM, AVX512BF16, SAVES_ZMM, UP_TO_BF16},
    {"Zen 5", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX, FSRM | AVX512VP2INTERSECT, AVXVNNI | AVX512BF16, SAVES_ZMM,
        UP_TO_BF16_AND_AVXVNNI},

    /* Registers that the system does not save cannot be used. */
    {"Haswell without OSXSAVE", HASWELL_1 & ~OSXSAVE, HASWELL_7, 0, 0, 0, 0, UP_TO_SSE41},
    {"Alder Lake, ymm not saved", HASWELL_1, SKYLAKE_7, ALDER_LAKE_7_ECX, 0, AVXVNNI, SAVES_XMM, UP_TO_SSE41},
    {"Sapphire Rapids, ymm alone saved", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX, 0, AVXVNNI | AVX512BF16, SAVES_YMM,
     UP_TO_AVXVNNI},
    {"Sapphire Rapids, tiles not saved", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX, AMXBF16 | AMXTILE | AMXINT8,
     AVXVNNI | AVX512BF16, SAVES_ZMM | TILECFG, UP_TO_BF16_AND_AVXVNNI},
    {"Haswell, ymm not saved", HASWELL_1, HASWELL_7, 0, 0, 0, SAVES_XMM, UP_TO_SSE41},
    {"Cascade Lake, ymm alone saved", HASWELL_1, SKYLAKE_X_7, AVX512VNNI, 0, 0, SAVES_YMM, UP_TO_AVX2},
    {"Cooper Lake without the masks", HASWELL_1, SKYLAKE_X_7, AVX512VNNI, 0, AVX512BF16, SAVES_ZMM & ~OPMASK, UP_TO_AVX2},
    {"Cooper Lake without halves of zmm", HASWELL_1, SKYLAKE_X_7, AVX512VNNI, 0, AVX512BF16, SAVES_ZMM & ~ZMM_HIGH,
     UP_TO_AVX2},
    {"Cooper Lake without zmm16..31", HASWELL_1, SKYLAKE_X_7, AVX512VNNI, 0, AVX512BF16, SAVES_ZMM & ~ZMM_16_31, UP_TO_AVX2},
    {"Cooper Lake, masks alone saved", HASWELL_1, SKYLAKE_X_7, AVX512VNNI, 0, AVX512BF16, SAVES_YMM | OPMASK, UP_TO_AVX2},

    {"Sapphire Rapids without AMXINT8", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX, AMXBF16 | AMXTILE, AVXVNNI | AVX512BF16,
     SAVES_ZMM | TILECFG | TILEDATA, UP_TO_BF16_AND_AVXVNNI},

    /* A virtual machine omits features but keeps others that build on them: a level needs all features it builds on. */
    {"Alder Lake without AVX2", HASWELL_1, SKYLAKE_7 & ~AVX2, ALDER_LAKE_7_ECX, 0, AVXVNNI, SAVES_YMM, UP_TO_SSE41},
    {"Zen 5 without AVX512VNNI", HASWELL_1, ICE_LAKE_7, ICE_LAKE_7_ECX & ~AVX512VNNI, 0, AVXVNNI | AVX512BF16, SAVES_ZMM,
     UP_TO_AVXVNNI " avx512"},
    {"Cooper Lake without SSSE3", HASWELL_1 & ~SSSE3, SKYLAKE_X_7, AVX512VNNI, 0, AVX512BF16, SAVES_ZMM, "base"},
    {"Cooper Lake without FMA", HASWELL_1 & ~FMA, SKYLAKE_X_7, AVX512VNNI, 0, AVX512BF16, SAVES_ZMM, UP_TO_SSE41},
    {"Cooper Lake without F16C", HASWELL_1 & ~F16C, SKYLAKE_X_7, AVX512VNNI, 0, AVX512BF16, SAVES_ZMM, UP_TO_SSE41},
    {"Cooper Lake without AVX2", HASWELL_1, SKYLAKE_X_7 & ~AVX2, AVX512VNNI, 0, AVX512BF16, SAVES_ZMM, UP_TO_SSE41},
    {"Cooper Lake without AVX512F", HASWELL_1, SKYLAKE_X_7 & ~AVX512F, AVX512VNNI, 0, AVX512BF16, SAVES_ZMM, UP_TO_AVX2},
    {"Cooper Lake without AVX512DQ", HASWELL_1, SKYLAKE_X_7 & ~AVX512DQ, AVX512VNNI, 0, AVX512BF16, SAVES_ZMM, UP_TO_AVX2},
    {"Cooper Lake without AVX512BW", HASWELL_1, SKYLAKE_X_7 & ~AVX512BW, AVX512VNNI, 0, AVX512BF16, SAVES_ZMM, UP_TO_AVX2},
    {"Cooper Lake without AVX512VL", HASWELL_1, SKYLAKE_X_7 & ~AVX512VL, AVX512VNNI, 0, AVX512BF16, SAVES_ZMM, UP_TO_AVX2},
    {"Cooper Lake without VNNI", HASWELL_1, SKYLAKE_X_7, PKU, 0, AVX512BF16, SAVES_ZMM, UP_TO_AVX512},
};

/* Which of its levels a processor uses unless the caller selects another: EAX of CPUID's leaf 1 tells models apart. */
#define INTEL "GenuineIntel"
#define AMD "AuthenticAMD"

static const struct processor {
    const char * name, * vendor;
    uint32_t signature;
    const char * level;
} processors[] = {
    {"Merom", INTEL, 0x6F6, "base"},
    {"Penryn", INTEL, 0x10676, "sse41"},
    {"Bonnell", INTEL, 0x106C2, "base"},
    {"K10", AMD, 0x100F42, "base"},
    {"Nehalem", INTEL, 0x106A5, "sse41"},
    {"Westmere", INTEL, 0x206C2, "sse41"},
    {"Sandy Bridge", INTEL, 0x206A7, "sse41"},
    {"Ivy Bridge", INTEL, 0x306A9, "sse41"},
    {"Piledriver", AMD, 0x600F20, "sse41"},
    {"Jaguar", AMD, 0x700F01, "sse41"},
    {"Excavator", AMD, 0x660F01, "avx2"},
    {"Goldmont", INTEL, 0x506C9, "sse41"},
    {"Denverton", INTEL, 0x506F1, "sse41"},
    {"Haswell", INTEL, 0x306C3, "avx2"},
    {"Broadwell", INTEL, 0x306D4, "avx2"},
    {"Skylake", INTEL, 0x506E3, "avx2"},
    {"Knights Landing", INTEL, 0x50671, "avx2"},
    {"Knights Mill", INTEL, 0x80650, "avx2"},
    {"Skylake-X", INTEL, 0x50654, "avx512"},
    {"Cannon Lake", INTEL, 0x60663, "avx512"},
    {"Cascade Lake", INTEL, 0x50657, "avx512vnni"},
    {"Cooper Lake", INTEL, 0x5065B, "avx512bf16"},
    {"Ice Lake", INTEL, 0x706E5, "avx512vnni"},
    {"Tiger Lake", INTEL, 0x806C1, "avx512vnni"},
    {"Rocket Lake", INTEL, 0xA0671, "avx512vnni"},
    {"Alder Lake", INTEL, 0x90672, "avxvnni"},
    {"Alder Lake with AVX-512", INTEL, 0x90672, "avx512vnni"},
    {"Gracemont", INTEL, 0xB06E0, "avxvnni"},
    {"Sierra Forest", INTEL, 0xA06F3, "avxvnni"},
    {"Sapphire Rapids", INTEL, 0x806F8, "amx"},
    {"Emerald Rapids", INTEL, 0xC06F2, "amx"},
    {"Granite Rapids", INTEL, 0xA06D1, "amx"},
    {"Zen 1", AMD, 0x800F11, "avx2"},
    {"Zen 2", AMD, 0x870F10, "avx2"},
    {"Zen 3", AMD, 0xA20F10, "avx2"},
    {"Zen 4", AMD, 0xA60F12, "avx512bf16"},
    {"Zen 5", AMD, 0xB40F40, "avx512bf16"},
};

static void level_of_processor(const struct processor * p, uint32_t features)
{
    struct sn_model model = {"", 0, 0};
    strcpy(model.vendor, p->vendor);
    sn_cpu_model(p->signature, &model);
    const char * level = sn_level_name(sn_default_level(features, sn_traits_of(&model, 0).slow));
#if !defined(SOME_ISAS)
    if (strcmp(level, p->level) != 0)
        printf("%s uses %s, not %s\n", p->name, level, p->level);
    TEST(strcmp(level, p->level) == 0);
#else
    TEST(strcmp(level, built_of(p->level)) == 0 || !*built_of(p->level));
#endif
}

static void levels_of_machines(void)
{
    size_t known = 0;
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); ++i) {
        const struct machine * m = &machines[i];
        const struct sn_cpuid cpuid = {
            .leaf = {[SN_LEAF_1] = {[SN_ECX] = m->ecx_1, [SN_EDX] = EDX_1},
                     [SN_LEAF_7] = {[SN_EBX] = m->ebx_7, [SN_ECX] = m->ecx_7, [SN_EDX] = m->edx_7},
                     [SN_LEAF_7_1] = {[SN_EAX] = m->eax_7_1}},
            .xcr0 = m->xcr0};
        chosen(m->name, sn_cpu_features(&cpuid), m->levels);
        const bool vbmi = (m->ecx_7 & AVX512VBMI) && (m->xcr0 & SAVES_ZMM) == SAVES_ZMM;
        TEST(vbmi == ((sn_cpu_features(&cpuid) & SN_CPU_AVX512VBMI) != 0));
        for (size_t k = 0; k < sizeof(processors) / sizeof(processors[0]); ++k)
            if (strcmp(processors[k].name, m->name) == 0) {
                level_of_processor(&processors[k], sn_cpu_features(&cpuid));
                ++known;
            }
    }
    TEST(known == sizeof(processors) / sizeof(processors[0]));
    printf("scorecard: {\"processors\": %zu, \"systems\": %zu}\n", known, sizeof(machines) / sizeof(machines[0]) - known);
}

#elif defined(__aarch64__)

static void levels_of_machines(void)
{
    chosen("Cortex-A53", SN_CPU_NEON, "base neon");
    chosen("Neoverse N1", SN_CPU_NEON | SN_CPU_DOTPROD, "base neon neondotprod");
    chosen("products without vectors", SN_CPU_DOTPROD, "base");
}

#else

static void levels_of_machines(void) { chosen("any", 0, "base"); }

#endif

#if defined(__x86_64__)

/* EAX of CPUID's leaf 1 for some processors, as the manuals of their makers give it, and their traits. */
static void traits_of_machines(void)
{
    static const struct machine {
        const char * vendor;
        uint32_t signature, family, model;
        bool slow, prefetchC, ordered;
        size_t cached; /* MB, with an L3 cache of 256 MB */
    } identified[] = {
        {"GenuineIntel", 0xC06F2, 6, 0xCF, true, false, true, 16},  /* Emerald Rapids */
        {"GenuineIntel", 0x806F8, 6, 0x8F, true, false, true, 16},  /* Sapphire Rapids */
        {"GenuineIntel", 0xA06D1, 6, 0xAD, true, false, true, 48},  /* Granite Rapids */
        {"GenuineIntel", 0xA0671, 6, 0xA7, true, false, true, 48},  /* a virtual machine on one of these */
        {"GenuineIntel", 0xC06C0, 6, 0xCC, true, false, true, 24},  /* another one */
        {"GenuineIntel", 0x5065B, 6, 0x55, false, false, true, 24}, /* Cooper Lake */
        {"AuthenticAMD", 0xA10F11, 25, 0x11, false, true, false, 24}, /* Zen 4 */
        {"AuthenticAMD", 0xC06F2, 6, 0xCF, false, true, false, 24}, /* no such processor: another vendor's model */
        {"", 0, 0, 0, false, true, false, 24},
    };
    for (size_t i = 0; i < sizeof(identified) / sizeof(identified[0]); ++i) {
        const struct machine * m = &identified[i];
        struct sn_model model = {"", 0, 0};
        strcpy(model.vendor, m->vendor);
        sn_cpu_model(m->signature, &model);
        TEST(model.family == m->family && model.model == m->model);
        const struct sn_traits t = sn_traits_of(&model, (size_t)256 << 20);
        TEST(t.slow == (m->slow ? (uint32_t)SN_CPU_AVX512BF16 : 0));
        TEST(t.prefetchC == m->prefetchC && t.ordered == m->ordered && t.cached == m->cached << 20);
        TEST(sn_traits_of(&model, 8 << 20).cached == 6 << 20);
    }
    TEST(strcmp(sn_cpu()->model.vendor, "") != 0 && sn_cpu()->model.family != 0);
}

/* Of the 48 characters that CPUID has for a name, without those after a 0 and without blanks at both ends. */
static void names_of_machines(void)
{
    static const struct {
        const char text[49], * name;
    } cases[] = {
        {"AMD EPYC 9R14", "AMD EPYC 9R14"},
        {"AMD Ryzen 9 7950X 16-Core Processor            \0", "AMD Ryzen 9 7950X 16-Core Processor"},
        {"      Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz\0 ", "Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz"},
        {" Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70 GHz ", "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70 GHz"},
        {"Intel(R) Xeon(R) Platinum 8592+ CPU @ 1.90000GHz", "Intel(R) Xeon(R) Platinum 8592+ CPU @ 1.90000GHz"},
        {"                                                ", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        uint32_t leaves[3 * SN_REGISTERS];
        char name[49];
        memcpy(leaves, cases[i].text, sizeof(leaves));
        sn_cpu_name(leaves, name);
        TEST(strcmp(name, cases[i].name) == 0);
    }
}

/* A level with slow instructions is not the default, nor is one that is built on it, but the machine has it. */
static void default_levels(void)
{
    const uint32_t avx2 = SN_CPU_SSE3 | SN_CPU_SSSE3 | SN_CPU_SSE41 | SN_CPU_AVX2 | SN_CPU_FMA | SN_CPU_F16C;
    const uint32_t avx512 = avx2 | SN_CPU_AVX512F | SN_CPU_AVX512BW | SN_CPU_AVX512DQ | SN_CPU_AVX512VL;
    const uint32_t bf16 = avx512 | SN_CPU_AVX512VNNI | SN_CPU_AVX512BF16;
    const struct {
        uint32_t features, slow;
        const char * name;
    } cases[] = {
        {0, 0, "base"},
        {bf16, 0, "avx512bf16"},
        {bf16, SN_CPU_AVX512BF16, "avx512vnni"},
        {bf16, SN_CPU_AVX512VNNI, "avx512"},
        {avx512, SN_CPU_AVX512BF16, "avx512"},
        {bf16, SN_CPU_SSE41, "base"},
        {bf16 | SN_CPU_AMX_TILE | SN_CPU_AMX_INT8 | SN_CPU_AMX_BF16, SN_CPU_AVX512BF16, "amx"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        const char * last = strrchr(built_of(names_of(sn_levels_of(cases[i].features & ~cases[i].slow))), ' ');
        const char * name = sn_level_name(sn_default_level(cases[i].features, cases[i].slow));
        TEST(name && strcmp(name, last ? last + 1 : "base") == 0);
#if !defined(SOME_ISAS)
        TEST(name && strcmp(name, cases[i].name) == 0);
#endif
    }
}

#else

static void names_of_machines(void) {}

static void traits_of_machines(void)
{
    TEST(*sn_cpu()->model.vendor == '\0');
    TEST(sn_cpu()->traits.slow == 0 && sn_cpu()->traits.prefetchC && !sn_cpu()->traits.ordered);
}

static void default_levels(void) { TEST(strcmp(sn_level_name(sn_default_level(0, 0)), "base") == 0); }

#endif

/* SimdnetIsaLevel() lists the levels chosen for the features of this machine. */
static void levels_of_this_machine(void)
{
    const uint32_t levels = sn_levels_of(sn_cpu()->features);
    size_t count = 0;
    for (size_t i = 0; sn_level_name(i); ++i)
        if (levels >> i & 1) {
            const char * name = SimdnetIsaLevel(count++);
            TEST(name && strcmp(name, sn_level_name(i)) == 0);
        }
    TEST(SimdnetIsaLevel(count) == NULL);
}

/* ---- counts and caches, from files of a machine */

/* Two packages of two cores of two threads, one of which is offline. */
static const struct file packages[] = {
    {"cpu0/topology/thread_siblings_list", "0,4\n"}, {"cpu0/topology/core_siblings_list", "0-1,4-5\n"},
    {"cpu1/topology/thread_siblings_list", "1,5\n"}, {"cpu1/topology/core_siblings_list", "0-1,4-5\n"},
    {"cpu2/topology/thread_siblings_list", "2,6\n"}, {"cpu2/topology/core_siblings_list", "2-3,6\n"},
    {"cpu3/topology/thread_siblings_list", "3\n"}, {"cpu3/topology/core_siblings_list", "2-3,6\n"},
    {"cpu4/topology/thread_siblings_list", "0,4\n"}, {"cpu4/topology/core_siblings_list", "0-1,4-5\n"},
    {"cpu5/topology/thread_siblings_list", "1,5\n"}, {"cpu5/topology/core_siblings_list", "0-1,4-5\n"},
    {"cpu6/topology/thread_siblings_list", "2,6\n"}, {"cpu6/topology/core_siblings_list", "2-3,6\n"},
    {"cpu0/cache/index0/size", "48K\n"}, {"cpu0/cache/index1/size", "64K\n"}, {"cpu0/cache/index2/size", "3M\n"},
    {"cpu0/cache/index3/size", "1234567\n"}, {NULL, NULL}};

static const struct file unreadable[] = {
    {"cpu0/cache/index0/size", ""}, {"cpu0/cache/index2/size", "unknown\n"}, {"cpu0/cache/index3/size", "-1\n"}, {NULL, NULL}};

long __real_sysconf(int name);
long __wrap_sysconf(int name);

long __wrap_sysconf(int name)
{
    const bool counts = name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN;
    return !files || !counts ? __real_sysconf(name) : name == _SC_NPROCESSORS_CONF ? 8 : 7;
}

/* What a new process would find, so this process must not have looked yet. */
static bool finds(const struct file * machine, const struct sn_cpu * expected)
{
    const pid_t child = fork();
    if (child == 0) {
        files = machine;
        const struct sn_cpu * c = sn_cpu();
        _exit(c->sockets != expected->sockets || c->cores != expected->cores || c->threads != expected->threads ||
              c->cacheL1 != expected->cacheL1 || c->cacheL2 != expected->cacheL2 || c->cacheL3 != expected->cacheL3);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void counts_and_caches(void)
{
    static const struct file none[] = {{NULL, NULL}};
    const struct sn_cpu usual = {.sockets = 1, .cores = 7, .threads = 7, .cacheL1 = 32 << 10, .cacheL2 = 256 << 10,
        .cacheL3 = 2 << 20};
    TEST(finds(packages, &(struct sn_cpu){.sockets = 2, .cores = 4, .threads = 7, .cacheL1 = 48 << 10, .cacheL2 = 3 << 20,
                             .cacheL3 = 1234567}));
    TEST(finds(unreadable, &usual));
    TEST(finds(none, &usual));
}

int main(void)
{
    counts_and_caches(); /* first */
    levels_of_machines();
    levels_of_this_machine();
    default_levels();
    traits_of_machines();
    names_of_machines();
    return test_end();
}
