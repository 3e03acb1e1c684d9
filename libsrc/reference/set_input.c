#include "contract/format.h"
#include "contract/set_input.h"
#include "reference/reference.h"

/* The colour c of a pixel: 0 blue, 1 green, 2 red. */
static unsigned colour(const uint8_t * pixel, enum sn_pixel format, size_t c)
{
    if (format == SN_PIXEL_GRAY8)
        return pixel[0];
    return pixel[format == SN_PIXEL_RGB24 ? 2 - c : c];
}

static unsigned gray(const uint8_t * pixel, enum sn_pixel format)
{
    if (format == SN_PIXEL_GRAY8)
        return pixel[0];
    const unsigned blue = colour(pixel, format, 0), green = colour(pixel, format, 1), red = colour(pixel, format, 2);
    return (1868 * blue + 9617 * green + 4899 * red + 8192) >> 14;
}

static void set_input_32f(const struct sn_set_input * p, size_t begin, size_t end)
{
    for (size_t c = 0; c < p->channels; ++c) {
        const float scale = (p->upper[c] - p->lower[c]) / 255;
        for (size_t y = begin; y < end; ++y)
            for (size_t x = 0; x < p->width; ++x) {
                const uint8_t * pixel = p->src + y * p->stride + x * sn_pixel_bytes(p->srcFormat);
                const unsigned v = p->channels == 1 ? gray(pixel, p->srcFormat) : colour(pixel, p->srcFormat, c);
                const float scaled = (float)v * scale;
                const size_t nchw = (c * p->height + y) * p->width + x, nhwc = (y * p->width + x) * p->channels + c;
                p->dst[p->dstFormat == SN_NHWC ? nhwc : nchw] = scaled + p->lower[c];
            }
    }
}

SN_INSTALL(set_input, set_input) { slots->run_32f = set_input_32f; }
