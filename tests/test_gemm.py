"""Products of matrices on every instruction set against the reference; invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pysimd
from support import assert_refused, assert_same, assert_within, floats, reference


@given(
    m=st.integers(1, 40),
    n=st.integers(1, 70),
    k=st.integers(0, 60),
    transposed=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
    alpha=st.sampled_from([1.0, 0.0, -0.5, 3.0]),
    beta=st.sampled_from([0.0, 1.0, 2.5]),
)
def test_against_the_formula(
    isa: str, m: int, n: int, k: int, transposed: bool, seed: int, alpha: float, beta: float
) -> None:
    rng = np.random.default_rng(seed)
    gaps = rng.integers(0, 5, 3)
    a = floats(rng, m, k + gaps[0])[:, :k]
    b = (floats(rng, n, k + gaps[1])[:, :k]) if transposed else floats(rng, k, n + gaps[1])[:, :n]
    whole = floats(rng, m, n + gaps[2])
    before = whole.copy()
    expected, bound = reference.gemm(a, b.T if transposed else b, alpha, beta, before[:, :n])
    out = whole[:, :n]
    assert pysimd.gemm(a, b, transpose_b=transposed, alpha=alpha, beta=beta, out=out) is out
    assert_within(out, expected, bound)
    assert_same(whole[:, n:], before[:, n:])


@pytest.mark.parametrize(("m", "n", "k"), [(1, 700, 300), (2, 33, 2000), (300, 520, 600), (49, 512, 1100), (600, 65, 512)])
def test_large(isa: str, rng: np.random.Generator, m: int, n: int, k: int) -> None:
    if isa == "base" and m * n * k > 10**7:
        pytest.skip("base is plain loops, which take long for this")
    a, b = floats(rng, m, k), floats(rng, k, n)
    expected, bound = reference.gemm(a, b, 1, 0, np.zeros((m, n)))
    assert_within(pysimd.gemm(a, b), expected, bound)
    assert_within(pysimd.gemm(a, np.ascontiguousarray(b.T), transpose_b=True), expected, bound)


def test_beta_0_overwrites_and_alpha_0_reads_nothing(isa: str) -> None:
    nan = np.full((20, 20), np.nan, np.float32)
    one = np.ones((20, 20), np.float32)
    assert_same(pysimd.gemm(one, one, out=nan.copy()), 20 * one)
    assert_same(pysimd.gemm(nan, nan, alpha=0, beta=2, out=one.copy()), 2 * one)


def test_empty() -> None:
    def zeros(*shape: int) -> Any:
        return np.zeros(shape, np.float32)

    assert pysimd.gemm(zeros(0, 3), zeros(3, 4)).shape == (0, 4)
    assert pysimd.gemm(zeros(2, 3), zeros(3, 0)).shape == (2, 0)
    assert_same(pysimd.gemm(zeros(2, 0), zeros(0, 3), beta=2, out=np.ones((2, 3), np.float32)), zeros(2, 3) + 2)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"a": 1.0}, TypeError, "a is a float, expected a numpy.ndarray"),
        ({"a": np.zeros((2, 3))}, TypeError, "a has dtype float64, expected float32"),
        ({"a": np.zeros(3, np.float32)}, ValueError, r"a has shape \(3,\), expected two dimensions"),
        ({"a": np.zeros((3, 2), np.float32).T}, ValueError, "a has strides"),
        ({"a": np.zeros((2, 3), np.float32)[::-1]}, ValueError, "a has strides"),
        ({"b": np.zeros((4, 3), np.float32)}, ValueError, r"b has shape \(4, 3\), expected \(3, 3\)"),
        ({"b": np.zeros((3, 5), np.float32)}, ValueError, r"out has shape \(2, 4\), expected \(2, 5\)"),
        ({"alpha": "a"}, TypeError, "is given as a parameter, expected a number"),
        ({"beta": "b"}, TypeError, "is given as a parameter, expected a number"),
        ({"c": np.zeros((3, 4), np.float32)}, ValueError, r"c has shape \(3, 4\), expected one that can be broadcast"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments = {"a": np.ones((2, 3), np.float32), "b": np.ones((3, 4), np.float32), **change}
    assert_refused(pysimd.gemm, error, sentence, np.full((2, 4), 7, np.float32), **arguments)


def test_refused_out() -> None:
    a, b = np.ones((4, 4), np.float32), np.ones((4, 4), np.float32)
    with pytest.raises(ValueError, match=r"beta is 1\.0, but there is no c or out"):
        pysimd.gemm(a, b, beta=1.0)
    with pytest.raises(ValueError, match="out overlaps b"):
        pysimd.gemm(a, b, out=b)
    wide = np.ones((4, 8), np.float32)
    with pytest.raises(ValueError, match="out overlaps a"):
        pysimd.gemm(wide[:, :4], b, out=wide[:, 3:7])
    assert (pysimd.gemm(wide[:, :4], b, out=wide[:, 4:]) == 4).all() and (wide[:, :4] == 1).all()  # next to each other
    a.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        pysimd.gemm(b, b, out=a)


@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize("depth", [10, 3000])
def test_sums_keep_the_sign_of_zero(isa: str, rows: int, depth: int) -> None:
    """The first product becomes -0, as do all that are added to it, also where a long sum is interrupted. Without fused
    multiply-adds, 0 is added to it."""
    a, b = np.full((rows, depth), -0.0, np.float32), np.ones((depth, 40), np.float32)
    a[:, 0], b[0] = -1e-30, 1e-30
    assert (np.signbit(pysimd.gemm(a, b)) == (isa != "sse41")).all()
