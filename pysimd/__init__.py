"""pysimd: neural-network inference primitives on NumPy arrays, computed by libsimdnet.

Functions read contiguous arrays in place, and return new ones or write to ``out=``. The dtype selects the C function; an
array that does not fit is refused and never converted: TypeError for a wrong dtype, ValueError for everything else, with the
name of the argument, its value, what was expected and what to do. Arrays of other libraries (PyTorch, JAX, and others with
DLPack or NumPy's array interface) in the memory of the CPU are accepted as inputs and read in place as well.

The types in signatures are described in :mod:`pysimd.annotations`. ``pysimd.lowlevel`` has every C function unchanged.

>>> x = np.ones((8, 8, 3), np.float32)  # height, width, channels
>>> y = pysimd.convolution(x, np.ones((3, 3, 3, 4), np.float32), padding="same", activation="relu")
>>> pysimd.pooling_max(y, kernel=2).shape
(4, 4, 4)
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pysimd._library import VERSION as __version__

if TYPE_CHECKING:
    from pysimd import annotations, lowlevel
    from pysimd.activation import (
        elu,
        gelu,
        hard_sigmoid,
        hardsigmoid,
        hardswish,
        hswish,
        leaky_relu,
        mish,
        relu,
        relu6,
        restrict_range,
        sigmoid,
        silu,
        softplus,
        swish,
        tanh,
    )
    from pysimd.add import Add16b, add, add_8i
    from pysimd.affine import Scale8i, Scale16b, relu_16b
    from pysimd.attention import attention
    from pysimd.binary import binary, divide, maximum, minimum, multiply, power, subtract
    from pysimd.calls import Prepared, prepare
    from pysimd.cast import cast
    from pysimd.channel_sum import channel_sum
    from pysimd.channelwise import add_bias, fused0, fused1, fused2, fused3, fused4, fused8, fused9, prelu, scale
    from pysimd.context import Context
    from pysimd.convolution import Convolution32f, convolution
    from pysimd.convolution_8i import Convolution8i, Statistics, dequantize, quantize, statistics
    from pysimd.convolution_16b import Convolution16b, from_bfloat16, to_bfloat16
    from pysimd.copy import Permute, concatenate, copy, pad, permute, transpose
    from pysimd.deconvolution import Deconvolution16b, Deconvolution32f, deconvolution
    from pysimd.elementwise import elementwise, select
    from pysimd.eltwise import eltwise
    from pysimd.enums import (
        Activation,
        BinaryOperation,
        Compatibility,
        CpuInfoType,
        ElementwiseOperation,
        EltwiseOperation,
        PixelFormat,
        PreferenceType,
        TensorData,
        TensorFormat,
        UnaryOperation,
    )
    from pysimd.errors import StateError
    from pysimd.gather import GatherElements, gather, gather_elements
    from pysimd.gemm import gemm, matmul
    from pysimd.gemm_nbits import gemm_nbits
    from pysimd.grid_sample import GridSample2d, grid_sample
    from pysimd.infrastructure import (
        active_isa,
        alignment,
        cpu_info,
        get_num_threads,
        get_preference,
        isa_levels,
        max_isa,
        num_threads,
        performance_statistic,
        preference,
        set_max_isa,
        set_num_threads,
        set_preference,
        set_verbose,
        version,
        version_number,
    )
    from pysimd.inner_product import (
        InnerProduct16b,
        InnerProduct32f,
        QuantizedInnerProduct,
        inner_product,
        inner_product_8i,
        linear,
    )
    from pysimd.layout import convert_filter, convert_image, specify_tensor_format, tensor_alignment
    from pysimd.lrn import lrn
    from pysimd.merged_convolution import (
        ConvolutionStage,
        MergedConvolution8i,
        MergedConvolution16b,
        MergedConvolution32f,
        QuantizedMergedConvolution,
    )
    from pysimd.models import load
    from pysimd.non_max_suppression import non_max_suppression
    from pysimd.normalize import global_response_norm, group_norm, instance_norm, l2_normalize, layer_norm, layer_norm_16b
    from pysimd.pooling import pooling_average, pooling_max
    from pysimd.quantize_linear import dequantize_linear, dynamic_quantize, quantize_linear
    from pysimd.quantize_model import quantize_model
    from pysimd.quantized import (
        QuantizedAdd,
        QuantizedSum,
        quantized_concatenate,
        quantized_prelu,
        quantized_scale,
        quantized_shuffle,
    )
    from pysimd.quantized_binary import quantized_binary
    from pysimd.quantized_convolution import QuantizedConvolution
    from pysimd.quantized_gemm import QuantizedGemm, quantized_gemm
    from pysimd.quantized_pooling import quantized_pooling
    from pysimd.recurrent import GRU, LSTM, RNN, gru, lstm, rnn
    from pysimd.reduce import amax, amin, argmax, argmin, logsumexp, mean, prod, reduce, sum
    from pysimd.resize import Resize, Resizer, resize
    from pysimd.roi_align import roi_align
    from pysimd.scatter import cumulative_sum, gather_nd, scatter_elements, scatter_nd
    from pysimd.set_input import set_input
    from pysimd.shuffle import shuffle
    from pysimd.softmax import softmax, softmax_16b
    from pysimd.table8 import table8
    from pysimd.threadpools import register_threadpoolctl
    from pysimd.tiled_scale import tiled_scale
    from pysimd.top_k import top_k
    from pysimd.unary import (
        absolute,
        arccos,
        arccosh,
        arcsin,
        arcsinh,
        arctan,
        arctanh,
        ceil,
        cos,
        cosh,
        erf,
        exp,
        floor,
        log,
        negative,
        reciprocal,
        rint,
        rsqrt,
        sign,
        sin,
        sinh,
        sqrt,
        tan,
        unary,
    )
    from pysimd.winograd import winograd_filter, winograd_input, winograd_output

#: What is imported when it is used first, by module. Loading a model and running it needs few of these.
_LATER = {
    "activation": (
        "elu gelu hard_sigmoid hardsigmoid hardswish hswish leaky_relu mish relu relu6 restrict_range sigmoid silu "
        "softplus swish tanh"
    ),
    "add": "Add16b add add_8i",
    "affine": "Scale8i Scale16b relu_16b",
    "attention": "attention",
    "binary": "binary divide maximum minimum multiply power subtract",
    "calls": "Prepared prepare",
    "cast": "cast",
    "channel_sum": "channel_sum",
    "channelwise": "add_bias fused0 fused1 fused2 fused3 fused4 fused8 fused9 prelu scale",
    "context": "Context",
    "convolution": "Convolution32f convolution",
    "convolution_16b": "Convolution16b from_bfloat16 to_bfloat16",
    "convolution_8i": "Convolution8i Statistics dequantize quantize statistics",
    "copy": "Permute concatenate copy pad permute transpose",
    "deconvolution": "Deconvolution16b Deconvolution32f deconvolution",
    "elementwise": "elementwise select",
    "eltwise": "eltwise",
    "enums": (
        "Activation BinaryOperation Compatibility CpuInfoType ElementwiseOperation EltwiseOperation PixelFormat "
        "PreferenceType TensorData TensorFormat UnaryOperation"
    ),
    "errors": "StateError",
    "gather": "GatherElements gather gather_elements",
    "gemm": "gemm matmul",
    "gemm_nbits": "gemm_nbits",
    "grid_sample": "GridSample2d grid_sample",
    "infrastructure": (
        "active_isa alignment cpu_info get_num_threads get_preference isa_levels max_isa num_threads "
        "performance_statistic preference set_max_isa set_num_threads set_preference set_verbose version "
        "version_number"
    ),
    "inner_product": "InnerProduct16b InnerProduct32f QuantizedInnerProduct inner_product inner_product_8i linear",
    "layout": "convert_filter convert_image specify_tensor_format tensor_alignment",
    "lrn": "lrn",
    "merged_convolution": (
        "ConvolutionStage MergedConvolution8i MergedConvolution16b MergedConvolution32f QuantizedMergedConvolution"
    ),
    "models": "load",
    "non_max_suppression": "non_max_suppression",
    "normalize": "global_response_norm group_norm instance_norm l2_normalize layer_norm layer_norm_16b",
    "pooling": "pooling_average pooling_max",
    "quantize_linear": "dequantize_linear dynamic_quantize quantize_linear",
    "quantize_model": "quantize_model",
    "quantized": "QuantizedAdd QuantizedSum quantized_concatenate quantized_prelu quantized_scale quantized_shuffle",
    "quantized_binary": "quantized_binary",
    "quantized_convolution": "QuantizedConvolution",
    "quantized_gemm": "QuantizedGemm quantized_gemm",
    "quantized_pooling": "quantized_pooling",
    "recurrent": "GRU LSTM RNN gru lstm rnn",
    "reduce": "amax amin argmax argmin logsumexp mean prod reduce sum",
    "resize": "Resize Resizer resize",
    "roi_align": "roi_align",
    "scatter": "cumulative_sum gather_nd scatter_elements scatter_nd",
    "set_input": "set_input",
    "shuffle": "shuffle",
    "softmax": "softmax softmax_16b",
    "table8": "table8",
    "threadpools": "register_threadpoolctl",
    "tiled_scale": "tiled_scale",
    "top_k": "top_k",
    "unary": (
        "absolute arccos arccosh arcsin arcsinh arctan arctanh ceil cos cosh erf exp floor log negative reciprocal "
        "rint rsqrt sign sin sinh sqrt tan unary"
    ),
    "winograd": "winograd_filter winograd_input winograd_output",
}
_MODULES = {name: module for module, names in _LATER.items() for name in names.split()}

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "Activation",
    "Add16b",
    "BinaryOperation",
    "Compatibility",
    "Context",
    "Convolution8i",
    "Convolution16b",
    "Convolution32f",
    "ConvolutionStage",
    "CpuInfoType",
    "Deconvolution16b",
    "Deconvolution32f",
    "ElementwiseOperation",
    "EltwiseOperation",
    "GatherElements",
    "GridSample2d",
    "InnerProduct16b",
    "InnerProduct32f",
    "MergedConvolution8i",
    "MergedConvolution16b",
    "MergedConvolution32f",
    "Permute",
    "PixelFormat",
    "PreferenceType",
    "Prepared",
    "QuantizedAdd",
    "QuantizedConvolution",
    "QuantizedGemm",
    "QuantizedInnerProduct",
    "QuantizedMergedConvolution",
    "QuantizedSum",
    "Resize",
    "Resizer",
    "Scale8i",
    "Scale16b",
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
    "amax",
    "amin",
    "annotations",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "argmax",
    "argmin",
    "attention",
    "binary",
    "cast",
    "ceil",
    "channel_sum",
    "concatenate",
    "convert_filter",
    "convert_image",
    "convolution",
    "copy",
    "cos",
    "cosh",
    "cpu_info",
    "cumulative_sum",
    "deconvolution",
    "dequantize",
    "dequantize_linear",
    "divide",
    "dynamic_quantize",
    "elementwise",
    "eltwise",
    "elu",
    "erf",
    "exp",
    "floor",
    "from_bfloat16",
    "fused0",
    "fused1",
    "fused2",
    "fused3",
    "fused4",
    "fused8",
    "fused9",
    "gather",
    "gather_elements",
    "gather_nd",
    "gelu",
    "gemm",
    "gemm_nbits",
    "get_num_threads",
    "get_preference",
    "global_response_norm",
    "grid_sample",
    "group_norm",
    "gru",
    "hard_sigmoid",
    "hardsigmoid",
    "hardswish",
    "hswish",
    "inner_product",
    "inner_product_8i",
    "instance_norm",
    "isa_levels",
    "l2_normalize",
    "layer_norm",
    "layer_norm_16b",
    "leaky_relu",
    "linear",
    "load",
    "log",
    "logsumexp",
    "lowlevel",
    "lrn",
    "lstm",
    "matmul",
    "max_isa",
    "maximum",
    "mean",
    "minimum",
    "mish",
    "multiply",
    "negative",
    "non_max_suppression",
    "num_threads",
    "pad",
    "performance_statistic",
    "permute",
    "pooling_average",
    "pooling_max",
    "power",
    "preference",
    "prelu",
    "prepare",
    "prod",
    "quantize",
    "quantize_linear",
    "quantize_model",
    "quantized_binary",
    "quantized_concatenate",
    "quantized_gemm",
    "quantized_pooling",
    "quantized_prelu",
    "quantized_scale",
    "quantized_shuffle",
    "reciprocal",
    "reduce",
    "register_threadpoolctl",
    "relu",
    "relu6",
    "relu_16b",
    "resize",
    "restrict_range",
    "rint",
    "rnn",
    "roi_align",
    "rsqrt",
    "scale",
    "scatter_elements",
    "scatter_nd",
    "select",
    "set_input",
    "set_max_isa",
    "set_num_threads",
    "set_preference",
    "set_verbose",
    "shuffle",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "softmax",
    "softmax_16b",
    "softplus",
    "specify_tensor_format",
    "sqrt",
    "statistics",
    "subtract",
    "sum",
    "swish",
    "table8",
    "tan",
    "tanh",
    "tensor_alignment",
    "tiled_scale",
    "to_bfloat16",
    "top_k",
    "transpose",
    "unary",
    "version",
    "version_number",
    "winograd_filter",
    "winograd_input",
    "winograd_output",
]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__


if not TYPE_CHECKING:  # for type checkers, every name would exist

    def __getattr__(name: str) -> Any:
        """A public name, or one of the modules, that is imported only now. Functions come before modules of their name."""
        if name in _MODULES:
            found = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
            return found
        if name in _LATER or name in ("annotations", "lowlevel"):
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    class _Package(type(sys)):
        """This module, in which no module takes the place of the function of its name when it is imported."""

        def __setattr__(self, name, value):
            if name not in _MODULES or value is not sys.modules.get(f"{__name__}.{name}"):
                super().__setattr__(name, value)

        def __reduce__(self):
            """What refers to it is pickled, too: by cloudpickle, which knows modules by their type."""
            return import_module, (__name__,)

    sys.modules[__name__].__class__ = _Package


if "threadpoolctl" in sys.modules:
    import_module("pysimd.threadpools").register_threadpoolctl()
