"""The base of objects that hold a context of the library: created once for a shape, used many times."""

from __future__ import annotations

import re
from functools import wraps
from types import TracebackType
from typing import Any, Callable, TypeVar

from pysimd._library import ffi, lib
from pysimd.annotations import Array, Shape
from pysimd.calls import Prepared, prepare
from pysimd.errors import StateError, check

Self = TypeVar("Self", bound="Context")


def _once(init: Callable[..., None]) -> Callable[..., None]:
    """An ``__init__`` that is refused, before it changes anything, if the context exists already.

    Python's message about wrong arguments names the ``__init__`` that was called last, which may be that of a base class: it
    is changed to name the class of the context.
    """

    @wraps(init)
    def guarded(self: Context, /, *args: Any, **options: Any) -> None:
        if self._made:
            raise StateError(f"{type(self).__name__} exists already and cannot be changed: create a new one")
        try:
            init(self, *args, **options)
        except TypeError as error:
            text = re.sub(r"^(\S+\.)?__init__\(\)", f"{type(self).__name__}()", str(error))
            if text == str(error):
                raise
            raise TypeError(text) from None

    return guarded


class Context:
    """A context of the library, for shapes and options that do not change: attributes are read-only.

    It is released when the object is deleted, by :meth:`close`, or at the end of a ``with`` block, whichever comes first.
    Calls that run in other threads at that moment are not affected: the context exists until the last of them has returned.
    A pickle contains the arguments and the weights, and loading creates a new context with the instruction set in use then.

    >>> context = pysimd.Add16b((3,))
    >>> context.close()
    >>> context
    <pysimd.Add16b closed>
    """

    _handle: Any = None  # so that a subclass whose __init__ failed is closed
    _made: bool = False
    _arguments: dict[str, Any]  # of __init__, to pickle

    def __init_subclass__(cls, **options: Any) -> None:
        """The sizes that C reads and writes in every call were passed when the context was created, so the attributes that
        they follow from must not change. Public attributes are properties, and every subclass has this guard.
        """
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = _once(cls.__init__)  # type: ignore[method-assign]

    @_once
    def __init__(self, handle: Any, arguments: dict[str, Any]) -> None:
        self._handle = handle
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

    def prepare(self, *arrays: Any, **options: Any) -> Prepared[Array]:
        """Binds the arguments of :meth:`forward` for many calls, see :func:`pysimd.prepare`.

        The prepared call keeps the context alive, even if it is closed before.
        """
        return prepare(self.forward, *arrays, **options)

    @property
    def closed(self) -> bool:
        """Whether the context has been released."""
        return self._handle is None

    @property
    def info(self) -> str:
        """How the context computes: algorithm, tile, instruction set."""
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
        name = f"pysimd.{type(self).__name__}"
        return f"<{name} closed>" if self.closed else f"<{name} {self._described()}: {self.info}{self._memory()}>"

    def _described(self) -> str:
        """Shapes and options, for people."""
        return ", ".join(f"{name}={value!r}" for name, value in self._arguments.items())

    def _memory(self) -> str:
        """The memory that the context holds, for people."""
        return ""

    def _weights(self) -> tuple[Any, ...] | None:
        """The arguments of set_params, to pickle; None for a context without weights or before they are set."""
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        self._open()
        return _restored, (type(self), dict(self._arguments), self._weights())


class ShapedContext(Context):
    """A context with one input and one output."""

    _src_shape: Shape
    _dst_shape: Shape

    @property
    def src_shape(self) -> Shape:
        """The shape of the input."""
        return self._src_shape

    @property
    def dst_shape(self) -> Shape:
        """The shape of the output."""
        return self._dst_shape

    def _described(self) -> str:
        return f"{self._src_shape} -> {self._dst_shape}"


class SharingContext(Context):
    """A context with parameters, which others can use as well."""

    _given: tuple[Any, ...] | None = None  # the arguments of set_params

    def share_params(self, other: SharingContext) -> None:
        """Uses the parameters of another context, in place of :meth:`set_params`, without a copy of the packed weights.

        other : a context of the same class with parameters, whose shape differs in the number and size of images, padding,
            stride and dilation only; of a recurrent layer in the number and the length of sequences, and in activations.

        For a network that runs with images of several sizes. Results have the same bits as with :meth:`set_params`. Weights
        are packed for an algorithm, which may depend on the size of images: if the other context packs them in another way,
        this raises ValueError, which says what differs, and the context is unchanged. Then call :meth:`set_params`.

        >>> small = pysimd.Convolution32f((7, 7, 16), 8, kernel=1)
        >>> large = pysimd.Convolution32f((28, 28, 16), 8, kernel=1)
        >>> small.set_params(np.ones((1, 1, 16, 8), np.float32))
        >>> large.share_params(small)
        >>> small.close()
        >>> float(large(np.ones((28, 28, 16), np.float32))[5, 5, 0])
        16.0

        The parameters exist as long as any context uses them; ``internal_buffer_size`` counts only what is not shared.
        Not while :meth:`forward` of this context, or :meth:`set_params` of either, runs. Raises TypeError for another class,
        :class:`StateError` if the other context has no parameters yet.
        """
        if not isinstance(other, SharingContext):
            raise TypeError(f"other is a {type(other).__name__}, expected a {type(self).__name__}")
        context, handle = self._open(), other._open()
        if other._given is None:
            raise StateError("other has no weights yet: call its set_params() first")
        lib.SimdnetShareParams(context, handle)
        check()
        self._given = other._given

    def _weights(self) -> tuple[Any, ...] | None:
        return self._given

    def _bytes(self) -> int:
        """The bytes that the context holds."""
        raise NotImplementedError

    def _memory(self) -> str:
        return ", no weights yet" if self._given is None else f", {self._bytes()} bytes"


def _restored(cls: Any, arguments: dict[str, Any], weights: tuple[Any, ...] | None) -> Any:
    made = cls(**arguments)
    if weights is not None:
        made.set_params(*weights)
    return made
