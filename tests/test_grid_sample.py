"""Sampling at a grid on every instruction set against the reference; positions far away; invalid arguments."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused, assert_within, floats, reference

MODES = ["bilinear", "nearest", "bicubic"]
PADDINGS = ["zeros", "border", "reflection"]
ALL = list(itertools.product(MODES, PADDINGS, [False, True]))


@pytest.mark.parametrize(("mode", "padding", "align"), ALL)
def test_grid_sample(rng: np.random.Generator, mode: Any, padding: Any, align: bool) -> None:
    for n, c, h, w, rows, columns in [(2, 3, 5, 6, 4, 7), (1, 1, 1, 1, 3, 3), (1, 2, 1, 4, 5, 4), (3, 1, 2, 3, 1, 90)]:
        x = floats(rng, n, c, h, w)
        grid = rng.uniform(-2, 2, (n, rows, columns, 2)).astype(np.float32)
        grid[:, :, ::3] = rng.integers(-16, 17, grid[:, :, ::3].shape) / 8  # at elements, halfway, at the borders
        y = pysimd.grid_sample(x, grid, mode, padding, align)
        assert_within(y, *reference.grid_sample(x, grid, mode, padding, align))


@pytest.mark.parametrize("align", [False, True])
def test_identity(rng: np.random.Generator, align: bool) -> None:
    """A grid of the positions of the elements."""
    x = floats(rng, 1, 2, 4, 8)
    ends = [1 - (0 if align else 1 / size) for size in x.shape[2:]]
    y, x_ = (np.linspace(-end, end, size) for end, size in zip(ends, x.shape[2:]))
    grid = np.stack(np.meshgrid(x_, y), -1)[None].astype(np.float32)
    mode: Any
    for mode in MODES:
        assert np.allclose(pysimd.grid_sample(x, grid, mode, "border", align), x, atol=1e-5)


@pytest.mark.parametrize(("mode", "padding", "align"), ALL)
def test_far_away(mode: Any, padding: Any, align: bool) -> None:
    x = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 2, 3)
    numbers = [1e9, -1e9, 1e38, -1e38, 2.0**31, -(2.0**31), 2.0**63]
    grid = np.array([[v, w] for v in numbers for w in numbers], np.float32)
    y = pysimd.grid_sample(x, grid[None, None], mode, padding, align).ravel()
    if padding == "zeros":
        assert (y == 0).all()
    elif padding == "border":
        assert np.array_equal(y, x[0, 0][(grid[:, 1] > 0).astype(int), np.where(grid[:, 0] > 0, 2, 0)])
    else:
        assert (y >= 0).all() and (y <= 8).all()
    bad = np.array([[np.nan, 0], [0, np.nan], [np.nan, np.inf]], np.float32)
    assert np.isnan(pysimd.grid_sample(x, bad[None, None], mode, padding, align)).all()


def test_shapes() -> None:
    x = np.ones((2, 3, 4, 5), np.float32)
    assert pysimd.grid_sample(x, np.zeros((2, 0, 7, 2), np.float32)).shape == (2, 3, 0, 7)
    assert pysimd.grid_sample(x[:0], np.zeros((0, 6, 7, 2), np.float32)).shape == (0, 3, 6, 7)
    context = pysimd.GridSample2d(x.shape, 6)
    assert (context.grid_shape, context.dst_shape, context.internal_buffer_size) == ((2, 6, 6, 2), (2, 3, 6, 6), 0)
    assert context.src_shape == x.shape
    with pytest.raises(ValueError, match="the height of the input is 0"):
        pysimd.grid_sample(x[:, :, :0], np.zeros((2, 1, 1, 2), np.float32))
    with pytest.raises(ValueError, match="src_shape is"):
        pysimd.GridSample2d((3, 4, 5), 6)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"input": np.ones((2, 3, 4, 5))}, TypeError, "input has dtype float64"),
        ({"input": np.ones((3, 4, 5), np.float32)}, ValueError, "input has shape"),
        ({"grid": np.ones((1, 6, 7, 2), np.float32)}, ValueError, r"expected \(2, H, W, 2\)"),
        ({"grid": np.ones((2, 6, 7, 3), np.float32)}, ValueError, r"expected \(2, H, W, 2\)"),
        ({"grid": np.ones((2, 6, 7, 2))}, TypeError, "grid has dtype float64"),
        ({"mode": "cubic"}, ValueError, "mode is 'cubic', expected 'bilinear' or 'nearest' or 'bicubic'"),
        ({"padding_mode": "reflect"}, ValueError, "padding_mode is 'reflect'"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    x, grid = np.ones((2, 3, 4, 5), np.float32), np.zeros((2, 6, 7, 2), np.float32)
    out = np.full((2, 3, 6, 7), 7, np.float32)
    assert_refused(pysimd.grid_sample, error, sentence, out, **{"input": x, "grid": grid, **change})
