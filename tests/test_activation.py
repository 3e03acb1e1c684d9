"""ReLU on every instruction set against the reference; arguments that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from support import assert_refused, assert_same, floats

import pysimd

SPECIAL = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -3e38, 1, -1], np.float32)


@pytest.mark.parametrize("slope", [0.0, 0.1, -2.0, 1.0])
def test_relu(isa: str, rng: np.random.Generator, slope: float) -> None:
    for size in [*range(70), 255, 1000]:
        x = floats(rng, size)
        assert_same(pysimd.relu(x, slope=slope), reference.relu(x, slope))


@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_special_values_in_every_lane(isa: str, slope: float) -> None:
    for lane in range(35):
        x = np.zeros(lane + len(SPECIAL) + 35, np.float32)
        x[lane : lane + len(SPECIAL)] = SPECIAL
        assert_same(pysimd.relu(x, slope=slope), reference.relu(x, slope))


def test_any_shape_and_alignment(isa: str, rng: np.random.Generator) -> None:
    for shape in [(), (3,), (2, 3, 4, 5), (0, 4)]:
        x = np.asarray(floats(rng, *shape))
        y = pysimd.relu(x)
        assert y.shape == shape
        assert_same(y, reference.relu(x, 0))
    x = floats(rng, 200)
    for begin in range(17):
        out = np.zeros(200, np.float32)
        pysimd.relu(x[begin:], out=out[begin:])
        assert_same(out[begin:], reference.relu(x, 0)[begin:])
        assert not out[:begin].any()


def test_in_place_and_out(rng: np.random.Generator) -> None:
    x = floats(rng, 100)
    expected = reference.relu(x, 0.25)
    out = np.empty_like(x)
    assert pysimd.relu(x, slope=0.25, out=out) is out
    assert_same(out, expected)
    assert pysimd.relu(x, slope=0.25, out=x) is x
    assert_same(x, expected)
    x = floats(rng, 100)
    expected = reference.relu(x, 0)
    pysimd.relu(x, out=x[:])  # the same memory as another object
    assert_same(x, expected)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": 1.0}, TypeError, "x is a float, expected a numpy.ndarray"),
        ({"x": np.zeros(8)}, TypeError, "x has dtype float64, expected float32"),
        ({"x": np.zeros(8, np.uint16)}, TypeError, "x has dtype uint16, expected float32"),
        ({"x": np.zeros(16, np.float32)[::2]}, ValueError, "x is not C-contiguous"),
        ({"x": np.zeros((2, 4), np.float32)}, ValueError, r"out has shape \(8,\), expected \(2, 4\)"),
        ({"slope": "a"}, TypeError, "real number"),
        ({"slope": ""}, TypeError, "real number"),
        ({"slope": None}, TypeError, "real number"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments = {"x": np.ones(8, np.float32), **change}
    assert_refused(pysimd.relu, error, sentence, np.full(8, 7, np.float32), **arguments)


def test_refused_out() -> None:
    x = np.ones(8, np.float32)
    frozen = np.zeros(8, np.float32)
    frozen.flags.writeable = False
    both = np.zeros(12, np.float32)
    for source, out, error, sentence in [
        (x, np.zeros(8), TypeError, "out has dtype float64"),
        (x, np.zeros(16, np.float32)[::2], ValueError, "out is not C-contiguous"),
        (x, frozen, ValueError, "out is read-only"),
        (both[:8], both[4:], ValueError, "out overlaps x"),
    ]:
        assert_refused(pysimd.relu, error, sentence, out, x=source)
    with pytest.raises(TypeError, match="out is a list"):
        pysimd.relu(x, out=[0.0] * 8)  # type: ignore[arg-type]
