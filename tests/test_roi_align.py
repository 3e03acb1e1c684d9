"""Regions as grids of bins on every instruction set against two references; regions far away; invalid arguments."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused, assert_within, floats, reference

EPS = 2.0**-24
WAYS = list(itertools.product(["avg", "max"], [False, True], [0, 1, 2, 3]))


def some_regions(rng: np.random.Generator, count: int, height: int, width: int) -> Array:
    """Inside, across the borders, inverted, and some whose corners are at elements or halfway."""
    regions = rng.uniform(-0.4, 1.4, (count, 4)) * [width, height, width, height] * 2
    regions[::2, 2:] = regions[::2, :2] + rng.uniform(0, 1, (len(regions[::2]), 2)) * [width, height]
    regions[::3] = np.round(regions[::3] * 2) / 2
    return regions.astype(np.float32)


@pytest.mark.parametrize(("mode", "half", "ratio"), WAYS)
def test_roi_align(rng: np.random.Generator, mode: Any, half: bool, ratio: int) -> None:
    for n, c, h, w, count, size in [
        (2, 3, 5, 6, 7, (2, 3)),
        (1, 1, 1, 1, 3, (1, 1)),
        (1, 2, 9, 30, 9, (7, 7)),
        (2, 1, 8, 9, 4, (1, 70)),
    ]:
        x, images = floats(rng, n, c, h, w), rng.integers(0, n, count)
        regions = some_regions(rng, count, h, w)
        how = {"spatial_scale": 0.5, "sampling_ratio": ratio, "mode": mode, "half_pixel": half}
        y = pysimd.roi_align(x, regions, images, size, **how)
        assert_within(y, *reference.roi_align(x, regions, images, size, 0.5, ratio, mode, half))


@pytest.mark.parametrize("half", [False, True])
def test_as_grid_sample(rng: np.random.Generator, half: bool) -> None:
    """Inside of an image, the mean of a bin is that of samples at a grid."""
    x, region = floats(rng, 1, 3, 12, 15), np.array([[2.25, 3, 11.5, 9.75]], np.float32)
    y = pysimd.roi_align(x, region, np.array([0]), (3, 4), sampling_ratio=2, half_pixel=half)
    at = [start + (np.arange(2 * n) + 0.5) * (end - start) / (2 * n) for start, end, n in ((3, 9.75, 3), (2.25, 11.5, 4))]
    centres = [(2 * (each - (0.5 if half else 0)) + 1) / size - 1 for each, size in zip(at, (12, 15))]
    grid = np.stack(np.meshgrid(centres[1], centres[0]), -1)[None].astype(np.float32)
    samples = pysimd.grid_sample(x, grid).reshape(1, 3, 3, 2, 4, 2)
    np.testing.assert_allclose(y, samples.mean((3, 5)), atol=64 * EPS * np.abs(x).max())


def test_ones(rng: np.random.Generator) -> None:
    """Any region inside of an image of ones has a mean of 1, and of far away ones 0."""
    x = np.ones((1, 2, 9, 8), np.float32)
    inside = np.array([[1, 1, 7, 8], [0.5, 0.5, 7.5, 8.5], [3, 3, 3.5, 3.25]], np.float32)
    np.testing.assert_allclose(pysimd.roi_align(x, inside, np.zeros(3, np.int64), 7), 1, rtol=4 * EPS)
    far = np.array([[1e9, 0, 2e9, 5], [-30, -30, -20, -20], [np.nan, 0, 5, 5], [0, 0, 5, np.nan], [5, 5, 2, 3]], np.float32)
    mode: Any
    for mode in ("avg", "max"):
        y = pysimd.roi_align(x, far, np.zeros(5, np.int64), 3, mode=mode)
        np.testing.assert_array_equal(y, 0)


def test_zero_weights() -> None:
    """What has a weight of 0 counts as 0, also if it is infinite; the mean does not see it."""
    x = np.array([[[[1, np.inf, 2]]]], np.float32)
    y = pysimd.roi_align(x, np.array([[0, 0, 1, 1]], np.float32), np.array([0]), 1, sampling_ratio=1)
    np.testing.assert_array_equal(y, 1)
    negative = np.full((1, 1, 4, 4), -1, np.float32)
    box = np.array([[0, 0, 4, 4]], np.float32)
    assert pysimd.roi_align(negative, box, np.array([0]), 1, mode="max") == 0  # samples at elements
    assert pysimd.roi_align(negative, box + np.float32(0.25), np.array([0]), 1, mode="max", sampling_ratio=1) < 0


def test_shapes() -> None:
    x, none = np.ones((2, 3, 4, 5), np.float32), np.zeros((0, 4), np.float32)
    assert pysimd.roi_align(x, none, np.zeros(0, np.int64), (2, 7)).shape == (0, 3, 2, 7)
    one, image = np.ones((1, 4), np.float32), np.zeros(1, np.int64)
    assert pysimd.roi_align(x, one, image, (0, 7)).shape == (1, 3, 0, 7)
    assert pysimd.roi_align(x[:, :0].copy(), one, image, 2).shape == (1, 0, 2, 2)
    out = np.zeros((1, 3, 2, 2), np.float32)
    assert pysimd.roi_align(x, one, image, 2, out=out) is out


def test_prepared(rng: np.random.Generator) -> None:
    """Regions and images are read at each run; an image that does not exist is refused then, and nothing is written."""
    x, regions, images = floats(rng, 2, 3, 9, 9), some_regions(rng, 4, 9, 9), np.zeros(4, np.int64)
    run = pysimd.prepare(pysimd.roi_align, x, regions, images, 3)
    first = run().copy()
    images[:] = 1
    assert not np.array_equal(run(), first)
    images[2], before = 2, run.result.copy()
    with pytest.raises(ValueError, match=r"images\[2\] is 2, expected one of 2 images"):
        run()
    np.testing.assert_array_equal(run.result, before)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": np.ones((2, 3, 4, 5))}, TypeError, "x has dtype float64"),
        ({"x": np.ones((3, 4, 5), np.float32)}, ValueError, "x has shape"),
        ({"regions": np.ones((2, 5), np.float32)}, ValueError, r"expected \(count, 4\)"),
        ({"images": np.zeros(3, np.int64)}, ValueError, r"images has shape \(3,\)"),
        ({"images": np.zeros(2, np.int32)}, TypeError, "images has dtype int32"),
        ({"images": np.array([0, 2])}, ValueError, r"images\[1\] is 2, expected one of 2 images"),
        ({"images": np.array([-1, 0])}, ValueError, r"images\[0\] is -1"),
        ({"mode": "mean"}, ValueError, "mode is 'mean', expected 'avg' or 'max'"),
        ({"spatial_scale": 0}, ValueError, "spatialScale is 0|spatial_scale is 0"),
        ({"spatial_scale": "1"}, TypeError, "spatial_scale is '1', expected a number"),
        ({"sampling_ratio": -1}, ValueError, "sampling_ratio is -1"),
        ({"size": (2, -2)}, ValueError, "size"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    given = {"x": np.ones((2, 3, 4, 5), np.float32), "regions": np.ones((2, 4), np.float32), "images": np.zeros(2, np.int64)}
    out = np.full((2, 3, 3, 3), 7, np.float32)
    assert_refused(pysimd.roi_align, error, sentence, out, **{**given, "size": 3, **change})
