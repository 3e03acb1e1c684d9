/* Kernels without the taps that see only padding: 3x3 with padding on an image of one pixel is 1x1. */
#include <string.h>

#include "ops/convolution/plan.h"

/* An axis of the image and of the kernel. */
struct axis {
    size_t src, dst, stride, dilation;
    size_t * kernel, * before, * after; /* taps, and padding */
};

/* Leaves out the taps of one axis; returns how many at its beginning. The padding must stay at least 0, and one tap. */
static size_t crop_axis(const struct axis * a)
{
    if (a->dst == 0)
        return 0;
    const size_t last = (a->dst - 1) * a->stride; /* padded line of the first tap of the last output */
    size_t first = *a->before > last ? (*a->before - last - 1) / a->dilation + 1 : 0;
    first = sn_min(first, sn_min(*a->kernel - 1, *a->before / a->dilation));
    *a->kernel -= first;
    *a->before -= first * a->dilation;
    const size_t end = *a->before + a->src, tap = (*a->kernel - 1) * a->dilation; /* of the last tap of the first output */
    size_t unused = tap >= end ? (tap - end) / a->dilation + 1 : 0;
    unused = sn_min(unused, sn_min(*a->kernel - 1, *a->after / a->dilation));
    *a->kernel -= unused;
    *a->after -= unused * a->dilation;
    return first;
}

/* One pixel is the same in both layouts, and so are weights of one tap and one input: in NHWC, vectors are of channels. */
static bool is_pixel(const struct sn_convolution * c)
{
    const struct sn_convolution_parameters * p = &c->p;
    return p->srcH * p->srcW == 1 && p->dstH * p->dstW == 1 && p->kernelY * p->kernelX == 1 && sn_inputs(c) == 1;
}

void sn_convolution_crop(struct sn_convolution * c)
{
    struct sn_convolution_parameters * p = &c->p;
    if (c->table->gemm.tile_32f.run) { /* `base` is the witness */
        struct sn_crop crop = {.kernelY = p->kernelY, .kernelX = p->kernelX};
        crop.y = crop_axis(&(struct axis){p->srcH, p->dstH, p->strideY, p->dilationY, &p->kernelY, &p->padY, &p->padH});
        crop.x = crop_axis(&(struct axis){p->srcW, p->dstW, p->strideX, p->dilationX, &p->kernelX, &p->padX, &p->padW});
        if (crop.kernelY != p->kernelY || crop.kernelX != p->kernelX)
            c->crop = crop;
        if (is_pixel(c))
            p->srcF = p->dstF = SN_NHWC;
    }
    sn_convolution_simplify(c);
}

/* Copies the used columns of the used rows of one kernel, whose taps are `tap` bytes. */
static void copy_kernel(const struct sn_convolution * c, const uint8_t * from, size_t tap, uint8_t * to)
{
    const size_t row = c->p.kernelX * tap;
    from += (c->crop.y * c->crop.kernelX + c->crop.x) * tap;
    for (size_t y = 0; y < c->p.kernelY; ++y, from += c->crop.kernelX * tap, to += row)
        memcpy(to, from, row);
}

void sn_convolution_copy_cropped(const struct sn_convolution * c, const void * weight, size_t size, void * cropped)
{
    const size_t taps = c->p.kernelY * c->p.kernelX, given = c->crop.kernelY * c->crop.kernelX;
    const size_t kernels = c->p.dstC * sn_inputs(c);
    if (c->format == SN_NHWC)
        copy_kernel(c, weight, kernels * size, cropped);
    else
        for (size_t i = 0; i < kernels; ++i)
            copy_kernel(c, (const uint8_t *)weight + i * given * size, size, (uint8_t *)cropped + i * taps * size);
}
