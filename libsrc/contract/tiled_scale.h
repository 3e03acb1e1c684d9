/* Images scaled along both axes. */
#ifndef SN_CONTRACT_TILED_SCALE_H
#define SN_CONTRACT_TILED_SCALE_H

#include "contract/enums.h"
#include "runtime/common.h"

/* dst(c, y, x) = (src(c, y, x) * ver(c, x)) * hor(c, y), arguments as in SimdSynetTiledScale2D32f(). */
struct sn_tiled_scale {
    const sn_32f * src, * ver, * hor;
    size_t channels, height, width;
    sn_32f * dst;
    enum sn_format format; /* SN_NCHW or SN_NHWC */
};

/* Lines begin .. end - 1 of all: in NCHW line y of plane c is number c * height + y, in NHWC y. */
typedef void (*sn_tiled_scale_fn)(const struct sn_tiled_scale * layer, size_t begin, size_t end);

/* The kernels of a level. */
struct sn_tiled_scale_slots {
    sn_tiled_scale_fn run_32f;
};

#endif
