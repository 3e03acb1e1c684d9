/* The library's own enumerators (contract/enums.h) are the public ones by number: api/ casts one to the other. */
#include "contract/enums.h"

#include "simdnet.h"

#define SAME(own, public) _Static_assert((int)own == (int)public, #own " is not " #public)

SAME(SN_FORMAT_UNKNOWN, SimdTensorFormatUnknown);
SAME(SN_NCHW, SimdTensorFormatNchw);
SAME(SN_NHWC, SimdTensorFormatNhwc);
SAME(SN_NCHW4C, SimdTensorFormatNchw4c);
SAME(SN_NCHW8C, SimdTensorFormatNchw8c);
SAME(SN_NCHW16C, SimdTensorFormatNchw16c);
SAME(SN_NCHWXC, SimdTensorFormatNchwXc);
SAME(SN_OIYX, SimdTensorFormatOiyx);
SAME(SN_YXIO, SimdTensorFormatYxio);
SAME(SN_OYXI4O, SimdTensorFormatOyxi4o);
SAME(SN_OYXI8O, SimdTensorFormatOyxi8o);
SAME(SN_OYXI16O, SimdTensorFormatOyxi16o);
SAME(SN_OYXIXO, SimdTensorFormatOyxiXo);

SAME(SN_DATA_32F, SimdTensorData32f);
SAME(SN_DATA_8U, SimdTensorData8u);
SAME(SN_DATA_16B, SimdTensorData16b);

SAME(SN_ACTIVATION_IDENTITY, SimdConvolutionActivationIdentity);
SAME(SN_ACTIVATION_RELU, SimdConvolutionActivationRelu);
SAME(SN_ACTIVATION_LEAKY_RELU, SimdConvolutionActivationLeakyRelu);
SAME(SN_ACTIVATION_RESTRICT_RANGE, SimdConvolutionActivationRestrictRange);
SAME(SN_ACTIVATION_PRELU, SimdConvolutionActivationPrelu);
SAME(SN_ACTIVATION_ELU, SimdConvolutionActivationElu);
SAME(SN_ACTIVATION_HSWISH, SimdConvolutionActivationHswish);

SAME(SN_ELTWISE_PRODUCT, SimdSynetEltwiseOperationProduct);
SAME(SN_ELTWISE_SUM, SimdSynetEltwiseOperationSum);
SAME(SN_ELTWISE_MAX, SimdSynetEltwiseOperationMax);
SAME(SN_ELTWISE_MIN, SimdSynetEltwiseOperationMin);

SAME(SN_PIXEL_GRAY8, SimdPixelFormatGray8);
SAME(SN_PIXEL_BGR24, SimdPixelFormatBgr24);
SAME(SN_PIXEL_BGRA32, SimdPixelFormatBgra32);
SAME(SN_PIXEL_RGB24, SimdPixelFormatRgb24);
