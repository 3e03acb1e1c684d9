/* Local response normalization. */
#ifndef SN_CONTRACT_LRN_H
#define SN_CONTRACT_LRN_H

#include "contract/enums.h"
#include "runtime/common.h"

/* The arguments of SimdSynetLrnLayerCrossChannels; half is less than channels. */
struct sn_lrn {
    const sn_32f * src;
    size_t half, channels, spatial;
    const sn_32f * k;
    sn_32f * dst;
    enum sn_format format;
};

/* The floats of `work`: squares and sums of all channels with `half` zeros on both sides, for some pixels or for 16
 * positions of planes; a small number of positions of planes is converted to pixels, which are also in `work`. */
static inline size_t sn_lrn_work_of_pixels(const struct sn_lrn * p) { return 3 * (p->channels + 2 * p->half + 1088); }
static inline size_t sn_lrn_work(const struct sn_lrn * p)
{
    const bool pixels = p->format == SN_NHWC || p->spatial == 1; /* planes only when narrow */
    const size_t line = sn_min(p->channels + 2 * p->half, pixels ? 64 : SIZE_MAX);
    return sn_max(sn_lrn_work_of_pixels(p) + sn_min(p->spatial, 16) * p->channels, 32 * (line + 2));
}

/* Positions begin .. end - 1, all channels. */
typedef void (*sn_lrn_32f_fn)(const struct sn_lrn * p, size_t begin, size_t end, sn_32f * work);

/* The kernels of a level. */
struct sn_lrn_slots {
    sn_lrn_32f_fn run_32f;
};

#endif
