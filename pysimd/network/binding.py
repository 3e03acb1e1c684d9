"""Calls with their arguments: pointers, numbers and structs for a place in memory and for sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, cached_property
from operator import setitem
from typing import Any, NamedTuple

import _cffi_backend
import numpy as np

from pysimd._library import ffi, lib
from pysimd.annotations import Array, Shape
from pysimd.errors import check, errno
from pysimd.network.calls import OWN, Call, PythonCall, Struct, Structs
from pysimd.network.host import HostCall
from pysimd.network.open_arrays import OpenArray
from pysimd.network.sizes import Size
from pysimd.network.views import Constant, View

_new: Any = _cffi_backend.newp  # what ffi.new calls
_cast: Any = _cffi_backend.cast
_from_buffer: Any = _cffi_backend.from_buffer
_BYTES, _ADDRESS = ffi.typeof("char[]"), ffi.typeof("uintptr_t")
_NULL = ffi.NULL
_ARRAY = object()  # in place of a type of pointers, for parameters of functions of Python


class Bound:
    """A function of the library with all arguments, or an object of Python without any."""

    __slots__ = ("arguments", "function")

    def __init__(self, function: Callable[..., Any], arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def __call__(self) -> None:
        self.function(*self.arguments)
        if errno():
            check()


class BoundSizes(NamedTuple):
    """What a shape has in place of what is open.

    numbers : by the identity of sizes; arrays by that of arrays that depend on sizes.
    constants : those that depend on sizes, by name.
    """

    numbers: Mapping[int, Any] = {}
    constants: Mapping[str, Array] = {}


class Memory:
    """Where the roots of views are.

    block, offsets : the bytes of tensors, and the offsets of these.
    constants, addresses : arrays that do not depend on sizes, and their addresses, by name.
    computed : arrays that do.
    """

    def __init__(
        self,
        block: Array,
        offsets: Mapping[str, int],
        constants: Mapping[str, Array],
        addresses: Mapping[str, int],
        computed: Mapping[str, Array],
    ) -> None:
        self._block, self._offsets, self._constants, self._computed = block, offsets, constants, computed
        begin = address_of(block)
        self.addresses = {**addresses, **{name: address_of(array) for name, array in computed.items()}}
        self.addresses.update([(root, begin + offset) for root, offset in offsets.items()])

    def with_computed(self, computed: Mapping[str, Array]) -> Memory:
        """The same places, with other arrays that depend on sizes."""
        made = object.__new__(Memory)
        made.__dict__.update(self.__dict__)
        made._computed = computed
        made.addresses = {**self.addresses, **{name: address_of(array) for name, array in computed.items()}}
        return made

    def constant(self, name: str) -> Array:
        """An array of constants."""
        return self._computed[name] if name in self._computed else self._constants[name]

    def array(self, root: str, dtype: Any, shape: Shape, strides: Shape, offset: int) -> Array:
        """The elements of a root at strides; the offset is in bytes."""
        if root not in self._offsets:
            return np.ndarray(shape, dtype, self.constant(root), offset, strides)
        return np.ndarray(shape, dtype, self._block, self._offsets[root] + offset, strides)


_Set = Callable[[Any, Any, Any], None]


class Binding:
    """Memory and sizes for calls, which :meth:`move` replaces.

    Arguments and members of structs are set one by one, and the binding knows where it has set what depends on memory and
    sizes. A step of a decoder, whose sizes differ by one from those of the last step, replaces these few numbers and
    pointers: binding all calls again takes ten times as long.

    memory : of the roots; None for calls without views.
    sizes : as the numbers of :class:`BoundSizes`.

    held : what calls point to, besides the roots; it must live as long as they do.
    """

    def __init__(self, memory: Memory | None, sizes: Mapping[int, Any]) -> None:
        self.memory, self._sizes = memory, sizes
        self._addresses = {} if memory is None else memory.addresses
        self.held: list[Any] = []
        self._dense: list[Array] = []  # held, too, until sizes change
        # Where values are set: a function that sets items or members, the object, and the index or the name in it.
        self._numbers: dict[int, list[tuple[_Set, Any, Any]]] = {}  # by the identity of a size
        self._pointers: dict[str, list[tuple[_Set, Any, Any, Any, int]]] = {}  # by root: their type, and offset
        self._others: list[tuple[_Set, Any, Any, Any, Any]] = []  # values with the type of pointer

    def call(self, call: Call | PythonCall, own: Any = None) -> Bound:
        """A call with its arguments.

        own : the context of the step.
        """
        if isinstance(call, PythonCall):
            arrays: tuple[list[Any], list[Any]] = ([None] * len(call.inputs), [None] * len(call.outputs))
            for target, views in zip(arrays, (call.inputs, call.outputs)):
                for i, view in enumerate(views):
                    self._set_later(setitem, target, i, view, _ARRAY)
            return Bound(HostCall(call.function, *arrays), [])
        function, kinds = _function(call.function)
        arguments: list[Any] = [None] * len(call.arguments)
        for i, (value, kind) in enumerate(zip(call.arguments, kinds)):
            if value is OWN:
                arguments[i] = own
            else:
                self._set(setitem, arguments, i, value, kind)
        return Bound(function, arguments)

    def move(self, memory: Memory | None, sizes: Mapping[int, Any]) -> None:
        """Replaces what depends on memory and sizes in all calls; contexts remain as they are."""
        numbers, old, new = self._sizes, self._addresses, {} if memory is None else memory.addresses
        self.memory, self._sizes, self._addresses = memory, sizes, new
        for size, places in self._numbers.items():
            number = sizes[size]
            if number != numbers[size]:
                for set_in, target, key in places:
                    set_in(target, key, number)
        for root, pointers in self._pointers.items():
            address = new[root]
            if address != old[root]:
                for set_in, target, key, kind, offset in pointers:
                    set_in(target, key, _cast(kind, address + offset))
        last, self._dense = self._dense, []
        for set_in, target, key, value, kind in self._others:
            set_in(target, key, self._current(value, kind))
        last.clear()

    def place(self, memory: Memory | None, roots: Collection[str]) -> None:
        """Replaces the pointers to these roots by those of another memory, in which only they are elsewhere."""
        self.memory, self._addresses = memory, {} if memory is None else memory.addresses
        for root in roots:
            address = self._addresses[root]
            for set_in, target, key, kind, offset in self._pointers.get(root, ()):
                set_in(target, key, _cast(kind, address + offset))
        for set_in, target, key, value, kind in self._others:
            if isinstance(value, View) and value.root in roots:
                set_in(target, key, self._current(value, kind))

    def pointers_to(self, root: str) -> Sequence[Any]:
        """The places of all pointers to a root, for :meth:`point`; none if some depend on sizes, too."""
        if any(isinstance(value, View) and value.root == root for _, _, _, value, _ in self._others):
            return ()
        return self._pointers.get(root, ())

    @staticmethod
    def point(pointers: Sequence[Any], array: Array) -> bool:
        """Makes these pointers those to an array; returns False, and does nothing, if it is not dense."""
        try:
            address = int(_cast(_ADDRESS, _from_buffer(_BYTES, array)))
        except (BufferError, ValueError):
            return False
        for set_in, target, key, kind, offset in pointers:
            set_in(target, key, _cast(kind, address + offset))
        return True

    @cached_property
    def pointers(self) -> Mapping[str, int]:
        """The number of pointers to each root."""
        others = Counter(value.root for _, _, _, value, _ in self._others if isinstance(value, View))
        return others + Counter({root: len(pointers) for root, pointers in self._pointers.items()})

    @cached_property
    def in_python(self) -> frozenset[str]:
        """The roots that functions of Python use, which may keep the arrays that they get."""
        return frozenset(value.root for _, _, _, value, kind in self._others if kind is _ARRAY and value is not None)

    def array(self, view: View | None) -> Any:
        """The NumPy array of a view."""
        if view is None or self.memory is None:
            return None
        if isinstance(view, Constant):
            return self.memory.constant(view.root)
        shape, strides = [tuple([self._number(n) for n in each]) for each in (view.shape, view.strides)]
        return self.memory.array(view.root, view.dtype, shape, strides, self._number(view.offset))

    def _number(self, value: Any) -> Any:
        if type(value) is Size:
            return self._sizes[id(value)]
        return self._sizes[id(value)].item() if type(value) is OpenArray else value

    def _set(self, set_in: _Set, target: Any, key: Any, value: Any, kind: Any) -> None:
        """Sets a number; a pointer if `kind`, the type of the parameter, is that of pointers."""
        if kind is None and type(value) is int:  # as nearly all are
            set_in(target, key, value)
        elif type(value) is OpenArray or (isinstance(value, View) and not isinstance(value.offset, int)):
            self._set_later(set_in, target, key, value, kind)
        elif kind is None:
            if type(value) is Size:
                self._numbers.setdefault(id(value), []).append((set_in, target, key))
            set_in(target, key, self._number(value))
        elif isinstance(value, View):
            self._pointers.setdefault(value.root, []).append((set_in, target, key, kind, value.offset))
            set_in(target, key, _cast(kind, self._addresses[value.root] + value.offset))
        else:
            set_in(target, key, _NULL if value is None else self._made(value, kind))

    def _set_later(self, set_in: _Set, target: Any, key: Any, value: Any, kind: Any) -> None:
        """The same for what is found anew whenever memory and sizes change."""
        self._others.append((set_in, target, key, value, kind))
        set_in(target, key, self._current(value, kind))

    def _current(self, value: Any, kind: Any) -> Any:
        """What is set for an array that depends on sizes, for a view with an open offset, and for a view as an array."""
        if kind is _ARRAY:
            return self.array(value)
        if kind is None:
            return self._number(value)
        if isinstance(value, View):
            return _cast(kind, self._addresses[value.root] + self._number(value.offset))
        dense = np.ascontiguousarray(self._sizes[id(value)])
        self._dense.append(dense)
        return _cast(kind, address_of(dense))

    def _made(self, value: Any, kind: Any) -> Any:
        """A pointer to something that is made for this call."""
        if isinstance(value, np.ndarray):
            dense = _contiguous(value)
            self.held.append(dense)
            return _cast(kind, address_of(dense))
        if isinstance(value, (Struct, Structs)):
            of = _struct(value.kind)
            made = _new(of.pointer) if isinstance(value, Struct) else _new(of.array, len(value.each))
            for i, members in enumerate([value.members] if isinstance(value, Struct) else value.each):
                self._set_members(made[i], members, of)
        else:
            made = _new(_array_of(kind), len(value))
            self._set_all(made, value, kind.item if isinstance(value, list) else None)
        self.held.append(made)
        return made

    def _set_members(self, target: Any, members: Mapping[str, Any], of: _Struct) -> None:
        if of.has_size:
            target.size = of.size
        pointers = of.pointers
        for name, value in members.items():
            kind = pointers[name]
            if kind is None and type(value) is int:  # as nearly all are: those of _set(), without a call
                setattr(target, name, value)
            elif type(value) is tuple and kind is None:
                self._set_all(getattr(target, name), value, None)
            else:
                self._set(setattr, target, name, value, kind)

    def _set_all(self, target: Any, values: Sequence[Any], kind: Any) -> None:
        for i, value in enumerate(values):
            self._set(setitem, target, i, value, kind)


def address_of(array: Array) -> int:
    """The address of the first element."""
    if array.flags.c_contiguous:
        try:
            return int(_cast(_ADDRESS, _from_buffer(_BYTES, array)))  # a quarter of the time of what follows
        except ValueError:  # of types that are not NumPy's
            pass
    return int(array.__array_interface__["data"][0])


_LARGE = 1 << 16  # bytes, from which on the library copies faster than NumPy


def _contiguous(array: Array) -> Array:
    """``numpy.ascontiguousarray``; of large weights by the library, which transposes matrices in a tenth of the time."""
    if array.flags.c_contiguous or array.nbytes < _LARGE or array.dtype != np.float32:
        return np.ascontiguousarray(array)
    from pysimd.copy import copy  # within, as most models with a plan need none

    return copy(array)


class _Struct(NamedTuple):
    """A struct of the library: the types of pointers to it and of arrays, its bytes, and the types of members that are
    pointers, None for others."""

    pointer: Any
    array: Any
    size: int
    has_size: bool
    pointers: Mapping[str, Any]


@cache
def _struct(kind: str) -> _Struct:
    of = ffi.typeof(kind)
    pointers = {name: _pointer(field.type) for name, field in of.fields}
    return _Struct(ffi.typeof(f"{kind} *"), ffi.typeof(f"{kind}[]"), ffi.sizeof(kind), "size" in pointers, pointers)


@cache
def _function(name: str) -> tuple[Any, tuple[Any, ...]]:
    """A function, and the types of its parameters that are pointers, None for others."""
    function = getattr(lib, name)
    _NAMES[function] = name
    return function, tuple(map(_pointer, ffi.typeof(function).args))


_NAMES: dict[Any, str] = {}


def name_of_function(function: Any) -> str | None:
    """The name of a function of the library, if a binding has used it; None for one of Python."""
    return _NAMES.get(function)


def _pointer(kind: Any) -> Any:
    return kind if kind.kind in ("pointer", "function") else None


@cache
def _array_of(kind: Any) -> Any:
    """The type of arrays to which such pointers point."""
    return ffi.typeof(ffi.getctype(kind.item, "[]"))
