"""Products of floats and a matrix of 4 or 8 bits, on every instruction set: NumPy with decoded numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused


def numbers(packed: Array, bits: int) -> Array:
    """The numbers in bytes, along the last axis."""
    if bits == 8:
        return packed.astype(np.float64)
    return np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], -1).astype(np.float64)


def decoded(weight: Array, scale: Array, zero: Array | None, bits: int, depth: int) -> Array:
    """The matrix as float64."""
    q = numbers(weight, bits)
    middle = 2.0 ** (bits - 1) if zero is None else numbers(zero, bits)[:, : scale.shape[1], None]
    return ((q - middle) * scale[..., None]).reshape(len(q), -1)[:, :depth]


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("block", [16, 32, 64, 256])
def test_formula(isa: str, rng: np.random.Generator, bits: int, block: int) -> None:
    for lead, n, depth in (((1,), 5, 40), ((), 3, 256), ((2, 3), 70, 129), ((1,), 33, 1000), ((0,), 4, 16), ((40,), 9, 700)):
        blocks = -(-depth // block)
        x = rng.standard_normal((*lead, depth)).astype(np.float32)
        weight = rng.integers(0, 256, (n, blocks, block * bits // 8), np.uint8)
        scale = rng.standard_normal((n, blocks)).astype(np.float32)
        bias = rng.standard_normal(n).astype(np.float32)
        for zero in (None, rng.integers(0, 256, (n, -(-blocks * bits // 8)), np.uint8)):
            w = decoded(weight, scale, zero, bits, depth)
            y = pysimd.gemm_nbits(x, weight, scale, zero=zero, bias=bias, bits=bits)
            bound = 1e-6 * (np.abs(x).astype(np.float64) @ np.abs(w).T + np.abs(bias))
            assert y.shape == (*lead, n)
            assert np.all(np.abs(y - (x.astype(np.float64) @ w.T + bias)) <= bound)
            out = np.empty_like(y)
            assert pysimd.gemm_nbits(x, weight, scale, zero=zero, bias=bias, bits=bits, out=out) is out
            np.testing.assert_array_equal(out, y)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("block", [16, 32, 64, 128])
def test_quantised(isa: str, rng: np.random.Generator, bits: int, block: int) -> None:
    """Bytes of x, with a scale of each block, in place of x."""
    few = (1, 5, 40), (3, 3, 256), (6, 70, 129), (1, 33, 1000), (200, 9, 700), (15, 77, 700), (0, 4, 16)
    for rows, n, depth in (*few, (16, 33, 1000), (37, 70, 529), (129, 32, 40), (150, 65, 300)):
        blocks = -(-depth // block)
        x = rng.standard_normal((rows, depth)).astype(np.float32)
        x[:, : min(block, depth)] *= rng.integers(0, 2)  # a block of zeros
        weight = rng.integers(0, 256, (n, blocks, block * bits // 8), np.uint8)
        scale, bias = rng.standard_normal((n, blocks)).astype(np.float32), rng.standard_normal(n).astype(np.float32)
        padded = np.pad(x, ((0, 0), (0, blocks * block - depth))).reshape(rows, blocks, block)
        sizes = np.abs(padded).max(-1, keepdims=True, initial=0) / np.float32(127)
        taken = np.rint(padded / np.where(sizes > 0, sizes, np.float32(1))).astype(np.float64) * sizes
        taken = taken.reshape(rows, blocks * block)[:, :depth]
        for zero in (None, rng.integers(0, 256, (n, -(-blocks * bits // 8)), np.uint8)):
            w = decoded(weight, scale, zero, bits, depth)
            y = pysimd.gemm_nbits(x, weight, scale, zero=zero, bias=bias, bits=bits, quantised=True)
            bound = 1e-6 * (np.abs(taken) @ np.abs(w).T + np.abs(bias))
            assert np.all(np.abs(y - (taken @ w.T + bias)) <= bound)


@pytest.mark.parametrize("sign", [1, -1])
def test_largest_sums_of_bytes(isa: str, sign: int) -> None:
    """Sums of 15 * 127 do not exceed what they are added up in."""
    for block in (16, 32, 64, 128):
        for rows, columns in ((1, 5), (2, 9), (7, 70), (32, 64)):
            x, weight = np.full((rows, 512), sign, np.float32), np.full((columns, 512 // block, block // 2), 0xFF, np.uint8)
            scale, zero = np.ones(weight.shape[:2], np.float32), np.zeros((columns, -(-512 // block // 2)), np.uint8)
            for z, number in ((None, 7), (zero, 15)):
                y = pysimd.gemm_nbits(x, weight, scale, zero=z, quantised=True)
                np.testing.assert_allclose(y, np.full((rows, columns), sign * number * 512.0), rtol=1e-6)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_quantised_numbers_that_are_not_finite(isa: str, wrong: float) -> None:
    for rows, columns in ((2, 3), (8, 40), (20, 40)):
        x, weight = np.ones((rows, 64), np.float32), np.full((columns, 4, 8), 0x9A, np.uint8)
        x[1, 40] = wrong
        y = pysimd.gemm_nbits(x, weight, np.ones((columns, 4), np.float32), quantised=True)
        expected = np.full((rows, columns), 96.0)
        expected[1] = np.nan
        np.testing.assert_array_equal(y, expected)


def test_known_numbers(isa: str) -> None:
    """Low bits first; the zeros of an odd number of blocks; exact with small integers."""
    weight = np.arange(48, dtype=np.uint8).reshape(2, 3, 8)
    zero, scale = np.array([[0x21, 0xF3], [0x65, 0xF7]], np.uint8), np.array([[1, 2, 4], [8, 16, 32]], np.float32)
    x = np.zeros((48, 48), np.float32)
    np.fill_diagonal(x, 1)
    expected = np.empty((48, 2), np.float32)
    for j in range(2):
        for k in range(48):
            byte = int(weight.reshape(2, 24)[j, k // 2])
            q = byte >> 4 if k % 2 else byte & 15
            expected[k, j] = (q - (1 + k // 16 + 4 * j)) * float(scale[j, k // 16])
    for rows in (1, 48):
        parts = [pysimd.gemm_nbits(x[i : i + rows], weight, scale, zero=zero) for i in range(0, 48, rows)]
        np.testing.assert_array_equal(np.concatenate(parts), expected)


def test_prepared(isa: str, rng: np.random.Generator) -> None:
    """A prepared call reads its arrays each time."""
    x, scale = rng.standard_normal((1, 64)).astype(np.float32), np.ones((8, 2), np.float32)
    weight = rng.integers(0, 256, (8, 2, 16), np.uint8)
    run = pysimd.prepare(pysimd.gemm_nbits, x, weight, scale)
    x *= 2
    weight[:] = weight[::-1].copy()
    run()
    np.testing.assert_array_equal(run.result, pysimd.gemm_nbits(x, weight, scale))


X, WEIGHT, SCALE = np.ones((2, 40), np.float32), np.zeros((3, 3, 8), np.uint8), np.ones((3, 3), np.float32)


@pytest.mark.parametrize(
    ("error", "sentence", "arguments"),
    [
        (TypeError, "x has dtype float64, expected float32", {"x": X.astype(np.float64)}),
        (TypeError, "weight has dtype int8, expected uint8", {"weight": WEIGHT.astype(np.int8)}),
        (ValueError, r"x has shape \(\), expected at least one dimension", {"x": np.array(1, np.float32)}),
        (ValueError, r"weight has shape \(3, 24\), expected three dimensions", {"weight": WEIGHT.reshape(3, 24)}),
        (ValueError, r"weight has shape \(3, 2, 8\), expected \(3, 3, 8\)", {"weight": WEIGHT[:, :2].copy()}),
        (ValueError, "weight has blocks of 12 numbers", {"weight": WEIGHT[..., :6].copy()}),
        (ValueError, r"scale has shape \(3, 2\), expected \(3, 3\)", {"scale": SCALE[:, :2].copy()}),
        (ValueError, r"zero has shape \(3, 1\), expected \(3, 2\)", {"zero": np.zeros((3, 1), np.uint8)}),
        (ValueError, r"bias has shape \(2,\), expected \(3,\)", {"bias": X[0, :2].copy()}),
        (ValueError, "bits is 2, expected 4 or 8", {"bits": 2}),
    ],
)
def test_bad_arguments(error: type[Exception], sentence: str, arguments: dict[str, Any]) -> None:
    given = {"x": X, "weight": WEIGHT, "scale": SCALE} | arguments
    assert_refused(pysimd.gemm_nbits, error, sentence, np.zeros((2, 3), np.float32), **given)


def test_overlap() -> None:
    memory = np.zeros(400, np.float32)
    x, scale = memory[:80].reshape(2, 40), memory[100:109].reshape(3, 3)
    with pytest.raises(ValueError, match="out overlaps x"):
        pysimd.gemm_nbits(x, WEIGHT, scale, out=memory[79:85].reshape(2, 3))
    with pytest.raises(ValueError, match="out overlaps scale"):
        pysimd.gemm_nbits(x, WEIGHT, scale, out=memory[108:114].reshape(2, 3))
