"""The enumerations of the header, with its values; a test checks that none is missing."""

from __future__ import annotations

from enum import IntEnum, IntFlag

from pysimd._library import lib


class CpuInfoType(IntEnum):
    """Properties for :func:`pysimd.cpu_info`: counts, sizes of caches in bytes, instruction sets (1 if usable).

    >>> pysimd.cpu_info(pysimd.CpuInfoType.CORES) == pysimd.cpu_info("cores")
    True
    """

    SOCKETS = lib.SimdCpuInfoSockets
    CORES = lib.SimdCpuInfoCores
    THREADS = lib.SimdCpuInfoThreads
    CACHE_L1 = lib.SimdCpuInfoCacheL1
    CACHE_L2 = lib.SimdCpuInfoCacheL2
    CACHE_L3 = lib.SimdCpuInfoCacheL3
    SSE = lib.SimdCpuInfoSse
    SSE2 = lib.SimdCpuInfoSse2
    SSE3 = lib.SimdCpuInfoSse3
    SSSE3 = lib.SimdCpuInfoSsse3
    SSE41 = lib.SimdCpuInfoSse41
    SSE42 = lib.SimdCpuInfoSse42
    AVX = lib.SimdCpuInfoAvx
    AVX2 = lib.SimdCpuInfoAvx2
    AVX512F = lib.SimdCpuInfoAvx512f
    AVX512BW = lib.SimdCpuInfoAvx512bw
    VMX = lib.SimdCpuInfoVmx
    VSX = lib.SimdCpuInfoVsx
    NEON = lib.SimdCpuInfoNeon
    MSA = lib.SimdCpuInfoMsa


class PreferenceType(IntEnum):
    """What :func:`pysimd.set_preference` takes; functions accept the lower-case name as well.

    >>> pysimd.PreferenceType.EXACT.name
    'EXACT'
    """

    SPEED = lib.SimdnetPreferSpeed
    MEMORY = lib.SimdnetPreferMemory
    EXACT = lib.SimdnetPreferExact
    BFLOAT16 = lib.SimdnetPreferBfloat16


class TensorFormat(IntEnum):
    """Layouts of images (NCHW ... NCHWXC) and of filters (OIYX ... OYXIXO). Functions accept the lower-case name as well.

    >>> pysimd.pooling_max(np.ones((3, 4, 4), np.float32), kernel=2, layout=pysimd.TensorFormat.NCHW).shape
    (3, 2, 2)
    """

    UNKNOWN = lib.SimdTensorFormatUnknown
    NCHW = lib.SimdTensorFormatNchw
    NHWC = lib.SimdTensorFormatNhwc
    NCHW4C = lib.SimdTensorFormatNchw4c
    NCHW8C = lib.SimdTensorFormatNchw8c
    NCHW16C = lib.SimdTensorFormatNchw16c
    NCHWXC = lib.SimdTensorFormatNchwXc
    OIYX = lib.SimdTensorFormatOiyx
    YXIO = lib.SimdTensorFormatYxio
    OYXI4O = lib.SimdTensorFormatOyxi4o
    OYXI8O = lib.SimdTensorFormatOyxi8o
    OYXI16O = lib.SimdTensorFormatOyxi16o
    OYXIXO = lib.SimdTensorFormatOyxiXo


class TensorData(IntEnum):
    """Element types. BFLOAT16 is the upper half of a float.

    >>> pysimd.TensorData.BFLOAT16 == pysimd.lowlevel.SimdTensorData16b
    True
    """

    UNKNOWN = lib.SimdTensorDataUnknown
    FLOAT32 = lib.SimdTensorData32f
    INT32 = lib.SimdTensorData32i
    INT8 = lib.SimdTensorData8i
    UINT8 = lib.SimdTensorData8u
    INT64 = lib.SimdTensorData64i
    UINT64 = lib.SimdTensorData64u
    BOOL = lib.SimdTensorDataBool
    BFLOAT16 = lib.SimdTensorData16b
    FLOAT16 = lib.SimdTensorData16f


class Activation(IntEnum):
    """The activations of the library for convolutions, see :class:`pysimd.Convolution32f`, which accepts names as well.

    >>> pysimd.Convolution32f((4, 4, 2), 3, kernel=1, activation=pysimd.Activation.RELU).dst_shape
    (4, 4, 3)
    """

    IDENTITY = lib.SimdConvolutionActivationIdentity
    RELU = lib.SimdConvolutionActivationRelu
    LEAKY_RELU = lib.SimdConvolutionActivationLeakyRelu
    RESTRICT_RANGE = lib.SimdConvolutionActivationRestrictRange
    PRELU = lib.SimdConvolutionActivationPrelu
    ELU = lib.SimdConvolutionActivationElu
    HSWISH = lib.SimdConvolutionActivationHswish
    MISH = lib.SimdConvolutionActivationMish
    HARD_SIGMOID = lib.SimdConvolutionActivationHardSigmoid
    SWISH = lib.SimdConvolutionActivationSwish
    GELU = lib.SimdConvolutionActivationGelu
    SIGMOID = lib.SimdnetConvolutionActivationSigmoid


class UnaryOperation(IntEnum):
    """The operations of :func:`pysimd.unary`, which accepts the lower-case name as well.

    >>> pysimd.unary(np.array([4], np.float32), pysimd.UnaryOperation.SQRT)
    array([2.], dtype=float32)
    """

    ABS = lib.SimdSynetUnaryOperation32fAbs
    EXP = lib.SimdSynetUnaryOperation32fExp
    LOG = lib.SimdSynetUnaryOperation32fLog
    NEG = lib.SimdSynetUnaryOperation32fNeg
    RSQRT = lib.SimdSynetUnaryOperation32fRsqrt
    SQRT = lib.SimdSynetUnaryOperation32fSqrt
    TANH = lib.SimdSynetUnaryOperation32fTanh
    ZERO = lib.SimdSynetUnaryOperation32fZero
    CEIL = lib.SimdSynetUnaryOperation32fCeil
    COS = lib.SimdSynetUnaryOperation32fCos
    ERF = lib.SimdSynetUnaryOperation32fErf
    FLOOR = lib.SimdSynetUnaryOperation32fFloor
    NOT = lib.SimdSynetUnaryOperation32fNot
    RCP = lib.SimdSynetUnaryOperation32fRcp
    ROUND = lib.SimdSynetUnaryOperation32fRound
    SIGN = lib.SimdSynetUnaryOperation32fSign
    SIN = lib.SimdSynetUnaryOperation32fSin


class EltwiseOperation(IntEnum):
    """The operations of :func:`pysimd.eltwise`, which accepts the lower-case name as well.

    >>> pysimd.eltwise([np.ones(2, np.float32)], pysimd.EltwiseOperation.SUM)
    array([1., 1.], dtype=float32)
    """

    PRODUCT = lib.SimdSynetEltwiseOperationProduct
    SUM = lib.SimdSynetEltwiseOperationSum
    MAX = lib.SimdSynetEltwiseOperationMax
    MIN = lib.SimdSynetEltwiseOperationMin


class BinaryOperation(IntEnum):
    """The operations of :func:`pysimd.binary`, which accepts the lower-case name as well.

    >>> pysimd.binary(pysimd.BinaryOperation.ADD, np.ones(2, np.float32), 1)
    array([2., 2.], dtype=float32)
    """

    ADD = lib.SimdnetBinaryAdd
    SUBTRACT = lib.SimdnetBinarySubtract
    MULTIPLY = lib.SimdnetBinaryMultiply
    DIVIDE = lib.SimdnetBinaryDivide
    MAXIMUM = lib.SimdnetBinaryMaximum
    MINIMUM = lib.SimdnetBinaryMinimum
    POWER = lib.SimdnetBinaryPower
    REPLACE = lib.SimdnetBinaryReplace


class ElementwiseOperation(IntEnum):
    """The operations of :func:`pysimd.elementwise`, which accepts the lower-case name as well.

    >>> pysimd.elementwise(pysimd.ElementwiseOperation.ADD, np.ones(2, np.int32), 1)
    array([2, 2], dtype=int32)
    """

    ADD = lib.SimdnetElementwiseAdd
    SUBTRACT = lib.SimdnetElementwiseSubtract
    MULTIPLY = lib.SimdnetElementwiseMultiply
    DIVIDE = lib.SimdnetElementwiseDivide
    MODULO = lib.SimdnetElementwiseModulo
    REMAINDER = lib.SimdnetElementwiseRemainder
    MAXIMUM = lib.SimdnetElementwiseMaximum
    MINIMUM = lib.SimdnetElementwiseMinimum
    POWER = lib.SimdnetElementwisePower
    AND = lib.SimdnetElementwiseAnd
    OR = lib.SimdnetElementwiseOr
    XOR = lib.SimdnetElementwiseXor
    SHIFT_LEFT = lib.SimdnetElementwiseShiftLeft
    SHIFT_RIGHT = lib.SimdnetElementwiseShiftRight
    EQUAL = lib.SimdnetElementwiseEqual
    NOT_EQUAL = lib.SimdnetElementwiseNotEqual
    LESS = lib.SimdnetElementwiseLess
    LESS_OR_EQUAL = lib.SimdnetElementwiseLessOrEqual


class PixelFormat(IntEnum):
    """Formats of pixels. :func:`pysimd.set_input` accepts GRAY8, BGR24, BGRA32 and RGB24, and their lower-case names.

    >>> pysimd.set_input(np.zeros((2, 4), np.uint8), pixel_format=pysimd.PixelFormat.GRAY8).shape
    (2, 4, 3)
    """

    NONE = lib.SimdPixelFormatNone
    GRAY8 = lib.SimdPixelFormatGray8
    UV16 = lib.SimdPixelFormatUv16
    BGR24 = lib.SimdPixelFormatBgr24
    BGRA32 = lib.SimdPixelFormatBgra32
    INT16 = lib.SimdPixelFormatInt16
    INT32 = lib.SimdPixelFormatInt32
    INT64 = lib.SimdPixelFormatInt64
    FLOAT = lib.SimdPixelFormatFloat
    DOUBLE = lib.SimdPixelFormatDouble
    BAYER_GRBG = lib.SimdPixelFormatBayerGrbg
    BAYER_GBRG = lib.SimdPixelFormatBayerGbrg
    BAYER_RGGB = lib.SimdPixelFormatBayerRggb
    BAYER_BGGR = lib.SimdPixelFormatBayerBggr
    HSV24 = lib.SimdPixelFormatHsv24
    HSL24 = lib.SimdPixelFormatHsl24
    RGB24 = lib.SimdPixelFormatRgb24


class Compatibility(IntFlag):
    """Flags of the quantised functions.

    >>> pysimd.Compatibility.INT8_NARROWED in pysimd.Compatibility.INT8_MASK
    True
    """

    DEFAULT = lib.SimdSynetCompatibilityDefault
    FMA_USE = lib.SimdSynetCompatibilityFmaUse
    FMA_NO_TAIL = lib.SimdSynetCompatibilityFmaNoTail
    FMA_AVOID = lib.SimdSynetCompatibilityFmaAvoid
    FMA_MASK = lib.SimdSynetCompatibilityFmaMask
    INT8_PRECISE = lib.SimdSynetCompatibility8iPrecise
    INT8_OVERFLOW = lib.SimdSynetCompatibility8iOverflow
    INT8_NARROWED = lib.SimdSynetCompatibility8iNarrowed
    INT8_MASK = lib.SimdSynetCompatibility8iMask
    BF16_AVOID = lib.SimdSynetCompatibility16bfAvoid
    BF16_HARD = lib.SimdSynetCompatibility16bfHard
    BF16_SOFT = lib.SimdSynetCompatibility16bfSoft
    BF16_MASK = lib.SimdSynetCompatibility16bfMask
    FP16_AVOID = lib.SimdSynetCompatibility16fpAvoid
    FP16_HARD = lib.SimdSynetCompatibility16fpHard
    FP16_SOFT = lib.SimdSynetCompatibility16fpSoft
    FP16_MASK = lib.SimdSynetCompatibility16fpMask
