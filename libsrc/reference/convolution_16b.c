#include "contract/convolution_16b.h"
#include "reference/activate.h"
#include "reference/reference.h"
#include "runtime/numeric.h"

#include <string.h>

/* Element i of an image; a float is rounded to bfloat16 unless `exact`. */
static double element(enum sn_data type, bool exact, const uint8_t * src, size_t i)
{
    uint16_t x;
    if (type == SN_DATA_16B) {
        memcpy(&x, src + i * sizeof(x), sizeof(x));
    } else {
        float v;
        memcpy(&v, src + i * sizeof(v), sizeof(v));
        if (exact)
            return v;
        x = sn_32f_to_16b(v);
    }
    return sn_16b_to_32f(x);
}

static double sum_of_window(const struct sn_convolution_parameters * p, bool exact, const sn_32f * weight,
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
            const size_t from = at(p->srcF, image->srcPixel, p->srcH, p->srcW, first, sy, sx);
            const sn_32f * w = weight + filter_at(p, o, 0, ky, kx);
            for (size_t i = 0; i < inputs; ++i)
                sum += element(p->srcT, exact, image->src, from + i * step) * (double)w[i * weight_step];
        }
    return sum;
}

static void convolution_16b(const struct sn_convolution_parameters * p, bool exact, const sn_32f * weight,
                            const sn_32f * bias, const sn_32f * params, const struct sn_plain * image)
{
    uint8_t * dst = image->dst;
    for (size_t o = 0; o < p->dstC; ++o)
        for (size_t y = 0; y < p->dstH; ++y)
            for (size_t x = 0; x < p->dstW; ++x) {
                const double sum = sum_of_window(p, exact, weight, image, o, y, x) + bias[o];
                const float v = (float)joined(p, image, sum, params, o, y, x);
                const size_t to = at(p->dstF, image->dstPixel, p->dstH, p->dstW, o, y, x);
                const uint16_t rounded = sn_32f_to_16b(v);
                if (p->dstT == SN_DATA_16B)
                    memcpy(dst + to * sizeof(rounded), &rounded, sizeof(rounded));
                else
                    memcpy(dst + to * sizeof(v), &v, sizeof(v));
            }
}

SN_INSTALL(convolution_16b, convolution_16b) { slots->plain = convolution_16b; }
