"""The tiled scale on every instruction set against the reference; invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused, assert_same, floats, reference


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_tiled_scale(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for c, h, w in [(1, 1, 1), (3, 4, 5), (17, 2, 7), (64, 14, 14), (5, 33, 40), (2, 3, 700)]:
        x, ver, hor = floats(rng, c, h, w), floats(rng, c, w), floats(rng, c, h)
        given = reference.from_chw(x, layout)
        factors = (ver, hor) if layout == "nchw" else (np.ascontiguousarray(ver.T), np.ascontiguousarray(hor.T))
        expected = reference.from_chw(reference.tiled_scale(x, ver, hor), layout)
        assert_same(pysimd.tiled_scale(given, *factors, layout=layout), expected)
        assert pysimd.tiled_scale(given, *factors, layout=layout, out=given) is given
        assert_same(given, expected)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_batch_and_broadcast_shapes(rng: np.random.Generator, layout: Any) -> None:
    x = floats(rng, 3, 4, 5, 6)
    rows = 2 if layout == "nchw" else 1
    ver, hor = x.mean(rows, keepdims=True), x.mean(rows + 1, keepdims=True)
    expected = x * ver * hor
    assert_same(pysimd.tiled_scale(x, ver, hor, layout=layout), expected)
    narrow = np.squeeze(ver, rows), np.squeeze(hor, rows + 1)
    assert_same(pysimd.tiled_scale(x, *narrow, layout=layout), expected)
    assert pysimd.tiled_scale(x[:0], ver[:0], hor[:0], layout=layout).shape == (0, 4, 5, 6)


X, VER, HOR = np.ones((4, 5, 6), np.float32), np.ones((5, 6), np.float32), np.ones((4, 6), np.float32)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": X.astype(float)}, TypeError, "x has dtype float64"),
        ({"x": X[0]}, ValueError, "x has shape"),
        ({"ver": HOR}, ValueError, r"ver has shape \(4, 6\), expected \(5, 6\)"),
        ({"hor": VER}, ValueError, r"hor has shape \(5, 6\), expected \(4, 6\)"),
        ({"ver": VER.astype(float)}, TypeError, "ver has dtype float64"),
        ({"layout": "nchw8c"}, ValueError, "layout is 'nchw8c'"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments = {"x": X, "ver": VER, "hor": HOR, **change}
    assert_refused(pysimd.tiled_scale, error, sentence, np.full(X.shape, 7, np.float32), **arguments)
