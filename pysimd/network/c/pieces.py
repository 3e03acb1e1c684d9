"""Pieces of a segment, which programs in C have where the segment chooses by a number that is computed: TopK and its k.

In Python, such a number is a size of the plan of the segment, which is bound for its value at each run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pysimd.network.c.slots import Slot
from pysimd.network.convert.conversion import full_name
from pysimd.network.courses.course import Course, Segment
from pysimd.network.courses.partition import Cut
from pysimd.network.source import SourceNode


class Piece(Segment):
    """Some nodes of a segment.

    whole : all of them.
    """

    def __init__(self, course: Course, cut: Cut, whole: Cut) -> None:
        super().__init__(course, cut)
        self.whole = whole


def around_choices(course: Course, part: Segment, env: Mapping[str, Any]) -> list[Piece | SourceNode]:
    """The nodes before the first TopK whose k is computed, this node, and the others; nothing if there is none."""
    nodes = part.cut.nodes
    node = next((each for each in nodes if _chooses(each, part.cut, env)), None)
    if node is None:
        return []
    behind, made = [], set(node.outputs)
    for each in nodes:
        if each is not node and not made.isdisjoint(each.reads):
            behind.append(each)
            made.update(each.outputs)
    constants = [each for each in nodes if all(map(course.scope.has, filter(None, each.outputs)))]
    before = [each for each in nodes if each is not node and each not in behind]
    wanted = {*part.cut.outputs, *node.reads, *(name for each in behind for name in each.reads)}
    given = {name for each in before for name in each.outputs if name in wanted}
    first = _piece(course, part, before, {name for name in given if name in part.cut.outputs or not course.scope.has(name)})
    last = _piece(course, part, [*constants, *behind], made.intersection(part.cut.outputs).difference(node.outputs))
    return [*([first] if first.cut.outputs else []), node, *([last] if last.cut.outputs else [])]


def _chooses(node: SourceNode, cut: Cut, env: Mapping[str, Any]) -> bool:
    """Whether it is a TopK whose k is known at run time only."""
    if full_name(node) != "TopK" or len(node.inputs) < 2 or node.inputs[1] not in cut.values:
        return False
    k = env.get(node.inputs[1])
    return isinstance(k, Slot) and k.known is None


def _piece(course: Course, part: Segment, nodes: Sequence[SourceNode], outputs: set[str]) -> Piece:
    """What is known before one piece is known in the next one."""
    made = {name for node in nodes for name in node.outputs}
    needed = {name for node in nodes for name in node.reads}
    inputs = {name for name in needed if name not in made and not course.scope.has(name)}
    cut, others = part.cut, inputs.difference(part.cut.inputs)
    return Piece(
        course,
        Cut(nodes, tuple(sorted(inputs)), tuple(sorted(outputs)), cut.values & inputs, cut.sizes & inputs | others),
        part.whole if isinstance(part, Piece) else cut,
    )
