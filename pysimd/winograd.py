"""The transforms of Winograd's convolution, for programs that combine them with a product of matrices."""

from __future__ import annotations

from typing import Any

from pysimd._arrays import floats, output
from pysimd._geometry import IMAGE_LAYOUTS, NCHW, Window, layout_of, padding_of, pair
from pysimd._library import lib
from pysimd.annotations import FloatArray, Floats, ImageLayout, Padding, Pair
from pysimd.calls import call

#: (kernel, block): the functions SetFilter, SetInput and SetOutput
_FUNCTIONS: dict[tuple[Pair, Pair], tuple[Any, Any, Any]] = {
    ((1, 3), (1, 4)): (
        lib.SimdWinogradKernel1x3Block1x4SetFilter,
        lib.SimdWinogradKernel1x3Block1x4SetInput,
        lib.SimdWinogradKernel1x3Block1x4SetOutput,
    ),
    ((1, 5), (1, 4)): (
        lib.SimdWinogradKernel1x5Block1x4SetFilter,
        lib.SimdWinogradKernel1x5Block1x4SetInput,
        lib.SimdWinogradKernel1x5Block1x4SetOutput,
    ),
    ((2, 2), (2, 2)): (
        lib.SimdWinogradKernel2x2Block2x2SetFilter,
        lib.SimdWinogradKernel2x2Block2x2SetInput,
        lib.SimdWinogradKernel2x2Block2x2SetOutput,
    ),
    ((2, 2), (4, 4)): (
        lib.SimdWinogradKernel2x2Block4x4SetFilter,
        lib.SimdWinogradKernel2x2Block4x4SetInput,
        lib.SimdWinogradKernel2x2Block4x4SetOutput,
    ),
    ((3, 3), (2, 2)): (
        lib.SimdWinogradKernel3x3Block2x2SetFilter,
        lib.SimdWinogradKernel3x3Block2x2SetInput,
        lib.SimdWinogradKernel3x3Block2x2SetOutput,
    ),
    ((3, 3), (3, 3)): (
        lib.SimdWinogradKernel3x3Block3x3SetFilter,
        lib.SimdWinogradKernel3x3Block3x3SetInput,
        lib.SimdWinogradKernel3x3Block3x3SetOutput,
    ),
    ((3, 3), (4, 4)): (
        lib.SimdWinogradKernel3x3Block4x4SetFilter,
        lib.SimdWinogradKernel3x3Block4x4SetInput,
        lib.SimdWinogradKernel3x3Block4x4SetOutput,
    ),
}


def _kind(kernel: Pair, block: Pair) -> tuple[tuple[int, int], tuple[int, int], tuple[Any, Any, Any]]:
    taps, outputs = pair(kernel, "kernel", 1), pair(block, "block", 1)
    functions = _FUNCTIONS.get((taps, outputs))
    if functions is None:
        known = ", ".join(f"{k} with {b}" for k, b in _FUNCTIONS)
        raise ValueError(f"kernel is {kernel} and block is {block}, expected one of {known}")
    return taps, outputs, functions


def _coefficients(taps: tuple[int, int], outputs: tuple[int, int]) -> int:
    return (taps[0] + outputs[0] - 1) * (taps[1] + outputs[1] - 1)


def winograd_filter(
    weight: Floats, *, kernel: Pair = 3, block: Pair = 4, layout: ImageLayout = "nhwc", out: FloatArray | None = None
) -> FloatArray:
    """Transforms the weights of a convolution of stride 1: one plane for each coefficient.

    weight : float32: (kernel_y, kernel_x, C, dst_c) for "nhwc", (dst_c, C, kernel_y, kernel_x) for "nchw".
    kernel, block : the size of the kernel and of a tile of outputs, each a number or (y, x): (1, 3) and (1, 5) with (1, 4),
        2 with 2 or 4, 3 with 2, 3 or 4.
    out : float32: (T, C, dst_c) for "nhwc", (T, dst_c, C) for "nchw", where T is (kernel_y + block_y - 1) * (kernel_x +
        block_x - 1).

    With ``v = winograd_input(x)`` and ``m = v @ u`` for "nhwc", or ``m = u @ v`` for "nchw", ``winograd_output(m, ...)`` is
    the convolution of x. An infinity or a NaN may turn a whole tile into NaN. Raises TypeError for another dtype, ValueError
    for another shape, or a kernel and a block that are not in the list.

    >>> x, weight = np.ones((8, 8, 2), np.float32), np.ones((3, 3, 2, 4), np.float32)
    >>> u, v = pysimd.winograd_filter(weight, block=2), pysimd.winograd_input(x, block=2, padding="same")
    >>> u.shape, v.shape
    ((16, 2, 4), (16, 16, 2))
    >>> y = pysimd.winograd_output(v @ u, (8, 8), block=2)
    >>> np.allclose(y, pysimd.convolution(x, weight, padding="same"))
    True

    Formula: SimdWinogradKernel3x3Block4x4SetFilter and similar functions.
    """
    taps, outputs, functions = _kind(kernel, block)
    nchw = layout_of(layout, "layout", IMAGE_LAYOUTS) == NCHW
    array, src = floats(weight, "weight")
    if array.ndim != 4 or (array.shape[2:] if nchw else array.shape[:2]) != taps:
        axes = f"dst_c, C, {taps[0]}, {taps[1]}" if nchw else f"{taps[0]}, {taps[1]}, C, dst_c"
        raise ValueError(f"weight has shape {array.shape}, expected ({axes})")
    sizes = array.shape[:2] if nchw else array.shape[2:]
    out, dst = output(out, (_coefficients(taps, outputs), *sizes), (weight,), ("weight",))
    call(functions[0], src, sizes[0] * sizes[1], dst, 0 if nchw else 1)
    return out


def winograd_input(
    x: Floats,
    *,
    kernel: Pair = 3,
    block: Pair = 4,
    padding: Padding = 0,
    layout: ImageLayout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """Transforms an image, cut into n overlapping tiles in rows.

    x : float32: (H, W, C) for "nhwc", (C, H, W) for "nchw".
    kernel, block : as for :func:`winograd_filter`, whose example shows all three transforms.
    padding : zeros around the image: a number, a pair (y, x), (top, left, bottom, right), "same" or "valid".
    out : float32: (T, n, C) for "nhwc", (T, C, n) for "nchw".

    Raises TypeError for another dtype, ValueError for another shape or a kernel larger than the padded image.

    >>> pysimd.winograd_input(np.ones((8, 8, 2), np.float32), padding=1).shape
    (36, 4, 2)

    Formula: SimdWinogradKernel3x3Block4x4SetInput and similar functions.
    """
    taps, outputs, functions = _kind(kernel, block)
    nchw = layout_of(layout, "layout", IMAGE_LAYOUTS) == NCHW
    array, src = floats(x, "x")
    if array.ndim != 3:
        raise ValueError(f"x has shape {array.shape}, expected ({'C, H, W' if nchw else 'H, W, C'})")
    channels, height, width = array.shape if nchw else (array.shape[2], array.shape[0], array.shape[1])
    top, left, bottom, right = padding_of(padding, NCHW, (height, width), Window(taps, (1, 1)))
    dst_h, dst_w = height + top + bottom - taps[0] + 1, width + left + right - taps[1] + 1
    if dst_h < 0 or dst_w < 0:
        raise ValueError(f"kernel is {taps}, larger than the padded image ({height + top + bottom}, {width + left + right})")
    tiles = -(-dst_h // outputs[0]) * -(-dst_w // outputs[1])
    planes = _coefficients(taps, outputs)
    shape = (planes, channels, tiles) if nchw else (planes, tiles, channels)
    out, dst = output(out, shape, (x,), ("x",))
    pads = top, left, bottom, right
    call(functions[1], src, channels, height, width, *pads, dst, tiles * channels, 0 if nchw else 1)
    return out


def winograd_output(
    m: Floats,
    size: tuple[int, int],
    *,
    kernel: Pair = 3,
    block: Pair = 4,
    layout: ImageLayout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """Transforms the products back to an image.

    m : float32: (T, n, dst_c) for "nhwc", (T, dst_c, n) for "nchw".
    size : (height, width) of the image.
    kernel, block : as for :func:`winograd_filter`, whose example shows all three transforms.
    out : float32: (height, width, dst_c) for "nhwc", (dst_c, height, width) for "nchw".

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.winograd_output(np.ones((36, 4, 2), np.float32), (8, 8)).shape
    (8, 8, 2)

    Formula: SimdWinogradKernel3x3Block4x4SetOutput and similar functions.
    """
    taps, outputs, functions = _kind(kernel, block)
    nchw = layout_of(layout, "layout", IMAGE_LAYOUTS) == NCHW
    height, width = pair(size, "size", 0)
    array, src = floats(m, "m")
    tiles = -(-height // outputs[0]) * -(-width // outputs[1])
    planes = _coefficients(taps, outputs)
    if array.ndim != 3 or array.shape[0] != planes or array.shape[2 if nchw else 1] != tiles:
        axes = f"{planes}, dst_c, {tiles}" if nchw else f"{planes}, {tiles}, dst_c"
        raise ValueError(f"m has shape {array.shape}, expected ({axes})")
    channels = array.shape[1 if nchw else 2]
    shape = (channels, height, width) if nchw else (height, width, channels)
    out, dst = output(out, shape, (m,), ("m",))
    call(functions[2], src, tiles * channels, dst, channels, height, width, 0 if nchw else 1)
    return out
