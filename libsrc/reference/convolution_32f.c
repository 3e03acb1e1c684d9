#include "contract/convolution_32f.h"
#include "reference/activate.h"
#include "reference/reference.h"

static double sum_of_window(const struct sn_convolution_parameters * p, const sn_32f * weight, const sn_32f * src, size_t o,
                            size_t y, size_t x)
{
    const size_t inputs = p->srcC / p->group, first = o / (p->dstC / p->group) * inputs;
    double sum = 0;
    for (size_t i = 0; i < inputs; ++i)
        for (size_t ky = 0; ky < p->kernelY; ++ky)
            for (size_t kx = 0; kx < p->kernelX; ++kx) {
                const size_t sy = y * p->strideY + ky * p->dilationY - p->padY; /* wraps to a huge value if negative */
                const size_t sx = x * p->strideX + kx * p->dilationX - p->padX;
                if (sy < p->srcH && sx < p->srcW)
                    sum += (double)src[at(p->srcF, p->srcC, p->srcH, p->srcW, first + i, sy, sx)] *
                           weight[filter_at(p, o, i, ky, kx)];
            }
    return sum;
}

static void convolution_32f(const struct sn_convolution_parameters * p, const sn_32f * weight, const sn_32f * bias,
                            const sn_32f * params, const sn_32f * src, const sn_32f * add, sn_32f * dst)
{
    for (size_t o = 0; o < p->dstC; ++o)
        for (size_t y = 0; y < p->dstH; ++y)
            for (size_t x = 0; x < p->dstW; ++x) {
                const size_t to = at(p->dstF, p->dstC, p->dstH, p->dstW, o, y, x);
                const double v = sum_of_window(p, weight, src, o, y, x) + (bias ? bias[o] : 0) + (add ? add[to] : 0);
                dst[to] = (float)activate(v, p->activation, params, o);
            }
}

SN_INSTALL(convolution_32f, convolution_32f) { slots->plain = convolution_32f; }
