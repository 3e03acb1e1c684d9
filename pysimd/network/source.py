"""What the file of a model says, whatever its format: nodes, weights, inputs and outputs."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Union

from pysimd.annotations import Array
from pysimd.errors import printable
from pysimd.network.records import EMPTY, cached, record, replace

#: A dimension: a number, the name of one that the file leaves open, or None.
Dimension = Union[int, str, None]


@record(frozen=True)
class Value:
    """An input or an output; dims is None if the file has no shape for it."""

    name: str
    dtype: str
    dims: tuple[Dimension, ...] | None


@record(frozen=True, eq=False)
class SourceNode:
    """An application of an operator of ONNX.

    attributes : ints, floats, strings, lists of these, arrays, and a :class:`Source` for a subgraph.
    """

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = EMPTY
    name: str = ""
    domain: str = ""

    @property
    def subgraphs(self) -> Sequence[Source]:
        """Those among its attributes."""
        return [value for value in self.attributes.values() if type(value) is Source]

    @cached
    def reads(self) -> AbstractSet[str]:
        """Its inputs, with what its subgraphs read from outside."""
        names, subgraphs = set(self.inputs), self.subgraphs
        names.discard("")
        return names.union(*map(free, subgraphs)) if subgraphs else names


@record(frozen=True, eq=False)
class Source:
    """A model, or a subgraph of one. Nodes are in an order in which they can be computed.

    opset : the version of the operators of ONNX.
    weights : arrays by name, read from the file when they are used, where that is possible.
    overridable : the weights that can be given as inputs.
    values : the weights that are inputs in the file the model comes from, see :func:`with_values`.
    file : the path that it was read from; "" if it was not read from a path.
    """

    name: str
    opset: int
    inputs: Sequence[Value]
    outputs: Sequence[Value]
    nodes: Sequence[SourceNode]
    weights: Mapping[str, Array]
    overridable: Sequence[Value] = ()
    values: Sequence[str] = ()
    file: str = ""


def with_values(source: Source, arrays: Mapping[str, Array]) -> Source:
    """The same source, with these weights in place of some inputs, or of weights that can be given as inputs."""
    inputs, overridable = (
        [value for value in each if value.name not in arrays] for each in (source.inputs, source.overridable)
    )
    weights, values = {**source.weights, **arrays}, (*source.values, *arrays)
    return replace(source, inputs=inputs, overridable=overridable, weights=weights, values=values)


def in_order(source: Source, outer: AbstractSet[str] = frozenset()) -> Source:
    """The same source, with nodes in an order in which they can be computed; those that are in one already stay in it.

    Nodes and weights that no output needs are left out; an output of a node that nothing reads becomes "", a missing one.

    outer : names that a subgraph can read from the graphs around it.

    Raises ValueError for a name that two tensors have, or that no node produces, and for cycles.
    """
    inputs = [value.name for value in source.inputs]
    made = [name for node in source.nodes for name in node.outputs if name]
    _refuse_equal([*made, *source.weights, *inputs])
    given = {*outer, *source.weights, *inputs}.difference(made)
    every = given.union(made)
    for value in source.outputs:
        if value.name not in every:
            raise ValueError(f"no node produces the output {value.name!r}")
    nodes = [_with_subgraphs_in_order(node, every) for node in _sorted(source.nodes, given, every)]
    return needed(replace(source, nodes=nodes))


def _refuse_equal(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        repeated = [name for name, count in Counter(names).items() if count > 1]
        raise ValueError(f"two tensors have the name {repeated[0]!r}")


def needed(source: Source) -> Source:
    """What the outputs need."""
    wanted, kept = {value.name for value in source.outputs}, []
    wanted.discard("")
    for node in reversed(source.nodes):
        if wanted.isdisjoint(node.outputs):
            continue
        if not wanted.issuperset(node.outputs):
            node = replace(node, outputs=tuple(name if name in wanted else "" for name in node.outputs))
        kept.append(node)
        wanted |= node.reads
    weights = {name: array for name, array in source.weights.items() if name in wanted}
    values = [name for name in source.values if name in weights]
    return replace(source, nodes=kept[::-1], weights=weights, values=values)


def _with_subgraphs_in_order(node: SourceNode, outer: AbstractSet[str]) -> SourceNode:
    if not node.subgraphs:
        return node
    attributes = {
        name: in_order(value, outer) if isinstance(value, Source) else value for name, value in node.attributes.items()
    }
    return replace(node, attributes=attributes)


def _are_sorted(nodes: Sequence[SourceNode], read: Sequence[AbstractSet[str]], given: Iterable[str]) -> bool:
    """Whether each node reads only what is given, or what nodes before it make."""
    known = set(given)
    for node, names in zip(nodes, read):
        if not known.issuperset(names):
            return False
        known.update(node.outputs)
    return True


def _sorted(nodes: Sequence[SourceNode], given: AbstractSet[str], every: AbstractSet[str]) -> Sequence[SourceNode]:
    """Each node as early in the list as its inputs allow, and no earlier than those before it that can be computed.

    given : what no node makes.
    every : with what nodes make.
    """
    read = [node.reads for node in nodes]
    if _are_sorted(nodes, read, given):  # as those of nearly all files
        return nodes
    maker = {name: i for i, node in enumerate(nodes) for name in node.outputs if name}
    readers: list[list[int]] = [[] for _ in nodes]
    missing = [0] * len(nodes)
    for i, names in enumerate(read):
        for name in names:
            if name not in every:
                raise ValueError(f"{name_of(nodes[i])} reads {name!r}, which no node produces")
        makers = {maker[name] for name in names if name in maker}
        missing[i] = len(makers)
        for j in makers:
            readers[j].append(i)
    ready, found = [i for i, count in enumerate(missing) if not count], []
    while ready:  # a heap, so that the order of the file decides where there is a choice
        i = heapq.heappop(ready)
        found.append(nodes[i])
        for j in readers[i]:
            missing[j] -= 1
            if not missing[j]:
                heapq.heappush(ready, j)
    if len(found) < len(nodes):
        i = next(i for i, count in enumerate(missing) if count)
        name = next(name for name in read[i] if name in maker and missing[maker[name]])
        raise ValueError(f"{name_of(nodes[i])} reads {name!r}, which depends on a cycle of nodes")
    return found


def label_of(node: SourceNode) -> str:
    """The name of a node, or that of its first output."""
    return node.name or next(iter(filter(None, node.outputs)), "")


def name_of(node: SourceNode) -> str:
    """A node in a message."""
    return printable(f"the node {label_of(node)!r} ({node.op})")


def free(source: Source) -> set[str]:
    """What a subgraph reads from outside."""
    own = {*source.weights, *(value.name for value in source.inputs), *_made(source.nodes)}
    names = {value.name for value in source.outputs}
    for node in source.nodes:
        names |= node.reads
    return names - own


def _made(nodes: Iterable[SourceNode]) -> set[str]:
    return {name for node in nodes for name in node.outputs}
