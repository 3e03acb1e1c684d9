"""The transforms of Winograd's convolution, for programs that build their own around a product of matrices."""

from __future__ import annotations

from typing import Any

from pysimd._arrays import Array, floats, output
from pysimd._geometry import NCHW, Layout, Padding, Pair, layout_of, pair, sides
from pysimd._library import lib
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
    weight: Array, *, kernel: Pair = 3, block: Pair = 4, layout: Layout = "nhwc", out: Array | None = None
) -> Array:
    """Transforms the weights of a convolution of stride 1: one plane for each coefficient.

    weight : float32: (ky, kx, C, D) for "nhwc", giving (T, C, D); (D, C, ky, kx) for "nchw", giving (T, D, C).
    kernel, block : taps of the kernel and outputs of a tile, a number or (y, x) each: (1, 3) and (1, 5) with (1, 4), 2 with
        2 or 4, 3 with 2, 3 or 4.
    out : the result; T is (ky + block_y - 1) * (kx + block_x - 1).

    With ``v = winograd_input(x)`` and ``m = v @ u`` for "nhwc", or ``m = u @ v`` for "nchw", ``winograd_output(m, ...)`` is
    the convolution of x. An infinity or a NaN may make NaN of a whole tile.

    Formula: SimdWinogradKernel3x3Block4x4SetFilter and its like.
    """
    taps, outputs, functions = _kind(kernel, block)
    nchw = layout_of(layout) == NCHW
    weight, src = floats(weight, "weight")
    if weight.ndim != 4 or (weight.shape[2:] if nchw else weight.shape[:2]) != taps:
        axes = f"D, C, {taps[0]}, {taps[1]}" if nchw else f"{taps[0]}, {taps[1]}, C, D"
        raise ValueError(f"weight has shape {weight.shape}, expected ({axes})")
    sizes = weight.shape[:2] if nchw else weight.shape[2:]
    out, dst = output(out, (_coefficients(taps, outputs), *sizes), (weight,), ("weight",))
    call(functions[0], src, sizes[0] * sizes[1], dst, 0 if nchw else 1)
    return out


def winograd_input(
    x: Array,
    *,
    kernel: Pair = 3,
    block: Pair = 4,
    padding: Padding = 0,
    layout: Layout = "nhwc",
    out: Array | None = None,
) -> Array:
    """Transforms an image, cut into n overlapping tiles, row by row of them.

    x : float32: (H, W, C) for "nhwc", giving (T, n, C); (C, H, W) for "nchw", giving (T, C, n).
    kernel, block : as for :func:`winograd_filter`.
    padding : zeros around the image: a number, a pair (y, x), or (top, left, bottom, right).

    Formula: SimdWinogradKernel3x3Block4x4SetInput and its like.
    """
    taps, outputs, functions = _kind(kernel, block)
    nchw = layout_of(layout) == NCHW
    x, src = floats(x, "x")
    if x.ndim != 3:
        raise ValueError(f"x has shape {x.shape}, expected ({'C, H, W' if nchw else 'H, W, C'})")
    channels, height, width = x.shape if nchw else (x.shape[2], x.shape[0], x.shape[1])
    top, left, bottom, right = sides(padding, "padding")
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
    m: Array,
    size: tuple[int, int],
    *,
    kernel: Pair = 3,
    block: Pair = 4,
    layout: Layout = "nhwc",
    out: Array | None = None,
) -> Array:
    """Transforms the products back to an image of `size`, (height, width).

    m : float32: (T, n, D) for "nhwc", giving (height, width, D); (T, D, n) for "nchw", giving (D, height, width).
    kernel, block : as for :func:`winograd_filter`.

    Formula: SimdWinogradKernel3x3Block4x4SetOutput and its like.
    """
    taps, outputs, functions = _kind(kernel, block)
    nchw = layout_of(layout) == NCHW
    height, width = pair(size, "size", 0)
    m, src = floats(m, "m")
    tiles = -(-height // outputs[0]) * -(-width // outputs[1])
    planes = _coefficients(taps, outputs)
    if m.ndim != 3 or m.shape[0] != planes or m.shape[2 if nchw else 1] != tiles:
        axes = f"{planes}, D, {tiles}" if nchw else f"{planes}, {tiles}, D"
        raise ValueError(f"m has shape {m.shape}, expected ({axes})")
    channels = m.shape[1 if nchw else 2]
    shape = (channels, height, width) if nchw else (height, width, channels)
    out, dst = output(out, shape, (m,), ("m",))
    call(functions[2], src, tiles * channels, dst, channels, height, width, 0 if nchw else 1)
    return out
