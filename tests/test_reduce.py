"""Reductions on every instruction set against NumPy in float64."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused, assert_same, assert_within, floats

U = 2.0**-24
SHAPES = [(), (5,), (3000,), (4, 700), (700, 4), (3, 1, 9), (4, 5, 67), (2, 3, 4, 5), (3, 130, 2, 65), (1, 1)]


def axes_of(rank: int) -> list[Any]:
    return [None, *[axes for n in range(rank + 1) for axes in combinations(range(rank), n)]]


def expected_of(x: Array, operation: str, axis: Any, keepdims: bool) -> tuple[Array, Array]:
    """The result in float64, and the bound of its error."""
    d = x.astype(np.float64)
    options = {"axis": axis, "keepdims": keepdims}
    sizes, squares = np.abs(d).sum(**options), (d * d).sum(**options)
    n = d.size / sizes.size
    if operation in ("max", "min"):
        result = d.max(**options) if operation == "max" else d.min(**options)
        return result, np.zeros_like(result)
    if operation == "logsumexp":
        largest = d.max(axis=axis, keepdims=True)
        result = np.log(np.exp(d - largest).sum(**options)) + largest.reshape(sizes.shape)
        return result, (70 + np.log(n) + np.abs(result)) * U
    return {
        "sum": (d.sum(**options), 70 * U * sizes),
        "mean": (d.mean(**options), 70 * U * sizes / n),
        "l1": (sizes, 70 * U * sizes),
        "l2": (np.sqrt(squares), 36 * U * np.sqrt(squares)),
        "sum_square": (squares, 70 * U * squares),
        "prod": (d.prod(**options), 2 * U * np.abs(d.prod(**options))),
    }[operation]


@pytest.mark.parametrize("operation", ["sum", "mean", "max", "min", "l2", "l1", "sum_square", "prod", "logsumexp"])
def test_reduce(isa: str, rng: np.random.Generator, operation: Any) -> None:
    for shape in SHAPES:
        x = np.asarray(floats(rng, *shape))
        if operation == "prod":
            x = np.asarray(1 + x / 100, np.float32)
        for axis in axes_of(len(shape)):
            for keepdims in (False, True):
                result = pysimd.reduce(x, operation, axis, keepdims=keepdims)
                expected, bound = expected_of(x, operation, axis, keepdims)
                assert_within(result, np.asarray(expected), np.asarray(bound))
            out = np.zeros_like(result)
            assert pysimd.reduce(x, operation, axis, keepdims=True, out=out) is out
            assert out.tobytes() == result.tobytes()


def test_most_dimensions(isa: str, rng: np.random.Generator) -> None:
    x = floats(rng, *[2] * 8)
    expected, bound = expected_of(x, "sum", (0, 3, 7), False)
    assert_within(pysimd.reduce(x, "sum", (0, 3, 7)), expected, bound)


def test_names(isa: str, rng: np.random.Generator) -> None:
    x = floats(rng, 4, 5, 6)
    for function, operation in (
        (pysimd.sum, "sum"),
        (pysimd.mean, "mean"),
        (pysimd.amax, "max"),
        (pysimd.amin, "min"),
        (pysimd.prod, "prod"),
        (pysimd.logsumexp, "logsumexp"),
    ):
        for axis in (None, 1, (0, -1)):
            expected = pysimd.reduce(x, operation, axis)  # type: ignore[arg-type]
            assert function(x, axis).tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_indices(isa: str, rng: np.random.Generator, name: str) -> None:
    function, of_numpy = getattr(pysimd, name), getattr(np, name)
    for shape in SHAPES[1:]:
        for x in (floats(rng, *shape), rng.integers(-2, 3, shape).astype(np.float32)):
            for special in (None, np.nan, np.inf, -np.inf):
                if special is not None:
                    x[rng.random(shape) < 0.1] = special
                for axis in (None, *range(-len(shape), len(shape))):
                    assert_same(function(x, axis), np.asarray(of_numpy(x, axis)))
                    assert_same(function(x, axis, keepdims=True), np.asarray(of_numpy(x, axis, keepdims=True)))
                axis = len(shape) // 2
                last = x.shape[axis] - 1 - of_numpy(np.flip(x, axis), axis)
                assert_same(function(x, axis, last=True), np.asarray(last))


def test_special_values(isa: str) -> None:
    nan, inf = np.nan, np.inf
    x = np.ones((40, 50), np.float32)
    for value in (nan, inf, -inf):
        for place in ((0, 0), (3, 49), (39, 17)):
            y = x.copy()
            y[place] = value
            for axis in (0, 1, None):
                for name in ("sum", "mean", "amax", "amin", "prod"):
                    assert_same(getattr(pysimd, name)(y, axis), np.asarray(getattr(np, name)(y, axis), np.float32))
    large = np.full((40, 50), 3e38, np.float32)
    large[:, 1::2] = -3e38
    assert_same(pysimd.sum(large, 1), np.zeros(40, np.float32))
    assert_within(pysimd.reduce(large[:, :5] * np.float32(0.2), "l2", 1), np.full(40, 6e37 * 5**0.5), np.full(40, 1e32))
    tiny = np.full((40, 50), 1e-30, np.float32)
    assert_within(pysimd.reduce(tiny, "l2", 0), np.full(50, 1e-30 * 40**0.5), np.full(50, 1e-35))
    rows = np.array([[inf, 1], [-inf, -inf], [nan, 1], [-inf, 3], [800, 800]], np.float32)
    assert_same(pysimd.logsumexp(rows, 1), np.array([inf, -inf, nan, 3, 800 + np.log(2)], np.float32))


def test_nothing() -> None:
    x = np.zeros((3, 0, 2), np.float32)
    inf = np.inf
    values = {"sum": 0, "mean": np.nan, "max": -inf, "min": inf, "l1": 0, "l2": 0, "prod": 1, "logsumexp": -inf}
    for operation, value in values.items():
        assert_same(pysimd.reduce(x, operation, 1), np.full((3, 2), value, np.float32))  # type: ignore[arg-type]
        assert pysimd.reduce(x, operation, 0).shape == (0, 2)  # type: ignore[arg-type]
    assert pysimd.argmax(x, 0).shape == (0, 2)


X = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"x": X.astype(float)}, TypeError, "x has dtype float64"),
        ({"x": X[:, ::2]}, ValueError, "x is not C-contiguous"),
        ({"x": X.reshape((1,) * 7 + (2, 3)), "axis": 0}, ValueError, "x has 9 dimensions"),
        ({"operation": "median"}, ValueError, "operation is 'median', expected 'sum'"),
        ({"axis": 2}, ValueError, "axis is 2, expected dimensions of the 2 that x has"),
        ({"axis": (0, -2)}, ValueError, r"axis is \(0, -2\), expected each dimension at most once"),
        ({"axis": 0.5}, TypeError, "axis is 0.5"),
    ],
)
def test_refused(arguments: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        pysimd.reduce(**{"x": X, "operation": "sum", **arguments})


def test_refused_indices() -> None:
    with pytest.raises(TypeError, match="axis is"):
        pysimd.argmax(X, (0, 1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected at least one element in the reduced dimension"):
        pysimd.argmin(np.zeros((2, 0), np.float32), 1)
    assert_refused(lambda out: pysimd.sum(X, 0, out=out), ValueError, "out has shape", np.zeros(2, np.float32))
    assert_refused(lambda out: pysimd.argmax(X, 0, out=out), TypeError, "out has dtype float32", np.zeros(3, np.float32))


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8", "int64", "uint64", "bool"])
@pytest.mark.filterwarnings("ignore")  # of overflows
def test_integers(dtype: str, isa: str, rng: np.random.Generator) -> None:
    limits = (0, 2) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    x = rng.integers(*limits, (3, 7, 5), "uint8" if dtype == "bool" else dtype).astype(dtype)
    functions: dict[Any, Any] = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}
    for axis in (None, 0, 1, (0, 2)):
        for name, function in functions.items():
            found = pysimd.reduce(x, name, axis)
            assert found.dtype == x.dtype
            np.testing.assert_array_equal(found, function(x, axis).astype(dtype))
    assert pysimd.mean(np.array([-3, -4], np.int32)) == -3
    np.testing.assert_array_equal(pysimd.argmax(x, axis=1), np.argmax(x, 1))
    np.testing.assert_array_equal(pysimd.argmin(x, axis=1), np.argmin(x, 1))
    with pytest.raises(TypeError, match="x has dtype"):
        pysimd.logsumexp(x)
