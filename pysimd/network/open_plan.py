"""A plan with open sizes: made once for a model, and bound to each shape for which its conditions hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pysimd.network.calls import open_numbers
from pysimd.network.contexts import Contexts
from pysimd.network.graph import Graph, Node, Type
from pysimd.network.memory import Arrangement, Place, Plan, packed, packed_roots
from pysimd.network.program import Program, without_packed
from pysimd.network.runner import Runner
from pysimd.network.sizes import Sizes, sizes_in


class OpenPlan:
    """A graph of open sizes, its tensors in memory, and all that a runner of one shape needs.

    sizes : the open dimensions, with those of the example.
    graph : simplified, of these sizes.
    layout, contexts, outputs : as of :class:`~pysimd.network.program.Program`.
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
        self.sizes, self._operators, self._file = sizes, operators, file
        self._program = program = Program(graph, layout, contexts, outputs)
        contexts.remember(program.stored.constants.values())
        views = [(view.shape, view.strides, view.offset) for view in (*program.inputs.values(), *program.outputs.values())]
        self._numbers = list({id(size): size for size in open_numbers((program.steps, views))}.values())
        self._resolve = sizes.resolver(self._numbers)
        lives, types = program.arrangement.lives, program.arrangement.types
        self._roots = tuple(lives)
        self._bytes = sizes.resolver([types[name].nbytes for name in lives])
        self._described = _Described(sizes, without_packed(graph), without_packed(program.stored), program.arrangement)
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
        numbers = dict(zip(map(id, self._numbers), self._resolve(*values)))
        lives = self._program.arrangement.lives
        offsets, size = packed_roots(lives, dict(zip(self._roots, self._bytes(*values))))
        runner = Runner.of_program(self._program, numbers, offsets, size, lambda: self._described.resolved(values))
        runner.operators, runner.file = self._operators, self._file
        return runner


class _Described:
    """What reports of a runner show, for open sizes."""

    def __init__(self, sizes: Sizes, graph: Graph, stored: Graph, arrangement: Arrangement) -> None:
        self._arrangement, self._graphs = arrangement, (_Open(sizes, graph), _Open(sizes, stored))
        places = arrangement.places.values()
        self._places = sizes.resolver([(place.offset, place.shape, place.strides) for place in places])
        self._idle = [i for i, node in enumerate(stored.nodes) if node in arrangement.idle]

    def resolved(self, values: Sequence[int]) -> tuple[Graph, Graph, Plan]:
        """The graph, the graph of stored tensors, and the plan for these sizes."""
        graph, stored = (each.resolved(*values) for each in self._graphs)
        a = self._arrangement
        places = {
            name: Place(of.root, offset, shape, strides, of.itemsize)
            for (name, of), (offset, shape, strides) in zip(a.places.items(), self._places(*values))
        }
        plan = packed(Arrangement(places, stored.types, a.lives, frozenset(stored.nodes[i] for i in self._idle)))
        return graph, stored, plan


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
