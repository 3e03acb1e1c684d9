/* The tile of bytes by products of whole blocks, kernels/gemm/blocks.h. */
#include "contract/convolution_8i.h"
#include "kernels/install.h"
#include "kernels/result_8i.h"

#include <block.h>

#define BLOCK_DOT BLOCK_DOT_8I
#include "kernels/gemm/blocks.h"

/*
 * Fewer rows, and fewer rows times groups, are left to the tile of vectors, that of the level below, whose panels are the same: a
 * block of less than 16 rows takes as long as one of 16, and the configuration of the registers 50 ns. One row of 1024 by 1024
 * takes 1.2 to 2 times as long by blocks, 9 rows of 256 by 256 1.08, 16 rows of 64 by 64 1.1; 16 rows of 512 by 512 0.7.
 */
enum { LEAST_ROWS = 12, LEAST_PRODUCTS = 512 };

static sn_dot_fn run_few;

static void results(const struct sn_dot * g, uint32_t (*sums)[PANEL], size_t rows, uint8_t * c)
{
    result_rows((const int32_t *)sums, PANEL, g->result, g->columns, c, g->cStepX, rows);
}

static void run(const struct sn_dot * g)
{
    const size_t rows = g->height * g->width;
    if (rows < LEAST_ROWS || rows * g->segments * g->length < LEAST_PRODUCTS)
        run_few(g);
    else
        blocks_run(g, results);
}

SN_INSTALL(gemm_blocks_8i, convolution_8i)
{
    run_few = slots->tile.run;
    slots->tile.run = run;
    slots->tile.rows = 2 * BLOCK_ROWS;
}
