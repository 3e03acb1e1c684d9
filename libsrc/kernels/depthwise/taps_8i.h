/*
 * Taps of quantised depthwise convolution of any kernel, in images that are not copied: outputs are computed in parts that have
 * the same taps in padding, which read a pixel of it.
 */
#ifndef SN_KERNELS_DEPTHWISE_TAPS_8I_H
#define SN_KERNELS_DEPTHWISE_TAPS_8I_H

#include <string.h>

#include "contract/convolution_8i.h"

struct taps {
    const struct sn_depthwise_run_8i * d;
    size_t y, endY, x, endX;                  /* the part: rows and columns of outputs */
    const size_t * at;                        /* offsets of all taps */
    size_t own[SN_PADDED_TAPS];
    size_t moved, which[SN_PADDED_TAPS];      /* taps in padding, whose offsets are those of each output */
    SN_ALIGNED uint8_t padding[V8U_N];
};

static void taps_begin(struct taps * t, const struct sn_depthwise_run_8i * d)
{
    t->d = d;
    t->y = t->endY = t->x = t->endX = 0;
    t->at = d->tap;
    t->moved = 0;
    memset(t->padding, d->zero, sizeof(t->padding));
}

/* The outputs from `from` on whose taps of an axis are in the image, or not, as those of `from` are; returns their end. */
static size_t same_taps(size_t from, size_t outputs, size_t stride, size_t kernel, size_t dilation, size_t before, size_t size)
{
    size_t end = outputs;
    for (size_t k = 0; k < kernel; ++k) {
        const size_t at = from * stride + k * dilation, limit = at < before ? before : before + size;
        if (at < limit)
            end = sn_min(end, from + sn_ceil_div(limit - at, stride));
    }
    return end;
}

/* Goes on to the next part; false: there is none. */
static __attribute__((noinline)) bool taps_next(struct taps * t)
{
    const struct sn_depthwise_run_8i * d = t->d;
    const size_t taps = d->kernelY * d->kernelX;
    if (t->x == t->endX || t->endX == d->columns) {
        t->y = t->endY, t->endX = 0;
        t->endY = taps > SN_PADDED_TAPS ? d->rows
                                        : same_taps(t->y, d->rows, d->strideY, d->kernelY, d->dilationY, d->top, d->srcRows);
    }
    t->x = t->endX;
    if (t->y >= d->rows || t->x >= d->columns)
        return false;
    if (taps > SN_PADDED_TAPS) {
        t->endX = d->columns;
        return true;
    }
    t->endX = same_taps(t->x, d->columns, d->strideX, d->kernelX, d->dilationX, d->left, d->srcColumns);
    t->at = t->own;
    t->moved = 0;
    size_t i = 0, line = t->y * d->strideY - d->top; /* of the image; wraps above it, as columns before it do */
    size_t from = 0 - d->top * d->srcStepY - d->left * d->srcStepX;
    for (size_t y = 0; y < d->kernelY; ++y, line += d->dilationY, from += d->dilationY * d->srcStepY) {
        size_t column = t->x * d->strideX - d->left, to = from;
        for (size_t x = 0; x < d->kernelX; ++x, ++i, column += d->dilationX, to += d->dilationX * d->srcStepX) {
            t->own[i] = to;
            if (line >= d->srcRows || column >= d->srcColumns)
                t->which[t->moved++] = i;
        }
    }
    return true;
}

/* Sets the offsets of taps in padding from src, the input of an output. */
SN_INLINE void taps_move(struct taps * t, const uint8_t * src, size_t moved)
{
    for (size_t i = 0; i < moved; ++i)
        t->own[t->which[i]] = (uintptr_t)t->padding - (uintptr_t)src;
}

#endif
