"""Softmax and layer normalization of bfloat16 numbers beside NumPy in double, on every instruction set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_same, floats, reference

SHAPES = [(1, 1, 1), (3, 5, 7), (64, 7, 7), (2, 9, 40), (700, 3, 5), (5, 60, 70), (20000, 1, 2)]


def is_rounded(y: Array, exact: Array, near: float = 1e-6) -> bool:
    """Whether each is the nearest bfloat16 number, or one next to a tie that the error of float has moved."""
    return bool((np.abs(reference.from_bfloat16(y) - exact) <= np.abs(exact) * (2**-8 + 1e-5) + near).all())


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax(isa: str, rng: np.random.Generator, axis: int) -> None:
    for shape in SHAPES:
        x = reference.to_bfloat16(5 * floats(rng, *shape))
        wide = reference.from_bfloat16(x).astype(np.float64)
        e = np.exp(wide - wide.max(axis, keepdims=True))
        y = pysimd.softmax_16b(x, axis=axis)
        assert is_rounded(y, e / e.sum(axis, keepdims=True), 2.0**-125)
        assert_same(pysimd.softmax_16b(x, axis=axis, out=x), y)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_layer_norm(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for shape in SHAPES:
        chw, weight, bias = reference.to_bfloat16(floats(rng, *shape) + 1), floats(rng, shape[0]), floats(rng, shape[0])
        wide = reference.from_bfloat16(chw).astype(np.float64)
        centred = wide - wide.mean(0)
        exact = centred / np.sqrt((centred**2).mean(0) + 1e-5) * weight[:, None, None] + bias[:, None, None]
        x = reference.from_chw(chw, layout)
        y = pysimd.layer_norm_16b(x, weight, bias, layout=layout)
        assert is_rounded(reference.to_chw(y, layout), exact, 1e-4 * float(np.abs(exact).max()))
        assert_same(pysimd.layer_norm_16b(x, weight, bias, layout=layout, out=x), y)


def test_batches_and_refusals(rng: np.random.Generator) -> None:
    x = reference.to_bfloat16(floats(rng, 3, 5, 4, 6))
    each = np.stack([pysimd.layer_norm_16b(image, layout="nchw") for image in x])
    assert_same(pysimd.layer_norm_16b(x, layout="nchw"), each)
    with pytest.raises(TypeError, match="x has dtype float32, expected bfloat16"):
        pysimd.softmax_16b(floats(rng, 3, 4))
    with pytest.raises(ValueError, match="axis is 4"):
        pysimd.softmax_16b(x, axis=4)
