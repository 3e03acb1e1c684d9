"""Unique in programs of C, which gives as many parts as values decide, see :mod:`pysimd.network.c.rows`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pysimd.network.c.slots import Rows, Slot
from pysimd.network.c.types import C_TYPES
from pysimd.network.c.writer import Writer
from pysimd.network.operators import axis_within
from pysimd.network.source import SourceNode


class _Parts(NamedTuple):
    """The elements of an array, or its parts along an axis.

    is_flat : whether parts are elements of the whole array.
    """

    x: Slot
    kind: str
    outer: int
    number: int
    inner: int
    is_flat: bool

    def at(self, part: str) -> str:
        """The index of the element e of a part."""
        if self.inner <= 1:  # or there are no elements
            return f"e * {self.number} + {part}"
        return f"(e / {self.inner} * {self.number} + {part}) * {self.inner} + e % {self.inner}"

    @property
    def is_float(self) -> bool:
        return bool(self.x.dtype.kind == "f")


def different(w: Writer, node: SourceNode, slots: Sequence[Any]) -> list[Any]:
    """The lines of a Unique: its results have as many parts as the input, but for the numbers of these, of which all mean
    something. NaN, the last one in order, is equal to NaN only where no axis is given."""
    (x,) = slots
    given = node.attributes.get("axis")
    axis = 0 if given is None else axis_within(int(given), len(x.shape))
    shape = (prod(x.shape),) if given is None else x.shape
    of = _Parts(x, C_TYPES[x.dtype.name], prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]), given is None)
    made, total = w.slot(x.dtype, shape), w.slot(np.int64, ())
    first, numbers, counts, order, other = (w.slot(np.int64, (of.number,)) for _ in range(5))
    part = of.inner * int(x.dtype.itemsize)
    places = {"order": order, "other": other, "first": first, "of": numbers, "counts": counts}
    lines = [
        f"const {of.kind} * const x = {w.pointer(x, f'const {of.kind}')};",
        *(f"long long * {name} = TENSOR(long long, {slot.offset});" for name, slot in places.items()),
        "long long begin, width, a, b, e, i, found = 0;",
        "int way;",
        *_sorted(of),
        *_counted(of),
        *([] if int(node.attributes.get("sorted", 1)) else _in_order_of_places(of)),
        f"memset({w.pointer(made)}, 0, {made.nbytes});",
        "for (i = 0; i < found; i++) {",
        f"    copy_parts({w.pointer(made)} + i * {part}, {of.number * part}, (const unsigned char *)x + first[i] * {part},",
        f"               {of.number * part}, {of.outer}, {part});",
        "}",
        f"for (i = found; i < {of.number}; i++) first[i] = counts[i] = 0;",
        f"*TENSOR(long long, {total.offset}) = found;",
    ]
    w.lines += ["{", *(f"    {line}" for line in lines), "}"]
    return [Rows(made, total, axis), Rows(first, total), numbers, Rows(counts, total)]


def _sorted(of: _Parts) -> list[str]:
    """The lines that sort the numbers of parts, equal ones in their order, by merging runs of twice the length each time."""
    less, more = ("p < q || (q != q && p == p)", "q < p || (p != p && q == q)") if of.is_float else ("p < q", "q < p")
    return [
        f"for (i = 0; i < {of.number}; i++) order[i] = i;",
        f"for (width = 1; width < {of.number}; width *= 2) {{",
        "    long long * const last = order;",
        f"    for (begin = 0; begin < {of.number}; begin += 2 * width) {{",
        f"        const long long middle = begin + width < {of.number} ? begin + width : {of.number};",
        f"        const long long end = middle + width < {of.number} ? middle + width : {of.number};",
        "        a = begin;",
        "        b = middle;",
        "        for (i = begin; i < end; i++) {",
        "            way = a == middle;",
        f"            for (e = 0; a < middle && b < end && way == 0 && e < {of.outer * of.inner}; e++) {{",
        f"                const {of.kind} p = x[{of.at('order[a]')}], q = x[{of.at('order[b]')}];",
        f"                way = ({more}) - ({less});",
        "            }",
        "            other[i] = way > 0 ? order[b++] : order[a++];",
        "        }",
        "    }",
        "    order = other;",
        "    other = last;",
        "}",
    ]


def _counted(of: _Parts) -> list[str]:
    """The lines that number parts that are different, in the order of the sorted ones."""
    equal = "p == q || (p != p && q != q)" if of.is_float and of.is_flat else "p == q"
    return [
        f"for (i = 0; i < {of.number}; i++) {{",
        "    way = i > 0;",
        f"    for (e = 0; way && e < {of.outer * of.inner}; e++) {{",
        f"        const {of.kind} p = x[{of.at('order[i]')}], q = x[{of.at('order[i - 1]')}];",
        f"        way = {equal};",
        "    }",
        "    if (!way) {",
        "        first[found] = order[i];",
        "        counts[found++] = 0;",
        "    }",
        "    counts[found - 1]++;",
        "    of[order[i]] = found - 1;",
        "}",
    ]


def _in_order_of_places(of: _Parts) -> list[str]:
    """The lines that number them in the order of their first places instead."""
    return [
        "b = 0;",
        f"for (i = 0; i < {of.number}; i++) {{",
        "    if (first[of[i]] == i) other[of[i]] = b++;",
        "}",
        "for (i = 0; i < found; i++) counts[i] = 0;",
        f"for (i = 0; i < {of.number}; i++) {{",
        "    of[i] = other[of[i]];",
        "    if (counts[of[i]]++ == 0) first[of[i]] = i;",
        "}",
    ]
