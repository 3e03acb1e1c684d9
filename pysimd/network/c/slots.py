"""Tensors of a course in C, see :mod:`pysimd.network.c.course`: places in the block, or known values; and what the names of
tensors mean in a course or in the body of a branch or a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple, Union

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.errors import printable
from pysimd.network.c.names import quoted
from pysimd.network.c.types import C_TYPES
from pysimd.network.courses.course import Course
from pysimd.network.source import SourceNode, name_of

MOST_BYTES = 1 << 28  # of rows whose number depends on values: a model takes the memory whether there are as many or not


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


#: The tensors that a course can read, by name, beside the weights.
Env = dict[str, Union[Slot, Rows, Unknown]]
#: Adds the lines of a course within a branch or a loop, and returns its outputs.
Run = Callable[[Course, Env], list[Any]]


def known(value: Any) -> Slot:
    """A tensor of this value."""
    array = np.asarray(value)
    return Slot(array.dtype, array.shape, -1, array)


def value_of(course: Course, env: Env, name: str) -> Slot:
    """A tensor of known shape by its name."""
    if not name:
        raise ValueError("an input of a branch or a loop is missing")
    if name not in env:
        return known(course.scope.weights[name])
    found = env[name]
    if isinstance(found, Unknown):
        raise found.why
    if isinstance(found, Rows):
        why = f"{name!r}, whose size depends on values, can only be an output of the model, or be read row by row"
        raise Refused(printable(f"the model cannot be written as C: {why}"))
    return found


def captured(body: Course, env: Env) -> Env:
    """The tensors from outside that the body of a branch or a loop reads."""
    return {name: env[name] for name in body.captured}


def number_of(slot: Slot, what: str) -> str:
    """The only element of a tensor that is not known, as text."""
    if prod(slot.shape) != 1:
        raise ValueError(f"{what} has {prod(slot.shape)} elements, expected 1")
    return f"*TENSOR(const {C_TYPES[slot.dtype.name]}, {slot.offset})"


def condition_of(slot: Slot, node: SourceNode) -> bool | str:
    """A condition of a branch or a loop, as text if it is not known."""
    text = f"{number_of(slot, f'the condition of {name_of(node)}')} != 0"
    return text if slot.known is None else bool(slot.known.reshape(()))


def failing(node: SourceNode, why: str) -> list[str]:
    """The lines of an error."""
    return [f'fail("{quoted(name_of(node)[:200])}", "{quoted(why[:200])}");', "return 0;"]
