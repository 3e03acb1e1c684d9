"""Classes of a few members, written as dataclasses are, in a tenth of the time.

``dataclasses`` compiles up to six functions for each class, at each import: 8 ms for the classes that a model needs, which
is a tenth of the time to load and prepare a small one. Here it is one piece of text for each. To type checkers they are
dataclasses, which is where ``frozen`` is enforced.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["EMPTY", "cached", "record", "replace"]

#: A default that all records share.
EMPTY: Mapping[str, Any] = {}

if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import replace
    from functools import cached_property as cached
else:

    def record(cls=None, *, frozen=False, eq=True):
        """The class with a constructor, and with equality and a hash of its members, unless `eq` is False.

        A default is one object for all, and so one that nobody changes.
        """
        if cls is None:
            return lambda of: record(of, frozen=frozen, eq=eq)
        names = tuple(cls.__annotations__)
        given = ", ".join(f"{name}=_{name}" if hasattr(cls, name) else name for name in names)
        lines = [f"def __init__(self, {given}):", *(f" self.{name} = {name}" for name in names)]
        made = {"__repr__": _shown}
        exec("\n".join(lines), {f"_{name}": getattr(cls, name) for name in names if hasattr(cls, name)}, made)
        if eq:
            made["__eq__"], made["__hash__"] = _compared(names, frozen)
        for name, of in made.items():
            if name not in vars(cls):
                setattr(cls, name, of)
        cls._members = names
        return cls

    def replace(given, **changes):
        """A record with other members; what it has computed from its members is not copied."""
        names = given._members
        return type(given)(*[changes[name] if name in changes else getattr(given, name) for name in names])

    class cached:
        """``functools.cached_property`` without a lock, which Python has in it until 3.12: a quarter of the time."""

        def __init__(self, function: Any) -> None:
            self._function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner: Any, name: str) -> None:
            self._name = name

        def __get__(self, given: Any, owner: Any = None) -> Any:
            if given is None:
                return self
            found = given.__dict__[self._name] = self._function(given)
            return found


def _compared(names: tuple[str, ...], frozen: bool) -> tuple[Any, Any]:
    """Equality and the hash of these members; no hash of what can be changed."""
    members = attrgetter(*names)

    def equal(mine: Any, other: Any) -> Any:
        return members(mine) == members(other) if type(other) is type(mine) else NotImplemented

    def hashed(mine: Any) -> int:
        return hash((members(mine),) if len(names) == 1 else members(mine))

    return equal, hashed if frozen else None


def _shown(given: Any) -> str:
    return f"{type(given).__name__}({', '.join(f'{name}={getattr(given, name)!r}' for name in given._members)})"
