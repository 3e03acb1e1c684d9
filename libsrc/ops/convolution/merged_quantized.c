/*
 * Merged convolution of quantised bytes: each image passes through the stages one after the other, each by its own algorithm
 * on all threads. The images between them are bytes, a quarter of those of floats: they stay in the caches up to sizes at
 * which steps of a few rows, as in merged_16b.c, would begin to gain.
 */
#include "ops/convolution/merged_quantized.h"

#include "ops/add.h"

static size_t stages(const struct sn_merged_quantized * m) { return (size_t)m->last - m->first + 1; }

/* Whether stage i writes to an image of the workspace, of two that take turns. */
static bool is_between(const struct sn_merged_quantized * m, int i) { return i < (int)m->last || m->add != SN_ADDS_NOTHING; }

bool sn_merged_quantized_plan(struct sn_merged_quantized * m)
{
    size_t images[2] = {0, 0}, rest = 0;
    for (int i = m->first; i <= (int)m->last; ++i) {
        struct sn_convolution * c = &m->stage[i];
        size_t all;
        c->batch = 1;
        c->table = m->table;
        c->family = &sn_convolution_quantized;
        if (sn_convolution_plan(c) != SN_ERROR_NONE || !sn_product(&all, m->batch, c->srcSize) ||
            !sn_product(&all, m->batch, c->dstSize))
            return false;
        if (is_between(m, i))
            images[i % 2] = sn_max(images[i % 2], c->dstSize);
        rest = sn_max(rest, c->workSize);
    }
    m->dense = m->stage[m->last].dense;
    m->dense.srcPixel = m->stage[m->first].dense.srcPixel;
    m->dense.srcImage = m->stage[m->first].dense.srcImage;
    m->image = sn_align(images[0], SN_ALIGN);
    m->rest = m->image + sn_align(images[1], SN_ALIGN);
    return sn_product(&m->workSize, 1, m->rest + rest);
}

struct sn_fault sn_merged_quantized_set(struct sn_merged_quantized * m, const struct sn_set_params * given,
                                        const struct sn_add_quantized * sum)
{
    const struct sn_fault fault = sn_convolution_set(&m->stage[m->first], given, stages(m));
    if (!fault.memory && !fault.name && m->add != SN_ADDS_NOTHING)
        *sn_quantized_sum(&m->stage[m->last]) = *sum;
    return fault;
}

size_t sn_merged_quantized_memory(const struct sn_merged_quantized * m)
{
    size_t size = 0;
    for (size_t i = 0; i < stages(m); ++i)
        size += sn_convolution_memory(&m->stage[m->first + i]);
    return size;
}

void sn_merged_quantized_free(struct sn_merged_quantized * m)
{
    for (size_t i = 0; i < stages(m); ++i)
        sn_convolution_free(&m->stage[m->first + i]);
}

/* Adds a dense result and the source, whose pixels may have gaps, as those of dst. */
static void add_source(const struct sn_merged_quantized * m, const uint8_t * result, const struct sn_arrays * a)
{
    struct sn_convolution last = m->stage[m->last];
    const struct sn_add_quantized * sum = sn_quantized_sum(&last);
    const size_t channels = last.p.dstC, pixels = last.dstSize / channels;
    const bool dense = a->at->srcPixel == channels && a->at->dstPixel == channels;
    const size_t runs = dense ? 1 : pixels, size = dense ? last.dstSize : channels;
    for (size_t i = 0; i < runs; ++i) {
        const uint8_t * source = (const uint8_t *)a->src + i * a->at->srcPixel, * own = result + i * channels;
        const bool first = m->add == SN_ADDS_SOURCE;
        sn_add_quantized(m->table, true, true, true, sum, first ? own : source, first ? source : own,
                         (uint8_t *)a->dst + i * a->at->dstPixel, size);
    }
}

static void one_image(const struct sn_merged_quantized * m, const struct sn_arrays * a)
{
    uint8_t * work = a->work;
    const void * src = a->src;
    for (int i = m->first; i <= (int)m->last; ++i) {
        const struct sn_convolution * c = &m->stage[i];
        struct sn_distances at = c->dense;
        struct sn_arrays stage = {src, work ? work + m->rest : NULL, NULL, a->dst, &at};
        if (i == (int)m->first)
            at.srcPixel = a->at->srcPixel;
        if (is_between(m, i))
            stage.dst = work + (i % 2 ? m->image : 0);
        else
            at.dstPixel = a->at->dstPixel;
        c->algorithm->forward(c, &stage);
        src = stage.dst;
    }
    if (m->add != SN_ADDS_NOTHING)
        add_source(m, src, a);
}

void sn_merged_quantized_forward(const struct sn_merged_quantized * m, const struct sn_arrays * a)
{
    for (size_t b = 0; b < m->batch; ++b) {
        const struct sn_arrays image = sn_image_of(a, b, a->work);
        one_image(m, &image);
    }
}
