/* _GNU_SOURCE is for secure_getenv: the environment of a setuid program is not asked. */
#define _GNU_SOURCE
#include "runtime/dispatch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cpu.h"
#include "runtime/text.h"

/* Writes a level's kernels over the copy of its parent's table. */
typedef void (*install_fn)(struct sn_table * table);

void sn_install_base(struct sn_table * table);

#if defined(__x86_64__)
void sn_install_sse41(struct sn_table * table);
void sn_install_avx2(struct sn_table * table);
void sn_install_avx512(struct sn_table * table);
void sn_install_avx512vnni(struct sn_table * table);
void sn_install_avx512bf16(struct sn_table * table);
#elif defined(__aarch64__)
void sn_install_neon(struct sn_table * table);
void sn_install_neondotprod(struct sn_table * table);
#endif

/* One row per level, oldest first, each on top of the one before. `install` is NULL while a level betters no kernel yet. */
static const struct level {
    const char * name;
    uint32_t needs;
    install_fn install;
} levels[] = {
    {"base", 0, sn_install_base},
#if defined(__x86_64__)
    {"sse41", SN_CPU_SSE3 | SN_CPU_SSSE3 | SN_CPU_SSE41, sn_install_sse41},
    {"avx2", SN_CPU_AVX2 | SN_CPU_FMA | SN_CPU_F16C, sn_install_avx2},
    {"avx512", SN_CPU_AVX512F | SN_CPU_AVX512BW | SN_CPU_AVX512DQ | SN_CPU_AVX512VL, sn_install_avx512},
    {"avx512vnni", SN_CPU_AVX512VNNI, sn_install_avx512vnni},
    {"avx512bf16", SN_CPU_AVX512BF16, sn_install_avx512bf16},
#elif defined(__aarch64__)
    {"neon", SN_CPU_NEON, sn_install_neon},
    {"neondotprod", SN_CPU_DOTPROD, sn_install_neondotprod},
#endif
};

enum { LEVELS = sizeof(levels) / sizeof(levels[0]) };

static struct sn_table tables[LEVELS];
static size_t table_count;            /* levels that this machine has: 0 .. table_count - 1 */
static const struct sn_table * active; /* read and written atomically */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The row with this name, LEVELS when there is none. */
static size_t level_of(const char * name)
{
    size_t i = 0;
    while (i < LEVELS && strcmp(levels[i].name, name) != 0)
        ++i;
    return i;
}

static void cap_at(size_t level)
{
    const struct sn_table * table = &tables[sn_min(level, table_count - 1)];
    __atomic_store_n(&active, table, __ATOMIC_RELEASE);
}

const char * sn_level_name(size_t index) { return index < LEVELS ? levels[index].name : NULL; }

/* A level's kernels use those of its parent, so it needs the parent's features, too. */
uint32_t sn_levels_of(uint32_t features)
{
    uint32_t found = 1;
    for (size_t i = 1; i < LEVELS; ++i)
        if ((found >> (i - 1) & 1) && (features & levels[i].needs) == levels[i].needs)
            found |= 1u << i;
    return found;
}

static void build_tables(void)
{
    const uint32_t found = sn_levels_of(sn_cpu()->features);
    for (size_t i = 0; found >> i & 1; ++i) {
        if (i)
            tables[i] = tables[i - 1];
        tables[i].isa = levels[i].name;
        if (levels[i].install)
            levels[i].install(&tables[i]);
        table_count = i + 1;
    }
    size_t cap = LEVELS - 1;
    const char * name = secure_getenv("SIMDNET_MAX_ISA");
    if (name && *name) {
        cap = level_of(name);
        if (cap == LEVELS)
            sn_say("SIMDNET_MAX_ISA is ignored, no such instruction set: %.100s", name);
    }
    cap_at(cap);
}

const struct sn_table * sn_table(void)
{
    pthread_once(&once, build_tables);
    return __atomic_load_n(&active, __ATOMIC_ACQUIRE);
}

const struct sn_table * sn_table_at(size_t index)
{
    pthread_once(&once, build_tables);
    return index < table_count ? &tables[index] : NULL;
}

bool sn_dispatch_cap(const char * name)
{
    pthread_once(&once, build_tables);
    const size_t level = name ? level_of(name) : LEVELS - 1;
    if (level == LEVELS)
        return false;
    cap_at(level);
    return true;
}
