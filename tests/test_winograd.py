"""The Winograd transforms on every instruction set against the reference, and combined against the convolution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pysimd
from pysimd.lowlevel import ffi, lib
from support import Array, assert_refused, assert_within, floats, reference

KINDS: list[Any] = [
    ((1, 3), (1, 4)),
    ((1, 5), (1, 4)),
    ((2, 2), (2, 2)),
    ((2, 2), (4, 4)),
    ((3, 3), (2, 2)),
    ((3, 3), (3, 3)),
    ((3, 3), (4, 4)),
]
LAYOUTS = ["nchw", "nhwc"]

# The bound on the error of a whole convolution, in roundings of (largest input of a tile) * (sum of |weights|): twice the
# error observed with a few channels, where roundings do not yet cancel.
GROWTH = dict(zip(KINDS, (64, 512, 16, 64, 8, 32, 80)))

# input channels, height, width, padding
SHAPES: list[tuple[int, int, int, tuple[int, int, int, int]]] = [
    (1, 1, 5, (1, 1, 1, 1)),
    (3, 6, 7, (1, 1, 1, 1)),
    (17, 14, 14, (1, 1, 1, 1)),
    (16, 5, 9, (0, 0, 0, 0)),
    (33, 7, 7, (1, 1, 1, 1)),
    (2, 4, 80, (0, 2, 1, 2)),
    (5, 30, 21, (1, 0, 0, 1)),
    (4, 3, 6, (0, 0, 1, 1)),
    (1, 9, 131, (3, 7, 2, 5)),
]


def in_layout(planes: Array, layout: Any) -> Array:
    """(T, channels, tiles) in the order of the layout."""
    return planes if layout == "nchw" else np.ascontiguousarray(np.swapaxes(planes, 1, 2))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_transforms(isa: str, rng: np.random.Generator, kind: Any, layout: Any) -> None:
    kernel, block = kind
    for channels, height, width, padding in SHAPES:
        if height + padding[0] + padding[2] < kernel[0] or width + padding[1] + padding[3] < kernel[1]:
            continue
        x = floats(rng, channels, height, width)
        v = pysimd.winograd_input(reference.from_chw(x, layout), kernel=kernel, block=block, padding=padding, layout=layout)
        expected = [in_layout(a, layout) for a in reference.winograd_input(x, kind, padding)]
        assert_within(v, expected[0], expected[1])

        weight = floats(rng, 7, channels, *kernel)
        w = weight if layout == "nchw" else np.ascontiguousarray(weight.transpose(2, 3, 1, 0))
        u = pysimd.winograd_filter(w, kernel=kernel, block=block, layout=layout)
        expected = [in_layout(a, layout) for a in reference.winograd_filter(weight, kind)]
        assert_within(u, expected[0], expected[1])

        tiles = -(-height // block[0]) * -(-width // block[1])
        m = floats(rng, v.shape[0], channels, tiles)
        y = pysimd.winograd_output(in_layout(m, layout), (height, width), kernel=kernel, block=block, layout=layout)
        image, bound = reference.winograd_output(m, kind, height, width)
        assert_within(reference.to_chw(y, layout), image, bound)


@given(
    kind=st.sampled_from(KINDS),
    layout=st.sampled_from(LAYOUTS),
    channels=st.tuples(st.integers(1, 40), st.integers(1, 20)),
    size=st.tuples(st.integers(1, 12), st.integers(1, 40)),
    padding=st.tuples(*[st.integers(0, 3)] * 4),
)
def test_convolution(isa: str, kind: Any, layout: Any, channels: Any, size: Any, padding: Any) -> None:
    """Filter, input, product and output together equal the direct convolution."""
    kernel, block = kind
    dst = (size[0] + padding[0] + padding[2] - kernel[0] + 1, size[1] + padding[1] + padding[3] - kernel[1] + 1)
    if min(dst) < 1:
        return
    rng = np.random.default_rng(5)
    x, weight = floats(rng, channels[0], *size), floats(rng, channels[1], channels[0], *kernel)
    w = weight if layout == "nchw" else np.ascontiguousarray(weight.transpose(2, 3, 1, 0))
    options = {"kernel": kernel, "block": block, "layout": layout}
    u = pysimd.winograd_filter(w, **options)
    v = pysimd.winograd_input(reference.from_chw(x, layout), padding=padding, **options)
    m = np.ascontiguousarray(u @ v if layout == "nchw" else v @ u)
    y = pysimd.winograd_output(m, dst, **options)
    expected, _ = reference.convolution(x, weight, None, (1, 1), (1, 1), padding, 1)
    # The largest value of the image is at least that of any tile.
    scale = np.tensordot(np.abs(weight).sum((2, 3)).astype(np.float64), np.abs(x).max((1, 2)).astype(np.float64), 1)
    bound = np.broadcast_to((GROWTH[kind] * reference.EPS * scale)[:, None, None], expected.shape)
    assert_within(reference.to_chw(y, layout), expected, bound)


@pytest.mark.parametrize("trans", [0, 1])
def test_strides_larger_than_the_planes(isa: str, rng: np.random.Generator, trans: int) -> None:
    """Two images interleaved plane by plane; nothing between the planes is changed."""
    x, gap = floats(rng, 2, 6 * 7 * 5), 3
    used = 4 * 5
    stride = 2 * used + gap
    v = np.full(36 * stride, 7, np.float32)
    y = np.zeros((2, 6 * 7 * 5), np.float32)
    f = "float[]"
    src, dst, back = ffi.from_buffer(f, x), ffi.from_buffer(f, v), ffi.from_buffer(f, y)
    for i in range(2):
        lib.SimdWinogradKernel3x3Block4x4SetInput(src + i * 210, 5, 6, 7, 1, 1, 1, 1, dst + i * used, stride, trans)
        assert lib.SimdnetLastErrorKind() == 0
        lib.SimdWinogradKernel3x3Block4x4SetOutput(dst + i * used, stride, back + i * 210, 5, 6, 7, trans)
        assert lib.SimdnetLastErrorKind() == 0
    planes = v.reshape(36, stride)
    assert (planes[:, 2 * used :] == 7).all()
    layout: Any = LAYOUTS[trans]
    shape = (6, 7, 5) if trans else (5, 6, 7)
    for i in range(2):
        alone = pysimd.winograd_input(x[i].reshape(shape), padding=1, layout=layout)
        assert np.array_equal(planes[:, i * used : (i + 1) * used], alone.reshape(36, used))
        assert np.array_equal(y[i].reshape(shape), pysimd.winograd_output(alone, (6, 7), layout=layout))


@pytest.mark.parametrize(
    ("function", "change", "error", "sentence"),
    [
        ("filter", {"kernel": (1, 4)}, ValueError, "kernel is .1, 4."),
        ("filter", {"block": 5}, ValueError, "block is 5"),
        ("filter", {"weight": np.zeros((3, 3, 2, 4))}, TypeError, "weight has dtype float64"),
        ("filter", {"weight": np.zeros((2, 4, 3, 3), np.float32)}, ValueError, "weight has shape"),
        ("filter", {"layout": "nchw8c"}, ValueError, "layout is"),
        ("input", {"x": np.zeros((6, 7), np.float32)}, ValueError, "x has shape"),
        ("input", {"x": np.zeros((1, 7, 5), np.float32), "padding": 0}, ValueError, "larger than the padded image"),
        ("input", {"padding": -1}, ValueError, "padding is -1"),
        ("output", {"size": (6, 9)}, ValueError, "m has shape"),
        ("output", {"m": np.zeros((36, 4), np.float32)}, ValueError, "m has shape"),
        ("output", {"size": 6}, ValueError, "out has shape"),
    ],
)
def test_refused(function: str, change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    good: dict[str, dict[str, Any]] = {
        "filter": {"weight": np.ones((3, 3, 2, 4), np.float32)},
        "input": {"x": np.ones((6, 7, 5), np.float32), "padding": 1},
        "output": {"m": np.ones((36, 4, 5), np.float32), "size": (6, 7)},
    }
    arguments = good[function]
    shape = {"filter": (36, 2, 4), "input": (36, 4, 5), "output": (6, 7, 5)}[function]
    out = np.full(shape, 7, np.float32)
    assert_refused(getattr(pysimd, f"winograd_{function}"), error, sentence, out, **{**arguments, **change})
    assert getattr(pysimd, f"winograd_{function}")(**arguments, out=out) is out
