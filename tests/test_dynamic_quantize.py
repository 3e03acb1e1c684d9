"""Floats to bytes by their own range, on every instruction set: the formula in NumPy, and steps of other functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array

F = np.float32


def formula(x: Array) -> tuple[Array, Any, Any]:
    """With one rounding to float32 for each operation."""
    known = x[~np.isnan(x)]
    with np.errstate(all="ignore"):
        most, least = F(max(0, known.max(initial=0))), F(min(0, known.min(initial=0)))
        scale = F(F(most - least) / F(255)) or F(1)
        zero = np.rint(np.clip(np.nan_to_num(F(0) - F(least / scale), nan=0), 0, 255)).astype(np.uint8)
        whole = np.rint(x / scale).astype(np.float64) + zero
    return np.asarray(np.nan_to_num(np.clip(whole, 0, 255), nan=0)).astype(np.uint8), scale, zero


def assert_quantised(x: Array) -> None:
    y, scale, zero = pysimd.dynamic_quantize(x)
    expected = formula(x)
    assert [each.dtype.name for each in (y, scale, zero)] == ["uint8", "float32", "uint8"]
    assert [each.shape for each in (y, scale, zero)] == [x.shape, (), ()]
    assert scale == expected[1] and zero == expected[2]
    np.testing.assert_array_equal(y, expected[0])


def test_shapes(isa: str, rng: np.random.Generator) -> None:
    for shape in ((), (1,), (7,), (3, 5, 7), (0, 4), (40, 33, 65), (2500, 1001)):
        for shift in (0, 2, -9):
            assert_quantised(np.asarray(rng.standard_normal(shape) * 3 + shift, F))


def test_steps(isa: str, rng: np.random.Generator) -> None:
    """The same bytes as from the largest and the smallest element, and quantize_linear."""
    x = rng.standard_normal((9, 1000)).astype(F)
    y, scale, zero = pysimd.dynamic_quantize(x)
    most, least = F(pysimd.amax(x)), F(pysimd.amin(x))
    assert scale == F(F(most - least) / F(255)) and zero == np.rint(F(0) - F(least / scale))
    np.testing.assert_array_equal(y, pysimd.quantize_linear(x, float(scale), int(zero)))


@pytest.mark.parametrize(
    ("values", "scale", "zero", "expected"),
    [
        ([-253, 257, 0, 1, 2, 3, 4, 5], 2, 126, [0, 254, 126, 126, 127, 128, 128, 128]),
        ([0, -0.0], 1, 0, [0, 0]),
        ([-255, -1], 1, 255, [0, 254]),
        ([np.nan, 127, -128], 1, 128, [0, 255, 0]),
        ([np.nan], 1, 0, [0]),
        ([np.inf, 1, -2], np.inf, 0, [0, 0, 0]),
        ([-np.inf, np.inf, 3], np.inf, 0, [0, 0, 0]),
        ([3e38, -3e38, 1], np.inf, 0, [0, 0, 0]),
        ([1e-45, 0, -1e-44], 1, 0, [0, 0, 0]),
    ],
)
def test_special_values(isa: str, values: list[float], scale: float, zero: int, expected: list[int]) -> None:
    """At any place of a vector."""
    for before in (0, 3, 20, 70):
        x = np.array([values[-1]] * before + values, F)
        y, step, place = pysimd.dynamic_quantize(x)
        assert step == scale and place == zero
        np.testing.assert_array_equal(y[before:], expected)
        assert_quantised(x)


def test_results_in_given_arrays(isa: str, rng: np.random.Generator) -> None:
    """And a prepared call reads its source each time."""
    x = rng.standard_normal((4, 90)).astype(F)
    out = np.zeros((4, 90), np.uint8), np.zeros((), F), np.zeros((), np.uint8)
    assert pysimd.dynamic_quantize(x, out=out) is out
    run = pysimd.prepare(pysimd.dynamic_quantize, x, out=out)
    x -= 1
    run()
    for actual, expected in zip(out, formula(x)):
        np.testing.assert_array_equal(actual, expected)


def test_threads(isa: str, rng: np.random.Generator) -> None:
    x = rng.standard_normal(3_000_001).astype(F)
    x[2_500_000] = 9
    one = pysimd.dynamic_quantize(x)
    with pysimd.num_threads(3):
        for a, b in zip(pysimd.dynamic_quantize(x), one):
            np.testing.assert_array_equal(a, b)


X = np.arange(12, dtype=F).reshape(3, 4)


def test_bad_arguments() -> None:
    with pytest.raises(TypeError, match="x has dtype float64, expected float32"):
        pysimd.dynamic_quantize(X.astype(np.float64))
    with pytest.raises(ValueError, match="x is not C-contiguous"):
        pysimd.dynamic_quantize(X[:, ::2])
    with pytest.raises(TypeError, match="out is not a tuple of three arrays"):
        pysimd.dynamic_quantize(X, out=np.zeros((3, 4), np.uint8))  # type: ignore[arg-type]
    out = np.zeros((3, 4), np.uint8), np.zeros((), F), np.zeros((), np.uint8)
    with pytest.raises(TypeError, match=r"out\[1\] has dtype float64"):
        pysimd.dynamic_quantize(X, out=(out[0], np.zeros(()), out[2]))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"out\[0\] has shape \(4, 3\)"):
        pysimd.dynamic_quantize(X, out=(out[0].reshape(4, 3), *out[1:]))
    assert not out[0].any()


def test_overlap() -> None:
    memory = np.zeros(40, np.uint8)
    x, y = memory[:16].view(F), memory[16:20]
    with pytest.raises(ValueError, match=r"out\[0\] overlaps x"):
        pysimd.dynamic_quantize(x, out=(memory[12:16], np.zeros((), F), np.zeros((), np.uint8)))
    with pytest.raises(ValueError, match=r"out\[1\] overlaps out\[0\]"):
        pysimd.dynamic_quantize(x, out=(y, memory[16:20].view(F).reshape(()), np.zeros((), np.uint8)))
    with pytest.raises(ValueError, match=r"out\[2\] overlaps out\[0\]"):
        pysimd.dynamic_quantize(x, out=(y, np.zeros((), F), memory[17:18].reshape(())))
