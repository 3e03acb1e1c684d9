#include "ops/convolution/converted.h"

#include "ops/convolution/band.h"

size_t sn_converted_lines(const struct sn_convolution_parameters * p, size_t rows)
{
    return sn_min(sn_used(rows, p->strideY, p->kernelY, p->dilationY), p->srcH);
}

sn_32f * sn_lines_to_nhwc(const struct sn_convolution * c, size_t channels, const sn_32f * src, size_t row, size_t rows,
                          sn_32f * lines)
{
    const struct sn_lines needed = sn_lines_of(&c->p, row, rows);
    const size_t begin = needed.begin * c->p.srcW, end = needed.end * c->p.srcW;
    c->table->layout.image_32f(channels, c->srcPlane, src, SN_NCHW, lines - begin * channels, SN_NHWC, begin, end);
    return lines - begin * channels;
}

void sn_rows_to_nchw(const struct sn_convolution * c, size_t channels, const sn_32f * result, size_t row, size_t rows,
                     sn_32f * dst)
{
    const size_t begin = row * c->p.dstW, end = begin + rows * c->p.dstW;
    c->table->layout.image_32f(channels, c->dstPlane, result - begin * channels, SN_NHWC, dst, SN_NCHW, begin, end);
}

void sn_rows_to_nhwc(const struct sn_convolution * c, size_t channels, const sn_32f * add, size_t row, size_t rows,
                     sn_32f * result)
{
    const size_t begin = row * c->p.dstW, end = begin + rows * c->p.dstW;
    c->table->layout.image_32f(channels, c->dstPlane, add, SN_NCHW, result - begin * channels, SN_NHWC, begin, end);
}
