"""Pictures to tensors on every instruction set against the reference, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused, assert_same, reference

PIXELS = {"gray8": (), "bgr24": (3,), "bgra32": (4,), "rgb24": (3,)}
LOWER, UPPER = np.array([-0.9, -2, 0.1], np.float32), np.array([1.7, 3, 200], np.float32)


@pytest.mark.parametrize("pixel_format", PIXELS)
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_set_input(isa: str, rng: np.random.Generator, pixel_format: Any, channels: int, layout: Any) -> None:
    for height, width in [(1, 1), (2, 3), (5, 7), (3, 16), (4, 33), (1, 100), (7, 65), (0, 4), (4, 0), (224, 224)]:
        image = rng.integers(0, 256, (height, width, *PIXELS[pixel_format]), dtype=np.uint8)
        lower, upper = LOWER[:channels], UPPER[:channels]
        given: dict[str, Any] = {"pixel_format": pixel_format, "channels": channels, "layout": layout}
        y = pysimd.set_input(image, lower=lower, upper=list(upper), **given)
        expected = reference.from_chw(reference.set_input(image, pixel_format, channels, lower, upper), layout)
        assert_same(y, expected)
        out = np.full_like(expected, 7)
        assert pysimd.set_input(image, lower=lower, upper=upper, out=out, **given) is out
        assert_same(out, expected)


@pytest.mark.parametrize("pixel_format", PIXELS)
def test_views(isa: str, rng: np.random.Generator, pixel_format: Any) -> None:
    """A cropped picture, one with every second row, a single row and a broadcast one."""
    picture = rng.integers(0, 256, (20, 30, *PIXELS[pixel_format]), dtype=np.uint8)
    for view in (picture[3:17, 5:29], picture[::2], picture[4:5, 1:2], picture[18:, :], picture[:, 29:]):
        y = pysimd.set_input(view, pixel_format=pixel_format, layout="nchw")
        ones = np.ones(3, np.float32)
        assert_same(y, reference.set_input(view.copy(), pixel_format, 3, 0 * ones, ones))


def test_every_byte_and_gray(isa: str) -> None:
    gray = np.arange(256, dtype=np.uint8).reshape(4, 64)
    y = pysimd.set_input(gray, pixel_format="gray8", channels=1, lower=0, upper=255)
    assert np.array_equal(y[..., 0], gray)
    rgb = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]], np.uint8)
    y = pysimd.set_input(rgb, pixel_format=pysimd.PixelFormat.RGB24, channels=1, upper=255)
    assert y.ravel().tolist() == [76, 150, 29, 255]
    y = pysimd.set_input(rgb, pixel_format="rgb24", upper=255, layout="nchw")
    assert y[2].ravel().tolist() == [255, 0, 0, 255]  # red is the last channel


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"image": np.zeros((4, 5, 3))}, TypeError, "image has dtype float64"),
        ({"image": [[1]]}, TypeError, "image is a list"),
        ({"image": np.zeros((4, 5), np.uint8)}, ValueError, "image has shape"),
        ({"image": np.zeros((4, 5, 4), np.uint8)}, ValueError, "image has shape"),
        ({"image": np.zeros((4, 5, 6), np.uint8)[..., ::2]}, ValueError, "rows whose pixels are not contig"),
        ({"image": np.zeros((4, 10, 3), np.uint8)[:, ::2]}, ValueError, "rows whose pixels are not contig"),
        ({"image": np.zeros((4, 5, 3), np.uint8)[::-1]}, ValueError, "rows -15 bytes apart"),
        ({"image": np.broadcast_to(np.zeros((1, 5, 3), np.uint8), (4, 5, 3))}, ValueError, "rows 0 bytes apart"),
        ({"pixel_format": "hsv24"}, ValueError, "pixel_format is 'hsv24'"),
        ({"pixel_format": "gray8"}, ValueError, "image has shape"),
        ({"channels": 2}, ValueError, "channels is 2"),
        ({"channels": 1.5}, TypeError, "channels is 1.5"),
        ({"lower": [1, 2]}, ValueError, "lower has shape"),
        ({"lower": np.ma.masked_equal([0, 1, 2], 1)}, ValueError, "lower has masked elements"),
        ({"upper": np.ma.masked}, ValueError, "upper has masked elements"),
        ({"layout": "nchw4c"}, ValueError, "layout is 'nchw4c'"),
        ({"out": np.zeros((3, 4, 5), np.float32)}, ValueError, "out has shape"),
        ({"out": np.zeros((4, 5, 3))}, TypeError, "out has dtype"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments: dict[str, Any] = {"image": np.ones((4, 5, 3), np.uint8), "pixel_format": "bgr24", **change}
    out = arguments.pop("out", np.full((4, 5, 3), 7, np.float32))
    assert_refused(pysimd.set_input, error, sentence, out, **arguments)


def test_refused_overlap() -> None:
    memory = np.zeros(60, np.float32)
    image = memory.view(np.uint8)[:60].reshape(4, 5, 3)
    assert_refused(pysimd.set_input, ValueError, "overlaps", memory.reshape(4, 5, 3), image=image, pixel_format="bgr24")


def test_neighbours_in_memory_do_not_overlap(rng: np.random.Generator) -> None:
    image = rng.integers(0, 256, (4, 5, 3), dtype=np.uint8)
    expected = pysimd.set_input(image, pixel_format="bgr24", lower=LOWER, upper=UPPER)
    memory = np.concatenate([LOWER, np.zeros(60, np.float32), UPPER])
    out = memory[3:63].reshape(4, 5, 3)
    assert_same(pysimd.set_input(image, pixel_format="bgr24", lower=memory[:3], upper=memory[63:], out=out), expected)
