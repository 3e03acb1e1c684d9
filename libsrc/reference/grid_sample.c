#include "contract/grid_sample.h"

#include "reference/reference.h"
#include "runtime/numeric.h"

static bool locate(const struct sn_grid_rule * rule, const sn_32f * grid, size_t count, struct sn_grid_positions * p)
{
    (void)rule;
    (void)grid;
    (void)count;
    (void)p;
    return false;
}

static float value(const struct sn_grid_positions * p, size_t taps, const sn_32f * plane, size_t n)
{
    float value = 0;
    for (size_t i = 0; i < taps; ++i) {
        float sum = 0;
        for (size_t j = 0; j < taps; ++j) {
            const uint32_t bits = sn_bits_32f(plane[p->at[i * taps + j][n]]) & p->y.mask[i][n] & p->x.mask[j][n];
            const float product = p->x.weight[j][n] * sn_from_bits_32f(bits);
            sum = j ? sum + product : product;
        }
        value = i ? value + p->y.weight[i][n] * sum : p->y.weight[i][n] * sum;
    }
    return value;
}

static void values(const struct sn_grid_positions * p, size_t taps, const sn_32f * plane, size_t size, size_t planes,
                   size_t count, sn_32f * dst, size_t step)
{
    for (size_t c = 0; c < planes; ++c)
        for (size_t n = 0; n < count; ++n)
            dst[c * step + n] = value(p, taps, plane + c * size, n);
}

SN_INSTALL(grid_sample, grid_sample)
{
    slots->locate = locate;
    slots->values = values;
}
