"""The base of objects that hold a context of the library: made once for a shape, used many times."""

from __future__ import annotations

from functools import wraps
from types import TracebackType
from typing import Any, Callable, TypeVar

from pysimd._arrays import Array
from pysimd._library import ffi, lib
from pysimd.calls import Prepared, prepare
from pysimd.errors import StateError, raise_last

Self = TypeVar("Self", bound="Context")


def _once(init: Callable[..., None]) -> Callable[..., None]:
    """An ``__init__`` that is refused, before it changes anything, by a context that is made already."""

    @wraps(init)
    def guarded(self: Context, /, *args: Any, **options: Any) -> None:
        if self._made:
            raise StateError(f"{type(self).__name__} is made already and cannot be changed: make a new one")
        init(self, *args, **options)

    return guarded


class Context:
    """A context of the library. What it was made with does not change: attributes are read-only.

    It is released when the object goes, by :meth:`close`, or at the end of a ``with`` block; whichever comes first. Calls
    that run in other threads at that moment still end well: the context lives until the last of them has returned. A pickle
    holds the arguments and the weights, from which loading makes a new context (with the instruction set in use then).
    """

    _handle: Any = None  # so a subclass that failed before it had one is closed
    _made: bool = False
    _arguments: dict[str, Any]  # of __init__, to pickle

    def __init_subclass__(cls, **options: Any) -> None:
        """C was given sizes when the context was made, and reads and writes as much in every call: so what they follow from
        must not change. Public attributes are properties, and no class can be without this guard.
        """
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = _once(cls.__init__)  # type: ignore[method-assign]

    @_once
    def __init__(self, handle: Any, arguments: dict[str, Any]) -> None:
        if handle == ffi.NULL:
            raise_last()
        self._handle = ffi.gc(handle, lib.SimdRelease)
        self._arguments = arguments
        self._made = True

    def _open(self) -> Any:
        """The context for a call; the caller's reference keeps it alive during the call."""
        handle = self._handle
        if handle is None:
            raise StateError(f"{type(self).__name__} is closed")
        return handle

    def close(self) -> None:
        """Releases the context; may be called again."""
        self._handle = None

    def forward(self, *arrays: Any, **options: Any) -> Array:
        """Computes; see the class of the context."""
        raise NotImplementedError

    def prepare(self, *arrays: Array, **options: Array | None) -> Prepared[Array]:
        """Binds the arguments of :meth:`forward` for many calls, see :func:`pysimd.prepare`.

        The context lives until the prepared call goes, also when it is closed before.
        """
        return prepare(self.forward, *arrays, **options)

    @property
    def closed(self) -> bool:
        return self._handle is None

    @property
    def info(self) -> str:
        """How the context does its work: algorithm, tile, instruction set."""
        return str(ffi.string(lib.SimdnetContextInfo(self._open())).decode("ascii"))

    def __enter__(self: Self) -> Self:
        self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<pysimd.{type(self).__name__} {'closed' if self.closed else self.info}>"

    def _weights(self) -> tuple[Any, ...] | None:
        """The arguments of set_params, to pickle; None for a context without weights or before they are set."""
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        self._open()
        return _restored, (type(self), dict(self._arguments), self._weights())


def _restored(cls: Any, arguments: dict[str, Any], weights: tuple[Any, ...] | None) -> Any:
    made = cls(**arguments)
    if weights is not None:
        made.set_params(*weights)
    return made
