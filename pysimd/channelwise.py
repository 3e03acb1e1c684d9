"""Channel-wise layers: one pass over images, where every channel has coefficients of its own.

Images are float32 and contiguous: (C, H, W) for "nchw", (..., C) for "nhwc", (C / x, H, W, x) for "nchw4c", "nchw8c" and
"nchw16c"; or a batch of them. Coefficients are (C,) float32; in a blocked layout with the lanes that fill the last block,
which are treated as the others. A NaN comes through.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Callable

from pysimd._arrays import NULL, Array, Shape, floats, output, tensor
from pysimd._geometry import LAYOUTS, NCHW, NHWC, Layout, layout_of, planes_of
from pysimd._library import ffi, lib
from pysimd.calls import call

_Function = Callable[..., None]
_Plan = tuple[_Function, int, int, int]


@lru_cache(maxsize=1024)
def _planes(shape: Shape, layout: Layout, name: str = "x") -> tuple[int, int, int, int]:
    """(format, images, channels, spatial) of an array."""
    form = layout_of(layout, "layout", LAYOUTS)
    return (form, *planes_of(shape, form, name))


@lru_cache(maxsize=1024)
def _plan(function: _Function, shape: Shape, layout: Layout, name: str = "x", sources: int = 1) -> _Plan:
    """(function that takes all images, format, channels, spatial); C's own takes one."""
    form, images, channels, spatial = _planes(shape, layout, name)
    if images != 1:
        function = partial(_each, function, images, channels * spatial, sources)
    return function, form, channels, spatial


def _each(function: _Function, images: int, size: int, sources: int, *arguments: Any) -> None:
    """Calls C once per image. The sources are the first of the arguments, destination and format the last ones."""
    *terms, dst, form = arguments[sources:]
    for at in [image * size for image in range(images)]:
        function(*[src + at for src in arguments[:sources]], *terms, dst + at, form)


def _add_bias(src: Any, bias: Any, channels: int, spatial: int, dst: Any, form: int) -> None:
    if src != dst:
        ffi.memmove(dst, src, 4 * channels * spatial)
    lib.SimdSynetAddBias(bias, channels, spatial, dst, form)


def add_bias(x: Array, bias: Array, *, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``x + bias[c]``.

    ``out=x`` works in place; another `out` receives a copy of `x` first. Formula: SimdSynetAddBias.
    """
    x, src = floats(x, "x")
    shape = x.shape
    function, form, channels, spatial = _plan(_add_bias, shape, layout)
    bias_ = tensor(bias, "bias", (channels,))
    out, dst = output(out, shape, (x, bias), ("x", "bias"), 1)
    call(function, src, bias_, channels, spatial, dst, form)
    return out


def scale(x: Array, scale: Array, bias: Array | None = None, *, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``x * scale[c] + bias[c]``; None for `bias` is zeros.

    ``out`` may be ``x``. Formula: SimdSynetScaleLayerForward.
    """
    x, src = floats(x, "x")
    shape = x.shape
    function, form, channels, spatial = _plan(lib.SimdSynetScaleLayerForward, shape, layout)
    scale_, bias_ = tensor(scale, "scale", (channels,)), NULL if bias is None else tensor(bias, "bias", (channels,))
    out, dst = output(out, shape, (x, scale, x if bias is None else bias), ("x", "scale", "bias"), 1)
    call(function, src, scale_, bias_, channels, spatial, dst, form)
    return out


def prelu(x: Array, slope: Array, *, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``max(0, x) + slope[c] * min(0, x)``.

    ``out`` may be ``x``. Formula: SimdSynetPreluLayerForward.
    """
    x, src = floats(x, "x")
    shape = x.shape
    function, form, channels, spatial = _plan(lib.SimdSynetPreluLayerForward, shape, layout)
    slope_ = tensor(slope, "slope", (channels,))
    out, dst = output(out, shape, (x, slope), ("x", "slope"), 1)
    call(function, src, slope_, channels, spatial, dst, form)
    return out


def fused0(x: Array, *, bias: Array, scale: Array, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``(v - abs(v)) * scale[c] + max(0, v)`` with ``v = x + bias[c]``.

    ``out`` may be ``x``. Formula: SimdSynetFusedLayerForward0.
    """
    x, src = floats(x, "x")
    shape = x.shape
    function, form, channels, spatial = _plan(lib.SimdSynetFusedLayerForward0, shape, layout)
    bias_, scale_ = tensor(bias, "bias", (channels,)), tensor(scale, "scale", (channels,))
    out, dst = output(out, shape, (x, bias, scale), ("x", "bias", "scale"), 1)
    call(function, src, bias_, scale_, channels, spatial, dst, form)
    return out


def fused1(
    x: Array, *, bias0: Array, scale1: Array, bias1: Array, layout: Layout = "nhwc", out: Array | None = None
) -> Array:
    """``max(0, -v) * scale1[c] + bias1[c] + max(0, v)`` with ``v = x + bias0[c]``.

    ``out`` may be ``x``. Formula: SimdSynetFusedLayerForward1.
    """
    x, src = floats(x, "x")
    shape = x.shape
    function, form, channels, spatial = _plan(lib.SimdSynetFusedLayerForward1, shape, layout)
    bias0_, scale1_, bias1_ = (
        tensor(bias0, "bias0", (channels,)),
        tensor(scale1, "scale1", (channels,)),
        tensor(bias1, "bias1", (channels,)),
    )
    out, dst = output(out, shape, (x, bias0, scale1, bias1), ("x", "bias0", "scale1", "bias1"), 1)
    call(function, src, bias0_, scale1_, bias1_, channels, spatial, dst, form)
    return out


def fused2(x: Array, *, scale: Array, bias: Array, slope: float, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``max(0, v) + slope * min(0, v)`` with ``v = x * scale[c] + bias[c]``; one slope for all channels.

    ``out`` may be ``x``. Formula: SimdSynetFusedLayerForward2.
    """
    x, src = floats(x, "x")
    shape = x.shape
    function, form, channels, spatial = _plan(lib.SimdSynetFusedLayerForward2, shape, layout)
    scale_, bias_ = tensor(scale, "scale", (channels,)), tensor(bias, "bias", (channels,))
    out, dst = output(out, shape, (x, scale, bias), ("x", "scale", "bias"), 1)
    call(function, src, scale_, bias_, channels, spatial, (slope,), dst, form)
    return out


def fused3(x: Array, *, scale: Array, bias: Array, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``max(0, v) + scale[c] * min(0, v)`` with ``v = x + bias[c]``.

    ``out`` may be ``x``. Formula: SimdSynetFusedLayerForward3, which tells about the order of these two in C.
    """
    x, src = floats(x, "x")
    shape = x.shape
    function, form, channels, spatial = _plan(lib.SimdSynetFusedLayerForward3, shape, layout)
    scale_, bias_ = tensor(scale, "scale", (channels,)), tensor(bias, "bias", (channels,))
    out, dst = output(out, shape, (x, scale, bias), ("x", "scale", "bias"), 1)
    call(function, src, scale_, bias_, channels, spatial, dst, form)
    return out


def fused8(x0: Array, x1: Array, *, src2: Array, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``x0 + x1 * src2[c]``: src2 are coefficients.

    ``out`` may be ``x0`` or ``x1``. Formula: SimdSynetFusedLayerForward8.
    """
    x0, src0 = floats(x0, "x0")
    src1 = tensor(x1, "x1", x0.shape)
    function, form, channels, spatial = _plan(lib.SimdSynetFusedLayerForward8, x0.shape, layout, "x0", 2)
    src2_ = tensor(src2, "src2", (channels,))
    out, dst = output(out, x0.shape, (x0, x1, src2), ("x0", "x1", "src2"), 2)
    call(function, src0, src1, src2_, channels, spatial, dst, form)
    return out


def _with_channels(shape: Shape, form: int, channels: int) -> Shape:
    """The shape of images that have so many channels instead."""
    if form == NHWC:
        return (*shape[:-1], channels)
    if form == NCHW:
        return (*shape[:-3], channels, *shape[-2:])
    return (*shape[:-4], channels // shape[-1], *shape[-3:])


def fused4(
    x: Array, *, bias0: Array, scale1: float, bias1: float, layout: Layout = "nhwc", out: Array | None = None
) -> Array:
    """``max(0, v)`` and, in as many channels behind them, ``max(0, v * scale1 + bias1)``, with ``v = x + bias0[c]``.

    out : like `x` with twice the channels. Formula: SimdSynetFusedLayerForward4.
    """
    x, src = floats(x, "x")
    form, images, channels, spatial = _planes(x.shape, layout, "x")
    term = tensor(bias0, "bias0", (channels,))
    shape = _with_channels(x.shape, form, 2 * channels)
    out, dst = output(out, shape, (x, bias0), ("x", "bias0"))
    numbers = (scale1,), (bias1,)
    for image in range(images):
        at = image * channels * spatial
        call(lib.SimdSynetFusedLayerForward4, src + at, term, *numbers, channels, spatial, dst + 2 * at, form)
    return out


def fused9(
    x0: Array,
    x1: Array,
    *,
    scale: Array,
    bias: Array,
    both: bool = False,
    layout: Layout = "nhwc",
    out: Array | None = None,
    out1: Array | None = None,
) -> Any:
    """``max(0, x * scale[c] + bias[c])`` where x are the channels of `x0`, then those of `x1`.

    scale, bias : as many as both have channels.
    out, out1 : like `x0` with the channels of both.
    both : also x itself, which `out1` receives; an `out1` asks for it, too.

    The result, or with `both` a tuple of the two. Formula: SimdSynetFusedLayerForward9.
    """
    x0, src0 = floats(x0, "x0")
    x1, src1 = floats(x1, "x1")
    form, images, channels0, spatial = _planes(x0.shape, layout, "x0")
    channels1 = _planes(x1.shape, layout, "x1")[2]
    if x1.shape != _with_channels(x0.shape, form, channels1):
        raise ValueError(f"x1 has shape {x1.shape}, expected that of x0, {x0.shape}, but for the channels")
    channels = channels0 + channels1
    shape = _with_channels(x0.shape, form, channels)
    terms = tensor(scale, "scale", (channels,)), tensor(bias, "bias", (channels,))
    given, names = (x0, x1, scale, bias), ("x0", "x1", "scale", "bias")
    out, dst = output(out, shape, given, names)
    dst1 = ffi.NULL
    if both or out1 is not None:
        out1, dst1 = output(out1, shape, (*given, out), (*names, "out"), name="out1")
    for image in range(images):
        at0, at1 = image * channels0 * spatial, image * channels1 * spatial
        sizes = channels0, channels1, spatial
        second = dst1 + at0 + at1 if dst1 else dst1
        call(lib.SimdSynetFusedLayerForward9, src0 + at0, src1 + at1, *terms, *sizes, dst + at0 + at1, second, form)
    return out if out1 is None else (out, out1)
