"""A course in C: what :class:`pysimd.network.courses.course.Course` runs, as branches and loops for known shapes.

Each segment is a program of its own. The tensors that parts pass to each other have places in the block, where the programs
read and write them: only results of branches and rows of loops are copied. A large state of a loop and its next value
change places after each pass. What is known when the program is written, such as sizes that follow from shapes, is no tensor
of the program.

This file writes the function of the model. The parts of a course are in `segments`, `branches` and `loops`, which add to a
`writer`; branches and loops get a function `run` that adds the course of a body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

from pysimd.annotations import Shape
from pysimd.network.c import chosen
from pysimd.network.c.branches import add_branch
from pysimd.network.c.loops import add_loop, add_scan
from pysimd.network.c.memory import Memory
from pysimd.network.c.program import Function
from pysimd.network.c.segments import add_segment
from pysimd.network.c.slots import Env, Refused, Rows, Slot, known, refused, value_of
from pysimd.network.c.writer import Writer
from pysimd.network.convert import graph_of
from pysimd.network.convert.conversion import full_name
from pysimd.network.courses.control import Branch, Loop, Scan
from pysimd.network.courses.course import Course, HostPart, OtherCuts, Segment
from pysimd.network.courses.host_operators import OF_SEQUENCES
from pysimd.network.passes import simplified
from pysimd.network.runners import Lease
from pysimd.network.source import Source, SourceNode, Value
from pysimd.network.views import View

_TO_NHWC, _TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)


def functions_of(course: Course, shapes: Sequence[Mapping[str, Shape]], layout: str) -> list[Function]:
    """The functions of a course for several shapes of its inputs.

    layout : as of :class:`pysimd.network.program.Program`.

    Raises ValueError, with the node, for what cannot be written.
    """
    functions: list[Function] = []
    for number, each in enumerate(shapes):
        first = sum(len(function.programs) for function in functions)
        functions.append(_function(course, each, layout, f"course_{number}", first))
    return functions


def _function(course: Course, shapes: Mapping[str, Shape], layout: str, function: str, first: int) -> Function:
    """Runs a course with tensors whose values are not known, and writes the lines that compute these.

    function : its name.
    first : the number of the first of its programs.
    """
    w = Writer(course.shared.contexts, first, course.shared.most_passes)
    inputs: dict[str, Slot] = {}
    given: Env = {}
    for value in course.source.inputs:
        name, shape = value.name, shapes[value.name]
        moved = layout == "nhwc" and len(shape) == 4
        inputs[name] = w.slot(_dtype(value), [shape[i] for i in _TO_NHWC] if moved else shape)
        given[name] = _transposed(w, inputs[name], _TO_NCHW) if moved else inputs[name]
    results = dict(zip(course.names, _run(w, course, given, of_model=True)))
    rows = {name: each.passes for name, each in results.items() if isinstance(each, Rows)}
    outputs = {name: _result(w, each, inputs, layout) for name, each in results.items()}

    def text(model: str, memory: Memory) -> str:
        return f"static int {function}(struct {model} * m) {{\n    (void)m;\n{w.text(memory)}\n    return 1;\n}}"

    return Function(
        function,
        [part.placed(w.size) for part in w.parts],
        _views(inputs),
        _views(outputs),
        {str(slot.offset): slot.offset for slot in (*inputs.values(), *outputs.values(), *rows.values())},
        w.size,
        text,
        _views(rows),
        w.places,
    )


def _result(w: Writer, result: Slot | Rows, inputs: Mapping[str, Slot], layout: str) -> Slot:
    """A tensor for a result of the model, which is no input."""
    if isinstance(result, Rows) and prod(result.slot.shape[: result.axis]) != 1:
        if layout == "nhwc" and len(result.slot.shape) == 4:
            why = "an output of four dimensions, of which not the first one depends on values, has no other layout"
            raise Refused(f"the model cannot be written as C: {why}")
        return chosen.dense(w, result)
    slot = result.slot if isinstance(result, Rows) else result
    if slot.offset in {-1, *(each.offset for each in inputs.values())}:
        slot = w.copied(slot)
    return _transposed(w, slot, _TO_NHWC) if layout == "nhwc" and len(slot.shape) == 4 else slot


def _transposed(w: Writer, slot: Slot, order: Sequence[int]) -> Slot:
    node = SourceNode("Transpose", ("x",), ("y",), {"perm": list(order)})
    source = Source("", 13, [Value("x", slot.dtype.name, slot.shape)], [Value("y", "", None)], [node], {})
    return w.computed(simplified(graph_of(source, {"x": slot.shape})), ["y"], {"x": slot})["y"]


def _dtype(value: Value) -> str:
    return "float32" if value.dtype in ("float16", "bfloat16") else value.dtype


def _views(slots: Mapping[str, Slot]) -> dict[str, View]:
    return {name: View(str(slot.offset), slot.dtype, slot.shape) for name, slot in slots.items()}


# ---- the parts of a course


def _run(w: Writer, course: Course, env: Env, *, of_model: bool = False) -> list[Any]:
    """Adds the lines of a course, and returns its outputs; those of a model may be :class:`Rows`."""
    while True:
        mark = w.mark()
        found = dict(env)
        try:
            for part in course.parts:
                _add_part(w, course, part, found)
            if of_model:
                rows = {name: each for name, each in found.items() if isinstance(each, Rows)}
                return [rows.get(name) or value_of(course, found, name) for name in course.outputs]
            return [value_of(course, found, name) for name in course.outputs]
        except OtherCuts:
            w.return_to(mark)


def _add_part(w: Writer, course: Course, part: Any, env: Env) -> None:
    run = partial(_run, w)
    if isinstance(part, Segment):
        add_segment(w, course, part, env)
    elif isinstance(part, HostPart):
        _add_host_part(w, course, part, env)
    elif isinstance(part, Branch):
        add_branch(w, run, course, part, env)
    elif isinstance(part, Loop):
        add_loop(w, run, course, part, env)
    elif isinstance(part, Scan):
        add_scan(w, run, course, part, env)
    else:
        raise refused(part.node, "programs in C have no sequences")


def _add_host_part(w: Writer, course: Course, part: HostPart, env: Env) -> None:
    """What Python computes, if it can do so now."""
    node = part.node
    if full_name(node) in OF_SEQUENCES:
        raise refused(node, "programs in C have no sequences")
    slots = [(name, value_of(course, env, name)) for name in node.inputs if name]
    found: dict[str, Any] = {name: slot.known for name, slot in slots if slot.known is not None}
    if len(found) < len(slots):
        chosen.add_choice(w, course, node, env)
        return
    part.run(found, None, Lease())
    env.update((name, known(found[name])) for name in node.outputs if name)
