#include "contract/deconvolution_32f.h"
#include "reference/activate.h"
#include "reference/reference.h"

/* The offset of a weight, as defined in include/simdnet.h: input channels of all groups, outputs of one. */
static size_t weight_at(const struct sn_convolution_parameters * p, size_t i, size_t o, size_t ky, size_t kx)
{
    const size_t outputs = p->dstC / p->group;
    return p->srcF == SN_NHWC ? ((i * p->kernelY + ky) * p->kernelX + kx) * outputs + o
                                           : ((i * outputs + o) * p->kernelY + ky) * p->kernelX + kx;
}

/* The input that contributes to output y through a tap; SIZE_MAX for none. */
static size_t source(size_t y, size_t pad, size_t tap, size_t dilation, size_t stride)
{
    const size_t end = y + pad, begin = tap * dilation;
    return end >= begin && (end - begin) % stride == 0 ? (end - begin) / stride : SIZE_MAX;
}

/* The sum of the contributions of all inputs of its group to an output, with one input or none per tap. */
static double sum_of_inputs(const struct sn_convolution_parameters * p, const sn_32f * weight,
                            const struct sn_plain * image, size_t o, size_t y, size_t x)
{
    const size_t inputs = p->srcC / p->group, outputs = p->dstC / p->group, first = o / outputs * inputs;
    const sn_32f * src = image->src;
    double sum = 0;
    for (size_t ky = 0; ky < p->kernelY; ++ky) {
        const size_t sy = source(y, p->padY, ky, p->dilationY, p->strideY);
        for (size_t kx = 0; sy < p->srcH && kx < p->kernelX; ++kx) {
            const size_t sx = source(x, p->padX, kx, p->dilationX, p->strideX);
            for (size_t i = first; sx < p->srcW && i < first + inputs; ++i)
                sum += (double)src[at(p->srcF, image->srcPixel, p->srcH, p->srcW, i, sy, sx)] *
                       weight[weight_at(p, i, o % outputs, ky, kx)];
        }
    }
    return sum;
}

static void deconvolution_32f(const struct sn_convolution_parameters * p, const sn_32f * weight, const sn_32f * bias,
                              const sn_32f * params, const struct sn_plain * image)
{
    sn_32f * dst = image->dst;
    for (size_t o = 0; o < p->dstC; ++o)
        for (size_t y = 0; y < p->dstH; ++y)
            for (size_t x = 0; x < p->dstW; ++x) {
                const double sum = sum_of_inputs(p, weight, image, o, y, x) + bias[o];
                dst[at(p->dstF, image->dstPixel, p->dstH, p->dstW, o, y, x)] =
                    (float)joined(p, image, sum, params, o, y, x);
            }
}

SN_INSTALL(deconvolution_32f, deconvolution_32f) { slots->plain = deconvolution_32f; }
