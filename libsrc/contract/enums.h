/* Enumerators for code below api/: the values are those of include/simdnet.h (api/enums.c asserts it), so that kernels do
 * not depend on that header. */
#ifndef SN_CONTRACT_ENUMS_H
#define SN_CONTRACT_ENUMS_H

/* Layouts: SimdTensorFormatType. */
enum sn_format {
    SN_FORMAT_UNKNOWN = -1,
    SN_NCHW,
    SN_NHWC,
    SN_NCHW4C,
    SN_NCHW8C,
    SN_NCHW16C,
    SN_NCHWXC,
    SN_OIYX,
    SN_YXIO,
    SN_OYXI4O,
    SN_OYXI8O,
    SN_OYXI16O,
    SN_OYXIXO
};

/* Element types that these layers compute with: some of SimdTensorDataType. */
enum sn_data {
    SN_DATA_32F,
    SN_DATA_32I,
    SN_DATA_8I,
    SN_DATA_8U,
    SN_DATA_64I,
    SN_DATA_64U,
    SN_DATA_BOOL,
    SN_DATA_16B
};

/* SimdConvolutionActivationType. */
enum sn_activation {
    SN_ACTIVATION_IDENTITY,
    SN_ACTIVATION_RELU,
    SN_ACTIVATION_LEAKY_RELU,
    SN_ACTIVATION_RESTRICT_RANGE,
    SN_ACTIVATION_PRELU,
    SN_ACTIVATION_ELU,
    SN_ACTIVATION_HSWISH,
    SN_ACTIVATION_MISH,
    SN_ACTIVATION_HARD_SIGMOID,
    SN_ACTIVATION_SWISH,
    SN_ACTIVATION_GELU,
    SN_ACTIVATION_SIGMOID = 100
};

/* SimdSynetEltwiseOperationType. */
enum sn_eltwise { SN_ELTWISE_PRODUCT, SN_ELTWISE_SUM, SN_ELTWISE_MAX, SN_ELTWISE_MIN };

/* SimdnetBinaryOperation: the list of these functions, of which everything that names them all is made. */
#define SN_BINARY_LIST(X)                                                                                                   \
    X(ADD, Add, add)                                                                                                        \
    X(SUBTRACT, Subtract, subtract)                                                                                         \
    X(MULTIPLY, Multiply, multiply)                                                                                         \
    X(DIVIDE, Divide, divide)                                                                                               \
    X(MAXIMUM, Maximum, maximum)                                                                                            \
    X(MINIMUM, Minimum, minimum)                                                                                            \
    X(POWER, Power, power)                                                                                                  \
    X(REPLACE, Replace, replace)

#define SN_BINARY_ENUMERATOR(NAME, ...) SN_BINARY_##NAME,
enum sn_binary_operation {
    SN_BINARY_LIST(SN_BINARY_ENUMERATOR)
    SN_BINARY_OPERATIONS /* their number */
};

/* Pixels that SimdSynetSetInput() reads: some of SimdPixelFormatType. */
enum sn_pixel { SN_PIXEL_GRAY8 = 1, SN_PIXEL_BGR24 = 3, SN_PIXEL_BGRA32 = 4, SN_PIXEL_RGB24 = 16 };

/* SimdGridSampleInterpType, SimdGridSamplePaddingType. */
enum sn_grid_interpolation { SN_GRID_BILINEAR, SN_GRID_NEAREST, SN_GRID_BICUBIC };
enum sn_grid_padding { SN_GRID_ZEROS, SN_GRID_BORDER, SN_GRID_REFLECT };

#endif
