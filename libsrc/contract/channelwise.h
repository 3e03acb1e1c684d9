/* Layers whose coefficients depend on the channel. */
#ifndef SN_CONTRACT_CHANNELWISE_H
#define SN_CONTRACT_CHANNELWISE_H

#include "contract/enums.h"
#include "runtime/common.h"

/*
 * The formula of a channel-wise layer for a value x; p, q, r are coefficients of its channel, s and t single values, y is a
 * value of a second source. Formulas marked * are float32 operations as printed, each rounded; the others may be fused.
 */
enum sn_channelwise_op {
    SN_ADD_BIAS,   /* * x + p                                                                        */
    SN_SCALE,      /* * x * p                                                                        */
    SN_SCALE_BIAS, /*   x * p + q                                                                    */
    SN_PRELU,      /* * max(0, x) + p * min(0, x)                                                    */
    SN_FUSED_0,    /* * (v - |v|) * q + max(0, v),           v = x + p                               */
    SN_FUSED_1,    /*   max(0, -v) * q + r + max(0, v),      v = x + p                               */
    SN_FUSED_2,    /*   max(0, v) + min(0, v) * s,           v = x * p + q                           */
    SN_FUSED_3,    /* * max(0, v) + min(0, v) * q,           v = x + p                               */
    SN_FUSED_4,    /*   max(0, (x + p) * s + t), half of the layer; the other half has s = 1, t = 0  */
    SN_FUSED_8,    /*   x + y * p                                                                    */
    SN_FUSED_9,    /*   max(0, x * p + q), the first result of the layer; the second is x            */
    SN_CHANNELWISE_OPS
};

/* A layer: the arguments of its public function; the array p holds p, q and r of the formulas above. */
struct sn_channelwise {
    enum sn_channelwise_op op;
    const sn_32f * src, * src1; /* src1 of FUSED_8 and FUSED_9 */
    const sn_32f * p[3];
    float s, t;
    size_t channels, channels1; /* channels1 of FUSED_9 */
    size_t spatial;
    sn_32f * dst, * dst1;       /* dst1 of FUSED_9, or NULL */
    enum sn_format format;
};

/* One image of a layer, a direct implementation of the formula. Only `base` has it. */
typedef void (*sn_channelwise_fn)(const struct sn_channelwise * layer);

/*
 * Consecutive rows of `size` values: value i of row j has the coefficients p[k][j * period + i % period]. size is a multiple
 * of period, neither is 0. dst may be src or src1. With `stream` dst may be written with non-temporal stores.
 */
struct sn_channelwise_rows {
    const sn_32f * src, * src1;
    const sn_32f * p[3];
    float s, t;
    sn_32f * dst;
    size_t rows, size, period;
    bool stream;
};

typedef void (*sn_channelwise_rows_fn)(const struct sn_channelwise_rows * rows);

/*
 * FUSED_4 or FUSED_9 on `number` pixels of two sources, each with `period` values per pixel: pixel q of dst is the results
 * of pixel q of the first source, then those of the second; `copy` (FUSED_9), if not NULL, gets the values of both. One
 * period may be 0. Both sources of FUSED_4 are the same. rows, size, dst and stream of the halves are not used.
 */
typedef void (*sn_channelwise_joined_fn)(const struct sn_channelwise_rows half[2], size_t number, sn_32f * dst,
                                         sn_32f * copy);

/* Pixel q of dst is the aSize values of pixel q of a, then the bSize values of pixel q of b. */
typedef void (*sn_concat_32f_fn)(const sn_32f * a, size_t aSize, const sn_32f * b, size_t bSize, size_t number,
                                 sn_32f * dst);

/* The kernels of a level. */
struct sn_channelwise_slots {
    sn_channelwise_fn layer;
    sn_channelwise_rows_fn rows[SN_CHANNELWISE_OPS]; /* not in `base`, which runs whole layers */
    sn_channelwise_joined_fn joined[2]; /* FUSED_4, FUSED_9 */
    sn_concat_32f_fn concat;
};

#endif
