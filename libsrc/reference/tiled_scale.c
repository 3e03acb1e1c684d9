#include "contract/tiled_scale.h"
#include "reference/reference.h"

static void tiled_scale(const struct sn_tiled_scale * l, size_t begin, size_t end)
{
    const bool nhwc = l->format == SN_NHWC;
    const size_t channels = l->channels, inside = nhwc ? channels : 1; /* of a line */
    for (size_t line = begin; line < end; ++line)
        for (size_t x = 0; x < l->width; ++x)
            for (size_t i = 0; i < inside; ++i) {
                const size_t c = nhwc ? i : line / l->height, at = (line * l->width + x) * inside + i;
                const float ver = l->ver[nhwc ? x * channels + c : c * l->width + x];
                const float hor = l->hor[nhwc ? line * channels + c : line];
                l->dst[at] = l->src[at] * ver * hor;
            }
}

SN_INSTALL(tiled_scale, tiled_scale) { slots->run_32f = tiled_scale; }
