"""Every computation of the library is started by :func:`call`: at once, or later and repeatedly by :func:`prepare`."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Callable, Generic, NoReturn, TypeVar

import _cffi_backend
import numpy as np

from pysimd._library import ffi, lib
from pysimd.errors import check, errno, raise_last, shown

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")
R = TypeVar("R")

_gc: Any = _cffi_backend.gcp  # what ffi.gc calls

Number = tuple[float]  # a parameter; for C, an array of one float
_Call = tuple[Callable[..., None], tuple[Any, ...], Any]  # function, arguments, other objects that these point to

#: The calls that :func:`prepare` records; None while nothing is recorded. Other threads have a context of their own.
_recorder: ContextVar[list[_Call] | None] = ContextVar("recorder", default=None)
_recording = _recorder.get


def is_recorded() -> bool:
    """Whether :func:`prepare` records calls: arrays then have no values yet, and may have others in each call."""
    return _recording() is not None


def call(function: Callable[..., None], *arguments: Any) -> None:
    """Calls a function of the library, and raises if it was refused. During :func:`prepare` the call is recorded instead.

    A tuple of numbers and a list of C arrays are converted to C arrays by cffi for the time of the call.
    """
    calls = _recording()
    if calls is not None:
        calls.append((function, tuple([_lasting(argument) for argument in arguments]), arguments))
        return
    try:
        function(*arguments)
    except (TypeError, OverflowError):  # of cffi, which does not name the argument
        _refuse_numbers(arguments)
        raise
    if errno():
        check()


def call_struct(function: Callable[..., None], *arguments: Any, held: Any) -> None:
    """As :func:`call`, of a function that takes a struct.

    held : what the struct points to, which a prepared call keeps alive.
    """
    calls = _recording()
    if calls is not None:
        calls.append((function, arguments, held))
        return
    function(*arguments)
    if errno():
        check()


def create(function: Callable[..., Any], *arguments: Any) -> Any:
    """The context that a function of the library returns, released with its last reference. Raises if it is refused."""
    handle = function(*arguments)
    if handle == ffi.NULL:
        raise_last()
    return _gc(handle, lib.SimdRelease)


def set_params(function: Callable[..., None], handle: Any, *arguments: Any) -> None:
    """Sets the parameters of a context, and raises if they are refused."""
    function(handle, *arguments)
    check()


def number_of(function: Callable[..., int], *arguments: Any) -> int:
    """The number that a function of the library returns, which decides the shape of a result: it cannot be prepared."""
    if _recording() is not None:
        raise TypeError("the shape of the result depends on the values of the arguments, so the call cannot be prepared")
    result = function(*arguments)
    if errno():
        check()
    return result


def _refuse_numbers(arguments: tuple[Any, ...]) -> None:
    """Raises for a parameter that is not a number, or an integer that is too large for a float."""
    for argument in arguments:
        if type(argument) is tuple and not hasattr(argument[0], "__float__"):
            raise TypeError(f"{argument[0]!r} is given as a parameter, expected a number") from None
        if type(argument) is tuple and isinstance(argument[0], int) and argument[0].bit_length() > 1023:
            raise ValueError(f"{shown(argument[0])} is given as a parameter, which is too large for a float") from None


def _lasting(argument: Any) -> Any:
    """An argument for many calls: what cffi would convert each time is converted once."""
    if type(argument) is tuple:
        _refuse_numbers((argument,))
        return ffi.new("float[]", argument)
    if type(argument) is list:
        return ffi.new(f"{ffi.typeof(argument[0]).item.cname} *[]", argument)
    return argument


class Prepared(Generic[R]):
    """A call with its arguments bound and checked; see :func:`prepare`. It keeps the arrays and the context alive.

    result : what each call returns: always the same arrays, written again.

    >>> x = np.zeros(3, np.float32)
    >>> call = pysimd.prepare(pysimd.exp, x)
    >>> call
    <pysimd.Prepared exp: float32 (3,) -> float32 (3,), 24 bytes>
    >>> call()
    array([1., 1., 1.], dtype=float32)
    """

    __slots__ = ("_arguments", "_function", "_held", "_name", "result")

    _function: Callable[..., None]
    _arguments: tuple[Any, ...]

    def __init__(self, function: Callable[..., R], calls: list[_Call], held: Any, result: R) -> None:
        self._function, self._arguments, _ = calls[0] if len(calls) == 1 else (_one_by_one, (calls,), None)
        self._held = held, calls
        context = getattr(function, "__self__", None)
        self._name = repr(context) if context is not None else getattr(function, "__name__", repr(function))
        self.result = result

    def __call__(self) -> R:
        self._function(*self._arguments)
        if errno():
            check()
        return self.result

    def __repr__(self) -> str:
        given, results = list(_arrays(self._held[0])), list(_arrays(self.result))
        memory = sum({array.ctypes.data: array.nbytes for array in (*given, *results)}.values())
        return f"<pysimd.Prepared {self._name}: {_described(given)} -> {_described(results)}, {memory} bytes>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a prepared call points into the memory of its process: pickle the arguments, prepare it there")


def _arrays(value: Any) -> Iterator[Any]:
    """The arrays in arguments or results."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _arrays(part)


def _described(arrays: list[Any]) -> str:
    return ", ".join(f"{array.dtype.name} {array.shape}" for array in arrays)


def _one_by_one(calls: list[_Call]) -> None:
    """Several calls, for the images of a batch, or none for an empty one."""
    lib.SimdVersion()  # clears the last error of an earlier call
    for function, arguments, _ in calls:
        call(function, *arguments)


def prepare(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Prepared[R]:
    """Binds the arguments of a function of this package, or of a context, for many calls with the same arrays.

    function, args, kwargs : the function, and the arguments of its calls.

    Arguments are checked once, here, and nothing is computed yet: a call then takes little more time than the C function.
    Numbers are read here, too: those that replace coefficients, parameters of activations, an array of one element that
    stands for several channels. All other arrays are read by each call, indices and lengths of sequences among them.
    Without ``out=`` the output is allocated here, and each call writes it again. Errors that only the library detects are
    raised by the calls. :func:`convolution` and :func:`deconvolution` pack their weights here; a context uses the weights
    that it has at the time of the call, and its own instruction set. The limit of instruction sets at the time of
    preparation is not kept, except by functions that create a context, such as :func:`convolution` and :func:`add`.
    Computations of a signal handler that runs on this thread meanwhile would be recorded, too.

    Raises TypeError for a function that is not part of this package or computes nothing in the library, and everything that
    the function raises.

    >>> x, y = np.ones(3, np.float32), np.empty(3, np.float32)
    >>> call = pysimd.prepare(pysimd.relu, x, out=y)
    >>> for value in (2, -3):
    ...     x[:] = value
    ...     print(call())  # y is written again
    [2. 2. 2.]
    [0. 0. 0.]
    """
    if not str(getattr(function, "__module__", "")).startswith("pysimd."):
        raise TypeError(f"function is {shown(function)}, expected a function of pysimd or the forward() of a context")
    calls: list[_Call] = []
    token = _recorder.set(calls)
    try:
        result = function(*args, **kwargs)
    finally:
        _recorder.reset(token)
    if not calls and np.size(result):  # type: ignore[arg-type]
        raise TypeError(f"function is {function!r}, which calls nothing that can be prepared")
    return Prepared(function, calls, (args, kwargs), result)
