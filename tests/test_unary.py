"""Unary operations on every instruction set against the reference; invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_activation import wide

import pysimd
from support import assert_refused, assert_same, assert_ulp, floats, reference

#: The functions of the operations; zero and not have none.
NAMES = {
    operation: {"abs": "absolute", "neg": "negative", "rcp": "reciprocal", "round": "rint"}.get(operation, operation)
    for operation in (each.name.lower() for each in pysimd.UnaryOperation)
    if operation not in ("zero", "not")
}
#: Those that are no operations.
ANGLES = ("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cosh", "sinh", "tan")


@pytest.mark.parametrize("name", [*NAMES.values(), *ANGLES])
def test_against_the_formula(isa: str, rng: np.random.Generator, name: str) -> None:
    for size in [*range(20), 1000, 50000]:
        for x in (wide(rng, size), np.abs(wide(rng, size))):
            expected, ulp = reference.pointwise(name, x, *([1] if name == "tanh" else []))
            assert_ulp(getattr(pysimd, name)(x), expected, ulp)


@pytest.mark.parametrize(("operation", "name"), NAMES.items())
def test_by_name_and_by_enumerator(rng: np.random.Generator, operation: Any, name: str) -> None:
    x = np.abs(floats(rng, 3, 50))
    expected = getattr(pysimd, name)(x)
    assert_same(pysimd.unary(x, operation), expected)
    assert_same(pysimd.unary(x, pysimd.UnaryOperation[operation.upper()]), expected)


def test_zero(isa: str, rng: np.random.Generator) -> None:
    x = wide(rng, 10)
    assert pysimd.unary(x, "zero").tobytes() == bytes(x.nbytes)


def test_not(isa: str, rng: np.random.Generator) -> None:
    for size in range(70):
        x = wide(rng, size)
        assert pysimd.unary(x, "not").tobytes() == (~x.view(np.uint32)).tobytes()


def test_large_angles(isa: str) -> None:
    x = np.array([4095.5, 4096, 1e5, 1e10, 3e38, -7e22, 6588397.5, np.inf, -np.inf, np.nan], np.float32)
    d = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        assert_ulp(pysimd.sin(x), np.sin(d), 2)
        assert_ulp(pysimd.cos(x), np.cos(d), 2)


def test_signs_of_zero_and_nan(isa: str) -> None:
    x = np.array([0.0, -0.0, np.nan, -np.nan] * 9, np.float32)
    assert pysimd.negative(x).tobytes() == np.negative(x).tobytes() or np.isnan(pysimd.negative(x)[2])
    assert np.array_equal(np.signbit(pysimd.negative(x))[:2], [True, False])
    assert not np.signbit(pysimd.absolute(x)).any()
    assert np.array_equal(pysimd.rsqrt(x)[:2], [np.inf, -np.inf])
    assert np.array_equal(np.signbit(pysimd.sqrt(x))[:2], [False, True])
    for odd in (pysimd.tanh, pysimd.erf, pysimd.sin, pysimd.ceil, pysimd.floor, pysimd.rint):
        assert np.array_equal(np.signbit(odd(x))[:2], [False, True])


@pytest.mark.parametrize("name", ["exp", "log"])
def test_neighbours_have_no_effect(isa: str, rng: np.random.Generator, name: Any) -> None:
    """Vectors of usual numbers alone are computed in another way."""
    usual = rng.uniform(-64, 64, 64 * 61).astype(np.float32)
    usual = np.abs(usual) if name == "log" else usual
    expected = pysimd.unary(usual, name)
    for special in (np.nan, np.inf, -np.inf, 0.0, 1e-40, 3e-38, -80.0, 88.0, 100.0):
        x = usual.copy()
        x[::61] = special
        y, alone = pysimd.unary(x, name), pysimd.unary(np.full(64, special, np.float32), name)
        np.testing.assert_array_equal(y[::61], alone)
        y[::61] = expected[::61]
        np.testing.assert_array_equal(y, expected)


def test_in_place_and_out(rng: np.random.Generator) -> None:
    x = floats(rng, 5, 20)
    expected = pysimd.exp(x)
    out = np.empty_like(x)
    assert pysimd.exp(x, out=out) is out
    assert_same(out, expected)
    assert pysimd.exp(x, out=x) is x
    assert_same(x, expected)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": 1.0}, TypeError, "x is a float, expected a numpy.ndarray"),
        ({"x": np.zeros(8)}, TypeError, "x has dtype float64, expected float32"),
        ({"x": np.zeros(16, np.float32)[::2]}, ValueError, "x is not C-contiguous"),
        ({"x": np.zeros((2, 4), np.float32)}, ValueError, r"out has shape \(8,\), expected \(2, 4\)"),
        ({"operation": "cosh"}, ValueError, "operation is 'cosh', expected one of 'abs', 'exp'"),
        ({"operation": len(pysimd.UnaryOperation)}, ValueError, "operation is [0-9]+, expected one of"),
        ({"operation": []}, ValueError, "expected one of"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments = {"x": np.ones(8, np.float32), "operation": "exp", **change}
    assert_refused(pysimd.unary, error, sentence, np.full(8, 7, np.float32), **arguments)
