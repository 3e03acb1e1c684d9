"""Normalizations that exporters write out, as one operator each, without their scale and bias: `affine` adds these."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from pysimd.network.graph import Graph, Node, Type
from pysimd.network.passes.patterns import (
    Parameters,
    clip,
    free_name,
    input_at,
    is_last,
    linear_step,
    made,
    number,
    parameter,
    replacement,
    unary,
)
from pysimd.network.passes.rewrite import Change, starts_from


@starts_from("Reduce.sum", "Unary.sqrt")
def length(graph: Graph, node: Node) -> Change | None:
    """Sums of squares as one reduction, and their roots as lengths."""
    found = unary(graph, node.output, "sqrt") if node.operator == "Unary" else None
    if found is not None:
        total = made(graph, found[0], "Reduce", "sum_square")
        return None if total is None else replacement([node], "Reduce", total.inputs, {**total.attributes, "function": "l2"})
    if node.operator != "Reduce" or node.attributes["function"] != "sum":
        return None
    x = _squared(graph, node.inputs[0])
    return None if x is None else replacement([node], "Reduce", (x,), {**node.attributes, "function": "sum_square"})


def _squared(graph: Graph, name: str) -> str | None:
    """The tensor of which another one is the square."""
    node = made(graph, name, "Binary", "multiply", "power")
    if node is None:
        return None
    x, other = node.inputs
    return x if (x == other if node.attributes["function"] == "multiply" else number(graph, other) == 2) else None


@starts_from("Binary.divide", needs=("Reduce",))
def l2_norm(graph: Graph, node: Node) -> Change | None:
    """x / max(length of x, eps)"""
    if made(graph, node.output, "Binary", "divide") is None:
        return None
    x, below = node.inputs
    expanded = made(graph, below, "Expand")
    below = below if expanded is None else expanded.inputs[0]
    bounds = clip(graph, below)
    if bounds is None or bounds[2] != inf or not 0 <= bounds[1] <= 1e-6:
        return None
    total = made(graph, bounds[0], "Reduce", "l2")
    if total is None or total.inputs[0] != x or len(total.attributes["axes"]) != 1 or not total.attributes["keepdims"]:
        return None
    axis = total.attributes["axes"][0] % len(graph.shape(x))
    return replacement([node], "L2Norm", (x,), {"axis": axis, "eps": bounds[1]})


@starts_from("Binary.divide", "Binary.multiply", needs=("Reduce",))
def rms_norm(graph: Graph, node: Node) -> Change | None:
    """x / sqrt(mean of x ** 2 + eps), over the last axis"""
    if made(graph, node.output, "Binary", "divide", "multiply") is None:
        return None
    divides = node.attributes["function"] == "divide"
    for x, below in (node.inputs,) if divides else (node.inputs, node.inputs[::-1]):
        root = unary(graph, below, "sqrt" if divides else "rsqrt")
        step = linear_step(graph, root[0]) if root is not None else None
        mean = _mean(graph, step[0]) if step is not None and step[1] == 1 and step[2] > 0 else None
        if step is None or mean is None or _squared(graph, mean.inputs[0]) != x:
            continue
        shape, rank = graph.shape(x), len(graph.shape(x))
        if shape == graph.shape(node.output) and [axis % rank for axis in mean.attributes["axes"]] == [rank - 1]:
            return replacement([node], "RmsNorm", (x,), {"axis": rank - 1, "eps": step[2]})
    return None


@starts_from("Binary.divide", "Binary.multiply", needs=("Reduce",))
def layer_norm(graph: Graph, node: Node) -> Change | None:
    """(x - mean) / sqrt(mean of (x - mean) ** 2 + eps)"""
    found = _deviation(graph, node)
    if found is None:
        return None
    centred, variance, eps = found
    x, mean = centred.inputs
    first, second = _mean(graph, mean), _mean(graph, variance)
    if first is None or second is None or first.inputs[0] != x:
        return None
    rank = len(graph.shape(x))
    axes, same = ({axis % rank for axis in each.attributes["axes"]} for each in (first, second))
    squared = _squared(graph, second.inputs[0])
    if axes != same or squared is None or not _is_centred(graph, squared, centred):
        return None
    if rank > 3 and axes == set(range(2, rank)):
        return replacement([node], "ChannelNorm", (x,), {"groups": 0, "eps": eps}, also=(centred,))
    if is_last(sorted(axes), rank):
        return replacement([node], "LayerNorm", (x,), {"axis": min(axes), "eps": eps}, also=(centred,))
    return _across(graph, node, x, axes.pop(), eps) if len(axes) == 1 else None


def _deviation(graph: Graph, node: Node) -> tuple[Node, str, float] | None:
    """The node of x - mean, the name of the variance, and eps, if a node divides the first by the root of the others."""
    if made(graph, node.output, "Binary", "divide", "multiply") is None:
        return None
    divides = node.attributes["function"] == "divide"
    for a, b in (node.inputs,) if divides else (node.inputs, node.inputs[::-1]):
        centred, root = made(graph, a, "Binary", "subtract"), unary(graph, b, "sqrt" if divides else "rsqrt")
        if centred is not None and root is not None:
            step = linear_step(graph, root[0])
            if step is None:
                return centred, root[0], 0.0
            if step[1] == 1 and step[2] >= 0:
                return centred, step[0], step[2]
    return None


def _mean(graph: Graph, name: str) -> Node | None:
    node = made(graph, name, "Reduce", "mean")
    return node if node is not None and node.attributes["keepdims"] else None


def _is_centred(graph: Graph, name: str, centred: Node) -> bool:
    """Whether a tensor is x - mean, maybe computed by a node of its own."""
    node = made(graph, name, "Binary", "subtract")
    return node is not None and (node is centred or node.inputs == centred.inputs)


def _across(graph: Graph, node: Node, x: str, axis: int, eps: float) -> Change:
    """The normalization of an axis that is not the last one; if it is in memory, transpositions cost nothing."""
    shape = graph.shape(x)
    perm = (*(i for i in range(len(shape)) if i != axis), axis)
    moved = Type(tuple(shape[i] for i in perm))
    before, after = (free_name(graph, f"{node.output}.{place}") for place in ("before", "after"))
    norm = {"axis": len(shape) - 1, "eps": eps}
    nodes = [
        Node("Transpose", (x,), (before,), {"perm": perm}, node.origin),
        Node("LayerNorm", (before,), (after,), norm, node.origin),
        Node("Transpose", (after,), node.outputs, {"perm": tuple(np.argsort(perm).tolist())}, node.origin),
    ]
    return Change([node], nodes, {before: moved, after: moved})


@starts_from("Reshape", needs=("ChannelNorm",))
def group_norm(graph: Graph, node: Node) -> Change | None:
    """Groups as channels of another shape, which are normalized each by itself."""
    inner = made(graph, node.inputs[0], "ChannelNorm")
    outer = made(graph, inner.inputs[0], "Reshape") if inner is not None else None
    if inner is None or outer is None or inner.attributes["groups"] != 0:
        return None
    x = outer.inputs[0]
    shape, inside = graph.shape(x), graph.shape(outer.output)
    if graph.shape(node.output) != shape or len(shape) < 3 or inside[0] != shape[0] or shape[1] % inside[1]:
        return None
    groups, parameters = inside[1], Parameters(graph, node.output)
    more = [_repeated(graph, inner, place, shape[1] // groups, parameters) for place in (1, 2)]
    attributes: dict[str, Any] = {"groups": 0 if groups == shape[1] else groups, "eps": inner.attributes["eps"]}
    return replacement([node], "ChannelNorm", (x, *more), attributes, parameters, also=(inner, outer))


def _repeated(graph: Graph, node: Node, place: int, count: int, parameters: Parameters) -> str:
    """Numbers of groups as numbers of channels."""
    array = parameter(graph, node, place)
    return input_at(node, place) if array is None else parameters.add("SB"[place - 1], np.repeat(array, count))


MATCHES = (length, l2_norm, layer_norm, rms_norm, group_norm)  # a layer norm is also an RMS norm of what it centres
