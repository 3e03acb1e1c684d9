/* Element-wise functions on images whose pixels may be strided. Arguments checked and not empty. */
#ifndef SN_OPS_ELEMENTWISE_PIXELWISE_H
#define SN_OPS_ELEMENTWISE_PIXELWISE_H

#include "contract/table.h"

/* The kind of a function, which says what `op` is. */
enum sn_pixelwise_kind {
    SN_PIXELWISE_COPY,
    SN_PIXELWISE_POINTWISE,   /* enum sn_pointwise      */
    SN_PIXELWISE_CHANNELWISE, /* enum sn_channelwise_op */
    SN_PIXELWISE_ELTWISE      /* enum sn_eltwise        */
};

/* Distances are in elements. */
struct sn_pixelwise {
    enum sn_pixelwise_kind kind;
    int op;
    const sn_32f * src[2]; /* the second of SN_PIXELWISE_ELTWISE */
    sn_32f * dst;
    size_t srcPixel[2], dstPixel;
    size_t channels, pixels;
    const sn_32f * each[2]; /* coefficients of the channels */
    float params[2];
};

void sn_pixelwise(const struct sn_pixelwise * p);

#endif
