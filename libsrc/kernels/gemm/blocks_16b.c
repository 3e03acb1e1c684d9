/* The bfloat16 tile by products of whole blocks, kernels/gemm/blocks.h. */
#include "contract/convolution_16b.h"
#include "kernels/install.h"

#include <block.h>

#include "kernels/gemm/16b.h"
#define BLOCK_DOT BLOCK_DOT_16B
#include "kernels/gemm/blocks.h"

#include <dot_16b.h>

/* Limited sums of a row as results. `narrow` is a compile-time constant. */
SN_INLINE void put(const struct sn_dot * g, const sn_32f * sums, struct limits limits, uint8_t * c, bool narrow)
{
    for (size_t j = 0; j < g->columns; j += V32F_N) {
        const v32f v = limit(v_load_32f(sums + j), limits);
        const size_t n = sn_min(g->columns - j, V32F_N);
        if (narrow)
            tile_store_16b(c + 2 * j, v, n);
        else
            v_store_tail_32f(c + sizeof(float) * j, v, n);
    }
}

static void results(const struct sn_dot * g, uint32_t (*sums)[PANEL], size_t rows, uint8_t * c)
{
    const struct sn_result_16b * r = g->result;
    sn_32f * from = (sn_32f *)sums;
    if (second_pass(r->activation)) {
        if (activates_rows(r->activation))
            ACTIVATE_ROWS(from, rows, g->columns, (size_t)PANEL, r->activation, r->param);
        tile_activate(g, from, PANEL, rows, c);
        return;
    }
    const struct limits limits = limits_of(r->activation, r->param);
    for (; rows; --rows, from += PANEL, c += g->cStepX)
        if (r->narrow)
            put(g, from, limits, c, true);
        else
            put(g, from, limits, c, false);
}

static void run(const struct sn_dot * g)
{
    const struct sn_result_16b * r = g->result;
    blocks_run(g, results, !r->narrow && r->activation == SN_ACTIVATION_IDENTITY);
}

SN_INSTALL(gemm_blocks_16b, convolution_16b)
{
    slots->tile = (struct sn_dot_tile){.run = run, .rows = 2 * BLOCK_ROWS, .columns = PANEL, .granule = BLOCK_COLUMNS,
        .group = 2, .number = 2, .fast = true, .aligned = true};
}
