"""Pooling: the maximum or the mean of a sliding window.

Shapes are (H, W, C) for "nhwc", (C, H, W) for "nchw", (W, C) for "nwc", (C, W) for "ncw"; one more axis in front is a batch.
The window of output (y, x) begins at row ``y * stride - top`` and column ``x * stride - left``; elements outside the image
contribute nothing. For "nhwc" and "nwc", inputs and outputs may be channel slices of larger arrays, ``big[..., 3:19]``.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, product
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np

from pysimd._arrays import BFLOAT16, FLOAT32, UINT8, Element, element_of, output, plain, pointer
from pysimd._geometry import (
    NCHW,
    NHWC,
    Window,
    extent,
    images_of,
    is_signal,
    layout_of,
    number,
    output_size,
    padding_of,
    pair,
    shape_of_images,
)
from pysimd._library import ffi, lib
from pysimd._pixels import Image, has_gaps, separate
from pysimd.annotations import Array, ForeignArray, Layout, NDArray, Padding, Pair, Shape
from pysimd.calls import call, call_struct
from pysimd.copy import copy

_EACH = (1, 1, (0, 0))  # channels are pooled separately
Pooled = TypeVar("Pooled", bound=np.generic)
Averaged = TypeVar("Averaged", np.float32, np.uint16)


class _Axis(NamedTuple):
    """The windows of an axis, as they are passed to C."""

    src: int
    dst: int
    kernel: int
    stride: int
    pad: int


class _Plan(NamedTuple):
    """The arguments of C around its two arrays, which depend on shapes and numbers alone."""

    dst_shape: Shape
    images: int  # calls of C
    src_size: int  # elements of one image
    dst_size: int
    head: tuple[int, ...]  # between src and dst
    tail: tuple[int, ...]  # after dst, without the format
    form: int
    padded: bool = False
    cuts: tuple[_Cut, ...] = ()


class _Cut(NamedTuple):
    """The last rows or columns of outputs, with windows that end where the padded image does."""

    src: tuple[Any, ...]  # indices of the elements that they cover
    dst: tuple[Any, ...]  # indices of the outputs
    plan: _Plan


def _plan_of(lead: Shape, form: int, y: _Axis, x: _Axis, c: _Axis, across: bool) -> _Plan:
    """across : whether C expects windows of channels, too."""
    axes = (c, y, x) if across else (y, x)
    windows = zip(*((axis.kernel, axis.stride, axis.pad) for axis in axes))
    return _Plan(
        shape_of_images(lead, c.dst, y.dst, x.dst, form),
        lead[0] if lead else 1,
        c.src * y.src * x.src,
        c.dst * y.dst * x.dst,
        (c.src, y.src, x.src, *chain(*windows)),
        tuple(axis.dst for axis in axes),
        form,
    )


def _pieces(axis: _Axis, after: int) -> list[tuple[_Axis, slice, slice]]:
    """All windows of an axis, with their parts of the image and of the output; then the last one if it ends beyond the image
    and its padding, cut off there. The ceil rule makes one such window at most."""
    pieces = [(axis, slice(None), slice(None))]
    begin, end = (axis.dst - 1) * axis.stride - axis.pad, axis.src + after
    if axis.dst and begin + axis.kernel > end:
        first = max(begin, 0)
        last = _Axis(axis.src - first, 1, end - begin, axis.stride, first - begin)
        pieces.append((last, slice(first, None), slice(-1, None)))
    return pieces


@lru_cache(maxsize=1024, typed=True)  # typed, since the layouts "nwc" and "nhwc" are equal
def _plan(shape: Shape, form: int, kernel: Any, stride: Any, padding: Any, ceil: bool, across: Any) -> _Plan:
    """kernel, stride : an int or a pair (y, x); None for the kernel as stride.
    padding : an int, four sides, "same" or "valid".
    across : None for functions that pool each channel by itself, else (kernel_c, stride_c, padding_c).
    """
    lead, channels, height, width = images_of(shape, form)
    kernel_y, kernel_x = kernel if type(kernel) is tuple else extent(kernel, "kernel", 1, form)
    step = (kernel_y, kernel_x) if stride is None else stride
    stride_y, stride_x = step if type(step) is tuple else extent(step, "stride", 1, form)
    if type(padding) is not tuple:
        padding = padding_of(padding, form, (height, width), Window((kernel_y, kernel_x), (stride_y, stride_x)))
    top, left, bottom, right = padding
    dst_h = output_size(height, kernel_y, stride_y, top, bottom, ceil, "height")
    dst_w = output_size(width, kernel_x, stride_x, left, right, ceil, "width")
    y, x = _Axis(height, dst_h, kernel_y, stride_y, top), _Axis(width, dst_w, kernel_x, stride_x, left)
    if across is not None:
        kernel_c, stride_c, (pad_c, after) = across
        dst_c = output_size(channels, kernel_c, stride_c, pad_c, after, False, "channels")
        return _plan_of(lead, form, y, x, _Axis(channels, dst_c, kernel_c, stride_c, pad_c), True)
    c = _Axis(channels, channels, 1, 1, 0)
    _, *rest = product(_pieces(y, bottom), _pieces(x, right))
    cuts = (
        _Cut(_index(form, y_src, x_src), _index(form, y_dst, x_dst), _plan_of(lead, form, rows, columns, c, False))
        for (rows, y_src, y_dst), (columns, x_src, x_dst) in rest
    )
    padded = (top, left, bottom, right) != (0, 0, 0, 0)
    return _plan_of(lead, form, y, x, c, False)._replace(padded=padded, cuts=tuple(cuts))


def _index(form: int, rows: slice, columns: slice) -> tuple[Any, ...]:
    """The index of a part of images."""
    space = (columns,) if is_signal(form) else (rows, columns)
    return (..., *space) if form == NCHW else (..., *space, slice(None))


def _planned(shape: Shape, kernel: Any, stride: Any, padding: Any, layout: Layout, ceil: bool, across: Any = None) -> _Plan:
    """The plan of a call. For the cache 2.0 and 2 are the same key, so other numbers than int are converted here."""
    form = layout_of(layout)
    if type(kernel) is not int:
        kernel = extent(kernel, "kernel", 1, form)
    if stride is not None and type(stride) is not int:
        stride = extent(stride, "stride", 1, form)
    if type(padding) is not int and type(padding) is not str:
        padding = padding_of(padding, form, (0, 0), Window((1, 1), (1, 1)))
    return _plan(shape, form, kernel, stride, padding, bool(ceil), across)


def _run(function: Any, plan: _Plan, src: Any, dst: Any, *flags: int) -> None:
    """Calls C once per image."""
    for image in range(plan.images):
        if image:
            src, dst = src + plan.src_size, dst + plan.dst_size
        call(function, src, *plan.head, dst, *plan.tail, *flags, plan.form)


def _run_pixels(kind: int, plan: _Plan, x: Array, out: Any, element: Element, exclude: int = 0) -> Any:
    """Calls C once, for images with other elements between their pixels."""
    src = Image(x, "x", x.shape, element, element.ctype)
    out = np.empty(plan.dst_shape, x.dtype) if out is None else out
    dst = Image(out, "out", plan.dst_shape, element, element.ctype, True)
    separate(dst, src, "x")
    _run_all(kind, plan, element, src.data, dst.data, exclude, src.pixel, dst.pixel)
    return out


def _run_all(
    kind: int, plan: _Plan, element: Element, src: Any, dst: Any, exclude: int, src_pixel: int = 0, dst_pixel: int = 0
) -> None:
    """Calls C once, for all images of a batch. Pixels at a distance of 0 are dense."""
    parameters = ffi.new("SimdnetPoolingParameters *", {"size": ffi.sizeof("SimdnetPoolingParameters")})
    parameters.type, parameters.dataType, parameters.format = kind, element.tensor, plan.form
    parameters.src, parameters.dst, parameters.srcPixel, parameters.dstPixel = src, dst, src_pixel, dst_pixel
    parameters.batch, parameters.excludePad = plan.images, exclude
    parameters.channels, parameters.srcH, parameters.srcW = plan.head[:3]
    windows, axes = plan.head[3:], len(plan.tail)  # with or without the channels
    kernel, stride, pad = (windows[i : i + axes][-2:] for i in range(0, 3 * axes, axes))
    parameters.kernelY, parameters.kernelX = kernel
    parameters.strideY, parameters.strideX = stride
    parameters.padY, parameters.padX = pad
    parameters.dstH, parameters.dstW = plan.tail[-2:]
    call_struct(lib.SimdnetPooling, parameters, held=(src, dst))


@overload
def pooling_max(
    x: NDArray[Pooled],
    *,
    kernel: Pair,
    stride: Pair | None = ...,
    padding: Padding = ...,
    layout: Layout = ...,
    ceil_mode: bool = ...,
    kernel_c: int = ...,
    stride_c: int = ...,
    padding_c: Pair = ...,
    out: NDArray[Pooled] | None = ...,
) -> NDArray[Pooled]: ...
@overload
def pooling_max(
    x: ForeignArray,
    *,
    kernel: Pair,
    stride: Pair | None = ...,
    padding: Padding = ...,
    layout: Layout = ...,
    ceil_mode: bool = ...,
    kernel_c: int = ...,
    stride_c: int = ...,
    padding_c: Pair = ...,
    out: Array | None = ...,
) -> Array: ...
def pooling_max(
    x: Any,
    *,
    kernel: Pair,
    stride: Pair | None = None,
    padding: Padding = 0,
    layout: Layout = "nhwc",
    ceil_mode: bool = False,
    kernel_c: int = 1,
    stride_c: int = 1,
    padding_c: Pair = 0,
    out: Any = None,
) -> Any:
    """The maximum of every window.

    x : float32, bfloat16 (uint16 or ml_dtypes.bfloat16) or uint8, contiguous: (H, W, C) for "nhwc", (C, H, W) for "nchw",
        (W, C) for "nwc", (C, W) for "ncw"; or a batch of them.
    kernel, stride : a number or a pair (y, x), at least 1, for signals a number; the stride is the kernel by default.
    padding : a number, a pair (y, x), (top, left, bottom, right), for signals a number or a pair (before, after); or "same"
        or "valid".
    ceil_mode : whether to count a last window that is cut off at the bottom or right; False counts whole windows only.
    kernel_c, stride_c, padding_c : float32 only: the window also spans channels, padding_c is a number or a pair (before,
        after), and the output has ``(C + before + after - kernel_c) // stride_c + 1`` channels.
    out : the array to write, of the output's shape and the dtype of `x`.

    A window without any element of the image yields the smallest finite float (for bfloat16 its rounding, -Inf) or 0
    (uint8). Raises TypeError for another dtype, ValueError for a shape or a window that does not fit.

    >>> x = np.arange(16, dtype=np.float32).reshape(4, 4, 1)
    >>> pysimd.pooling_max(x, kernel=2)[:, :, 0]
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    >>> signal = np.array([[1], [5], [2], [0]], np.uint8)
    >>> pysimd.pooling_max(signal, kernel=3, stride=1, padding="same", layout="nwc")[:, 0]
    array([5, 5, 5, 2], dtype=uint8)

    Formula: SimdSynetPoolingMax32f, SimdSynetPoolingMax16b, SimdSynetPoolingMax8u.
    """
    array = plain(x, "x")
    element = element_of(array, "x", (FLOAT32, BFLOAT16, UINT8))
    across: Any = _EACH if element is FLOAT32 else None
    if not kernel_c == stride_c == 1 or padding_c != 0:
        if element is not FLOAT32:
            raise TypeError(f"x is {element.name}, expected float32 for a window across channels")
        across = number(kernel_c, "kernel_c", 1), number(stride_c, "stride_c", 1), pair(padding_c, "padding_c", 0)
    plan = _planned(array.shape, kernel, stride, padding, layout, ceil_mode, across)
    try:
        src = pointer(array, "x", element)
        out, dst = output(out, plan.dst_shape, (x,), ("x",), element=element, ctype=element.ctype, like=x)
    except ValueError:
        if across not in (None, _EACH) or plan.form != NHWC or not has_gaps(array, out):
            raise
        return _run_pixels(lib.SimdnetPoolingMax, plan, array, out, element)
    if element is FLOAT32:
        function = lib.SimdSynetPoolingMax32f
    else:
        function = lib.SimdSynetPoolingMax8u if element is UINT8 else lib.SimdSynetPoolingMax16b
    _run(function, plan, src, dst)
    return out


@overload
def pooling_average(
    x: NDArray[Averaged],
    *,
    kernel: Pair,
    stride: Pair | None = ...,
    padding: Padding = ...,
    layout: Layout = ...,
    ceil_mode: bool = ...,
    exclude_pad: bool = ...,
    out: NDArray[Averaged] | None = ...,
) -> NDArray[Averaged]: ...
@overload
def pooling_average(
    x: ForeignArray,
    *,
    kernel: Pair,
    stride: Pair | None = ...,
    padding: Padding = ...,
    layout: Layout = ...,
    ceil_mode: bool = ...,
    exclude_pad: bool = ...,
    out: Array | None = ...,
) -> Array: ...
def pooling_average(
    x: Any,
    *,
    kernel: Pair,
    stride: Pair | None = None,
    padding: Padding = 0,
    layout: Layout = "nhwc",
    ceil_mode: bool = False,
    exclude_pad: bool = False,
    out: Any = None,
) -> Any:
    """The mean of every window.

    x : float32 or bfloat16 (uint16 or ml_dtypes.bfloat16), contiguous: (H, W, C) for "nhwc", (C, H, W) for "nchw", (W, C)
        for "nwc", (C, W) for "ncw"; or a batch of them.
    kernel, stride, padding, ceil_mode : as for :func:`pooling_max`.
    exclude_pad : divides by the number of elements inside the image. By default the divisor is the number of elements inside
        the image and its padding: that of the kernel, except for the last row and column of `ceil_mode`, whose windows may
        extend beyond the padding.
    out : the array to write, of the output's shape and the dtype of `x`.

    Means of bfloat16 numbers are computed in float32, then rounded to nearest even. A window without any element of the
    image yields 0, or NaN with `exclude_pad`. Raises TypeError for another dtype, ValueError for a shape or a window that
    does not fit.

    >>> x = np.arange(16, dtype=np.float32).reshape(4, 4, 1)
    >>> pysimd.pooling_average(x, kernel=2)[:, :, 0]
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)

    Formula: SimdSynetPoolingAverage, or SimdnetPooling for bfloat16, which always divide by the size of the kernel unless
    padding is excluded.
    """
    array = plain(x, "x")
    element = element_of(array, "x", (FLOAT32, BFLOAT16))
    plan = _planned(array.shape, kernel, stride, padding, layout, ceil_mode)
    exclude = exclude_pad or (plan.cuts and not plan.padded)  # without padding both divisors are the same
    try:
        src = pointer(array, "x", element)
        out, dst = output(out, plan.dst_shape, (x,), ("x",), element=element, ctype=element.ctype, like=x)
        _run_average(plan, element, src, dst, 1 if exclude else 0)
    except ValueError:
        if plan.form != NHWC or not has_gaps(array, out):
            raise
        out = _run_pixels(lib.SimdnetPoolingAverage, plan, array, out, element, 1 if exclude else 0)
    for cut in () if exclude else plan.cuts:
        _average_cut(cut, element, array, plain(out, "out"))
    return out


def _run_average(plan: _Plan, element: Element, src: Any, dst: Any, exclude: int) -> None:
    if element is FLOAT32:
        _run(lib.SimdSynetPoolingAverage, plan, src, dst, exclude)
    else:
        _run_all(lib.SimdnetPoolingAverage, plan, element, src, dst, exclude)


def _average_cut(cut: _Cut, element: Element, x: Array, out: Array) -> None:
    """Computes the outputs of windows that are cut off again, with their own divisor."""
    src, dst = copy(x[cut.src]), np.empty(cut.plan.dst_shape, x.dtype)
    _run_average(cut.plan, element, pointer(src, "x", element), pointer(dst, "out", element, True), 0)
    copy(dst, out=out[cut.dst])
