"""Tables of bytes in the layers whose results they replace, if nothing else reads these."""

from __future__ import annotations

from pysimd.network.graph import Graph, Node
from pysimd.network.passes.patterns import input_at, replacement
from pysimd.network.passes.rewrite import Change, starts_from

TABLE = 4  # the place of a table among the inputs of a layer


@starts_from("Table8")
def looked_up(graph: Graph, node: Node) -> Change | None:
    """A function of a quantised result: the layer replaces each part of it while that is in the first cache."""
    layer = graph.producer(node.inputs[0])
    if layer is None or layer.operator not in ("QuantizedConv", "QuantizedLinear") or input_at(layer, TABLE):
        return None
    if graph.user(layer.output) is not node:
        return None
    inputs = (*(input_at(layer, place) for place in range(TABLE)), node.inputs[1])
    attributes = {**layer.attributes, "dtype": node.attributes["dtype"]}
    return replacement([node, layer], layer.operator, inputs, attributes)


MATCHES = (looked_up,)
