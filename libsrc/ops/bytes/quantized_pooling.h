/* Pooling of a batch of images of quantised bytes. */
#ifndef SN_OPS_BYTES_QUANTIZED_POOLING_H
#define SN_OPS_BYTES_QUANTIZED_POOLING_H

#include "contract/table.h"

enum sn_quantized_pool { SN_QUANTIZED_MAX, SN_QUANTIZED_AVERAGE, SN_QUANTIZED_GLOBAL };

/* Dense images, NCHW with `planes`, whose sizes are checked, and that have results. False, with dst unchanged, if there is no
 * memory for a buffer. */
bool sn_quantized_pooling(const struct sn_quantized_pooling * p, enum sn_quantized_pool type, bool planes, size_t batch,
                          const uint8_t * src, uint8_t * dst);

#endif
