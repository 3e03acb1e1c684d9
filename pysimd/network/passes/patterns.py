"""Queries of graphs that passes need, and descriptions of changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isclose
from typing import Any

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.graph import Graph, Node, Type, name_of
from pysimd.network.open_arrays import is_array
from pysimd.network.operators import IDENTITY
from pysimd.network.passes.rewrite import Change

#: The kinds of nodes that can multiply by a number, or add one.
LINES = ("Binary.add", "Binary.divide", "Binary.multiply", "Binary.subtract")
LINEAR = (*LINES, "Unary.negative")

_STEPS = 4  # in sequence, that a formula has at most
NEAR = 1e-5  # numbers of formulas are written with at least six digits


def near(a: Any, b: Any) -> bool:
    """Whether a number of a file is that of a formula."""
    if is_array(a) or is_array(b):
        far = abs(a - b)
        return bool((far <= np.maximum(NEAR * np.maximum(abs(a), abs(b)), 1e-9)) & (far < inf))
    return isclose(a, b, rel_tol=NEAR, abs_tol=1e-9)


def number(graph: Graph, name: str) -> Any:
    """The value of a constant of one element, else None.

    One that depends on sizes remains an array: a decision by it is a condition of the plan.
    """
    array = graph.constants.get(name)
    if array is None or array.size != 1 or array.dtype.kind != "f":
        return None
    return array.reshape(()).astype(np.float64) if is_array(array) else float(array.item())


def input_at(node: Node, place: int) -> str:
    """The name of an input, "" for one that is missing."""
    return node.inputs[place] if place < len(node.inputs) else ""


def parameter(graph: Graph, node: Node, place: int) -> Array | None:
    """A constant input; None for a missing one."""
    return graph.constants.get(input_at(node, place))


def activation(node: Node) -> Any:
    """The activation of a node."""
    return node.attributes.get("activation", IDENTITY)


def is_plain(node: Node) -> bool:
    """Whether a node has no activation."""
    attributes = node.attributes
    return "activation" not in attributes or bool(attributes["activation"][0] == "identity")


def made(graph: Graph, name: str, operator: str, *functions: str) -> Node | None:
    """The node without activation that produces a tensor, if it is of this operator, with one of these functions."""
    node = graph.producer(name)
    if node is None or node.operator != operator or not is_plain(node):
        return None
    return node if not functions or node.attributes["function"] in functions else None


def unary(graph: Graph, name: str, function: str) -> tuple[str, tuple[float, ...]] | None:
    """The input and the parameters of an element-wise function that produces a tensor."""
    node = made(graph, name, "Unary", function)
    return None if node is None else (node.inputs[0], tuple(node.attributes["params"]))


def with_number(graph: Graph, node: Node | None) -> tuple[str, Any, bool] | None:
    """Of a Binary with a number: the other operand, the number, and whether the number is the first operand."""
    if node is None or node.operator != "Binary":
        return None
    known: dict[Node, tuple[str, Any, bool] | None] = graph.remembered.setdefault(with_number, {})
    if node not in known:
        known[node] = _with_number(graph, node)
    return known[node]


def _with_number(graph: Graph, node: Node) -> tuple[str, Any, bool] | None:
    if not is_plain(node):
        return None
    a, b = node.inputs
    first = a in graph.constants
    if first == (b in graph.constants):
        return None
    x, other = (b, a) if first else (a, b)
    value = number(graph, other)
    return (x, value, first) if value is not None and graph.shape(x) == graph.shape(node.output) else None


def linear_step(graph: Graph, name: str) -> tuple[str, float, float] | None:
    """The tensor x and the numbers a and b if a node computes a * x + b."""
    node = graph.producer(name)
    if node is not None and node.operator == "Unary" and node.attributes["function"] == "negative":
        return node.inputs[0], -1.0, 0.0
    found = with_number(graph, node)
    if node is None or found is None:
        return None
    x, value, first = found
    function = node.attributes["function"]
    if function == "add":
        return x, 1.0, value
    if function == "subtract":
        return (x, -1.0, value) if first else (x, 1.0, -value)
    if function == "multiply":
        return x, value, 0.0
    return (x, 1 / value, 0.0) if function == "divide" and not first and value != 0 else None


def linear_to(graph: Graph, name: str, x: str | None) -> tuple[str, float, float] | None:
    """x, a and b of name = a * x + b, in several steps; with None as x, as far as there are some."""
    a, b = 1.0, 0.0
    for _ in range(_STEPS):
        if name == x:
            break
        step = linear_step(graph, name)
        if step is None:
            break
        name, a, b = step[0], a * step[1], a * step[2] + b
    return (name, a, b) if x in (None, name) else None


def clip(graph: Graph, name: str) -> tuple[str, float, float] | None:
    """The input and the bounds, if a tensor is given by a function that clips."""
    node = graph.producer(name)
    return None if node is None else clip_of(graph, node)


def clip_of(graph: Graph, node: Node) -> tuple[str, float, float] | None:
    """The input and the bounds of a function that clips."""
    if node.operator == "Unary" and node.attributes["function"] == "relu":
        return node.inputs[0], 0.0, inf
    if node.operator == "Unary" and node.attributes["function"] == "restrict_range":
        return (node.inputs[0], *map(float, node.attributes["params"]))  # type: ignore[return-value]
    found = with_number(graph, node)
    if found is not None and node.attributes["function"] in ("maximum", "minimum"):
        x, value, _ = found
        if value != value:  # NaN: all results are
            return None
        return (x, value, inf) if node.attributes["function"] == "maximum" else (x, -inf, value)
    return None


def is_last(axes: Sequence[int], rank: int) -> bool:
    """Whether axes are the last ones."""
    return sorted(axis % rank for axis in axes) == list(range(rank - len(axes), rank))


def origins(*nodes: Node) -> tuple[str, ...]:
    """The names in the file of what several nodes compute."""
    return tuple(dict.fromkeys(name for node in nodes for name in node.origin))


def free_name(graph: Graph, name: str) -> str:
    """A name that no tensor has, derived from one that is unique in this walk."""
    while name in graph.types:
        name += "'"
    return name


class Parameters:
    """Constants of a new node."""

    def __init__(self, graph: Graph, owner: str) -> None:
        self._graph, self._owner = graph, owner
        self.arrays: dict[str, Array] = {}
        self.types: dict[str, Type] = {}

    def add(self, kind: str, array: Array) -> str:
        """The name of a new constant."""
        name = free_name(self._graph, f"{self._owner}.{kind}")
        self.arrays[name], self.types[name] = array, Type(array.shape, name_of(array.dtype))
        return name


def replacement(
    removed: Sequence[Node],
    operator: str,
    inputs: Sequence[str],
    attributes: Mapping[str, Any],
    parameters: Parameters | None = None,
    also: Sequence[Node] = (),
) -> Change:
    """One node in place of others, which gives the outputs of the first one of them.

    also : nodes whose part in the result the new node takes over, though others may need them, too.
    """
    node = Node(operator, tuple(inputs), removed[0].outputs, dict(attributes), origins(*reversed(removed), *also))
    if parameters is None:
        return Change(removed, [node])
    return Change(removed, [node], parameters.types, parameters.arrays)


def as_unary(node: Node, x: str, function: str, *params: float) -> Change:
    """An element-wise function in place of a node."""
    return replacement([node], "Unary", (x,), {"function": function, "params": tuple(map(float, params))})


def same_axis(source: Shape, target: Shape, axis: int) -> int | None:
    """The axis of the shape before a Reshape that has the same elements as one of the shape after it."""
    before = 1
    for n in target[:axis]:
        before *= n
    product = 1
    for place, n in enumerate(source):
        if product == before and n == target[axis] and n != 1:
            return place
        product *= n
    return None
