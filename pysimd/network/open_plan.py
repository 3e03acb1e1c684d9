"""A plan with open sizes: made once for a model, and bound to each shape for which its conditions hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pysimd.network.contexts import Contexts
from pysimd.network.graph import Graph, Node, Type
from pysimd.network.layouts import placed
from pysimd.network.memory import Arrangement, Place, arranged, packed
from pysimd.network.operators import refuse_computed_weights
from pysimd.network.runner import Runner, without_packed
from pysimd.network.sizes import Sizes, sizes_in


class OpenPlan:
    """A graph of open sizes, its tensors in memory, and all that a runner of one shape needs.

    sizes : the open dimensions, with those of the example.
    graph : simplified, of these sizes.
    layout, contexts, outputs : as of :class:`~pysimd.network.runner.Runner`.
    operators, file : those of the file, and its path, for reports.
    """

    def __init__(
        self,
        sizes: Sizes,
        graph: Graph,
        layout: str,
        contexts: Contexts,
        outputs: Iterable[str],
        operators: tuple[str, ...],
        file: str,
    ) -> None:
        refuse_computed_weights(graph)
        self.sizes, self._layout, self._contexts = sizes, layout, contexts
        self._outputs, self._operators, self._file = tuple(outputs), operators, file
        self._stored = placed(graph, layout)
        self._arrangement = arranged(self._stored)
        self._constants = self._stored.constants
        contexts.remember(self._constants.values())
        self._light = tuple(_Open(sizes, without_packed(each)) for each in (graph, self._stored))
        places, idle = self._arrangement.places, self._arrangement.idle
        self._idle = [i for i, node in enumerate(self._stored.nodes) if node in idle]
        self._place = sizes.resolver([(place.offset, place.shape, place.strides) for place in places.values()])
        self._hold = sizes.conditions_hold()  # last: what is above adds conditions

    @property
    def conditions(self) -> tuple[str, ...]:
        """What must be true of the open dimensions, as expressions of Python."""
        return tuple(self.sizes.conditions)

    def holds(self, values: Sequence[int]) -> bool:
        """Whether the plan serves these sizes of the open dimensions, in their order."""
        return bool(self._hold(*values))

    def bound(self, values: Sequence[int]) -> Runner:
        """A runner for these sizes, for which the conditions must hold."""
        graph, light = (each.resolved(*values) for each in self._light)
        a = self._arrangement
        places = {
            name: Place(of.root, offset, shape, strides, of.itemsize)
            for (name, of), (offset, shape, strides) in zip(a.places.items(), self._place(*values))
        }
        plan = packed(Arrangement(places, light.types, a.lives, frozenset(light.nodes[i] for i in self._idle)))
        stored = light.with_constants(self._constants)
        runner = Runner.of_plan(graph, stored, plan, self._layout, self._contexts, self._outputs)
        runner.placed, runner.operators, runner.file = light, self._operators, self._file
        return runner


class _Open:
    """A graph of open sizes, to be resolved."""

    def __init__(self, sizes: Sizes, graph: Graph) -> None:
        self._graph = graph
        self._types = [name for name, of in graph.types.items() if sizes_in(of.shape)]
        self._nodes = [i for i, node in enumerate(graph.nodes) if sizes_in(dict(node.attributes))]
        self._shapes = sizes.resolver([graph.types[name].shape for name in self._types])
        self._attributes = sizes.resolver([dict(graph.nodes[i].attributes) for i in self._nodes])

    def resolved(self, *values: int) -> Graph:
        """The graph of these sizes of the open dimensions."""
        types, nodes = dict(self._graph.types), list(self._graph.nodes)
        for name, shape in zip(self._types, self._shapes(*values)):
            types[name] = Type(shape, types[name].dtype)
        for i, attributes in zip(self._nodes, self._attributes(*values)):
            old = nodes[i]
            nodes[i] = Node(old.operator, old.inputs, old.outputs, attributes, old.origin)
        return self._graph.like(nodes, types)
