"""Resizing of images, by the rules of ONNX Resize and by those of the Simd Library.

Shapes are (H, W, C) for "nhwc", (C, H, W) for "nchw", (W, C) for "nwc", (C, W) for "ncw"; one more axis in front is a batch.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from pysimd._arrays import (
    BFLOAT16,
    FLOAT32,
    UINT8,
    Element,
    element_of,
    element_of_dtype,
    is_number,
    output,
    plain,
    tensor,
)
from pysimd._geometry import NHWC, extent, images_of, is_signal, layout_of, name_of, pair, shape_of, shape_of_images
from pysimd._library import ffi, lib
from pysimd._pixels import Image, forward, has_gaps
from pysimd.annotations import Array, Layout, Pair, Shape, Tensor
from pysimd.calls import call, create
from pysimd.context import ShapedContext
from pysimd.errors import StateError, shown

MODES = {
    "nearest": lib.SimdnetResizeNearest,
    "linear": lib.SimdnetResizeLinear,
    "cubic": lib.SimdnetResizeCubic,
    "area": lib.SimdnetResizeArea,
}
COORDINATES = {
    "half_pixel": lib.SimdnetResizeHalfPixel,
    "pytorch_half_pixel": lib.SimdnetResizePytorchHalfPixel,
    "align_corners": lib.SimdnetResizeAlignCorners,
    "asymmetric": lib.SimdnetResizeAsymmetric,
    "half_pixel_symmetric": lib.SimdnetResizeHalfPixelSymmetric,
}
ROUNDINGS = {
    "round_prefer_floor": lib.SimdnetResizeRoundPreferFloor,
    "round_prefer_ceil": lib.SimdnetResizeRoundPreferCeil,
    "floor": lib.SimdnetResizeFloor,
    "ceil": lib.SimdnetResizeCeil,
}
_METHODS = {
    "nearest": lib.SimdResizeMethodNearest,
    "nearest_pytorch": lib.SimdResizeMethodNearestPytorch,
    "bilinear": lib.SimdResizeMethodBilinear,
    "bilinear_caffe": lib.SimdResizeMethodBilinearCaffe,
    "bilinear_pytorch": lib.SimdResizeMethodBilinearPytorch,
    "bilinear_opencv": lib.SimdResizeMethodBilinearOpenCv,
    "bicubic": lib.SimdResizeMethodBicubic,
    "area": lib.SimdResizeMethodArea,
    "area_fast": lib.SimdResizeMethodAreaFast,
}
_CHANNELS = {
    "uint8": (UINT8, lib.SimdResizeChannelByte),
    "uint16": (BFLOAT16, lib.SimdResizeChannelShort),
    "float32": (FLOAT32, lib.SimdResizeChannelFloat),
    "bfloat16": (BFLOAT16, lib.SimdResizeChannelBf16),
}
_MOST_SIZE = 1 << 62  # of an image, so that it fits in C's size_t
_MOST_SCALE = float(np.finfo(np.float32).max)


def _chosen(value: Any, name: str, known: dict[str, Any]) -> Any:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} is {shown(value)}, expected {', '.join(map(repr, known))}")
    return known[value]


def _number(value: Any, name: str) -> float:
    if not is_number(value):
        raise TypeError(f"{name} is {shown(value)}, expected a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is {shown(value)}, too large for a float") from None


def _scales(scale: Any, form: int) -> tuple[float, float]:
    """(y, x) of a factor or of a pair; for signals, y is 1."""
    if isinstance(scale, (tuple, list)):
        if len(scale) != (1 if is_signal(form) else 2):
            raise ValueError(
                f"scale is {shown(scale)}, expected a number" + ("" if is_signal(form) else " or a pair (y, x)")
            )
        y, x = _number(scale[0], "scale[0]"), _number(scale[-1], f"scale[{len(scale) - 1}]")
    else:
        y = x = _number(scale, "scale")
    if not (0 < y < np.inf and 0 < x < np.inf):
        raise ValueError(f"scale is {shown(scale)}, expected positive numbers")
    if max(y, x) > _MOST_SCALE:
        raise ValueError(f"scale is {shown(scale)}, too large for float32")
    return (1.0, x) if is_signal(form) else (y, x)


def scaled(size: int, scale: float, rounding: float = 0.0) -> int:
    """The size of an output: the product, in float32 as in ONNX Runtime, rounded down; with a rounding of 0.5 to nearest."""
    return int(float(np.float32(size) * np.float32(scale)) + rounding)


class Resize(ShapedContext):
    """Resizes images of one shape, by the rules of ONNX Resize.

    src_shape : the shape of the input.
    size : the height and the width of the output, a number or a pair; for signals a number.
    scale : the factor of height and width, a number or a pair (y, x). Positions are computed from it, in float32 as ONNX
        Runtime does; without it from the sizes, exactly. Without a size, that is the product rounded down.
    mode : "nearest", "linear", "cubic", or "area", the mean of the part of the image that an output covers.
    coordinates : the position of outputs in the input: "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric" or
        "half_pixel_symmetric"; ignored by "area".
    rounding : of "nearest": "round_prefer_floor", "round_prefer_ceil", "floor" or "ceil".
    antialias : "linear" and "cubic" use more elements where the image shrinks.
    exclude_outside : elements outside have no weight; else they are the nearest ones inside.
    cubic : the coefficient of "cubic".
    layout : "nhwc", "nchw", "nwc" or "ncw".
    dtype : "float32" or "uint8".

    Raises ValueError for a size, a scale or a name that is not possible, TypeError for another dtype.

    >>> context = pysimd.Resize((2, 2, 1), scale=2, mode="linear")
    >>> context(np.array([[[0], [4]], [[8], [12]]], np.float32))[..., 0]
    array([[ 0.,  1.,  3.,  4.],
           [ 2.,  3.,  5.,  6.],
           [ 6.,  7.,  9., 10.],
           [ 8.,  9., 11., 12.]], dtype=float32)

    Formula: SimdnetResizeInit, SimdnetResizeForward.
    """

    def __init__(
        self,
        src_shape: Shape,
        size: Pair | None = None,
        *,
        scale: Any = None,
        mode: str = "nearest",
        coordinates: str = "half_pixel",
        rounding: str = "round_prefer_floor",
        antialias: bool = False,
        exclude_outside: bool = False,
        cubic: float = -0.75,
        layout: Layout = "nhwc",
        dtype: Any = "float32",
    ) -> None:
        arguments = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._src_shape = arguments["src_shape"] = shape_of(src_shape, "src_shape")
        self._form = layout_of(layout)
        arguments["layout"] = name_of(self._form)
        self._element = element_of_dtype(dtype, "dtype", (FLOAT32, UINT8))
        arguments["dtype"] = self._element.name
        lead, channels, height, width = images_of(self._src_shape, self._form, "src_shape")
        if size is None and scale is None:
            raise ValueError("size is missing, expected it or scale")
        scales = (0.0, 0.0) if scale is None else _scales(scale, self._form)
        if max(height * scales[0], width * scales[1]) > _MOST_SIZE:
            raise ValueError(f"scale is {shown(scale)}, too large for an image of {height} x {width}")
        if size is None:
            dst_h, dst_w = scaled(height, scales[0]), scaled(width, scales[1])
        else:
            dst_h, dst_w = extent(size, "size", 0, self._form)
        self._dst_shape = shape_of_images(lead, channels, dst_h, dst_w, self._form)
        given = ffi.new("SimdnetResizeParameters *", {"size": ffi.sizeof("SimdnetResizeParameters")})
        given.dataType, given.format = self._element.tensor, self._form
        given.batch, given.channels = lead[0] if lead else 1, channels
        given.srcH, given.srcW, given.dstH, given.dstW = height, width, dst_h, dst_w
        given.method = _chosen(mode, "mode", MODES)
        given.coordinates = _chosen(coordinates, "coordinates", COORDINATES)
        given.rounding = _chosen(rounding, "rounding", ROUNDINGS)
        given.scaleY, given.scaleX = scales
        given.cubic, given.antialias, given.excludeOutside = _number(cubic, "cubic"), bool(antialias), bool(exclude_outside)
        super().__init__(create(lib.SimdnetResizeInit, given), arguments)

    def _described(self) -> str:
        return f"{self._src_shape} -> {self._dst_shape} {self._arguments['mode']} {self._element.name}"

    def forward(self, x: Tensor, *, out: Array | None = None) -> Array:
        """Resizes `x`. For "nhwc" and "nwc", `x` and `out` may be channel slices of larger arrays, ``big[..., 3:19]``."""
        handle = self._open()
        element = self._element
        try:
            src = tensor(x, "x", self._src_shape, element, element.ctype)
            out, dst = output(out, self._dst_shape, (x,), ("x",), element=element, ctype=element.ctype, like=element)
        except StateError:
            raise
        except ValueError:
            if self._form != NHWC or not has_gaps(x, out):
                raise
            return self._forward_pixels(handle, x, out)
        call(lib.SimdnetResizeForward, handle, src, dst)
        return out

    __call__ = forward

    def _forward_pixels(self, handle: Any, x: Any, given: Array | None) -> Array:
        element = self._element
        out: Array = np.empty(self._dst_shape, element.dtype) if given is None else given
        src = Image(x, "x", self._src_shape, element, element.ctype)
        dst = Image(out, "out", self._dst_shape, element, element.ctype, True)
        forward(handle, src, None, dst, None)
        return out


def resize(
    x: Tensor,
    size: Pair | None = None,
    *,
    scale: Any = None,
    mode: str = "nearest",
    coordinates: str = "half_pixel",
    rounding: str = "round_prefer_floor",
    antialias: bool = False,
    exclude_outside: bool = False,
    cubic: float = -0.75,
    layout: Layout = "nhwc",
    out: Array | None = None,
) -> Array:
    """Resizes images, by the rules of ONNX Resize.

    x : float32 or uint8: (H, W, C) for "nhwc", (C, H, W) for "nchw", (W, C) for "nwc", (C, W) for "ncw"; or a batch of them.
    size, scale, mode, coordinates, rounding, antialias, exclude_outside, cubic, layout : as for :class:`Resize`.

    It creates a :class:`Resize` and keeps some of them for later calls with the same arguments. Raises TypeError for another
    dtype, ValueError for a shape, a size or a name that is not possible.

    >>> x = np.array([[1, 2], [3, 4]], np.float32).reshape(2, 2, 1)
    >>> pysimd.resize(x, scale=2)[..., 0]
    array([[1., 1., 2., 2.],
           [1., 1., 2., 2.],
           [3., 3., 4., 4.],
           [3., 3., 4., 4.]], dtype=float32)
    """
    array = plain(x, "x")
    element = element_of(array, "x", (FLOAT32, UINT8))
    size = tuple(size) if isinstance(size, list) else size
    scale = tuple(scale) if isinstance(scale, list) else scale
    options = mode, coordinates, rounding, bool(antialias), bool(exclude_outside), _number(cubic, "cubic"), layout
    context = _resizer(array.shape, size, scale, options, element, lib.SimdnetActiveIsa())
    return context.forward(x, out=out)


@lru_cache(maxsize=64, typed=True)  # typed, since the layouts "nwc" and "nhwc" are equal
def _resizer(shape: Shape, size: Any, scale: Any, options: tuple[Any, ...], element: Element, isa: Any) -> Resize:
    """One for each instruction set, too: a context keeps the one it was created with."""
    names = ("mode", "coordinates", "rounding", "antialias", "exclude_outside", "cubic", "layout")
    return Resize(shape, size, scale=scale, dtype=element.name, **dict(zip(names, options)))


class Resizer(ShapedContext):
    """Resizes pictures of one shape, by the rules of the Simd Library.

    src_shape : (H, W, C).
    size : the height and the width of the output, a number or a pair.
    method : "nearest", "nearest_pytorch", "bilinear"; for float32 and bfloat16 "bilinear_caffe" (corners are aligned) and
        "bilinear_pytorch" (asymmetric); for uint8 "bilinear_opencv" and, of at most 4 channels, "bicubic", "area" and
        "area_fast".
    dtype : "uint8", "uint16", "float32" or "bfloat16".

    Raises ValueError for a shape, a size or a method that is not possible, TypeError for another dtype.

    >>> context = pysimd.Resizer((2, 2, 1), (1, 1), method="area")
    >>> context(np.array([[[10], [20]], [[30], [40]]], np.uint8))
    array([[[25]]], dtype=uint8)

    Formula: SimdResizerInit, SimdResizerRun.
    """

    def __init__(self, src_shape: Shape, size: Pair, *, method: str = "bilinear", dtype: Any = "uint8") -> None:
        self._src_shape = shape_of(src_shape, "src_shape")
        if len(self._src_shape) != 3:
            raise ValueError(f"src_shape is {self._src_shape}, expected (H, W, C)")
        height, width, channels = self._src_shape
        name = element_of_dtype(dtype, "dtype", (FLOAT32, BFLOAT16, UINT8)).name
        if name == "bfloat16" and not (isinstance(dtype, str) and dtype == "bfloat16"):
            name = np.dtype(dtype).name  # which may be uint16
        self._element, kind = _CHANNELS[name]
        dst_h, dst_w = pair(size, "size", 1)
        self._dst_shape = (dst_h, dst_w, channels)
        chosen = _chosen(method, "method", _METHODS)
        arguments = {"src_shape": self._src_shape, "size": (dst_h, dst_w), "method": method, "dtype": name}
        super().__init__(create(lib.SimdResizerInit, width, height, dst_w, dst_h, channels, kind, chosen), arguments)
        self._strides = tuple(n * channels * self._element.dtype.itemsize for n in (width, dst_w))

    def _described(self) -> str:
        return f"{self._src_shape} -> {self._dst_shape} {self._arguments['method']} {self._arguments['dtype']}"

    def forward(self, x: Tensor, *, out: Array | None = None) -> Array:
        """Resizes a picture."""
        handle = self._open()
        element = self._element
        src = tensor(x, "x", self._src_shape, element, UINT8.ctype)
        out, dst = output(out, self._dst_shape, (x,), ("x",), element=element, ctype=UINT8.ctype, like=element)
        call(lib.SimdResizerRun, handle, src, self._strides[0], dst, self._strides[1])
        return out

    __call__ = forward
