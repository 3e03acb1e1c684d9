"""Loop and Scan in C: what they compute before, in and behind the loop of :mod:`pysimd.network.c.passes`. A Loop whose
shapes change from pass to pass is written as one pass after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.network.c.passes import Names, Passes, Times, add_passes, place_of, repeat
from pysimd.network.c.slots import Env, Refused, Run, Slot, captured, condition_of, known, number_of, refused, value_of
from pysimd.network.c.writer import Writer
from pysimd.network.courses.control import Loop, Scan
from pysimd.network.courses.counted import Counted
from pysimd.network.courses.counted import Passes as Counts
from pysimd.network.courses.course import Course
from pysimd.network.source import SourceNode, name_of

_MOST_WRITTEN = 64  # passes, one after the other


# ---- Loop


def add_loop(w: Writer, run: Run, course: Course, part: Loop, env: Env) -> None:
    """Adds the lines of a Loop."""
    node = part.node
    trips, condition = (value_of(course, env, name) if name else None for name in part.inputs[:2])
    states = [value_of(course, env, name) for name in part.inputs[2:]]
    first = True if condition is None else condition_of(condition, node)
    bound, holds = _bound(part, env, trips, states)
    if first is False or (isinstance(bound, int) and bound <= 0):
        results: list[Any] = [*states, *map(_known_rows, part.no_rows(len(states)))]
    else:
        mark = w.mark()
        try:
            results = _repeated(w, run, part, env, states, bound, first, holds)
        except Refused:
            if not isinstance(bound, int) or bound > _MOST_WRITTEN or first is not True:
                raise
            w.return_to(mark)
            results = _one_by_one(w, run, part, env, states, bound)
    env.update((name, result) for name, result in zip(node.outputs, results) if name)


def _bound(part: Loop, env: Env, trips: Slot | None, states: Sequence[Slot]) -> tuple[Any, bool]:
    """The number of passes if the condition stays true, and whether it does so: the number is known, a tensor, or None."""
    if trips is not None and trips.known is None:
        number_of(trips, f"the number of passes of {name_of(part.node)}")
        return trips, False
    counted = _counts(part, env, states)
    bounds = part.bound(None if trips is None else trips.known), counted.most
    return min((each for each in bounds if each is not None), default=None), counted.is_exact


def _counts(part: Loop, env: Env, states: Sequence[Slot]) -> Counts:
    """The passes of a Loop after which a condition that counts ends it."""
    body = part.body
    given = {**captured(body, env), **dict(zip(body.inputs[2:], states))}

    def value(name: str) -> Array | None:
        slot = given.get(name)
        return slot.known if isinstance(slot, Slot) else body.scope.weights.get(name)

    return Counted(body, value).passes(body.outputs[0])


def _repeated(
    w: Writer, run: Run, part: Loop, env: Env, states: Sequence[Slot], bound: Any, first: bool | str, holds: bool
) -> list[Any]:
    """The results of a Loop that is one in C, whose variable is the number of the pass."""
    own = [w.copied(state) for state in states]
    place = w.slot(np.int64, ())
    number, flag, *names = part.body.inputs
    inner: Env = {**captured(part.body, env), number: place, flag: known(True), **dict(zip(names, own))}

    def begin(count: str) -> None:
        w.lines.append(f"*TENSOR(long long, {place.offset}) = {count};")

    return [*own, *add_passes(w, run, Passes(part, inner, own, bound, first, begin, holds))]


def _one_by_one(w: Writer, run: Run, part: Loop, env: Env, states: Sequence[Slot], bound: int) -> list[Any]:
    """The results of a Loop whose passes are written one after the other, as shapes depend on the number of the pass, or
    change from pass to pass."""
    number, flag, *names = part.body.inputs
    passes: list[Sequence[Slot]] = []
    goes_on: bool | str = True
    while goes_on and len(passes) < bound:
        given = {number: known(np.int64(len(passes))), flag: known(True), **dict(zip(names, states))}
        lead, *results = run(part.body, {**captured(part.body, env), **given})
        goes_on = condition_of(lead, part.node)
        if isinstance(goes_on, str):
            raise refused(part.node, "the shapes in it change, and a condition ends it")
        states = results[: len(states)]
        passes.append(results[len(states) :])
    wanted = [*part.node.outputs[len(states) :], *[""] * len(passes[0])]
    rows = [_stacked(w, each, name, part.node) if name else None for name, each in zip(wanted, zip(*passes))]
    return [*states, *rows]


def _stacked(w: Writer, rows: Sequence[Slot], name: str, node: SourceNode) -> Slot:
    """Rows that are in places of their own."""
    types = dict.fromkeys(row.type for row in rows)
    if len(types) > 1:
        raise ValueError(f"the rows of {name!r} of {name_of(node)} are {' and '.join(types)}")
    made = w.slot(rows[0].dtype, (len(rows), *rows[0].shape))
    for i, row in enumerate(rows):
        w.move_row(row, made, 0, str(i), to_row=False)
    return made


# ---- Scan


def add_scan(w: Writer, run: Run, course: Course, part: Scan, env: Env) -> None:
    """Adds the lines of a Scan."""
    given = [value_of(course, env, name) for name in part.node.inputs[part.batched :]]
    results = _batch(w, run, part, env, given) if part.batched else _scanned(w, run, part, env, given)
    env.update((name, result) for name, result in zip(part.node.outputs, results) if name)


def _batch(w: Writer, run: Run, part: Scan, env: Env, given: Sequence[Slot]) -> list[Any]:
    """The results of a Scan of opset 8, which has an axis of the batch before all others."""
    counts = {slot.shape[0] for slot in given}
    if len(counts) != 1 or counts == {0}:
        raise ValueError(f"the inputs of {name_of(part.node)} have batches of {sorted(counts)}, expected one size above 0")
    batch = counts.pop()
    names = Names(w.next_loop())
    place = place_of(names.count, batch)
    made: list[Any] = []
    with w.apart() as lines:
        each = [w.slot(slot.dtype, slot.shape[1:]) for slot in given]
        for target, source in zip(each, given):
            w.move_row(target, source, 0, place, to_row=True)
        for result in _scanned(w, run, part, env, each):
            made.append(None if result is None else w.slot(result.dtype, (batch, *result.shape)))
            if result is not None:
                w.move_row(result, made[-1], 0, place, to_row=False)
    repeat(w, part.node, Times(names, batch), lines)
    return made


def _scanned(w: Writer, run: Run, part: Scan, env: Env, given: Sequence[Slot]) -> list[Any]:
    """The results of a Scan without an axis of a batch."""
    body, states, scanned = part.body, given[: part.states], given[part.states :]
    ways = [(axis % len(slot.shape), back) for (axis, back), slot in zip(part.ways("input", len(scanned)), scanned)]
    length = part.length([slot.shape[axis] for slot, (axis, _) in zip(scanned, ways)])
    if length == 0:
        return [*states, *map(_known_rows, part.arranged(part.no_rows(len(states))))]
    own = [w.copied(state) for state in states]
    slices = [w.slot(slot.dtype, _without(slot.shape, axis)) for slot, (axis, _) in zip(scanned, ways)]
    inner: Env = {**captured(body, env), **dict(zip(body.inputs, (*own, *slices)))}

    def begin(count: str) -> None:
        for target, source, (axis, back) in zip(slices, scanned, ways):
            w.move_row(target, source, axis, place_of(count, length, back), to_row=True)

    return [*own, *add_passes(w, run, Passes(part, inner, own, length, True, begin, True))]


def _known_rows(array: Array | None) -> Slot | None:
    return None if array is None else known(array)


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])
