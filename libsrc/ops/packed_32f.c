#include "ops/packed_32f.h"

#include <string.h>

#include "ops/units.h"
#include "runtime/cpu.h"
#include "runtime/threads.h"

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

struct product {
    const struct sn_packed_32f * m;
    const sn_32f * a, * bias;
    size_t lda, rows, ldc;
    sn_32f * c;
};

/* Panels begin .. end - 1 of the columns. */
static void multiply_panels(const void * argument, void * work, size_t begin, size_t end)
{
    static const size_t start = 0;
    const struct product * p = argument;
    const struct sn_packed_32f * m = p->m;
    const struct sn_gemm_32f_tile * tile = tile_of(m);
    const size_t last = sn_min(end * tile->columns, m->columns);
    size_t n = begin * tile->columns;
    const bool far = m->depth * m->columns * sizeof(float) > sn_cpu()->cacheL2;
    (void)work;
    if (p->rows <= m->kernels->rows_32f.rows) { /* all whole panels */
        const size_t panels = (last - n) / tile->columns;
        m->kernels->rows_32f.run(&(struct sn_gemm_rows_32f){.a = p->a, .b = m->panels + n * m->depth, .bias = p->bias + n,
            .lda = p->lda, .ldc = p->ldc, .rows = p->rows, .depth = m->depth, .panels = panels, .c = p->c + n,
            .far = far});
        n += panels * tile->columns;
    }
    struct sn_gemm_32f run = {.a = p->a, .height = 1, .width = p->rows, .aStepX = p->lda, .segment = &start, .segments = 1,
        .length = m->depth, .cStepX = p->ldc, .coldC = !sn_cpu()->traits.prefetchC};
    for (; n < last; n += tile->columns) {
        run.b = m->panels + n * m->depth;
        run.columns = sn_min(tile->columns, m->columns - n);
        run.bias = p->bias + n;
        run.c = p->c + n;
        if (far) { /* the next panel */
            run.prefetch = run.b + m->depth * run.columns;
            run.prefetchStep = m->depth * run.columns / p->rows;
        }
        tile->run(&run);
    }
}

void sn_packed_multiply_32f(const struct sn_packed_32f * m, const sn_32f * a, size_t lda, size_t rows, const sn_32f * bias,
                            sn_32f * c, size_t ldc, bool divided)
{
    if (!tile_of(m)->run) {
        multiply_plain(m, a, lda, rows, bias, c, ldc);
        return;
    }
    const struct product p = {m, a, bias, lda, rows, ldc, c};
    const size_t panels = sn_ceil_div(m->columns, tile_of(m)->columns);
    const double floats = (double)m->depth * (double)m->columns;
    if (!divided)
        multiply_panels(&p, NULL, 0, panels);
    else
        sn_parallel_for(&(struct sn_parallel){.run = multiply_panels, .job = &p, .units = panels,
            .cost = sn_cost_of_bytes(4 * floats) + sn_cost_of_sums(floats * (double)rows, 32)});
}
