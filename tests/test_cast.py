"""Conversions of types: every pair, the limits of integers, other dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import reference

TYPES = ("float32", "int32", "int8", "uint8", "int64", "uint64", "bool")
FLOATS = [
    0, -0.0, 0.5, -0.99, 2.5, -2.5, 127.5, 300, -129, 2**31 - 128, 2**31, -(2**31), 3e9, 2.0**63, 2.0**64, -3e30, np.inf,
    -np.inf, np.nan,
]  # fmt: skip
INTEGERS = [0, 1, -1, 2, 127, 128, 255, 256, -128, -129, 2**24 + 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)]


def _values(dtype: str) -> Any:
    if dtype == "float32":
        return np.array(FLOATS, np.float32)
    return np.array(INTEGERS, np.int64).astype(dtype)


@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_cast(source: str, target: str, isa: str) -> None:
    x = _values(source)
    for some in (x, np.resize(x, (3, 4, 1000)), x[:0], x[3:4].reshape(())):
        y = pysimd.cast(some, target)
        assert y.dtype == target
        assert y.shape == some.shape
        np.testing.assert_array_equal(y, reference.cast(some, np.dtype(target)))


@pytest.mark.parametrize("target", TYPES)
def test_cast_is_that_of_numpy(target: str) -> None:
    """Where the result is defined."""
    x = np.arange(0, 127, 0.25).astype(np.float32)
    for given in (x, _values("int64")):
        assert np.array_equal(pysimd.cast(given, target), given.astype(target))


def test_cast_into_an_array() -> None:
    x, out = np.arange(6, dtype=np.int32).reshape(2, 3), np.empty((2, 3), np.int64)
    assert pysimd.cast(x, np.int64, out=out) is out
    assert out.tolist() == [[0, 1, 2], [3, 4, 5]]
    call = pysimd.prepare(pysimd.cast, x, np.int64, out=out)
    x[0, 0] = -7
    assert call()[0, 0] == -7


def test_refusals() -> None:
    x = np.zeros(3, np.float32)
    with pytest.raises(TypeError, match="dtype has dtype float16, expected float32 or uint8 or "):
        pysimd.cast(x, np.float16)
    with pytest.raises(TypeError, match="x has dtype float64, expected float32 or uint8 or "):
        pysimd.cast(x.astype(np.float64), np.int32)
    with pytest.raises(TypeError, match="out has dtype int32, expected int64"):
        pysimd.cast(x, np.int64, out=np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="x is not C-contiguous"):
        pysimd.cast(x[::2], np.int64)
    with pytest.raises(ValueError, match="out overlaps x"):
        pysimd.cast(x, np.int32, out=x.view(np.int32))
