/* The tiled scale on several threads: one image, arguments checked and not empty. */
#ifndef SN_OPS_ELEMENTWISE_TILED_SCALE_H
#define SN_OPS_ELEMENTWISE_TILED_SCALE_H

#include "contract/tiled_scale.h"

void sn_tiled_scale(const struct sn_tiled_scale * layer);

#endif
