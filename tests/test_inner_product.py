"""The inner product on every instruction set against the reference; invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused, assert_within, floats, reference


def test_every_size(isa: str, rng: np.random.Generator) -> None:
    for size in [*range(36), 63, 64, 65, 500]:
        for count in (1, 2, 5, 17):
            x, weight, bias = floats(rng, size), floats(rng, count, size), floats(rng, count)
            assert_within(pysimd.inner_product(x, weight, bias), *reference.inner_product(x, weight, bias))
            assert_within(pysimd.inner_product(x, weight), *reference.inner_product(x, weight, None))


def test_batch(isa: str, rng: np.random.Generator) -> None:
    x, weight, bias = floats(rng, 5, 37), floats(rng, 11, 37), floats(rng, 11)
    y = pysimd.inner_product(x, weight, bias)
    assert_within(y, *reference.inner_product(x, weight, bias))
    # The result does not depend on the position in the batch.
    assert np.array_equal(y, np.stack([pysimd.inner_product(row, weight, bias) for row in x]))


def test_large(isa: str, rng: np.random.Generator) -> None:
    x, weight, bias = floats(rng, 4096), floats(rng, 100, 4096), floats(rng, 100)
    assert_within(pysimd.inner_product(x, weight, bias), *reference.inner_product(x, weight, bias))


def test_out(rng: np.random.Generator) -> None:
    x, weight = floats(rng, 2, 8), floats(rng, 3, 8)
    out = np.empty((2, 3), np.float32)
    assert pysimd.inner_product(x, weight, out=out) is out
    assert np.array_equal(out, pysimd.inner_product(x, weight))
    assert pysimd.inner_product(x[:0], weight).shape == (0, 3)
    assert pysimd.inner_product(x, weight[:0]).shape == (2, 0)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": np.zeros(8)}, TypeError, "x has dtype float64"),
        ({"x": np.zeros(9, np.float32)}, ValueError, r"x has shape \(9,\), expected \(8,\)"),
        ({"x": np.zeros((1, 1, 8), np.float32)}, ValueError, "x has shape"),
        ({"x": np.zeros(16, np.float32)[::2]}, ValueError, "x is not C-contiguous"),
        ({"weight": np.zeros((3, 8))}, TypeError, "weight has dtype float64"),
        ({"weight": np.zeros((8, 3), np.float32).T}, ValueError, "weight is not C-contiguous"),
        ({"weight": np.zeros(8, np.float32)}, ValueError, "weight has shape"),
        ({"bias": np.zeros(3)}, TypeError, "bias has dtype float64"),
        ({"bias": np.zeros(4, np.float32)}, ValueError, r"bias has shape \(4,\), expected \(3,\)"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments = {"x": np.ones(8, np.float32), "weight": np.ones((3, 8), np.float32), "bias": None, **change}
    assert_refused(pysimd.inner_product, error, sentence, np.full(3, 7, np.float32), **arguments)


def test_refused_out() -> None:
    x, weight, bias = np.ones(8, np.float32), np.ones((3, 8), np.float32), np.ones(3, np.float32)
    arguments = {"x": x, "weight": weight, "bias": bias}
    assert_refused(pysimd.inner_product, ValueError, "out overlaps x", x[:3], **arguments)
    assert_refused(pysimd.inner_product, ValueError, "out overlaps weight", weight[1, :3], **arguments)
    assert_refused(pysimd.inner_product, ValueError, "out overlaps bias", bias, **arguments)
    assert_refused(pysimd.inner_product, ValueError, "out has shape", np.zeros(4, np.float32), **arguments)
