"""Activations that exporters write out as several nodes, as one function each.

Each match starts from the last node of a formula. The nodes before it are dropped if nothing else reads them.
"""

from __future__ import annotations

from math import inf

from pysimd.network.graph import Graph, Node
from pysimd.network.passes.patterns import (
    LINEAR,
    as_unary,
    clip,
    clip_of,
    is_plain,
    linear_step,
    linear_to,
    made,
    near,
    number,
    unary,
    with_number,
)
from pysimd.network.passes.rewrite import Change, starts_from

_Function = tuple[str, tuple[float, ...]]
_Product = tuple[float, tuple[str, ...]]


@starts_from("Binary.maximum", "Binary.minimum", "Unary.relu", "Unary.restrict_range")
def clipped(graph: Graph, node: Node) -> Change | None:
    """Maximum and minimum with numbers, also in sequence, as one function that clips."""
    outer = clip_of(graph, node)
    if outer is None:
        return None
    x, low, high = outer
    inner = clip(graph, x)
    if inner is None and node.operator == "Unary":
        return as_unary(node, x, "relu") if node.attributes["function"] != "relu" and (low, high) == (0, inf) else None
    if inner is not None:
        x, low, high = inner[0], *(min(max(bound, low), high) for bound in inner[1:])
    return as_unary(node, x, "relu") if (low, high) == (0, inf) else as_unary(node, x, "restrict_range", low, high)


@starts_from(*LINEAR, "Binary.maximum", "Binary.minimum", "Unary.relu", "Unary.restrict_range")
def hard_sigmoid(graph: Graph, node: Node) -> Change | None:
    """clip(a * x + b, 0, h) / h"""
    bounds, factor = clip_of(graph, node), 1.0
    if bounds is None:
        step = linear_step(graph, node.output)
        if step is None or step[2] != 0:
            return None
        factor, bounds = step[1], clip(graph, step[0])
    if bounds is None or bounds[1] != 0 or not near(bounds[2] * factor, 1):
        return None
    line = linear_to(graph, bounds[0], None)
    if line is None or (line[0] == bounds[0] and factor == 1):  # there is no function but to clip
        return None
    x, a, b = line
    return as_unary(node, x, "hard_sigmoid", a * factor, b * factor)


@starts_from("Binary.divide", "Binary.multiply")
def gate(graph: Graph, node: Node) -> Change | None:
    """x * f(x): hard-swish, swish, mish and GELU, with their factors in any order."""
    if made(graph, node.output, "Binary", "multiply", "divide") is None:
        return None
    for factor, tensors in _products(graph, node.output, 4):
        for x, of in ((tensors[0], tensors[-1]), (tensors[-1], tensors[0])) if len(tensors) == 2 else ():
            function = _hard_swish(graph, x, of, factor) or _swish(graph, x, of, factor) or _gelu(graph, x, of, factor)
            if function is not None:
                return as_unary(node, x, function[0], *function[1])
    return None


def _products(graph: Graph, name: str, depth: int) -> list[_Product]:
    """The ways to write a tensor as a number times one tensor or two."""
    found: list[_Product] = [(1.0, (name,))]
    node = made(graph, name, "Binary", "multiply", "divide") if depth else None
    if node is None:
        return found
    single, (a, b) = with_number(graph, node), node.inputs
    if single is not None:
        x, value, first = single
        if node.attributes["function"] == "multiply":
            found += [(factor * value, names) for factor, names in _products(graph, x, depth - 1)]
        elif not first and value != 0:
            found += [(factor / value, names) for factor, names in _products(graph, x, depth - 1)]
    elif node.attributes["function"] == "multiply" and graph.shape(a) == graph.shape(b):
        left, right = _products(graph, a, depth - 1), _products(graph, b, depth - 1)
        found += [(m * n, (*p, *q)) for m, p in left for n, q in right if len(p) + len(q) == 2]
    return found


def _hard_swish(graph: Graph, x: str, of: str, factor: float) -> _Function | None:
    """x * factor * clip(a * x + b, 0, 2 * b)"""
    bounds, scale, shift = clip(graph, of), 1.0, 0.0
    if bounds is None:
        sigmoid = unary(graph, of, "hard_sigmoid")
        if sigmoid is None:
            return None
        (y, (scale, shift)), low, high = sigmoid, 0.0, 1.0
    else:
        y, low, high = bounds
    line = linear_to(graph, y, x)
    if line is None or low != 0 or line[1] * scale <= 0:
        return None
    a, b = line[1] * scale, line[2] * scale + shift
    return ("hswish", (b / a, a * factor)) if b > 0 and near(high, 2 * b) else None


def _swish(graph: Graph, x: str, of: str, factor: float) -> _Function | None:
    """x * sigmoid(a * x), or x * tanh(softplus(x))"""
    if factor != 1:
        return None
    sigmoid = unary(graph, of, "sigmoid")
    if sigmoid is not None:
        line = linear_to(graph, sigmoid[0], x)
        return ("swish", (sigmoid[1][0] * line[1],)) if line is not None and line[2] == 0 else None
    tanh = unary(graph, of, "tanh")
    softplus = unary(graph, tanh[0], "softplus") if tanh is not None and tanh[1] == (1.0,) else None
    return ("mish", (softplus[1][1],)) if softplus is not None and softplus[0] == x and softplus[1][0] == 1 else None


def _gelu(graph: Graph, x: str, of: str, factor: float) -> _Function | None:
    """x * (1 + erf(x / sqrt(2))) / 2"""
    outer = linear_to(graph, of, None)
    erf = unary(graph, outer[0], "erf") if outer is not None else None
    inner = linear_to(graph, erf[0], x) if erf is not None else None
    if outer is None or inner is None:
        return None
    right = near(outer[1] * factor, 0.5) and near(outer[2] * factor, 0.5)
    return ("gelu", ()) if right and near(inner[1], 0.5**0.5) and inner[2] == 0 else None


@starts_from("Binary.maximum")
def leaky_relu(graph: Graph, node: Node) -> Change | None:
    """max(x, a * x), but for a = 0, with which it is NaN for infinities"""
    if made(graph, node.output, "Binary", "maximum") is None:
        return None
    for x, other in (node.inputs, node.inputs[::-1]):
        line = linear_to(graph, other, x)
        if line is not None and other != x and line[2] == 0 and 0 < line[1] <= 1:
            return as_unary(node, x, "leaky_relu", line[1])
    return None


@starts_from("Unary.log")
def logarithm(graph: Graph, node: Node) -> Change | None:
    """log(1 + exp(x)): softplus"""
    found = unary(graph, node.output, "log")
    line = linear_to(graph, found[0], None) if found is not None else None
    power = unary(graph, line[0], "exp") if line is not None and line[1:] == (1, 1) else None
    return None if power is None else as_unary(node, power[0], "softplus", 1.0, 20.0)


@starts_from("Binary.divide", "Unary.reciprocal")
def inverse(graph: Graph, node: Node) -> Change | None:
    """1 / y; of 1 + exp(-x) a sigmoid, of a square root its own function."""
    found = unary(graph, node.output, "reciprocal")
    if found is not None:
        y = found[0]
    elif node.operator == "Binary" and is_plain(node) and node.attributes["function"] == "divide":
        y = node.inputs[1]
        if number(graph, node.inputs[0]) != 1 or graph.shape(y) != graph.shape(node.output) or y in graph.constants:
            return None
    else:
        return None
    line = linear_to(graph, y, None)
    power = unary(graph, line[0], "exp") if line is not None and line[1:] == (1, 1) else None
    exponent = linear_to(graph, power[0], None) if power is not None else None
    if exponent is not None and exponent[1:] == (-1, 0):
        return as_unary(node, exponent[0], "sigmoid", 1.0)
    root = unary(graph, y, "sqrt")
    if root is not None:
        return as_unary(node, root[0], "rsqrt")
    return None if found is not None else as_unary(node, y, "reciprocal")


#: In this order, since the later ones read what the first ones make.
MATCHES = (clipped, logarithm, inverse, hard_sigmoid, gate, leaky_relu)
