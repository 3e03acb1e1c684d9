#include "ops/convolution/phase_planes.h"

#include <string.h>

bool sn_phase_planes_plan(const struct sn_convolution * c, bool copied, size_t planes, size_t more, size_t budget,
                          struct sn_band * band, size_t * size)
{
    const struct sn_phases * y = sn_phases_y(c), * x = sn_phases_x(c);
    const bool out = sn_phases_reach_out(y, c->p.srcH) || sn_phases_reach_out(x, c->p.srcW);
    band->copied = copied || (sn_phases_used(c) && out);
    band->columns = band->line = band->copied ? x->count + x->reach : c->p.srcW;
    band->pixel = 1;
    size_t row, fixed;
    if (!sn_product(&row, band->line, planes) || !sn_product(&row, row + more, 1) ||
        !sn_product(&fixed, band->line, planes, y->reach))
        return false;
    sn_phase_band_rows(c, row, fixed, budget, band);
    band->plane = band->copied ? band->lines * band->line : c->p.srcH * c->p.srcW;
    /* Kernels read up to a vector after a copied line. */
    return sn_product(size, band->lines, band->line, planes) && sn_product(size, band->copied, *size + sn_lanes(c));
}

void sn_phase_planes_copy(const struct sn_convolution * c, const struct sn_band * band, const sn_32f * src, size_t row,
                          size_t rows, struct sn_phase_columns columns, sn_32f * to)
{
    const size_t line = band->line, all = sn_phase_lines(c, rows);
    const size_t end = sn_min(columns.end, sn_phases_x(c)->count) + sn_phases_x(c)->reach;
    const size_t some = sn_min(end + sn_lanes(c), line) - columns.begin; /* with the vector after them, which kernels read */
    const struct sn_span y = sn_span_of(sn_phases_y(c)->low + (ptrdiff_t)row, all, c->p.srcH);
    const struct sn_span x = sn_span_of(sn_phases_x(c)->low + (ptrdiff_t)columns.begin, some, c->p.srcW);
    memset(to, 0, y.before * line * sizeof(float));
    to += y.before * line;
    if (y.inside) {
        const struct sn_lines_32f lines = {.src = x.inside ? src + y.begin * c->p.srcW + x.begin : src, .srcStep = c->p.srcW,
            .stride = 1, .dst = to + columns.begin, .dstStep = line, .lines = y.inside, .before = x.before,
            .inside = x.inside, .size = some};
        c->table->convolution_32f.lines(&lines);
    }
    /* Including the vector after the lines, which kernels read. */
    memset(to + y.inside * line, 0, ((all - y.before - y.inside) * line + sn_lanes(c)) * sizeof(float));
}

void sn_phase_planes_interleave(const struct sn_convolution * c, const struct sn_interleave_32f * job)
{
    const size_t phases = job->phases, whole = job->size / phases, rest = job->size % phases;
    if (phases >= 2 && phases <= 4) {
        c->table->deconvolution_32f.interleave(job);
        return;
    }
    for (size_t i = 0; i < job->rows; ++i) { /* a row is an image with as many channels as phases */
        const sn_32f * src = job->src + i * job->srcStep;
        sn_32f * dst = job->dst + i * job->dstStep;
        c->table->layout.image_32f(phases, job->phaseStep, src, SN_NCHW, dst, SN_NHWC, 0, whole);
        if (rest)
            c->table->layout.image_32f(rest, job->phaseStep, src + whole, SN_NCHW, dst + whole * phases,
                                       SN_NHWC, 0, 1);
    }
}
