"""The one mechanism of all passes: small patterns of nodes are replaced by others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Callable

from pysimd.annotations import Array
from pysimd.network.graph import Graph, Node, Type


@dataclass(frozen=True)
class Change:
    """Nodes that replace others. The outputs of the new nodes that other nodes read have their former names.

    types, constants : of tensors that the graph does not have yet.
    """

    removed: Sequence[Node]
    added: Sequence[Node]
    types: Mapping[str, Type] = field(default_factory=dict)
    constants: Mapping[str, Array] = field(default_factory=dict)


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

    In one walk over the graph, a node is part of one change at most, and no change reads what another one has made
    superfluous; walks are repeated.
    """
    while match not in graph.settled:
        changed = _walk(graph, match)
        if changed is None:
            graph.settled.add(match)
        else:
            graph = changed
    return graph


def _walk(graph: Graph, match: Match) -> Graph | None:
    nodes = graph.nodes_of(_STARTS[match]) if match in _STARTS else graph.nodes
    place: dict[Node, int] = {}
    gone: set[Node] = set()
    lost: set[str] = set()  # tensors that no node gives any more
    read: set[str] = set()  # by new nodes
    added: dict[int, list[Node]] = {}
    types: dict[str, Type] = {}
    constants: dict[str, Array] = {}
    for node in nodes:
        change = None if node in gone or len(node.outputs) > 1 else match(graph, node)
        if change is None or gone.intersection(change.removed):
            continue
        if not place:
            place = {each: number for number, each in enumerate(graph.nodes)}
        made = {name for each in change.added for name in each.outputs}
        reads = {name for each in change.added for name in each.given} - made
        loses = {name for each in change.removed for name in each.outputs} - made
        if lost & reads or read & loses:
            continue
        gone.update(change.removed)
        lost |= loses
        read |= reads
        added.setdefault(max(place[each] for each in change.removed), []).extend(change.added)
        types.update(change.types)
        constants.update(change.constants)
    if not gone:
        return None
    left: list[Node] = []
    for number, node in enumerate(graph.nodes):
        if node not in gone:
            left.append(node)
        left += added.get(number, ())
    return graph.replaced(left, types, constants)
