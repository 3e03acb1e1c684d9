"""Products of matrices of bytes, on every instruction set: NumPy's integers, and ONNX's formulas in float32."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused

TYPES = [(a, b) for a in ("uint8", "int8") for b in ("uint8", "int8")]


def drawn(rng: np.random.Generator, dtype: Any, *shape: int) -> Array:
    """All bytes, and many of the extremes."""
    x = rng.integers(0, 256, shape).astype(np.uint8).view(dtype)
    limits = np.iinfo(dtype)
    return np.where(rng.random(shape) < 0.3, np.where(rng.random(shape) < 0.5, limits.min, limits.max), x).astype(dtype)


def sums(a: Array, b: Array, a_zero: Array | int = 0, b_zero: Array | int = 0) -> Array:
    left = a.astype(np.int64) - np.asarray(a_zero, np.int64)[..., None]
    total: Array = left @ (b.astype(np.int64) - b_zero)
    return total.astype(np.int32)


def quantised(total: Array, factor: Any, zero: int, dtype: Any) -> Array:
    """Of float32 factors: each operation is rounded, ties to even."""
    limits = np.iinfo(dtype)
    whole: Array = np.rint(total.astype(np.float32) * factor) + zero
    return np.clip(whole, limits.min, limits.max).astype(dtype)


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("transposed", [False, True])
def test_sums(isa: str, rng: np.random.Generator, types: tuple[str, str], transposed: bool) -> None:
    """MatMulInteger: zeros of rows and columns, of one number, none; batches."""
    shapes: tuple[tuple[tuple[int, ...], int, int, int, bool], ...]
    shapes = ((), 3, 5, 7, True), ((2, 3), 9, 66, 70, False), ((4,), 1, 200, 33, True), ((0,), 2, 3, 4, True)
    for lead, m, k, n, shared in shapes:
        a, b = drawn(rng, types[0], *lead, m, k), drawn(rng, types[1], *(() if shared else lead), k, n)
        given = b.swapaxes(-1, -2).copy() if transposed else b
        one = drawn(rng, types[0], 1), drawn(rng, types[1], 1)
        each = drawn(rng, types[0], *lead, m), drawn(rng, types[1], n)
        for zeros in ((None, None), (one[0], None), one, each, (each[0], one[1]), (None, each[1])):
            y = pysimd.quantized_gemm(a, given, a_zero=zeros[0], b_zero=zeros[1], transpose_b=transposed)
            assert y.dtype == np.int32
            np.testing.assert_array_equal(y, sums(a, b, *(0 if zero is None else zero for zero in zeros)))


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("n", [1, 2, 33, 70])
def test_zeros_that_are_mostly_none(isa: str, rng: np.random.Generator, dtype: str, n: int) -> None:
    """Zeros of columns that need no sums of rows, all of them or all but one."""
    a, b = drawn(rng, "uint8", 3, 21), drawn(rng, dtype, 21, n)
    none = 128 if dtype == "uint8" else 0
    zero = np.full(n, none, dtype)
    np.testing.assert_array_equal(pysimd.quantized_gemm(a, b, b_zero=zero), sums(a, b, 0, zero.astype(np.int64)))
    for j in range(n):
        zero[:] = none
        zero[j] = 7
        np.testing.assert_array_equal(pysimd.quantized_gemm(a, b, b_zero=zero), sums(a, b, 0, zero.astype(np.int64)))


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_bytes(isa: str, rng: np.random.Generator, types: tuple[str, str], dtype: str) -> None:
    """QLinearMatMul and QGemm, with ties: scales that are powers of two, and zeros that are odd and even."""
    a, b = drawn(rng, types[0], 2, 5, 90), drawn(rng, types[1], 90, 130)
    bias = rng.integers(-50000, 50000, 130).astype(np.int32)
    zeros = drawn(rng, types[0], 1), drawn(rng, types[1], 1)
    total = sums(a, b, *zeros) + bias
    for scale in (np.float32(4096), np.float32(1234.5)):
        for zero in (np.iinfo(dtype).min, 0, 3, np.iinfo(dtype).max):
            options: dict[str, Any] = {
                "bias": bias,
                "a_zero": zeros[0],
                "b_zero": zeros[1],
                "scale": float(scale),
                "zero": zero,
            }
            each = (2.0 ** rng.integers(-2, 2, 130)).astype(np.float32)
            rows = rng.random((2, 5)).astype(np.float32)
            y = pysimd.quantized_gemm(a, b, dtype=dtype, **options)
            np.testing.assert_array_equal(y, quantised(total, 1 / scale, zero, dtype))
            options["b_zero"] = None
            y = pysimd.quantized_gemm(a, b, dtype=dtype, b_scale=each, **options)
            np.testing.assert_array_equal(y, quantised(sums(a, b, zeros[0]) + bias, each / scale, zero, dtype))
            options["a_zero"] = None
            y = pysimd.quantized_gemm(a, b, dtype=dtype, a_scale=rows, b_scale=each, **options)
            factor = rows[..., None] * each / scale
            np.testing.assert_array_equal(y, quantised(sums(a, b) + bias, factor, zero, dtype))


def test_extremes_and_ties(isa: str) -> None:
    """255 * -128 many times is exact, and halves go to the even number before the zero is added."""
    a, b = np.full((1, 2000), 255, np.uint8), np.full((2000, 3), -128, np.int8)
    np.testing.assert_array_equal(pysimd.quantized_gemm(a, b), np.full((1, 3), -65280000))
    one, halves = np.ones((1, 1), np.uint8), np.array([[1, 3, 5, -1, -3]], np.int8)
    y = pysimd.quantized_gemm(one, halves, scale=2, zero=3, dtype=np.uint8)
    np.testing.assert_array_equal(y, [[3, 5, 5, 3, 1]])


def test_floats(isa: str, rng: np.random.Generator) -> None:
    """MatMulIntegerToFloat: two roundings and the addition."""
    a, b = drawn(rng, np.uint8, 7, 100), drawn(rng, np.int8, 100, 70)
    rows, columns = rng.random(7).astype(np.float32), rng.random(70).astype(np.float32)
    bias = rng.standard_normal(70).astype(np.float32)
    one = np.array([0.3], np.float32)
    for a_scale in (one, rows):
        y = pysimd.quantized_gemm(a, b, a_scale=a_scale, b_scale=columns, bias=bias, dtype=np.float32)
        np.testing.assert_array_equal(y, sums(a, b).astype(np.float32) * (a_scale[:, None] * columns) + bias)
    out = np.empty((7, 70), np.float32)
    assert pysimd.quantized_gemm(a, b, a_scale=one, out=out) is out
    np.testing.assert_array_equal(out, sums(a, b).astype(np.float32) * one)


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("transpose", [False, True])
def test_packed(isa: str, rng: np.random.Generator, types: tuple[str, str], transpose: bool) -> None:
    """A matrix that is packed once: NumPy's integers, ONNX's floats, and the bits of the function."""
    for k, n in ((1, 1), (66, 70), (300, 129)):
        b = drawn(rng, types[1], k, n)
        each = drawn(rng, types[1], n)
        scale = rng.random(n).astype(np.float32)
        with pysimd.QuantizedGemm((k, n), types[1], transpose=transpose) as context:
            context.set_params(b.T.copy() if transpose else b)
            assert context.internal_buffer_size >= k * n
            for lead in ((1,), (8,), (2, 9), (0,)):
                a, zero = drawn(rng, types[0], *lead, k), drawn(rng, types[0], 1)
                np.testing.assert_array_equal(context(a, a_zero=zero), sums(a, b, zero))
                np.testing.assert_array_equal(context(a, a_zero=zero, b_zero=each), sums(a, b, zero, each))
                y = context(a, a_zero=zero, a_scale=scale[:1], b_scale=scale, bias=scale, dtype=np.float32)
                np.testing.assert_array_equal(y, sums(a, b, zero).astype(np.float32) * (scale[0] * scale) + scale)
                y = context(a, a_scale=scale[:1] * np.float32(np.inf), dtype=np.float32)
                with np.errstate(invalid="ignore"):
                    np.testing.assert_array_equal(y, sums(a, b).astype(np.float32) * np.float32(np.inf))
                y = context(a, scale=4096.0, zero=3, dtype=types[0])
                np.testing.assert_array_equal(y, quantised(sums(a, b), np.float32(1 / 4096), 3, types[0]))


def test_packed_copies_and_shares(rng: np.random.Generator) -> None:
    b, a = drawn(rng, np.int8, 5, 7), drawn(rng, np.uint8, 3, 5)
    context, other = pysimd.QuantizedGemm((5, 7)), pysimd.QuantizedGemm((5, 7), transpose=True)
    with pytest.raises(pysimd.StateError, match="no weights yet"):
        context(a)
    context.set_params(b)
    expected = context(a)
    copied = pickle.loads(pickle.dumps(context))
    other.share_params(context)
    b[:] = 0
    context.close()
    for each in (copied, other):
        np.testing.assert_array_equal(each(a), expected)
    with pytest.raises(ValueError, match=r"a has shape \(3, 6\), expected \(..., M, 5\)"):
        other(drawn(rng, np.uint8, 3, 6))
    with pytest.raises(TypeError, match="dtype has dtype float32"):
        pysimd.QuantizedGemm((5, 7), "float32")
    with pytest.raises(ValueError, match=r"shape is \(5,\)"):
        pysimd.QuantizedGemm((5,))


def test_prepared(isa: str, rng: np.random.Generator) -> None:
    """A prepared call reads its arrays each time."""
    a, b, zero = drawn(rng, np.uint8, 4, 30), drawn(rng, np.int8, 30, 8), np.array([3], np.uint8)
    run = pysimd.prepare(pysimd.quantized_gemm, a, b, a_zero=zero)
    a[:] = a[::-1].copy()
    zero[0] = 200
    run()
    np.testing.assert_array_equal(run.result, sums(a, b, zero))


A, B = np.ones((2, 5), np.uint8), np.ones((5, 3), np.int8)
ONE = np.ones(1, np.float32)


@pytest.mark.parametrize(
    ("error", "sentence", "arguments"),
    [
        (TypeError, "a has dtype int32, expected uint8 or int8", {"a": A.astype(np.int32)}),
        (TypeError, "b has dtype float32, expected uint8 or int8", {"b": B.astype(np.float32)}),
        (ValueError, r"b has shape \(4, 3\), expected \(5, 3\)", {"b": B[:4].copy()}),
        (ValueError, r"a has shape \(5,\), expected at least two dimensions", {"a": A[0].copy()}),
        (TypeError, "a_zero has dtype int8, expected uint8", {"a_zero": np.ones(1, np.int8)}),
        (ValueError, r"b_zero has shape \(2,\), expected \(3,\)", {"b_zero": np.ones(2, np.int8)}),
        (ValueError, r"b_scale has shape \(1,\), expected \(3,\)", {"b_zero": np.ones(3, np.int8), "b_scale": ONE}),
        (ValueError, r"bias has shape \(2,\), expected \(3,\)", {"bias": np.ones(2, np.int32)}),
        (ValueError, "scaleA\\[0\\] is -1", {"a_scale": -ONE}),
        (ValueError, "scaleA\\[0\\] is nan", {"a_scale": ONE * np.nan}),
    ],
)
def test_bad_arguments(error: type[Exception], sentence: str, arguments: dict[str, Any]) -> None:
    given = {"a": A, "b": B} | arguments
    assert_refused(pysimd.quantized_gemm, error, sentence, np.zeros((2, 3), np.int32), **given)


@pytest.mark.parametrize(("bad", "text"), [(-1, "-1"), (np.nan, "-?nan"), (np.inf, "inf"), (-1e-45, "-1.*")])
def test_bad_scales(isa: str, bad: float, text: str) -> None:
    """At any place of a vector, and behind the last whole one."""
    n = 37
    good = np.array([0, -0.0, np.finfo(np.float32).max, 1e-45], np.float32)[np.arange(n) % 4]
    a, b = np.zeros((1, 2), np.uint8), np.zeros((2, n), np.int8)
    pysimd.quantized_gemm(a, b, b_scale=good, dtype=np.float32)
    for j in range(n):
        scale = good.copy()
        scale[j] = bad
        with pytest.raises(ValueError, match=rf"scaleB\[{j}\] is {text}, expected a finite number that is not below 0"):
            pysimd.quantized_gemm(a, b, b_scale=scale, dtype=np.float32)


def test_bad_results() -> None:
    cases: tuple[tuple[str, dict[str, Any]], ...]
    cases = ("scaleC is 0", {"scale": 0.0}), ("scaleC is inf", {"scale": np.inf}), ("zeroC is 256", {"zero": 256})
    for sentence, options in cases:
        with pytest.raises(ValueError, match=sentence):
            pysimd.quantized_gemm(A, B, dtype=np.uint8, **options)
    with pytest.raises(TypeError, match="dtype is float64"):
        pysimd.quantized_gemm(A, B, dtype=np.float64)
    memory = np.zeros(100, np.uint8)
    with pytest.raises(ValueError, match="out overlaps a"):
        pysimd.quantized_gemm(memory[:10].reshape(2, 5), B, out=memory[9:15].reshape(2, 3))
