#include "contract/gemm_nbits.h"
#include "reference/reference.h"

#include <math.h>

/* Number k of a row of bytes. */
static unsigned number(const uint8_t * row, size_t bits, size_t k)
{
    return bits == 8 ? row[k] : row[k / 2] >> k % 2 * 4 & 15u;
}

/* The scale of the block of a row with number k. */
static float scale_of(const struct sn_nbits_product * p, const sn_32f * src, size_t k)
{
    float largest = 0;
    const size_t first = k - k % p->w.block;
    for (size_t i = first; i < sn_min(first + p->w.block, p->depth); ++i) {
        const float size = fabsf(src[i]);
        largest = largest >= size ? largest : size != size || largest != largest ? NAN : size;
    }
    return sn_nbits_scale(largest);
}

/* The sum of the products of a block, from its first number on: of integers, then a float. */
static float block_sum(const struct sn_nbits_product * p, size_t i, size_t j, size_t first)
{
    const struct sn_nbits * w = &p->w;
    const sn_32f * src = p->src + i * p->lds;
    const float scale = scale_of(p, src, first);
    const size_t at = j * w->blocks + first / w->block;
    const int32_t zero = w->zero ? (int32_t)w->zero[at] : 1 << (w->bits - 1);
    int64_t sum = 0;
    for (size_t k = first; isfinite(scale) && scale != 0 && k < sn_min(first + w->block, p->depth); ++k)
        sum += sn_nbits_byte(src[k], scale) * ((int32_t)number(w->weight + j * sn_nbits_bytes(w), w->bits, k) - zero);
    return (float)sum * (scale * w->scale[at]);
}

static void plain_quantised(const struct sn_nbits_product * p)
{
    for (size_t j = 0; j < p->N; ++j)
        for (size_t i = 0; i < p->M; ++i) {
            float sum = p->bias ? p->bias[j] : 0;
            for (size_t first = 0; first < p->depth; first += p->w.block)
                sum += block_sum(p, i, j, first);
            p->dst[i * p->ldd + j] = sum;
        }
}

static void plain(const struct sn_nbits_product * p)
{
    if (p->quantised) {
        plain_quantised(p);
        return;
    }
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
    for (size_t k = 0; k < d->bytes * 8 / d->bits; ++k)
        d->dst[k] = (float)number(d->src, d->bits, k);
}

SN_INSTALL(gemm_nbits, gemm_nbits)
{
    slots->plain = plain;
    slots->decode = decode;
}
