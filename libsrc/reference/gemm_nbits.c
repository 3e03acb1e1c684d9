#include "contract/gemm_nbits.h"
#include "reference/reference.h"

/* Number k of a row of bytes. */
static unsigned number(const uint8_t * row, size_t bits, size_t k)
{
    return bits == 8 ? row[k] : row[k / 2] >> k % 2 * 4 & 15u;
}

static void plain(const struct sn_nbits_product * p)
{
    const struct sn_nbits * w = &p->w;
    for (size_t j = 0; j < p->N; ++j) {
        const uint8_t * row = w->weight + j * sn_nbits_bytes(w);
        for (size_t i = 0; i < p->M; ++i) {
            float sum = p->bias ? p->bias[j] : 0;
            for (size_t k = 0; k < p->depth; ++k) {
                const size_t at = j * w->blocks + k / w->block;
                const float zero = w->zero ? w->zero[at] : (float)(1 << (w->bits - 1));
                sum += p->src[i * p->lds + k] * (((float)number(row, w->bits, k) - zero) * w->scale[at]);
            }
            p->dst[i * p->ldd + j] = sum;
        }
    }
}

static void decode(const struct sn_nbits_decode * d)
{
    for (size_t k = 0; k < d->bytes * 8 / d->bits; ++k) {
        const float zero = d->zero ? d->zero[k / d->block] : (float)(1 << (d->bits - 1));
        d->dst[k] = ((float)number(d->weight, d->bits, k) - zero) * d->scale[k / d->block];
    }
}

SN_INSTALL(gemm_nbits, gemm_nbits)
{
    slots->plain = plain;
    slots->decode = decode;
}
