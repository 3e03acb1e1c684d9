"""Channel-wise layers: one pass over images with coefficients for each channel.

Images are float32 and contiguous: (C, H, W) for "nchw", (..., C) for "nhwc", (C, W) for "ncw", (..., C) for "nwc",
(C / x, H, W, x) for "nchw4c", "nchw8c" and "nchw16c"; or a batch of them. Coefficients are float32 of shape (C,), (C, 1, 1)
or (1, C, 1, 1), or one number for all channels. In a blocked layout they include those of the lanes that fill the last
block, which are computed like the others. NaN propagates.

In "nhwc" and "nwc", inputs and outputs of :func:`add_bias`, :func:`scale` and :func:`prelu` may also be channel slices of
larger arrays, ``big[..., 3:19]``.

Raises TypeError for another dtype, ValueError for another shape, for an array that is not contiguous and for an `out` that
overlaps another array.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Callable, NamedTuple

from pysimd._arrays import at, coefficients, coefficients_or_null, floats, output, plain, plain_output, tensor
from pysimd._deprecated import renamed
from pysimd._geometry import LAYOUTS, NHWC, layout_of, planes_of, with_channels
from pysimd._library import ffi, lib
from pysimd._pixels import has_gaps, pixelwise
from pysimd.annotations import ChannelLayout, Coefficients, FloatArray, Floats, Shape
from pysimd.calls import call
from pysimd.copy import copy

_Function = Callable[..., None]


class _Plan(NamedTuple):
    """The numbers that C takes for arrays of a shape."""

    form: int
    images: int
    channels: int
    spatial: int


@lru_cache(maxsize=1024)
def _planes(shape: Shape, layout: ChannelLayout, name: str = "x") -> _Plan:
    form = layout_of(layout, "layout", LAYOUTS)
    return _Plan(form, *planes_of(shape, form, name))


def _each(function: _Function, plan: _Plan, sources: tuple[Any, ...], *arguments: Any) -> None:
    """Calls C once per image. Destination and format are the last of the arguments."""
    form, images, channels, spatial = plan
    if images == 1:
        call(function, *sources, *arguments, form)
        return
    *terms, dst = arguments
    for begin in [image * channels * spatial for image in range(images)]:
        call(function, *[at(src, begin) for src in sources], *terms, at(dst, begin), form)


def _is_sliced(layout: ChannelLayout, *arrays: Any) -> bool:
    """Whether one of the arrays is some channels of a larger one, which are neighbours in each pixel."""
    return layout_of(layout, "layout", LAYOUTS) == NHWC and has_gaps(*arrays)


def add_bias(x: Floats, bias: Coefficients, *, layout: ChannelLayout = "nhwc", out: FloatArray | None = None) -> FloatArray:
    """``x + bias[c]``.

    x, out : float32, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw", (C / x, H, W, x) for
        "nchw4c", "nchw8c" and "nchw16c"; or a batch of them. ``out=x`` works in place; for
        another `out`, `x` is copied to it first.
    bias : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.add_bias(np.zeros((2, 2), np.float32), np.array([1, 2], np.float32))
    array([[1., 2.],
           [1., 2.]], dtype=float32)

    Formula: SimdSynetAddBias.
    """
    if _is_sliced(layout, x, out):
        bias_ = coefficients(bias, "bias", plain(x, "x").shape[-1])
        return pixelwise(lib.SimdnetPixelwiseAddBias, (x,), ("x",), out, bias=bias_)
    array, src = floats(x, "x")
    shape = array.shape
    plan = _planes(shape, layout)
    bias_ = coefficients(bias, "bias", plan.channels)
    out, dst = output(out, shape, (x, bias), ("x", "bias"), 1)
    if src != dst:
        copy(array.reshape(-1), out=plain_output(out, "out").reshape(-1))
    _each(lib.SimdSynetAddBias, plan, (), bias_, plan.channels, plan.spatial, dst)
    return out


def scale(
    x: Floats,
    scale: Coefficients,
    bias: Coefficients | None = None,
    *,
    layout: ChannelLayout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """``x * scale[c] + bias[c]``.

    x, out : float32, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw", (C / x, H, W, x) for
        "nchw4c", "nchw8c" and "nchw16c"; or a batch of them. ``out`` may be ``x``.
    scale, bias : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels; None for `bias` is zeros.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.scale(np.ones((2, 2), np.float32), np.array([3, 4], np.float32), 0.5)
    array([[3.5, 4.5],
           [3.5, 4.5]], dtype=float32)

    Formula: SimdSynetScaleLayerForward.
    """
    if _is_sliced(layout, x, out):
        channels = plain(x, "x").shape[-1]
        scale_, bias_ = coefficients(scale, "scale", channels), coefficients_or_null(bias, "bias", channels)
        return pixelwise(lib.SimdnetPixelwiseScale, (x,), ("x",), out, scale=scale_, bias=bias_)
    array, src = floats(x, "x")
    shape = array.shape
    plan = _planes(shape, layout)
    scale_, bias_ = coefficients(scale, "scale", plan.channels), coefficients_or_null(bias, "bias", plan.channels)
    out, dst = output(out, shape, (x, scale, 0.0 if bias is None else bias), ("x", "scale", "bias"), 1)
    _each(lib.SimdSynetScaleLayerForward, plan, (src,), scale_, bias_, plan.channels, plan.spatial, dst)
    return out


def prelu(x: Floats, slope: Coefficients, *, layout: ChannelLayout = "nhwc", out: FloatArray | None = None) -> FloatArray:
    """``max(0, x) + slope[c] * min(0, x)``.

    x, out : float32, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw", (C / x, H, W, x) for
        "nchw4c", "nchw8c" and "nchw16c"; or a batch of them. ``out`` may be ``x``.
    slope : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels; also
        an array of one element, a slope shared by all channels.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.prelu(np.array([[-2, -2], [3, 3]], np.float32), np.array([0.25, 0.5], np.float32))
    array([[-0.5, -1. ],
           [ 3. ,  3. ]], dtype=float32)

    Formula: SimdSynetPreluLayerForward.
    """
    if _is_sliced(layout, x, out):
        slope_ = coefficients(slope, "slope", plain(x, "x").shape[-1], True)
        return pixelwise(lib.SimdnetPixelwisePrelu, (x,), ("x",), out, scale=slope_)
    array, src = floats(x, "x")
    shape = array.shape
    plan = _planes(shape, layout)
    slope_ = coefficients(slope, "slope", plan.channels, True)
    out, dst = output(out, shape, (x, slope), ("x", "slope"), 1)
    _each(lib.SimdSynetPreluLayerForward, plan, (src,), slope_, plan.channels, plan.spatial, dst)
    return out


def fused0(
    x: Floats, *, bias: Coefficients, scale: Coefficients, layout: ChannelLayout = "nhwc", out: FloatArray | None = None
) -> FloatArray:
    """``(v - abs(v)) * scale[c] + max(0, v)`` with ``v = x + bias[c]``.

    x, out : float32, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw", (C / x, H, W, x) for
        "nchw4c", "nchw8c" and "nchw16c"; or a batch of them. ``out`` may be ``x``.
    bias, scale : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.fused0(np.array([[-2, 3]], np.float32), bias=0, scale=np.array([0.25, 1], np.float32))
    array([[-1.,  3.]], dtype=float32)

    Formula: SimdSynetFusedLayerForward0.
    """
    array, src = floats(x, "x")
    shape = array.shape
    plan = _planes(shape, layout)
    bias_, scale_ = coefficients(bias, "bias", plan.channels), coefficients(scale, "scale", plan.channels)
    out, dst = output(out, shape, (x, bias, scale), ("x", "bias", "scale"), 1)
    _each(lib.SimdSynetFusedLayerForward0, plan, (src,), bias_, scale_, plan.channels, plan.spatial, dst)
    return out


def fused1(
    x: Floats,
    *,
    bias0: Coefficients,
    scale1: Coefficients,
    bias1: Coefficients,
    layout: ChannelLayout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """``max(0, -v) * scale1[c] + bias1[c] + max(0, v)`` with ``v = x + bias0[c]``.

    x, out : float32, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw", (C / x, H, W, x) for
        "nchw4c", "nchw8c" and "nchw16c"; or a batch of them. ``out`` may be ``x``.
    bias0, scale1, bias1 : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.fused1(np.array([[-2, 3]], np.float32), bias0=0, scale1=np.array([5, 6], np.float32), bias1=1)
    array([[11.,  4.]], dtype=float32)

    Formula: SimdSynetFusedLayerForward1.
    """
    array, src = floats(x, "x")
    shape = array.shape
    plan = _planes(shape, layout)
    bias0_, scale1_, bias1_ = (
        coefficients(bias0, "bias0", plan.channels),
        coefficients(scale1, "scale1", plan.channels),
        coefficients(bias1, "bias1", plan.channels),
    )
    out, dst = output(out, shape, (x, bias0, scale1, bias1), ("x", "bias0", "scale1", "bias1"), 1)
    _each(lib.SimdSynetFusedLayerForward1, plan, (src,), bias0_, scale1_, bias1_, plan.channels, plan.spatial, dst)
    return out


def fused2(
    x: Floats,
    *,
    scale: Coefficients,
    bias: Coefficients,
    slope: float,
    layout: ChannelLayout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """``max(0, v) + slope * min(0, v)`` with ``v = x * scale[c] + bias[c]``.

    x, out : float32, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw", (C / x, H, W, x) for
        "nchw4c", "nchw8c" and "nchw16c"; or a batch of them. ``out`` may be ``x``.
    scale, bias : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels.
    slope : one number for all channels.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.fused2(np.array([[-2, 3]], np.float32), scale=np.array([1, 2], np.float32), bias=1, slope=0.5)
    array([[-0.5,  7. ]], dtype=float32)

    Formula: SimdSynetFusedLayerForward2.
    """
    array, src = floats(x, "x")
    shape = array.shape
    plan = _planes(shape, layout)
    scale_, bias_ = coefficients(scale, "scale", plan.channels), coefficients(bias, "bias", plan.channels)
    out, dst = output(out, shape, (x, scale, bias), ("x", "scale", "bias"), 1)
    _each(lib.SimdSynetFusedLayerForward2, plan, (src,), scale_, bias_, plan.channels, plan.spatial, (slope,), dst)
    return out


@renamed(scale="slope")
def fused3(
    x: Floats, *, slope: Coefficients, bias: Coefficients, layout: ChannelLayout = "nhwc", out: FloatArray | None = None
) -> FloatArray:
    """``max(0, v) + slope[c] * min(0, v)`` with ``v = x + bias[c]``: a bias, then :func:`prelu`.

    x, out : float32, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw", (C / x, H, W, x) for
        "nchw4c", "nchw8c" and "nchw16c"; or a batch of them. ``out`` may be ``x``.
    slope, bias : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels; `slope` also
        an array of one element, shared by all channels.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.fused3(np.array([[-2, 3]], np.float32), slope=np.array([0.5, 1], np.float32), bias=1)
    array([[-0.5,  4. ]], dtype=float32)

    Formula: SimdSynetFusedLayerForward3, whose description states the order of the two arrays in C.
    """
    array, src = floats(x, "x")
    shape = array.shape
    plan = _planes(shape, layout)
    slope_, bias_ = coefficients(slope, "slope", plan.channels, True), coefficients(bias, "bias", plan.channels)
    out, dst = output(out, shape, (x, slope, bias), ("x", "slope", "bias"), 1)
    _each(lib.SimdSynetFusedLayerForward3, plan, (src,), slope_, bias_, plan.channels, plan.spatial, dst)
    return out


@renamed(src2="scale")
def fused8(
    x0: Floats, x1: Floats, *, scale: Coefficients, layout: ChannelLayout = "nhwc", out: FloatArray | None = None
) -> FloatArray:
    """``x0 + x1 * scale[c]``.

    x0, x1, out : float32, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw", (C / x, H, W,
        x) for "nchw4c", "nchw8c" and "nchw16c"; or a batch of them. ``out`` may be ``x0`` or ``x1``.
    scale : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.fused8(np.ones((1, 2), np.float32), np.ones((1, 2), np.float32), scale=np.array([2, 3], np.float32))
    array([[3., 4.]], dtype=float32)

    Formula: SimdSynetFusedLayerForward8.
    """
    array, src0 = floats(x0, "x0")
    shape = array.shape
    src1 = tensor(x1, "x1", shape)
    plan = _planes(shape, layout, "x0")
    scale_ = coefficients(scale, "scale", plan.channels)
    out, dst = output(out, shape, (x0, x1, scale), ("x0", "x1", "scale"), 2)
    _each(lib.SimdSynetFusedLayerForward8, plan, (src0, src1), scale_, plan.channels, plan.spatial, dst)
    return out


def fused4(
    x: Floats,
    *,
    bias0: Coefficients,
    scale1: float,
    bias1: float,
    layout: ChannelLayout = "nhwc",
    out: FloatArray | None = None,
) -> FloatArray:
    """``max(0, v)`` followed by as many channels of ``max(0, v * scale1 + bias1)``, with ``v = x + bias0[c]``.

    x : float32, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw", (C / x, H, W, x) for
        "nchw4c", "nchw8c" and "nchw16c"; or a batch of them.
    bias0 : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels.
    scale1, bias1 : one number for all channels.
    out : as `x`, with twice the channels.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.fused4(np.array([[-2, 3]], np.float32), bias0=1, scale1=-2, bias1=0)
    array([[0., 4., 2., 0.]], dtype=float32)

    Formula: SimdSynetFusedLayerForward4.
    """
    array, src = floats(x, "x")
    form, images, channels, spatial = _planes(array.shape, layout, "x")
    term = coefficients(bias0, "bias0", channels)
    shape = with_channels(array.shape, form, 2 * channels)
    out, dst = output(out, shape, (x, bias0), ("x", "bias0"))
    numbers = (scale1,), (bias1,)
    for image in range(images):
        begin = image * channels * spatial
        call(lib.SimdSynetFusedLayerForward4, at(src, begin), term, *numbers, channels, spatial, dst + 2 * begin, form)
    return out


def fused9(
    x0: Floats,
    x1: Floats,
    *,
    scale: Coefficients,
    bias: Coefficients,
    both: bool = False,
    layout: ChannelLayout = "nhwc",
    out: FloatArray | None = None,
    out1: FloatArray | None = None,
) -> Any:
    """``max(0, x * scale[c] + bias[c])`` where x is `x0` followed by the channels of `x1`.

    x0, x1 : float32, contiguous: (C, H, W) for "nchw", (..., C) for "nhwc" and "nwc", (C, W) for "ncw", (C / x, H, W, x) for
        "nchw4c", "nchw8c" and "nchw16c"; or a batch of them. They may
        differ in C only.
    scale, bias : float32 of shape (C,), (C, 1, 1) or (1, C, 1, 1), or one number for all channels, of both
        arrays together.
    out, out1 : as `x0`, with the channels of both.
    both : also returns x itself, written to `out1`; implied by an `out1`.

    Returns the result, or a tuple of the result and x.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.fused9(np.ones((1, 1), np.float32), np.full((1, 2), -1, np.float32), scale=2, bias=3)
    array([[5., 1., 1.]], dtype=float32)

    Formula: SimdSynetFusedLayerForward9.
    """
    first, src0 = floats(x0, "x0")
    second, src1 = floats(x1, "x1")
    form, images, channels0, spatial = _planes(first.shape, layout, "x0")
    channels1 = _planes(second.shape, layout, "x1").channels
    if second.shape != with_channels(first.shape, form, channels1):
        raise ValueError(f"x1 has shape {second.shape}, expected that of x0, {first.shape}, except for the channels")
    channels = channels0 + channels1
    shape = with_channels(first.shape, form, channels)
    terms = coefficients(scale, "scale", channels), coefficients(bias, "bias", channels)
    given, names = (x0, x1, scale, bias), ("x0", "x1", "scale", "bias")
    out, dst = output(out, shape, given, names)
    dst1 = ffi.NULL
    if both or out1 is not None:
        out1, dst1 = output(out1, shape, (*given, out), (*names, "out"), name="out1")
    for image in range(images):
        begin0, begin1 = image * channels0 * spatial, image * channels1 * spatial
        sources = at(src0, begin0), at(src1, begin1)
        results = [to + begin0 + begin1 if to else to for to in (dst, dst1)]
        call(lib.SimdSynetFusedLayerForward9, *sources, *terms, channels0, channels1, spatial, *results, form)
    return out if out1 is None else (out, out1)
