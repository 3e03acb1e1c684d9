"""Sums and products of bytes, on every instruction set: fractions, NumPy's float32 and its broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import frexp
from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused

F = np.float32
TYPES = ("uint8", "int8")


def limited(x: Array, dtype: Any) -> Array:
    limits = np.iinfo(dtype)
    return np.clip(np.rint(x), limits.min, limits.max).astype(dtype)


def multiplied(a: Array, b: Array, src: Any, dst: Any) -> Array:
    """QLinearMul: each operation is rounded, the zero is added before the last one."""
    ((sa, za), (sb, zb)), (sy, zy) = src, dst
    product = ((a.astype(np.int32) - za) * (b.astype(np.int32) - zb)).astype(F)
    return limited(product * (F(sa) * F(sb) / F(sy)) + F(zy), a.dtype)


def nearest32(x: Fraction) -> Fraction:
    """Rounded once to float32; there are no subnormal numbers here."""
    if x == 0:
        return x
    step = Fraction(2) ** (frexp(float(x))[1] - 24)
    return round(x / step) * step


def added(a: Array, b: Array, src: Any, dst: Any) -> Array:
    """QLinearAdd: each product joins the sum with one rounding."""
    ((sa, za), (sb, zb)), (sy, zy) = src, dst
    ra, rb = F(sa) / F(sy), F(sb) / F(sy)
    t = F(zy) - (ra * F(za) + rb * F(zb))
    inner = {y: nearest32(y * Fraction(float(rb)) + Fraction(float(t))) for y in range(-128, 256)}
    pairs = zip(a.reshape(-1).tolist(), b.reshape(-1).tolist())
    sums = [float(nearest32(x * Fraction(float(ra)) + inner[y])) for x, y in pairs]
    return limited(np.array(sums).reshape(a.shape), a.dtype)


FORMULAS: dict[str, Callable[..., Array]] = {"add": added, "multiply": multiplied}


def numbers(rng: np.random.Generator, dtype: Any, ties: bool) -> tuple[Any, Any]:
    limits = np.iinfo(dtype)
    scales = 2.0 ** rng.integers(-3, 2, 3) if ties else rng.uniform(0.01, 1, 3)
    pairs = [(float(F(s)), int(z)) for s, z in zip(scales, rng.integers(limits.min, limits.max + 1, 3))]
    return (pairs[0], pairs[1]), pairs[2]


def drawn(rng: np.random.Generator, dtype: Any, *shape: int) -> Array:
    return np.asarray(rng.integers(0, 256, shape, np.uint8)).view(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operation", FORMULAS)
@pytest.mark.parametrize("ties", [False, True])
def test_every_pair(isa: str, rng: np.random.Generator, operation: Any, dtype: str, ties: bool) -> None:
    every = np.arange(256, dtype=np.uint8).view(dtype)
    src, dst = numbers(rng, dtype, ties)
    y = pysimd.quantized_binary(operation, every[:, None].copy(), every, src=src, dst=dst)
    a, b = (np.ascontiguousarray(each) for each in np.broadcast_arrays(every[:, None], every))
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, FORMULAS[operation](a, b, src, dst))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operation", FORMULAS)
def test_shapes(isa: str, rng: np.random.Generator, operation: Any, dtype: str) -> None:
    shapes: Any = (((3, 4, 40), (3, 4, 40)), ((2, 3, 4), (3, 1)), ((1,), (5, 6)), ((5, 6), ()), ((2, 1), (1, 3)),
                   ((), ()), ((0, 3), (3,)), ((1, 5, 1, 300), (4, 1, 3, 1)), ((9000, 3), (3,)))  # fmt: skip
    for left, right in shapes:
        a, b = drawn(rng, dtype, *left), drawn(rng, dtype, *right)
        src, dst = numbers(rng, dtype, False)
        y = pysimd.quantized_binary(operation, a, b, src=src, dst=dst)
        wide = [np.ascontiguousarray(each) for each in np.broadcast_arrays(a, b)]
        assert y.shape == np.broadcast_shapes(left, right)
        np.testing.assert_array_equal(y, FORMULAS[operation](*wide, src, dst).reshape(y.shape))


def test_zeros_of_onnx(isa: str) -> None:
    """Ties with odd zeros: the zero is inside the rounding, so halves go to the even byte, not to the even multiple."""
    a, b = np.array([1, 3, 5], np.uint8), np.array([1, 1, 1], np.uint8)
    y = pysimd.quantized_binary("multiply", a, b, src=((0.5, 0), (1.0, 0)), dst=(1.0, 3))
    np.testing.assert_array_equal(y, [4, 4, 6])
    y = pysimd.quantized_binary("add", a, b, src=((0.5, 0), (1.0, 1)), dst=(1.0, 3))
    np.testing.assert_array_equal(y, [4, 4, 6])


def test_added_as_by_the_context(isa: str, rng: np.random.Generator) -> None:
    a, b = drawn(rng, "uint8", 4, 500), drawn(rng, "uint8", 4, 500)
    src, dst = numbers(rng, "uint8", False)
    with pysimd.QuantizedAdd(a.shape, a=src[0], b=src[1], dst=dst) as context:
        np.testing.assert_array_equal(pysimd.quantized_binary("add", a, b, src=src, dst=dst), context(a, b))


def test_overflow(isa: str) -> None:
    """Scales whose quotients are infinite: NaN is the least byte."""
    a, b = np.array([0, 1, -1], np.int8), np.array([1, 1, 1], np.int8)
    huge = (3e38, 0)
    y = pysimd.quantized_binary("multiply", a, b, src=(huge, huge), dst=(1e-38, 5))
    np.testing.assert_array_equal(y, [-128, 127, -128])


@pytest.mark.parametrize("operation", FORMULAS)
def test_in_place(isa: str, rng: np.random.Generator, operation: Any) -> None:
    src, dst = numbers(rng, "int8", False)
    for place in range(2):
        pair = [drawn(rng, "int8", 5, 333), drawn(rng, "int8", 5, 333)]
        expected = pysimd.quantized_binary(operation, *pair, src=src, dst=dst)
        assert pysimd.quantized_binary(operation, *pair, src=src, dst=dst, out=pair[place]) is pair[place]
        np.testing.assert_array_equal(pair[place], expected)


def test_prepared(isa: str, rng: np.random.Generator) -> None:
    a, b = drawn(rng, "uint8", 4, 30), drawn(rng, "uint8", 30)
    src, dst = numbers(rng, "uint8", False)
    run = pysimd.prepare(pysimd.quantized_binary, "multiply", a, b, src=src, dst=dst)
    a[:] = a[::-1].copy()
    run()
    np.testing.assert_array_equal(run.result, multiplied(a, b[None], src, dst))


A, B = np.arange(12, dtype=np.uint8).reshape(3, 4), np.arange(4, dtype=np.uint8)
NUMBERS: dict[str, Any] = {"src": ((0.5, 3), (0.25, 9)), "dst": (1.0, 7)}


@pytest.mark.parametrize(
    ("error", "sentence", "arguments"),
    [
        (ValueError, "operation is 'divide', expected 'add' or 'multiply'", {"operation": "divide"}),
        (TypeError, "a has dtype float32, expected uint8 or int8", {"a": A.astype(F)}),
        (TypeError, "b has dtype int8, expected that of a, uint8", {"b": B.astype(np.int8)}),
        (ValueError, r"the shapes are a \(3, 4\), b \(5,\)", {"b": np.zeros(5, np.uint8)}),
        (ValueError, r"src is \(\(0.5, 3\),\), expected 2 tuples", {"src": ((0.5, 3),)}),
        (TypeError, r"src\[0\] is 0.5, expected a tuple", {"src": (0.5, 3)}),
        (ValueError, r"src\[1\]\[1\] is 256, expected 0 .. 255", {"src": ((0.5, 3), (0.5, 256))}),
        (ValueError, "dstScale is 0, expected a finite number above 0", {"dst": (0.0, 3)}),
        (ValueError, "aScale is nan", {"src": ((np.nan, 3), (0.5, 0))}),
        (ValueError, r"dst\[1\] is -1, expected 0 .. 255", {"dst": (1.0, -1)}),
        (ValueError, "a is not C-contiguous", {"a": np.zeros((3, 8), np.uint8)[:, ::2]}),
    ],
)
def test_bad_arguments(error: type[Exception], sentence: str, arguments: dict[str, Any]) -> None:
    given = {"operation": "add", "a": A, "b": B, **NUMBERS} | arguments
    assert_refused(pysimd.quantized_binary, error, sentence, np.zeros((3, 4), np.uint8), **given)


def test_overlap() -> None:
    memory = np.zeros(100, np.uint8)
    with pytest.raises(ValueError, match="out overlaps a"):
        pysimd.quantized_binary("add", memory[:20], memory[40:60], **NUMBERS, out=memory[1:21])
    with pytest.raises(ValueError, match="out overlaps b"):
        pysimd.quantized_binary("add", memory[:20], memory[40:41], **NUMBERS, out=memory[30:50])
