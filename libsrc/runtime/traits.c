#include "runtime/traits.h"

#include <string.h>

#include "runtime/features.h"

/*
 * `cached`: non-temporal stores are faster if sources and result exceed the caches: on Zen 4 with an L3 cache of 32 MB
 * from 24 MB on, whether a next layer reads the result (1.07 times as fast) or not (1.04; 0.77 at 16 MB). A larger L3 cache,
 * as servers have, is shared with other users: Emerald Rapids reports 266 MB; there plain and non-temporal stores are
 * equally fast at 8 MB of results, that is 16 MB with a source, and non-temporal ones 1.3 times as fast at twice that.
 * A Xeon that reports 480 MB takes 0.53 to 0.58 of the time with plain stores for 16 to 32 MB of results, if the same call
 * is repeated. Of additions, activations and scales one after another it takes 0.75 for results of 13 MB, 1.0 for 26 MB, 1.2
 * for 41 MB; with other data in the cache before, 0.87, 1.05 and 1.15, and a single call of 26 to 34 MB 1.3 to 1.8.
 */

/* The last row that fits is used. */
static const struct row {
    const char * vendor;                 /* "" fits every vendor */
    uint32_t family, models[4], number;  /* the number of models; 0 fits every family and model */
    struct sn_traits traits;
} rows[] = {
    /* Zen 4: without the prefetch of C the first layer of a network, 3x224x224 to 64 channels, takes 1.03 of the time,
     * layers of 1x1 0.99; ordered results take 1.00 to 1.07. */
    {"", 0, {0}, 0, {.slow = 0, .cached = 24 << 20, .prefetchC = true, .ordered = false}},
    /* Other processors of Intel, not measured: as those below, which are. */
    {"GenuineIntel", 0, {0}, 0, {.slow = SN_CPU_AVX512BF16, .cached = 24 << 20, .prefetchC = false, .ordered = true}},
    /* Cooper Lake, not measured: Intel announced bfloat16 numbers as its gain. */
    {"GenuineIntel", 6, {0x55}, 1, {.slow = 0, .cached = 24 << 20, .prefetchC = false, .ordered = true}},
    /* Sapphire Rapids and Emerald Rapids, measured on the latter. Products of bfloat16 numbers take twice the time of
     * products of floats (86 against 172 GFLOP/s). Without the prefetch of C the same first layer takes 0.79 of the time,
     * 32x112x112 to 64 channels 0.90; with ordered results this takes 0.77, 16x112x112 to 96 0.65. */
    {"GenuineIntel", 6, {0x8F, 0xCF}, 2,
     {.slow = SN_CPU_AVX512BF16, .cached = 16 << 20, .prefetchC = false, .ordered = true}},
    /* Granite Rapids, measured on a virtual machine that has its caches and reports model A7h (Rocket Lake's, which has
     * neither AMX nor bfloat16 numbers, and an L3 cache of 16 MB): products of bfloat16 numbers as above (101 against 192
     * GFLOP/s), ordered results 0.69 (16x112x112 to 96) to 1.0, the prefetch of C 0.93 to 1.04. */
    {"GenuineIntel", 6, {0xA7, 0xAD}, 2,
     {.slow = SN_CPU_AVX512BF16, .cached = 48 << 20, .prefetchC = false, .ordered = true}},
};

static bool fits(const struct row * row, const struct sn_model * m)
{
    if (*row->vendor && strcmp(row->vendor, m->vendor) != 0)
        return false;
    if (row->number == 0)
        return true;
    for (size_t i = 0; i < row->number; ++i)
        if (row->family == m->family && row->models[i] == m->model)
            return true;
    return false;
}

struct sn_traits sn_traits_of(const struct sn_model * model, size_t cacheL3)
{
    struct sn_traits traits = rows[0].traits;
    for (size_t i = 1; i < sizeof(rows) / sizeof(rows[0]); ++i)
        if (fits(&rows[i], model))
            traits = rows[i].traits;
    traits.cached = sn_min(traits.cached, cacheL3 / 4 * 3);
    return traits;
}
