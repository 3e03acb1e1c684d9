#include "ops/packed_32f.h"

#include <string.h>

#include "runtime/cpu.h"

static const struct sn_gemm_32f_tile * tile_of(const struct sn_packed_32f * m) { return &m->kernels->tile_32f; }

size_t sn_packed_size_32f(const struct sn_packed_32f * m)
{
    const struct sn_gemm_32f_tile * tile = tile_of(m);
    const size_t rest = tile->run ? m->columns % tile->columns : 0;
    return m->depth * (m->columns - rest + (rest ? sn_gemm_width(tile, rest) : 0));
}

size_t sn_packed_bias_size_32f(const struct sn_packed_32f * m) { return m->columns + tile_of(m)->columns; }

void sn_pack_32f(const struct sn_packed_32f * m, const sn_32f * transposed)
{
    const struct sn_gemm_32f_tile * tile = tile_of(m);
    if (!tile->run) {
        memcpy(m->panels, transposed, m->depth * m->columns * sizeof(float));
        return;
    }
    m->kernels->panels_32f[true](&(struct sn_gemm_panels_32f){.b = transposed, .step = m->depth, .depth = m->depth,
        .columns = m->columns, .alpha = 1, .panel = m->panels, .wide = tile->columns,
        .narrow = sn_gemm_width(tile, m->columns % tile->columns), .pitch = m->depth * tile->columns});
}

static void multiply_plain(const struct sn_packed_32f * m, const sn_32f * a, size_t lda, size_t rows, const sn_32f * bias,
                           sn_32f * c, size_t ldc)
{
    for (size_t i = 0; i < rows; ++i)
        memcpy(c + i * ldc, bias, m->columns * sizeof(float));
    m->kernels->plain(&(struct sn_gemm){.transposed = true, .M = rows, .N = m->columns, .K = m->depth, .alpha = 1, .beta = 1,
        .A = a, .B = m->panels, .C = c, .lda = lda, .ldb = m->depth, .ldc = ldc});
}

void sn_packed_multiply_32f(const struct sn_packed_32f * m, const sn_32f * a, size_t lda, size_t rows, const sn_32f * bias,
                            sn_32f * c, size_t ldc)
{
    static const size_t start = 0;
    const struct sn_gemm_32f_tile * tile = tile_of(m);
    if (!tile->run) {
        multiply_plain(m, a, lda, rows, bias, c, ldc);
        return;
    }
    size_t n = 0;
    if (rows <= m->kernels->rows_32f.rows) { /* all whole panels */
        const size_t panels = m->columns / tile->columns;
        m->kernels->rows_32f.run(&(struct sn_gemm_rows_32f){.a = a, .b = m->panels, .bias = bias, .lda = lda, .ldc = ldc,
            .rows = rows, .depth = m->depth, .panels = panels, .c = c});
        n = panels * tile->columns;
    }
    const bool far = m->depth * m->columns * sizeof(float) > sn_cpu()->cacheL2;
    struct sn_gemm_32f run = {.a = a, .height = 1, .width = rows, .aStepX = lda, .segment = &start, .segments = 1,
        .length = m->depth, .cStepX = ldc, .coldC = !sn_cpu()->traits.prefetchC};
    for (; n < m->columns; n += tile->columns) {
        run.b = m->panels + n * m->depth;
        run.columns = sn_min(tile->columns, m->columns - n);
        run.bias = bias + n;
        run.c = c + n;
        if (far) { /* the next panel */
            run.prefetch = run.b + m->depth * run.columns;
            run.prefetchStep = m->depth * run.columns / rows;
        }
        tile->run(&run);
    }
}
