/* The rules of the documented resizer: positions in float arithmetic, bytes with weights that are integers. */
#ifndef SN_OPS_RESIZER_H
#define SN_OPS_RESIZER_H

#include "ops/resize.h"

/* SimdResizeMethodType: the same values. */
enum sn_resizer_method {
    SN_RESIZER_NEAREST,
    SN_RESIZER_NEAREST_PYTORCH,
    SN_RESIZER_BILINEAR,
    SN_RESIZER_BILINEAR_CAFFE,
    SN_RESIZER_BILINEAR_PYTORCH,
    SN_RESIZER_BILINEAR_OPENCV,
    SN_RESIZER_BICUBIC,
    SN_RESIZER_AREA,
    SN_RESIZER_AREA_FAST
};

/* The rule of an axis. `halved`: areas of sums of two elements. */
struct sn_resize_rule sn_resizer_rule(enum sn_resizer_method method, bool bytes, bool halved, size_t src, size_t dst);

/* Sets how columns of bytes are added. */
void sn_resizer_columns(enum sn_resizer_method method, struct sn_resize * r);

#endif
