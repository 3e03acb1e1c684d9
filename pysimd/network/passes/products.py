"""Sums of products of bytes that become floats: one call does what follows them.

    MatMulInteger, Cast, Mul by scales, Add of a bias    f(f(float(sum) * f(s * S)) + B)

No rounding changes.
"""

from __future__ import annotations

import numpy as np

from pysimd.annotations import Array
from pysimd.network.graph import Graph, Node
from pysimd.network.passes.patterns import Parameters, input_at, is_plain, replacement
from pysimd.network.passes.rewrite import Change, starts_from

_FUNCTIONS = ("Binary", "ExactBinary")


@starts_from("Binary.multiply", "ExactBinary.multiply", needs=("PackedProduct",))
def scaled(graph: Graph, node: Node) -> Change | None:
    """The product with scales."""
    if not _is(node, "multiply"):
        return None
    for name, factor in (node.inputs, node.inputs[::-1]):
        cast = _only(graph, name, "Cast")
        product = None if cast is None else _only(graph, cast.inputs[0], "PackedProduct")
        if cast is None or product is None or cast.attributes["dtype"] != "float32":
            continue
        if graph.shape(node.output) != graph.shape(product.output):
            return None
        found = _scales(graph, factor, graph.shape(product.inputs[1])[1])
        if found is None:
            return None
        parameters = Parameters(graph, node.output)
        scale = "" if found[1] is None else parameters.add("S", found[1])
        inputs = (*product.inputs[:2], input_at(product, 2), input_at(product, 3), found[0], scale)
        return replacement([node, cast, product], "PackedProduct", inputs, {"dtype": "float32"}, parameters)
    return None


def _is(node: Node, function: str) -> bool:
    return bool(node.attributes["function"] == function) and is_plain(node)


def _only(graph: Graph, name: str, operator: str) -> Node | None:
    """The producer of a tensor that nothing else reads."""
    node = graph.producer(name)
    return node if node is not None and node.operator == operator and graph.user(name) is not None else None


def _scales(graph: Graph, name: str, columns: int) -> tuple[str, Array | None] | None:
    """The one number that is computed, "" for none, and the numbers of columns, of a factor that is their product."""
    constant = graph.constants.get(name)
    if constant is not None:
        return ("", constant.reshape(-1)) if _fits(constant, columns) else None
    name = _inner(graph, name)
    node = graph.producer(name)
    if node is not None and node.operator in _FUNCTIONS and _is(node, "multiply"):
        for one, other in (node.inputs, node.inputs[::-1]):
            constant, one = graph.constants.get(other), _inner(graph, one)
            if constant is not None and _fits(constant, columns) and _is_one(graph, one):
                return one, constant.reshape(-1)
    return (name, None) if _is_one(graph, name) else None


def _inner(graph: Graph, name: str) -> str:
    """The tensor that a Reshape has its elements from."""
    node = graph.producer(name)
    while node is not None and node.operator == "Reshape":
        name = node.inputs[0]
        node = graph.producer(name)
    return name


def _is_one(graph: Graph, name: str) -> bool:
    of = graph.types[name]
    return of.dtype == "float32" and all(n == 1 for n in of.shape)


def _fits(array: Array, columns: int) -> bool:
    """Whether an array has one number, or one of each column, that the library takes as scales."""
    shape, most = array.shape, np.finfo(np.float32).max
    along = array.size == 1 or (array.size == columns and shape[-1:] == (columns,))
    return bool(along and array.dtype == np.float32 and ((array > 0) & (array <= most)).all())


@starts_from("Binary.add", "ExactBinary.add", needs=("PackedProduct",))
def with_bias(graph: Graph, node: Node) -> Change | None:
    """The sum with a bias."""
    if not _is(node, "add"):
        return None
    for name, other in (node.inputs, node.inputs[::-1]):
        product, bias = _only(graph, name, "PackedProduct"), graph.constants.get(other)
        if product is None or bias is None or product.attributes["dtype"] != "float32" or input_at(product, 6):
            continue
        columns = graph.shape(product.inputs[1])[1]
        along = bias.size == 1 or (bias.size == columns and bias.shape[-1:] == (columns,))
        if not along or bias.dtype != np.float32 or graph.shape(node.output) != graph.shape(product.output):
            return None
        parameters = Parameters(graph, node.output)
        inputs = (*(input_at(product, i) for i in range(6)), parameters.add("B", bias.reshape(-1)))
        return replacement([node, product], "PackedProduct", inputs, product.attributes, parameters)
    return None


MATCHES = (scaled, with_bias)
