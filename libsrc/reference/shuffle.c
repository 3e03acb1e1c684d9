#include "contract/shuffle.h"
#include "reference/reference.h"

/* Channel c of the concatenation of src0 and src1, at position s. */
static float at(const struct sn_shuffle * p, size_t c, size_t s, bool nhwc)
{
    const sn_32f * src = c < p->srcC0 ? p->src0 : p->src1;
    const size_t channels = c < p->srcC0 ? p->srcC0 : p->srcC1, own = c < p->srcC0 ? c : c - p->srcC0;
    return src[nhwc ? s * channels + own : own * p->spatial + s];
}

static void shuffle_nchw_32f(const struct sn_shuffle * p, size_t begin, size_t end)
{
    for (size_t c = begin; c < end; ++c)
        for (size_t s = 0; s < p->spatial; ++s) {
            p->dst0[c * p->spatial + s] = at(p, 2 * c, s, false);
            p->dst1[c * p->spatial + s] = at(p, 2 * c + 1, s, false);
        }
}

static void shuffle_nhwc_32f(const struct sn_shuffle * p, size_t begin, size_t end)
{
    const size_t channels = (p->srcC0 + p->srcC1) / 2;
    for (size_t s = begin; s < end; ++s)
        for (size_t c = 0; c < channels; ++c) {
            p->dst0[s * channels + c] = at(p, 2 * c, s, true);
            p->dst1[s * channels + c] = at(p, 2 * c + 1, s, true);
        }
}

SN_INSTALL(shuffle, shuffle)
{
    slots->nchw_32f = shuffle_nchw_32f;
    slots->nhwc_32f = shuffle_nhwc_32f;
}
