"""Every computation of the library goes through :func:`call`: now, or later as often as wanted by :func:`prepare`."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Callable, Generic, NoReturn, TypeVar

import numpy as np

from pysimd._library import ffi, lib
from pysimd.errors import check, errno

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")
R = TypeVar("R")

Number = tuple[float]  # a parameter, which C takes as an array of one float
_Call = tuple[Callable[..., None], tuple[Any, ...], Any]  # function, arguments, what these point to besides

#: What :func:`prepare` has called functions write their calls into, in its own context: other threads compute meanwhile.
_recorder: ContextVar[list[_Call] | None] = ContextVar("recorder", default=None)
_recording = _recorder.get


def call(function: Callable[..., None], *arguments: Any) -> None:
    """Calls a function of the library, and raises what it refuses. While :func:`prepare` listens, the call is noted instead.

    Of a tuple of numbers and of a list of C arrays cffi makes C arrays for the time of the call.
    """
    calls = _recording()
    if calls is not None:
        calls.append((function, tuple([_lasting(argument) for argument in arguments]), arguments))
        return
    function(*arguments)
    if errno():
        check()


def _lasting(argument: Any) -> Any:
    """An argument for many calls: what cffi would make a C array of each time is one from now on."""
    if type(argument) is tuple:
        return ffi.new("float[]", argument)
    if type(argument) is list:
        return ffi.new("float *[]", argument)
    return argument


class Prepared(Generic[R]):
    """A call with its arguments bound and checked; see :func:`prepare`. It keeps the arrays and the context alive.

    result : what each call gives: always the same arrays, written anew.
    """

    __slots__ = ("_arguments", "_function", "_held", "result")

    _function: Callable[..., None]
    _arguments: tuple[Any, ...]

    def __init__(self, calls: list[_Call], held: Any, result: R) -> None:
        self._function, self._arguments, _ = calls[0] if len(calls) == 1 else (_in_turn, (calls,), None)
        self._held = held, calls
        self.result = result

    def __call__(self) -> R:
        self._function(*self._arguments)
        if errno():
            check()
        return self.result

    def __reduce__(self) -> NoReturn:
        raise TypeError("a prepared call points into the memory of its process: pickle the arguments, prepare it there")


def _in_turn(calls: list[_Call]) -> None:
    """Several calls, or none: a batch of so many images."""
    lib.SimdVersion()  # leaves no last error of an earlier call behind
    for function, arguments, _ in calls:
        call(function, *arguments)


def prepare(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Prepared[R]:
    """Binds the arguments of a function of this package, or of a context, for many calls with the same arrays::

        call = pysimd.prepare(pysimd.scale, x, scale, bias, out=y)
        while read(x):
            call()  # y is written again

    Arguments are checked once, here, where nothing is computed yet: a call costs little more than that of the C function.
    Without ``out=`` the output is allocated here, and each call writes it again. What the library itself refuses is raised
    by the calls. :func:`convolution` and the like set their weights here; that of a context uses those that it has when it
    is called, and its instruction set. A function that is prepared below a cap of the instruction set does not keep it, but
    for those that make a context here, as :func:`convolution` and :func:`add` do. A signal's handler that computes on this
    thread meanwhile would be noted, too.

    TypeError for a function that is none of this package, or computes nothing in the library.
    """
    if not str(getattr(function, "__module__", "")).startswith("pysimd."):
        raise TypeError(f"function is {function!r}, expected a function of pysimd or a context")
    calls: list[_Call] = []
    token = _recorder.set(calls)
    try:
        result = function(*args, **kwargs)
    finally:
        _recorder.reset(token)
    if not calls and np.size(result):  # type: ignore[arg-type]
        raise TypeError(f"function is {function!r}, which calls nothing that could be prepared")
    return Prepared(calls, (args, kwargs), result)
