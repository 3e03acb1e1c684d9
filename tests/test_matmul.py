"""Stacks of products on every instruction set against NumPy; strides that are read in place; invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused, assert_same, assert_within, floats, reference

SHAPES = [
    ((5, 8), (8, 7)),
    ((2, 5, 8), (8, 7)),
    ((5, 8), (3, 8, 7)),
    ((2, 3, 5, 8), (2, 3, 8, 7)),
    ((2, 1, 5, 8), (3, 8, 7)),
    ((2, 3, 4, 2, 8), (2, 1, 4, 8, 7)),
    ((2, 3, 1, 8), (2, 3, 8, 7)),
    ((3, 3, 5), (3, 3, 5, 7)),  # whose leading dimensions are the first two of a
    ((8,), (8, 7)),
    ((5, 8), (8,)),
    ((2, 5, 8), (8,)),
    ((8,), (3, 8, 7)),
    ((8,), (8,)),
    ((2, 5, 0), (2, 0, 7)),
    ((0, 5, 8), (8, 7)),
    ((2, 0, 8), (2, 8, 7)),
]


def assert_matmul(a: Any, b: Any, **options: Any) -> None:
    expected = a.astype(np.float64) @ b.astype(np.float64)
    magnitude = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    result = pysimd.matmul(a, b, **options)
    assert result.shape == expected.shape and result.dtype == np.float32
    assert_within(np.asarray(result), expected, (a.shape[-1] + 1) * reference.EPS * magnitude + reference.TINY)


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_shapes(isa: str, rng: np.random.Generator, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    assert_matmul(floats(rng, *left), floats(rng, *right))


def test_attention(isa: str, rng: np.random.Generator) -> None:
    """Heads inside one array are read, and written, in place."""
    batch, tokens, heads, size = 2, 19, 3, 8
    joined = floats(rng, batch, tokens, 3, heads, size)
    q, k, v = (joined[:, :, i].swapaxes(1, 2) for i in range(3))
    assert_matmul(q, k.swapaxes(-1, -2))
    weights = floats(rng, batch, heads, tokens, tokens)
    assert_matmul(weights, v)
    assert_matmul(weights.swapaxes(-1, -2), v)
    out = np.full((batch, tokens, heads, size + 1), 7, np.float32)
    view = out.swapaxes(1, 2)[..., :size]
    assert pysimd.matmul(weights, v, out=view) is view
    assert_same(view, pysimd.matmul(weights, v))
    assert (out[..., size] == 7).all()


def test_strides(isa: str, rng: np.random.Generator) -> None:
    a, b = floats(rng, 6, 9, 20), floats(rng, 20, 24)
    assert_matmul(a[::2, 1:, 3:11], b[3:11, :7])
    assert_matmul(a[1:2, :1, :8].swapaxes(0, 1), b[:8])
    assert_matmul(np.broadcast_to(a[:, None], (6, 4, 9, 20)), b)
    assert_matmul(a.swapaxes(-1, -2)[:, :, :1], b[:1])
    assert_matmul(a[:, :, :1], b[:1, :5])
    assert_matmul(a, b[:, 3])


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"a": 1.0}, TypeError, "a is a float, expected a numpy.ndarray"),
        ({"a": np.zeros((2, 3))}, TypeError, "a has dtype float64, expected float32"),
        ({"a": np.zeros((), np.float32)}, ValueError, r"a has shape \(\), expected at least one dimension"),
        ({"a": np.zeros((2, 6), np.float32)[:, ::2]}, ValueError, "a has strides"),
        ({"a": np.zeros((2, 3), np.float32)[::-1]}, ValueError, "a has strides"),
        ({"b": np.zeros((5, 3, 8), np.float32)[:, :, ::2]}, ValueError, "b has strides"),
        ({"b": np.zeros((4, 3), np.float32)}, ValueError, r"b has shape \(4, 3\), expected \(..., 3, 3\)"),
        ({"b": np.zeros(4, np.float32)}, ValueError, r"b has shape \(4,\), expected \(3,\)"),
        ({"b": np.zeros((3, 5), np.float32)}, ValueError, r"out has shape \(5, 2, 4\), expected \(2, 5\)"),
        (
            {"a": np.zeros((2, 2, 3), np.float32)},
            ValueError,
            r"b has shape \(5, 3, 4\), expected leading dimensions that can be broadcast to those of \(2, 2, 3\)",
        ),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments = {"a": np.ones((2, 3), np.float32), "b": np.ones((5, 3, 4), np.float32), **change}
    assert_refused(pysimd.matmul, error, sentence, np.full((5, 2, 4), 7, np.float32), **arguments)


def test_refused_out() -> None:
    a = np.ones((4, 4), np.float32)
    with pytest.raises(ValueError, match="out overlaps b"):
        pysimd.matmul(a.copy(), a, out=a)
    with pytest.raises(ValueError, match="out has strides"):
        pysimd.matmul(a, a, out=np.ones((4, 4), np.float32).T)
    with pytest.raises(TypeError, match="out has dtype float64"):
        pysimd.matmul(a, a, out=np.ones((4, 4)))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="strideC"):
        pysimd.matmul(
            np.ones((2, 4, 4), np.float32), a, out=np.lib.stride_tricks.as_strided(a.copy(), (2, 4, 4), (0, 16, 4))
        )
    b = a.copy()
    b.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        pysimd.matmul(a, a, out=b)


def test_gemm_reads_a_transposed(isa: str, rng: np.random.Generator) -> None:
    a, b = floats(rng, 9, 14)[:, :12], floats(rng, 9, 7)
    for right, transposed in ((b, False), (b.T.copy(), True)):
        y = pysimd.gemm(a, right, transpose_a=True, transpose_b=transposed, alpha=2)
        expected, bound = reference.gemm(a.T, b, 2, 0, np.zeros((12, 7)))
        assert_within(y, expected, bound)
