"""How functions of the library are called with views: one function here for each that steps share."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod
from typing import Any

import numpy as np

from pysimd._activation_params import PRELU, Kind, kind_of
from pysimd._arrays import ELEMENTS, element_of_dtype
from pysimd._geometry import NCHW, NHWC
from pysimd._library import lib
from pysimd._pixels import FUNCTIONS
from pysimd.annotations import Array, Shape
from pysimd.copy import TYPES
from pysimd.network.calls import Call, Struct
from pysimd.network.open_arrays import full, is_array, spread
from pysimd.network.ranks import MOST, packed
from pysimd.network.views import View
from pysimd.reduce import OPERATIONS

#: A view, or an array of constants.
Operand = Any

_REDUCE = {**OPERATIONS, "argmax": lib.SimdnetReduceArgMax, "argmin": lib.SimdnetReduceArgMin}
# Functions of each element: the ends of their names in C, and the parameters that they have by default.
_ACTIVATIONS: dict[str, tuple[str, tuple[float, ...]]] = {
    "elu": ("Elu", (1.0,)),
    "gelu": ("Gelu", ()),
    "hard_sigmoid": ("HardSigmoid", (1 / 6, 0.5)),
    "hswish": ("Hswish", (3.0, 1 / 6)),
    "leaky_relu": ("Relu", (0.01,)),
    "mish": ("Mish", (20.0,)),
    "relu": ("RestrictRange", (0.0, inf)),
    "restrict_range": ("RestrictRange", (-inf, inf)),
    "sigmoid": ("Sigmoid", (1.0,)),
    "softplus": ("Softplus", (1.0, 20.0)),
    "swish": ("Swish", (1.0,)),
    "tanh": ("Tanh", (1.0,)),
}
_OPERATIONS = {
    "absolute": "Abs",
    "ceil": "Ceil",
    "cos": "Cos",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "log": "Log",
    "negative": "Neg",
    "reciprocal": "Rcp",
    "rint": "Round",
    "rsqrt": "Rsqrt",
    "sign": "Sign",
    "sin": "Sin",
    "sqrt": "Sqrt",
}

#: Those that only SimdnetPixelwise has.
_ANGLES = {
    "arccos": "Acos",
    "arccosh": "Acosh",
    "arcsin": "Asin",
    "arcsinh": "Asinh",
    "arctan": "Atan",
    "arctanh": "Atanh",
    "cosh": "Cosh",
    "sinh": "Sinh",
    "tan": "Tan",
}


def tensor_type(dtype: Any) -> int:
    """The enumerator of a type of elements."""
    return element_of_dtype(dtype, "the tensor", ELEMENTS).tensor


def format_of(layout: str) -> int:
    """The enumerator of a layout of images."""
    return NHWC if layout == "nhwc" else NCHW


def images_of(shape: Shape, layout: str) -> tuple[int, int, int, int]:
    """Images, channels, height and width of a batch."""
    if layout == "nhwc":
        n, h, w, c = shape
    else:
        n, c, h, w = shape
    return n, c, h, w


def around(shape: Shape, axis: int) -> tuple[int, int, int]:
    """The elements before, along and after an axis."""
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


def pixel_of(view: View | None) -> int:
    """The elements from a pixel to the next: from a position in all dimensions but the last to the following one."""
    if view is None:
        return 0
    if view.is_dense:
        return view.shape[-1]
    if view.shape[-1] != 1 and view.strides[-1] != view.itemsize:
        raise ValueError(f"an array of shape {view.shape} and strides {view.strides} has no dense pixels")
    apart = [(n, stride) for n, stride in zip(view.shape[-2::-1], view.strides[-2::-1]) if n != 1]
    if not apart:
        return view.shape[-1]
    step = expected = apart[0][1]
    for n, stride in apart:
        if stride != expected:
            raise ValueError(f"an array of shape {view.shape} and strides {view.strides} has pixels at several distances")
        expected = stride * n
    return step // view.itemsize


# ---- activations


def kind(activation: Any) -> Kind:
    """An activation, by its name and parameters."""
    return kind_of(activation[0])


def parameters_of(activation: Any, channels: int) -> Array | None:
    """The parameters of the activation of a context, None if it has none."""
    given, of = activation[1], kind_of(activation[0])
    if of.activation == PRELU:
        return per_channel(np.asarray(given, np.float32), channels)
    if not len(given):
        return np.array(of.defaults, np.float32) if of.defaults else None
    return np.array([d if v is None else v for v, d in zip(given, of.defaults)], np.float32)


def per_column(values: Array | None, count: int) -> Array | None:
    """The same of any type."""
    if values is None or values.size == count:
        return None if values is None else values.reshape(count)
    return np.full(count, values.reshape(()))


def per_channel(values: Array | None, channels: int, default: float | None = None) -> Array | None:
    """A number for each channel, of an array with one for each or for all of them; None of nothing without a default."""
    if values is None:
        return None if default is None else full((channels,), default, np.float32)
    if is_array(values) and values.size == channels:
        return values.reshape(-1)
    flat = np.ascontiguousarray(values.reshape(-1))
    return flat if flat.size != 1 or channels == 1 else full((channels,), flat[0], flat.dtype)


def of_struct(function: str, kind: str, members: dict[str, Any]) -> Call:
    """The call of a function that takes a struct. Raises ValueError for more dimensions than it has room for."""
    if "shape" in members and members.get("count", 0) > MOST:
        raise ValueError(f"x has {members['count']} dimensions, expected at most {MOST}")
    return Call(function, (Struct(kind, members),))


# ---- element by element


def unary(function: str, params: Sequence[Any], src: View, dst: View) -> Call:
    """A function of each element, see :data:`pysimd.network.operators.UNARY`."""
    if function in _ANGLES:
        if src.is_dense and dst.is_dense:
            src, dst = (view.reshape((view.size,)) for view in (src, dst))
        return pixelwise(_ANGLES[function], src, dst)
    if function in _OPERATIONS:
        name, given = _OPERATIONS[function], None
    else:
        name, defaults = _ACTIVATIONS[function]
        given = tuple(d if v is None else v for v, d in zip((*params, *defaults[len(params) :]), defaults))
        if function == "leaky_relu" and given == (0.0,):  # of -inf the formula is NaN
            name, given = _ACTIVATIONS["relu"]
    if not (src.is_dense and dst.is_dense):
        return pixelwise(name, src, dst, given or (1.0,))
    if given is not None:
        return Call(f"SimdSynet{name}32f", (src, src.size, *((number,) for number in given), dst))
    kind = getattr(lib, f"SimdSynetUnaryOperation32f{name}")
    return Call("SimdSynetUnaryOperation32fLayerForward", (src, src.size, kind, dst))


def pixelwise(function: str, src: View, dst: View, params: Sequence[float] = (), **more: Any) -> Call:
    """A function of the pixels of one or two images, which may be channel slices."""
    members = {
        "function": FUNCTIONS[function],
        "src": src,
        "src1": src,
        "dst": dst,
        "srcPixel": pixel_of(src),
        "src1Pixel": pixel_of(more.get("src1", src)),
        "dstPixel": pixel_of(dst),
        "channels": src.shape[-1],
        "pixels": prod(src.shape[:-1]),
        "params": tuple(params),
    }
    return of_struct("SimdnetPixelwise", "SimdnetPixelwiseParameters", {**members, **more})


def _operation(operations: str, function: str) -> int:
    """The enumerator of a function whose words are joined by underscores."""
    return int(getattr(lib, operations + "".join(map(str.capitalize, function.split("_")))))


def binary(function: str, a: Operand, b: Operand, dst: View, activation: Any = ("identity", ())) -> Call:
    """Arithmetic on two arrays, each dimension of which is 1 or that of the result."""
    of, params = kind(activation), parameters_of(activation, 1)
    members = {
        "operation": _operation("SimdnetBinary", function),
        "count": dst.ndim,
        "shape": dst.shape,
        "aShape": (1,) * (dst.ndim - a.ndim) + a.shape,
        "bShape": (1,) * (dst.ndim - b.ndim) + b.shape,
        "a": a,
        "b": b,
        "dst": dst,
        "activation": of.activation,
        "params": () if params is None else tuple(params.tolist()),
    }
    return of_struct("SimdnetBinary", "SimdnetBinaryParameters", members)


def elementwise(function: str, a: Operand, b: Operand, dst: View) -> Call:
    """Arithmetic on two arrays of integers, or a comparison."""
    members = {"operation": _operation("SimdnetElementwise", function), "dataType": tensor_type(a.dtype), "a": a, "b": b}
    members |= {"count": dst.ndim, "shape": dst.shape, "aShape": a.shape, "bShape": b.shape, "dst": dst}
    return of_struct("SimdnetElementwise", "SimdnetElementwiseParameters", members)


def quantized_binary(
    function: str, a: Operand, b: Operand, dst: View, scales: Sequence[float], zeros: Sequence[int]
) -> Call:
    """The sum or the product of two arrays of bytes; scales and zeros are those of a, b and dst."""
    members = {"operation": _operation("SimdnetBinary", function), "dataType": tensor_type(dst.dtype), "a": a, "b": b}
    members |= {"count": dst.ndim, "shape": dst.shape, "aShape": a.shape, "bShape": b.shape, "dst": dst}
    members |= dict(zip(("aScale", "bScale", "dstScale"), scales)) | dict(zip(("aZero", "bZero", "dstZero"), zeros))
    return of_struct("SimdnetQuantizedBinary", "SimdnetQuantizedBinaryParameters", members)


def selected(condition: Operand, a: Operand, b: Operand, dst: View) -> Call:
    """The elements of one array or the other."""
    members = {"dataType": moved_type(dst), "count": dst.ndim, "shape": dst.shape, "conditionShape": condition.shape}
    members |= {"aShape": a.shape, "bShape": b.shape, "condition": condition, "a": a, "b": b, "dst": dst}
    return of_struct("SimdnetSelect", "SimdnetSelectParameters", members)


def by_channel(function: str, src: View, terms: Sequence[Operand], dst: View, axis: int) -> Call:
    """A function with numbers for each coordinate of an axis: "Scale", whose terms are factors and addends or None, or
    "Prelu", of slopes."""
    if axis == src.ndim - 1:
        if not (src.is_dense and dst.is_dense):
            return pixelwise(function, src, dst, **dict(zip(("scale", "bias"), terms)))
        return Call(f"SimdSynet{function}LayerForward", (src, *terms, src.shape[-1], prod(src.shape[:-1]), dst, NHWC))
    images, channels, spatial = around(src.shape, axis)
    terms = [each if each is None else spread(each, (images, channels)) for each in terms]
    src, dst = (each.reshape((images * channels, spatial)) for each in (src, dst))  # the channels of all images are of one
    return Call(f"SimdSynet{function}LayerForward", (src, *terms, images * channels, spatial, dst, NCHW))


# ---- copies


def copied(src: View, dst: View) -> list[Call]:
    """The elements of one array to another one of its shape; both may have any strides. Nothing for empty ones."""
    if dst.size == 0:
        return []
    src, dst = packed(src, dst)
    members = {
        "dataType": TYPES[src.itemsize],
        "count": src.ndim,
        "shape": src.shape,
        "src": src,
        "dst": dst,
        "srcStride": tuple(stride // src.itemsize for stride in src.strides),
        "dstStride": tuple(stride // dst.itemsize for stride in dst.strides),
    }
    return [of_struct("SimdnetCopy", "SimdnetCopyParameters", members)]


def moved_type(view: View) -> int:
    """The type for a function that moves elements of these bytes whatever they are."""
    return int(TYPES[view.itemsize])


# ---- reductions and normalizations


def reduced(function: str, src: View, axes: Sequence[int], dst: View, last: bool = False) -> Call:
    """A reduction over some dimensions."""
    members = {
        "operation": _REDUCE[function],
        "count": src.ndim,
        "shape": src.shape,
        "reduced": tuple(int(i in axes) for i in range(src.ndim)),
        "dataType": tensor_type(src.dtype),
        "last": int(last),
        "src": src,
        "dst": dst,
    }
    return of_struct("SimdnetReduce", "SimdnetReduceParameters", members)


def normalized(
    version: int, src: View, sizes: Sequence[int], terms: Sequence[Operand], eps: float, form: int, dst: View
) -> Call:
    """One of the functions of layer normalization (2) and of channels (3).

    sizes : images, channels and spatial.
    terms : scale and bias.
    """
    name = f"SimdSynetNormalizeLayerForwardV{version}"
    return Call(name, (src, *sizes, *terms, (eps,), form, None, dst))
