"""The one mechanism of all passes: small patterns of nodes are replaced by others.

A :class:`Draft` is the graph that all passes change. It keeps its nodes by operator, so that a pattern is tried from the
nodes alone from which it can start, and the nodes near each change, so that a pattern that has been looked for everywhere
is looked for near later changes only, whichever pass has made them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, NamedTuple

import numpy as np

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
_Order = tuple[int, ...]


#: Operators, with those of their functions that count; None for all.
Kinds = Mapping[str, "frozenset[str] | None"]


class _Start(NamedTuple):
    """The nodes from which a pattern starts, and operators of which it has at least one node."""

    kinds: Kinds
    needs: Sequence[str]


_STARTS: dict[Match, _Start] = {}


def starts_from(*kinds: str, needs: Sequence[str] = ()) -> Callable[[Match], Match]:
    """Says from which nodes a pattern starts; a pattern without it is tried from each node.

    kinds : operators, or with one of their functions, "Binary.add".
    needs : operators, of one of which the pattern has another node: it is not looked for in a graph without any of these.
    """
    found: dict[str, frozenset[str] | None] = {}
    for kind in kinds:
        operator, _, function = kind.partition(".")
        found[operator] = (found.get(operator) or frozenset()) | {function} if function else None

    def register(match: Match) -> Match:
        _STARTS[match] = _Start(found, needs)
        return match

    return register


def rewritten(graph: Graph, match: Match) -> Graph:
    """A graph with all changes that `match` finds, see :meth:`Draft.rewrite`."""
    draft = Draft(graph)
    with np.errstate(all="ignore"):
        draft.rewrite(match)
    return draft.finished()


class Draft(Graph):
    """A graph that is changed in place: each change costs time for the nodes near it, not for all nodes.

    It has no `nodes`: :meth:`ordered` has them.
    """

    def __init__(self, graph: Graph) -> None:
        needed, kept = set(graph.outputs), []
        for node in reversed(graph.nodes):
            if not needed.isdisjoint(node.outputs):
                needed.update(node.inputs)
                kept.append(node)
        needed.update(graph.inputs, *(node.outputs for node in kept))
        self.name, self.inputs, self.outputs = graph.name, graph.inputs, graph.outputs
        self.types = {name: of for name, of in graph.types.items() if name in needed}
        self.constants = {name: array for name, array in graph.constants.items() if name in needed}
        self.made_constants = list(self.constants)  # the names of all that there have been
        self.remembered: dict[Any, Any] = {}
        self._results = frozenset(self.outputs)
        self._producers: dict[str, Node] = {}
        self._readers: dict[str, dict[Node, None]] = {}
        self._order: dict[Node, _Order] = {}
        self._of: dict[str, dict[Node, None]] = {}  # nodes by operator
        self.added: list[Node] = []  # all that there have been
        for i, node in enumerate(reversed(kept)):
            self._add(node, (i,))
        self._touched: dict[Node, None] = {}  # since the last of the walks below, by changes
        #: Nodes that may be part of other patterns than before, after each of several changes; None for all nodes.
        self._walks: list[set[Node] | None] = [None]
        self._sizes = [0]  # of the first walks together
        self._last_of_all = 1  # the number of walks up to the last one of all nodes
        self._seen: dict[Any, int] = {}  # walks, by patterns

    # ---- questions

    def users(self, name: str) -> list[Node]:
        """The nodes that read a tensor, in any order."""
        return list(self._readers.get(name, ()))

    def user(self, name: str) -> Node | None:
        """The only node that reads a tensor; None if there are several, or if it is an output of the graph."""
        readers = self._readers.get(name, ())
        return next(iter(readers)) if len(readers) == 1 and name not in self._results else None

    @property
    def version(self) -> int:
        """Another one after each change."""
        return len(self._walks)

    def ordered(self, nodes: Iterable[Node] | None = None) -> list[Node]:
        """Nodes, by default all, in execution order."""
        return sorted(self._order if nodes is None else nodes, key=self._order.__getitem__)

    def nodes_of(self, operators: Sequence[str] | Kinds) -> list[Node]:
        """The nodes of some operators, or kinds, in execution order."""
        return self.ordered(self._nodes_of(operators if isinstance(operators, Mapping) else dict.fromkeys(operators)))

    def _nodes_of(self, kinds: Kinds) -> Iterable[Node]:
        found: list[Node] = []
        for operator, functions in kinds.items():
            nodes = self._of.get(operator, ())
            found += nodes if functions is None else [node for node in nodes if node.attributes["function"] in functions]
        return found

    def has(self, operators: Iterable[str]) -> bool:
        """Whether there are nodes of some operators."""
        return any(map(self._of.get, operators))

    def __contains__(self, node: Node) -> bool:
        return node in self._order

    def place(self, node: Node) -> _Order:
        """What orders nodes as they are executed."""
        return self._order[node]

    def finished(self) -> Graph:
        """The graph after the changes; patterns need nothing any more that they have remembered, such as constants."""
        self.remembered.clear()
        return Graph(self.name, self.ordered(), self.inputs, self.outputs, self.types, self.constants)

    # ---- patterns

    def rewrite(self, match: Match) -> None:
        """Applies all changes that `match` finds, starting from each node that has one output, until there are none.

        In one walk, a node is part of one change at most, and no change reads what another one has made superfluous; walks
        are repeated, over the nodes near the changes since the last walk for this pattern.
        """
        start = _STARTS.get(match)
        if start is not None and not (self.has(start.kinds) and (not start.needs or self.has(start.needs))):
            return
        waiting: Sequence[Node] = ()
        while nodes := self._unseen(match, start and start.kinds, waiting):
            changes, waiting = _found(self, match, nodes)
            self.apply(changes)

    def _unseen(self, match: Match, kinds: Kinds | None, waiting: Sequence[Node]) -> list[Node]:
        """The nodes from which a pattern can start, near changes since this was asked; and those that have waited."""
        seen, self._seen[match] = self._seen.get(match, 0), len(self._walks)
        if seen == len(self._walks) and not waiting:
            return []
        if seen < self._last_of_all or self._sizes[-1] - self._sizes[seen - 1] >= len(self._order):
            return self.ordered(self._order if kinds is None else self._nodes_of(kinds))
        near = set(waiting).union(*self._walks[seen:])  # type: ignore[arg-type]
        near.intersection_update(self._order)  # later changes have removed others
        if kinds is None:
            return self.ordered(near)
        operators = [node for node in near if node.operator in kinds]
        return self.ordered(node for node in operators if _is_of(node, kinds[node.operator]))

    def apply(self, changes: Sequence[Change]) -> None:
        """Makes changes, each where the last one of its removed nodes was, and removes what nothing needs any more."""
        if not changes:
            return
        unread: list[str] = []
        for change in changes:
            at = max(self._order[node] for node in change.removed)
            self.types.update(change.types)
            self.constants.update(change.constants)
            self.made_constants += change.constants
            for node in change.removed:
                unread += self._remove(node)
            for number, node in enumerate(change.added):
                self._add(node, at if len(change.added) == 1 else (*at, number))
                self._touched[node] = None
        self._drop(unread)
        self._end_walk()

    def _drop(self, unread: list[str]) -> None:
        """Removes tensors that nothing reads, and the nodes that nothing else needs."""
        readers, producers, results = self._readers, self._producers, self._results
        while unread:
            name = unread.pop()
            if readers.get(name) or name in results or name not in self.types or name in self.inputs:
                continue
            node = producers.get(name)
            if node is not None:
                if any(readers.get(each) or each in results for each in node.outputs):
                    continue
                unread += self._remove(node)
                for each in node.outputs:
                    del self.types[each]
            else:
                del self.types[name]
                self.constants.pop(name, None)

    def _end_walk(self) -> None:
        """Keeps what is near the changes."""
        touched = [node for node in self._touched if node in self._order]
        self._touched.clear()
        near = None if len(touched) * _MANY >= len(self._order) else self._near(touched)
        self._walks.append(near)
        self._sizes.append(self._sizes[-1] + len(near or ()))
        if near is None:
            self._last_of_all = len(self._walks)

    def _near(self, touched: Iterable[Node]) -> set[Node]:
        found, first = set(touched), set(touched)
        for step in (self._after, self._before):
            nodes = first
            for _ in range(_NEAR):
                nodes = {each for node in nodes for each in step(node)} - found
                if not nodes:
                    break
                found |= nodes
        return found

    def _after(self, node: Node) -> Iterable[Node]:
        return (user for name in node.outputs for user in self._readers.get(name, ()))

    def _before(self, node: Node) -> Iterable[Node]:
        return (producer for name in node.given if (producer := self._producers.get(name)) is not None)

    def _add(self, node: Node, at: _Order) -> None:
        self._order[node] = at
        self.added.append(node)
        if node.operator in self._of:
            self._of[node.operator][node] = None
        else:
            self._of[node.operator] = {node: None}
        for name in node.outputs:
            self._producers[name] = node
        for name in node.given:
            if name in self._readers:
                self._readers[name][node] = None
            else:
                self._readers[name] = {node: None}

    def _remove(self, node: Node) -> tuple[str, ...]:
        """Removes a node; returns what it has read and made."""
        del self._order[node]
        del self._of[node.operator][node]
        for name in node.outputs:
            if self._producers.get(name) is node:
                del self._producers[name]
        for name in node.given:
            readers = self._readers[name]
            del readers[node]
            if len(readers) == 1:  # the only one now, which patterns ask for
                self._touched.update(readers)
                if name in self._producers:
                    self._touched[self._producers[name]] = None
        return (*node.given, *node.outputs)


def _is_of(node: Node, functions: frozenset[str] | None) -> bool:
    return functions is None or node.attributes["function"] in functions


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
