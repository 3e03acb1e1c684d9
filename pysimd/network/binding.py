"""Calls with their arguments: pointers, numbers and structs for a place in memory and for sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import _cffi_backend
import numpy as np

from pysimd._library import ffi, lib
from pysimd.annotations import Array
from pysimd.errors import check, errno
from pysimd.network.calls import OWN, Call, PythonCall, Struct, Structs
from pysimd.network.host import HostCall
from pysimd.network.open_arrays import OpenArray
from pysimd.network.sizes import Size
from pysimd.network.views import Constant, View

_new: Any = _cffi_backend.newp  # what ffi.new calls
_cast: Any = _cffi_backend.cast
_NULL = ffi.NULL


class Bound:
    """A function of the library with all arguments, or an object of Python without any."""

    __slots__ = ("arguments", "function")

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
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
    constants : arrays, by name.
    """

    def __init__(self, block: Array, offsets: Mapping[str, int], constants: Mapping[str, Array]) -> None:
        self._block, self._offsets, self._constants = block, offsets, constants
        begin = address_of(block)
        self.addresses = {name: address_of(array) for name, array in constants.items()}
        self.addresses.update((root, begin + offset) for root, offset in offsets.items())

    def __getitem__(self, root: str) -> Array:
        """The bytes of a tensor and of what follows it, or a constant."""
        return self._block[self._offsets[root] :] if root in self._offsets else self._constants[root]


class Binding:
    """Memory and sizes for calls.

    memory : of the roots; None for calls without views.
    sizes : as the numbers of :class:`BoundSizes`.

    held : what calls point to, besides the roots; it must live as long as they do.
    """

    def __init__(self, memory: Memory | None, sizes: Mapping[int, Any]) -> None:
        self._memory, self._sizes = memory, sizes
        self._addresses = {} if memory is None else memory.addresses
        self.held: list[Any] = []

    def call(self, call: Call | PythonCall, own: Any = None) -> Bound:
        """A call with its arguments.

        own : the context of the step.
        """
        if isinstance(call, PythonCall):
            given, results = (tuple(map(self.array, each)) for each in (call.inputs, call.outputs))
            return Bound(HostCall(call.function, given, results), ())
        function, kinds = _function(call.function)
        return Bound(function, tuple([self._value(value, kind, own) for value, kind in zip(call.arguments, kinds)]))

    def array(self, view: View | None) -> Any:
        """The NumPy array of a view."""
        if view is None or self._memory is None:
            return None
        if isinstance(view, Constant):
            return self._memory[view.root]
        shape, strides = (tuple(map(self._number, each)) for each in (view.shape, view.strides))
        return View(view.root, view.dtype, shape, strides, self._number(view.offset)).array(self._memory[view.root])

    def _number(self, value: Any) -> Any:
        if type(value) is Size:
            return self._sizes[id(value)]
        return self._sizes[id(value)].item() if type(value) is OpenArray else value

    def _value(self, value: Any, kind: Any, own: Any) -> Any:
        """A number; a pointer if `kind`, the type of the parameter, is that of pointers."""
        if kind is None:
            return self._number(value)
        if isinstance(value, View):
            return _cast(kind, self._addresses[value.root] + self._number(value.offset))
        if value is None:
            return _NULL
        made = self._made(value, kind, own)
        self.held.append(made)
        return made

    def _made(self, value: Any, kind: Any, own: Any) -> Any:
        """A pointer to something that is made for this call."""
        if value is OWN:
            return own
        if isinstance(value, Struct):
            of = _struct(value.kind)
            return _new(of.pointer, self._members(value.members, of))
        if isinstance(value, Structs):
            of = _struct(value.kind)
            return _new(of.array, [self._members(each, of) for each in value.each])
        if isinstance(value, OpenArray):
            value = self._sizes[id(value)]
        if isinstance(value, np.ndarray):
            dense = np.ascontiguousarray(value)
            self.held.append(dense)
            return _cast(kind, address_of(dense))
        if isinstance(value, list):
            return _new(_array_of(kind), [self._value(each, kind.item, own) for each in value])
        return _new(_array_of(kind), [self._number(n) for n in value])

    def _members(self, members: Mapping[str, Any], of: _Struct) -> dict[str, Any]:
        found: dict[str, Any] = {"size": of.size} if of.has_size else {}
        for name, value in members.items():
            kind = of.pointers[name]
            if type(value) is tuple and kind is None:
                found[name] = [self._number(n) for n in value]
            else:
                found[name] = self._value(value, kind, None)
        return found


def address_of(array: Array) -> int:
    """The address of the first element."""
    return int(array.__array_interface__["data"][0])


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
    return function, tuple(map(_pointer, ffi.typeof(function).args))


def _pointer(kind: Any) -> Any:
    return kind if kind.kind in ("pointer", "function") else None


@cache
def _array_of(kind: Any) -> Any:
    """The type of arrays to which such pointers point."""
    return ffi.typeof(ffi.getctype(kind.item, "[]"))
