"""Gathering by indices: dtypes, axes, negative indices, contexts; invalid indices."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused, floats

DTYPES = [np.float32, np.uint16, np.uint8, np.int8, np.int32, np.int64, np.uint64, np.bool_, np.float16]


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather(rng: np.random.Generator, dtype: Any) -> None:
    x = rng.integers(0, 100, (4, 5, 6)).astype(dtype)
    for axis in range(-3, 3):
        for shape in [(), (1,), (7,), (2, 3), (0,), (2, 1, 2)]:
            indices = np.asarray(rng.integers(-x.shape[axis], x.shape[axis], shape))
            y = pysimd.gather(x, indices, axis=axis)
            assert y.dtype == dtype
            assert np.array_equal(y, np.take(x, indices, axis))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 16, 100])
def test_gather_long(rng: np.random.Generator, size: int) -> None:
    x, indices = floats(rng, 50, size), rng.integers(-50, 50, 3000)
    out = np.empty((3000, size), np.float32)
    assert pysimd.gather(x, indices, out=out) is out
    assert np.array_equal(out, x[indices])
    assert np.array_equal(pysimd.gather(np.ascontiguousarray(x.T), indices, axis=1), x.T[:, indices])


def test_gather_bfloat16_keeps_its_dtype() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.arange(6).astype(ml_dtypes.bfloat16)
    y = pysimd.gather(x, np.array([5, -6]))
    assert y.dtype == x.dtype
    assert y.tolist() == [5, 0]


@pytest.mark.parametrize("index", [5, -6, 2**40, -(2**63)])
@pytest.mark.parametrize("place", [0, 11, 9999])
def test_bad_index(index: int, place: int) -> None:
    x, indices = np.zeros((2, 5), np.float32), np.zeros(10000, np.int64)
    indices[place:] = index
    sentence = rf"\[{place}\] is {index}, expected one of -5 .. 4"
    assert_refused(
        pysimd.gather, ValueError, "indices" + sentence, np.ones((2, 10000), np.float32), x=x, indices=indices, axis=1
    )
    both = np.stack([indices * 0, indices])
    place += 10000
    assert_refused(
        pysimd.gather_elements,
        ValueError,
        rf"indices\[{place}\] is {index}, ",
        np.ones((2, 10000), np.float32),
        x=x,
        indices=both,
    )


def test_no_element() -> None:
    with pytest.raises(ValueError, match="expected no index where there is no element"):
        pysimd.gather(np.zeros((0, 3), np.float32), np.zeros(2, np.int64))
    assert pysimd.gather(np.zeros((0, 3), np.float32), np.zeros(0, np.int64)).shape == (0, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.uint16, np.uint8])
@pytest.mark.parametrize("index", [np.int64, np.int32])
def test_gather_elements(rng: np.random.Generator, dtype: Any, index: Any) -> None:
    x = rng.integers(0, 100, (3, 4, 5, 6)).astype(dtype)
    for axis in range(-4, 4):
        for count in [0, 1, 3, 40]:
            shape = list(x.shape)
            shape[axis] = count
            indices = rng.integers(-x.shape[axis], x.shape[axis], shape).astype(index)
            y = pysimd.gather_elements(x, indices, axis=axis)
            assert y.dtype == dtype
            assert np.array_equal(y, np.take_along_axis(x, indices.astype(np.int64), axis))


def test_context(rng: np.random.Generator) -> None:
    x, places = floats(rng, 4, 9, 3), rng.integers(-9, 9, (4, 5, 3))
    context = pysimd.GatherElements(x.shape, 5, axis=1)
    assert (context.src_shape, context.dst_shape, context.internal_buffer_size) == (x.shape, places.shape, 0)
    with pytest.raises(ValueError, match="indices is None: set_index"):
        context(x)
    expected = np.take_along_axis(x, places, 1)
    context.set_index(places)
    assert context.internal_buffer_size == places.nbytes
    assert np.array_equal(context(x), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(context))(x), expected)
    other = -places - 1
    assert np.array_equal(context(x, other), np.take_along_axis(x, other, 1))
    other[2, 3, 1] = 9
    with pytest.raises(ValueError, match=rf"\[{2 * 15 + 3 * 3 + 1}\] is 9, expected one of -9 .. 8"):
        context.set_index(other)
    assert np.array_equal(context(x), expected)


X, AT = np.zeros((4, 5), np.float32), np.zeros((4, 2), np.int64)


@pytest.mark.parametrize(
    ("function", "change", "error", "sentence"),
    [
        (pysimd.gather, {"x": X.astype(float)}, TypeError, "x has dtype float64"),
        (pysimd.gather, {"indices": AT.astype(np.int32)}, TypeError, r"use indices.astype\(np.int64\)"),
        (pysimd.gather, {"indices": 3}, TypeError, "indices is a int"),
        (pysimd.gather, {"axis": 2}, ValueError, "axis is 2"),
        (pysimd.gather, {"x": X.T}, ValueError, "x is not C-contiguous"),
        (pysimd.gather_elements, {"x": X.astype(np.int64)}, TypeError, "x has dtype int64"),
        (pysimd.gather_elements, {"indices": AT.astype(np.uint8)}, TypeError, "indices has dtype uint8"),
        (pysimd.gather_elements, {"indices": AT[0]}, ValueError, "except for axis 1"),
        (pysimd.gather_elements, {"indices": AT[:3].copy()}, ValueError, "except for axis 1"),
        (pysimd.gather_elements, {"axis": -3}, ValueError, "axis is -3"),
    ],
)
def test_refused(function: Any, change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    assert_refused(function, error, sentence, np.ones((4, 2), np.float32), **{"x": X, "indices": AT, **change})
