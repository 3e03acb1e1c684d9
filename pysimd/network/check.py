"""Which nodes of a graph the library refuses, such as those of more dimensions than it has."""

from __future__ import annotations

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert import UnsupportedNode
from pysimd.network.graph import Graph
from pysimd.network.layouts import placed
from pysimd.network.lower import check


def refused(graph: Graph) -> list[UnsupportedNode]:
    """The nodes that cannot be prepared, with the messages of the library; weights are not packed."""
    stored, found = placed(graph), []

    def array(name: str) -> Array | None:
        if not name:
            return None
        of = stored.types[name]
        return stored.constants[name] if name in stored.constants else np.empty(of.shape, of.dtype)

    for node in stored.nodes:
        try:
            check(node, [array(name) for name in node.inputs], [array(name) for name in node.outputs])
        except (ValueError, TypeError) as error:
            found.append(UnsupportedNode(", ".join(node.origin), node.operator, str(error)))
    return found
