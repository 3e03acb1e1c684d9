"""Shuffling of channels on every instruction set, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused, floats


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_shuffle(isa: str, rng: np.random.Generator, layout: Any) -> None:
    axis = -1 if layout == "nhwc" else -3
    for c0, c1, height, width in [
        *[(2, 2, 1, 1), (2, 4, 3, 5), (8, 8, 7, 7), (16, 2, 2, 9), (34, 30, 5, 1), (116, 116, 4, 4)],
        *[(0, 6, 3, 3), (6, 0, 3, 3), (4, 4, 0, 3), (66, 130, 1, 2)],
    ]:
        for batch in ((), (3,)):
            shape = [(*batch, c, height, width) if layout == "nchw" else (*batch, height, width, c) for c in (c0, c1)]
            a, b = floats(rng, *shape[0]), floats(rng, *shape[1])
            both = np.moveaxis(np.concatenate([a, b], axis), axis, 0)
            expected = tuple(np.moveaxis(both[i::2], 0, axis) for i in (0, 1))
            got = pysimd.shuffle(a, b, layout=layout)
            out = np.full(expected[0].shape, 7, np.float32), np.full(expected[0].shape, 7, np.float32)
            pysimd.shuffle(a, b, layout=layout, out=out)
            for e, g, o in zip(expected, got, out):
                assert np.array_equal(e, g)
                assert np.array_equal(e, o)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_groups(isa: str, rng: np.random.Generator, layout: Any) -> None:
    axis = -1 if layout == "nhwc" else -3
    for channels, groups, height, width in (
        (6, 2, 3, 5),
        (6, 3, 3, 5),
        (8, 1, 2, 2),
        (8, 8, 2, 2),
        (116, 2, 4, 4),
        (240, 3, 1, 7),
    ):
        for batch in ((), (3,)):
            x = floats(rng, *batch, *((channels, height, width) if layout == "nchw" else (height, width, channels)))
            planes = np.moveaxis(x, axis, 0)
            parts = planes.reshape(groups, -1, *planes.shape[1:])
            expected = np.moveaxis(np.swapaxes(parts, 0, 1).reshape(planes.shape), 0, axis)
            assert np.array_equal(pysimd.shuffle(x, groups=groups, layout=layout), expected)
            out = np.zeros_like(x)
            assert pysimd.shuffle(x, groups=groups, layout=layout, out=out) is out
            assert np.array_equal(out, expected)


def test_two_groups_join_what_was_split(rng: np.random.Generator) -> None:
    x = floats(rng, 4, 5, 12)
    even, odd = pysimd.shuffle(x[..., :6].copy(), x[..., 6:].copy())
    assert np.array_equal(pysimd.shuffle(pysimd.concatenate([even, odd], -1), groups=2), x)


def test_refused_groups(rng: np.random.Generator) -> None:
    x = floats(rng, 4, 5, 12)
    for arguments, sentence in (
        ({"groups": 5}, "groups is 5, expected a divisor of the 12 channels"),
        ({"groups": 0}, "groups is 0, expected at least 1"),
        ({"groups": 2, "b": x}, "b is given with groups"),
        ({"groups": 2, "out": x}, "out overlaps a"),
    ):
        with pytest.raises(ValueError, match=sentence):
            pysimd.shuffle(x, **arguments)
    with pytest.raises(TypeError, match="b is None"):
        pysimd.shuffle(x)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"a": np.zeros((5, 6, 3), np.float32)}, ValueError, "a has 3 channels"),
        ({"b": np.zeros((5, 6, 5), np.float32)}, ValueError, "b has 5 channels"),
        ({"b": np.zeros((5, 7, 4), np.float32)}, ValueError, "b has shape"),
        ({"b": np.zeros((5, 6), np.float32)}, ValueError, "b has shape"),
        ({"a": np.zeros((5, 6, 4))}, TypeError, "a has dtype"),
        ({"layout": "nchw8c"}, ValueError, "layout is 'nchw8c'"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments: dict[str, Any] = {"a": np.ones((5, 6, 4), np.float32), "b": np.ones((5, 6, 2), np.float32), **change}
    with pytest.raises(error, match=sentence):
        pysimd.shuffle(**arguments)


def test_refused_out() -> None:
    a, b, out = np.ones((5, 6, 4), np.float32), np.ones((5, 6, 2), np.float32), np.full((5, 6, 3), 7, np.float32)
    with pytest.raises(TypeError, match="tuple of two arrays"):
        pysimd.shuffle(a, b, out=out)  # type: ignore[call-overload]
    for pair, sentence in (
        ((out, out), "out overlaps itself"),
        ((out, np.zeros((5, 6, 4), np.float32)), "out has shape"),
        ((a.reshape(-1)[:90].reshape(5, 6, 3), out), "out overlaps a"),
    ):
        before = out.copy()
        with pytest.raises(ValueError, match=sentence):
            pysimd.shuffle(a, b, out=pair)
        assert np.array_equal(out, before)
    assert_refused(lambda out: pysimd.shuffle(a, a[..., :1].copy(), out=(out, out.copy())), ValueError, "b has 1", out)
