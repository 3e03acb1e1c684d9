#include "ops/bytes/quantized.h"

#include "ops/copy.h"
#include "runtime/memory.h"

void sn_quantized_concat(const struct sn_table * table, const struct sn_quantized_concat * p)
{
    uint8_t * dst = p->dst;
    for (size_t i = 0; i < p->count; dst += p->size[i++])
        if (p->size[i])
            sn_requantize(table, &(struct sn_requantize){.rows = p->rows, .size = p->size[i], .step = p->step,
                .bytes = sn_requantization(p->bias[i], p->norm[i], p->scale, p->zero), .src = p->src[i], .dst = dst});
}

/* ---- shuffle: sources are requantised to `work`, and then copied */

/* The channels of `joined` and of `split` in one order: even ones of the joined list are the first part of the split one. */
static void copy_channels(const struct sn_part joined[2], const struct sn_part split[2], size_t spatial, bool nhwc, bool inverse)
{
    for (size_t parity = 0; parity < 2; ++parity)
        for (size_t i = 0, done = 0; i < 2; done += joined[i++].channels / 2) {
            const struct sn_part * a = &joined[i], * b = &split[parity];
            const size_t channels = a->channels / 2;
            if (channels == 0)
                continue;
            const size_t aPixel = nhwc ? a->channels : 1, bPixel = nhwc ? b->channels : 1, plane = nhwc ? 1 : spatial;
            const uint8_t * from = a->at + parity * plane, * to = b->at + done * plane;
            struct sn_copy_dimension d[2] = {{spatial, (ptrdiff_t)aPixel, (ptrdiff_t)bPixel},
                                             {channels, (ptrdiff_t)(2 * plane), (ptrdiff_t)plane}};
            struct sn_copy c = {.count = 2, .element = 1};
            for (size_t k = 0; k < 2; ++k)
                c.d[k] = inverse ? (struct sn_copy_dimension){d[k].extent, d[k].dst, d[k].src} : d[k];
            sn_copy_once(c, inverse ? to : from, (void *)(uintptr_t)(inverse ? from : to));
        }
}

bool sn_quantized_shuffle(const struct sn_table * table, const struct sn_quantized_shuffle * p)
{
    const size_t first = p->src[0].channels * p->spatial, all = first + p->src[1].channels * p->spatial;
    uint8_t * work = sn_scratch(all);
    if (!work)
        return false;
    const struct sn_part made[2] = {{work, p->src[0].channels}, {work + first, p->src[1].channels}};
    for (size_t i = 0; i < 2; ++i)
        if (p->src[i].channels)
            sn_requantize(table, &(struct sn_requantize){.rows = 1, .size = p->src[i].channels * p->spatial,
                .bytes = p->bytes[i], .src = p->src[i].at, .dst = (uint8_t *)(uintptr_t)made[i].at});
    copy_channels(p->inverse ? p->dst : made, p->inverse ? made : p->dst, p->spatial, p->nhwc, p->inverse);
    return true;
}
