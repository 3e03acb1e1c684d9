/*
 * Merged convolution of quantised bytes: each image passes through the stages one after the other, each by its own algorithm
 * on all threads. The images between them are bytes, a quarter of those of floats: they stay in the caches up to sizes at
 * which steps of a few rows, as in merged_dot.c, would begin to gain. The last stage adds the source to its results.
 */
#include "ops/convolution/8i.h"
#include "ops/convolution/merged.h"

static bool plan(struct sn_merged * m)
{
    for (int i = m->first; i <= (int)m->last; ++i) {
        sn_merged_prepare(m, i, &sn_convolution_quantized, NULL);
        if (!sn_merged_plan_stage(m, i))
            return false;
    }
    return sn_merged_plan_images(m);
}

static void forward(const struct sn_merged * m, const struct sn_arrays * a)
{
    for (size_t b = 0; b < m->batch; ++b) {
        struct sn_arrays image = sn_image_of(a, b, a->work);
        struct sn_distances at = *image.at;
        if (m->add != SN_ADDS_NOTHING) {
            image.add = image.src;
            at.addPixel = at.srcPixel;
            image.at = &at;
        }
        sn_merged_images(m, &image);
    }
}

const struct sn_merged_kind sn_merged_quantized = {.smallType = SN_DATA_8U, .unit = 1, .plan = plan, .forward = forward};
