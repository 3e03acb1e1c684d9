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
            const uint32_t bits = sn_bits_32f(plane[p->row[i][n] + p->column[j][n]]) & p->y.mask[i][n] & p->x.mask[j][n];
            const float product = p->x.weight[j][n] * sn_from_bits_32f(bits);
            sum = j ? sum + product : product;
        }
        value = i ? value + p->y.weight[i][n] * sum : p->y.weight[i][n] * sum;
    }
    return value;
}

static void values(const struct sn_grid_positions * p, size_t taps, size_t count, const struct sn_grid_planes * planes)
{
    for (size_t c = 0; c < planes->count; ++c)
        for (size_t n = 0; n < count; ++n)
            planes->dst[c * planes->step + n] = value(p, taps, planes->src + c * planes->size, n);
}

SN_INSTALL(grid_sample, grid_sample)
{
    slots->locate = locate;
    slots->values = values;
}
