"""Scattering of rows: graph networks gather rows of nodes along edges and add them at the other ends."""

from __future__ import annotations

from pysimd.network.graph import Graph, Node, Type
from pysimd.network.passes.patterns import Parameters, free_name, is_plain, made, parameter, replacement
from pysimd.network.passes.rewrite import Change, starts_from


@starts_from("ScatterElements")
def whole_rows(graph: Graph, node: Node) -> Change | None:
    """Elements of which one index selects whole rows of the first axis are parts, which ScatterNd changes."""
    x, indices, updates = node.inputs
    shape, (count, *rest) = graph.shape(x), graph.shape(indices)
    if node.attributes["axis"] != 0 or not rest or any(not isinstance(n, int) or n != 1 for n in rest):
        return None
    if graph.shape(updates) != (count, *shape[1:]):  # or one index for all rows
        return None
    attributes = {"reduction": node.attributes["reduction"]}
    if len(rest) == 1:
        return replacement([node], "ScatterNd", node.inputs, attributes)
    known = graph.constants.get(indices)
    if known is not None:
        parameters = Parameters(graph, node.output)
        inputs = (x, parameters.add("I", known.reshape((count, 1))), updates)
        return replacement([node], "ScatterNd", inputs, attributes, parameters)
    column = free_name(graph, f"{node.output}.I")
    first = Node("Reshape", (indices,), (column,), {"shape": (count, 1)}, node.origin)
    second = Node("ScatterNd", (x, column, updates), node.outputs, attributes, node.origin)
    return Change([node], [first, second], {column: Type((count, 1), "int64")})


@starts_from("ScatterNd", needs=("Gather",))
def gathered(graph: Graph, node: Node) -> Change | None:
    """Updates that are rows of a matrix are gathered as they are applied."""
    gather = made(graph, node.inputs[2], "Gather") if len(node.inputs) == 3 else None
    if gather is None or gather.attributes["axis"] != 0 or graph.user(gather.output) is not node:
        return None
    if graph.shape(gather.inputs[1]) != graph.shape(node.inputs[1])[:-1]:
        return None
    return replacement([node, gather], "ScatterNd", (*node.inputs[:2], *gather.inputs), node.attributes)


@starts_from("Binary.add", needs=("ScatterNd",))
def begun(graph: Graph, node: Node) -> Change | None:
    """What is added to a sum of updates that begins with zeros is what it begins with."""
    for place, name in enumerate(node.inputs):
        scatter, first = made(graph, name, "ScatterNd"), node.inputs[1 - place]
        if scatter is None or not is_plain(node) or scatter.attributes["reduction"] != "add":
            continue
        zeros = parameter(graph, scatter, 0)
        if zeros is None or zeros.dtype != "float32" or graph.user(name) is not node:
            continue
        if graph.types[first] == graph.types[name] and not zeros.any():
            return replacement([node, scatter], "ScatterNd", (first, *scatter.inputs[1:]), scatter.attributes)
    return None


MATCHES = (whole_rows, gathered, begun)
