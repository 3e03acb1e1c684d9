"""Local response normalization on every instruction set against the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused, assert_within, floats, reference


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("beta", [0.75, 0.5, 1.0, 0.25, -0.5, 0.6, -0.9])
def test_lrn(isa: str, rng: np.random.Generator, layout: Any, beta: float) -> None:
    for channels, height, width, size in [
        *[(1, 1, 1, 5), (3, 4, 5, 3), (8, 7, 7, 5), (16, 3, 11, 1), (17, 5, 5, 7), (40, 2, 33, 5), (64, 14, 14, 9)],
        *[(33, 3, 3, 21), (20, 4, 4, 101), (100, 1, 7, 13), (5, 0, 3, 5)],
    ]:
        x = floats(rng, channels, height, width)
        y = pysimd.lrn(reference.from_chw(x, layout), size=size, alpha=0.5, beta=beta, bias=1.5, layout=layout)
        expected, bound = reference.lrn(x, size, 0.5, beta, 1.5)
        assert_within(reference.to_chw(y, layout), expected, bound)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_batch_and_out(isa: str, rng: np.random.Generator, layout: Any) -> None:
    images = floats(rng, 3, 6, 5, 7)
    x = np.stack([reference.from_chw(image, layout) for image in images])
    out = np.full_like(x, 7)
    assert pysimd.lrn(x, layout=layout, out=out) is out
    for image, y in zip(x, out):
        assert np.array_equal(pysimd.lrn(image, layout=layout), y)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": np.ones((4, 5, 6))}, TypeError, "x has dtype"),
        ({"x": np.ones((4, 5), np.float32)}, ValueError, "x has shape"),
        ({"size": 4}, ValueError, "size is 4"),
        ({"size": -1}, ValueError, "size is -1"),
        ({"size": 2.5}, TypeError, "size is 2.5"),
        ({"layout": "nchw16c"}, ValueError, "layout is 'nchw16c'"),
        ({"out": np.zeros((4, 5, 7), np.float32)}, ValueError, "out has shape"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments: dict[str, Any] = {"x": np.ones((4, 5, 6), np.float32), **change}
    out = arguments.pop("out", np.full((4, 5, 6), 7, np.float32))
    assert_refused(pysimd.lrn, error, sentence, out, **arguments)


def test_refused_in_place() -> None:
    x = np.ones((4, 5, 6), np.float32)
    assert_refused(pysimd.lrn, ValueError, "out overlaps x", x, x=x)
