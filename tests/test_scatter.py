"""Scattering, GatherND and cumulative sums against NumPy; threads, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_same

TYPES = ("float32", "int32", "int8", "uint8", "int64", "uint64", "bool")
REDUCTIONS = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


def some(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Numbers whose sums and products a float has."""
    return rng.integers(0, 2 if dtype == "bool" else 4, shape).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("reduction", ["none", *REDUCTIONS])
def test_scatter(reduction: Any, dtype: str, isa: str, rng: np.random.Generator) -> None:
    for shape, count, axis in [((5, 40), 9, 0), ((5, 3), 4, 1), ((6,), 3, 0), ((2, 5, 3), 7, 1)]:
        x, rows = some(rng, shape, dtype), (*shape[:axis], count, *shape[axis + 1 :])
        updates, indices = some(rng, rows, dtype), rng.integers(-shape[axis], shape[axis], rows)
        places: list[Any] = list(np.indices(rows, sparse=True))
        places[axis] = indices
        expected = x.copy()
        if reduction == "none":
            expected[tuple(places)] = updates
        else:
            REDUCTIONS[reduction].at(expected, tuple(places), updates)
        assert_same(pysimd.scatter_elements(x, indices, updates, axis=axis, reduction=reduction), expected)
        parts = rng.integers(-shape[0], shape[0], (count, 1))
        updates, expected = some(rng, (count, *shape[1:]), dtype), x.copy()
        if reduction == "none":
            expected[parts[:, 0]] = updates
        else:
            REDUCTIONS[reduction].at(expected, parts[:, 0], updates)
        assert_same(pysimd.scatter_nd(x, parts, updates, reduction=reduction), expected)
        if len(shape) == 2:
            repeated = pysimd.scatter_elements(x, parts, updates, reduction=reduction)
            assert_same(repeated, expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_rows_of_updates(dtype: str, isa: str, rng: np.random.Generator) -> None:
    for shape, depth in [((5, 40), 1), ((5, 3), 1), ((4, 3, 17), 2), ((6,), 1)]:
        x, updates = some(rng, shape, dtype), some(rng, (7, *shape[depth:]), dtype)
        places = np.stack([rng.integers(-n, n, (3, 4)) for n in shape[:depth]], axis=-1)
        rows = rng.integers(-7, 7, (3, 4))
        for reduction in ("none", *REDUCTIONS):
            expected = pysimd.scatter_nd(x, places, updates[rows], reduction=reduction)  # type: ignore[arg-type]
            found = pysimd.scatter_nd(x, places, updates, rows=rows, reduction=reduction)  # type: ignore[arg-type]
            assert_same(found, expected)


def test_smaller_updates(rng: np.random.Generator) -> None:
    x, updates = rng.standard_normal((4, 5, 6)), rng.standard_normal((2, 7, 3))
    x, updates = x.astype(np.float32), updates.astype(np.float32)
    indices = rng.integers(0, 5, (2, 7, 3))
    expected = x.copy()
    np.add.at(expected, (np.arange(2)[:, None, None], indices, np.arange(3)), updates)
    assert_same(pysimd.scatter_elements(x, indices, updates, axis=1, reduction="add"), expected)


def test_additions_are_in_the_order_of_the_indices() -> None:
    """Of which float32 shows any other."""
    updates = np.array([1e8, 1, -1e8, 1], np.float32)[:, None].repeat(64, axis=1)
    places = np.zeros((4, 1), np.int64)
    for order, total in [((0, 1, 2, 3), 1), ((0, 2, 1, 3), 2), ((1, 3, 0, 2), 0)]:
        result = pysimd.scatter_elements(np.zeros((1, 64), np.float32), places, updates[list(order)], reduction="add")
        assert np.all(result == total)


def test_in_place_and_prepared() -> None:
    x, places, ones = np.zeros((3, 20), np.float32), np.array([[1], [1]]), np.ones((2, 20), np.float32)
    call = pysimd.prepare(pysimd.scatter_elements, x, places, ones, reduction="add", out=x)
    call()
    assert call() is x
    assert x.sum(1).tolist() == [0, 80, 0]
    assert pysimd.scatter_nd(x, places, ones, out=x) is x
    assert x[1].tolist() == [1] * 20
    line = np.arange(4)
    assert pysimd.cumulative_sum(line, out=line) is line
    assert line.tolist() == [0, 1, 3, 6]


@pytest.mark.parametrize("dtype", ["float32", "uint16", "uint8", "int64", "bool", "float16"])
def test_gather_nd(dtype: str, isa: str, rng: np.random.Generator) -> None:
    x = some(rng, (3, 4, 5), dtype)
    places = rng.integers(-3, 3, (2, 6, 2))
    assert_same(pysimd.gather_nd(x, places), x[places[..., 0], places[..., 1]])
    assert_same(pysimd.gather_nd(x, places[..., :1].copy()), x[places[..., 0]])
    within = rng.integers(-4, 4, (3, 6, 1))
    assert_same(pysimd.gather_nd(x, within, batch_dims=1), np.take_along_axis(x, within, 1))
    assert pysimd.gather_nd(x, np.zeros((0, 2), np.int64)).shape == (0, 5)


@pytest.mark.parametrize("dtype", TYPES[:-1])
def test_cumulative_sum(dtype: str, isa: str, rng: np.random.Generator) -> None:
    for shape in [(7,), (3, 50), (2, 9, 4), (2, 0, 3)]:
        x = rng.integers(-99 if dtype[0] != "u" else 0, 99, shape).astype(dtype)
        for axis in range(len(shape)):
            forward = np.cumsum(x, axis, dtype=dtype)
            assert_same(pysimd.cumulative_sum(x, axis=axis), forward)
            backward = np.flip(np.cumsum(np.flip(x, axis), axis, dtype=dtype), axis)
            assert_same(pysimd.cumulative_sum(x, axis=axis, reverse=True), backward)
            assert_same(pysimd.cumulative_sum(x, axis=axis, exclusive=True), forward - x)
            assert_same(pysimd.cumulative_sum(x, axis=axis, exclusive=True, reverse=True), backward - x)


X, I = np.zeros((3, 4), np.float32), np.zeros((2, 4), np.int64)  # noqa: E741
U = np.ones((2, 4), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda: pysimd.scatter_elements(X, I + 3, U),
            ValueError,
            r"indices\[0\] is 3, expected -3 or more, and less than 3",
        ),
        (lambda: pysimd.scatter_elements(X, I, U, reduction="mean"), ValueError, "reduction is 'mean'"),  # type: ignore[arg-type]
        (lambda: pysimd.scatter_elements(X, I, U, axis=2), ValueError, "axis is 2"),
        (
            lambda: pysimd.scatter_elements(X, I, U.astype(np.int32)),
            TypeError,
            "updates has dtype int32, expected that of x",
        ),
        (lambda: pysimd.scatter_elements(X, I.astype(np.int32), U), TypeError, "indices has dtype int32"),
        (lambda: pysimd.scatter_elements(X, I[0], U), ValueError, "indices has 1 dimensions, expected 2"),
        (lambda: pysimd.scatter_elements(X, I[:, :3].copy(), U), ValueError, r"indexShape\[1\] is 3"),
        (lambda: pysimd.scatter_elements(X, I, U, out=U), ValueError, "out has shape"),
        (
            lambda: pysimd.scatter_elements(X.astype(np.float16), I, U.astype(np.float16), reduction="add"),
            TypeError,
            "x has",
        ),
        (lambda: pysimd.scatter_nd(X, I[:, :1].copy() - 4, U), ValueError, r"indices\[0\] is -4"),
        (lambda: pysimd.scatter_nd(X, I, U), ValueError, "indices has 4 numbers for 2 dimensions of x"),
        (lambda: pysimd.scatter_nd(X, I[:, :1].copy(), U[:1]), ValueError, r"updates has shape \(1, 4\), expected \(2, 4\)"),
        (
            lambda: pysimd.scatter_nd(X, I[:, :1].copy(), U, rows=np.array([1, 2])),
            ValueError,
            r"rows\[1\] is 2, expected -2",
        ),
        (lambda: pysimd.scatter_nd(X, I[:, :1].copy(), U, rows=I[0]), ValueError, r"rows has shape \(4,\), expected \(2,\)"),
        (
            lambda: pysimd.scatter_nd(X, I[:, :1].copy(), U[:, :3].copy(), rows=np.array([0, 1])),
            ValueError,
            "updates has shape",
        ),
        (lambda: pysimd.scatter_nd(X, I[:, :1].copy(), U, rows=np.array([0.0, 1])), TypeError, "rows has dtype float64"),
        (lambda: pysimd.gather_nd(X, I[:, :2].copy() + 5), ValueError, r"indices\[0\] is 5"),
        (lambda: pysimd.gather_nd(X, I, batch_dims=1), ValueError, "indices has shape"),
        (lambda: pysimd.cumulative_sum(X > 0), TypeError, "x has dtype bool"),
        (lambda: pysimd.cumulative_sum(X, axis=2), ValueError, "axis is 2"),
    ],
)
def test_refusals(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        call()
