/* What merged convolutions of all element types share: parameters, memory, and the computation of whole images. */
#include "ops/convolution/merged.h"

#include "runtime/cpu.h"

bool sn_merged_plan(struct sn_merged * m)
{
    m->first = m->given;
    m->last = m->given + (enum sn_merged_stage)(m->count - 1);
    if (!m->kind->plan(m))
        return false;
    m->dense = m->stage[m->last].dense;
    m->dense.srcPixel = m->stage[m->first].dense.srcPixel;
    m->dense.srcImage = m->stage[m->first].dense.srcImage;
    return true;
}

struct sn_fault sn_merged_set(struct sn_merged * m, const struct sn_set_params * given)
{
    return sn_convolution_set(&m->stage[m->first], given, sn_merged_stages(m));
}

size_t sn_merged_memory(const struct sn_merged * m)
{
    size_t size = 0;
    for (size_t i = 0; i < sn_merged_stages(m); ++i)
        size += sn_convolution_memory(&m->stage[m->first + i]);
    return size;
}

void sn_merged_free(struct sn_merged * m)
{
    for (size_t i = 0; i < sn_merged_stages(m); ++i)
        sn_convolution_free(&m->stage[m->first + i]);
}

void sn_merged_simplify(struct sn_merged * m)
{
    bool columns = true;
    if (!m->table->gemm.tile_32f.run) /* `base` takes no shortcuts: the others are tested against it */
        return;
    for (int i = m->first; i <= (int)m->last; ++i) {
        sn_convolution_crop_taps(&m->stage[i]);
        columns = columns && sn_convolution_is_column(&m->stage[i]);
    }
    for (int i = m->first; i <= (int)m->last && columns; ++i)
        sn_convolution_turn(&m->stage[i]);
}

void sn_merged_prepare(struct sn_merged * m, int i, const struct sn_convolution_family * family,
                       const struct sn_convolution_algorithm * algorithm)
{
    struct sn_convolution * c = &m->stage[i];
    c->format = c->p.srcF;
    c->batch = 1;
    c->table = m->table;
    c->family = family;
    c->algorithm = algorithm;
    if (algorithm && family->prepare)
        family->prepare(c);
}

bool sn_merged_plan_stage(struct sn_merged * m, int i)
{
    struct sn_convolution * c = &m->stage[i];
    size_t all;
    return sn_convolution_plan(c) == SN_ERROR_NONE && sn_product(&all, m->batch, c->srcSize) &&
           sn_product(&all, m->batch, c->dstSize);
}

size_t sn_merged_rows(const struct sn_merged * m, size_t all, size_t (*step_size)(const struct sn_merged *, size_t rows))
{
    enum { FEW_ROWS = 4, FEW_PIXELS = 64 };
    const size_t width = sn_max(m->stage[SN_DEPTHWISE].p.dstW, 1);
    const size_t pixels = sn_min(sn_align(sn_ceil_div(FEW_PIXELS, width), FEW_ROWS), SN_MOST_ROWS);
    const size_t budget = sn_cpu()->cacheL2 / 2, weights = m->stage[SN_EXPANSION].weightSize + m->stage[SN_PROJECTION].weightSize;
    const size_t most = sn_min(all, weights > budget ? SN_MOST_ROWS : pixels);
    size_t rows = sn_min(all, FEW_ROWS);
    while (rows > 1 && step_size(m, rows) > budget)
        --rows;
    while (rows < most && step_size(m, sn_min(all, rows + FEW_ROWS)) <= budget)
        rows = sn_min(all, rows + FEW_ROWS);
    return rows;
}

bool sn_merged_plan_images(struct sn_merged * m)
{
    size_t images[2] = {0, 0}, rest = 0;
    for (int i = m->first; i <= (int)m->last; ++i) {
        if (i < (int)m->last)
            images[i % 2] = sn_max(images[i % 2], m->stage[i].dstSize);
        rest = sn_max(rest, m->stage[i].workSize);
    }
    m->rows = 0;
    m->images.second = sn_align(images[0], SN_ALIGN);
    m->images.rest = m->images.second + sn_align(images[1], SN_ALIGN);
    return sn_product(&m->workSize, 1, m->images.rest + rest);
}

void sn_merged_images(const struct sn_merged * m, const struct sn_arrays * a)
{
    uint8_t * work = a->work;
    const void * src = a->src;
    for (int i = m->first; i <= (int)m->last; ++i) {
        const struct sn_convolution * c = &m->stage[i];
        const bool last = i == (int)m->last;
        struct sn_distances at = c->dense;
        struct sn_arrays stage = {src, work ? work + m->images.rest : NULL, NULL, a->dst, &at};
        if (i == (int)m->first)
            at.srcPixel = a->at->srcPixel;
        if (last && a->add)
            stage.add = a->add, at.addPixel = a->at->addPixel, at.after = a->at->after;
        if (!last)
            stage.dst = work + (i % 2 ? m->images.second : 0);
        else
            at.dstPixel = a->at->dstPixel;
        c->algorithm->forward(c, &stage);
        src = stage.dst;
    }
}

struct added {
    const struct sn_merged * m;
    struct sn_convolution last; /* of all images, for a pass over their results */
    void (*forward)(const struct sn_merged * m, const struct sn_arrays * a);
};

/* With another convolution as the last stage, of as many images as that of the plan. */
static void forward_as(const void * plan, const struct sn_convolution * last, const struct sn_arrays * a)
{
    const struct added * added = plan;
    if (last == &added->last) {
        added->forward(added->m, a);
        return;
    }
    struct sn_merged other = *added->m;
    const size_t batch = other.stage[other.last].batch;
    other.stage[other.last] = *last;
    other.stage[other.last].batch = batch;
    added->forward(&other, a);
}

void sn_merged_forward_added(const struct sn_merged * m, bool adds,
                             void (*forward)(const struct sn_merged * m, const struct sn_arrays * a), const struct sn_arrays * a)
{
    struct added added = {m, m->stage[m->last], forward};
    added.last.batch = m->batch;
    sn_forward_added(&(struct sn_added){&added, &added.last, adds, forward_as}, a);
}
