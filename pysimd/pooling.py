"""Pooling: the maximum or the mean of a sliding window.

Shapes are (H, W, C) or, with ``layout="nchw"``, (C, H, W); a fourth axis in front is a batch. The window of output (y, x)
begins at row ``y * stride - top`` and column ``x * stride - left``; what lies outside the image contributes nothing.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np

from pysimd._arrays import BFLOAT16, FLOAT32, UINT8, Array, Shape, element_of, floats, output, plain, pointer
from pysimd._geometry import (
    NCHW,
    Layout,
    Padding,
    Pair,
    images_of,
    layout_of,
    number,
    output_size,
    pair,
    shape_of_images,
    sides,
)
from pysimd._library import lib
from pysimd.calls import call


class _Axis(NamedTuple):
    """The windows of an axis, as C is given them."""

    src: int
    dst: int
    kernel: int
    stride: int
    pad: int


class _Plan(NamedTuple):
    """What follows from shapes and numbers alone: the arguments of C around its two arrays."""

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

    src: tuple[Any, ...]  # indices of what they cover
    dst: tuple[Any, ...]  # and of the outputs
    plan: _Plan


def _plan_of(lead: Shape, form: int, y: _Axis, x: _Axis, c: _Axis, across: bool) -> _Plan:
    """`across` when C takes windows of channels, too."""
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
    """All windows of an axis, with what they cover of the image and of the output; then the last one if it ends beyond the
    image and its padding, cut off there. The ceil rule makes one such window at most."""
    pieces = [(axis, slice(None), slice(None))]
    begin, end = (axis.dst - 1) * axis.stride - axis.pad, axis.src + after
    if axis.dst and begin + axis.kernel > end:
        first = max(begin, 0)
        last = _Axis(axis.src - first, 1, end - begin, axis.stride, first - begin)
        pieces.append((last, slice(first, None), slice(-1, None)))
    return pieces


@lru_cache(maxsize=1024)
def _plan(shape: Shape, form: int, kernel: Pair, stride: Pair | None, padding: Padding, ceil: bool, across: Any) -> _Plan:
    """`across` is None for functions that pool each channel by itself, else (kernel_c, stride_c, padding_c)."""
    lead, channels, height, width = images_of(shape, form)
    kernel_y, kernel_x = pair(kernel, "kernel", 1)
    stride_y, stride_x = (kernel_y, kernel_x) if stride is None else pair(stride, "stride", 1)
    top, left, bottom, right = sides(padding, "padding")
    dst_h = output_size(height, kernel_y, stride_y, top, bottom, ceil, "height")
    dst_w = output_size(width, kernel_x, stride_x, left, right, ceil, "width")
    y, x = _Axis(height, dst_h, kernel_y, stride_y, top), _Axis(width, dst_w, kernel_x, stride_x, left)
    if across is not None:
        kernel_c, stride_c, (pad_c, after) = across
        dst_c = output_size(channels, kernel_c, stride_c, pad_c, after, False, "channels")
        return _plan_of(lead, form, y, x, _Axis(channels, dst_c, kernel_c, stride_c, pad_c), True)
    c = _Axis(channels, channels, 1, 1, 0)
    inner = () if form == NCHW else (slice(None),)
    _, *rest = product(_pieces(y, bottom), _pieces(x, right))
    cuts = (
        _Cut((..., y_src, x_src, *inner), (..., y_dst, x_dst, *inner), _plan_of(lead, form, rows, columns, c, False))
        for (rows, y_src, y_dst), (columns, x_src, x_dst) in rest
    )
    padded = (top, left, bottom, right) != (0, 0, 0, 0)
    return _plan_of(lead, form, y, x, c, False)._replace(padded=padded, cuts=tuple(cuts))


def _planned(x: Array, kernel: Any, stride: Any, padding: Any, layout: Layout, ceil: bool, across: Any = None) -> _Plan:
    """The plan of a call. To the cache 2.0 and 2 are one key, so it gets integers alone: others are read here."""
    if type(kernel) is not int:
        kernel = pair(kernel, "kernel", 1)
    if stride is not None and type(stride) is not int:
        stride = pair(stride, "stride", 1)
    if type(padding) is not int:
        padding = sides(padding, "padding")
    return _plan(x.shape, layout_of(layout), kernel, stride, padding, bool(ceil), across)


def _run(function: Any, plan: _Plan, src: Any, dst: Any, *flags: int) -> None:
    """Calls C once per image."""
    for image in range(plan.images):
        if image:
            src, dst = src + plan.src_size, dst + plan.dst_size
        call(function, src, *plan.head, dst, *plan.tail, *flags, plan.form)


def pooling_max(
    x: Array,
    *,
    kernel: Pair,
    stride: Pair | None = None,
    padding: Padding = 0,
    layout: Layout = "nhwc",
    ceil_mode: bool = False,
    kernel_c: int = 1,
    stride_c: int = 1,
    padding_c: Pair = 0,
    out: Array | None = None,
) -> Array:
    """The maximum of every window.

    x : float32, bfloat16 (uint16 or ml_dtypes.bfloat16) or uint8, contiguous; (H, W, C) or (C, H, W), or a batch of them.
    kernel, stride : a number or a pair (y, x), at least 1; the stride is the kernel when it is not given.
    padding : a number, a pair (y, x), or (top, left, bottom, right).
    ceil_mode : count a last window that is cut off at the bottom or right. False counts whole windows only.
    kernel_c, stride_c, padding_c : float32 only: the window also spans channels, padding_c is a number or a pair (before,
        after), and the output has ``(C + before + after - kernel_c) // stride_c + 1`` channels.
    out : the array to write, of the output's shape and the dtype of `x`.

    A window without any cell of the image gives the smallest finite float (for bfloat16 its rounding, -Inf) or 0 (uint8).

    Raises TypeError for a dtype that is none of these, ValueError for every other argument that does not fit.
    Formula: SimdSynetPoolingMax32f, SimdSynetPoolingMax16b, SimdSynetPoolingMax8u.
    """
    x = plain(x, "x")
    element = element_of(x, "x", (FLOAT32, BFLOAT16, UINT8))
    across: Any = (1, 1, (0, 0)) if element is FLOAT32 else None
    if not kernel_c == stride_c == 1 or padding_c != 0:
        if element is not FLOAT32:
            raise TypeError(f"x is {element.name}, expected float32 for a window across channels")
        across = number(kernel_c, "kernel_c", 1), number(stride_c, "stride_c", 1), pair(padding_c, "padding_c", 0)
    plan = _planned(x, kernel, stride, padding, layout, ceil_mode, across)
    src = pointer(x, "x", element)
    out, dst = output(out, plan.dst_shape, (x,), ("x",), element=element, ctype=element.ctype, like=x)
    if element is FLOAT32:
        function = lib.SimdSynetPoolingMax32f
    else:
        function = lib.SimdSynetPoolingMax8u if element is UINT8 else lib.SimdSynetPoolingMax16b
    _run(function, plan, src, dst)
    return out


def pooling_average(
    x: Array,
    *,
    kernel: Pair,
    stride: Pair | None = None,
    padding: Padding = 0,
    layout: Layout = "nhwc",
    ceil_mode: bool = False,
    exclude_pad: bool = False,
    out: Array | None = None,
) -> Array:
    """The mean of every window of a float32 array.

    The sum is divided by the number of cells inside the image when `exclude_pad` is true, else by that of the cells inside
    the image and its padding: those of the kernel, but for the last row and column of `ceil_mode`, whose windows may run
    past the padding, too. The other arguments are those of :func:`pooling_max`.

    A window without any cell of the image gives 0, or NaN with `exclude_pad`. Formula: SimdSynetPoolingAverage, which by
    itself divides by the size of the kernel also there.
    """
    x, src = floats(x, "x")
    plan = _planned(x, kernel, stride, padding, layout, ceil_mode)
    out, dst = output(out, plan.dst_shape, (x,), ("x",))
    exclude = exclude_pad or (plan.cuts and not plan.padded)  # without padding both divisors are the same
    _run(lib.SimdSynetPoolingAverage, plan, src, dst, 1 if exclude else 0)
    for cut in () if exclude else plan.cuts:
        call(_average_cut, cut, x, plain(out, "out"))
    return out


def _average_cut(cut: _Cut, x: Array, out: Array) -> None:
    """Computes these outputs again, with their own divisor."""
    src = np.ascontiguousarray(x[cut.src])
    dst = np.empty(cut.plan.dst_shape, np.float32)
    _run(lib.SimdSynetPoolingAverage, cut.plan, pointer(src, "x", FLOAT32), pointer(dst, "out", FLOAT32, True), 0)
    out[cut.dst] = dst
