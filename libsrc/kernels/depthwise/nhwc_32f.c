/* Depthwise convolution of NHWC pixels of floats. */
#define ELEMENT sn_32f
#include "contract/convolution_32f.h"
#include "kernels/depthwise/nhwc.h"
#include "kernels/install.h"

SN_INSTALL(depthwise_nhwc_32f, convolution_32f) { slots->depthwise_nhwc = depthwise_nhwc; }
