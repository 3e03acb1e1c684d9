"""Inner products of quantised bytes on every instruction set against the formula, bit for bit; exact sums; refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused

F = np.float32


@pytest.mark.parametrize("transpose", [True, False])
def test_rows(isa: str, rng: np.random.Generator, transpose: bool) -> None:
    for shape, count in (((7,), 5), ((3, 64), 64), ((2, 5, 33), 17), ((1, 300), 90), ((0, 4), 3), ((4, 3), 0), ((70, 1), 1)):
        x = rng.integers(0, 256, shape, np.uint8)
        weight = rng.integers(-128, 128, (count, shape[-1]), np.int8)
        scale, bias = rng.uniform(0.001, 0.01, count).astype(F), rng.integers(-9999, 9999, count, np.int32)
        (s0, z0), (s1, z1) = (0.25, 131), (0.75, 9)
        with pysimd.QuantizedInnerProduct(shape, count, transpose=transpose) as context:
            given = weight if transpose else weight.T.copy()
            assert context.weight_shape == given.shape
            context.set_params(given, scale, (s0, z0), (s1, z1), bias)
            y = context(x)
            table = rng.integers(0, 256, 256, np.uint8)
            context.set_params(given, scale, (s0, z0), (s1, z1), bias, table)
            np.testing.assert_array_equal(context(x), table[y])
        sums = (x.astype(np.int64) - z0) @ weight.T.astype(np.int64) + bias
        norm = (F(s0) * scale) / F(s1)
        np.testing.assert_array_equal(y, np.clip(np.rint(sums.astype(F) * norm) + z1, 0, 255))
        np.testing.assert_array_equal(pysimd.inner_product_8i(x, weight), x.astype(np.int32) @ weight.T.astype(np.int32))


def test_it_is_a_convolution_of_one_pixel(isa: str, rng: np.random.Generator) -> None:
    x, weight = rng.integers(0, 256, (6, 5, 40), np.uint8), rng.integers(-128, 128, (40, 24), np.int8)
    pairs = (0.5, 3), (300.0, 120)
    product = pysimd.QuantizedInnerProduct(x.shape, 24, transpose=False)
    layer = pysimd.QuantizedConvolution(x.shape, 24, kernel=1)
    product.set_params(weight, 0.5, *pairs)
    layer.set_params(weight.reshape(1, 1, 40, 24), 0.5, *pairs)
    np.testing.assert_array_equal(product(x), layer(x))


@pytest.mark.parametrize("shape", [(70, 1024, 640), (40, 800, 200), (33, 1001, 150)])
def test_rows_at_any_address(isa: str, rng: np.random.Generator, shape: tuple[int, int, int]) -> None:
    """Large products may copy rows to where they are read faster, and prefetch weights."""
    m, k, n = shape
    weight, memory = rng.integers(-128, 128, (n, k), np.int8), np.zeros(m * k + 128, np.uint8)
    context = pysimd.QuantizedInnerProduct((m, k), n)
    context.set_params(weight, 0.001, (0.25, 7), (0.75, 9))
    for offset in (0, 16, 32, 1):
        first = -memory.ctypes.data % 64 + offset
        x = memory[first : first + m * k].reshape(m, k)
        x[:] = rng.integers(0, 256, (m, k), np.uint8)
        sums = (x.astype(np.int32) - 7) @ weight.T.astype(np.int32)
        want = np.clip(np.rint(sums.astype(F) * (F(0.25) * F(0.001) / F(0.75))) + 9, 0, 255)
        np.testing.assert_array_equal(context(x), want)


def test_extremes(isa: str) -> None:
    """Sums of 255 times 127 and -128: nothing saturates."""
    for size in (1, 2, 3, 4, 7, 64, 301):
        x, weight = np.full((3, size), 255, np.uint8), np.stack([np.full(size, w, np.int8) for w in (127, -127, -128)])
        sums = pysimd.inner_product_8i(x, weight)
        assert (sums == np.array([127, -127, -128]) * 255 * size).all()


@pytest.mark.parametrize(
    ("error", "sentence", "changes"),
    [
        (TypeError, "x has dtype int8, expected uint8", {"x": np.zeros(4, np.int8)}),
        (TypeError, "weight has dtype uint8, expected int8", {"weight": np.zeros((3, 4), np.uint8)}),
        (ValueError, "weight has shape", {"weight": np.zeros((3, 5), np.int8)}),
        (ValueError, "x is not C-contiguous", {"x": np.zeros((4, 8), np.uint8)[:, ::2]}),
    ],
)
def test_bad_arguments(error: type[Exception], sentence: str, changes: dict[str, Any]) -> None:
    given = {"x": np.zeros(4, np.uint8), "weight": np.zeros((3, 4), np.int8)} | changes
    assert_refused(pysimd.inner_product_8i, error, sentence, np.zeros(3, np.int32), **given)


def test_refused_parameters() -> None:
    context, weight, good = pysimd.QuantizedInnerProduct((2, 3), 4), np.ones((4, 3), np.int8), (1.0, 0)
    for bad in (0.0, -1.0, float("nan"), float("inf")):
        for scale, src, dst, name in (
            (bad, good, good, "bScale"),
            (1.0, (bad, 0), good, "aScale"),
            (1.0, good, (bad, 0), "cScale"),
        ):
            with pytest.raises(ValueError, match=name):
                context.set_params(weight, scale, src, dst)
    with pytest.raises(ValueError, match="once divided"):
        context.set_params(weight, 3e38, (3e38, 0), good)
    with pytest.raises(ValueError, match="expected a byte"):
        context.set_params(weight, 1.0, good, (1.0, -1))
    with pytest.raises(TypeError, match="bias has dtype float32"):
        context.set_params(weight, 1.0, good, good, np.zeros(4, F))
    with pytest.raises(pysimd.StateError):
        context(np.zeros((2, 3), np.uint8))


@pytest.mark.parametrize("after", [False, True])
def test_sums(isa: str, after: bool) -> None:
    """The bytes without an addition, added by quantized_binary, before and after a table."""
    rng = np.random.default_rng(3)
    pairs, table = ((0.4, 9), (0.3, 255), (0.55, 70)), rng.integers(0, 256, 256, np.uint8)
    for rows, inputs, outputs in ((1, 35, 3), (5, 64, 130), (33, 7, 17)):
        x, weight = rng.integers(0, 256, (rows, inputs), np.uint8), rng.integers(-128, 128, (outputs, inputs), np.int8)
        with pysimd.QuantizedInnerProduct(x.shape, outputs) as context:
            context.set_params(weight, 0.01, (0.5, 9), (0.75, 90))
            plain = context(x)
            add = rng.integers(0, 256, plain.shape, np.uint8)
            context.set_params(weight, 0.01, (0.5, 9), (0.75, 90), None, table, pysimd.QuantizedSum(*pairs))
            own = table[plain] if after else plain
            both = pysimd.quantized_binary("add", own, add, src=pairs[:2], dst=pairs[2])
            np.testing.assert_array_equal(context(x, add=add, after=after), both if after else table[both])
