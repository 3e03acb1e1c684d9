/* Changes of layout, on several threads: arguments as in the public function, checked and not empty. */
#ifndef SN_OPS_LAYOUT_H
#define SN_OPS_LAYOUT_H

#include "contract/enums.h"
#include "runtime/common.h"

void sn_convert_image_32f(size_t batch, size_t channels, size_t spatial, const sn_32f * src, enum sn_format srcFormat,
                          sn_32f * dst, enum sn_format dstFormat);

void sn_convert_filter_32f(size_t output, size_t input, size_t kernel, const sn_32f * src, enum sn_format srcFormat,
                           sn_32f * dst, enum sn_format dstFormat);

#endif
