/* Floats to bytes and back, on several threads. Arguments as of SimdnetQuantizeLinear(), checked and not empty. */
#ifndef SN_OPS_BYTES_QUANTIZE_LINEAR_H
#define SN_OPS_BYTES_QUANTIZE_LINEAR_H

#include "runtime/common.h"

struct sn_quantize_linear {
    size_t size, channels, inner; /* size is a multiple of channels * inner */
    const sn_32f * scale;         /* of each channel */
    const uint8_t * zero;         /* of each channel, int8_t if `negative`; NULL: all are `offset` */
    int32_t offset;
    bool divides, negative;
    const void * src;
    void * dst;
};

/* Quantises with the scale and the zero of the range of src. */
struct sn_dynamic_quantize {
    const sn_32f * src;
    size_t size;
    uint8_t * dst;
    sn_32f * scale;
    uint8_t * zero;
};

void sn_dynamic_quantize(const struct sn_dynamic_quantize * p);
void sn_quantize_linear(const struct sn_quantize_linear * p);
void sn_dequantize_linear(const struct sn_quantize_linear * p);

#endif
