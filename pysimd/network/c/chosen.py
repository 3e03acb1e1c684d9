"""What gives as many rows as values decide in programs of C, see :mod:`pysimd.network.c.rows`: NonMaxSuppression, NonZero,
Compress, and TopK whose k is computed. Unique is in :mod:`pysimd.network.c.unique`.

Functions get the writer of a course, to whose lines they add; those of operators return the outputs of a node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from pysimd._library import ffi
from pysimd.annotations import Shape
from pysimd.network.c.calls import number
from pysimd.network.c.slots import MOST_BYTES, Env, Rows, Slot, failing, number_of, refused, value_of
from pysimd.network.c.types import C_TYPES
from pysimd.network.c.unique import different
from pysimd.network.c.writer import Writer
from pysimd.network.convert.conversion import full_name
from pysimd.network.courses.course import Course
from pysimd.network.functions import tensor_type
from pysimd.network.operators import axis_within
from pysimd.network.source import SourceNode, name_of

_BOOL = ffi.typeof("SimdBool")
_ELEMENTS = ffi.typeof("SimdTensorDataType")
#: Those of TopK.
_SORTED = ("float32", "int32", "int8", "uint8", "int64", "uint64", "bool")


def dense(w: Writer, rows: Rows) -> Slot:
    """A copy whose first elements are those of the rows that there are."""
    shape, axis = rows.slot.shape, rows.axis
    made = w.copied(rows.slot)
    inner = prod(shape[axis + 1 :]) * int(made.dtype.itemsize)
    w.lines += [
        "{",
        f"    unsigned char * const all = {w.pointer(made)};",
        f"    const size_t part = (size_t)*TENSOR(const long long, {rows.passes.offset}) * {inner};",
        "    size_t i;",
        f"    for (i = 1; i < {prod(shape[:axis])}; i++) memmove(all + i * part, all + i * {shape[axis] * inner}, part);",
        "}",
    ]
    return made


def _boxes(w: Writer, node: SourceNode, slots: Sequence[Any]) -> list[Any]:
    """The lines of a NonMaxSuppression, whose result has as many rows as there can be."""
    boxes, scores, most, overlap, least = (*slots, None, None, None)[:5]
    batch, classes, count = scores.shape
    if boxes.shape != (batch, count, 4) or not boxes.dtype == scores.dtype == np.float32:
        raise ValueError(f"boxes of {boxes.type} do not fit scores of {scores.type}: {name_of(node)}")
    bound = 0 if most is None else count if most.known is None else min(max(int(most.known.item()), 0), count)
    made, total = _bounded(w, node, (batch * classes * bound, 3)), w.slot(np.int64, ())
    members = {"size": "sizeof(p)", "batch": batch, "classes": classes, "count": count, "maxOutput": bound}
    members |= {"boxes": w.pointer(boxes, "const float"), "scores": w.pointer(scores, "const float")}
    if most is not None and most.known is None:
        given = number_of(most, "the number of boxes")
        members["maxOutput"] = f"{given} < 0 ? 0 : {given} < {count} ? (size_t){given} : {count}"
    members["iouThreshold"] = _float(overlap)
    if least is not None:
        members |= {"scoreThreshold": _float(least), "useScoreThreshold": number(1, _BOOL)}
    members["center"] = number(int(bool(node.attributes.get("center_point_box", 0))), _BOOL)
    members |= {"selected": f"TENSOR(int64_t, {made.offset})", "capacity": made.shape[0]}
    w.lines += [
        "{",
        "    SimdnetNonMaxSuppressionParameters p;",
        "    memset(&p, 0, sizeof(p));",
        *(f"    p.{name} = {value};" for name, value in members.items()),
        f"    CHECK(*TENSOR(long long, {total.offset}) = (long long)SimdnetNonMaxSuppression(&p));",
        f"    memset({w.pointer(made)} + 24 * *TENSOR(const long long, {total.offset}), 0,",
        f"           (size_t)({made.shape[0]} - *TENSOR(const long long, {total.offset})) * 24);",
        "}",
    ]
    return [Rows(made, total)]


def _bounded(w: Writer, node: SourceNode, shape: Shape) -> Slot:
    """A tensor for what a node chooses, if it is not too large."""
    if prod(shape) * 8 > MOST_BYTES:
        raise refused(node, f"all that it can choose takes more than {MOST_BYTES >> 20} MB")
    return w.slot(np.int64, shape)


def _float(slot: Slot | None) -> str:
    if slot is None or slot.known is not None:
        return number(0.0 if slot is None or slot.known is None else slot.known.item(), ffi.typeof("float"))
    return f"(float){number_of(slot, 'a threshold')}"


def _places_of(w: Writer, node: SourceNode, slots: Sequence[Any]) -> list[Any]:
    """The lines of a NonZero, whose result has as many columns as the input has elements."""
    (x,) = slots
    shape = x.shape or (1,)
    made, total = _bounded(w, node, (len(shape), prod(shape))), w.slot(np.int64, ())
    steps = [max(prod(shape[i + 1 :]), 1) for i in range(len(shape))]
    w.lines += [
        "{",
        f"    const {C_TYPES[x.dtype.name]} * const x = {w.pointer(x, f'const {C_TYPES[x.dtype.name]}')};",
        f"    long long * const places = TENSOR(long long, {made.offset});",
        "    long long i, found = 0;",
        f"    memset(places, 0, {made.nbytes});",
        f"    for (i = 0; i < {prod(shape)}; i++) {{",
        "        if (x[i] == 0) continue;",
        *(f"        places[{d * prod(shape)} + found] = i / {steps[d]} % {max(n, 1)};" for d, n in enumerate(shape)),
        "        found++;",
        "    }",
        f"    *TENSOR(long long, {total.offset}) = found;",
        "}",
    ]
    return [Rows(made, total, 1)]


def _taken(w: Writer, node: SourceNode, slots: Sequence[Any]) -> list[Any]:
    """The lines of a Compress, whose result has as many parts as its input, unless the condition is known."""
    x, condition = slots
    given = node.attributes.get("axis")
    axis = 0 if given is None else axis_within(int(given), len(x.shape))
    shape = x.shape if given is not None else (prod(x.shape),)
    outer, count, part = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]) * int(x.dtype.itemsize)
    at_most = count if condition.known is None else int(np.count_nonzero(condition.known))
    made, total = w.slot(x.dtype, (*shape[:axis], at_most, *shape[axis + 1 :])), w.slot(np.int64, ())
    flag = C_TYPES[condition.dtype.name]
    w.lines += [
        "{",
        f"    const {flag} * const taken = {w.pointer(condition, f'const {flag}')};",
        f"    const unsigned char * const x = {w.pointer(x, 'const unsigned char')};",
        f"    unsigned char * const all = {w.pointer(made)};",
        "    long long i, found = 0;",
        f"    memset(all, 0, {made.nbytes});",
        f"    for (i = 0; i < {prod(condition.shape)}; i++) {{",
        "        if (!taken[i]) continue;",
        f"        if (i >= {count}) {{",
        *(f"            {line}" for line in failing(node, f"its condition takes more than {count} parts")),
        "        }",
        f"        copy_parts(all + found * {part}, {at_most * part}, x + i * {part}, {count * part}, {outer}, {part});",
        "        found++;",
        "    }",
        f"    *TENSOR(long long, {total.offset}) = found;",
        "}",
    ]
    return [made if condition.known is not None else Rows(made, total, axis)]


def _largest(w: Writer, node: SourceNode, slots: Sequence[Any]) -> list[Any]:
    """The lines of a TopK whose k is computed, whose results have as many elements along the axis as its input."""
    x, k = slots
    axis = axis_within(int(node.attributes.get("axis", -1)), len(x.shape))
    if x.dtype.name not in _SORTED:
        raise refused(node, f"programs in C have no TopK of {x.dtype.name}")
    outer, count, inner = prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1 :])
    values, places, total = w.slot(x.dtype, x.shape), w.slot(np.int64, x.shape), w.slot(np.int64, ())
    flags = [number(int(bool(node.attributes.get(name, 1))), _BOOL) for name in ("largest", "sorted")]
    kind = C_TYPES[x.dtype.name]
    sizes = f"{outer}, {count}, {inner}, (size_t)k, {', '.join(flags)}"
    given = f"{w.pointer(x, f'const {kind}')}, {sizes}, {w.pointer(values, kind)}, TENSOR(int64_t, {places.offset})"
    if x.dtype != np.float32:
        given = f"{number(tensor_type(x.dtype), _ELEMENTS)}, {given}"
    w.lines += [
        "{",
        f"    const long long k = {number_of(k, f'k of {name_of(node)}')};",
        f"    if (k < 0 || k > {count}) {{",
        *(f"        {line}" for line in failing(node, f"k is not within 0 .. {count}")),
        "    }",
        f"    CHECK(SimdnetTopK{'' if x.dtype == np.float32 else 'Integers'}({given}));",
        *(
            f"    spread_parts({w.pointer(each)}, {count * inner * each.dtype.itemsize},"
            f" (size_t)k * {inner * each.dtype.itemsize}, {outer});"
            for each in (values, places)
        ),
        f"    *TENSOR(long long, {total.offset}) = k;",
        "}",
    ]
    return [Rows(values, total, axis), Rows(places, total, axis)]


_WRITERS: Mapping[str, Callable[[Writer, SourceNode, Sequence[Any]], list[Any]]] = {
    "Compress": _taken,
    "NonMaxSuppression": _boxes,
    "NonZero": _places_of,
    "Unique": different,
}


def add_choice(w: Writer, course: Course, node: SourceNode, env: Env) -> None:
    """Adds the lines of an operator that chooses, which gives as many rows as values decide."""
    slots = [value_of(course, env, name) if name else None for name in node.inputs]
    write = _WRITERS.get(full_name(node), _largest if node.op == "TopK" else None)
    if write is None:
        raise refused(node, "the shape of its result depends on values")
    env.update((name, each) for name, each in zip(node.outputs, write(w, node, slots)) if name)
