"""InnerProduct32f, InnerProduct16b and linear on every instruction set against the reference; invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.errors import StateError
from support import assert_refused, assert_same, assert_within, floats, reference


def expected(x: Any, weight: Any, bias: Any) -> tuple[Any, Any]:
    values, bound = reference.inner_product(x, weight, bias)
    return values, 3 * bound


@pytest.mark.parametrize("rows", [(), (1,), (2,), (14,), (33,), (2, 3)])
@pytest.mark.parametrize("size", [0, 1, 7, 64, 300])
def test_against_the_formula(isa: str, rng: np.random.Generator, rows: tuple[int, ...], size: int) -> None:
    x = floats(rng, *rows, size)
    for count in (1, 5, 33, 130):
        weight, bias = floats(rng, count, size), floats(rng, count)
        for terms in (bias, None):
            result = pysimd.linear(x, weight, terms)
            assert_within(result, *expected(x, weight, terms))
            for transpose in (True, False):
                with pysimd.InnerProduct32f(x.shape, count, transpose=transpose) as context:
                    assert context.weight_shape == ((count, size) if transpose else (size, count))
                    context.set_params(weight if transpose else weight.T.copy(), terms)
                    assert_within(context(x), *expected(x, weight, terms))


@pytest.mark.parametrize("activation", ["relu", "leaky_relu", "prelu", "gelu", "silu", "sigmoid", "hardswish"])
def test_activations(isa: str, rng: np.random.Generator, activation: Any) -> None:
    x, weight, bias, slope = floats(rng, 5, 12), floats(rng, 9, 12), floats(rng, 9), floats(rng, 9)
    params = slope if activation == "prelu" else None
    given = {"params": params} if params is not None else {}
    with pysimd.Convolution32f((5, 1, 12), 9, kernel=1, activation=activation) as convolution:
        convolution.set_params(np.ascontiguousarray(weight.T[None, None]), bias, params)
        values = convolution(x.reshape(5, 1, 12)).reshape(5, 9)
    with pysimd.InnerProduct32f(x.shape, 9, activation=activation) as context:
        context.set_params(weight, bias, params)
        np.testing.assert_allclose(context(x), values, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(pysimd.linear(x, weight, bias, activation=activation, **given), values, rtol=1e-5, atol=1e-5)


def test_columns_of_larger_arrays(isa: str, rng: np.random.Generator) -> None:
    wide, weight, add = floats(rng, 4, 30), floats(rng, 5, 12), floats(rng, 4, 5)
    with pysimd.InnerProduct32f((4, 12), 5, activation="relu") as context:
        context.set_params(weight, 0.5)
        plain = context(wide[:, :12].copy())
        assert context(wide[:, :12], out=wide[:, 12:17]) is not None
        assert_same(wide[:, 12:17], plain)
        values, bound = expected(wide[:, :12], weight, np.full(5, 0.5))
        assert_within(context(wide[:, :12], add=add), np.maximum(values + add, 0), bound + 4 * reference.EPS * np.abs(add))


def test_shared_weights(rng: np.random.Generator) -> None:
    x, weight = floats(rng, 40, 12), floats(rng, 5, 12)
    small, large = pysimd.InnerProduct32f((3, 12), 5), pysimd.InnerProduct32f((40, 12), 5)
    small.set_params(weight, 1)
    large.share_params(small)
    y = large(x)
    small.close()
    assert_within(y, *expected(x, weight, np.ones(5)))
    with pytest.raises(ValueError, match="packs its weights"):
        pysimd.InnerProduct32f((3, 12), 5, transpose=False).share_params(large)
    with pytest.raises(ValueError, match="K of other is 12, expected 13"):
        pysimd.InnerProduct32f((3, 13), 5).share_params(large)


def test_empty(rng: np.random.Generator) -> None:
    weight = floats(rng, 3, 8)
    assert pysimd.linear(floats(rng, 0, 8), weight).shape == (0, 3)
    assert pysimd.linear(floats(rng, 2, 8), weight[:0]).shape == (2, 0)
    with pysimd.InnerProduct32f((0, 8), 3) as context:
        with pytest.raises(StateError):
            context(floats(rng, 0, 8))
        context.set_params(weight)
        assert context(floats(rng, 0, 8)).shape == (0, 3)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": np.zeros((2, 8))}, TypeError, "x has dtype float64"),
        ({"x": np.zeros((), np.float32)}, ValueError, r"expected \(dst_c, C\)"),
        ({"x": np.zeros((2, 9), np.float32)}, ValueError, r"weight has shape \(3, 8\), expected \(dst_c, 9\)"),
        ({"x": np.zeros((2, 16), np.float32)[:, ::2]}, ValueError, "x is not C-contiguous"),
        ({"weight": np.zeros(8, np.float32)}, ValueError, "weight has shape"),
        ({"bias": np.zeros(4, np.float32)}, ValueError, r"bias has shape \(4,\), expected \(3,\)"),
        ({"activation": "tanh"}, ValueError, "activation is 'tanh'"),
        ({"activation": "relu", "params": 1}, ValueError, "has no parameters"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments = {"x": np.ones((2, 8), np.float32), "weight": np.ones((3, 8), np.float32), "bias": None, **change}
    assert_refused(pysimd.linear, error, sentence, np.full((2, 3), 7, np.float32), **arguments)


def test_refused_context(rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="at least one dimension"):
        pysimd.InnerProduct32f((), 3)
    with pytest.raises(ValueError, match="dst_c is -1"):
        pysimd.InnerProduct32f((2, 8), -1)
    context = pysimd.InnerProduct32f((2, 8), 3)
    x = floats(rng, 2, 8)
    with pytest.raises(StateError):
        context(x)
    with pytest.raises(ValueError, match=r"weight has shape \(8, 3\), expected \(3, 8\)"):
        context.set_params(floats(rng, 8, 3))
    context.set_params(floats(rng, 3, 8))
    with pytest.raises(ValueError, match=r"x has shape \(3, 8\), expected \(2, 8\)"):
        context(floats(rng, 3, 8))
    with pytest.raises(ValueError, match="out overlaps x"):
        context(x, out=x.reshape(-1)[:6].reshape(2, 3))


@pytest.mark.parametrize("dst", ["float32", "bfloat16"])
@pytest.mark.parametrize("src", ["float32", "bfloat16"])
def test_bfloat16(isa: str, rng: np.random.Generator, src: str, dst: str) -> None:
    """Numbers that are rounded, pairs of them, odd sizes, and rows beside others."""
    for rows, size, count in [((), 7, 5), ((1,), 64, 130), ((14,), 33, 21), ((2, 3), 0, 4)]:
        x, weight, bias = floats(rng, *rows, size), floats(rng, count, size), floats(rng, count)
        small = reference.from_bfloat16(reference.to_bfloat16(x))
        values, bound = expected(small, reference.from_bfloat16(reference.to_bfloat16(weight)), bias)
        values, bound = np.maximum(values, 0), bound + 2.0**-8 * (np.abs(values) + bound) * (dst == "bfloat16")
        for transpose in (True, False):
            options: dict[str, Any] = {"transpose": transpose, "src_dtype": src, "dst_dtype": dst, "activation": "relu"}
            with pysimd.InnerProduct16b(x.shape, count, **options) as context:
                context.set_params(weight if transpose else weight.T.copy(), bias)
                y = context(x if src == "float32" else reference.to_bfloat16(x))
            assert y.dtype == (np.float32 if dst == "float32" else np.uint16)
            assert_within(y if dst == "float32" else reference.from_bfloat16(y), values, bound)


def test_bfloat16_refused(rng: np.random.Generator) -> None:
    with pytest.raises(TypeError, match="src_dtype has dtype float64"):
        pysimd.InnerProduct16b((2, 8), 3, src_dtype="float64")
    context = pysimd.InnerProduct16b((2, 8), 3)
    context.set_params(floats(rng, 3, 8))
    with pytest.raises(TypeError, match="x has dtype float32"):
        context(floats(rng, 2, 8))
