"""Sums of channels on every instruction set against the reference; invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused, assert_within, floats, reference


def bf16(x: Array) -> Array:
    return (np.ascontiguousarray(x).view(np.uint32) >> 16).astype(np.uint16)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_channel_sum(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for shape in [(1, 1, 1), (3, 4, 5), (17, 2, 7), (64, 14, 14), (130, 3, 3), (2, 100, 100), (63, 1, 9)]:
        given = bf16(floats(rng, *shape))
        expected = reference.channel_sum((given.astype(np.uint32) << 16).view(np.float32))
        x = reference.from_chw(given, layout)
        assert_within(pysimd.channel_sum(x, layout=layout), *expected)


def test_shapes_and_nan(isa: str) -> None:
    x = np.zeros((5, 70), np.uint16)
    x[2, 69] = 0x7FC0
    y = pysimd.channel_sum(x)
    assert np.isnan(y[69]) and not y[:69].any()
    assert np.array_equal(pysimd.channel_sum(np.zeros((0, 3), np.uint16)), np.zeros(3, np.float32))
    assert pysimd.channel_sum(x, layout="ncw").shape == (5,)
    assert pysimd.channel_sum(x[None], layout="nwc").shape == (70,)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": np.zeros((2, 3), np.float32)}, TypeError, "x has dtype float32, expected bfloat16"),
        ({"x": np.zeros((3, 2), np.uint16).T}, ValueError, "x is not C-contiguous"),
        ({"x": np.zeros((2, 3, 4, 5), np.uint16), "layout": "nchw"}, ValueError, "expected one image"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    assert_refused(pysimd.channel_sum, error, sentence, np.full(3, 7, np.float32), **change)
