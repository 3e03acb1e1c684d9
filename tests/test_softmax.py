"""Softmax on every instruction set against the reference; invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused, assert_within, floats, reference


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_softmax(isa: str, rng: np.random.Generator, axis: int) -> None:
    for shape in [(1, 1, 1), (3, 7, 5), (2, 10, 33), (4, 64, 17), (5, 2, 1), (1, 100, 3), (37, 3, 70), (2, 16, 16)]:
        x = floats(rng, *shape) * 4
        assert_within(pysimd.softmax(x, axis=axis), *reference.softmax(x, axis))


def test_every_count_and_inner(isa: str, rng: np.random.Generator) -> None:
    for count in [*range(1, 36), 100, 1000]:
        for inner in [1, 2, 15, 16, 17, 35]:
            x = floats(rng, 3, count, inner)
            assert_within(pysimd.softmax(x, axis=1), *reference.softmax(x, 1))


def test_large_inputs_do_not_overflow(isa: str) -> None:
    x = np.array([[1e30, 1e30, 0], [-3e38, 0, 3e38], [1000, 1001, 999], [-1e4, -1e4, -1e4]], np.float32)
    y = pysimd.softmax(x)
    assert_within(y, *reference.softmax(x, 1))
    assert_within(pysimd.softmax(np.ascontiguousarray(x.T), axis=0).T, *reference.softmax(x, 1))


def test_wide_range_of_differences(isa: str) -> None:
    x = np.linspace(-120, 0, 1201, dtype=np.float32)
    assert_within(pysimd.softmax(x), *reference.softmax(x, 0))


def test_masks_leave_no_denormal_numbers(isa: str) -> None:
    """Products with these are slow. `base` computes what is printed."""
    for shape in [(2,), (70,), (2, 70), (70, 2), (70, 17)]:
        x = np.full(shape, -100, np.float32)
        x[0] = 0
        assert (pysimd.softmax(x, axis=0)[1:] == 0).all() or isa == "base"


def test_nan_stays_in_its_row(isa: str, rng: np.random.Generator) -> None:
    for lane in range(20):
        x = floats(rng, 3, 20)
        x[1, lane] = np.nan
        y = pysimd.softmax(x)
        assert np.isnan(y[1]).all()
        assert not np.isnan(y[[0, 2]]).any()


def test_shapes_out_and_in_place(rng: np.random.Generator) -> None:
    x = floats(rng, 6, 10)
    expected = pysimd.softmax(x)
    assert np.allclose(expected.sum(1), 1)
    out = np.empty_like(x)
    assert pysimd.softmax(x, out=out) is out
    assert np.array_equal(out, expected)
    assert pysimd.softmax(x, out=x) is x
    assert np.array_equal(x, expected)
    assert pysimd.softmax(np.zeros((0, 5), np.float32)).shape == (0, 5)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": np.zeros((4, 5))}, TypeError, "x has dtype float64"),
        ({"x": np.zeros((5, 4), np.float32).T}, ValueError, "x is not C-contiguous"),
        ({"axis": 2}, ValueError, "axis is 2"),
        ({"axis": -3}, ValueError, "axis is -3"),
        ({"axis": 0.5}, TypeError, "integer"),
        ({"x": np.array(1, np.float32)}, ValueError, "axis is -1"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments = {"x": np.ones((4, 5), np.float32), **change}
    assert_refused(pysimd.softmax, error, sentence, np.full((4, 5), 7, np.float32), **arguments)


def test_refused_out() -> None:
    both = np.zeros(30, np.float32)
    assert_refused(pysimd.softmax, ValueError, "out overlaps x", both[10:].reshape(4, 5), x=both[:20].reshape(4, 5))
    assert_refused(pysimd.softmax, ValueError, "out has shape", np.zeros((5, 4), np.float32), x=both[:20].reshape(4, 5))
