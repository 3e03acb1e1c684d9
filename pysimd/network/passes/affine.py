"""Multiplications and additions of constants, which become weights and biases of their neighbours.

The steps after a tensor are composed in float64, and the weights are rounded once.
"""

from __future__ import annotations

from typing import Callable

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.graph import Graph, Node
from pysimd.network.mapped import apart_like, release
from pysimd.network.open_arrays import full, is_array, later
from pysimd.network.operators import IDENTITY
from pysimd.network.origins import with_origin
from pysimd.network.passes.patterns import (
    LINEAR,
    Parameters,
    input_at,
    is_plain,
    linear_step,
    made,
    parameter,
    replacement,
)
from pysimd.network.passes.rewrite import Change, starts_from
from pysimd.network.records import record
from pysimd.network.sizes import Size

_MANY = 1 << 14  # elements
_INFINITE = 2.0**128 - 2.0**103  # rounded to float32, this and more are infinite


@record(frozen=True)
class Line:
    """x * scale + bias, in float64, for each coordinate of an axis; numbers if the axis is None."""

    axis: int | None
    scale: Array
    bias: Array

    def then(self, other: Line) -> Line | None:
        """This one and then another one; None if they have different axes."""
        if None not in (self.axis, other.axis) and self.axis != other.axis:
            return None
        axis = other.axis if self.axis is None else self.axis
        return Line(axis, self.scale * other.scale, self.bias * other.scale + other.bias)

    @property
    def is_finite(self) -> bool:
        """Whether all factors and terms can be written in float32. abs() of one number of NumPy (2.4) crashes without
        memory, np.abs() does not."""
        return all(_all(np.abs(each) < _INFINITE) for each in (self.scale, self.bias))

    def along(self, count: int) -> tuple[Array, Array]:
        """Factors and terms, one for each coordinate."""
        each = self.scale, self.bias
        if isinstance(count, Size) or any(map(is_array, each)):
            scale, bias = (later(np.broadcast_to, (count,), numbers, count) for numbers in each)
        else:  # in a quarter of the time
            scale, bias = (numbers if numbers.shape == (count,) else np.full(count, numbers) for numbers in each)
        return scale, bias


def line_of(graph: Graph, node: Node) -> tuple[str, Line] | None:
    """The input and the factors of a Scale, or of a Binary with a constant that varies along one axis at most."""
    known: dict[Node, tuple[str, Line] | None] = graph.remembered.setdefault(line_of, {})
    if node not in known:
        known[node] = _line_of(graph, node)
    return known[node]


def _line_of(graph: Graph, node: Node) -> tuple[str, Line] | None:
    if not is_plain(node):
        return None
    if node.operator == "Scale":
        scale, bias = parameter(graph, node, 1), parameter(graph, node, 2)
        if scale is None:
            return None
        terms = full((scale.size,), 0, np.float64) if bias is None else bias.astype(np.float64)
        return node.inputs[0], Line(node.attributes["axis"] % len(graph.shape(node.output)), scale.astype(np.float64), terms)
    if node.operator == "Unary":
        step = linear_step(graph, node.output) if node.attributes["function"] == "negative" else None
        return None if step is None else (step[0], Line(None, np.float64(step[1]), np.float64(step[2])))  # type: ignore[arg-type]
    return _line_of_binary(graph, node) if node.operator == "Binary" else None


def _line_of_binary(graph: Graph, node: Node) -> tuple[str, Line] | None:
    function, (a, b) = node.attributes["function"], node.inputs
    known = [name for name in (a, b) if name in graph.constants]
    if len(known) != 1 or function not in ("add", "subtract", "multiply", "divide"):
        return None
    x, first = (b, True) if known[0] == a else (a, False)
    array = graph.constants[known[0]]
    long = [axis for axis, n in enumerate(array.shape) if n != 1]
    if array.dtype != np.float32 or len(long) > 1 or graph.shape(x) != graph.shape(node.output):
        return None
    value = array.reshape(-1 if long else ()).astype(np.float64)
    if function == "divide" and (first or not value.all()):
        return None
    if function in ("divide", "multiply"):
        scale, bias = value if function == "multiply" else 1 / value, full(value.shape, 0, np.float64)
    else:
        scale = full(value.shape, -1 if function == "subtract" and first else 1, np.float64)
        bias = -value if function == "subtract" and not first else value
    return x, Line(long[0] if long else None, scale, bias)


@starts_from(*LINEAR, "Scale")
def folded(graph: Graph, node: Node) -> Change | None:
    """All steps that end with a node, in the node before them, in the one after them, or as one Scale."""
    found = line_of(graph, node)
    if found is None or _continues(graph, node, found[1]):
        return None
    x, line = found
    steps = [node]
    while (before := graph.producer(x)) is not None and graph.user(x) is steps[-1]:
        more = line_of(graph, before)
        whole = more[1].then(line) if more is not None else None
        if more is None or whole is None:
            break
        x, line = more[0], whole
        steps.append(before)
    if not line.is_finite:
        return None
    return _into_former(graph, steps, x, line) or _into_next(graph, steps, x, line) or _as_scale(graph, steps, x, line)


def _continues(graph: Graph, node: Node, line: Line) -> bool:
    """Whether the next node is another such step, from which this one is found."""
    user = graph.user(node.output)
    more = line_of(graph, user) if user is not None and user.inputs.count(node.output) == 1 else None
    return more is not None and line.then(more[1]) is not None


# ---- into the node before


def _into_former(graph: Graph, steps: list[Node], x: str, line: Line) -> Change | None:
    node = graph.producer(x)
    if node is None or node.operator not in _FORMER or graph.user(x) is not steps[-1] or not is_plain(node):
        return None
    if input_at(node, 3):  # an addition, which is not multiplied
        return None
    arrays = _FORMER[node.operator](graph, node, line)
    return None if arrays is None else _with(graph, [*steps, node], node, node.inputs[0], arrays)


def _with(graph: Graph, removed: list[Node], node: Node, x: str, arrays: dict[int, Array]) -> Change | None:
    """A node with other weights, by their places."""
    rounded = {place: array.astype(np.float32, copy=False) for place, array in arrays.items()}
    if not all(map(_is_finite, rounded.values())):
        return None
    parameters = Parameters(graph, removed[0].output)
    inputs = [x, *(input_at(node, place) for place in range(1, max(len(node.inputs), 1 + max(arrays))))]
    for place, array in rounded.items():
        if array is graph.constants.get(inputs[place]):  # as large weights to which only a bias is added: no copy
            continue
        inputs[place] = parameters.add("xSB"[place] if node.operator.endswith("Norm") else "xWB"[place], array)
    return replacement(removed, node.operator, inputs, node.attributes, parameters)


def _is_finite(array: Array) -> bool:
    """Whether all numbers are finite; of many, by their ends, for which no array is made."""
    if is_array(array) or array.size < _MANY:
        return _all(np.isfinite(array))
    return bool(array.min() > -np.inf and array.max() < np.inf)  # not if one is NaN


def _all(array: Array) -> bool:
    """Whether all elements are true; of few, ``array.all()`` takes three times as long."""
    return bool(array.all()) if is_array(array) else np.count_nonzero(array) == array.size


def _scaled(weight: Array, scale: Array) -> Array:
    """The products, computed in float64 and rounded once, without a copy of the weights in float64; the weights themselves
    if all factors are 1. Factors that are numbers of float32, as nearly all are, have the same products in float32, in a
    third of the time."""
    if is_array(weight) or is_array(scale) or weight.dtype != np.float32:
        return weight * scale
    if _all(scale == 1):
        return weight
    if weight.size >= _MANY and _all((short := scale.astype(np.float32)) == scale):
        scale = short
    found = np.multiply(weight, scale, out=apart_like(weight), casting="same_kind")
    release(weight)
    return with_origin(found, "scaled", weight, scale)


def _bias(graph: Graph, node: Node, count: int) -> Array:
    bias = parameter(graph, node, 2)
    return np.zeros(count) if bias is None else bias.astype(np.float64)


def _conv(graph: Graph, node: Node, line: Line) -> dict[int, Array] | None:
    weight = parameter(graph, node, 1)
    if weight is None or line.axis not in (None, 1):
        return None
    scale, bias = line.along(len(weight))
    return {1: _scaled(weight, scale[:, None, None, None]), 2: _bias(graph, node, len(weight)) * scale + bias}


def _conv_transpose(graph: Graph, node: Node, line: Line) -> dict[int, Array] | None:
    weight, group = parameter(graph, node, 1), node.attributes["group"]
    if weight is None or line.axis not in (None, 1):
        return None
    c, part, *kernel = weight.shape
    scale, bias = line.along(part * group)
    by_group = _scaled(weight.reshape(group, c // group, part, *kernel), scale.reshape(group, 1, part, 1, 1))
    return {1: by_group.reshape(weight.shape), 2: _bias(graph, node, part * group) * scale + bias}


def _linear(graph: Graph, node: Node, line: Line) -> dict[int, Array] | None:
    weight = parameter(graph, node, 1)
    if weight is None or line.axis not in (None, len(graph.shape(node.output)) - 1):
        return None
    scale, bias = line.along(weight.shape[-1])
    return {1: _scaled(weight, scale), 2: _bias(graph, node, weight.shape[-1]) * scale + bias}


def _norm(graph: Graph, node: Node, line: Line) -> dict[int, Array] | None:
    """Scale and bias of a normalization."""
    shape = graph.shape(node.output)
    axis = 1 if node.operator == "ChannelNorm" else node.attributes["axis"] % len(shape)
    if line.axis not in (None, axis) or (node.operator == "LayerNorm" and axis != len(shape) - 1):
        return None
    scale, bias = line.along(shape[axis])
    former = parameter(graph, node, 1)
    return {1: scale if former is None else former * scale, 2: _bias(graph, node, shape[axis]) * scale + bias}


def _rms_norm(graph: Graph, node: Node, line: Line) -> dict[int, Array] | None:
    """The scale of a normalization without a bias."""
    shape = graph.shape(node.output)
    if line.axis not in (None, len(shape) - 1) or line.bias.any():
        return None
    scale, former = line.along(shape[-1])[0], parameter(graph, node, 1)
    return {1: scale if former is None else former * scale}


_FORMER: dict[str, Callable[[Graph, Node, Line], dict[int, Array] | None]] = {
    "ChannelNorm": _norm,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "LayerNorm": _norm,
    "Linear": _linear,
    "RmsNorm": _rms_norm,
}


# ---- into the node after


def _into_next(graph: Graph, steps: list[Node], x: str, line: Line) -> Change | None:
    node = graph.user(steps[0].output)
    if node is None or node.operator not in ("Conv", "Linear") or node.inputs.count(steps[0].output) != 1:
        return None
    weight = parameter(graph, node, 1)
    if weight is None or node.inputs[0] != steps[0].output:
        return None
    arrays = _conv_after(graph, node, weight, line) if node.operator == "Conv" else _linear_after(graph, node, weight, line)
    return None if arrays is None else _with(graph, [node, *steps], node, x, arrays)


def _conv_after(graph: Graph, node: Node, weight: Array, line: Line) -> dict[int, Array] | None:
    """Where the image ends, zeros are read, to which no term is added."""
    if line.axis not in (None, 1) or (any(node.attributes["pads"]) and line.bias.any()):
        return None
    o, part, *_ = weight.shape
    group = node.attributes["group"]
    scale, bias = (each.reshape(group, part) for each in line.along(part * group))
    if group > 1:
        scale, bias = (np.repeat(each, o // group, 0) for each in (scale, bias))
    scale, bias = scale[..., None, None], bias[..., None, None]
    return {1: _scaled(weight, scale), 2: _bias(graph, node, o) + _total(weight, bias, (1, 2, 3))}


def _total(weight: Array, bias: Array, axes: tuple[int, ...]) -> Array:
    """The sums of products with terms, which often are all 0: no array of the size of the weights is made of these."""
    if not is_array(bias) and not bias.any():
        return np.zeros([n for axis, n in enumerate(weight.shape) if axis not in axes])
    return np.asarray((weight * bias).sum(axes))


def _linear_after(graph: Graph, node: Node, weight: Array, line: Line) -> dict[int, Array] | None:
    rank, count = len(graph.shape(node.inputs[0])), weight.ndim - 1
    place = None if line.axis is None else line.axis - (rank - count)
    if place is not None and place < 0:
        return None
    shape = [-1 if i == place else 1 for i in range(weight.ndim)]
    scale, bias = line.scale.reshape(shape), line.bias.reshape(shape)
    total = _bias(graph, node, weight.shape[-1]) + _total(weight, bias, tuple(range(count)))
    return {1: _scaled(weight, scale), 2: total}


# ---- as a node of its own


def _as_scale(graph: Graph, steps: list[Node], x: str, line: Line) -> Change | None:
    """One Scale; of numbers alone one Binary where that is enough."""
    shape = graph.shape(x)
    if len(steps) == 1 and (line.axis is None or steps[0].operator == "Scale"):
        return None
    parameters = Parameters(graph, steps[0].output)
    if line.axis is None and (line.bias == 0 or line.scale == 1 or not shape):
        function, value = ("multiply", line.scale) if line.bias == 0 else ("add", line.bias)
        if line.bias != 0 and line.scale != 1:
            return None
        name = parameters.add("B", value.astype(np.float32).reshape((1,) * len(shape)))
        return replacement(steps, "Binary", (x, name), {"function": function, "activation": IDENTITY}, parameters)
    axis = _axis(shape) if line.axis is None else line.axis
    scale, bias = (each.astype(np.float32) for each in line.along(shape[axis]))
    inputs = [x, parameters.add("S", scale), *([parameters.add("B", bias)] if bias.any() else [])]
    return replacement(steps, "Scale", inputs, {"axis": axis, "activation": IDENTITY}, parameters)


def _axis(shape: Shape) -> int:
    """The axis along which equal numbers are written: channels, which are the last ones in memory."""
    return 1 if len(shape) == 4 else len(shape) - 1


# ---- products with constants, and padding


@starts_from("MatMul")
def linear(graph: Graph, node: Node) -> Change | None:
    """A product with a constant matrix."""
    if node.inputs[0] in graph.constants:
        return None
    x, weight = node.inputs[0], parameter(graph, node, 1)
    if weight is None or any(n != 1 for n in weight.shape[:-2]) or weight.ndim > len(graph.shape(x)):
        return None
    parameters = Parameters(graph, node.output)
    name = node.inputs[1] if weight.ndim == 2 else parameters.add("W", weight.reshape(weight.shape[-2:]))
    return replacement([node], "Linear", (x, name), {"activation": IDENTITY, "order": "add"}, parameters)


@starts_from("AveragePool", "Conv", "MaxPool", needs=("Pad",))
def padded(graph: Graph, node: Node) -> Change | None:
    """A Pad before a convolution or a pooling, as its padding."""
    pad = made(graph, node.inputs[0], "Pad")
    if pad is None or pad.attributes["mode"] != "constant" or not _pads_like(graph, node, pad):
        return None
    n, c, *sides = (tuple(map(int, both)) for both in pad.attributes["pads"])
    if any(n + c) or min(map(min, sides)) < 0:
        return None
    (top, bottom), (left, right) = sides
    pads = tuple(a + b for a, b in zip(node.attributes["pads"], (top, left, bottom, right)))
    attributes = {**node.attributes, "pads": pads}
    if node.operator != "Conv" and any(p >= kernel for p, kernel in zip(pads, node.attributes["kernel"] * 2)):
        return None
    if node.operator == "AveragePool":
        attributes["count_include_pad"] = True
    return replacement([node], node.operator, (pad.inputs[0], *node.inputs[1:]), attributes, also=(pad,))


def _pads_like(graph: Graph, node: Node, pad: Node) -> bool:
    """Whether a node pads with the same value as a Pad."""
    value, a = pad.attributes["value"], node.attributes
    if node.operator == "Conv":
        return bool(value == 0)
    if a["ceil"]:
        return False
    if node.operator == "AveragePool":
        return bool(value == 0 and (a["count_include_pad"] or not any(a["pads"])))
    return bool(
        value <= np.finfo(np.float32).min or (value <= 0 and not any(a["pads"]) and _is_positive(graph, pad.inputs[0]))
    )


def _is_positive(graph: Graph, name: str) -> bool:
    """Whether a tensor has no negative element because of its activation."""
    node = graph.producer(name)
    if node is None:
        return False
    function, params = node.attributes.get("activation", IDENTITY)
    if node.operator == "Unary":
        function, params = node.attributes["function"], node.attributes["params"]
    return function in ("relu", "sigmoid", "hard_sigmoid") or (function == "restrict_range" and params[0] >= 0)


MATCHES = (linear, padded, folded)
