"""Segments of a course in C: each is a program of its own, in which the values that Python would know are constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pysimd.annotations import Shape
from pysimd.network.c.chosen import add_choice
from pysimd.network.c.pieces import Piece, around_choices
from pysimd.network.c.rows import axes_behind
from pysimd.network.c.slots import Env, Rows, Slot, known, refused, value_of
from pysimd.network.c.writer import Writer
from pysimd.network.convert import UnsupportedModel, graph_of
from pysimd.network.convert.conversion import full_name
from pysimd.network.courses.course import Course, Segment
from pysimd.network.courses.partition import VALUE_INPUTS, Cut
from pysimd.network.graph import Graph
from pysimd.network.passes import simplified
from pysimd.network.runners import Lease
from pysimd.network.source import Source, SourceNode, Value, with_values


def add_segment(w: Writer, course: Course, part: Segment, env: Env) -> None:
    """Adds the call of its program; or the lines of its pieces, if it has nodes that choose."""
    pieces = around_choices(course, part, env)
    rows = {name: each for name in part.cut.inputs for each in (env.get(name),) if isinstance(each, Rows)}
    if pieces:
        for each in pieces:
            if isinstance(each, SourceNode):
                add_choice(w, course, each, env)
            else:
                add_segment(w, course, each, env)
    elif rows:
        _add_behind_rows(w, course, part, env, rows)
    else:
        _add_program(w, course, part, env)


def _add_program(w: Writer, course: Course, part: Segment, env: Env) -> None:
    """Adds a program for the outputs that are not known, and are not inputs in another shape."""
    slots = {name: value_of(course, env, name) for name in part.cut.inputs}
    values: dict[str, Any] = {name: slot.known for name, slot in slots.items()}
    if part.needs_no_plan(values):
        part.run(values, None, Lease())
        env.update((name, known(values[name])) for name in part.cut.outputs)
        return
    graph = _graph(course, part, slots)
    names = dict(zip(part.cut.outputs, graph.outputs))
    found = {name: _given(graph, of, slots) for name, of in names.items()}
    env.update((name, slot) for name, slot in found.items() if slot is not None)
    wanted = [of for name, of in names.items() if found[name] is None]
    made = w.computed(graph, wanted, slots) if wanted else {}
    env.update((name, made[of]) for name, of in names.items() if of in made)


def _add_behind_rows(w: Writer, course: Course, part: Segment, env: Env, rows: Mapping[str, Rows]) -> None:
    """Adds a segment that computes each row by itself: it computes as many as there can be."""
    cut, own = part.cut, dict(env)
    own.update((name, each.slot) for name, each in rows.items())
    node: Any = next(node for node in cut.nodes if not rows.keys().isdisjoint(node.reads))
    if len({each.passes.offset for each in rows.values()}) == 1 and cut.values.isdisjoint(rows):
        axes = axes_behind(
            cut.nodes,
            {name: each.axis for name, each in rows.items()},
            _shapes(course, part, {name: value_of(course, own, name) for name in cut.inputs}),
            course.scope.weights.get,
            course.scope.opset,
        )
        if isinstance(axes, dict):
            add_segment(w, course, part, own)
            passes = next(iter(rows.values())).passes
            for name in cut.outputs:
                found: Any = own[name]
                env[name] = Rows(found, passes, axes[name]) if name in axes else found
            return
        node = axes
    names = " and ".join(repr(name) for name in rows)
    raise refused(node, f"it does not compute each row by itself, and the size of {names} depends on values")


def _shapes(course: Course, part: Segment, slots: Mapping[str, Slot]) -> dict[str, Shape]:
    """The shapes of all tensors of a segment."""
    made = [name for node in part.cut.nodes for name in node.outputs if name]
    graph = _graph(course, part, slots, made)
    shapes = {name: np.shape(array) for name, array in course.scope.weights.items()}
    shapes.update((name, slot.shape) for name, slot in slots.items())
    return {**shapes, **{name: graph.shape(of) for name, of in zip(made, graph.outputs)}}


def _graph(course: Course, part: Segment, slots: Mapping[str, Slot], results: Sequence[str] | None = None) -> Graph:
    """The graph of a segment, in which the values that its runs would know are constants.

    results : its outputs, in place of those of the segment.
    """
    cut = part.cut
    for name in sorted(cut.values):
        if slots[name].known is None:
            raise refused(_user(cut, name), f"it needs the value of {name!r}, which is known at run time only")
    constants = {
        name: slot.known
        for name, slot in slots.items()
        if slot.known is not None and (name in cut.values or part.numbers(name, slot.known) is not None)
    }
    inputs = [Value(name, slot.dtype.name, slot.shape) for name, slot in slots.items() if name not in constants]
    outputs = [Value(name, "", None) for name in (cut.outputs if results is None else results)]
    source = Source(course.source.name, course.scope.opset, inputs, outputs, cut.nodes, course.scope.weights)
    shapes = {value.name: slots[value.name].shape for value in inputs}
    try:
        return simplified(graph_of(with_values(source, constants), shapes, course.scope.fallback))
    except UnsupportedModel as error:
        course.refuse(part.whole if isinstance(part, Piece) else cut, error)
        raise


def _given(graph: Graph, name: str, slots: Mapping[str, Slot]) -> Slot | None:
    """An output of a segment, if it is a constant or an input in another shape; else None."""
    shape, producer = graph.shape(name), graph.producer(name)
    while producer is not None and producer.operator == "Reshape":
        name = producer.inputs[0]
        producer = graph.producer(name)
    if name in graph.constants:
        return known(graph.constants[name].reshape(shape))
    return slots[name].reshaped(shape) if name in slots else None


def _user(cut: Cut, name: str) -> SourceNode:
    """The node of a segment that needs a value."""
    readers = [node for node in cut.nodes if name in node.reads]
    needing = [
        node
        for node in readers
        if name in (node.inputs[i] for i in VALUE_INPUTS.get(full_name(node), ()) if i < len(node.inputs))
    ]
    return (needing or readers)[0]
