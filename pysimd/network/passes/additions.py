"""Additions of equal shapes in the convolution or the product that gives one of the terms: the end of a residual block.

Also those of an image and of the product of this image with a gate.
"""

from __future__ import annotations

import numpy as np

from pysimd.network.graph import Graph, Node
from pysimd.network.operators import ADDED, ADDING, IDENTITY
from pysimd.network.passes.patterns import (
    Parameters,
    activation,
    free_name,
    input_at,
    is_plain,
    made,
    origins,
    replacement,
)
from pysimd.network.passes.rewrite import Change, starts_from

_SMALLER = 8  # times, that a gate is smaller than the image


@starts_from("Binary.add")
def added(graph: Graph, node: Node) -> Change | None:
    """The addition of a tensor to the result of a layer, before the layer's activation or after it."""
    if node.attributes["function"] != "add":
        return None
    if graph.shape(node.inputs[0]) != graph.shape(node.inputs[1]):
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


@starts_from("Binary.add")
def gated(graph: Graph, node: Node) -> Change | None:
    """x + x * g, where g has one value for each channel: x * (g + 1), which reads and writes one image less."""
    if node.attributes["function"] != "add":
        return None
    for x, name in (node.inputs, node.inputs[::-1]):
        product = made(graph, name, "Binary", "multiply")
        if product is None or x not in product.inputs or graph.user(name) is not node:
            continue
        gate = product.inputs[1 - product.inputs.index(x)]
        if graph.types[gate].size * _SMALLER > graph.types[x].size or graph.shape(x) != graph.shape(node.output):
            continue
        parameters = Parameters(graph, node.output)
        one = parameters.add("B", np.ones((1,) * len(graph.shape(gate)), np.float32))
        more = free_name(graph, f"{node.output}.gate")
        plus = {"function": "add", "activation": IDENTITY}
        nodes = [
            Node("Binary", (gate, one), (more,), plus, product.origin),
            Node("Binary", (x, more), node.outputs, {**node.attributes, "function": "multiply"}, origins(product, node)),
        ]
        return Change([node, product], nodes, {**parameters.types, more: graph.types[gate]}, parameters.arrays)
    return None


def _layer(graph: Graph, name: str, node: Node) -> Node | None:
    """The layer that gives a term and can add the other one."""
    layer = graph.producer(name)
    if layer is None or layer.operator not in ADDING or input_at(layer, ADDED):
        return None
    if graph.user(name) is not node or node.inputs.count(name) != 1 or not (is_plain(layer) or is_plain(node)):
        return None
    return layer


def _cost(layer: Node) -> tuple[bool, bool]:
    """What decides between two layers: where an addition takes another pass over the result."""
    return not is_plain(layer), layer.operator == "Conv" and layer.attributes["group"] > 1


MATCHES = (gated, added)
