"""Which nodes of a graph the library refuses, such as those of more dimensions than it has."""

from __future__ import annotations

from pysimd.network.binding import Binding
from pysimd.network.contexts import created
from pysimd.network.graph import Graph, Node
from pysimd.network.layouts import placed
from pysimd.network.lower import steps_of
from pysimd.network.unsupported import UnsupportedNode
from pysimd.network.views import Constant, View


def refused(graph: Graph) -> list[UnsupportedNode]:
    """The nodes that cannot be prepared, with the messages of the library; weights are not packed."""
    stored, found = placed(graph), []

    def view(name: str) -> View | None:
        if not name:
            return None
        of = stored.types[name]
        return Constant(name, stored.constants[name]) if name in stored.constants else View(name, of.dtype, of.shape)

    def check(node: Node) -> None:
        steps = steps_of(node, [view(name) for name in node.inputs], [view(name) for name in node.outputs])
        if steps.made is not None:
            created(steps.made, Binding(None, {}))

    for node in stored.nodes:
        try:
            check(node)
        except (ValueError, TypeError) as error:
            found.append(UnsupportedNode(", ".join(node.origin), node.operator, str(error)))
    return found
