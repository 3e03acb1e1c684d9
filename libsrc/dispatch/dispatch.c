#include "dispatch/dispatch.h"

#include <string.h>

#include "runtime/cpu.h"
#include "runtime/os.h"
#include "runtime/text.h"

/* Writes a level's kernels over the copy of its parent's table. */
typedef void (*install_fn)(struct sn_table * table);

#define SN_LEVEL(name, parent, needs) void sn_install_##name(struct sn_table * table);
#include "levels.h"
#undef SN_LEVEL

/* The number of each level that was built: level_base and so on. */
enum {
#define SN_LEVEL(name, parent, needs) level_##name,
#include "levels.h"
#undef SN_LEVEL
    LEVELS
};

/* One row per level, oldest first, so a parent comes before those that are built on it. */
static const struct level {
    const char * name;
    size_t parent;
    uint32_t needs;
    install_fn install;
} levels[LEVELS] = {
#define SN_LEVEL(name, parent, needs) {#name, level_##parent, needs, sn_install_##name},
#include "levels.h"
#undef SN_LEVEL
};

static struct sn_table tables[LEVELS];
static uint32_t available;             /* bit i: this machine supports level i, and its table is built */
static const struct sn_table * active; /* read and written atomically */
static struct sn_once once;

/* The row with this name, LEVELS if there is none. */
static size_t level_of(const char * name)
{
    size_t i = 0;
    while (i < LEVELS && strcmp(levels[i].name, name) != 0)
        ++i;
    return i;
}

/* Uses the last available level up to this one. */
static void cap_at(size_t level)
{
    while (!(available >> level & 1))
        --level;
    __atomic_store_n(&active, &tables[level], __ATOMIC_RELEASE);
}

const char * sn_level_name(size_t index) { return index < LEVELS ? levels[index].name : NULL; }

/* A level also uses kernels of its parent, so it requires the parent's features, too. */
uint32_t sn_levels_of(uint32_t features)
{
    uint32_t found = 1;
    for (size_t i = 1; i < LEVELS; ++i)
        if ((found >> levels[i].parent & 1) && (features & levels[i].needs) == levels[i].needs)
            found |= 1u << i;
    return found;
}

size_t sn_default_level(uint32_t features, uint32_t slow)
{
    const uint32_t found = sn_levels_of(features & ~slow);
    size_t level = LEVELS - 1;
    while (!(found >> level & 1))
        --level;
    return level;
}

static size_t default_level(void) { return sn_default_level(sn_cpu()->features, sn_cpu()->traits.slow); }

static void build_tables(void)
{
    available = sn_levels_of(sn_cpu()->features);
    for (size_t i = 0; i < LEVELS; ++i) {
        if (!(available >> i & 1))
            continue;
        tables[i] = tables[levels[i].parent];
        tables[i].isa = levels[i].name;
        levels[i].install(&tables[i]);
    }
    size_t cap = default_level();
    const char * name = sn_os_environment("SIMDNET_MAX_ISA");
    if (name && *name) {
        cap = level_of(name);
        if (cap == LEVELS) {
            sn_message("SIMDNET_MAX_ISA is ignored, no such instruction set: %.100s", name);
            cap = default_level();
        }
    }
    cap_at(cap);
}

const struct sn_table * sn_table(void)
{
    sn_once(&once, build_tables);
    return __atomic_load_n(&active, __ATOMIC_ACQUIRE);
}

const struct sn_table * sn_table_at(size_t index)
{
    sn_once(&once, build_tables);
    for (size_t i = 0; i < LEVELS; ++i)
        if ((available >> i & 1) && index-- == 0)
            return &tables[i];
    return NULL;
}

bool sn_dispatch_cap(const char * name)
{
    sn_once(&once, build_tables);
    const size_t level = name ? level_of(name) : default_level();
    if (level == LEVELS)
        return false;
    cap_at(level);
    return true;
}
