/* Blocks of bfloat16 numbers as floats, for layers that compute in float: `rows` rows of `width` numbers, `step` apart. */
#ifndef SN_OPS_WIDENED_H
#define SN_OPS_WIDENED_H

#include "contract/table.h"

static inline void sn_widen_rows(const struct sn_table * table, const sn_16b * src, size_t rows, size_t width, size_t step,
                                 sn_32f * work)
{
    if (width == step)
        width *= rows, rows = 1;
    for (size_t i = 0; i < rows; ++i)
        table->narrow.run[SN_16B_TO_32F]((const uint8_t *)(src + i * step), width, (uint8_t *)(work + i * width));
}

static inline void sn_narrow_rows(const struct sn_table * table, const sn_32f * work, size_t rows, size_t width, size_t step,
                                  sn_16b * dst)
{
    if (width == step)
        width *= rows, rows = 1;
    for (size_t i = 0; i < rows; ++i)
        table->narrow.run[SN_32F_TO_16B]((const uint8_t *)(work + i * width), width, (uint8_t *)(dst + i * step));
}

#endif
