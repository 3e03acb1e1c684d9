"""Converters of layers of quantised bytes, those of com.microsoft that begin with QLinear. Their scales are known.

A function of one byte is a table of its 256 results, which the library computes once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.constants import computed
from pysimd.network.convert.conversion import Conversion, converts
from pysimd.network.convert.images import image, like_input, sides_of, spatial, window_of
from pysimd.network.convert.quantized import BYTES, Result, of_rank, quantized, scale_at, zero_at
from pysimd.network.operators import axis_within
from pysimd.network.sizes import broadcast_shapes
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import Unsupported


class _Known(Result):
    """A scale, a zero and a type, all known."""

    @property
    def numbers(self) -> tuple[Array, Array]:
        """The scale as float32, and the zero as int32."""
        return np.asarray(self.scale, np.float32), np.asarray(self.zero, np.int32)

    def quantize(self, c: Conversion, x: str) -> str:
        """saturated(nearest(f(x / scale)) + zero)."""
        return quantized(c, x, self.scale, self.zero, self.dtype)

    def dequantize(self, c: Conversion, x: str) -> str:
        """f(f(x - zero) * scale)."""
        zero = self.numbers[1].astype(self.dtype)
        return c.add("Dequantize", x, c.constant(self.numbers[0]), c.constant(zero), axis=None)


def _known(c: Conversion, scale: int, zero: int, name: str, dtype: str = "") -> _Known:
    """Of two inputs. dtype : of the bytes that they belong to; by default that of the zero."""
    dtype = dtype or (c.dtype(zero) if c.has(zero) else "uint8")
    if dtype not in BYTES:
        raise Unsupported(f"{name} is {dtype}, supported are {' and '.join(BYTES)}")
    for i, what in ((scale, "the scale"), (zero, "the zero point")):
        if c.has(i) and c.known(i, f"{what} of {name}").size != 1:
            raise Unsupported(f"{what} of {name} has shape {c.shape(i)}, expected one number")
    of_scale, of_zero = scale_at(c, scale, name), zero_at(c, zero, dtype, name)
    return _Known(np.reshape(of_scale, ()), np.reshape(of_zero, ()), dtype)


# ---- functions of one byte


def _by_table(c: Conversion, x: str, dtype: str, function: Callable[[str], str]) -> str:
    """A function of each byte, which adds nodes to the graph: they are computed once, for all bytes."""
    first = c.builder.count
    of_all = function(c.constant(np.arange(256, dtype=np.uint8).view(c.builder.type(x).dtype)))
    results = computed(c.builder.without_inputs(first, [of_all]))
    c.builder.drop(first)
    if results is None:
        raise Unsupported("the table of its results is too large")
    return _looked_up(c, x, results[of_all].view(np.uint8), dtype)


def _looked_up(c: Conversion, x: str, table: Array, dtype: str) -> str:
    return c.add("Table8", x, c.constant(table), dtype=dtype)


def _function(c: Conversion, function: Callable[[str], str]) -> None:
    """The bytes of a function of floats: input 0, its scale and zero, those of the result."""
    x, y = _known(c, 1, 2, "x", c.dtype(0)), _known(c, 3, 4, "y", c.dtype(0))
    c.give(_by_table(c, c.tensor(0), y.dtype, lambda every: y.quantize(c, function(x.dequantize(c, every)))))


@converts("com.microsoft.QLinearSigmoid", any_type=True)
def _sigmoid(c: Conversion, node: SourceNode) -> None:
    _function(c, lambda x: c.unary(x, "sigmoid", 1.0))


@converts("com.microsoft.QLinearLeakyRelu", any_type=True)
def _leaky_relu(c: Conversion, node: SourceNode) -> None:
    _function(c, lambda x: c.unary(x, "leaky_relu", float(c.attribute("alpha", 0.01))))


def requantized_bytes(c: Conversion, x: str, of: _Known, y: _Known) -> str:
    """Bytes of another scale and zero, rounded to the nearest."""
    if of.numbers == y.numbers:
        return x
    return _by_table(c, x, y.dtype, lambda every: y.quantize(c, of.dequantize(c, every)))


@converts("com.microsoft.QLinearConcat", any_type=True)
def _concat(c: Conversion, node: SourceNode) -> None:
    """Inputs are the scale and the zero of the result, then each part with its own."""
    y, count = _known(c, 0, 1, "y"), len(node.inputs)
    if count < 5 or count % 3 != 2:
        raise Unsupported(f"it has {count} inputs, expected 2, and 3 for each part")
    parts = []
    for i in range(2, count, 3):
        of = _known(c, i + 1, i + 2, f"input {i}", _same_type(c, i, y))
        parts.append(requantized_bytes(c, c.tensor(i), of, y))
    c.give(c.add("Concat", *parts, axis=axis_within(int(c.attribute("axis")), len(c.shape(2)))))


@converts("com.microsoft.QLinearWhere", any_type=True)
def _where(c: Conversion, node: SourceNode) -> None:
    y = _known(c, 7, 8, "z")
    if c.dtype(0) != "bool":
        raise Unsupported(f"the condition is {c.dtype(0)}, expected bool")
    a, b = (
        requantized_bytes(c, c.tensor(i), _known(c, i + 1, i + 2, name, _same_type(c, i, y)), y)
        for i, name in ((1, "x"), (4, "y"))
    )
    c.give(c.select(c.tensor(0), a, b))


def _same_type(c: Conversion, i: int, y: _Known) -> str:
    if c.dtype(i) != y.dtype:
        raise Unsupported(f"input {i} is {c.dtype(i)}, the result {y.dtype}")
    return y.dtype


@converts("com.microsoft.QLinearSoftmax", any_type=True)
def _softmax(c: Conversion, node: SourceNode) -> None:
    """Of floats. With opset 12 or less, of all dimensions from the axis on together."""
    x, y, shape = _known(c, 1, 2, "x", c.dtype(0)), _known(c, 3, 4, "y", c.dtype(0)), c.shape(0)
    old, values = int(c.attribute("opset", c.opset)) < 13, x.dequantize(c, c.tensor(0))
    axis = axis_within(int(c.attribute("axis", 1 if old else -1)), len(shape))
    if old:
        values = c.reshape(values, (prod(shape[:axis]), prod(shape[axis:])))
        axis = 1
    c.give(y.quantize(c, c.reshape(c.add("Softmax", values, axis=axis, log=False), shape)))


# ---- functions of two bytes


@converts("com.microsoft.QLinearAdd", any_type=True)
def _add(c: Conversion, node: SourceNode) -> None:
    _binary(c, "add")


@converts("com.microsoft.QLinearMul", any_type=True)
def _multiply(c: Conversion, node: SourceNode) -> None:
    _binary(c, "multiply")


def _binary(c: Conversion, function: str) -> None:
    a, b = (_known(c, i + 1, i + 2, name, c.dtype(i)) for i, name in ((0, "a"), (3, "b")))
    y = _known(c, 6, 7, "y", c.dtype(0))
    if a.dtype != b.dtype:
        raise Unsupported(f"the operands are {a.dtype} and {b.dtype}, expected one type")
    scales, zeros = (tuple(each.numbers[i].item() for each in (a, b, y)) for i in (0, 1))
    shape = broadcast_shapes(c.shape(0), c.shape(3))
    values: list[Any] = [c.value(i) for i in (0, 3)]

    def result(*pair: Any) -> str:
        rank = max(len(c.shape_of(each)) for each in pair)
        names = [of_rank(c, each, rank) for each in pair]
        return c.add("QuantizedBinary", *names, function=function, scales=scales, zeros=zeros)

    for i, place in enumerate((0, 3)):
        if c.is_known(place) and c.known(place).size == 1 and c.shape(3 - place) == shape:
            return c.give(_by_table(c, c.named(values[1 - i]), y.dtype, _with_one(result, i, c.known(place).reshape(1))))
    return c.give(result(*values))


def _with_one(function: Callable[..., str], place: int, one: Array) -> Callable[[str], str]:
    """The function of the other operand."""
    return lambda every: function(*((one, every) if place == 0 else (every, one)))


# ---- means


@converts("com.microsoft.QLinearGlobalAveragePool", any_type=True)
def _global_mean(c: Conversion, node: SourceNode) -> None:
    """saturated(nearest(f(float(sum - n * zero) * f(sx / f(sy * n)))) + zero of y)."""
    shape = c.shape(0)
    if len(shape) < 3:
        raise Unsupported(f"the shape is {shape}, expected (N, C, ...)")
    x, last, rank = c.tensor(0), c.flag("channels_last"), len(shape)
    if last:
        x = c.transpose(x, (0, rank - 1, *range(1, rank - 1)))
    n, channels, *sides = c.builder.shape(x)
    y = _pooled(c, c.reshape(x, (n, channels, prod(sides[:-1]), sides[-1])), "global_average", _WHOLE)
    ones = (1,) * (rank - 2)
    c.give(c.reshape(y, (n, *ones, channels) if last else (n, channels, *ones)))


@converts("com.microsoft.QLinearReduceMean", any_type=True)
def _mean_of_axes(c: Conversion, node: SourceNode) -> None:
    """The formula of QLinearGlobalAveragePool; without axes, of all elements."""
    shape = c.shape(0)
    axes = sorted({axis_within(int(axis), len(shape)) for axis in c.attribute("axes", None) or ()})
    if not axes and c.flag("noop_with_empty_axes"):
        of_x, of_y = _known(c, 1, 2, "x", c.dtype(0)), _known(c, 3, 4, "y", c.dtype(0))
        return c.give(requantized_bytes(c, c.tensor(0), of_x, of_y))
    axes = axes or list(range(len(shape)))
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    x = c.tensor(0) if axes == list(range(len(kept), len(shape))) else c.transpose(c.tensor(0), (*kept, *axes))
    sides, rest = [shape[axis] for axis in axes], [shape[axis] for axis in kept]
    image = (prod(rest[:1]), prod(rest[1:]), prod(sides[:-1]), prod(sides[-1:]))
    y = _pooled(c, c.reshape(x, image), "global_average", _WHOLE)
    ones = tuple(1 if axis in axes else n for axis, n in enumerate(shape))
    return c.give(c.reshape(y, ones if c.flag("keepdims", 1) else tuple(rest)))


@converts("com.microsoft.QLinearAveragePool", any_type=True)
def _mean(c: Conversion, node: SourceNode) -> None:
    """v = sum of f((x - zero) * sx), in the order of rows, / count; saturated(nearest(f(f(v / sy) + zero of y)))."""
    c.require(channels_last=0)
    sides_of(c)
    window = window_of(c, spatial(c, "kernel_shape", 1, c.attribute("kernel_shape")))
    if max(window.dilations) > 1:
        raise Unsupported(f"the window has dilations {window.dilations}")
    options = {"kernel": window.kernel, "ceil": c.flag("ceil_mode"), "count_include_pad": c.flag("count_include_pad")}
    c.give(like_input(c, _pooled(c, image(c), "average", {**options, **window.options})))


#: A window that is not used.
_WHOLE: Mapping[str, Any] = {
    "kernel": (1, 1), "strides": (1, 1), "pads": (0, 0, 0, 0), "ceil": False, "count_include_pad": False
}  # fmt: skip


def _pooled(c: Conversion, image: str, kind: str, window: Mapping[str, Any]) -> str:
    tensors = [_known(c, 1, 2, "x", c.dtype(0)).numbers, _known(c, 3, 4, "y", c.dtype(0)).numbers]
    scales, zeros = (tuple(each[i].item() for each in tensors) for i in (0, 1))
    return c.add("QuantizedPool", image, kind=kind, scales=scales, zeros=zeros, **window)
