/* Additions on several threads: arguments as in the public functions, checked and not empty. */
#ifndef SN_OPS_ELEMENTWISE_ADD_H
#define SN_OPS_ELEMENTWISE_ADD_H

#include "contract/table.h"

void sn_add_8i(const struct sn_add_8i * add, size_t batch, size_t channels, size_t spatial, enum sn_format format);

/* Types: true is bfloat16, false float. */
void sn_add_16b(const struct sn_table * table, bool aType, bool bType, bool dstType, const uint8_t * a, const uint8_t * b,
                uint8_t * dst, size_t size);

/* Types: true is byte, false float. */
void sn_add_quantized(const struct sn_table * table, bool aType, bool bType, bool dstType, const struct sn_add_quantized * p,
                      const uint8_t * a, const uint8_t * b, uint8_t * dst, size_t size);

/* Pixels of `channels` elements with other elements between them: an array, and the elements from pixel to pixel. */
struct sn_add_pixels {
    const uint8_t * a, * b;
    uint8_t * dst;
    size_t aPixel, bPixel, dstPixel;
    size_t pixels, channels;
};
void sn_add_16b_pixels(const struct sn_table * table, bool aType, bool bType, bool dstType, const struct sn_add_pixels * p);

#endif
