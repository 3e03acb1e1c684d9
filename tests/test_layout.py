"""Conversion of layouts on every instruction set against the reference, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import assert_refused, floats, reference

LAYOUTS = ["nchw", "nhwc", "nchw4c", "nchw8c", "nchw16c"]
PAIRS = [(s, d) for s in LAYOUTS for d in LAYOUTS if s == d or s in LAYOUTS[:2] or d in LAYOUTS[:2]]

SHAPES = [
    (1, 1, 1),
    (3, 5, 7),
    (4, 2, 9),
    (8, 4, 4),
    (16, 16, 1),
    (17, 1, 33),
    (64, 7, 7),
    (2, 9, 40),
    (35, 2, 1),
    (5, 16, 16),
]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_convert(isa: str, rng: np.random.Generator, source: Any, target: Any) -> None:
    for channels, height, width in SHAPES:
        image = rng.integers(0, 1 << 32, (channels, height, width), dtype=np.uint32).view(np.float32)  # any bits
        x = reference.from_chw(image, source)
        y = pysimd.convert_image(x, src_layout=source, dst_layout=target, channels=channels)
        expected = reference.from_chw(image, target)
        assert y.shape == expected.shape
        assert y.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_batch(isa: str, rng: np.random.Generator, source: Any, target: Any) -> None:
    images = floats(rng, 3, 19, 4, 5)
    x = np.stack([reference.from_chw(image, source) for image in images])
    expected = np.stack([reference.from_chw(image, target) for image in images])
    out = np.full(expected.shape, 7, np.float32)
    assert pysimd.convert_image(x, src_layout=source, dst_layout=target, channels=19, out=out) is out
    assert np.array_equal(out, expected)


def test_lanes_of_the_last_block(isa: str, rng: np.random.Generator) -> None:
    """Conversion removes unused lanes, a plain copy keeps them."""
    x = floats(rng, 3, 4, 5, 8)
    y = pysimd.convert_image(x, src_layout="nchw8c", dst_layout="nchw", channels=17)
    assert np.array_equal(y, reference.to_chw(x, "nchw8c", 17))
    same = pysimd.convert_image(x, src_layout="nchw8c", dst_layout="nchw8c", channels=17)
    assert np.array_equal(same, x)


def test_formats(isa: str) -> None:
    lanes = pysimd.alignment() // 4
    formats = pysimd.TensorFormat
    assert pysimd.specify_tensor_format(formats.NCHWXC) == formats[f"NCHW{lanes}C"]
    assert pysimd.specify_tensor_format(formats.OYXIXO) == formats[f"OYXI{lanes}O"]
    for form in formats:
        name = form.name.lower()
        digits = "".join(c for c in name if c.isdigit())
        expected = int(digits) if digits else 1 if name in ("nchw", "nhwc", "oiyx", "yxio") else 0
        assert pysimd.tensor_alignment(form) == expected
        if "x" not in name[-2:] or name == "unknown":
            assert pysimd.specify_tensor_format(form) == formats.UNKNOWN


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": np.zeros((4, 5, 6))}, TypeError, "x has dtype float64"),
        ({"x": np.zeros((4, 5, 12), np.float32)[..., ::2]}, ValueError, "x is not C-contiguous"),
        ({"x": np.zeros((5, 6), np.float32)}, ValueError, "x has shape"),
        ({"src_layout": "yxio"}, ValueError, "src_layout is 'yxio'"),
        ({"dst_layout": None}, ValueError, "dst_layout is None"),
        ({"channels": 5}, ValueError, "channels is 5"),
        ({"channels": -1}, ValueError, "channels is -1"),
        ({"src_layout": "nchw4c"}, ValueError, "x has shape"),
        ({"x": np.zeros((1, 5, 6, 4), np.float32), "src_layout": "nchw8c"}, ValueError, "expected a last axis of 8"),
        ({"out": np.zeros((6, 4, 4), np.float32)}, ValueError, "out has shape"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments: dict[str, Any] = {"x": np.ones((4, 5, 6), np.float32), "src_layout": "nhwc", "dst_layout": "nchw", **change}
    out = arguments.pop("out", np.full((6, 4, 5), 7, np.float32))
    assert_refused(pysimd.convert_image, error, sentence, out, **arguments)


def test_refused_pair_of_blocks() -> None:
    x = np.ones((2, 5, 6, 4), np.float32)
    out = np.full((1, 5, 6, 8), 7, np.float32)
    assert_refused(
        pysimd.convert_image,
        ValueError,
        "expected one without blocks: convert twice",
        out,
        x=x,
        src_layout="nchw4c",
        dst_layout="nchw8c",
    )
    assert_refused(pysimd.convert_image, ValueError, "overlaps", x, x=x, src_layout="nchw4c", dst_layout="nchw4c")


FILTERS = ["oiyx", "yxio", "oyxi4o", "oyxi8o", "oyxi16o"]
FILTER_PAIRS = [(s, d) for s in FILTERS for d in FILTERS if s == d or s in FILTERS[:2] or d in FILTERS[:2]]


@pytest.mark.parametrize(("source", "target"), FILTER_PAIRS)
def test_convert_filter(isa: str, rng: np.random.Generator, source: Any, target: Any) -> None:
    for shape in [(1, 1, 1, 1), (5, 3, 3, 3), (64, 16, 3, 3), (33, 1, 5, 2), (16, 40, 1, 1), (3, 17, 2, 7), (20, 64, 1, 3)]:
        oiyx = rng.integers(0, 1 << 32, shape, dtype=np.uint32).view(np.float32)  # any bits
        weight, expected = reference.filter_from_oiyx(oiyx, source), reference.filter_from_oiyx(oiyx, target)
        given: dict[str, Any] = {"src_layout": source, "dst_layout": target, "dst_c": shape[0]}
        y = pysimd.convert_filter(weight, **given)
        assert y.shape == expected.shape
        assert y.tobytes() == expected.tobytes()
        out = np.full(expected.shape, 7, np.float32)
        assert pysimd.convert_filter(weight, out=out, **given) is out
        assert out.tobytes() == expected.tobytes()
        assert np.array_equal(reference.filter_to_oiyx(y, target, shape[0]).view(np.uint32), oiyx.view(np.uint32))


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"weight": np.zeros((4, 5, 3, 3))}, TypeError, "weight has dtype float64"),
        ({"weight": np.zeros((4, 5, 3), np.float32)}, ValueError, "weight has shape"),
        ({"src_layout": "nchw"}, ValueError, "src_layout is 'nchw'"),
        ({"dst_layout": "oyxixo"}, ValueError, "dst_layout is 'oyxixo'"),
        ({"dst_c": 5}, ValueError, "dst_c is 5"),
        ({"src_layout": "oyxi4o"}, ValueError, "weight has shape"),
        ({"weight": np.zeros((1, 3, 3, 5, 4), np.float32), "src_layout": "oyxi8o"}, ValueError, "expected a last axis of 8"),
        ({"out": np.zeros((3, 3, 4, 5), np.float32)}, ValueError, "out has shape"),
    ],
)
def test_filter_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments: dict[str, Any] = {"weight": np.ones((4, 5, 3, 3), np.float32), "src_layout": "oiyx", "dst_layout": "yxio"}
    arguments.update(change)
    out = arguments.pop("out", np.full((3, 3, 5, 4), 7, np.float32))
    assert_refused(pysimd.convert_filter, error, sentence, out, **arguments)
