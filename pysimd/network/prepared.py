"""Plans in files of models: what a preparation has found, as data, so that another process need not plan again.

A plan is what :class:`pysimd.network.program.Program` is made for: calls with the places of their arguments, the arrays that
they read, and the arguments of contexts with packed weights. It holds for one library version, instruction set, preference,
layout and shapes. Its text is JSON with a checksum; arrays are used where they are in the file.

A plan is a program: functions with pointers and sizes, which cannot be checked as a graph is. So it is used only on request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pysimd._library import VERSION, ffi, lib
from pysimd.annotations import Array, Shape
from pysimd.errors import check
from pysimd.network.binding import address_of
from pysimd.network.calls import OWN, SET_PACKED, Call, Made, PythonCall, Steps, Struct, Structs
from pysimd.network.views import View

if TYPE_CHECKING:
    from pysimd.network.contexts import Context, Contexts
    from pysimd.network.program import Program

_FORMAT = 2  # of the text of a plan
_FUNCTION = re.compile(r"Simd\w+\Z", re.ASCII)
_BYTE = np.dtype(np.uint8)

#: What reading text that is no plan can raise.
ERRORS = (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError, RecursionError)


class Misfit(Exception):
    """The library refuses a context of a plan."""


class Purpose(NamedTuple):
    """What a plan is for: it serves nothing else."""

    version: str
    level: str
    prefer: str
    layout: str
    shapes: Mapping[str, Shape]

    def described(self) -> dict[str, Any]:
        """By name, for JSON."""
        return self._asdict()


def purpose(level: str, prefer: str, layout: str, shapes: Mapping[str, Shape]) -> Purpose:
    """That of a plan of this package."""
    return Purpose(f"{VERSION}/{_FORMAT}", level, prefer, layout, dict(shapes))


# ---- writing


class Arrays(NamedTuple):
    """Where the arrays of a file go.

    add : gives an array its place, and returns what the header says of it.
    known : the places of those that have one, by :func:`key_of`.
    """

    add: Callable[[Array], Any]
    known: dict[Any, Any]

    def place(self, array: Array) -> Any:
        """The place of an array; of equal views of the same memory, there is one."""
        key = key_of(array)
        if key not in self.known:
            self.known[key] = self.add(array)
        return self.known[key]

    def equal(self, array: Array) -> Any:
        """The place of an array of bytes; of equal ones, there is one."""
        from hashlib import sha256

        key = sha256(array).digest()  # type: ignore[arg-type]  # before Python 3.12
        if key not in self.known:
            self.known[key] = self.add(array)
        return self.known[key]


def key_of(array: Array) -> Any:
    """What is equal for views of the same elements, as long as the array exists."""
    return address_of(array), array.dtype.str, array.shape, array.strides


def described(program: Program, offsets: Mapping[str, int], size: int, arrays: Arrays) -> dict[str, Any]:
    """The plan of a program for JSON. Raises ValueError if Python computes one of its nodes.

    offsets, size : of its roots in the block.
    """
    writer = _Writer(arrays)
    for node, step in zip(program.nodes, program.steps):
        if any(isinstance(call, PythonCall) for call in step.calls):
            raise ValueError(f"{node.operator} is computed by Python, which a file cannot contain")
    contexts = program.contexts({})  # each is released when its weights have been copied
    steps = [writer.step(step, context) for step, context in zip(program.steps, contexts)]
    return {
        "name": program.name,
        "numbers": program.numbers,
        "offsets": dict(offsets),
        "size": size,
        "constants": {name: arrays.place(array) for name, array in program.constants.items()},
        "inputs": {name: _viewed(view) for name, view in program.inputs.items()},
        "outputs": {name: _viewed(view) for name, view in program.outputs.items()},
        "steps": steps,
        "arrays": writer.places,
    }


def _viewed(view: View) -> list[Any]:
    return [view.root, view.dtype.name, list(map(int, view.shape)), list(map(int, view.strides)), int(view.offset)]


class _Writer:
    """Writes calls for JSON: numbers as they are, tuples as lists, and everything else as an object with one key."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self.places: list[Any] = []
        self._numbers: dict[str, int] = {}  # of places
        self._keeps: list[Any] = []  # arrays, so that no other one gets their address

    def step(self, step: Steps, context: Context | None) -> list[Any]:
        """The calls of a node."""
        return [[self._call(call) for call in step.calls], self._made(step.made, context), int(step.scratch)]

    def _made(self, made: Made | None, context: Context | None) -> Any:
        if made is None or context is None:
            return None
        return [self._call(made.create), made.params and self._params(made.params, context)]

    def _params(self, params: Call, context: Context) -> list[Any]:
        """The call that gives a context its packed weights, or those that it packs where they have no form for files."""
        packed = np.empty(lib.SimdnetPackedSize(context.handle), np.uint8)
        if not packed.size:
            return self._call(params)
        lib.SimdnetGetPacked(context.handle, ffi.from_buffer(packed))
        check()
        return [SET_PACKED, "own", {"array": self._numbered(self._arrays.equal(packed))}, packed.size]

    def _call(self, call: Call | PythonCall) -> list[Any]:
        assert isinstance(call, Call)
        return [call.function, *map(self._value, call.arguments)]

    def _value(self, value: Any) -> Any:
        if value is None:
            return None
        if value is OWN:
            return "own"
        if isinstance(value, View):
            return {"at": [value.root, int(value.offset)]}
        if isinstance(value, np.ndarray):
            return {"array": self._array(value)}
        if isinstance(value, Struct):
            return {"struct": [value.kind, self._members(value.members)]}
        if isinstance(value, Structs):
            return {"structs": [value.kind, list(map(self._members, value.each))]}
        if isinstance(value, list):
            return {"list": list(map(self._value, value))}
        if isinstance(value, tuple):
            return list(map(self._value, value))
        return float(value) if isinstance(value, (float, np.floating)) else int(value)

    def _members(self, members: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._value(value) for name, value in members.items()}

    def _array(self, array: Array) -> int:
        self._keeps.append(array)
        return self._numbered(self._arrays.place(array))

    def _numbered(self, place: Any) -> int:
        key = repr(place)
        if key not in self._numbers:
            self._numbers[key] = len(self.places)
            self.places.append(place)
        return self._numbers[key]


# ---- reading


@cache
def _structs() -> frozenset[str]:
    """The names of the types of the library."""
    return frozenset(ffi.list_types()[0])


class StoredProgram:
    """The calls of a plan in a file, for a runner, in place of :class:`pysimd.network.program.Program`.

    given : the text of the plan.
    array : makes the array of a place.
    contexts : of other preparations of the model.

    offsets, size : of the roots in the block.

    Raises one of ERRORS for a text that is no plan.
    """

    def __init__(self, given: Any, layout: str, array: Callable[[Any], Array], contexts: Contexts) -> None:
        self.name, self.layout, self._contexts = str(given["name"]), layout, contexts
        self.numbers: list[int] = [_natural(n) for n in given["numbers"]]
        self.size = _natural(given["size"])
        self.offsets = {name: _natural(offset) for name, offset in given["offsets"].items()}
        self.constants: dict[str, Array] = {name: array(place) for name, place in given["constants"].items()}
        self.addresses = {name: address_of(each) for name, each in self.constants.items()}
        self._arrays = [array(place) for place in given["arrays"]]
        self._ends = {name: each.nbytes for name, each in self.constants.items()}
        self._ends |= {name: self.size - offset for name, offset in self.offsets.items()}
        scratch = [_natural(each[2]) for each in given["steps"]]
        self._scratch = self._ends[""] = max(scratch, default=0)
        self.steps = [self._step(*each) for each in given["steps"]]
        if len(self.steps) != len(self.numbers) or min(self._ends.values()) < 0:
            raise ValueError("its tensors are not within their memory")
        self.inputs, self.outputs = (
            {name: self._view(*view) for name, view in given[kind].items()} for kind in ("inputs", "outputs")
        )

    def scratch(self, sizes: Mapping[int, Any]) -> int:
        """The bytes that steps share."""
        return self._scratch

    def contexts(self, sizes: Mapping[int, Any], progress: Callable[[float], Any] | None = None) -> Iterator[Context | None]:
        """The contexts of all steps, as of a program."""
        for i, step in enumerate(self.steps):
            made = step.made
            try:
                context = None if made is None else self._created(made)
            except ValueError as error:
                raise Misfit(str(error)) from error
            yield context
            if progress is not None:
                progress((i + 1) / len(self.steps))

    def _created(self, made: Made) -> Context:
        return self._contexts.created(made, self._contexts.key(made), {})

    def _step(self, calls: Any, made: Any, scratch: Any) -> Steps:
        created = made and Made(self._call(made[0]), made[1] and self._call(made[1]))
        return Steps(tuple(map(self._call, calls)), created, scratch)

    def _call(self, given: Any) -> Call:
        function, *arguments = given
        if not _FUNCTION.match(function) or len(ffi.typeof(getattr(lib, function)).args) != len(arguments):
            raise ValueError(f"it has no function {function!r} of {len(arguments)} arguments")
        return Call(function, tuple(map(self._value, arguments)))

    def _value(self, given: Any) -> Any:
        kind = type(given)
        if kind in (int, float) or given is None:
            return given
        if kind is list:
            return tuple(map(self._value, given))
        if given == "own":
            return OWN
        ((key, value),) = given.items()
        if key == "at":
            return View(value[0], _BYTE, (1,), (1,), self._within(*value))
        if key == "array":
            return self._arrays[_natural(value)]
        if key == "list":
            return list(map(self._value, value))
        name, members = value
        if name not in _structs():
            raise ValueError(f"it has no struct {name!r}")
        if key == "struct":
            return Struct(name, self._members(members))
        return Structs(name, tuple(map(self._members, members)))

    def _members(self, given: Any) -> dict[str, Any]:
        return {name: self._value(value) for name, value in given.items()}

    def _within(self, root: Any, offset: Any) -> int:
        if _natural(offset) > self._ends[root]:
            raise ValueError(f"the offset {offset} is not within {root!r}")
        return int(offset)

    def _view(self, root: Any, dtype: Any, shape: Any, strides: Any, offset: Any) -> View:
        view = View(root, dtype, tuple(map(_natural, shape)), tuple(map(_natural, strides)), _natural(offset))
        nbytes = sum((n - 1) * stride for n, stride in zip(view.shape, view.strides)) + view.itemsize if view.size else 0
        if len(shape) != len(strides) or view.offset + nbytes > self._ends[root]:
            raise ValueError(f"{root!r} is not within its memory")
        return view


def _natural(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"{value!r} is not a size")
    return value
