"""The text of recorded calls in C99 that is C++11, too: arrays and structs are variables, and pointers have their types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Any

import numpy as np

from pysimd._library import ffi, lib
from pysimd.calls import Created, Prepared, recorded
from pysimd.errors import shown
from pysimd.network.c_memory import Memory, address_of
from pysimd.network.c_names import quoted

_SMALL = 16  # elements that are written in the source
_WIDTH = 120  # characters of a line of assignments


class Calls:
    """Writes calls.

    tape : the contexts that were created for them.
    memory : what they point to.
    """

    def __init__(self, tape: Sequence[Created], memory: Memory) -> None:
        self._memory = memory
        self._functions = _functions()
        self._contexts: dict[int, int] = {}  # numbers of contexts by their addresses
        self._params: dict[int, Created] = {}  # how those of a context, by its address, were set
        for entry in tape:
            address = address_of(entry.handle)
            self._contexts.setdefault(address, len(self._contexts))
            shared = entry.function is lib.SimdnetShareParams
            self._params[address] = self._params[address_of(entry.arguments[1])] if shared else entry

    @property
    def contexts(self) -> int:
        """The number of contexts."""
        return len(self._contexts)

    def created(self, entry: Created) -> list[str]:
        """The lines for a context that is created, or gets its parameters."""
        number = self._contexts[address_of(entry.handle)]
        if ffi.typeof(entry.function).result.kind == "pointer":
            before, name, words = self._call(entry.function, entry.arguments)
            return _block(before, f"CREATE({number}, {name}({', '.join(words)}));")
        params = self._params[address_of(entry.handle)]
        before, name, words = self._call(params.function, params.arguments)
        given = ", ".join((name, *words[1:]))
        if entry.function is not lib.SimdnetShareParams:
            return _block(before, f"PARAMS({number}, {given});")
        return _block(before, f"SHARE({number}, {self._contexts[address_of(entry.arguments[1])]}, {given});")

    def step(self, step: Any, calls: Iterable[Any]) -> list[str]:
        """The lines for a step of a runner, which consists of these calls."""
        lines = [f"    /* {quoted(step.node.operator + ' ' + ', '.join(step.node.origin))} */"]
        for function, arguments, _ in calls:
            try:
                before, name, words = self._call(function, arguments)
            except ValueError as error:
                what = step.node.origin[0] if step.node.origin else step.node.output
                raise ValueError(f"{step.node.operator} {shown(what)} cannot be written as C: {error}") from None
            lines += _block(before, f"CHECK({name}({', '.join(words)}));")
        return lines

    def _call(self, function: Any, arguments: Sequence[Any]) -> tuple[list[str], str, list[str]]:
        """The variables that a call needs, its function, and the arguments."""
        if not isinstance(function, ffi.CData) or address_of(function) not in self._functions:
            what = getattr(function, "function", function)  # that of a step which Python computes
            raise ValueError(f"it is computed by Python, by {getattr(what, '__name__', type(what).__name__)}()")
        variables = _Variables()
        words = [self._argument(value, kind, variables) for value, kind in zip(arguments, ffi.typeof(function).args)]
        return variables.lines, self._functions[address_of(function)], words

    def _argument(self, value: Any, kind: Any, variables: _Variables) -> str:
        if kind.kind in ("pointer", "function"):
            return self._pointer(value, kind, variables)
        return _number(value, kind)

    def _pointer(self, value: Any, kind: Any, variables: _Variables) -> str:
        """A pointer of this type. Where the value has none, it is a list of numbers or pointers."""
        if value is None or (isinstance(value, ffi.CData) and not address_of(value)):
            return "NULL"
        if isinstance(value, (tuple, list)):
            return self._list(list(value), kind.item, variables)
        address = address_of(value)
        if address in self._contexts:
            return f"m->contexts[{self._contexts[address]}]"
        given = ffi.typeof(value)
        if given.kind in ("pointer", "array") and given.item.kind == "struct":
            return self._structs(value, given, variables)
        if given.kind == "array" and given.item.kind == "pointer":
            return self._list(list(value), kind.item, variables)
        numbers = given.kind == "array" and given.item.kind == "primitive"
        if numbers and 0 < len(value) <= _SMALL and not self._memory.is_tensor(address):
            return self._list(list(value), given.item, variables)
        return self._memory.place(address, str(kind.item.cname))

    def _list(self, values: list[Any], item: Any, variables: _Variables) -> str:
        words = [self._argument(value, item, variables) for value in values]
        # Functions that take pointers to arrays declare them as `const float * const *`.
        spelled = f"const {item.item.cname} * const " if item.kind == "pointer" else f"{item.cname} "
        return variables.add(spelled, f"[] = {{{', '.join(words)}}};")

    def _structs(self, value: Any, given: Any, variables: _Variables) -> str:
        name = variables.add(f"{given.item.cname} ", f"[{len(value) if given.kind == 'array' else 1}];")
        variables.lines.append(f"memset({name}, 0, sizeof({name}));")
        for i in range(len(value) if given.kind == "array" else 1):
            assigned = self._fields(f"{name}[{i}]", value[i], given.item, variables)
            unbroken = " ".join(each.replace(" ", "\0") for each in assigned)
            lines = wrap(unbroken, _WIDTH, break_long_words=False, break_on_hyphens=False)
            variables.lines += [line.replace("\0", " ") for line in lines]
        return name

    def _fields(self, name: str, value: Any, kind: Any, variables: _Variables) -> Iterator[str]:
        """Assignments to what is not zero in a struct, an array of one, or a number."""
        if kind.kind == "struct":
            for field, info in kind.fields:
                yield from self._fields(f"{name}.{field}", getattr(value, field), info.type, variables)
        elif kind.kind == "array":
            for i, each in enumerate(value):
                yield from self._fields(f"{name}[{i}]", each, kind.item, variables)
        elif kind.kind == "pointer":
            word = self._pointer(value, kind, variables)
            if word != "NULL":
                yield f"{name} = {word};"
        elif float(value) != 0 or np.signbit(float(value)):
            yield f"{name} = {_number(value, kind)};"


class _Variables:
    """The variables that a call needs, in the order of their use."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0

    def add(self, before: str, after: str) -> str:
        """Declares one, and returns its name."""
        name = f"p{self._count}"
        self._count += 1
        self.lines.append(f"{before}{name}{after}")
        return name


def recorded_calls(calls: Sequence[Any]) -> Iterator[tuple[Any, Sequence[Any], Any]]:
    """The calls of the library that prepared calls consist of."""
    for call in calls:
        if isinstance(call, Prepared):
            yield from recorded(call)
        else:
            yield call, (), None


def _block(variables: list[str], call: str) -> list[str]:
    """A call, with its variables around it if it has any."""
    if not variables:
        return [f"    {call}"]
    return ["    {", *(f"        {line}" for line in (*variables, call)), "    }"]


def _functions() -> dict[int, str]:
    """The names of the functions of the library by their addresses."""
    found = {}
    for name in dir(lib):
        value = getattr(lib, name)
        if isinstance(value, ffi.CData) and ffi.typeof(value).kind == "function":
            found[address_of(value)] = name
    return found


def _number(value: Any, kind: Any) -> str:
    """A number with all its bits: the shortest decimal one that has them, since C++ before 2017 has no hexadecimal ones."""
    if kind.cname in ("float", "double"):
        number = float(value)
        if number != number or number in (float("inf"), float("-inf")):
            return "NAN" if number != number else "INFINITY" if number > 0 else "-INFINITY"
        return f"{np.float32(number)!s}f" if kind.cname == "float" else repr(number)
    number = int(value)
    if kind.kind == "enum":
        return str(kind.elements.get(number, f"({kind.cname}){number}"))
    if -(2**63) < number < 2**63:
        return str(number)
    return f"{number}u" if number > 0 else "(-9223372036854775807 - 1)"
