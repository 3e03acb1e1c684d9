"""NonMaxSuppression and NonZero in programs of C: they give as many rows as values decide, see :mod:`pysimd.network.c_rows`.

Functions get the writer of a course, to whose lines they add.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from pysimd._library import ffi
from pysimd.annotations import Shape
from pysimd.network.c_calls import C_TYPES, number
from pysimd.network.c_slots import Rows, Slot, number_of, refused
from pysimd.network.control import name_of
from pysimd.network.source import SourceNode

_MOST_BYTES = 1 << 28
_BOOL = ffi.typeof("SimdBool")


def dense(w: Any, rows: Rows) -> Slot:
    """A copy whose first elements are those of the rows that there are."""
    shape, axis = rows.slot.shape, rows.axis
    made: Slot = w.copied(rows.slot)
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


def _boxes(w: Any, node: SourceNode, slots: Sequence[Any]) -> Rows:
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
    return Rows(made, total)


def _bounded(w: Any, node: SourceNode, shape: Shape) -> Slot:
    """A tensor for what a node chooses, if it is not too large."""
    if prod(shape) * 8 > _MOST_BYTES:
        raise refused(node, f"all that it can choose takes more than {_MOST_BYTES >> 20} MB")
    made: Slot = w.slot(np.int64, shape)
    return made


def _float(slot: Slot | None) -> str:
    if slot is None or slot.known is not None:
        return number(0.0 if slot is None or slot.known is None else slot.known.item(), ffi.typeof("float"))
    return f"(float){number_of(slot, 'a threshold')}"


def _places_of(w: Any, node: SourceNode, slots: Sequence[Any]) -> Rows:
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
    return Rows(made, total, 1)


WRITERS: Mapping[str, Callable[[Any, SourceNode, Sequence[Any]], Rows]] = {
    "NonMaxSuppression": _boxes,
    "NonZero": _places_of,
}
