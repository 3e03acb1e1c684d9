"""Cuts the nodes of a model into the parts of a course, see :mod:`pysimd.network.courses.course`.

Nodes get stages: each the earliest in which its inputs are there. The nodes of one stage that are planned together are a
segment; operators of the host, and control, follow it, each as a part of its own. A node that needs the value of a tensor,
such as the sizes of a Reshape, has a later stage than what computes this tensor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pysimd.annotations import Array
from pysimd.network.convert.at_run_time import SHAPE_INPUTS
from pysimd.network.convert.conversion import full_name
from pysimd.network.convert.fold import evaluate
from pysimd.network.courses import host_sequences  # noqa: F401  which registers operators
from pysimd.network.courses.host_operators import HOST_OPERATORS, OF_SEQUENCES
from pysimd.network.records import EMPTY, record, replace
from pysimd.network.source import Source, SourceNode, free, needed

#: Inputs by operator whose values decide shapes or the choice of an algorithm. Others are found by the conversion.
VALUE_INPUTS: Mapping[str, tuple[int, ...]] = {
    "Compress": (1,),
    "ConstantOfShape": (0,),
    "Expand": (1,),
    "Pad": (1, 2, 3),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Tile": (1, 2),
    "Unsqueeze": (1,),
    "Upsample": (1,),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), (1, 2, 3)),
    **SHAPE_INPUTS,
}
_RESHAPING = ("Flatten", "Reshape", "Squeeze", "Unsqueeze")
LOOPS = ("Loop", "Scan", "SequenceMap")
#: What is known of a tensor: it is the same in each run, or depends on shapes alone, or on values.
CONSTANT, OF_SHAPES, OF_VALUES = range(3)


@record(frozen=True, eq=False)
class Scope:
    """What is constant in a graph, with what is constant around it.

    nodes : those that depend on constants alone, by their outputs; segments have copies of them.
    fallback : Python functions by operators, as of :func:`pysimd.network.convert.graph_of`.
    """

    name: str
    opset: int
    fallback: Mapping[str, Any]
    weights: Mapping[str, Array]
    nodes: Mapping[str, SourceNode] = EMPTY

    def within(self, source: Source) -> Scope:
        """That of a graph in this one, whose nodes of the operator Constant are weights."""
        weights = {**self.weights, **source.weights}
        nodes = dict(self.nodes)
        for node in source.nodes:
            if any(isinstance(each, Source) for each in node.attributes.values()) or full_name(node) in self.fallback:
                continue
            if all(name in weights or name in nodes for name in node.inputs if name) and not _is_random(node):
                found = evaluate(node, (), self.opset) if node.op == "Constant" else None
                if found is not None:
                    weights[node.outputs[0]] = found[0]
                elif full_name(node) not in OF_SEQUENCES:
                    nodes.update((name, node) for name in node.outputs if name)
        return replace(self, weights=weights, nodes=nodes)

    def has(self, name: str) -> bool:
        """Whether a tensor is constant."""
        return name in self.weights or name in self.nodes

    def needed(self, names: Iterable[str]) -> list[SourceNode]:
        """The constant nodes of which these tensors are computed, in order."""
        found: dict[int, SourceNode] = {}

        def add(name: str) -> None:
            node = self.nodes.get(name)
            if node is not None and id(node) not in found:
                for each in node.inputs:
                    add(each)
                found[id(node)] = node

        for name in names:
            add(name)
        return list(found.values())


@record(frozen=True, eq=False)
class Cut:
    """The nodes of a part.

    inputs : what it reads of other parts, and of the inputs of the graph.
    outputs : what others read.
    values : inputs whose values must be known when a segment is planned.
    sizes : inputs that depend on shapes alone, whose values are known if they are few numbers.
    """

    nodes: Sequence[SourceNode]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    values: frozenset[str] = frozenset()
    sizes: frozenset[str] = frozenset()
    planned: bool = True


@dataclass
class Needs:
    """What conversions have found: the tensors whose values nodes need, and the If nodes that no segment can have."""

    values: dict[SourceNode, set[str]] = field(default_factory=dict)
    apart: set[SourceNode] = field(default_factory=set)


def is_apart(node: SourceNode, known: Mapping[str, int], scope: Scope, needs: Needs) -> bool:
    """Whether a node is a part of its own."""
    name = full_name(node)
    if name in scope.fallback or f"ai.onnx.{name}" in scope.fallback:
        return False
    if name in LOOPS or name in OF_SEQUENCES or node in needs.apart:
        return True
    if name == "If":
        inner = [each for each in node.attributes.values() if isinstance(each, Source)]
        return known.get(node.inputs[0], CONSTANT) == OF_VALUES or any(_has_apart(each, scope) for each in inner)
    deciding = node.inputs[1:] if name == "Compress" else node.inputs
    return name in HOST_OPERATORS and any(known.get(each, CONSTANT) != CONSTANT for each in deciding)


def _has_apart(source: Source, scope: Scope) -> bool:
    """Whether a branch has something that no segment can have, however its inputs are known."""
    for node in source.nodes:
        name = full_name(node)
        if name not in scope.fallback and (name in LOOPS or name in OF_SEQUENCES or name in HOST_OPERATORS):
            return True
        if any(_has_apart(each, scope) for each in node.attributes.values() if isinstance(each, Source)):
            return True
    return False


def _is_random(node: SourceNode) -> bool:
    return node.op.startswith("Random") or node.op in ("Bernoulli", "Multinomial")


class Partition:
    """The parts of a graph, in the order in which they run.

    given : the names of its inputs, and of what it reads of graphs around it that is not constant.
    """

    def __init__(self, source: Source, given: Collection[str], scope: Scope, needs: Needs) -> None:
        self._scope, self._needs = scope, needs
        self._known = dict.fromkeys(given, OF_VALUES)
        self._as_data, self._as_value = dict.fromkeys(given, 0), dict.fromkeys(given, 0)  # first stages that can read them
        self._segments: dict[int, list[SourceNode]] = {}
        self._valued: set[str] = set()  # tensors whose values nodes of later segments need
        self._apart: dict[int, list[SourceNode]] = {}
        for node in source.nodes:
            self._place(node)
        results = [value.name for value in source.outputs]
        self._postpone(results)
        self.cuts = self._cuts(results)

    def _place(self, node: SourceNode) -> None:
        """Gives a node its stage, and tells what is known of its outputs."""
        outputs = list(filter(None, node.outputs))
        if all(map(self._scope.has, outputs)):
            return
        read = [name for name in node.reads if not self._scope.has(name)]
        if is_apart(node, self._known, self._scope, self._needs):
            stage = max((self._as_data[name] for name in read), default=0)
            self._apart.setdefault(stage, []).append(node)
            known, as_data, as_value = OF_VALUES, stage + 1, stage + 1
        else:
            needed = self._needed(node)
            self._valued.update(needed)
            stage = max((self._as_value[name] if name in needed else self._as_data[name] for name in read), default=0)
            self._segments.setdefault(stage, []).append(node)
            known, as_data, as_value = self._knowledge(node, read), stage, stage + 1
        self._known.update(dict.fromkeys(outputs, known))
        self._as_data.update(dict.fromkeys(outputs, as_data))
        self._as_value.update(dict.fromkeys(outputs, as_value))

    def _postpone(self, results: Sequence[str]) -> None:
        """Moves nodes that give another shape to a tensor to the segment that reads it: inside of one, they cost nothing."""
        stages: dict[str, int] = {}  # in which a tensor is read first; 0 if it is not by a segment
        stages.update((name, 0) for nodes in self._apart.values() for node in nodes for name in node.reads)
        stages.update(dict.fromkeys(results, 0))
        for stage in sorted(self._segments, reverse=True):
            for node in reversed(list(self._segments[stage])):
                first = min((stages.get(name, stage) for name in node.outputs), default=0)
                is_plain = full_name(node) in _RESHAPING and all(map(self._scope.has, node.inputs[1:]))
                if first > stage and is_plain and self._valued.isdisjoint(node.outputs):
                    self._segments[stage].remove(node)
                    self._segments[first].insert(0, node)
                else:
                    first = stage
                stages.update((name, min(stages.get(name, first), first)) for name in node.reads)

    def _knowledge(self, node: SourceNode, read: Sequence[str]) -> int:
        name = full_name(node)
        if name in self._scope.fallback or _is_random(node):
            return OF_VALUES
        return OF_SHAPES if name in ("Shape", "Size") else max((self._known[each] for each in read), default=OF_SHAPES)

    def _needed(self, node: SourceNode) -> set[str]:
        """The inputs whose values a node needs, which the segment that computes them does not know."""
        name = full_name(node)
        places = () if name in self._scope.fallback else VALUE_INPUTS.get(name, ())
        names = {node.inputs[i] for i in places if i < len(node.inputs)}
        return {each for each in names if self._known.get(each) == OF_VALUES} | self._needs.values.get(node, set())

    def _cuts(self, results: Sequence[str]) -> list[Cut]:
        of_segments = {stage: self._read_by(nodes) for stage, nodes in self._segments.items()}
        of_others = {name for nodes in self._apart.values() for node in nodes for name in node.reads} | set(results)
        computed = {name for name in of_others if name in self._scope.nodes}
        if computed:
            of_segments.setdefault(0, {})
        cuts = []
        for stage in sorted({*of_segments, *self._apart}):
            if stage in of_segments:
                nodes = self._segments.get(stage, [])
                made = {name for node in nodes for name in node.outputs if name} | (computed if stage == 0 else set())
                others = of_others.union(*(read for other, read in of_segments.items() if other != stage))
                cut = self._segment(nodes, of_segments[stage], [name for name in made if name in others])
                cuts += [cut] if cut.outputs else []
            for node in self._apart.get(stage, ()):
                inputs = tuple(sorted(name for name in node.reads if not self._scope.has(name)))
                cuts.append(Cut([node], inputs, tuple(node.outputs), planned=False))
        return cuts

    def _read_by(self, nodes: Sequence[SourceNode]) -> dict[str, None]:
        """What a segment reads of other parts."""
        made = {name for node in nodes for name in node.outputs}
        return {name: None for node in nodes for name in node.reads if name not in made and not self._scope.has(name)}

    def _segment(self, nodes: Sequence[SourceNode], inputs: Collection[str], outputs: Sequence[str]) -> Cut:
        values = {name for node in nodes for name in self._needed(node)}
        constants = self._scope.needed([*(name for node in nodes for name in node.reads), *outputs])
        return Cut(
            [*constants, *nodes],
            tuple(sorted(inputs)),
            tuple(sorted(outputs)),
            frozenset(values.intersection(inputs)),
            frozenset(name for name in inputs if self._known[name] == OF_SHAPES),
        )


def captured(source: Source, scope: Scope) -> list[str]:
    """What a graph reads of those around it that is not constant."""
    return sorted(name for name in free(source) if not scope.has(name))


def without_copies(source: Source, fallback: Mapping[str, Any]) -> Source:
    """The graph, whose results are those of which some Identity nodes have copies."""
    of = {
        node.outputs[0]: node.inputs[0]
        for node in source.nodes
        if full_name(node) == "Identity" and "Identity" not in fallback and "ai.onnx.Identity" not in fallback
    }
    outputs, changed = [], False
    for value in source.outputs:
        name = value.name
        while name in of:
            name, changed = of[name], True
        outputs.append(replace(value, name=name))
    return needed(replace(source, outputs=outputs)) if changed else source


def top_of(node: SourceNode, nodes: Iterable[SourceNode]) -> SourceNode | None:
    """The node of these that is this one, or has it in a subgraph."""
    return next((each for each in nodes if each is node or _contains(each, node)), None)


def _contains(outer: SourceNode, node: SourceNode) -> bool:
    inner = [each for each in outer.attributes.values() if isinstance(each, Source)]
    return any(top_of(node, each.nodes) is not None for each in inner)


def is_cut(source: Source, fallback: Mapping[str, Any]) -> bool:
    """Whether a model may have more than one part; quickly, as this is asked for each model."""
    scope = Scope(source.name, source.opset, fallback, {}).within(source)
    return _is_cut(source, {value.name for value in (*source.inputs, *source.overridable)}, scope)


def _is_cut(source: Source, given: Collection[str], scope: Scope) -> bool:
    cuts = Partition(source, given, scope, Needs()).cuts
    if len(cuts) > 1 or any(not cut.planned or cut.values for cut in cuts):
        return True
    graphs = [each for node in source.nodes for each in node.attributes.values() if isinstance(each, Source)]
    scopes = [scope.within(each) for each in graphs]
    inputs = [[value.name for value in each.inputs] for each in graphs]
    return any(_is_cut(each, [*captured(each, own), *names], own) for each, own, names in zip(graphs, scopes, inputs))
