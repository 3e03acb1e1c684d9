"""Element-wise functions before the Reshapes and Transposes that they follow, if a layer before these can compute them."""

from __future__ import annotations

from typing import Any

from pysimd.network.graph import Graph, Node, Type
from pysimd.network.operators import ACTIVATIONS, IDENTITY
from pysimd.network.passes.affine import line_of
from pysimd.network.passes.patterns import LINES, Parameters, free_name, input_at, is_plain, made, origins, same_axis
from pysimd.network.passes.rewrite import Change, starts_from
from pysimd.network.records import replace

_MOVES = ("Reshape", "Transpose")
_LAYERS = ("ChannelNorm", "Conv", "ConvTranspose", "LayerNorm", "Linear")


@starts_from(*LINES, "Prelu", "Scale", "Unary", needs=_MOVES)
def lifted(graph: Graph, node: Node) -> Change | None:
    """One element-wise function, or a scale along an axis."""
    x = node.inputs[0] if node.inputs else ""
    if len(node.outputs) != 1 or not x or not any(_is_moved(graph, name) for name in node.inputs[:2]):
        return None
    line = line_of(graph, node)
    if line is not None:
        x, axis = line[0], line[1].axis
    elif node.operator == "Prelu" and is_plain(node):
        axis = node.attributes["axis"] % len(graph.shape(x))
    elif node.operator == "Unary" and node.attributes["function"] in ACTIVATIONS:
        axis = None
    else:
        return None
    moves, axis = _moves(graph, node, x, axis)
    base = _layer(graph, moves[-1]) if moves else None
    if base is None or (line is None and base.operator in ("ChannelNorm", "LayerNorm")):
        return None
    return _before(graph, node, moves, axis)


def _is_moved(graph: Graph, name: str) -> bool:
    """Whether a tensor is the output of a Reshape or a Transpose, which is found sooner than a line."""
    producer = graph.producer(name)
    return producer is not None and producer.operator in _MOVES


def _layer(graph: Graph, user: Node) -> Node | None:
    """The layer before a node, maybe with a scale after it."""
    base = graph.producer(user.inputs[0])
    while base is not None and len(base.outputs) == 1 and graph.user(base.output) is user:
        if base.operator in _LAYERS:
            return base if is_plain(base) and not input_at(base, 3) else None
        line = line_of(graph, base)
        if line is None:
            return None
        user, base = base, graph.producer(line[0])
    return None


def _moves(graph: Graph, node: Node, x: str, axis: int | None) -> tuple[list[Node], int | None]:
    """The Reshapes and Transposes before a node, the last one first, and the axis before them."""
    moves: list[Node] = []
    user = node
    while (before := made(graph, x, "Reshape") or made(graph, x, "Transpose")) is not None and graph.user(x) is user:
        (x,) = before.inputs
        if axis is not None and before.operator == "Transpose":
            axis = before.attributes["perm"][axis]
        elif axis is not None:
            found = same_axis(graph.shape(x), graph.shape(before.output), axis)
            if found is None:
                return [], axis
            axis = found
        moves.append(before)
        user = before
    return moves, axis


def _before(graph: Graph, node: Node, moves: list[Node], axis: int | None) -> Change:
    """The node with the input of the first move, and then the moves."""
    source = moves[-1].inputs[0]
    rank = len(graph.shape(source))
    parameters = Parameters(graph, node.output)
    attributes: dict[str, Any] = dict(node.attributes)
    inputs, operator = [source, *node.inputs[1:]], node.operator
    line = line_of(graph, node)
    if operator == "Binary" and line is not None:
        if axis is None:
            place = 1 if node.inputs[0] == line[0] else 0
            value = graph.constants[node.inputs[place]].reshape((1,) * rank)
            inputs = [source, parameters.add("B", value)] if place else [parameters.add("B", value), source]
        else:
            terms = (line[1].scale, line[1].bias)
            names = [parameters.add(kind, each.astype("float32")) for kind, each in zip("SB", terms)]
            operator, inputs, attributes = "Scale", [source, *names], {"activation": IDENTITY}
    if axis is not None:
        attributes["axis"] = axis
    types: dict[str, Type] = dict(parameters.types)
    name = free_name(graph, f"{node.output}.lifted")
    types[name] = graph.types[source]
    nodes = [Node(operator, tuple(inputs), (name,), attributes, node.origin)]
    for number, move in enumerate(reversed(moves)):
        last = number == len(moves) - 1
        after = node.output if last else free_name(graph, f"{node.output}.moved{number}")
        types[after] = graph.types[move.output]
        nodes.append(replace(move, inputs=(name,), outputs=(after,)))
        name = after
    return Change([node, *moves], nodes, types, parameters.arrays)


@starts_from("Binary", needs=_MOVES)
def lifted_pair(graph: Graph, node: Node) -> Change | None:
    """A function of two tensors of equal shapes that are moved in the same way."""
    a, b = node.inputs
    for operator in _MOVES:
        first, second = made(graph, a, operator), made(graph, b, operator)
        if first is None or second is None or first is second or not graph.user(a) is graph.user(b) is node:
            continue
        source = graph.shape(first.inputs[0])
        if source == graph.shape(second.inputs[0]) and graph.shape(a) == graph.shape(b) and _equal(first, second):
            name = free_name(graph, f"{node.output}.lifted")
            nodes = [
                replace(node, inputs=(first.inputs[0], second.inputs[0]), outputs=(name,)),
                replace(first, inputs=(name,), outputs=node.outputs, origin=origins(first, second)),
            ]
            return Change([node, first, second], nodes, {name: graph.types[first.inputs[0]]})
    return None


def _equal(first: Node, second: Node) -> bool:
    return first.operator == "Reshape" or tuple(first.attributes["perm"]) == tuple(second.attributes["perm"])


MATCHES = (lifted, lifted_pair)
