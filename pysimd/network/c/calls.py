"""The text of calls in C99 that is C++11, too: arrays and structs are variables, and pointers have their types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from pysimd._library import ffi, lib
from pysimd.errors import shown
from pysimd.network.c.memory import Memory
from pysimd.network.c.names import quoted
from pysimd.network.c.types import C_TYPES
from pysimd.network.calls import OWN, Call, Made, PythonCall, Steps, Struct, Structs, parts_of
from pysimd.network.graph import Node
from pysimd.network.open_arrays import is_array
from pysimd.network.sizes import Computed, Size, in_c
from pysimd.network.views import Constant, View

if TYPE_CHECKING:
    from pysimd.network.c.arrays import Arrays

_SMALL = 16  # elements that are written in the source
_WIDTH = 120  # characters of a line of assignments


class Calls:
    """Writes the calls of a program.

    memory : of its constants.
    constants : the arrays that views of constants stand for, by name.
    places : the texts of the offsets of roots in the block.
    arrays : writes arrays that depend on open sizes, if sizes are open.
    """

    def __init__(
        self, memory: Memory, constants: Mapping[str, Any], places: Mapping[str, str], arrays: Arrays | None = None
    ) -> None:
        self._memory, self._constants, self._places, self._arrays = memory, constants, places, arrays

    def created(self, made: Made, number: int, shared: int | None) -> list[str]:
        """The lines for a context.

        number : its own.
        shared : that of one with the same weights, if there is one.
        """
        before, words = self._words(made.create, number)
        lines = _block(before, f"CREATE({number}, {made.create.function}({', '.join(words)}));")
        if made.params is None:
            return lines
        try:
            before, (_, *words) = self._words(made.params, number)  # without the context itself
        except ValueError as error:
            raise ValueError(f"{made.params.function}() cannot be written as C: {error}") from None
        given = ", ".join((made.params.function, *words))
        if any(map(is_array, parts_of(made.params))):  # those of other sizes have other weights
            return lines + _block(before, f"CHECK({made.params.function}(m->contexts[{number}], {', '.join(words)}));")
        how = f"PARAMS({number}" if shared is None else f"SHARE({number}, {shared}"
        return lines + _block(before, f"{how}, {given});")

    def step(self, node: Node, steps: Steps, number: int) -> list[str]:
        """The lines for a node.

        number : that of its context.
        """
        lines = [f"    /* {quoted(node.operator + ' ' + ', '.join(node.origin))} */"]
        for each in steps.calls:
            what = node.origin[0] if node.origin else node.outputs[0]
            if isinstance(each, PythonCall):
                by = getattr(each.function, "__name__", type(each.function).__name__)
                raise ValueError(
                    f"{node.operator} {shown(what)} cannot be written as C: it is computed by Python, by {by}()"
                )
            try:
                before, words = self._words(each, number)
            except ValueError as error:
                raise ValueError(f"{node.operator} {shown(what)} cannot be written as C: {error}") from None
            lines += _block(before, f"CHECK({each.function}({', '.join(words)}));")
        return lines

    def _words(self, call: Call, own: int) -> tuple[list[str], list[str]]:
        """The variables that a call needs, and its arguments."""
        variables = _Variables()
        kinds = ffi.typeof(getattr(lib, call.function)).args
        return variables.lines, [self._argument(value, kind, own, variables) for value, kind in zip(call.arguments, kinds)]

    def _argument(self, value: Any, kind: Any, own: int, variables: _Variables) -> str:
        if kind.kind not in ("pointer", "function"):
            return self._number(value, kind)
        if value is None:
            return "NULL"
        if value is OWN:
            return f"m->contexts[{own}]"
        if is_array(value) or (isinstance(value, Constant) and is_array(value.values)):
            return self._pointer(value if is_array(value) else value.values, kind)
        if isinstance(value, Constant):
            return self._data(self._memory.offset(self._constants[value.root]), kind)
        if isinstance(value, View):
            return self._view(value, kind)
        if isinstance(value, Struct):
            return self._structs(value.kind, (value.members,), own, variables)
        if isinstance(value, Structs):
            return self._structs(value.kind, value.each, own, variables)
        if isinstance(value, np.ndarray):
            return self._array(value, kind, variables)
        words = [self._argument(each, kind.item, own, variables) for each in value]
        # Functions that take pointers to arrays declare them as `const float * const *`.
        spelled = f"const {kind.item.item.cname} * const " if kind.item.kind == "pointer" else f"{kind.item.cname} "
        return variables.add(spelled, f"[] = {{{', '.join(words)}}};")

    def _view(self, view: View, kind: Any) -> str:
        """A pointer into the block, or into a part of a constant."""
        if is_array(self._constants.get(view.root)):
            return self._pointer(self._constants[view.root], kind, in_c(view.offset))
        if view.root in self._constants:
            return self._data(in_c(self._memory.offset(self._constants[view.root]) + view.offset), kind)
        place, offset = self._places[view.root], in_c(view.offset)
        if place.isdigit() and offset.isdigit():
            return f"TENSOR({kind.item.cname}, {int(place) + int(offset)})"
        return f"TENSOR({kind.item.cname}, {place if offset == '0' else f'{place} + {offset}'})"

    def _pointer(self, array: Any, kind: Any, offset: str = "0") -> str:
        assert self._arrays is not None
        return self._arrays.pointer(array, kind.item.cname, offset)

    def _number(self, value: Any, kind: Any) -> str:
        if not is_array(value):
            return number(value, kind)
        assert self._arrays is not None
        return f"({kind.cname}){self._arrays.element(value)}"

    def _data(self, offset: int | str, kind: Any) -> str:
        return f"DATA({kind.item.cname}, {offset})"

    def _array(self, values: Any, kind: Any, variables: _Variables) -> str:
        dense = np.ascontiguousarray(values)
        if 0 < dense.size <= _SMALL and dense.dtype.name in C_TYPES:
            spelled = C_TYPES[dense.dtype.name]
            words = [number(value, ffi.typeof(spelled)) for value in dense.reshape(-1).tolist()]
            return variables.add(f"{spelled} ", f"[] = {{{', '.join(words)}}};")
        return self._data(self._memory.offset(values if dense.flags.c_contiguous and dense is values else dense), kind)

    def _structs(self, kind: str, each: Sequence[Mapping[str, Any]], own: int, variables: _Variables) -> str:
        name = variables.add(f"{kind} ", f"[{len(each)}];")
        variables.lines.append(f"memset({name}, 0, sizeof({name}));")
        for i, members in enumerate(each):
            assigned = list(self._members(f"{name}[{i}]", members, kind, own, variables))
            unbroken = " ".join(text.replace(" ", "\0") for text in assigned)
            lines = wrap(unbroken, _WIDTH, break_long_words=False, break_on_hyphens=False)
            variables.lines += [line.replace("\0", " ") for line in lines]
        return name

    def _members(self, name: str, members: Mapping[str, Any], kind: str, own: int, variables: _Variables) -> Iterator[str]:
        """Assignments to what is not zero."""
        for member, info in ffi.typeof(kind).fields:
            if member == "size":
                yield f"{name}.size = sizeof({name});"
            value = members.get(member)
            if info.type.kind == "pointer":
                word = self._argument(value, info.type, own, variables)
                values = [] if word == "NULL" else [(member, word)]
            elif isinstance(value, tuple):
                of = info.type.item
                values = [(f"{member}[{i}]", self._number(n, of)) for i, n in enumerate(value) if not _is_zero(n)]
            else:
                values = [] if value is None or _is_zero(value) else [(member, self._number(value, info.type))]
            for place, word in values:
                yield f"{name}.{place} = {word};"


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


def _is_zero(value: Any) -> bool:
    return not isinstance(value, (Size, Computed)) and float(value) == 0 and not np.signbit(float(value))


def _block(variables: list[str], call: str) -> list[str]:
    """A call, with its variables around it if it has any."""
    if not variables:
        return [f"    {call}"]
    return ["    {", *(f"        {line}" for line in (*variables, call)), "    }"]


def number(value: Any, kind: Any) -> str:
    """A number with all its bits: the shortest decimal one that has them, since C++ before 2017 has no hexadecimal ones."""
    if isinstance(value, Size):
        return f"({kind.cname})({in_c(value)})"
    if kind.cname in ("float", "double"):
        found = float(value)
        if found != found or found in (float("inf"), float("-inf")):
            return "NAN" if found != found else "INFINITY" if found > 0 else "-INFINITY"
        return f"{np.float32(found)!s}f" if kind.cname == "float" else repr(found)
    found = int(value)
    if kind.kind == "enum":
        return str(kind.elements.get(found, f"({kind.cname}){found}"))
    if -(2**63) < found < 2**63:
        return str(found)
    return f"{found}u" if found > 0 else "(-9223372036854775807 - 1)"
