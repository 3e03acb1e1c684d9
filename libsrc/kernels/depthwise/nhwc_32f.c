/* Depthwise convolution of NHWC pixels of floats. */
#define ELEMENT sn_32f
#include "contract/convolution_32f.h"
#include "kernels/depthwise/cold_32f.h"
#include "kernels/install.h"

static void run(const struct sn_depthwise_nhwc * d)
{
    if (d->inOrder)
        cold_32f(d);
    else
        depthwise_nhwc(d);
}

SN_INSTALL(depthwise_nhwc_32f, convolution_32f) { slots->depthwise_nhwc = run; }
