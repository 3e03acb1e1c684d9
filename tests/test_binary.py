"""Functions of two arrays with broadcasting on every instruction set."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused, floats
from support.reference import replace

SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()),
    ((1,), ()),
    ((7,), (7,)),
    ((40000,), (40000,)),
    ((3, 5, 70), ()),
    ((), (3, 5, 70)),
    ((2, 9, 11, 3), (3,)),
    ((2, 9, 11, 64), (64,)),
    ((2, 8, 9, 11), (8, 1, 1)),
    ((2, 8, 9, 11), (2, 8, 1, 1)),
    ((2, 8, 1, 1), (2, 8, 9, 11)),
    ((2, 1, 7, 1, 5), (3, 1, 4, 5)),
    ((30, 1), (1, 50)),
    ((5000, 2), (5000, 1)),
    ((0, 3), (3,)),
    ((2, 0), (1, 1)),
    ((2, 1, 2, 1, 2, 1, 2, 3), (1, 2, 1, 2, 1, 2, 1, 1)),
)
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (pysimd.add, np.add),
    "subtract": (pysimd.subtract, np.subtract),
    "multiply": (pysimd.multiply, np.multiply),
    "divide": (pysimd.divide, np.divide),
    "maximum": (pysimd.maximum, np.maximum),
    "minimum": (pysimd.minimum, np.minimum),
    "power": (pysimd.power, np.power),
    "replace": (partial(pysimd.binary, "replace"), replace),
}


def assert_ulp(y: Array, expected: Array, most: float) -> None:
    """The error in units in the last place of the expected numbers, which are float64."""
    assert y.dtype == np.float32
    assert y.shape == expected.shape
    with np.errstate(over="ignore"):
        rounded = expected.astype(np.float32)
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(y[~finite], rounded[~finite])
    assert (np.abs(y[finite] - expected[finite]) <= most * np.spacing(np.abs(rounded[finite])).astype(np.float64)).all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_shapes(isa: str, rng: np.random.Generator, name: Any) -> None:
    function, formula = FUNCTIONS[name]
    for a_shape, b_shape in SHAPES:
        a, b = np.asarray(np.abs(floats(rng, *a_shape)) + np.float32(0.1)), np.asarray(floats(rng, *b_shape))
        expected = np.asarray(formula(a.astype(np.float64), b.astype(np.float64)))
        for y in (function(a, b), pysimd.binary(name, a, b)):
            assert_ulp(y, expected, 2 if name == "power" else 0.5)
        for in_place in (a, b):
            if in_place.shape == expected.shape:
                copies = [x.copy() if x is in_place else x for x in (a, b)]
                out = copies[0] if in_place is a else copies[1]
                assert function(*copies, out=out) is out
                assert np.array_equal(out, y)


def test_numbers(isa: str) -> None:
    x = np.array([1, -2, 4], np.float32)
    assert np.array_equal(pysimd.add(x, 1), x + 1)
    assert np.array_equal(pysimd.subtract(np.float32(1), x), 1 - x)
    assert np.array_equal(pysimd.divide(1, x), 1 / x)
    assert np.array_equal(pysimd.power(x, 2), x * x)
    assert pysimd.maximum(1, 2).shape == ()
    assert pysimd.add(1, 2) == 3


def test_special_values(isa: str) -> None:
    """All pairs, at several positions of a vector."""
    inf, nan, tiny = np.inf, np.nan, 1e-45
    special = [
        0,
        -0.0,
        1,
        -1,
        2,
        -2,
        3,
        -3,
        0.5,
        -0.5,
        1.5,
        -1.5,
        inf,
        -inf,
        nan,
        tiny,
        -tiny,
        3e38,
        -3e38,
        1e8,
        -1e8,
        1 + 2**-23,
    ]
    for count in (len(special), 3):
        a, b = np.meshgrid(np.array(special, np.float32), np.array(special[:count], np.float32))
        a, b = a.copy(), b.copy()
        with np.errstate(all="ignore"):
            for name, (function, formula) in FUNCTIONS.items():
                expected = np.asarray(formula(a.astype(np.float64), b.astype(np.float64)))
                y = function(a, b)
                assert_ulp(y, expected, 2 if name == "power" else 0.5)
                if name == "power":
                    known = ~np.isnan(expected)
                    assert np.array_equal(np.signbit(y[known]), np.signbit(expected[known]))


def test_power(isa: str, rng: np.random.Generator) -> None:
    """The whole range of results, bases close to 1, and integer exponents of negative bases."""
    y = (rng.uniform(-1, 1, 200000) * 2.0 ** rng.uniform(-3, 30, 200000)).astype(np.float32)
    with np.errstate(all="ignore"):
        x = (2.0 ** (rng.uniform(-152, 130, y.size) / np.abs(y))).astype(np.float32)
        assert_ulp(pysimd.power(x, y), x.astype(np.float64) ** y.astype(np.float64), 2)
        whole = np.rint(y)
        assert_ulp(pysimd.power(-x, whole), (-x).astype(np.float64) ** whole.astype(np.float64), 2)


def test_quotients_of_small_numbers(isa: str) -> None:
    """Long rows by numbers are divided by the inverse; of numbers below 2^-103 a product with it may be off by one unit."""
    fractions = np.array([1, 1.0645391, 1.0098972, 1.8, 2 - 2**-23], np.float32)
    small = np.ldexp(fractions, np.arange(-149, -9)[:, None]).ravel()
    divisors = np.ldexp(
        np.array([1.0098972, 1.616033, 1.9321132, 2 - 2**-23], np.float32), np.arange(-59, 59)[:, None]
    ).ravel()
    with np.errstate(under="ignore"):
        want = small / divisors[:, None]
    got = pysimd.divide(np.broadcast_to(small, want.shape).copy(), divisors[:, None])
    np.testing.assert_array_equal(got.view(np.int32), want.view(np.int32))


@pytest.mark.parametrize(
    ("activation", "params", "function"),
    [
        ("relu", None, lambda y: np.maximum(y, 0)),
        ("relu6", None, lambda y: np.clip(y, 0, 6)),
        ("leaky_relu", 0.25, lambda y: np.where(y > 0, y, y * 0.25)),
        ("restrict_range", (-0.5, 0.75), lambda y: np.clip(y, -0.5, 0.75)),
        ("elu", {"alpha": 2}, lambda y: np.where(y > 0, y, 2 * np.expm1(y))),
        ("hswish", None, lambda y: y * np.clip(y + 3, 0, 6) / 6),
        ("mish", None, lambda y: y * np.tanh(np.log1p(np.exp(y)))),
        ("hard_sigmoid", None, lambda y: np.clip(y / 6 + 0.5, 0, 1)),
        ("silu", None, lambda y: y / (1 + np.exp(-y))),
        ("sigmoid", None, lambda y: 1 / (1 + np.exp(-y))),
    ],
)
def test_activations(isa: str, rng: np.random.Generator, activation: Any, params: Any, function: Any) -> None:
    for shape in ((5,), (3, 6000), (100, 49), (3000, 3)):
        a, b = floats(rng, *shape), floats(rng, shape[0], *(1 for _ in shape[1:]))
        y = pysimd.binary("multiply", a, b, activation=activation, params=params)
        np.testing.assert_allclose(y, function((a * b).astype(np.float64)), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"operation": "plus"}, ValueError, "operation is 'plus', expected 'add' or"),
        ({"operation": ["add"]}, ValueError, "operation is"),
        ({"b": np.ones(3, np.float32)}, ValueError, r"b has shape \(3,\), expected one that can be broadcast"),
        ({"b": np.ones(4)}, TypeError, "b has dtype float64"),
        ({"a": [1, 2]}, TypeError, "a is a list"),
        ({"a": np.ones(8, np.float32)[::2]}, ValueError, "a is not C-contiguous"),
        ({"a": np.ones((1,) * 9, np.float32)}, ValueError, "a has 9 dimensions, expected at most 8"),
        ({"activation": "prelu", "params": 1}, ValueError, "activation is 'prelu'"),
        ({"activation": "swiss"}, ValueError, "activation is 'swiss'"),
        ({"params": 1}, ValueError, "params is 1, expected None"),
        ({"out": np.zeros(5, np.float32)}, ValueError, "out has shape"),
        ({"out": np.zeros(4)}, TypeError, "out has dtype"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments: dict[str, Any] = {"operation": "add", "a": np.ones(4, np.float32), "b": np.ones(4, np.float32), **change}
    out = arguments.pop("out", np.full(4, 7, np.float32))
    assert_refused(pysimd.binary, error, sentence, out, **arguments)


def test_overlap() -> None:
    memory = np.zeros(12, np.float32)
    with pytest.raises(ValueError, match="out overlaps b"):
        pysimd.multiply(np.ones((4, 3), np.float32), memory[:3], out=memory.reshape(4, 3))
    with pytest.raises(ValueError, match="out overlaps a"):
        pysimd.multiply(memory[1:9], 2, out=memory[:8])
    with pytest.raises(ValueError, match="b has shape"):
        pysimd.add(np.ones((2, 3), np.float32), np.ones((3, 2), np.float32))


@pytest.mark.parametrize("count", [5, 70])
def test_replace_keeps_all_bits(isa: str, count: int) -> None:
    """NaN with a payload, quiet and signalling, the sign of zeros, denormals; of what is replaced nothing is left."""
    bits = np.array([0x7FC00000, 0xFFC12345, 0x7F800001, 0x7F800000, 0xFF800000, 0x80000000, 0, 1, 0x80000001, 0x3F800000])
    x = np.resize(bits.astype(np.uint32), (3, count)).view(np.float32)
    keep = np.arange(count) % 3 > 0
    y = pysimd.binary("replace", x, np.where(keep, np.float32(np.nan), np.float32(-0.0)))
    assert np.array_equal(y.view(np.uint32), np.where(keep, x.view(np.uint32), np.uint32(0x80000000)))
