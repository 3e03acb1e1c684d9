"""Calls of the library that are not bound to memory yet: what steps consist of, in Python and in programs of C.

An argument is a number, which may be a :class:`~pysimd.network.sizes.Size`; a :class:`~pysimd.network.views.View`, which
stands for a pointer to its first element; a NumPy array of constants, likewise; a tuple of numbers, a list of pointers, a
:class:`Struct` or a :class:`Structs`, which stand for pointers to what they contain; OWN, the context of the step, as
the first argument; or None for NULL. The type of the parameter in the header decides how it is passed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from pysimd.network.sizes import Computed, Size
from pysimd.network.views import View


class _Own:
    """The context of the step."""

    def __repr__(self) -> str:
        return "OWN"


OWN = _Own()
#: The function that gives a context packed weights in place, which must exist as long as it does.
SET_PACKED = "SimdnetSetPacked"


class Call(NamedTuple):
    """A call of a function of the library."""

    function: str
    arguments: tuple[Any, ...]


class PythonCall(NamedTuple):
    """A call of a Python function with the arrays of its inputs and outputs."""

    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]


class Struct(NamedTuple):
    """The address of a struct; members that are not given are 0, but `size` is that of the struct."""

    kind: str
    members: Mapping[str, Any]


class Structs(NamedTuple):
    """The address of an array of structs."""

    kind: str
    each: tuple[Mapping[str, Any], ...]


class Made(NamedTuple):
    """A context.

    create : the call that returns it.
    params : the call that sets its weights; None for one without.
    """

    create: Call
    params: Call | None = None


class Steps(NamedTuple):
    """What a node is computed by.

    calls : in order.
    made : the context that they use, if any.
    scratch : the bytes of the root "" that they need.
    """

    calls: tuple[Call | PythonCall, ...]
    made: Made | None = None
    scratch: int = 0


_SINGLE = {bool, float, int, str, type(None)}  # most of what calls have


def parts_of(value: Any) -> list[Any]:
    """Everything in calls, structs and lists: numbers, arrays and the numbers of views."""
    found: list[Any] = []
    left = [value]  # what is to be divided, the last one first
    while left:
        each = left.pop()
        if type(each) in _SINGLE:
            found.append(each)
        elif isinstance(each, PythonCall):  # which needs arrays, not pointers
            for view in (*each.inputs, *each.outputs):
                found += () if view is None else (*view.shape, *view.strides, view.offset)
        elif isinstance(each, (tuple, list)):
            left += reversed(each)
        elif isinstance(each, dict):
            left += reversed(each.values())
        else:
            found.append(each.offset if isinstance(each, View) else each)
    return found


def open_numbers(value: Any) -> list[Size | Computed]:
    """The sizes in calls, and numbers that are computed from sizes."""
    return [part for part in parts_of(value) if isinstance(part, (Size, Computed))]


def has_open_numbers(value: Any) -> bool:
    """Whether :func:`open_numbers` finds any, in a third of its time: most numbers are looked at once, in their tuple."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, PythonCall):
            if open_numbers(each):
                return True
        elif isinstance(each, (tuple, list)):
            left += [part for part in each if type(part) not in _SINGLE]
        elif isinstance(each, dict):
            left += [part for part in each.values() if type(part) not in _SINGLE]
        elif isinstance(each.offset if isinstance(each, View) else each, (Size, Computed)):
            return True
    return False


def with_arrays(value: Any, arrays: Mapping[int, Any]) -> Any:
    """Arguments with arrays in place of those that depend on sizes, by the identity of these."""
    if isinstance(value, Call):
        return Call(value.function, with_arrays(value.arguments, arrays))
    if isinstance(value, (tuple, list)):
        return type(value)(with_arrays(each, arrays) for each in value)
    return arrays[id(value)] if isinstance(value, Computed) else value


def constants_in(value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays in calls."""
    return [part for part in parts_of(value) if isinstance(part, np.ndarray)]
