#include "api/enums.h"

#include "contract/enums.h"
#include "runtime/text.h"
#include "simdnet.h"

/* ---- the internal enumerators (contract/enums.h) have the values of the public ones: api/ casts one to the other */

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
SAME(SN_DATA_32I, SimdTensorData32i);
SAME(SN_DATA_8I, SimdTensorData8i);
SAME(SN_DATA_8U, SimdTensorData8u);
SAME(SN_DATA_64I, SimdTensorData64i);
SAME(SN_DATA_64U, SimdTensorData64u);
SAME(SN_DATA_BOOL, SimdTensorDataBool);
SAME(SN_DATA_16B, SimdTensorData16b);

SAME(SN_ACTIVATION_IDENTITY, SimdConvolutionActivationIdentity);
SAME(SN_ACTIVATION_RELU, SimdConvolutionActivationRelu);
SAME(SN_ACTIVATION_LEAKY_RELU, SimdConvolutionActivationLeakyRelu);
SAME(SN_ACTIVATION_RESTRICT_RANGE, SimdConvolutionActivationRestrictRange);
SAME(SN_ACTIVATION_PRELU, SimdConvolutionActivationPrelu);
SAME(SN_ACTIVATION_ELU, SimdConvolutionActivationElu);
SAME(SN_ACTIVATION_HSWISH, SimdConvolutionActivationHswish);
SAME(SN_ACTIVATION_MISH, SimdConvolutionActivationMish);
SAME(SN_ACTIVATION_HARD_SIGMOID, SimdConvolutionActivationHardSigmoid);
SAME(SN_ACTIVATION_SWISH, SimdConvolutionActivationSwish);
SAME(SN_ACTIVATION_GELU, SimdConvolutionActivationGelu);
SAME(SN_ACTIVATION_SIGMOID, SimdnetConvolutionActivationSigmoid);

SAME(SN_ELTWISE_PRODUCT, SimdSynetEltwiseOperationProduct);
SAME(SN_ELTWISE_SUM, SimdSynetEltwiseOperationSum);
SAME(SN_ELTWISE_MAX, SimdSynetEltwiseOperationMax);
SAME(SN_ELTWISE_MIN, SimdSynetEltwiseOperationMin);

#define SAME_BINARY(NAME, Name, name) SAME(SN_BINARY_##NAME, SimdnetBinary##Name);
SN_BINARY_LIST(SAME_BINARY)

SAME(SN_PIXEL_GRAY8, SimdPixelFormatGray8);
SAME(SN_PIXEL_BGR24, SimdPixelFormatBgr24);
SAME(SN_PIXEL_BGRA32, SimdPixelFormatBgra32);
SAME(SN_PIXEL_RGB24, SimdPixelFormatRgb24);

SAME(SN_GRID_BILINEAR, SimdGridSampleInterpBilinear);
SAME(SN_GRID_NEAREST, SimdGridSampleInterpNearest);
SAME(SN_GRID_BICUBIC, SimdGridSampleInterpBicubic);
SAME(SN_GRID_ZEROS, SimdGridSamplePaddingZeros);
SAME(SN_GRID_BORDER, SimdGridSamplePaddingBorder);
SAME(SN_GRID_REFLECT, SimdGridSamplePaddingReflect);

/* ---- names, in the order of the values */

static const char * const formats[] = {"Unknown", "Nchw", "Nhwc", "Nchw4c", "Nchw8c", "Nchw16c", "NchwXc", "Oiyx", "Yxio",
                                       "Oyxi4o", "Oyxi8o", "Oyxi16o", "OyxiXo"};
static const char * const data_types[] = {"Unknown", "32f", "32i", "8i", "8u", "64i", "64u", "Bool", "16b", "16f"};
static const char * const activations[] = {"Identity", "Relu", "LeakyRelu", "RestrictRange", "Prelu", "Elu", "Hswish",
                                           "Mish", "HardSigmoid", "Swish", "Gelu"};
static const char * const pixel_formats[] = {"None", "Gray8", "Uv16", "Bgr24", "Bgra32", "Int16", "Int32", "Int64", "Float",
                                             "Double", "BayerGrbg", "BayerGbrg", "BayerRggb", "BayerBggr", "Hsv24", "Hsl24",
                                             "Rgb24"};

#define ENUMERATION(prefix, first, names) {prefix, first, (int)(sizeof(names) / sizeof(*(names))), names}

const struct sn_enumeration sn_formats = ENUMERATION("SimdTensorFormat", SimdTensorFormatUnknown, formats);
const struct sn_enumeration sn_data_types = ENUMERATION("SimdTensorData", SimdTensorDataUnknown, data_types);
const struct sn_enumeration sn_activations = ENUMERATION("SimdConvolutionActivation", 0, activations);
const struct sn_enumeration sn_pixel_formats = ENUMERATION("SimdPixelFormat", 0, pixel_formats);

const char * sn_enumerator(const struct sn_enumeration * e, int value)
{
    return value >= e->first && value < e->first + e->count ? e->names[value - e->first] : NULL;
}

const char * sn_name(const struct sn_enumeration * e, int value, char text[SN_NAME_SIZE])
{
    const char * name = sn_enumerator(e, value);
    if (name)
        sn_append(text, SN_NAME_SIZE, "%s%s", e->prefix, name);
    else
        sn_append(text, SN_NAME_SIZE, "%d", value);
    return text;
}

size_t sn_data_bytes(int type)
{
    switch (type) {
    case SimdTensorData8i:
    case SimdTensorData8u:
    case SimdTensorDataBool: return 1;
    case SimdTensorData16b:
    case SimdTensorData16f: return 2;
    case SimdTensorData32f:
    case SimdTensorData32i: return 4;
    case SimdTensorData64i:
    case SimdTensorData64u: return 8;
    default: return 0;
    }
}
