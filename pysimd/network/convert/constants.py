"""What the library computes once, during the conversion: operators of known inputs for which ``fold`` has no function."""

from __future__ import annotations

from collections.abc import Mapping

from pysimd.annotations import Array
from pysimd.network.graph import Graph
from pysimd.network.passes import simplified
from pysimd.network.runner import Runner

_MOST_BYTES = 1 << 28  # of all tensors: larger ones are computed at run time, in the block, where they share memory


def computed(graph: Graph) -> Mapping[str, Array] | None:
    """The outputs of a graph without inputs; None if its tensors are large.

    Raises ValueError for a node that cannot be computed.
    """
    if sum(graph.types[name].nbytes for node in graph.nodes for name in node.outputs) > _MOST_BYTES:
        return None
    return Runner(simplified(graph))({})
