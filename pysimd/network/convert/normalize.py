"""Converters of normalizations."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pysimd.network.convert.conversion import Conversion, Value, converts, float32_of
from pysimd.network.open_arrays import full, spread
from pysimd.network.operators import IDENTITY, axis_within
from pysimd.network.source import SourceNode
from pysimd.network.unsupported import Unsupported


@converts("BatchNormalization")
def _batch_norm(c: Conversion, node: SourceNode) -> None:
    """A factor and a term for each channel. The mean and the variance are those of training."""
    c.require(training_mode=0, spatial=1)
    shape, eps = c.shape(0), float(c.attribute("epsilon", 1e-5))
    if len(shape) < 2 or any(prod(c.shape(i)) != shape[1] for i in range(1, 5)):
        raise Unsupported(f"the shape is {shape}, with {prod(c.shape(1))} channels")
    if all(c.is_known(i) for i in range(1, 5)):
        scale, bias, mean, variance = (c.known(i).astype(np.float64) for i in range(1, 5))
        factor = scale / np.sqrt(variance + eps)
        terms = (np.float32(each) for each in (factor, bias - mean * factor))
        return c.give(c.add("Scale", c.tensor(0), *map(c.constant, terms), axis=1, activation=IDENTITY))
    channels = (1, shape[1], *(1,) * (len(shape) - 2))
    scale_, bias_, mean_, variance_ = (c.reshape(c.tensor(i), channels) for i in range(1, 5))
    factor_ = c.binary("divide", scale_, c.unary(c.binary("add", variance_, eps), "sqrt"))
    return c.give(c.binary("add", c.binary("multiply", c.binary("subtract", c.tensor(0), mean_), factor_), bias_))


def _channel_norm(c: Conversion, groups: int, scale: Value, bias: Value) -> str:
    """The channels of images of any dimensions; scale and bias have a number for each channel."""
    shape, eps = c.shape(0), float(c.attribute("epsilon", 1e-5))
    if len(shape) < 3:
        raise Unsupported(f"the shape is {shape}, expected (N, C, ...)")
    x = c.tensor(0)
    if len(shape) != 4:
        x = c.reshape(x, (*shape[:2], 1, prod(shape[2:])))
    if not isinstance(scale, str) and not isinstance(bias, str):
        x = c.add("ChannelNorm", x, c.constant(scale), c.constant(bias), groups=groups, eps=eps)
    else:
        x = c.add("ChannelNorm", x, groups=groups, eps=eps)
        for function, value in (("multiply", scale), ("add", bias)):
            x = c.binary(function, x, _reshaped(c, value, (1, shape[1], 1, 1)))
    return c.reshape(x, shape)


def _reshaped(c: Conversion, x: Value, shape: Sequence[int]) -> Value:
    return c.reshape(x, shape) if isinstance(x, str) else x.reshape(shape)


def _input(c: Conversion, i: int) -> Any:
    value = c.operand(i)
    if value is None:
        raise Unsupported(f"input {i} is missing")
    return value if isinstance(value, str) else float32_of(value)


@converts("InstanceNormalization")
def _instance_norm(c: Conversion, node: SourceNode) -> None:
    c.give(_channel_norm(c, 0, _input(c, 1), _input(c, 2)))


@converts("GroupNormalization")
def _group_norm(c: Conversion, node: SourceNode) -> None:
    """Before opset 21, scale and bias have a number for each group."""
    groups, channels = int(c.attribute("num_groups")), c.shape(0)[1]
    terms = [_input(c, 1), _input(c, 2)]
    if groups < 1 or channels % groups:
        raise Unsupported(f"num_groups is {groups}, the images have {channels} channels")
    if c.opset < 21:
        for i, term in enumerate(terms):
            if not isinstance(term, str):
                terms[i] = np.repeat(term.reshape(-1), channels // groups)
            else:
                wide = c.add("Expand", c.reshape(term, (groups, 1)), shape=(groups, channels // groups))
                terms[i] = c.reshape(wide, (channels,))
    c.give(_channel_norm(c, groups, *terms))


@converts("LayerNormalization")
def _layer_norm(c: Conversion, node: SourceNode) -> None:
    """The second and third output are those of training: the mean, and one divided by the deviation."""
    x, shape, eps = c.tensor(0), c.shape(0), float(c.attribute("epsilon", 1e-5))
    axis = axis_within(int(c.attribute("axis", -1)), len(shape))
    y = normalized(c, x, axis, eps, c.operand(1), c.operand(2))
    if not any(node.outputs[1:]):
        return c.give(y)
    axes = range(axis, len(shape))
    mean = c.reduce(x, "mean", axes)
    difference = c.binary("subtract", x, mean)
    variance = c.reduce(c.binary("multiply", difference, difference), "mean", axes)
    return c.give(y, mean, c.unary(c.binary("add", variance, eps), "rsqrt"))


def normalized(c: Conversion, x: str, axis: int, eps: float, scale: Value | None, bias: Value | None) -> str:
    """A layer normalization from an axis on."""
    inner = c.builder.shape(x)[axis:]
    given = (scale, 1), (bias, 0)
    terms: list[Any] = [full(inner, default, np.float32) if term is None else term for term, default in given]
    if all(not isinstance(term, str) and prod(term.shape[: term.ndim - len(inner)]) == 1 for term in terms):
        arrays = (spread(term.reshape(term.shape[-len(inner) :]), inner) for term in terms)
        return c.add("LayerNorm", x, *map(c.constant, arrays), axis=axis, eps=eps)
    x = c.add("LayerNorm", x, axis=axis, eps=eps)
    x = x if scale is None else c.binary("multiply", x, scale)
    return x if bias is None else c.binary("add", x, bias)


@converts("RMSNormalization", "SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization")
def _rms_norm(c: Conversion, node: SourceNode) -> None:
    x, shape = c.tensor(0), c.shape(0)
    axis = axis_within(int(c.attribute("axis", -1)), len(shape))
    inverse = _inverse_rms(c, x, axis)
    c.give(c.binary("multiply", c.binary("multiply", x, inverse), _input(c, 1)), inverse)


def _inverse_rms(c: Conversion, x: str, axis: int) -> str:
    mean = c.reduce(c.binary("multiply", x, x), "mean", range(axis, len(c.builder.shape(x))))
    return c.unary(c.binary("add", mean, float(c.attribute("epsilon", 1e-5))), "rsqrt")


@converts("com.microsoft.SkipLayerNormalization", "com.microsoft.SkipSimplifiedLayerNormalization")
def _skip_layer_norm(c: Conversion, node: SourceNode) -> None:
    """Inputs: x, skip, scale, [bias of the norm, which the simplified one does not have], [bias of the sum]."""
    simple = node.op == "SkipSimplifiedLayerNormalization"
    total = c.binary("add", c.tensor(0), _input(c, 1))
    place = 3 if simple else 4
    if c.has(place):
        total = c.binary("add", total, _input(c, place))
    axis = len(c.builder.shape(total)) - 1
    if simple:
        y = c.binary("multiply", c.binary("multiply", total, _inverse_rms(c, total, axis)), _input(c, 2))
    else:
        y = normalized(c, total, axis, float(c.attribute("epsilon", 1e-12)), _input(c, 2), c.value(3))
    c.give(y, None, None, total)


@converts("MeanVarianceNormalization")
def _mean_variance(c: Conversion, node: SourceNode) -> None:
    x = c.tensor(0)
    axes = [axis_within(int(axis), len(c.shape(0))) for axis in c.attribute("axes", (0, 2, 3))]
    difference = c.binary("subtract", x, c.reduce(x, "mean", axes))
    variance = c.reduce(c.binary("multiply", difference, difference), "mean", axes)
    c.give(c.binary("divide", difference, c.binary("add", c.unary(variance, "sqrt"), 1e-9)))


@converts("LpNormalization")
def _lp_norm(c: Conversion, node: SourceNode) -> None:
    """Zeros where all are zero. Of elements divided by the largest one, squares are neither too small nor too large."""
    axis, p = axis_within(int(c.attribute("axis", -1)), len(c.shape(0))), c.attribute("p", 2)
    x = c.tensor(0)
    if p not in (1, 2):
        raise Unsupported(f"p is {p}, supported is 1 or 2")
    most = c.reduce(c.unary(x, "absolute"), "max", [axis])
    limits = float(np.finfo(np.float32).smallest_subnormal), float(np.finfo(np.float32).max)
    x = c.binary("divide", x, c.unary(most, "restrict_range", *limits))
    if p == 2:
        return c.give(c.add("L2Norm", x, axis=axis, eps=1e-37))
    return c.give(c.binary("divide", x, c.binary("maximum", c.reduce(x, "l1", [axis]), 1e-37)))


@converts("LRN")
def _lrn(c: Conversion, node: SourceNode) -> None:
    shape = c.shape(0)
    if len(shape) < 3:
        raise Unsupported(f"the shape is {shape}, expected (N, C, ...)")
    x = c.tensor(0) if len(shape) == 4 else c.reshape(c.tensor(0), (*shape[:2], 1, prod(shape[2:])))
    numbers = {name: float(c.attribute(name, default)) for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))}
    size = int(c.attribute("size"))
    if size < 1:
        raise Unsupported(f"size is {size}, expected at least 1")
    y = c.add("Lrn", x, size=size, **numbers) if size % 2 else _even_lrn(c, x, size, **numbers)
    c.give(c.reshape(y, shape))


def _even_lrn(c: Conversion, x: str, size: int, alpha: float, beta: float, bias: float) -> str:
    """By the mean of squares of a window of channels, one more of which is after the channel than before it."""
    n, channels, h, w = c.builder.shape(x)
    squares = c.reshape(c.binary("multiply", x, x), (n, 1, channels, h * w))
    pads = tuple((((size - 1) // 2, size // 2) if axis == 2 else (0, 0)) for axis in range(4))
    padded = c.add("Pad", squares, pads=pads, mode="constant", value=0.0)
    window = {"kernel": (size, 1), "strides": (1, 1), "pads": (0, 0, 0, 0), "ceil": False, "count_include_pad": True}
    mean = c.reshape(c.add("AveragePool", padded, **window), (n, channels, h, w))
    total = c.binary("add", c.binary("multiply", mean, alpha), bias)
    return c.binary("divide", x, c.binary("power", total, beta))
