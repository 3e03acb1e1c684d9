/* Quantised depthwise convolution: 3x3 by lines (depthwise_8i.h), any other kernel by its taps (depthwise_any_8i.h). */
#include "contract/convolution_8i.h"
#include "kernels/install.h"

#include <joined_8i.h>

#include "kernels/depthwise_8i.h"

#include <depthwise_any_8i.h>

static size_t size(size_t taps, size_t channels, bool lines)
{
    return lines ? lines_size(channels) : any_size(taps, channels);
}

static void pack(const int8_t * weight, bool planes, size_t taps, size_t channels, size_t lines, void * packed)
{
    if (lines)
        lines_pack(weight, planes, channels, packed);
    else
        any_pack(weight, planes, taps, channels, packed);
}

static void run(const struct sn_depthwise_run_8i * d)
{
    if (d->tap)
        any_run(d);
    else
        run_lines(d);
}

SN_INSTALL(depthwise_8i, convolution_8i)
{
    slots->depthwise = (struct sn_depthwise_8i){run, size, pack};
}
