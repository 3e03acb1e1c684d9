"""Old names of arguments, which are accepted with a DeprecationWarning for one version."""

from __future__ import annotations

import warnings
from functools import wraps
from typing import Any, Callable, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def renamed(*, frames: int = 0, **names: str) -> Callable[[Function], Function]:
    """A decorator of a function whose keyword arguments have new names: ``renamed(old="new")``. Type checkers see the new
    names alone.

    frames : the number of functions between the caller, to whom the warning points, and this one.
    """

    def decorate(function: Function) -> Function:
        shown = function.__qualname__.replace(".__init__", "")

        @wraps(function)
        def translated(*args: Any, **options: Any) -> Any:
            for old in names.keys() & options.keys():
                new = names[old]
                if new in options:
                    raise TypeError(f"{old} is the old name of {new}, expected {new} alone")
                text = (
                    f"the argument {old} of pysimd.{shown}() is called {new} now; {old} is accepted until the next version"
                )
                warnings.warn(text, DeprecationWarning, stacklevel=2 + frames)
                options[new] = options.pop(old)
            return function(*args, **options)

        return cast(Function, translated)

    return decorate
