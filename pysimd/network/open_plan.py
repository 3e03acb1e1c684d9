"""A plan with open sizes: made once for a model, and bound to each shape for which its conditions hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.binding import BoundSizes
from pysimd.network.calls import open_numbers
from pysimd.network.contexts import Contexts
from pysimd.network.graph import Graph, Node, Type
from pysimd.network.memory import Arrangement, Place, Places, Plan, packed_roots, together
from pysimd.network.open_arrays import OpenArray, is_array, release
from pysimd.network.program import Program, without_packed
from pysimd.network.runner import Runner
from pysimd.network.sizes import Sizes, sizes_in

_GROWTH = 2  # one part in so many is added to the places of tensors if the last ones were a little too small


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
        constants = program.stored.constants
        contexts.remember(array for array in constants.values() if not is_array(array))
        self._computed: list[tuple[str, Any]] = [each for each in program.constants.items() if is_array(each[1])]
        self._shapes = sizes.resolver([array.shape for _, array in self._computed])
        views = [(view.shape, view.strides, view.offset) for view in (*program.inputs.values(), *program.outputs.values())]
        found = {id(part): part for part in open_numbers((program.steps, views))}
        self._arrays = {key: part for key, part in found.items() if isinstance(part, OpenArray)}
        self._numbers = [key for key in found if key not in self._arrays]
        self._resolve = sizes.resolver([found[key] for key in self._numbers])
        self._found = found  # whose identities are these
        lives, types = program.arrangement.lives, program.arrangement.types
        self._roots, self._together = tuple(lives), together(lives)
        self._places: Places | None = None  # those that were found last
        self._bytes = sizes.resolver([types[name].nbytes for name in lives])
        self._described = _Described(sizes, program.graph, without_packed(program.stored), program.arrangement)
        self._hold = sizes.conditions_hold()  # last: what is above adds conditions
        release((*sizes.computed, *constants.values(), *self._arrays.values()))

    @property
    def conditions(self) -> tuple[str, ...]:
        """What must be true of the open dimensions, as expressions of Python."""
        return tuple(self.sizes.conditions)

    def holds(self, values: Sequence[int]) -> bool:
        """Whether the plan serves these sizes of the open dimensions, in their order."""
        holds = bool(self._hold(*values))
        if not holds:
            self.sizes.forget()
        return holds

    def bound(self, values: Sequence[int], released: Runner | None = None) -> Runner:
        """A runner for these sizes, for which the conditions must hold.

        released : one that nobody uses any more, which may become that for these sizes, or give its memory to it.
        """
        numbers: dict[int, Any] = dict(zip(self._numbers, self._resolve(*values)))
        numbers.update((key, np.asarray(array.at(values))) for key, array in self._arrays.items())
        shapes = zip(self._computed, self._shapes(*values))
        computed = {name: _at(array, values, Type(shape, array.dtype.name)) for (name, array), shape in shapes}
        self.sizes.forget()
        sizes = BoundSizes(numbers, computed)
        block = None
        if released is not None and not released.is_of(self._program):
            block, released = released.block, None
        of_roots = self._bytes(*values)
        places = (None if released is None else released.places_for(of_roots)) or self._places_for(of_roots)
        described = partial(self._described.resolved, values, places)
        if released is not None:
            released.move(sizes, places, described)
            return released
        runner = Runner.of_program(self._program, sizes, places, described, block)
        runner.operators, runner.file = self._operators, self._file
        return runner

    def _places_for(self, sizes: Sequence[int]) -> Places:
        """The places for roots of these bytes that were found last, if they are hardly too large; else new ones."""
        last = self._places
        if last is None or not last.fit(sizes, 1 + 1 / _GROWTH):
            total = sum(sizes)
            if last is not None and last.total < total < 2 * last.total:  # sizes may go on growing
                sizes = [n + n // _GROWTH for n in sizes]
            offsets, size = packed_roots(self._program.arrangement.lives, dict(zip(self._roots, sizes)), self._together)
            last = self._places = Places(sizes, sum(sizes), offsets, size)
        return last


class _Described:
    """What reports of a runner show, for open sizes."""

    def __init__(self, sizes: Sizes, graph: Graph, stored: Graph, arrangement: Arrangement) -> None:
        self._sizes, self._arrangement, self._graphs = sizes, arrangement, (_Open(sizes, graph), _Open(sizes, stored))
        places = arrangement.places.values()
        self._places = sizes.resolver([(place.offset, place.shape, place.strides) for place in places])
        self._idle = [i for i, node in enumerate(stored.nodes) if node in arrangement.idle]

    def resolved(self, values: Sequence[int], of_roots: Places) -> tuple[Graph, Graph, Plan]:
        """The graph, the graph of stored tensors, and the plan for these sizes, whose roots are in these places."""
        graph, stored = (each.resolved(*values) for each in self._graphs)
        self._sizes.forget()
        a = self._arrangement
        places = {
            name: Place(of.root, offset, shape, strides, of.itemsize)
            for (name, of), (offset, shape, strides) in zip(a.places.items(), self._places(*values))
        }
        idle = frozenset(stored.nodes[i] for i in self._idle)
        return graph, stored, Plan(places, stored.types, of_roots.offsets, of_roots.size, idle)


class _Open:
    """A graph of open sizes, to be resolved."""

    def __init__(self, sizes: Sizes, graph: Graph) -> None:
        self._graph = graph
        self._types = [name for name, of in graph.types.items() if sizes_in(of.shape)]
        self._nodes = [i for i, node in enumerate(graph.nodes) if sizes_in(dict(node.attributes))]
        self._arrays: dict[str, Any] = {name: array for name, array in graph.constants.items() if is_array(array)}
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
        arrays = {name: _at(array, values, types[name]) for name, array in self._arrays.items()}
        return self._graph.like(nodes, types).with_constants({**self._graph.constants, **arrays})


def _at(array: OpenArray, values: Sequence[int], of: Type) -> Array:
    """A constant for these sizes of the open dimensions."""
    found = np.asarray(array.at(values), order="C")
    if found.shape != of.shape or found.dtype != of.dtype:
        raise ValueError(f"a constant is {found.dtype} {found.shape}, expected {of}")
    return found
