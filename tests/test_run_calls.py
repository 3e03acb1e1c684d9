"""SimdnetRunCalls(): many prepared calls in one, and what the models make of their calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pysimd._library import ffi, lib
from pysimd.network.binding import Binding
from pysimd.network.calls import Call
from pysimd.network.run_calls import Joined
from support import run_calls


def test_the_file_is_that_of_the_header() -> None:
    assert run_calls.FILE.read_text() == run_calls.text()


def _relu(src: Any, dst: Any, slope: float = 0.0) -> tuple[Any, list[Any]]:
    call = Call("SimdSynetRelu32f", (src, src.size, np.array([slope], np.float32), dst))
    binding = Binding(None, {})
    bound = binding.call(call)
    bound.arguments[3] = ffi.cast("float *", dst.ctypes.data)
    _KEPT.append((binding, src, dst))
    return bound.function, bound.arguments


_KEPT: list[Any] = []


def test_calls_are_made_in_order() -> None:
    """With pointers, integers and floats; a function of Python is between two runs."""
    x, y, z = np.array([-2, 1, -4], np.float32), np.zeros(3, np.float32), np.zeros(3, np.float32)
    seen = []
    joined = Joined([_relu(x, y, 0.5), (lambda: seen.append(y.copy()), []), _relu(y, z, 0.0), _relu(z, x, 1.0)])
    assert [function == lib.SimdnetRunCalls for function, _ in joined.calls] == [True, False, True]
    for function, arguments in joined.calls:
        function(*arguments)
    np.testing.assert_array_equal(seen[0], [-1, 1, -2])
    np.testing.assert_array_equal(x, [0, 1, 0])


def test_a_pointer_is_replaced() -> None:
    x, y, other = np.full(3, 2, np.float32), np.zeros(3, np.float32), np.zeros(3, np.float32)
    function, arguments = _relu(x, y)
    joined = Joined([(function, arguments)])
    ((set_in, target, key),) = joined.places([(setattr, arguments, 3)])
    set_in(target, key, ffi.cast("float *", other.ctypes.data))
    for each, given in joined.calls:
        each(*given)
    assert other.tolist() == [2, 2, 2] and y.tolist() == [0, 0, 0]


def test_the_first_refusal_ends_it() -> None:
    """Its sentence stays, and later calls write nothing."""
    x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
    function, arguments = _relu(x, y)
    joined = Joined([(function, [ffi.NULL, *arguments[1:]]), (function, arguments)])
    ((run, given),) = joined.calls
    run(*given)
    assert lib.SimdnetLastErrorKind() == 1 and b"SimdSynetRelu32f: src is NULL" in ffi.string(lib.SimdnetLastError())
    assert y.tolist() == [0, 0, 0]
    lib.SimdnetRunCalls(ffi.NULL, 1)
    assert ffi.string(lib.SimdnetLastError()) == b"SimdnetRunCalls: calls is NULL, expected an array"
    lib.SimdnetRunCalls(ffi.NULL, 0)
    assert lib.SimdnetLastErrorKind() == 0
    lib.SimdnetRunCalls(ffi.new("SimdnetCall[2]"), 2)
    assert b"calls[0].run is NULL" in ffi.string(lib.SimdnetLastError())


@pytest.mark.parametrize("name", ["SimdVersion", "SimdnetRunCalls", "", "SimdSynetRelu32"])
def test_functions_that_it_does_not_have(name: str) -> None:
    assert lib.SimdnetCallOf(name.encode()) == ffi.NULL and lib.SimdnetLastErrorKind() == 0


def test_no_name() -> None:
    assert lib.SimdnetCallOf(ffi.NULL) == ffi.NULL
    assert ffi.string(lib.SimdnetLastError()) == b"SimdnetCallOf: name is NULL, expected the name of a function"
