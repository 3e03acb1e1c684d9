"""Products, sums, maxima and minima of several arrays on every instruction set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused, assert_within, floats, reference


@pytest.mark.parametrize("operation", ["product", "sum", "max", "min"])
def test_eltwise(isa: str, rng: np.random.Generator, operation: Any) -> None:
    for count in (1, 2, 3, 4, 5, 8, 13):
        for shape in ((1,), (3, 5), (16,), (33,), (7, 10, 3), (2000,), (40000,), (0, 3)):
            arrays = [floats(rng, *shape) for _ in range(count)]
            weights = floats(rng, count) if operation == "sum" and shape != (1,) else None
            expected, bound = reference.eltwise(arrays, operation, weights)
            y = pysimd.eltwise(arrays, operation=operation, weights=weights)
            assert y.dtype == np.float32
            assert_within(y, expected, bound)
            at = int(rng.integers(count))  # in place of a random source
            assert pysimd.eltwise(arrays, operation=operation, weights=weights, out=arrays[at]) is arrays[at]
            assert np.array_equal(arrays[at], y)


def test_special_values(isa: str) -> None:
    inf, nan = np.float32(np.inf), np.float32(np.nan)
    a, b = np.array([-inf, -inf, nan, 1, inf], np.float32), np.array([-inf, 2, 3, nan, nan], np.float32)
    np.testing.assert_array_equal(pysimd.eltwise([a, b], operation="max"), np.array([-inf, 2, 3, nan, nan], np.float32))
    np.testing.assert_array_equal(pysimd.eltwise([b, a], operation="min"), np.array([-inf, -inf, nan, 1, inf], np.float32))
    largest = np.finfo(np.float32).max
    np.testing.assert_array_equal(pysimd.eltwise([a], operation="max"), np.array([-largest, -largest, nan, 1, inf]))
    np.testing.assert_array_equal(pysimd.eltwise([a], operation="min"), np.array([-inf, -inf, nan, 1, largest]))
    np.testing.assert_array_equal(pysimd.eltwise([a], operation=pysimd.EltwiseOperation.PRODUCT), a)
    np.testing.assert_array_equal(pysimd.eltwise([a, b], weights=[1, 0.5]), (a + b / 2).astype(np.float32))


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"arrays": []}, ValueError, "arrays is empty"),
        ({"arrays": None}, TypeError, "arrays is None, expected a sequence of arrays"),
        ({"arrays": [np.ones(4, np.float32), np.ones(5, np.float32)]}, ValueError, r"arrays\[1\] has shape"),
        ({"arrays": [np.ones(4, np.float32), np.ones(4)]}, TypeError, r"arrays\[1\] has dtype"),
        ({"arrays": [np.ones(8, np.float32)[::2]]}, ValueError, r"arrays\[0\] is not C-contiguous"),
        ({"operation": "mean"}, ValueError, "operation is 'mean'"),
        ({"operation": ["sum"]}, ValueError, "operation is"),
        ({"weights": [1, 2, 3]}, ValueError, "weights has shape"),
        ({"weights": np.ma.masked_equal(np.ones(2, np.float32), 1)}, ValueError, "weights has masked elements"),
        ({"weights": [1, 2], "operation": "max"}, ValueError, "weights is given"),
        ({"out": np.zeros(5, np.float32)}, ValueError, "out has shape"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments: dict[str, Any] = {"arrays": [np.ones(4, np.float32), np.ones(4, np.float32)], **change}
    out = arguments.pop("out", np.full(4, 7, np.float32))
    assert_refused(pysimd.eltwise, error, sentence, out, **arguments)


def test_refused_overlap() -> None:
    memory = np.ones(5, np.float32)
    assert_refused(
        pysimd.eltwise, ValueError, r"out overlaps arrays\[1\]", memory[1:], arrays=[np.ones(4, np.float32), memory[:4]]
    )
