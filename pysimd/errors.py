"""The library's last error as a Python exception."""

from __future__ import annotations

from typing import Any, NoReturn

import _cffi_backend

from pysimd._library import ffi, lib

_VALUE, _MEMORY, _STATE = 1, 2, 3


class StateError(ValueError):
    """A context was used before it had its weights or after it was closed, or was to be made a second time."""


_EXCEPTIONS = {_VALUE: ValueError, _MEMORY: MemoryError, _STATE: StateError}


def raise_last() -> NoReturn:
    """Raises what the library says about this thread's last call."""
    kind = lib.SimdnetLastErrorKind()
    text = ffi.string(lib.SimdnetLastError()).decode("utf-8", "replace")
    raise _EXCEPTIONS.get(kind, RuntimeError)(text or "the library refused the call without a reason")


#: errno as this thread's last call left it. The library sets it where it refuses, and looking at it costs a quarter of
#: asking for the last error: 0 says that nothing was refused, anything else that :func:`check` has to ask.
errno: Any = _cffi_backend.get_errno


def check() -> None:
    """Raises if this thread's last call was refused; for functions that return nothing."""
    _cffi_backend.set_errno(0)  # C does not, and what is left there would have every call ask
    if lib.SimdnetLastErrorKind():
        raise_last()
