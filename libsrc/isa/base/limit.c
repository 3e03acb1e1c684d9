#include "isa/base/base.h"

/* One chain of scalar multiplies and adds, as base's loops are. The sum, near 1, is used so that the loop stays. */
static size_t fma_work(size_t flops)
{
    float sum = 2;
    const size_t steps = sn_ceil_div(flops, 2);
    for (size_t i = 0; i < steps; ++i)
        sum = sum * 0.5f + 0.5f;
    return sum > 0 ? steps * 2 : 0;
}

/* The bytes change with each step, so that the sum cannot be known beforehand. */
static size_t dot_work(size_t operations)
{
    uint32_t sum = 1;
    const size_t steps = sn_ceil_div(operations, 2);
    for (size_t i = 0; i < steps; ++i)
        sum += (uint32_t)(uint8_t)sum * 3;
    return steps * 2 + (sum == 0);
}

static void copy_work(const uint8_t * src, size_t size, uint8_t * dst)
{
    for (size_t i = 0; i < size; ++i)
        dst[i] = src[i];
}

void sn_install_limit_base(struct sn_table * table)
{
    table->fma_work = fma_work;
    table->dot_work = dot_work;
    table->dot_16b_work = fma_work;
    table->copy_work = copy_work;
}
