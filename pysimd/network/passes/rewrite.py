"""The one mechanism of all passes: small patterns of nodes are replaced by others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Callable

from pysimd.annotations import Array
from pysimd.network.graph import Graph, Node, Type
from pysimd.network.records import EMPTY, record

_MANY = 16  # after changes in one of so many nodes, all are looked at again
_NEAR = 8  # steps between nodes of one pattern


@record(frozen=True)
class Change:
    """Nodes that replace others. The outputs of the new nodes that other nodes read have their former names.

    types, constants : of tensors that the graph does not have yet.
    """

    removed: Sequence[Node]
    added: Sequence[Node]
    types: Mapping[str, Type] = EMPTY
    constants: Mapping[str, Array] = EMPTY


Match = Callable[[Graph, Node], "Change | None"]
_STARTS: dict[Match, tuple[str, ...]] = {}


def starts_from(*operators: str) -> Callable[[Match], Match]:
    """Says from which nodes a pattern starts; a pattern without it is tried from each node."""

    def register(match: Match) -> Match:
        _STARTS[match] = operators
        return match

    return register


def rewritten(graph: Graph, match: Match) -> Graph:
    """Applies all changes that `match` finds, starting from each node that has one output, until there are none.

    In one walk, a node is part of one change at most, and no change reads what another one has made superfluous; walks are
    repeated. After a walk with few changes, the next one is over the nodes near them, so that a chain of changes, of which
    each makes the next one possible, costs no walk over the graph for each.
    """
    while match not in graph.settled:
        starts = _STARTS.get(match)
        changes, again = _found(graph, match, graph.nodes_of(starts) if starts else graph.nodes)
        if not changes:
            graph.settled.add(match)
            break
        if len(changes) * _MANY >= len(graph.nodes):
            graph = _changed(graph, changes)
            continue
        draft = _Draft(graph)
        draft.apply(changes)
        while changes:
            nodes = draft.near(changes, again)
            changes, again = _found(draft, match, [node for node in nodes if not starts or node.operator in starts])
            draft.apply(changes)
        graph = draft.finished()
    return graph


def _found(graph: Graph, match: Match, nodes: Iterable[Node]) -> tuple[list[Change], list[Node]]:
    """The changes from these nodes, and those of the nodes whose change must wait for the next walk."""
    changes: list[Change] = []
    again: list[Node] = []
    gone: set[Node] = set()
    lost: set[str] = set()  # tensors that no node gives any more
    read: set[str] = set()  # by new nodes
    for node in nodes:
        change = None if node in gone or len(node.outputs) > 1 else match(graph, node)
        if change is None:
            continue
        made = {name for each in change.added for name in each.outputs}
        reads = {name for each in change.added for name in each.given} - made
        loses = {name for each in change.removed for name in each.outputs} - made
        if gone.intersection(change.removed) or lost & reads or read & loses:
            again.append(node)
            continue
        gone.update(change.removed)
        lost |= loses
        read |= reads
        changes.append(change)
    return changes, again


def _changed(graph: Graph, changes: Sequence[Change]) -> Graph:
    """The graph after changes, each where the last one of its removed nodes was."""
    place = {node: number for number, node in enumerate(graph.nodes)}
    added: dict[int, Sequence[Node]] = {}
    types: dict[str, Type] = {}
    constants: dict[str, Array] = {}
    gone: set[Node] = set()
    for change in changes:
        gone.update(change.removed)
        added[max(place[node] for node in change.removed)] = change.added
        types.update(change.types)
        constants.update(change.constants)
    left: list[Node] = []
    for number, node in enumerate(graph.nodes):
        if node not in gone:
            left.append(node)
        left += added.get(number, ())
    return graph.replaced(left, types, constants)


class _Draft(Graph):
    """A graph to which a few changes at a time are made, without a walk over all of its nodes."""

    def __init__(self, graph: Graph) -> None:
        self.__dict__.update(graph.__dict__)
        self.types, self.constants = dict(graph.types), dict(graph.constants)
        self._producers = dict(graph._producers)
        self._readers: dict[str, dict[Node, None]] = {}  # of tensors whose users have changed
        self._order: dict[Node, tuple[int, ...]] = {node: (i,) for i, node in enumerate(graph.nodes)}

    def users(self, name: str) -> list[Node]:
        """The nodes that read a tensor, in any order."""
        return list(self._readers[name]) if name in self._readers else super().users(name)

    def apply(self, changes: Sequence[Change]) -> None:
        """Makes changes as :func:`_changed` does, and removes what nothing needs any more."""
        unread: list[str] = []
        for change in changes:
            at = max(self._order[node] for node in change.removed)
            self.types.update(change.types)
            self.constants.update(change.constants)
            for node in change.removed:
                unread += self._removed(node)
            for number, node in enumerate(change.added):
                self._order[node] = (*at, number)
                self._producers.update((name, node) for name in node.outputs)
                for name in node.given:
                    self._read(name)[node] = None
        while unread:
            name = unread.pop()
            node_before = self.producer(name)
            names = (name,) if node_before is None else node_before.outputs
            if any(each in self.inputs or self.is_output(each) or self._read(each) for each in names):
                continue
            if node_before is not None:
                unread += self._removed(node_before)
            for each in names:
                self.types.pop(each, None)
                self.constants.pop(each, None)

    def near(self, changes: Sequence[Change], more: Iterable[Node]) -> list[Node]:
        """The nodes near new ones, in execution order, with some more."""
        found = {node for node in more if node in self._order}
        added = {node for change in changes for node in change.added if node in self._order}
        for step in (self._after, self._before):
            nodes = added
            for _ in range(_NEAR):
                found |= nodes
                nodes = {each for node in nodes for each in step(node)} - found
        return sorted(found, key=self._order.__getitem__)

    def finished(self) -> Graph:
        """The graph after the changes."""
        return self.replaced(sorted(self._order, key=self._order.__getitem__))

    def _after(self, node: Node) -> Iterable[Node]:
        return (user for name in node.outputs for user in self.users(name))

    def _before(self, node: Node) -> Iterable[Node]:
        return (producer for name in node.given if (producer := self.producer(name)) is not None)

    def _removed(self, node: Node) -> tuple[str, ...]:
        """Removes a node; returns what it has read and made."""
        del self._order[node]
        for name in node.outputs:
            if self._producers.get(name) is node:
                del self._producers[name]
        for name in node.given:
            self._read(name).pop(node)
        return (*node.given, *node.outputs)

    def _read(self, name: str) -> dict[Node, None]:
        """The users of a tensor, which change."""
        if name not in self._readers:
            self._readers[name] = dict.fromkeys(super().users(name))
        return self._readers[name]
