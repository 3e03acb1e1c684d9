"""Contexts for equal weights, of several nodes or of several preparations of a model, share the packed weights."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.context import SharingContext, drop_arguments, keep_alive
from pysimd.network.mapped import owner_of


class _Alike(list["weakref.ref[SharingContext]"]):
    """The contexts that have packed the same arguments, each in another way."""

    def alive(self) -> list[SharingContext]:
        """Those that exist."""
        return [context for each in tuple(self) if (context := each()) is not None]


class Contexts:
    """The contexts of all preparations of a model, by the arguments of their ``set_params``.

    The runners own them: nothing here keeps a context, so its memory is returned with the last runner that uses it.
    """

    def __init__(self) -> None:
        self._made: weakref.WeakValueDictionary[Any, _Alike] = weakref.WeakValueDictionary()
        self._digests: dict[int, dict[Any, bytes]] = {}  # of views of arrays that nobody writes, as long as these exist

    def remember(self, arrays: Iterable[Array]) -> None:
        """Reads the bytes of these arrays, which nobody writes, once only to find equal ones."""
        for array in map(_owner, arrays):
            if id(array) not in self._digests:
                self._digests[id(array)] = {}
                weakref.finalize(array, self._digests.pop, id(array))

    def set_params(self, context: SharingContext, *arguments: Any) -> None:
        """Calls its ``set_params`` with these arguments, arrays of any strides, or shares the result of an equal call."""
        alike = self._made.setdefault((type(context), self._identity(arguments)), _Alike())
        for other in alike.alive():
            try:
                context.share_params(other)
            except ValueError:  # another algorithm, another number of groups
                continue
            keep_alive(context, other)
            return
        context.set_params(*_dense(arguments))  # type: ignore[attr-defined]
        drop_arguments(context)  # these contexts are not pickled, and the arrays may be copies
        keep_alive(context, alike)
        alike[:] = [*map(weakref.ref, alike.alive()), weakref.ref(context)]

    def _identity(self, value: Any) -> Any:
        """What is equal for equal arguments only: of an array in a file that is mapped its place, of others their content.

        Nearly all large weights are in files, whose bytes need not be read for this. Weights that are computed, by a pass,
        are computed again by each preparation: they are equal if all their bytes are, for which a digest stands.
        """
        if isinstance(value, (tuple, list)):
            return tuple(map(self._identity, value))
        if not isinstance(value, np.ndarray):
            return repr(value)  # has all digits, and the sign of zero
        view = value.shape, value.strides, value.dtype.str
        owner = owner_of(value)
        if owner is not None:
            return (owner, value.ctypes.data, *view)
        place, known = (value.ctypes.data, *view), self._digests.get(id(_owner(value)), {})
        if place not in known:
            known[place] = _digest(value)
        return (known[place], *view)


def _owner(array: Array) -> Array:
    """The array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _digest(value: Array) -> bytes:
    in_memory = value.transpose(sorted(range(value.ndim), key=lambda axis: -abs(value.strides[axis])))
    data = np.ascontiguousarray(in_memory).reshape(-1).view(np.uint8)
    return hashlib.sha256(data).digest()  # type: ignore[arg-type]  # before Python 3.12


def _dense(value: Any) -> Any:
    """Arguments with contiguous arrays."""
    if isinstance(value, (tuple, list)):
        return tuple(map(_dense, value))
    return np.ascontiguousarray(value) if isinstance(value, np.ndarray) else value
