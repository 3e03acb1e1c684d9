#include "ops/convolution/rounded.h"

#include "ops/convolution/16b.h"
#include "ops/convolution/32f.h"
#include "ops/inner_product_16b.h"
#include "ops/inner_product_32f.h"
#include "runtime/preference.h"

/*
 * Sums of fewer products, or few inputs or outputs, take up to 3 times as long as in floats, as sources are rounded and results
 * converted; more inputs make up for that, but few ones, of which a pixel has gaps, only in large kernels (Emerald Rapids, amx;
 * times of floats over these): 3x224x224 to 32 3x3 0.36, to 64 7x7 2.0; 8x112x112 to 16 1x1 0.60; 16x112x112 to 96 1x1 1.06;
 * 32x112x112 to 16 1x1 0.98; 64x14x14 to 4 1x1 0.72; 128x28x28 to 128 3x3 in 32 groups 0.34, in 8 groups 2.7.
 */
enum { LEAST_CHANNELS = 8, LEAST_PRODUCTS = 24, LEAST_OF_FEW = 128 };

static bool gains(const struct sn_table * table, const struct sn_convolution_parameters * p)
{
    if (sn_preference() != SN_PREFER_BFLOAT16 || !table->convolution_16b.tile.fast)
        return false;
    const size_t inputs = p->srcC / p->group, outputs = p->dstC / p->group, products = p->kernelY * p->kernelX * inputs;
    const bool few = inputs < LEAST_CHANNELS;
    return outputs >= LEAST_CHANNELS && products >= (few ? LEAST_OF_FEW : LEAST_PRODUCTS) && (!few || p->group == 1);
}

const struct sn_convolution_family * sn_convolution_32f_family(const struct sn_table * table,
                                                               const struct sn_convolution_parameters * p)
{
    return gains(table, p) ? &sn_convolution_32f_rounded : &sn_convolution_32f;
}

const struct sn_convolution_family * sn_inner_product_32f_family(const struct sn_table * table,
                                                                 const struct sn_convolution_parameters * p)
{
    return gains(table, p) ? &sn_inner_product_32f_rounded : &sn_inner_product_32f_packed;
}

/* All but the depthwise convolution gain; a projection, the last of them, with padding is for floats only. */
const struct sn_merged_kind * sn_merged_32f_kind(const struct sn_table * table, const struct sn_convolution_parameters * p,
                                                 size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const bool pads = p[i].padY || p[i].padX || p[i].padH || p[i].padW;
        if (p[i].group == 1 && (!gains(table, &p[i]) || (i > 0 && pads)))
            return &sn_merged_32f;
    }
    return &sn_merged_32f_rounded;
}
