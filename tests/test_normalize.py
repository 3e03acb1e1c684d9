"""Normalization on every instruction set against the formulas in float64; invalid arguments."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import pysimd
from support import assert_refused, assert_within, floats, reference

SHAPES = [(1, 1, 1, 1), (2, 8, 3, 5), (1, 16, 7, 7), (3, 17, 2, 9), (2, 40, 11, 13), (2, 700, 3, 3), (1, 3, 90, 91)]


def _case(rng: np.random.Generator, shape: tuple[int, ...], layout: str, mean: float = 0) -> tuple[Any, ...]:
    """A batch of (C, H, W) around a mean, its weight and bias, and the coefficients for the formula."""
    x, weight, bias = floats(rng, *shape) + np.float32(mean), floats(rng, shape[1]), floats(rng, shape[1])
    given = np.stack([reference.from_chw(image, layout) for image in x])
    return x, given, weight, bias, weight.reshape(-1, 1, 1), bias.reshape(-1, 1, 1)


def _assert(y: Any, layout: str, expected: Any, bound: Any) -> None:
    assert_within(np.stack([reference.to_chw(image, layout) for image in y]), expected, bound)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("mean", [0, 300])
def test_layer_norm(isa: str, rng: np.random.Generator, layout: Any, mean: float) -> None:
    for shape in SHAPES:
        x, given, weight, bias, w, b = _case(rng, shape, layout, mean)
        y = pysimd.layer_norm(given, weight, bias, eps=1e-3, layout=layout)
        _assert(y, layout, *reference.normalized(x, (1,), w, b, 1e-3))


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("mean", [0, 300])
def test_instance_norm(isa: str, rng: np.random.Generator, layout: Any, mean: float) -> None:
    for shape in SHAPES:
        x, given, weight, bias, w, b = _case(rng, shape, layout, mean)
        y = pysimd.instance_norm(given, weight, bias, layout=layout)
        _assert(y, layout, *reference.normalized(x, (2, 3), w, b, 1e-5))


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_global_response_norm(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for shape in SHAPES:
        x, given, weight, bias, w, b = _case(rng, shape, layout)
        y = pysimd.global_response_norm(given, weight, bias, layout=layout)
        _assert(y, layout, *reference.response(x, (2, 3), w, b, 1e-6))


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("across", [False, True])
def test_l2_normalize(isa: str, rng: np.random.Generator, layout: Any, across: bool) -> None:
    for shape in SHAPES:
        x, given, weight, _, w, _ = _case(rng, shape, layout)
        y = pysimd.l2_normalize(given, weight, across=across, eps=1e-3, layout=layout)
        axes = (1, 2, 3) if across else (1,)
        _assert(y, layout, *reference.normalized(x, axes, w, np.zeros(1), 1e-3, centred=False))


@pytest.mark.parametrize("groups", [1, 2, 4, 8])
def test_group_norm(isa: str, rng: np.random.Generator, groups: int) -> None:
    x, weight, bias = floats(rng, 2, 8, 7, 9), floats(rng, 8), floats(rng, 8)
    grouped = x.reshape(2, groups, 8 // groups, 7, 9)
    expected, bound = reference.normalized(grouped, (2, 3, 4), np.ones(1), np.zeros(1), 1e-5)
    assert_within(pysimd.group_norm(x, groups), expected.reshape(x.shape), bound.reshape(x.shape))
    w, b = (each.reshape(groups, 8 // groups, 1, 1) for each in (weight, bias))
    expected, bound = reference.normalized(grouped, (2, 3, 4), w, b, 1e-5)
    assert_within(pysimd.group_norm(x, groups, weight, bias), expected.reshape(x.shape), bound.reshape(x.shape))


def test_group_norm_with_weight_or_bias_alone(rng: np.random.Generator) -> None:
    x, weight, bias = floats(rng, 8, 3, 5), floats(rng, 8), floats(rng, 8)
    assert pysimd.group_norm(x, 2, weight).tobytes() == pysimd.group_norm(x, 2, weight, 0.0).tobytes()
    assert pysimd.group_norm(x, 2, None, bias).tobytes() == pysimd.group_norm(x, 2, 1.0, bias).tobytes()


def test_normalized_dimensions(rng: np.random.Generator) -> None:
    x, weight = floats(rng, 3, 4, 5, 6), floats(rng, 5, 6)
    rows = pysimd.layer_norm(x.reshape(12, 30), weight.reshape(-1), 0.5)
    assert np.array_equal(pysimd.layer_norm(x, weight, 0.5, normalized=(5, 6)), rows.reshape(x.shape))
    assert np.array_equal(pysimd.layer_norm(x, normalized=6), pysimd.layer_norm(x))
    assert pysimd.layer_norm(x[:0], normalized=[4, 5, 6]).shape == (0, 4, 5, 6)


@pytest.mark.parametrize("function", [pysimd.layer_norm, pysimd.instance_norm, pysimd.l2_normalize])
def test_in_place(rng: np.random.Generator, function: Callable[..., Any]) -> None:
    x = floats(rng, 2, 5, 6, 7)
    expected = function(x)
    out = np.empty_like(x)
    assert function(x, out=out) is out
    assert np.array_equal(out, expected)
    assert function(x, out=x) is x
    assert np.array_equal(x, expected)


def test_nan_stays_in_its_row(isa: str, rng: np.random.Generator) -> None:
    x = floats(rng, 3, 20)
    x[1, 7] = np.nan
    assert np.isnan(pysimd.layer_norm(x)).all(axis=1).tolist() == [False, True, False]
    assert not np.isnan(pysimd.layer_norm(x)[[0, 2]]).any()


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": np.ones((4, 5, 6))}, TypeError, "x has dtype"),
        ({"weight": np.ones(5, np.float32)}, ValueError, "weight has shape"),
        ({"bias": np.ones(6)}, TypeError, "bias has dtype"),
        ({"normalized": (4, 6)}, ValueError, "its last dimensions to be"),
        ({"normalized": ()}, ValueError, "its last dimensions to be"),
        ({"normalized": 0.5}, TypeError, "normalized is 0.5"),
        ({"normalized": 6, "layout": "nchw"}, ValueError, "normalized is 6 with layout 'nchw'"),
        ({"layout": "nchw16c"}, ValueError, "layout is 'nchw16c'"),
        ({"out": np.zeros((4, 5, 7), np.float32)}, ValueError, "out has shape"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments: dict[str, Any] = {"x": np.ones((4, 5, 6), np.float32), **change}
    out = arguments.pop("out", np.full((4, 5, 6), 7, np.float32))
    assert_refused(pysimd.layer_norm, error, sentence, out, **arguments)


def test_refused_groups() -> None:
    x, out = np.ones((6, 4, 5), np.float32), np.full((6, 4, 5), 7, np.float32)
    assert_refused(pysimd.group_norm, ValueError, "groups is 4, expected a divisor of the 6", out, x=x, groups=4)
    assert_refused(pysimd.group_norm, ValueError, "groups is 0", out, x=x, groups=0)
    assert_refused(pysimd.group_norm, ValueError, "layout is 'nhwc'", out, x=x, groups=2, layout="nhwc")
    assert_refused(pysimd.group_norm, ValueError, "weight has shape", out, x=x, groups=2, weight=np.ones(2, np.float32))
