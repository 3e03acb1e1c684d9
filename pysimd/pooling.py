"""Pooling: the maximum or the mean of a sliding window.

Shapes are (H, W, C) or, with ``layout="nchw"``, (C, H, W); a fourth axis in front is a batch. The window of output (y, x)
begins at row ``y * stride - top`` and column ``x * stride - left``; what lies outside the image contributes nothing.
"""

from __future__ import annotations

from typing import Any

from pysimd._arrays import BFLOAT16, FLOAT32, UINT8, Array, Shape, apart, element_of, output, pointer
from pysimd._geometry import (
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
from pysimd.errors import raise_last

Window = tuple[int, int, int, int, int, int]  # kernelY, kernelX, strideY, strideX, padY, padX


def _window(
    kernel: Pair, stride: Pair | None, padding: Padding, height: int, width: int, ceil_mode: bool
) -> tuple[Window, int, int]:
    """The window's numbers in the order in which C takes them, and the output's height and width."""
    kernel_y, kernel_x = pair(kernel, "kernel", 1)
    stride_y, stride_x = (kernel_y, kernel_x) if stride is None else pair(stride, "stride", 1)
    top, left, bottom, right = sides(padding, "padding")
    dst_h = output_size(height, kernel_y, stride_y, top, bottom, ceil_mode, "height")
    dst_w = output_size(width, kernel_x, stride_x, left, right, ceil_mode, "width")
    return (kernel_y, kernel_x, stride_y, stride_x, top, left), dst_h, dst_w


def _for_each_image(lead: Shape, src: Any, src_size: int, dst: Any, dst_size: int, call: Any) -> None:
    """Calls C once per image."""
    if not lead:
        call(src, dst)
        if lib.SimdnetLastErrorKind():
            raise_last()
        return
    for image in range(lead[0]):
        call(src + image * src_size, dst + image * dst_size)
        if lib.SimdnetLastErrorKind():
            raise_last()


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
    element = element_of(x, "x", (FLOAT32, BFLOAT16, UINT8))
    form = layout_of(layout)
    lead, channels, height, width = images_of(x.shape, form)
    window, dst_h, dst_w = _window(kernel, stride, padding, height, width, ceil_mode)
    across = kernel_c, stride_c, padding_c
    if across == (1, 1, 0):
        dst_c, pad_c = channels, 0
    else:
        if element is not FLOAT32:
            raise TypeError(f"x is {element.name}, expected float32 for a window across channels")
        kernel_c, stride_c = number(kernel_c, "kernel_c", 1), number(stride_c, "stride_c", 1)
        pad_c, after = pair(padding_c, "padding_c", 0)
        dst_c = output_size(channels, kernel_c, stride_c, pad_c, after, False, "channels")
    src = pointer(x, "x", element)
    given = out
    out, dst = output(out, shape_of_images(lead, dst_c, dst_h, dst_w, form), x, element)
    if given is not None:
        apart(given, x, "x")
    if element is FLOAT32:
        ky, kx, sy, sx, py, px = window

        def call(s: Any, d: Any) -> None:
            lib.SimdSynetPoolingMax32f(
                s, channels, height, width, kernel_c, ky, kx, stride_c, sy, sx, pad_c, py, px, d, dst_c, dst_h, dst_w, form
            )

    else:
        function = lib.SimdSynetPoolingMax8u if element is UINT8 else lib.SimdSynetPoolingMax16b

        def call(s: Any, d: Any) -> None:
            function(s, channels, height, width, *window, d, dst_h, dst_w, form)

    _for_each_image(lead, src, channels * height * width, dst, dst_c * dst_h * dst_w, call)
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

    The sum is divided by the number of cells inside the image when `exclude_pad` is true, else by the size of the kernel,
    also where the window is cut off. The other arguments are those of :func:`pooling_max`.

    A window without any cell of the image gives 0, or NaN with `exclude_pad`. Formula: SimdSynetPoolingAverage.
    """
    element = element_of(x, "x", (FLOAT32,))
    form = layout_of(layout)
    lead, channels, height, width = images_of(x.shape, form)
    window, dst_h, dst_w = _window(kernel, stride, padding, height, width, ceil_mode)
    src = pointer(x, "x", element)
    given = out
    out, dst = output(out, shape_of_images(lead, channels, dst_h, dst_w, form), x, element)
    if given is not None:
        apart(given, x, "x")
    exclude = 1 if exclude_pad else 0

    def call(s: Any, d: Any) -> None:
        lib.SimdSynetPoolingAverage(s, channels, height, width, *window, d, dst_h, dst_w, exclude, form)

    _for_each_image(lead, src, channels * height * width, dst, channels * dst_h * dst_w, call)
    return out
