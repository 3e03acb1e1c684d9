/* Padding of arrays of several dimensions. */
#ifndef SN_OPS_PAD_H
#define SN_OPS_PAD_H

#include "ops/copy.h"

/* SimdnetPadMode. */
enum sn_pad_mode { SN_PAD_CONSTANT, SN_PAD_REFLECT, SN_PAD_EDGE, SN_PAD_WRAP };

struct sn_pad_dimension {
    size_t extent, before, after; /* the extent of src */
};

/* Arguments as in SimdnetPad(), checked; dst is not empty. */
struct sn_pad {
    enum sn_pad_mode mode;
    size_t count, element;
    struct sn_pad_dimension d[SN_COPY_DIMENSIONS];
    const void * value; /* NULL is 0 */
    const void * src;
    void * dst;
};

void sn_pad(const struct sn_pad * p);

#endif
