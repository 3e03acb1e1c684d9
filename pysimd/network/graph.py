"""The representation of a network: nodes that apply operators to tensors, in an order in which they can be computed.

The operators are those of :mod:`pysimd.network.operators`. All shapes are known; numbers that do not change, like weights,
are constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.records import EMPTY, cached, record, replace


@cache
def name_of(dtype: np.dtype[Any]) -> str:
    """The name of a type; NumPy finds it anew each time, in 2 us."""
    return str(dtype.name)


@record(frozen=True)
class Type:
    """What is known of a tensor before it is computed; dtype is a name of NumPy."""

    shape: Shape
    dtype: str = "float32"

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self.size * np.dtype(self.dtype).itemsize

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}"


@record(frozen=True, eq=False)  # a node is equal only to itself
class Node:
    """An application of an operator; inputs and outputs are names of tensors, "" for an optional input that is missing.

    origin : the names, in the file, of the nodes that it computes, for reports.
    """

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = EMPTY
    origin: tuple[str, ...] = ()

    @cached
    def output(self) -> str:
        """The output of a node that has only one."""
        (name,) = self.outputs
        return name

    @cached
    def given(self) -> tuple[str, ...]:
        """The inputs that are not missing, each once."""
        inputs = self.inputs
        return inputs if len(inputs) == 1 and inputs[0] else tuple(dict.fromkeys(filter(None, inputs)))

    def changed(self, **attributes: Any) -> Node:
        """The node with other attributes."""
        return replace(self, attributes={**self.attributes, **attributes})


class Graph:
    """Nodes in execution order, the types of all tensors, and the arrays of the constant ones.

    Raises ValueError if a node reads what no earlier node produces, or if two produce the same tensor.
    """

    def __init__(
        self,
        name: str,
        nodes: Iterable[Node],
        inputs: Iterable[str],
        outputs: Iterable[str],
        types: Mapping[str, Type],
        constants: Mapping[str, Array],
    ) -> None:
        self.name = name
        self.nodes = tuple(nodes)
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.types, self.constants = dict(types), dict(constants)
        #: What passes have found for nodes and constants, which the graphs that are made of this one have, too.
        self.remembered: dict[Any, Any] = {}
        self._link()

    def users(self, name: str) -> list[Node]:
        """The nodes that read a tensor, in execution order."""
        return self._users.get(name, [])

    def user(self, name: str) -> Node | None:
        """The only node that reads a tensor; None if there are several, or if it is an output of the graph."""
        users = self.users(name)
        return users[0] if len(users) == 1 and name not in self._results else None

    def producer(self, name: str) -> Node | None:
        """The node that computes a tensor; None for inputs and constants."""
        return self._producers.get(name)

    def shape(self, name: str) -> Shape:
        """The shape of a tensor."""
        return self.types[name].shape

    def is_output(self, name: str) -> bool:
        """Whether a tensor is an output of the graph."""
        return name in self._results

    def nodes_of(self, operators: Sequence[str]) -> list[Node]:
        """The nodes of some operators, in execution order."""
        found = [place for operator in operators for place in self._places.get(operator, ())]
        return [self.nodes[place] for place in (found if len(operators) == 1 else sorted(found))]

    def replaced(
        self,
        nodes: Iterable[Node],
        types: Mapping[str, Type] | None = None,
        constants: Mapping[str, Array] | None = None,
    ) -> Graph:
        """The graph with other nodes and further tensors; what nothing uses is left out.

        Nodes without a use for the outputs of the graph are dropped, and so are their tensors.
        """
        all_types, all_constants = {**self.types, **(types or {})}, {**self.constants, **(constants or {})}
        made = needed(self.name, tuple(nodes), self.inputs, self.outputs, all_types, all_constants)
        made.remembered = self.remembered
        return made

    def like(self, nodes: Sequence[Node], types: Mapping[str, Type]) -> Graph:
        """The same graph with other shapes: nodes in the same order with the same inputs and outputs."""
        made = object.__new__(Graph)
        made.__dict__.update(self.__dict__, nodes=tuple(nodes), types=dict(types), remembered={})
        made._link()
        return made

    def with_constants(self, constants: Mapping[str, Array]) -> Graph:
        """The graph with other arrays of the same types."""
        made = object.__new__(Graph)
        made.__dict__.update(self.__dict__, constants=dict(constants), remembered={})
        return made

    def _link(self) -> None:
        self._results = frozenset(self.outputs)
        self._producers: dict[str, Node] = {}
        self._users: dict[str, list[Node]] = {}
        self._places: dict[str, list[int]] = {}  # of nodes, by operator
        producers, users, known = self._producers, self._users, {*self.inputs, *self.constants}
        types, places = self.types, self._places
        for place, node in enumerate(self.nodes):
            if node.operator in places:
                places[node.operator].append(place)
            else:
                places[node.operator] = [place]
            for read in node.inputs:
                if read in users:
                    if users[read][-1] is not node:
                        users[read].append(node)
                elif read in producers or read in known:
                    users[read] = [node]
                elif read:
                    raise ValueError(f"{node.operator} reads {read!r}, which no earlier node produces")
            for made in node.outputs:
                if made in producers or made in known:
                    raise ValueError(f"{node.operator} produces {made!r}, which already exists")
                if made not in types:
                    raise ValueError(f"the type of {made!r} is not given")
                producers[made] = node
        for name in self.outputs:
            if name not in producers and name not in known:
                raise ValueError(f"no node produces the output {name!r}")


def needed(
    name: str,
    nodes: Sequence[Node],
    inputs: Iterable[str],
    outputs: Iterable[str],
    types: Mapping[str, Type],
    constants: Mapping[str, Array],
) -> Graph:
    """The graph of those of the nodes and tensors that its outputs need."""
    read, kept = set(outputs), []
    for node in reversed(nodes):
        if not read.isdisjoint(node.outputs):
            read.update(node.inputs)
            kept.append(node)
    known = {*read, *inputs, *(made for node in kept for made in node.outputs)}
    return Graph(
        name,
        reversed(kept),
        inputs,
        outputs,
        {name: of for name, of in types.items() if name in known},
        {name: array for name, array in constants.items() if name in known},
    )
