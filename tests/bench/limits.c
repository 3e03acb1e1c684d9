/* The limits of base, plain loops like its own, and the list of all. */
#include "limits.h"

#include <string.h>

#include "runtime/common.h"

/* The limits of other levels: limits_set.c, compiled for each. */
#define SN_LEVEL(isa, parent, needs) extern const struct limits sn_limits_##isa;
#include "levels.h"
#undef SN_LEVEL

/* One chain. The sum, near 1, is used so that the loop is not optimised away. */
static size_t fma_base(size_t operations)
{
    float sum = 2;
    const size_t steps = sn_ceil_div(operations, 2);
    for (size_t i = 0; i < steps; ++i)
        sum = sum * 0.5f + 0.5f;
    return sum > 0 ? steps * 2 : 0;
}

/* The bytes change with each step, so that the sum cannot be precomputed. */
static size_t dot_8i_base(size_t operations)
{
    uint32_t sum = 1;
    const size_t steps = sn_ceil_div(operations, 2);
    for (size_t i = 0; i < steps; ++i)
        sum += (uint32_t)(uint8_t)sum * 3;
    return steps * 2 + (sum == 0);
}

static void copy_base(const uint8_t * src, size_t size, uint8_t * dst)
{
    for (size_t i = 0; i < size; ++i)
        dst[i] = src[i];
}

static uint32_t read_base(const uint8_t * src, size_t size)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i += sizeof(sum)) {
        uint32_t word = 0;
        memcpy(&word, src + i, sn_min(size - i, sizeof(word)));
        sum += word;
    }
    return sum;
}

const struct limits sn_limits_base = {fma_base, dot_8i_base, fma_base, copy_base, read_base};

static const struct {
    const char * isa;
    const struct limits * limits;
} all[] = {
#define SN_LEVEL(isa, parent, needs) {#isa, &sn_limits_##isa},
#include "levels.h"
#undef SN_LEVEL
};

__attribute__((visibility("default"))) const struct limits * limits_of(const char * isa)
{
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i)
        if (strcmp(all[i].isa, isa) == 0)
            return all[i].limits;
    return NULL;
}
