"""Additions of equal shapes in the convolution or the product that gives one of the terms: the end of a residual block."""

from __future__ import annotations

from pysimd.network.graph import Graph, Node
from pysimd.network.passes.patterns import activation, input_at, is_plain, replacement
from pysimd.network.passes.rewrite import Change


def added(graph: Graph, node: Node) -> Change | None:
    """The addition of a tensor to the result of a layer, before the layer's activation or after it."""
    if node.operator != "Binary" or node.attributes["function"] != "add" or len(set(map(graph.shape, node.inputs))) > 1:
        return None
    layers = [layer for name in node.inputs if (layer := _layer(graph, name, node)) is not None]
    if not layers:
        return None
    layer = min(layers, key=_cost)
    (other,) = (name for name in node.inputs if name != layer.output)
    order, function = ("add", activation(node)) if is_plain(layer) else ("activation", activation(layer))
    inputs = (*(input_at(layer, place) for place in range(3)), other)
    attributes = {**layer.attributes, "activation": function, "order": order}
    return replacement([node, layer], layer.operator, inputs, attributes)


def _layer(graph: Graph, name: str, node: Node) -> Node | None:
    """The layer that gives a term and can add the other one."""
    layer = graph.producer(name)
    if layer is None or layer.operator not in ("Conv", "Linear") or input_at(layer, 3):
        return None
    if graph.user(name) is not node or node.inputs.count(name) != 1 or not (is_plain(layer) or is_plain(node)):
        return None
    return layer


def _cost(layer: Node) -> tuple[bool, bool]:
    """What decides between two layers: where an addition takes another pass over the result."""
    return not is_plain(layer), layer.operator == "Conv" and layer.attributes["group"] > 1


MATCHES = (added,)
