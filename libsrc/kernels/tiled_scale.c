/*
 * Images scaled along both axes: vectors along a line in NCHW, along the channels of a pixel in NHWC. (As rows of the
 * channelwise kernels, planes of 7x7 and 14x14 took ten and five times as long: each needs coefficients of its own.)
 */
#include "contract/tiled_scale.h"
#include "kernels/install.h"

/* n values; hor has one factor for all of them, or one for each. */
SN_INLINE void values(const sn_32f * src, const sn_32f * ver, const sn_32f * hor, bool one, size_t n, sn_32f * dst)
{
    const v32f all = v_set_32f(*hor);
    size_t i = 0;
    for (; i + V32F_N <= n; i += V32F_N) {
        const v32f x = v_mul_32f(v_load_32f(src + i), v_load_32f(ver + i));
        v_store_32f(dst + i, v_mul_32f(x, one ? all : v_load_32f(hor + i)));
    }
    if (i < n) {
        const v32f x = v_mul_32f(v_load_tail_32f(src + i, n - i), v_load_tail_32f(ver + i, n - i));
        v_store_tail_32f(dst + i, v_mul_32f(x, one ? all : v_load_tail_32f(hor + i, n - i)), n - i);
    }
}

/* Plane by plane: a division for each line took a quarter of the time of lines of 14. */
static void planes(const struct sn_tiled_scale * l, size_t begin, size_t end)
{
    const size_t width = l->width;
    for (size_t line = begin, next; line < end; line = next) {
        const size_t plane = line / l->height;
        next = sn_min((plane + 1) * l->height, end);
        for (size_t i = line; i < next; ++i)
            values(l->src + i * width, l->ver + plane * width, l->hor + i, true, width, l->dst + i * width);
    }
}

static void tiled_scale(const struct sn_tiled_scale * l, size_t begin, size_t end)
{
    if (l->format == SN_NCHW) {
        planes(l, begin, end);
        return;
    }
    const size_t channels = l->channels, size = l->width * channels;
    for (size_t line = begin; line < end; ++line)
        for (size_t i = 0; i < size; i += channels)
            values(l->src + line * size + i, l->ver + i, l->hor + line * channels, false, channels, l->dst + line * size + i);
}

SN_INSTALL(tiled_scale, tiled_scale) { slots->run_32f = tiled_scale; }
