/*
 * Merged convolution of quantised bytes: each image passes through the stages one after the other, each by its own algorithm
 * on all threads. The images between them are bytes, a quarter of those of floats: they stay in the caches up to sizes at
 * which steps of a few rows, as in merged_dot.c, would begin to gain.
 */
#include "ops/convolution/8i.h"
#include "ops/convolution/merged.h"

#include "ops/elementwise/add.h"

static bool plan(struct sn_merged * m)
{
    for (int i = m->first; i <= (int)m->last; ++i) {
        sn_merged_prepare(m, i, &sn_convolution_quantized, NULL);
        if (!sn_merged_plan_stage(m, i))
            return false;
    }
    return sn_merged_plan_images(m, m->add != SN_ADDS_NOTHING);
}

/* Adds a dense result and the source, whose pixels may have gaps, as those of dst. */
static void add_source(const struct sn_merged * m, const uint8_t * result, const struct sn_arrays * a)
{
    const struct sn_convolution * last = &m->stage[m->last];
    const struct sn_add_quantized * sum = sn_quantized_sum(last);
    const size_t channels = last->p.dstC, pixels = last->dstSize / channels;
    const bool dense = a->at->srcPixel == channels && a->at->dstPixel == channels;
    const size_t runs = dense ? 1 : pixels, size = dense ? last->dstSize : channels;
    for (size_t i = 0; i < runs; ++i) {
        const uint8_t * source = (const uint8_t *)a->src + i * a->at->srcPixel, * own = result + i * channels;
        const bool first = m->add == SN_ADDS_SOURCE;
        sn_add_quantized(m->table, true, true, true, sum, first ? own : source, first ? source : own,
                         (uint8_t *)a->dst + i * a->at->dstPixel, size);
    }
}

static void forward(const struct sn_merged * m, const struct sn_arrays * a)
{
    const bool adds = m->add != SN_ADDS_NOTHING;
    for (size_t b = 0; b < m->batch; ++b) {
        const struct sn_arrays image = sn_image_of(a, b, a->work);
        const void * result = sn_merged_images(m, &image, adds);
        if (adds)
            add_source(m, result, &image);
    }
}

const struct sn_merged_kind sn_merged_quantized = {.smallType = SN_DATA_8U, .unit = 1, .plan = plan, .forward = forward};
