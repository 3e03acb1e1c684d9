"""Two or three convolutions in sequence as one merged convolution: an inverted residual block, with its addition."""

from __future__ import annotations

from typing import Any

from pysimd.network.graph import Graph, Node
from pysimd.network.passes.patterns import activation, input_at, is_plain, replacement
from pysimd.network.passes.rewrite import Change, starts_from


@starts_from("Conv")
def merged(graph: Graph, node: Node) -> Change | None:
    """An expansion, a depthwise convolution and a projection, without the first one or without the last one."""
    chain: list[Node] = []
    now: Node | None = node
    for stage in (0, 1, 2) if _fits(graph, node, 0) else (1, 2):
        if now is None or not _fits(graph, now, stage) or (chain and now.inputs[0] != chain[-1].output):
            break
        chain.append(now)
        now = graph.user(now.output)
    if len(chain) < 2:
        return None
    addition = now if len(chain) == 3 and now is not None and _adds(graph, now, chain) else None
    first = 0 if _fits(graph, node, 0) else 1
    stages = [_stage(conv, first + place == 1) for place, conv in enumerate(chain)]
    if addition is not None:
        stages[-1]["activation"] = activation(addition)
    inputs = [node.inputs[0], *(input_at(conv, place) for conv in chain for place in (1, 2))]
    removed = [*([addition] if addition is not None else []), *reversed(chain)]
    attributes = {"stages": tuple(stages), "residual": addition is not None}
    return replacement(removed, "MergedConvolution", inputs, attributes)


def _fits(graph: Graph, node: Node, stage: int) -> bool:
    """Whether a merged convolution supports a node as its expansion (0), depthwise convolution (1), or projection (2)."""
    if node.operator != "Conv" or input_at(node, 3) or node.inputs[1] not in graph.constants:
        return False
    (o, part, ky, kx), count, strides = graph.shape(node.inputs[1]), node.attributes["group"], node.attributes["strides"]
    if ky != kx or strides[0] != strides[1] or max(strides) > 3 or max(node.attributes["dilations"]) > 1:
        return False
    if stage == 1:
        return bool(count == o == count * part) and ky in (3, 5, 7)
    if stage == 2 and any(node.attributes["pads"]):
        return False
    return bool(count == 1) and (ky in (1, 3) if stage == 0 else ky == max(strides) == 1)


def _adds(graph: Graph, node: Node, chain: list[Node]) -> bool:
    """Whether a node adds the image from which a chain starts."""
    if node.operator != "Binary" or node.attributes["function"] != "add" or not is_plain(chain[-1]):
        return False
    source = chain[0].inputs[0]
    return set(node.inputs) == {source, chain[-1].output} and graph.shape(source) == graph.shape(node.output)


def _stage(node: Node, depthwise: bool) -> dict[str, Any]:
    return {
        "strides": node.attributes["strides"],
        "pads": node.attributes["pads"],
        "activation": activation(node),
        "depthwise": depthwise,
    }


MATCHES = (merged,)
