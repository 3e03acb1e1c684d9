"""Converters of convolutions of quantised images: exact sums, and bytes.

Sums are products of the pixels below each window with the weights, which are rows; those of channels by themselves are sums
over the places of the window. Everything has the channels last; padding is the zero point of the image. With known weights
the latter are convolutions of floats, which are whole numbers: algorithms for single channels add products, so none rounds.
"""

from __future__ import annotations

from functools import partial, reduce
from itertools import product
from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Shape
from pysimd.network.convert.conversion import Conversion, Value, converts
from pysimd.network.convert.images import Window, like_input, sides_of, weights_of, window_of
from pysimd.network.convert.quantized import (
    Bytes,
    Floats,
    Result,
    as_signed,
    as_unsigned,
    byte_of,
    byte_product,
    bytes_at,
    exact,
    integers,
    layer,
    packed_product,
    requantized,
    result_at,
    scale_at,
    without_zero,
)
from pysimd.network.operators import IDENTITY, windows_along
from pysimd.network.records import record, replace
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import Unsupported

_MOST_PLACES = 500  # of a window whose sums are those of a matrix product: each place is a step
_MOST_EXACT = (1 << 24) // 255**2  # places of a window whose sums are whole numbers of float32


@record(frozen=True)
class _Convolution:
    """Images (N, C, H, W), weights (O, C / group, ky, kx) with a zero for all or for each output, and the window."""

    x: Bytes
    weight: Bytes
    window: Window
    group: int

    def sizes(self, c: Conversion) -> Shape:
        """Height and width of the result."""
        w, sides = self.window, c.shape_of(self.x.value)[2:]
        spans = [(k - 1) * d + 1 for k, d in zip(w.kernel, w.dilations)]
        return tuple(windows_along(*each, False) for each in zip(sides, spans, w.strides, w.before, w.after))


@converts("ConvInteger", any_type=True)
def _convolution_of_integers(c: Conversion, node: SourceNode) -> None:
    given = _given(c, bytes_at(c, 0, 2, "x"), bytes_at(c, 1, 3, "w"), 1)
    floats = None
    if len(node.inputs) > 4:  # of a group
        scale, bias = c.value(4), c.value(5) if c.has(5) else None  # type: Any, Any
        floats = Floats(scale, bias)
    c.give(like_input(c, _channels_second(c, _sums(c, given, floats))))


@converts("QLinearConv", "com.microsoft.QLinearConv", any_type=True)
def _quantized_convolution(c: Conversion, node: SourceNode) -> None:
    c.require(channels_last=0)
    given = _given(c, bytes_at(c, 0, 2, "x"), bytes_at(c, 3, 5, "w"), 3)
    outputs = c.shape_of(given.weight.value)[0]
    scales, y = (scale_at(c, 1, "x"), scale_at(c, 4, "w")), result_at(c, 6, 7)
    for name, scale, expected in (("x", scales[0], ()), ("w", scales[1], (outputs,))):
        if c.shape_of(scale) not in ((), expected):
            raise Unsupported(f"the scale of {name} has shape {c.shape_of(scale)}, expected one number" + _each(expected))
    bias = _bias(c, 8, outputs)
    c.give(like_input(c, _as_layer(c, given, scales, bias, y) or _requantized(c, given, scales, bias, y)))


def _each(expected: Shape) -> str:
    return f" or {expected}" if expected else ""


def _given(c: Conversion, x: Bytes, weight: Bytes, place: int) -> _Convolution:
    """The inputs, which are checked. place : of the weights."""
    sides_of(c)
    n, channels, *sides = c.shape(0)
    w: Any = weights_of(c, place)
    (outputs, part, *kernel), group = c.shape_of(w), int(c.attribute("group", 1))
    if group < 1 or part * group != channels or outputs % group:
        raise Unsupported(f"the weights have shape {c.shape(place)}, the image {c.shape(0)}, with {group} groups")
    if c.shape_of(x.zero) != ():
        raise Unsupported(f"the zero point of x has shape {c.shape_of(x.zero)}, expected one number")
    if c.shape_of(weight.zero) not in ((), (outputs,)):
        raise Unsupported(f"the zero point of w has shape {c.shape_of(weight.zero)}, expected one number or {(outputs,)}")
    size = (n, channels, *(1,) * (2 - len(sides)), *sides)
    image = c.reshape(x.value, size) if isinstance(x.value, str) else x.value.reshape(size)
    return _Convolution(Bytes(image, x.zero), Bytes(w, weight.zero), window_of(c, tuple(kernel)), group)


def _bias(c: Conversion, i: int, outputs: int) -> Value | None:
    if not c.has(i):
        return None
    if c.dtype(i) != "int32" or c.shape(i) != (outputs,):
        raise Unsupported(f"the bias is {c.dtype(i)} of shape {c.shape(i)}, expected int32 of shape {(outputs,)}")
    return c.value(i)


def _as_layer(c: Conversion, given: _Convolution, scales: tuple[Value, Value], bias: Value | None, y: Result) -> str | None:
    """A layer of the library, if everything but the image is known."""
    given = _in_rows(c, given)
    window = given.window
    options: dict[str, Any] = {**window.options, "dilations": window.dilations, "group": given.group, "activation": IDENTITY}
    return layer(c, "QuantizedConv", given.x, given.weight, scales, bias, y, **options)


def _in_rows(c: Conversion, given: _Convolution) -> _Convolution:
    """Weights of channels by themselves that need several parts: these are rows of a higher kernel, over repeated rows of an
    image. Channels that are repeated would be groups, which are slow."""
    image, weight, zero, window = given.x.value, given.weight.value, given.weight.zero, given.window
    if isinstance(weight, str) or isinstance(zero, str) or given.group == 1 or weight.shape[:2] != (given.group, 1):
        return given
    parts = without_zero(weight, zero, 0)
    count, (ky, kx) = len(parts), window.kernel
    if count == 1 or window.dilations[0] != 1:
        return given
    rows = np.stack(parts, 3).reshape(given.group, 1, ky * count, kx)
    (top, left), (bottom, right), (down, across) = window.before, window.after, window.strides
    higher = Window((ky * count, kx), (down * count, across), window.dilations, (top * count, left), (bottom * count, right))
    n, channels, h, w = c.shape_of(image)
    several = c.add("Expand", c.reshape(c.named(image), (n, channels, h, 1, w)), shape=(n, channels, h, count, w))
    image = c.reshape(several, (n, channels, h * count, w))
    return _Convolution(Bytes(image, given.x.zero), Bytes(rows, np.zeros((), np.int32)), higher, given.group)


def _requantized(c: Conversion, given: _Convolution, scales: tuple[Value, Value], bias: Value | None, y: Result) -> str:
    sums: Value = _sums(c, given)
    sums = sums if bias is None else integers(c, "add", sums, bias)
    factor = y.factor(c, exact(c, "multiply", *scales))
    return _channels_second(c, requantized(c, str(sums), factor, y.zero, y.dtype))


def _channels_second(c: Conversion, x: str) -> str:
    return c.transpose(x, (0, 3, 1, 2))


# ---- sums, with the channels last


def _sums(c: Conversion, given: _Convolution, floats: Floats | None = None) -> str:
    """The sums of (x - its zero) * (weight - its zero) below each window, in int32.

    floats : what they become; then there is one group, and the weights are known.
    """
    outputs, part, *kernel = c.shape_of(given.weight.value)
    if _fit_in_floats(c, given):
        return _sums_of_floats(c, given)
    if prod(kernel) > _MOST_PLACES:
        raise Unsupported(f"the window has {prod(kernel)} places, supported are up to {_MOST_PLACES}")
    given = replace(given, x=as_unsigned(c, given.x), weight=as_signed(c, given.weight))
    image = _padded(c, c.transpose(c.named(given.x.value), (0, 2, 3, 1)), given)
    if part == 1 and given.group > 1:
        return _of_each_channel(c, image, given)
    found, count = [], outputs // given.group
    for i in range(given.group):
        weight = _of_group(c, given.weight, i * count, count)
        pixels = c.slice(image, 3, i * part, part)
        found.append(_product(c, Bytes(_below_windows(c, pixels, given), given.x.zero), weight, floats))
    return found[0] if len(found) == 1 else c.add("Concat", *found, axis=3)


def _product(c: Conversion, pixels: Bytes, weight: Bytes, floats: Floats | None) -> str:
    """Of pixels with rows of weights, which a context packs once if they are known."""
    if isinstance(weight.value, str):
        return byte_product(c, pixels, weight)
    columns = Bytes(np.ascontiguousarray(weight.value.T), weight.zero)
    return packed_product(c, pixels, columns, floats) or byte_product(c, pixels, weight)


def _padded(c: Conversion, image: str, given: _Convolution) -> str:
    """Images with their zero point around them."""
    window, zero = given.window, given.x.zero
    pads = ((0, 0), *zip(window.before, window.after), (0, 0))
    if not any(map(any, pads)):
        return image
    if not isinstance(zero, str):
        return c.add("Pad", image, pads=pads, mode="constant", value=float(zero))
    byte = c.reshape(byte_of(c, given.x), (1, 1, 1, 1))
    for axis, (before, after) in enumerate(pads):
        shape = c.builder.shape(image)
        parts = [c.add("Expand", byte, shape=(*shape[:axis], n, *shape[axis + 1 :])) if n else "" for n in (before, after)]
        image = c.add("Concat", *filter(None, (parts[0], image, parts[1])), axis=axis) if before or after else image
    return image


def _places(c: Conversion, image: str, given: _Convolution) -> list[str]:
    """The pixels at each place of the window."""
    (n, _, _, channels), window, sizes = c.builder.shape(image), given.window, given.sizes(c)
    if window.kernel == (1, 1) and sizes == c.builder.shape(image)[1:3]:
        return [image]
    options = {"steps": (1, *window.strides, 1), "sizes": (n, *sizes, channels)}
    starts = [[i * d for i in range(k)] for k, d in zip(window.kernel, window.dilations)]
    return [c.add("Slice", image, starts=(0, *start, 0), **options) for start in product(*starts)]


def _below_windows(c: Conversion, image: str, given: _Convolution) -> str:
    """The pixels below each window, (N, H, W, ky * kx * C)."""
    places = _places(c, image, given)
    return places[0] if len(places) == 1 else c.add("Concat", *places, axis=3)


def _of_group(c: Conversion, weight: Bytes, first: int, count: int) -> Bytes:
    """The weights of some outputs as rows, in the order of the pixels below a window."""
    value: Any = weight.value
    zero: Any = weight.zero
    if isinstance(value, str):
        rows = c.transpose(c.slice(value, 0, first, count), (0, 2, 3, 1))
        value = c.reshape(rows, (count, prod(c.builder.shape(rows)[1:])))
    else:
        value = np.ascontiguousarray(value[first : first + count].transpose(0, 2, 3, 1).reshape(count, -1))
    if c.shape_of(zero):
        zero = c.slice(zero, 0, first, count) if isinstance(zero, str) else zero[first : first + count]
    return Bytes(value, zero)


def _fit_in_floats(c: Conversion, given: _Convolution) -> bool:
    """Whether each output is that of one channel, by known weights, and sums of any of its terms are exact in float32."""
    weight = given.weight
    one = given.group > 1 and c.shape_of(weight.value)[1] == 1
    known = not isinstance(weight.value, str) and not isinstance(weight.zero, str)
    return one and known and 0 < prod(given.window.kernel) <= _MOST_EXACT


def _sums_of_floats(c: Conversion, given: _Convolution) -> str:
    """Of channels by themselves: a convolution of floats, which are whole numbers. By its bias none of them is -0, so that
    :mod:`pysimd.network.passes.products` may leave out the integers."""
    x, window = given.x, given.window
    values: Any = given.weight.value
    zero: Any = given.weight.zero
    weight = (values.astype(np.int32) - zero.reshape(-1, 1, 1, 1)).astype(np.float32)
    image = c.add("Dequantize", c.named(x.value), c.constant(np.ones((), np.float32)), byte_of(c, x), axis=None)
    options: dict[str, Any] = {**window.options, "dilations": window.dilations, "group": given.group}
    bias = np.zeros(len(weight), np.float32)
    y = c.add("Conv", image, c.constant(weight), c.constant(bias), **options, activation=IDENTITY, order="add")
    return c.cast(c.transpose(y, (0, 2, 3, 1)), "int32")


def _of_each_channel(c: Conversion, image: str, given: _Convolution) -> str:
    """Each output has one channel of the image."""
    outputs, channels = c.shape_of(given.weight.value)[0], c.builder.shape(image)[3]
    wide: Value = integers(c, "subtract", c.cast(image, "int32"), given.x.zero)
    image = str(wide)
    if outputs != channels:
        n, h, w, _ = c.builder.shape(image)
        repeated = c.add("Expand", c.reshape(image, (n, h, w, channels, 1)), shape=(n, h, w, channels, outputs // channels))
        image = c.reshape(repeated, (n, h, w, outputs))
    pairs = zip(_places(c, image, given), _weights_of_places(c, given.weight))
    terms = (integers(c, "multiply", pixels, weight) for pixels, weight in pairs)
    return str(reduce(partial(integers, c, "add"), terms))


def _weights_of_places(c: Conversion, weight: Bytes) -> list[Value]:
    """The weights of each place of the window minus their zeros, (O) in int32."""
    value: Any = weight.value
    outputs, _, *kernel = c.shape_of(value)
    rows: Any = (outputs, prod(kernel))
    if isinstance(value, str):
        wide: Any = c.transpose(c.cast(c.reshape(value, rows), "int32"), (1, 0))
    else:
        wide = value.reshape(rows).astype(np.int32).T
    wide = integers(c, "subtract", wide, weight.zero)
    if isinstance(wide, str):
        return [c.reshape(c.slice(wide, 0, i, 1), (outputs,)) for i in range(prod(kernel))]
    return list(wide)
