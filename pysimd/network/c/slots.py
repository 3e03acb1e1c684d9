"""Tensors of a course in C, see :mod:`pysimd.network.c.course`: places in the block, or known values."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple, Union

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.errors import printable
from pysimd.network.c.names import quoted
from pysimd.network.c.types import C_TYPES
from pysimd.network.source import SourceNode, name_of


class Refused(ValueError):
    """What programs in C do not have."""


def refused(node: SourceNode, why: str) -> Refused:
    return Refused(printable(f"{name_of(node)} cannot be written as C: {why}"))


class Slot(NamedTuple):
    """A tensor of a course.

    offset : in the block; -1 for one that is known.
    known : its value, if that is known.
    """

    dtype: Any
    shape: Shape
    offset: int = -1
    known: Array | None = None

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * int(self.dtype.itemsize)

    def reshaped(self, shape: Shape) -> Slot:
        """The same elements in another shape."""
        return Slot(self.dtype, shape, self.offset, None if self.known is None else self.known.reshape(shape))

    @property
    def type(self) -> str:
        return f"{self.dtype} {self.shape}"


class Rows(NamedTuple):
    """A tensor of which one dimension depends on values, such as what the passes of a loop give.

    slot : of as many rows as there can be.
    passes : the tensor of their number.
    axis : the dimension.
    """

    slot: Slot
    passes: Slot
    axis: int = 0


class Unknown(NamedTuple):
    """A tensor that a program cannot have, with the reason: it matters where the tensor is read."""

    why: Refused


Env = dict[str, Union[Slot, Rows, Unknown]]


def known(value: Any) -> Slot:
    """A tensor of this value."""
    array = np.asarray(value)
    return Slot(array.dtype, array.shape, -1, array)


def number_of(slot: Slot, what: str) -> str:
    """The only element of a tensor that is not known, as text."""
    if prod(slot.shape) != 1:
        raise ValueError(f"{what} has {prod(slot.shape)} elements, expected 1")
    return f"*TENSOR(const {C_TYPES[slot.dtype.name]}, {slot.offset})"


def failing(node: SourceNode, why: str) -> list[str]:
    """The lines of an error."""
    return [f'fail("{quoted(name_of(node)[:200])}", "{quoted(why[:200])}");', "return 0;"]
