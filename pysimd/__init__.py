"""pysimd: neural-network inference primitives on NumPy arrays, computed by libsimdnet.

Functions take contiguous arrays, in place, and give new ones or write into ``out=``. The dtype chooses the C function; an
array that does not fit is refused, never converted: TypeError for a wrong dtype, ValueError for what else does not fit, with
the name of the argument, what it is and what was expected. ``pysimd.lowlevel`` has every C function as it is.

Names in signatures:

Array : a numpy.ndarray, C-contiguous where its description does not say otherwise.
Shape : a tuple of int.
Pair : an int for both directions, or (y, x).
Padding : an int for all sides, (y, x) for both of each, or (top, left, bottom, right).
Layout : "nhwc" or "nchw"; some functions take "nchw4c", "nchw8c" and "nchw16c". A :class:`TensorFormat` is fine as well.
Params : a float, some of them, or a float32 array.
"""

from pysimd import lowlevel
from pysimd._library import VERSION as __version__
from pysimd.activation import elu, hswish, relu, restrict_range, sigmoid, softplus, tanh
from pysimd.add import Add16b, add, add_8i
from pysimd.calls import Prepared, prepare
from pysimd.channelwise import add_bias, fused0, fused1, fused2, fused3, fused4, fused8, fused9, prelu, scale
from pysimd.context import Context
from pysimd.convolution import Convolution32f, convolution
from pysimd.convolution_8i import Convolution8i, Statistics, dequantize, quantize, statistics
from pysimd.convolution_16b import Convolution16b, from_bfloat16, to_bfloat16
from pysimd.deconvolution import Deconvolution32f, deconvolution
from pysimd.eltwise import eltwise
from pysimd.enums import (
    Activation,
    Compatibility,
    CpuInfoType,
    EltwiseOperation,
    PixelFormat,
    TensorData,
    TensorFormat,
    UnaryOperation,
)
from pysimd.errors import StateError
from pysimd.gemm import gemm
from pysimd.infrastructure import (
    active_isa,
    alignment,
    cpu_info,
    get_num_threads,
    isa_levels,
    max_isa,
    num_threads,
    performance_statistic,
    set_max_isa,
    set_num_threads,
    set_verbose,
    version,
)
from pysimd.inner_product import inner_product
from pysimd.layout import convert_filter, convert_image, specify_tensor_format, tensor_alignment
from pysimd.lrn import lrn
from pysimd.merged_convolution import ConvolutionStage, MergedConvolution32f
from pysimd.pooling import pooling_average, pooling_max
from pysimd.set_input import set_input
from pysimd.shuffle import shuffle
from pysimd.softmax import softmax
from pysimd.threadpools import register_if_imported as _register_if_imported
from pysimd.threadpools import register_threadpoolctl
from pysimd.unary import absolute, exp, log, negative, rsqrt, sqrt, unary
from pysimd.winograd import winograd_filter, winograd_input, winograd_output

__all__ = [
    "Activation",
    "Add16b",
    "Compatibility",
    "Context",
    "Convolution8i",
    "Convolution16b",
    "Convolution32f",
    "ConvolutionStage",
    "CpuInfoType",
    "Deconvolution32f",
    "EltwiseOperation",
    "MergedConvolution32f",
    "PixelFormat",
    "Prepared",
    "StateError",
    "Statistics",
    "TensorData",
    "TensorFormat",
    "UnaryOperation",
    "__version__",
    "absolute",
    "active_isa",
    "add",
    "add_8i",
    "add_bias",
    "alignment",
    "convert_filter",
    "convert_image",
    "convolution",
    "cpu_info",
    "deconvolution",
    "dequantize",
    "eltwise",
    "elu",
    "exp",
    "from_bfloat16",
    "fused0",
    "fused1",
    "fused2",
    "fused3",
    "fused4",
    "fused8",
    "fused9",
    "gemm",
    "get_num_threads",
    "hswish",
    "inner_product",
    "isa_levels",
    "log",
    "lowlevel",
    "lrn",
    "max_isa",
    "negative",
    "num_threads",
    "performance_statistic",
    "pooling_average",
    "pooling_max",
    "prelu",
    "prepare",
    "quantize",
    "register_threadpoolctl",
    "relu",
    "restrict_range",
    "rsqrt",
    "scale",
    "set_input",
    "set_max_isa",
    "set_num_threads",
    "set_verbose",
    "shuffle",
    "sigmoid",
    "softmax",
    "softplus",
    "specify_tensor_format",
    "sqrt",
    "statistics",
    "tanh",
    "tensor_alignment",
    "to_bfloat16",
    "unary",
    "version",
    "winograd_filter",
    "winograd_input",
    "winograd_output",
]

_register_if_imported()
