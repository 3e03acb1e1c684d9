"""What follows layers of bytes, in these layers: tables and additions, if nothing else reads the results."""

from __future__ import annotations

from pysimd.network.graph import Graph, Node
from pysimd.network.operators import SUMMED, TABLE
from pysimd.network.passes.patterns import input_at, replacement
from pysimd.network.passes.rewrite import Change, starts_from


@starts_from("Table8")
def looked_up(graph: Graph, node: Node) -> Change | None:
    """A function of a quantised result: the layer looks up the lines that it has just computed, and a step is saved."""
    layer = _layer(graph, node.inputs[0], node)
    if layer is None or input_at(layer, TABLE):
        return None
    inputs = (*(input_at(layer, place) for place in range(TABLE)), node.inputs[1], *layer.inputs[SUMMED:])
    attributes = {**layer.attributes, "dtype": node.attributes["dtype"]}
    return replacement([node, layer], layer.operator, inputs, attributes)


@starts_from("QuantizedBinary.add", needs=("QuantizedConv", "QuantizedLinear"))
def summed(graph: Graph, node: Node) -> Change | None:
    """The sum of a quantised result and of a tensor of its shape: the layer adds to its lines, likewise."""
    if node.attributes["function"] != "add" or graph.shape(node.inputs[0]) != graph.shape(node.inputs[1]):
        return None
    layers = [layer for name in node.inputs if (layer := _layer(graph, name, node)) and not input_at(layer, SUMMED)]
    if not layers or node.inputs[0] == node.inputs[1]:
        return None
    layer = min(layers, key=lambda each: bool(input_at(each, TABLE)))  # one without a table can have one after the sum
    place = node.inputs.index(layer.output)
    (own, add), (own_zero, add_zero) = (of[:2] if place == 0 else of[1::-1] for of in _linears(node))
    attributes = {
        **layer.attributes,
        "order": "activation" if input_at(layer, TABLE) else "add",
        "sum_scales": (own, add, node.attributes["scales"][2]),
        "sum_zeros": (own_zero, add_zero, node.attributes["zeros"][2]),
        "add_first": place == 1,
    }
    inputs = (*(input_at(layer, each) for each in range(SUMMED)), node.inputs[1 - place])
    return replacement([node, layer], layer.operator, inputs, attributes)


def _linears(node: Node) -> tuple[tuple[float, ...], tuple[int, ...]]:
    return tuple(node.attributes["scales"]), tuple(node.attributes["zeros"])


def _layer(graph: Graph, name: str, node: Node) -> Node | None:
    """The layer of bytes that gives a tensor, which no other node reads."""
    layer = graph.producer(name)
    if layer is None or layer.operator not in ("QuantizedConv", "QuantizedLinear") or graph.user(name) is not node:
        return None
    return layer


MATCHES = (looked_up, summed, looked_up)  # tables before sums, then those after them
