
#include "contract/lrn.h"
#include "reference/libm.h"
#include "reference/reference.h"

static size_t offset(const struct sn_lrn * p, size_t c, size_t s)
{
    return p->format == SN_NHWC ? s * p->channels + c : c * p->spatial + s;
}

static void lrn_32f(const struct sn_lrn * p, size_t begin, size_t end, sn_32f * work)
{
    (void)work;
    for (size_t c = 0; c < p->channels; ++c)
        for (size_t s = begin; s < end; ++s) {
            const size_t low = c < p->half ? 0 : c - p->half, high = sn_min(p->channels, c + p->half + 1);
            double sum = 0;
            for (size_t i = low; i < high; ++i)
                sum += (double)p->src[offset(p, i, s)] * (double)p->src[offset(p, i, s)];
            const double base = (double)p->k[0] + (double)p->k[1] * sum;
            p->dst[offset(p, c, s)] = (float)((double)p->src[offset(p, c, s)] * sn_pow(base, (double)p->k[2]));
        }
}

SN_INSTALL(lrn, lrn) { slots->run_32f = lrn_32f; }
