"""Calls of the library that one call makes, one after the other, as a call of Python's takes as long as a small step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import _cffi_backend

from pysimd._library import ffi, lib
from pysimd.network.binding import name_of_function

_new: Any = _cffi_backend.newp
_Call = tuple[Callable[..., Any], Sequence[Any]]


class Joined:
    """Calls of which neighbours are one call, with copies of their arguments.

    calls : with tuples of arguments.
    """

    __slots__ = ("_arrays", "calls")

    def __init__(self, calls: Sequence[_Call]) -> None:
        self.calls: list[_Call] = []
        self._arrays: dict[int, Any] = {}  # by the identities of lists of arguments
        run: list[tuple[Any, Any]] = []
        for function, arguments in calls:
            found = _runner_of(function) if isinstance(function, ffi.CData) else None
            if found is None:
                self._add(run)
                run = []
                self.calls.append((function, tuple(arguments)))
                continue
            array = self._arrays[id(arguments)] = _array_of_arguments(arguments, found[1])
            run.append((found[0], array))
        self._add(run)

    def _add(self, run: Sequence[tuple[Any, Any]]) -> None:
        if not run:
            return
        array = _new(_types()[1], len(run))
        for each, (function, arguments) in zip(array, run):
            each.run, each.arguments = function, arguments
        self.calls.append((lib.SimdnetRunCalls, (array, len(run))))

    def places(self, pointers: Sequence[Any]) -> list[Any]:
        """Where the copies have pointers that are in these places of the arguments, see ``Binding.point``."""
        return [
            (_set_pointer, self._arrays[id(target)], *rest) if id(target) in self._arrays else (set_in, target, *rest)
            for set_in, target, *rest in pointers
        ]


def _set_pointer(target: Any, key: int, value: Any) -> None:
    target[key].pointer = value


@cache
def _types() -> tuple[Any, Any]:
    return ffi.typeof("SimdnetArgument[]"), ffi.typeof("SimdnetCall[]")


@cache
def _runner_of(function: Any) -> tuple[Any, Sequence[str]] | None:
    """What runs a function of the library, and the members of its arguments; None if it must be called itself."""
    name = name_of_function(function)
    run = None if name is None else lib.SimdnetCallOf(name.encode())
    if not run:
        return None
    return run, tuple(map(_member, ffi.typeof(function).args))


def _member(kind: Any) -> str:
    return "pointer" if kind.kind == "pointer" else "real" if kind.cname in ("float", "double") else "number"


def _array_of_arguments(arguments: Sequence[Any], members: Sequence[str]) -> Any:
    array = _new(_types()[0], max(len(arguments), 1))
    for each, value, member in zip(array, arguments, members):
        setattr(each, member, value if member != "number" else int(value))
    return array
