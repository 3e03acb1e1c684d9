"""Attention, on every instruction set: NumPy in double precision, and the library's own products and softmax."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused


def formula(q: Array, k: Array, v: Array, bias: Any, scale: float) -> Array:
    """In float64."""
    q, k, v = (each.astype(np.float64) for each in (q, k, v))
    scores = scale * q @ k.swapaxes(-1, -2) + (0 if bias is None else bias)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(shares / shares.sum(-1, keepdims=True) @ v)


def floats(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("m, n, k, w", [(1, 1, 1, 1), (5, 9, 4, 3), (40, 50, 32, 32), (33, 300, 64, 17), (70, 7, 16, 16)])
def test_formula(isa: str, rng: np.random.Generator, m: int, n: int, k: int, w: int) -> None:
    for lead in ((), (3,), (2, 3), (2, 1, 3)):
        q, key, v = floats(rng, *lead, m, k), floats(rng, *lead, n, k), floats(rng, *lead, n, w)
        for bias in (None, floats(rng, n), floats(rng, m, n), floats(rng, *lead, m, n)):
            y = pysimd.attention(q, key, v, bias=bias)
            np.testing.assert_allclose(y, formula(q, key, v, bias, k**-0.5), atol=3e-6 * (1 + np.abs(v).max()))
            scores = pysimd.matmul(q, np.ascontiguousarray(key.swapaxes(-1, -2))) * np.float32(k**-0.5)
            shares = pysimd.softmax(scores if bias is None else (scores + bias).astype(np.float32), axis=-1)
            np.testing.assert_allclose(y, pysimd.matmul(shares, v), atol=3e-6 * (1 + np.abs(v).max()))
            out = np.empty_like(y)
            assert pysimd.attention(q, key, v, bias=bias, out=out) is out
            np.testing.assert_array_equal(out, y)


def test_heads_in_one_array(isa: str, rng: np.random.Generator) -> None:
    """Queries, keys and values of all heads in the rows of one array, and the same for results."""
    packed, out = floats(rng, 21, 3, 4, 8), np.zeros((21, 4, 8), np.float32)
    q, k, v = (packed[:, i].swapaxes(0, 1) for i in range(3))
    pysimd.attention(q, k, v, scale=0.3, out=out.swapaxes(0, 1))
    np.testing.assert_allclose(out.swapaxes(0, 1), formula(q, k, v, None, 0.3), atol=1e-5)
    columns = np.ascontiguousarray(k.swapaxes(-1, -2)).swapaxes(-1, -2)
    np.testing.assert_allclose(pysimd.attention(q, columns, v, scale=0.3), formula(q, k, v, None, 0.3), atol=1e-5)


def test_shared_keys(isa: str, rng: np.random.Generator) -> None:
    q, k, v = floats(rng, 2, 4, 9, 16), floats(rng, 2, 1, 30, 16), floats(rng, 2, 1, 30, 16)
    np.testing.assert_allclose(pysimd.attention(q, k, v), formula(q, k, v, None, 0.25), atol=1e-5)


def test_mask(isa: str, rng: np.random.Generator) -> None:
    """A row sees only what is not masked, to the last bit; one that sees nothing is NaN."""
    q, k, v = floats(rng, 20, 8), floats(rng, 20, 8), floats(rng, 20, 8)
    for low in (-np.inf, np.float32(-3e38)):
        mask = np.where(np.tri(20, dtype=bool), np.float32(0), np.float32(low))
        y, before = pysimd.attention(q, k, v, bias=mask), v[19].copy()
        v[19] = 7
        np.testing.assert_array_equal(pysimd.attention(q, k, v, bias=mask)[:19], y[:19])
        v[19] = before
        np.testing.assert_allclose(y[0], v[0], rtol=1e-6)
    mask[3] = -np.inf
    y = pysimd.attention(q, k, v, bias=mask)
    assert np.isnan(y[3]).all()
    assert np.isfinite(np.delete(y, 3, 0)).all()


def test_empty(isa: str) -> None:
    def zeros(*shape: int) -> Array:
        return np.zeros(shape, np.float32)

    np.testing.assert_array_equal(pysimd.attention(zeros(2, 3), zeros(0, 3), zeros(0, 4)), zeros(2, 4))
    assert pysimd.attention(zeros(0, 3), zeros(2, 3), zeros(2, 4)).shape == (0, 4)
    assert pysimd.attention(zeros(0, 2, 3), zeros(0, 2, 3), zeros(2, 4)).shape == (0, 2, 4)


def test_prepared(isa: str, rng: np.random.Generator) -> None:
    """A prepared call reads its arrays each time."""
    q, k, v, bias = floats(rng, 9, 8), floats(rng, 9, 8), floats(rng, 9, 8), floats(rng, 9, 9)
    run = pysimd.prepare(pysimd.attention, q, k, v, bias=bias)
    for array in (q, k, v, bias):
        array *= 2
    run()
    np.testing.assert_array_equal(run.result, pysimd.attention(q, k, v, bias=bias))


Q, K, V = np.ones((2, 3), np.float32), np.ones((4, 3), np.float32), np.ones((4, 5), np.float32)


@pytest.mark.parametrize(
    ("error", "sentence", "arguments"),
    [
        (ValueError, r"k has shape \(3, 4\), expected rows of 3 numbers as q, and 4 of them as v", {"k": K.T.copy()}),
        (ValueError, r"q has shape \(3,\), expected at least two dimensions", {"q": Q[0]}),
        (ValueError, r"whose leading dimensions cannot be broadcast", {"q": np.stack([Q, Q]), "v": np.stack([V, V, V])}),
        (ValueError, r"bias has shape \(3,\), expected one that can be broadcast to \(2, 4\)", {"bias": Q[0]}),
        (ValueError, r"bias has shape \(2, 1\) and strides", {"bias": Q[:, :1].copy()}),
        (ValueError, r"q has strides", {"q": np.ones((3, 2), np.float32).T}),
        (TypeError, r"v has dtype float64", {"v": V.astype(np.float64)}),
    ],
)
def test_refusals(error: type[Exception], sentence: str, arguments: dict[str, Any]) -> None:
    assert_refused(pysimd.attention, error, sentence, np.ones((2, 5), np.float32), **{"q": Q, "k": K, "v": V, **arguments})


def test_refused_out() -> None:
    assert_refused(
        pysimd.attention, ValueError, r"out has shape \(2, 4\), expected \(2, 5\)", Q[:, :2].repeat(2, 1), q=Q, k=K, v=V
    )
    both = np.ones((4, 5), np.float32)
    assert_refused(pysimd.attention, ValueError, "out overlaps v", both[:2], q=Q, k=K, v=both)


def test_products_of_bfloat16_numbers(isa: str, rng: np.random.Generator) -> None:
    q, k, v = (rng.standard_normal((2, 100, 33)).astype(np.float32) for _ in range(3))
    floats, found = pysimd.attention(q, k, v), pysimd.attention(q, k, v, prefer="bfloat16")
    with pysimd.preference("bfloat16"):
        np.testing.assert_array_equal(pysimd.attention(q, k, v), found)
        np.testing.assert_array_equal(pysimd.attention(q, k, v, prefer="speed"), floats)
    error = np.abs(found - floats).max()
    assert 1e-4 < error < 2e-2 if isa == "amx" else error == 0
    with pytest.raises(ValueError, match="preference is 'half', expected one of 'speed'"):
        pysimd.attention(q, k, v, prefer="half")
