"""The largest and smallest values against the reference; ties, NaN, invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_same, floats, reference


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_top_k(rng: np.random.Generator, axis: int, largest: bool) -> None:
    for shape in [(1, 1, 1), (3, 7, 5), (20, 3, 17), (2, 130, 3)]:
        for x in (floats(rng, *shape), rng.integers(-2, 3, shape).astype(np.float32)):
            x.flat[:: max(x.size // 7, 2)] = rng.choice(np.array([np.nan, np.inf, -np.inf, -0.0, 0.0], np.float32))
            for k in sorted({0, 1, shape[axis] // 2, shape[axis]}):
                values, indices = pysimd.top_k(x, k, axis=axis, largest=largest)
                expected = reference.top_k(x, k, axis, largest)
                assert_same(values, expected[0])
                assert_same(indices, expected[1])
                values, indices = pysimd.top_k(x, k, axis=axis - 3, largest=largest, sorted=False)
                order = np.argsort(indices, axis=axis)
                assert np.array_equal(np.sort(indices, axis), np.sort(expected[1], axis))
                assert_same(np.take_along_axis(values, order, axis), np.take_along_axis(x, np.sort(indices, axis), axis))


def test_many(rng: np.random.Generator) -> None:
    for x in (floats(rng, 50000), np.arange(50000, dtype=np.float32), -np.arange(50000, dtype=np.float32)):
        for k in (1, 300, 50000):
            values, indices = pysimd.top_k(x, k)
            assert np.array_equal(indices, np.argsort(-x, kind="stable")[:k])
            assert np.array_equal(values, x[indices])


INTEGERS = ["int8", "uint8", "int32", "int64", "uint64", "bool"]


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(rng: np.random.Generator, dtype: str, largest: bool) -> None:
    """Of all bits, and of few values, of which many are equal."""
    for shape in [(1, 1, 1), (3, 7, 5), (2, 130, 3), (4, 3, 33)]:
        few = rng.integers(0, 3, shape)
        every = np.frombuffer(rng.bytes(few.size * np.dtype(dtype).itemsize), "uint8" if dtype == "bool" else dtype)
        for x in (
            (few - 1).astype(dtype),
            (every % 2).astype(bool).reshape(shape) if dtype == "bool" else every.reshape(shape),
        ):
            for axis in range(3):
                places = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(3)])
                keys = [[int(each) for each in line] for line in np.moveaxis(x, axis, -1).reshape(-1, shape[axis])]
                lines = [sorted(range(len(key)), key=lambda i: (-key[i] if largest else key[i], i)) for key in keys]
                order = np.moveaxis(np.reshape(lines, np.moveaxis(x + 0 * places, axis, -1).shape), -1, axis)
                for k in sorted({0, 1, shape[axis] // 2, shape[axis]}):
                    values, indices = pysimd.top_k(x, k, axis=axis, largest=largest)
                    assert_same(indices, order.take(range(k), axis))
                    assert_same(values, np.take_along_axis(x, indices, axis))
                    indices = np.sort(pysimd.top_k(x, k, axis=axis, largest=largest, sorted=False)[1], axis)
                    assert_same(indices, np.sort(order.take(range(k), axis), axis))


def test_out() -> None:
    x = np.array([[3, 1, 2]], np.float32)
    out = np.empty((1, 2), np.float32), np.empty((1, 2), np.int64)
    assert pysimd.top_k(x, 2, out=out) is out
    assert out[1].tolist() == [[0, 2]]


X = np.zeros((4, 5), np.float32)
OUT = np.zeros((4, 2), np.float32), np.zeros((4, 2), np.int64)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": X.astype(float)}, TypeError, "x has dtype float64"),
        ({"k": 6}, ValueError, "k is 6, expected at most 5, the size of axis 1 of x"),
        ({"k": -1}, ValueError, "k is -1"),
        ({"k": 1.5}, TypeError, "k is 1.5"),
        ({"axis": 2}, ValueError, "axis is 2"),
        ({"out": OUT[0]}, TypeError, "out is not a tuple"),
        ({"out": list(OUT)}, TypeError, "out is not a tuple"),
        ({"out": (*OUT, OUT[1])}, TypeError, "out is not a tuple"),
        ({"out": (OUT[0], OUT[0])}, TypeError, r"out\[1\] has dtype float32"),
        ({"out": (OUT[0], OUT[1][:3])}, ValueError, r"out\[1\] has shape"),
        ({"out": (OUT[1].view(np.float32)[:, :2], OUT[1])}, ValueError, "out"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        pysimd.top_k(**{"x": X, "k": 2, **change})
