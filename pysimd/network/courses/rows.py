"""What the passes of a loop give: rows of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.source import SourceNode, name_of

_FIRST_ROWS = 16
_MOST_ROWS = 1 << 16  # for which memory is allocated before a loop runs


class Rows:
    """What the passes of a loop give for one of its outputs: rows in one array, which is enlarged as they come.

    name, node : of the output in the body, and the loop, for errors.
    most : the number of passes, if it is known.
    """

    __slots__ = ("_array", "_count", "_dtype", "_most", "_name", "_node", "_room", "_shape")

    def __init__(self, name: str, node: SourceNode, most: int | None) -> None:
        self._name, self._node, self._most = name, node, most
        self._array: Any = None
        self._count = self._room = 0
        self._shape: Any = None
        self._dtype: Any = None

    def add(self, row: Array) -> None:
        """Copies a row."""
        if self._count == self._room or row.shape != self._shape or row.dtype != self._dtype:
            self._make_room(row)
        self._array[self._count] = row
        self._count += 1

    def putting(self, row: Array) -> Callable[[Array], None]:
        """A function that adds rows of the type and the shape of this one, without checks."""
        if row.shape != self._shape or row.dtype != self._dtype:
            self._make_room(row)
        return self._put

    def _put(self, row: Array) -> None:
        if self._count == self._room:
            self._make_room(row)
        self._array[self._count] = row
        self._count += 1

    def _make_room(self, row: Array) -> None:
        """For this row, at least."""
        if self._array is None:
            first = _FIRST_ROWS if self._most is None else max(1, min(self._most, _MOST_ROWS))
            self._shape, self._dtype = row.shape, row.dtype
            self._array = np.empty((first, *row.shape), row.dtype)
        elif row.shape != self._shape or row.dtype != self._dtype:
            was, now = (f"{dtype} {tuple(shape)}" for dtype, shape in (
                (self._dtype, self._shape), (row.dtype, row.shape)
            ))  # fmt: skip
            what = f"{self._name!r} of {name_of(self._node)}"
            raise ValueError(f"{what} is {now} in pass {self._count}, and was {was}")
        else:
            self._array = np.concatenate((self._array, np.empty_like(self._array)))
        self._room = len(self._array)

    def array(self) -> Array | None:
        """All rows; None if there are none."""
        if self._array is None:
            return None
        found: Array = self._array[: self._count]
        return found if 2 * self._count >= len(self._array) else found.copy()


def rows_of(rows: Rows | None, value: Any) -> Array | None:
    """The rows of an output of the body; if there are none, an array of the shape that the file has for it, without rows."""
    if rows is None:
        return None
    found = rows.array()
    if found is None:
        dims = tuple(n if isinstance(n, int) else 0 for n in value.dims or ())
        dtype = {"float16": "float32", "bfloat16": "float32"}.get(value.dtype, value.dtype)
        found = np.zeros((0, *dims), "float32" if dtype.startswith("type ") else dtype)
    return found
