/* Shuffling of channels. */
#ifndef SN_CONTRACT_SHUFFLE_H
#define SN_CONTRACT_SHUFFLE_H

#include "runtime/common.h"

/* The arguments of SimdSynetShuffleLayerForward except the format. */
struct sn_shuffle {
    const sn_32f * src0;
    size_t srcC0;
    const sn_32f * src1;
    size_t srcC1, spatial;
    sn_32f * dst0, * dst1;
};

/* NCHW: channels begin .. end - 1 of both outputs. NHWC: pixels begin .. end - 1. */
typedef void (*sn_shuffle_32f_fn)(const struct sn_shuffle * p, size_t begin, size_t end);

/* The kernels of a level. */
struct sn_shuffle_slots {
    sn_shuffle_32f_fn nchw_32f;
    sn_shuffle_32f_fn nhwc_32f;
};

#endif
