"""Channel-wise layers: one pass over images, where every channel has coefficients of its own.

Images are float32 and contiguous: (C, H, W) for "nchw", (..., C) for "nhwc", (C / x, H, W, x) for "nchw4c", "nchw8c" and
"nchw16c"; or a batch of them. Coefficients are (C,) float32; in a blocked layout with the lanes that fill the last block,
which are treated as the others. A NaN comes through.
"""

from __future__ import annotations

from typing import Any, Callable

from pysimd._arrays import FLOAT32, Array, Shape, apart, floats, output, vector
from pysimd._geometry import LAYOUTS, NCHW, NHWC, Layout, layout_of, planes_of
from pysimd._library import ffi, lib
from pysimd.errors import raise_last

_NONE = ffi.NULL  # in place of coefficients that need not be given
_Arrays = tuple[tuple[str, Any], ...]  # (name of the argument, array) each


def _single(value: float) -> Any:
    return ffi.new("float[1]", (value,))


def _terms(arrays: _Arrays, channels: int, dst: Any, name: str) -> list[Any]:
    """The coefficients as C arrays, which may share no memory with the output."""
    pointers = []
    for key, array in arrays:
        if array is not _NONE:
            array = vector(array, key, channels)
            apart(dst, name, array, key)
        pointers.append(array)
    return pointers


def _run(
    function: Callable[..., None], sources: _Arrays, arrays: _Arrays, layout: Layout, out: Array | None, *single: Any
) -> Array:
    """A layer whose result has the shape of its sources, all of one shape; one call of C for each image."""
    name, x = sources[0]
    given = tuple([(floats(array, key), key) for key, array in sources])
    form = layout_of(layout, "layout", LAYOUTS)
    images, channels, spatial = planes_of(x.shape, form, name)
    for key, array in sources[1:]:
        if array.shape != x.shape:
            raise ValueError(f"{key} has shape {array.shape}, expected that of {name}, {x.shape}")
    out, dst = output(out, x.shape, x, FLOAT32, given, in_place=True)
    terms = _terms(arrays, channels, dst, "out")
    for image in range(images):
        at = image * channels * spatial
        src = [pointer + at for pointer, _ in given]
        function(*src, *terms, channels, spatial, *single, dst + at, form)
        if lib.SimdnetLastErrorKind():
            raise_last()
    return out


def _add_bias(src: Any, bias: Any, channels: int, spatial: int, dst: Any, form: int) -> None:
    if src != dst:
        ffi.memmove(dst, src, 4 * channels * spatial)
    lib.SimdSynetAddBias(bias, channels, spatial, dst, form)


def add_bias(x: Array, bias: Array, *, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``x + bias[c]``.

    ``out=x`` works in place; another `out` receives a copy of `x` first. Formula: SimdSynetAddBias.
    """
    return _run(_add_bias, (("x", x),), (("bias", bias),), layout, out)


def scale(x: Array, scale: Array, bias: Array | None = None, *, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``x * scale[c] + bias[c]``; None for `bias` is zeros.

    ``out`` may be ``x``. Formula: SimdSynetScaleLayerForward.
    """
    arrays = ("scale", scale), ("bias", _NONE if bias is None else bias)
    return _run(lib.SimdSynetScaleLayerForward, (("x", x),), arrays, layout, out)


def prelu(x: Array, slope: Array, *, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``max(0, x) + slope[c] * min(0, x)``.

    ``out`` may be ``x``. Formula: SimdSynetPreluLayerForward.
    """
    return _run(lib.SimdSynetPreluLayerForward, (("x", x),), (("slope", slope),), layout, out)


def fused0(x: Array, *, bias: Array, scale: Array, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``(v - abs(v)) * scale[c] + max(0, v)`` with ``v = x + bias[c]``.

    ``out`` may be ``x``. Formula: SimdSynetFusedLayerForward0.
    """
    return _run(lib.SimdSynetFusedLayerForward0, (("x", x),), (("bias", bias), ("scale", scale)), layout, out)


def fused1(x: Array, *, bias0: Array, scale1: Array, bias1: Array, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``max(0, -v) * scale1[c] + bias1[c] + max(0, v)`` with ``v = x + bias0[c]``.

    ``out`` may be ``x``. Formula: SimdSynetFusedLayerForward1.
    """
    arrays = ("bias0", bias0), ("scale1", scale1), ("bias1", bias1)
    return _run(lib.SimdSynetFusedLayerForward1, (("x", x),), arrays, layout, out)


def fused2(x: Array, *, scale: Array, bias: Array, slope: float, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``max(0, v) + slope * min(0, v)`` with ``v = x * scale[c] + bias[c]``; one slope for all channels.

    ``out`` may be ``x``. Formula: SimdSynetFusedLayerForward2.
    """
    arrays = ("scale", scale), ("bias", bias)
    return _run(lib.SimdSynetFusedLayerForward2, (("x", x),), arrays, layout, out, _single(slope))


def fused3(x: Array, *, scale: Array, bias: Array, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``max(0, v) + scale[c] * min(0, v)`` with ``v = x + bias[c]``.

    ``out`` may be ``x``. Formula: SimdSynetFusedLayerForward3, which tells about the order of these two in C.
    """
    return _run(lib.SimdSynetFusedLayerForward3, (("x", x),), (("scale", scale), ("bias", bias)), layout, out)


def fused8(x0: Array, x1: Array, *, src2: Array, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``x0 + x1 * src2[c]``: src2 are coefficients.

    ``out`` may be ``x0`` or ``x1``. Formula: SimdSynetFusedLayerForward8.
    """
    return _run(lib.SimdSynetFusedLayerForward8, (("x0", x0), ("x1", x1)), (("src2", src2),), layout, out)


def _with_channels(shape: Shape, form: int, channels: int) -> Shape:
    """The shape of images that have so many channels instead."""
    if form == NHWC:
        return (*shape[:-1], channels)
    if form == NCHW:
        return (*shape[:-3], channels, *shape[-2:])
    return (*shape[:-4], channels // shape[-1], *shape[-3:])


def fused4(x: Array, *, bias0: Array, scale1: float, bias1: float, layout: Layout = "nhwc", out: Array | None = None) -> Array:
    """``max(0, v)`` and, in as many channels behind them, ``max(0, v * scale1 + bias1)``, with ``v = x + bias0[c]``.

    out : like `x` with twice the channels. Formula: SimdSynetFusedLayerForward4.
    """
    src = floats(x, "x")
    form = layout_of(layout, "layout", LAYOUTS)
    images, channels, spatial = planes_of(x.shape, form)
    out, dst = output(out, _with_channels(x.shape, form, 2 * channels), x, FLOAT32, ((src, "x"),))
    terms = _terms((("bias0", bias0),), channels, dst, "out")
    single = _single(scale1), _single(bias1)
    for image in range(images):
        at = image * channels * spatial
        lib.SimdSynetFusedLayerForward4(src + at, *terms, *single, channels, spatial, dst + 2 * at, form)
        if lib.SimdnetLastErrorKind():
            raise_last()
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
    src0, src1 = floats(x0, "x0"), floats(x1, "x1")
    form = layout_of(layout, "layout", LAYOUTS)
    images, channels0, spatial = planes_of(x0.shape, form, "x0")
    _, channels1, _ = planes_of(x1.shape, form, "x1")
    if x1.shape != _with_channels(x0.shape, form, channels1):
        raise ValueError(f"x1 has shape {x1.shape}, expected that of x0, {x0.shape}, but for the channels")
    channels = channels0 + channels1
    shape, given = _with_channels(x0.shape, form, channels), ((src0, "x0"), (src1, "x1"))
    out, dst = output(out, shape, x0, FLOAT32, given)
    terms = _terms((("scale", scale), ("bias", bias)), channels, dst, "out")
    dst1 = _NONE
    if both or out1 is not None:
        out1, dst1 = output(out1, shape, x0, FLOAT32, given)
        _terms((("scale", scale), ("bias", bias)), channels, dst1, "out1")
        apart(dst1, "out1", dst, "out")
    for image in range(images):
        at0, at1 = image * channels0 * spatial, image * channels1 * spatial
        sizes = channels0, channels1, spatial
        second = dst1 if dst1 is _NONE else dst1 + at0 + at1
        lib.SimdSynetFusedLayerForward9(src0 + at0, src1 + at1, *terms, *sizes, dst + at0 + at1, second, form)
        if lib.SimdnetLastErrorKind():
            raise_last()
    return out if out1 is None else (out, out1)
