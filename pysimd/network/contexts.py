"""Contexts for equal weights, of several nodes or of several preparations of a model, share the packed weights."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from pysimd._library import ffi, lib
from pysimd.annotations import Array
from pysimd.errors import raise_last
from pysimd.infrastructure import preference
from pysimd.network.binding import Binding, Bound, address_of
from pysimd.network.calls import SET_PACKED, Made, constants_in
from pysimd.network.mapped import release
from pysimd.network.origins import digest, memory_of, origin_of


class Context:
    """A context of the library; it is released with the last reference.

    handle : for its calls.
    """

    __slots__ = ("__weakref__", "_create", "_keeps", "_made", "handle")

    def __init__(self, made: tuple[str, bool], binding: Binding, create: Bound) -> None:
        handle = create.function(*create.arguments)
        if handle == ffi.NULL:
            raise_last()
        self.handle = ffi.gc(handle, lib.SimdRelease)
        self._made, self._create = made, (binding, create)
        self._keeps: Any = None  # another context, with which it shares its parameters

    def again(self, sizes: Mapping[int, Any]) -> Context:
        """A new context without parameters for other sizes, of the arguments of this one, which are changed for it."""
        binding, create = self._create
        binding.move(None, sizes)
        return Context(self._made, binding, create)

    @property
    def info(self) -> str:
        """How the context computes: algorithm, tile, instruction set."""
        return str(ffi.string(lib.SimdnetContextInfo(self.handle)).decode("ascii"))

    @property
    def nbytes(self) -> int:
        """The bytes that it holds, for packed weights above all; 0 if it packs none."""
        create, packs = self._made
        if not packs:
            return 0
        family = create.removesuffix("Init")
        unit = 4 if family.endswith("32f") else 1  # of the functions of floats, sizes are in floats
        return int(getattr(lib, f"{family}InternalBufferSize")(self.handle)) * unit


class _Alike(list["weakref.ref[Context]"]):
    """The contexts that have packed the same arguments, each in another way."""

    def alive(self) -> list[Context]:
        """Those that exist."""
        return [context for each in tuple(self) if (context := each()) is not None]


class Contexts:
    """The contexts of all preparations of a model, by the arguments that set their parameters.

    The runners own them: nothing here keeps a context, so its memory is returned with the last runner that uses it.

    prefer : what they are to spare, see :func:`pysimd.set_preference`; None for what the thread that makes one has set.
    """

    def __init__(self, prefer: str | None = None) -> None:
        self.prefer = prefer
        self._made: weakref.WeakValueDictionary[Any, _Alike] = weakref.WeakValueDictionary()
        self._digests: dict[int, dict[Any, bytes]] = {}  # of views of arrays that nobody writes, as long as these exist

    def remember(self, arrays: Iterable[Array]) -> None:
        """Reads the bytes of these arrays, which nobody writes, once only to find equal ones."""
        for array in map(memory_of, arrays):
            if id(array) not in self._digests:
                self._digests[id(array)] = {}
                weakref.finalize(array, self._digests.pop, id(array))

    def key(self, made: Made) -> Any:
        """What is equal for contexts of the same weights."""
        return None if made.params is None else (made.params.function, self._identity(made.params.arguments))

    def created(self, made: Made, key: Any, sizes: Mapping[int, Any], last: Context | None = None) -> Context:
        """A context, which shares the packed weights of one with the same key, if it can.

        sizes : the numbers in place of open sizes, by the identity of these.
        last : that of the same runner for the sizes that it had before.

        Raises what the library finds wrong.
        """
        with nullcontext() if self.prefer is None else preference(self.prefer):
            context = created(made, Binding(None, sizes)) if last is None else last.again(sizes)
        if made.params is None:
            return context
        alike = self._made.get(key)
        if alike is None:
            alike = self._made.setdefault(key, _Alike())
        for other in alike.alive():
            if not lib.SimdnetShareParams(context.handle, other.handle):  # another algorithm, another number of groups
                continue
            context._keeps = other
            return context
        binding = Binding(None, sizes)  # which holds what the call reads
        pack, is_packed = binding.call(made.params, context.handle), made.params.function == SET_PACKED
        arrays = [] if is_packed else list(constants_in(made.params))
        for array in arrays:
            if not array.flags.c_contiguous:  # the call reads a copy of it
                release(array)
        pack()
        context._keeps = (alike, binding) if is_packed else alike
        alike[:] = [*map(weakref.ref, alike.alive()), weakref.ref(context)]
        for array in arrays:
            if array.flags.c_contiguous:
                release(array)
        return context

    def _identity(self, value: Any) -> Any:
        """What is equal for equal arguments only: of an array where it comes from, or else a digest of its bytes.

        Weights that are computed, by a pass, are computed again by each preparation, mostly of the same bytes of the file.
        """
        if isinstance(value, (tuple, list)):
            return tuple(map(self._identity, value))
        if not isinstance(value, np.ndarray):
            return repr(value)  # has all digits, and the sign of zero
        origin = origin_of(value)
        if origin is not None:
            return origin
        view = value.shape, value.strides, value.dtype.str
        place, known = (address_of(value), *view), self._digests.get(id(memory_of(value)), {})
        if place not in known:
            known[place] = digest(value)
        return (known[place], *view)


def created(made: Made, binding: Binding) -> Context:
    """A context without parameters. Raises ValueError if the library refuses its sizes."""
    return Context((made.create.function, made.params is not None), binding, binding.call(made.create))
