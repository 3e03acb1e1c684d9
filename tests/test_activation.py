"""Activations on every instruction set against the reference; invalid arguments."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused, assert_same, assert_ulp, floats, reference, samples

SPECIAL = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -3e38, 1, -1], np.float32)


def _usual() -> Iterator[tuple[str, dict[str, float]]]:
    """Each activation with its default parameters; relu and what calls it has tests of its own."""
    for name in samples.of_each_element():
        function = getattr(pysimd, name)
        if function.__module__ == "pysimd.activation" and name == function.__name__ and "relu" not in name:
            yield name, {key: p.default for key, p in signature(function).parameters.items() if key not in ("x", "out")}


PARAMETERS: list[tuple[str, dict[str, float]]] = [
    *(usual for usual in _usual() if usual[0] != "restrict_range"),
    ("elu", {"alpha": 0.3}),
    ("hswish", {"shift": 1.5, "scale": -0.7}),
    ("restrict_range", {"lower": 0, "upper": 6}),
    ("restrict_range", {"lower": -0.25, "upper": 0.5}),
    ("sigmoid", {"slope": -0.3}),
    ("softplus", {"beta": 0.4, "threshold": 1}),
    ("tanh", {"slope": 0.7}),
    ("swish", {"slope": -0.3}),
    ("mish", {"threshold": 0.5}),
    ("hard_sigmoid", {"scale": -0.2, "shift": 0.25}),
]

DEFAULTS = {
    "relu": {"slope": 0.0},
    "elu": {"alpha": 1.0},
    "hswish": {"shift": 3.0, "scale": 1 / 6},
    "sigmoid": {"slope": 1.0},
    "softplus": {"beta": 1.0, "threshold": 20.0},
    "tanh": {"slope": 1.0},
    "swish": {"slope": 1.0},
    "mish": {"threshold": 20.0},
    "hard_sigmoid": {"scale": 1 / 6, "shift": 0.5},
}


def wide(rng: np.random.Generator, size: int) -> Any:
    """Values of every magnitude, mostly where the functions bend, and special values."""
    some = [(rng.uniform(-1, 1, size) * scale).astype(np.float32) for scale in (1, 10, 100)]
    every = rng.integers(0, 2**32, size, dtype=np.uint32).view(np.float32)
    return np.concatenate([*some, every, np.tile(SPECIAL, 3)])


@pytest.mark.parametrize("slope", [0.0, 0.1, -2.0, 1.0])
def test_relu(isa: str, rng: np.random.Generator, slope: float) -> None:
    for size in [*range(70), 255, 1000]:
        x = floats(rng, size)
        assert_same(pysimd.relu(x, slope=slope), reference.relu(x, slope))


@pytest.mark.parametrize(("name", "parameters"), PARAMETERS)
def test_against_the_formula(isa: str, rng: np.random.Generator, name: str, parameters: dict[str, float]) -> None:
    for size in [*range(20), 1000, 50000]:
        x = wide(rng, size)
        expected, ulp = reference.pointwise(name, x, *parameters.values())
        assert_ulp(getattr(pysimd, name)(x, **parameters), expected, ulp)


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name: str, rng: np.random.Generator) -> None:
    x = floats(rng, 100)
    function = getattr(pysimd, name)
    assert_same(function(x), function(x, **DEFAULTS[name]))


def test_no_cancellation(isa: str) -> None:
    tiny = np.full(20, -1e-20, np.float32)
    assert_same(pysimd.elu(tiny), tiny)
    assert_same(pysimd.tanh(tiny), tiny)
    x = np.full(20, -60, np.float32)
    assert_ulp(pysimd.softplus(x), np.exp(x.astype(np.float64)), 2)
    assert_ulp(pysimd.sigmoid(x - 40), np.exp(x.astype(np.float64) - 40), 2)
    d = x.astype(np.float64) - 32
    assert_ulp(pysimd.swish(x - 32), d * np.exp(d), 3)
    assert_ulp(pysimd.mish(x - 32), d * np.exp(d), 5)


@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_special_values_in_every_lane(isa: str, slope: float) -> None:
    for lane in range(35):
        x = np.zeros(lane + len(SPECIAL) + 35, np.float32)
        x[lane : lane + len(SPECIAL)] = SPECIAL
        assert_same(pysimd.relu(x, slope=slope), reference.relu(x, slope))


def test_relu_of_minus_infinity_is_0(isa: str, rng: np.random.Generator) -> None:
    """Without a slope, in every form of the call; finite values get the bits of SimdSynetRelu32f with slope 0."""
    from pysimd.lowlevel import ffi, lib

    x = wide(rng, 1000)
    expected = np.where(x < 0, np.float32(0), x)
    out, place, by_formula = np.empty_like(x), x.copy(), np.empty_like(x)
    prepared = pysimd.prepare(pysimd.relu, place, out=place)
    for y in (
        pysimd.relu(x),
        pysimd.relu(x, slope=0),
        pysimd.relu(x, out=out),
        pysimd.prepare(pysimd.relu, x)(),
        prepared(),
    ):
        assert y[x == -np.inf].tobytes() == bytes(4 * np.count_nonzero(x == -np.inf))
        assert_same(y, expected)
        lib.SimdSynetRelu32f(ffi.from_buffer("float[]", x), x.size, (0.0,), ffi.from_buffer("float[]", by_formula))
        finite = np.isfinite(x)
        assert y[finite].tobytes() == by_formula[finite].tobytes()
    assert np.isnan(by_formula[x == -np.inf]).all()


@pytest.mark.parametrize(("name", "parameters"), PARAMETERS)
def test_every_lane_has_the_same_bits(isa: str, rng: np.random.Generator, name: str, parameters: dict[str, float]) -> None:
    function, x = getattr(pysimd, name), wide(rng, 40)
    whole = function(x, **parameters)
    for begin in range(40):
        part = function(x[begin : begin + 37], **parameters)
        assert part.tobytes() == whole[begin : begin + 37].tobytes()


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


@pytest.mark.parametrize("name", DEFAULTS)
def test_in_place_and_out(rng: np.random.Generator, name: str) -> None:
    function, x = getattr(pysimd, name), floats(rng, 100)
    parameters = {key: value * 0.5 for key, value in DEFAULTS[name].items()}
    expected = function(x, **parameters)
    out = np.empty_like(x)
    assert function(x, **parameters, out=out) is out
    assert_same(out, expected)
    assert function(x, **parameters, out=x) is x
    assert_same(x, expected)
    x = floats(rng, 100)
    expected = function(x)
    function(x, out=x[:])  # the same memory as another object
    assert_same(x, expected)


@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": 1.0}, TypeError, "x is a float, expected a numpy.ndarray"),
        ({"x": np.zeros(8)}, TypeError, "x has dtype float64, expected float32"),
        ({"x": np.zeros(8, np.uint16)}, TypeError, "x has dtype uint16, expected float32"),
        ({"x": np.zeros(16, np.float32)[::2]}, ValueError, "x is not C-contiguous"),
        ({"x": np.ma.masked_equal(np.arange(8, dtype=np.float32), 3)}, ValueError, "x has masked elements"),
        ({"x": np.zeros((2, 4), np.float32)}, ValueError, r"out has shape \(8,\), expected \(2, 4\)"),
        ("a", TypeError, "is given as a parameter, expected a number"),
        ("", TypeError, "is given as a parameter, expected a number"),
        (None, TypeError, "is given as a parameter, expected a number"),
    ],
)
def test_refused(name: str, change: Any, error: type[Exception], sentence: str) -> None:
    for parameter in DEFAULTS[name]:
        arguments = {"x": np.ones(8, np.float32), **(change if isinstance(change, dict) else {parameter: change})}
        assert_refused(getattr(pysimd, name), error, sentence, np.full(8, 7, np.float32), **arguments)


def test_the_sign_of_a_zero_parameter_counts(isa: str) -> None:
    x = np.full(40, -1, np.float32)
    for zero in (0.0, -0.0):
        assert (np.signbit(pysimd.restrict_range(x, lower=zero, upper=1)) == np.signbit(zero)).all()
        assert (np.signbit(pysimd.elu(x, alpha=zero)) != np.signbit(zero)).all()
        assert (np.signbit(pysimd.prepare(pysimd.elu, x, alpha=zero)()) != np.signbit(zero)).all()


def test_masked_arrays_without_a_mask() -> None:
    x = np.ma.masked_array(np.arange(-4, 4, dtype=np.float32))
    assert_same(pysimd.relu(x), pysimd.relu(x.data))
    out = np.ma.masked_less(np.zeros(8, np.float32), 1)
    assert_refused(pysimd.relu, ValueError, "out has masked elements", out, x=x.data)


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
