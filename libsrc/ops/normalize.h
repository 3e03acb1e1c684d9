/* Normalization of images, on several threads: arguments checked and not empty. False if there is no memory. */
#ifndef SN_OPS_NORMALIZE_H
#define SN_OPS_NORMALIZE_H

#include "contract/table.h"

bool sn_normalize_32f(const struct sn_normalize * p);

/* Layer normalization of bfloat16 numbers, with the arguments of SimdSynetNormalizeLayerForward16bV2(). */
struct sn_normalize_16b {
    const sn_16b * src;
    size_t batch, channels, spatial;
    const sn_32f * scale, * shift;
    float eps;
    sn_16b * dst;
    enum sn_format format;
};

bool sn_normalize_16b(const struct sn_normalize_16b * p);

#endif
