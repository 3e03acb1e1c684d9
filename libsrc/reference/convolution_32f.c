#include "contract/convolution_32f.h"
#include "reference/activate.h"
#include "reference/reference.h"

static double sum_of_window(const struct sn_convolution_parameters * p, const sn_32f * weight,
                            const struct sn_plain * image, size_t o, size_t y, size_t x)
{
    const size_t inputs = p->srcC / p->group, first = o / (p->dstC / p->group) * inputs;
    const size_t step = next_channel(p->srcF, p->srcH, p->srcW), weight_step = next_filter(p);
    double sum = 0;
    for (size_t ky = 0; ky < p->kernelY; ++ky)
        for (size_t kx = 0; kx < p->kernelX; ++kx) {
            const size_t sy = y * p->strideY + ky * p->dilationY - p->padY; /* wraps to a huge value if negative */
            const size_t sx = x * p->strideX + kx * p->dilationX - p->padX;
            if (sy >= p->srcH || sx >= p->srcW)
                continue;
            const sn_32f * src = (const sn_32f *)image->src + at(p->srcF, image->srcPixel, p->srcH, p->srcW, first, sy, sx);
            const sn_32f * w = weight + filter_at(p, o, 0, ky, kx);
            for (size_t i = 0; i < inputs; ++i)
                sum += (double)src[i * step] * w[i * weight_step];
        }
    return sum;
}

static void convolution_32f(const struct sn_convolution_parameters * p, const sn_32f * weight, const sn_32f * bias,
                            const sn_32f * params, const struct sn_plain * image)
{
    sn_32f * dst = image->dst;
    for (size_t o = 0; o < p->dstC; ++o)
        for (size_t y = 0; y < p->dstH; ++y)
            for (size_t x = 0; x < p->dstW; ++x) {
                const double sum = sum_of_window(p, weight, image, o, y, x) + (bias ? bias[o] : 0);
                dst[at(p->dstF, image->dstPixel, p->dstH, p->dstW, o, y, x)] =
                    (float)joined(p, image, sum, params, o, y, x);
            }
}

SN_INSTALL(convolution_32f, convolution_32f) { slots->plain = convolution_32f; }
