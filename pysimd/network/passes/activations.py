"""Activations in the nodes whose results they take, if nothing else reads these."""

from __future__ import annotations

from typing import Any

from pysimd.network.graph import Graph, Node
from pysimd.network.operators import ACTIVATIONS, Activation
from pysimd.network.passes.patterns import input_at, is_plain, parameter, replacement
from pysimd.network.passes.rewrite import Change, starts_from

_TAKES = ("Binary", "Conv", "ConvTranspose", "Linear")

# Functions of exponentials, which layers compute of whole vectors of outputs. Where a pixel has few, most of a vector is
# unused: sigmoid in a convolution 16x320x320 -> 2 takes 2250 us, in a step of its own 43 (Emerald Rapids, avx512).
_DEAR = ("elu", "gelu", "mish", "sigmoid", "swish")
_FEW = 12
_SMALL = 1024  # outputs for which a separate step is slower


@starts_from(*_TAKES)
def activated(graph: Graph, node: Node) -> Change | None:
    """A node whose only user is an activation."""
    user = graph.user(node.output) if is_plain(node) else None
    if user is None or (input_at(node, 3) and node.attributes["order"] != "add"):
        return None
    found = _activation(graph, node, user)
    attributes: dict[str, Any] = {**node.attributes, "activation": found}
    return None if found is None else replacement([user, node], node.operator, node.inputs, attributes)


def _activation(graph: Graph, node: Node, user: Node) -> Activation | None:
    """What a node computes, as the activation of another one."""
    if user.operator == "Prelu" and node.operator != "Binary":
        axis = 1 if node.operator.startswith("Conv") else len(graph.shape(node.output)) - 1
        slopes = parameter(graph, user, 1)
        same = slopes is not None and user.attributes["axis"] % len(graph.shape(node.output)) == axis
        return ("prelu", tuple(slopes.reshape(-1).tolist())) if same and slopes is not None else None
    if user.operator != "Unary" or user.attributes["function"] not in ACTIVATIONS:
        return None
    function, params = user.attributes["function"], tuple(user.attributes["params"])
    if function in _DEAR and _has_few_outputs(graph, node):
        return None
    if function == "sigmoid":  # layers have the one whose slope is 1
        return ("sigmoid", ()) if params == (1.0,) else None
    return function, params


def _has_few_outputs(graph: Graph, node: Node) -> bool:
    """Whether a layer has few outputs for each of many pixels. Of one, convolutions compute several pixels at once."""
    of = graph.types[node.output]
    if node.operator == "Binary" or of.size < _SMALL:
        return False
    outputs = of.shape[-1] if node.operator == "Linear" else of.shape[1]
    least = 2 if node.operator == "Conv" else 1
    return bool(node.attributes.get("group", 1) == 1 and least <= outputs < _FEW)


MATCHES = (activated,)
