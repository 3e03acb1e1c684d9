/* Depthwise convolution of NHWC pixels of bfloat16 numbers. */
#define ELEMENT sn_16b
#include "contract/convolution_16b.h"
#include "kernels/depthwise/nhwc.h"
#include "kernels/install.h"

SN_INSTALL(depthwise_nhwc_16b, convolution_16b) { slots->depthwise_nhwc = depthwise_nhwc; }
