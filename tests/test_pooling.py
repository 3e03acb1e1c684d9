"""Pooling on every instruction set against the reference; invalid arguments."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pysimd
from support import Array, assert_refused, assert_same, assert_within, floats, reference

LAYOUTS = ["nchw", "nhwc"]

# height, width, channels, kernel, stride, padding (top, left, bottom, right), ceil_mode: every code path and its limits
GEOMETRIES: list[tuple[int, int, int, tuple[int, int], tuple[int, int], tuple[int, int, int, int], bool]] = [
    (1, 1, 1, (1, 1), (1, 1), (0, 0, 0, 0), False),
    (4, 6, 3, (2, 2), (2, 2), (0, 0, 0, 0), False),
    (9, 70, 5, (2, 2), (2, 2), (0, 0, 0, 0), True),
    (11, 67, 4, (3, 3), (2, 2), (1, 1, 1, 1), False),
    (8, 133, 2, (3, 3), (2, 2), (0, 0, 0, 0), True),
    (7, 40, 3, (3, 3), (1, 1), (1, 1, 1, 1), False),
    (12, 37, 2, (5, 5), (1, 1), (2, 2, 2, 2), False),
    (20, 20, 3, (13, 13), (1, 1), (6, 6, 6, 6), False),
    (7, 7, 65, (7, 7), (7, 7), (0, 0, 0, 0), False),
    (5, 3, 17, (1, 3), (1, 2), (0, 2, 0, 0), False),
    (6, 35, 9, (3, 1), (2, 1), (0, 0, 1, 0), False),
    (5, 9, 33, (2, 3), (3, 4), (1, 0, 2, 3), True),
    (3, 3, 2, (2, 2), (5, 5), (0, 0, 0, 0), True),
    (4, 4, 7, (3, 3), (1, 1), (5, 4, 3, 6), False),  # windows completely in the padding
    (2, 2, 3, (4, 5), (1, 1), (0, 0, 0, 0), True),  # a kernel larger than the image
]


def draw(rng: np.random.Generator, dtype: str, *shape: int) -> Array:
    if dtype == "uint8":
        return rng.integers(0, 256, shape).astype(np.uint8)
    x = floats(rng, *shape)
    if dtype == "float32":
        x[rng.random(shape) < 0.05] = -np.inf
        return x
    bits = reference.to_bfloat16(x)
    return bits if dtype == "uint16" else bits.view(ml_dtypes.bfloat16)


def expected_max(x: Array, layout: Any, kernel: Any, stride: Any, padding: Any, ceil: bool) -> Array:
    """The reference for one image of any dtype, with windows (c, y, x)."""
    image = reference.to_chw(x, layout)
    dst = tuple(
        reference.window_count(n, k, s, before, after, ceil and axis > 0)
        for axis, (n, k, s, (before, after)) in enumerate(zip(image.shape, kernel, stride, padding))
    )
    pads = tuple(before for before, _ in padding)
    if x.dtype == np.uint8:
        return reference.from_chw(reference.pooling_max(image, kernel, stride, pads, dst, 0), layout)
    if x.dtype == np.float32:
        return reference.from_chw(reference.pooling_max(image, kernel, stride, pads, dst, reference.LOWEST), layout)
    bits = image if x.dtype == np.uint16 else image.view(np.uint16)
    values = reference.pooling_max(reference.from_bfloat16(bits), kernel, stride, pads, dst, reference.LOWEST)
    return reference.from_chw(reference.to_bfloat16(values), layout).view(x.dtype)


def decoded(x: Array) -> Array:
    """bfloat16 as float, so that both zeros compare equal."""
    return reference.from_bfloat16(x.view(np.uint16)) if x.dtype.itemsize == 2 else x


def check_max(x: Array, layout: Any, kernel: Any, stride: Any, padding: Any, ceil: bool) -> None:
    top, left, bottom, right = padding
    expected = expected_max(x, layout, (1, *kernel), (1, *stride), ((0, 0), (top, bottom), (left, right)), ceil)
    y = pysimd.pooling_max(x, kernel=kernel, stride=stride, padding=padding, layout=layout, ceil_mode=ceil)
    assert y.dtype == x.dtype
    assert_same(decoded(y), decoded(expected))


@pytest.mark.parametrize("dtype", ["float32", "uint16", "bfloat16", "uint8"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_max(isa: str, rng: np.random.Generator, layout: Any, dtype: str) -> None:
    for height, width, channels, kernel, stride, padding, ceil in GEOMETRIES:
        x = draw(rng, dtype, channels, height, width)
        check_max(reference.from_chw(x, layout), layout, kernel, stride, padding, ceil)


@st.composite
def geometries(draw: Any) -> Any:
    kernel = draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    stride = draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    padding = draw(st.tuples(*[st.integers(0, 3)] * 4))
    height = draw(st.integers(max(1, kernel[0] - padding[0] - padding[2]), 12))
    width = draw(st.integers(max(1, kernel[1] - padding[1] - padding[3]), 80))
    return height, width, draw(st.integers(1, 40)), kernel, stride, padding, draw(st.booleans())


@given(geometry=geometries(), layout=st.sampled_from(LAYOUTS), dtype=st.sampled_from(["float32", "uint16", "uint8"]))
def test_max_any_geometry(isa: str, geometry: Any, layout: Any, dtype: str) -> None:
    height, width, channels, kernel, stride, padding, ceil = geometry
    x = draw(np.random.default_rng(1), dtype, channels, height, width)
    check_max(reference.from_chw(x, layout), layout, kernel, stride, padding, ceil)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_max_across_channels(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for channels, kernel, stride, padding in [
        (8, (2, 1, 1), (2, 1, 1), (0, 0)),
        (7, (3, 2, 2), (1, 2, 1), (1, 1)),
        (5, (5, 3, 3), (1, 1, 2), (0, 0)),
        (9, (2, 2, 2), (3, 2, 2), (2, 0)),
        (4, (1, 2, 2), (2, 2, 2), (0, 0)),
        (3, (1, 1, 1), (1, 1, 1), (1, 1)),
    ]:
        x = reference.from_chw(draw(rng, "float32", channels, 6, 21), layout)
        expected = expected_max(x, layout, kernel, stride, (padding, (1, 0), (0, 1)), False)
        y = pysimd.pooling_max(
            x,
            kernel=kernel[1:],
            stride=stride[1:],
            padding=(1, 0, 0, 1),
            kernel_c=kernel[0],
            stride_c=stride[0],
            padding_c=padding,
            layout=layout,
        )
        assert_same(y, expected)


@pytest.mark.parametrize("exclude_pad", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_average(isa: str, rng: np.random.Generator, layout: Any, exclude_pad: bool) -> None:
    for height, width, channels, kernel, stride, padding, ceil in GEOMETRIES:
        check_average(floats(rng, channels, height, width), layout, kernel, stride, padding, ceil, exclude_pad)


@pytest.mark.parametrize("dtype", ["uint16", "bfloat16"])
@pytest.mark.parametrize("exclude_pad", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_average_of_bfloat16(isa: str, rng: np.random.Generator, layout: Any, exclude_pad: bool, dtype: str) -> None:
    for height, width, channels, kernel, stride, padding, ceil in GEOMETRIES:
        image = draw(rng, dtype, channels, height, width)
        check_average(image, layout, kernel, stride, padding, ceil, exclude_pad)


def test_average_is_rounded_to_nearest_even(isa: str) -> None:
    """Of pairs of neighbouring bfloat16 numbers, and of triples near the middle."""
    pairs = np.arange(0x3F80, 0x3F80 + 200, dtype=np.uint16)[:, None] + np.array([[0, 1]], np.uint16)
    even = pairs[:, :1] + (pairs[:, :1] & 1)
    assert_same(pysimd.pooling_average(pairs[:, :, None], kernel=(1, 2)), even[:, :, None])
    assert_same(pysimd.pooling_average(pairs[None], kernel=(1, 2), layout="nchw"), even[None])
    triples = np.stack([pairs[:, 0], pairs[:, 0], pairs[:, 1]], 1)
    assert_same(pysimd.pooling_average(triples[:, :, None], kernel=(1, 3)), pairs[:, :1, None])


def check_average(image: Array, layout: Any, kernel: Any, stride: Any, padding: Any, ceil: bool, exclude_pad: bool) -> None:
    top, left, bottom, right = padding
    dst = (
        reference.window_count(image.shape[1], kernel[0], stride[0], top, bottom, ceil),
        reference.window_count(image.shape[2], kernel[1], stride[1], left, right, ceil),
    )
    end = image.shape[1] + bottom, image.shape[2] + right
    expected, bound = reference.pooling_average(decoded(image), kernel, stride, (top, left), dst, exclude_pad, end)
    y = pysimd.pooling_average(
        reference.from_chw(image, layout),
        kernel=kernel,
        stride=stride,
        padding=padding,
        layout=layout,
        ceil_mode=ceil,
        exclude_pad=exclude_pad,
    )
    assert y.dtype == image.dtype
    if image.dtype == np.float32:
        assert_within(reference.to_chw(y, layout), expected, bound)
    else:
        assert_rounded_within(decoded(reference.to_chw(y, layout)), expected, bound)


def assert_rounded_within(actual: Array, expected: Array, bound: Array) -> None:
    """bfloat16: what the numbers within the bound are rounded to. NaN equals NaN."""
    limit = bound + np.abs(expected) * 2.0**-24
    low, high = (decoded(reference.to_bfloat16((expected + d).astype(np.float32))) for d in (-limit, limit))
    good = ((low <= actual) & (actual <= high)) | (np.isnan(actual) & np.isnan(expected))
    assert good.all(), (actual[~good], low[~good], high[~good])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_average_of_a_large_map_is_near_the_sum(isa: str, rng: np.random.Generator, layout: Any) -> None:
    image = np.abs(floats(rng, 17, 640, 640))
    y = pysimd.pooling_average(reference.from_chw(image, layout), kernel=640, layout=layout)
    mean = image.astype(np.float64).mean(axis=(1, 2), keepdims=True)
    assert_within(reference.to_chw(y, layout), mean, (np.log2(640 * 640) + 8) * 2.0**-24 * mean)


@given(geometry=geometries(), layout=st.sampled_from(LAYOUTS), exclude_pad=st.booleans(), rounded=st.booleans())
def test_average_any_geometry(isa: str, geometry: Any, layout: Any, exclude_pad: bool, rounded: bool) -> None:
    height, width, channels, kernel, stride, padding, ceil = geometry
    image = floats(np.random.default_rng(2), channels, height, width)
    image = reference.to_bfloat16(image) if rounded else image
    check_average(image, layout, kernel, stride, padding, ceil, exclude_pad)


# image, kernel, stride, padding, and the averages by PyTorch and ONNX (count_include_pad)
CUT_OFF: list[tuple[Any, Any, Any, Any, Any]] = [
    (np.ones((3, 6)), (3, 5), (3, 2), 0, [[1, 1]]),
    (np.ones((4, 4)), 3, 2, 0, [[1, 1], [1, 1]]),
    (np.ones((2, 2)), (4, 5), 1, 0, [[1]]),
    # columns 0 .. 2, 2 .. 4, 4 .. 6 of the padded eight, and the last two of 6 .. 8: (6 + 0) / 2
    ([[1, 2, 3, 4, 5, 6]], (1, 3), (1, 2), (0, 1), [[1, 3, 5, 3]]),
    ([[1], [2], [3], [4], [5], [6]], (3, 1), (2, 1), (1, 0), [[1], [3], [5], [3]]),
    # windows of 3 x 3 at rows and columns 0, 2 and 4 of a padded 6 x 6: the last ones have one of the image, one of padding
    (np.ones((4, 4)), 3, 2, 1, [[4 / 9, 6 / 9, 2 / 6], [6 / 9, 1, 3 / 6], [2 / 6, 3 / 6, 1 / 4]]),
    # no padding in front: windows of 2 x 3 at row 0, columns 0 and 3, of 2 x 6 with its padding on the right
    ([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], (2, 3), (2, 3), (0, 0, 0, 1), [[4.5, 28 / 6]]),
    # columns 0 .. 3 and 3 .. 5 of a padded 2 x 6, rows 0 .. 1
    ([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], (2, 4), (2, 3), (0, 0, 0, 1), [[40 / 8, 28 / 6]]),
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_average_divides_by_what_lies_inside_the_padded_image(isa: str, layout: Any) -> None:
    """With ceil_mode, windows extend beyond it; also prepared, and each image of a batch."""
    for image, kernel, stride, padding, averages in CUT_OFF:
        factors = np.array([[1, -2, 4], [8, -16, 32]])[:, :, None, None]  # of images and channels
        x, y = ((factors * np.array(values)).astype(np.float32) for values in (image, averages))
        if layout == "nhwc":
            x, y = np.moveaxis(x, 1, -1).copy(), np.moveaxis(y, 1, -1)
        options: dict[str, Any] = {"kernel": kernel, "stride": stride, "padding": padding, "layout": layout}
        average: Any = pysimd.pooling_average
        np.testing.assert_array_max_ulp(average(x, **options, ceil_mode=True), y, 1)
        np.testing.assert_array_max_ulp(average(x[0], **options, ceil_mode=True), y[0], 1)
        rounded = average(pysimd.to_bfloat16(x), **options, ceil_mode=True)
        np.testing.assert_array_equal(rounded, pysimd.to_bfloat16(y))
        prepared = pysimd.prepare(average, x, **options, ceil_mode=True)
        for factor in (1, 0.5):
            x *= factor
            prepared.result.fill(7)
            np.testing.assert_array_max_ulp(prepared(), np.float32(factor) * y, 1)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_batch_is_image_by_image(isa: str, rng: np.random.Generator, layout: Any) -> None:
    x = floats(rng, 3, 9, 14, 5)
    options: dict[str, Any] = {"kernel": 3, "stride": 2, "padding": 1, "layout": layout}
    for function in (pysimd.pooling_max, pysimd.pooling_average):
        for images in (x, pysimd.to_bfloat16(x)):
            batch = function(images, **options)
            assert np.array_equal(batch, np.stack([function(image, **options) for image in images]))
            assert function(images[:0], **options).shape == (0, *batch.shape[1:])


def test_out_is_written_and_given_back(rng: np.random.Generator) -> None:
    x = floats(rng, 8, 8, 3)
    for function in (pysimd.pooling_max, pysimd.pooling_average):
        out = np.full((4, 4, 3), 7, np.float32)
        assert function(x, kernel=2, out=out) is out
        assert np.array_equal(out, function(x, kernel=2))


def test_stride_is_the_kernel_unless_given(rng: np.random.Generator) -> None:
    x = floats(rng, 12, 12, 3)
    assert np.array_equal(pysimd.pooling_max(x, kernel=(3, 2)), pysimd.pooling_max(x, kernel=(3, 2), stride=(3, 2)))


def test_older_names_are_the_same_functions(isa: str, rng: np.random.Generator) -> None:
    from pysimd.lowlevel import ffi, lib

    x = floats(rng, 10, 13, 6)
    src = ffi.from_buffer("float[]", x)
    window = (6, 10, 13, 3, 3, 2, 2, 1, 1)
    y = np.empty((5, 7, 6), np.float32)
    dst = ffi.from_buffer("float[]", y)
    options: dict[str, Any] = {"kernel": 3, "stride": 2, "padding": 1}
    lib.SimdSynetPoolingForwardMax(src, *window, dst, 5, 7, lib.SimdTrue)
    assert np.array_equal(y, pysimd.pooling_max(x, **options))
    lib.SimdSynetPoolingForwardAverage(src, *window, dst, 5, 7, lib.SimdTrue, lib.SimdTensorFormatNhwc)
    assert np.array_equal(y, pysimd.pooling_average(x, **options, exclude_pad=True))
    image = np.ascontiguousarray(x.reshape(6, 10, 13))
    z = np.empty((6, 5, 7), np.float32)
    lib.SimdSynetPoolingForwardMax(
        ffi.from_buffer("float[]", image), *window, ffi.from_buffer("float[]", z), 5, 7, lib.SimdFalse
    )
    assert np.array_equal(z, pysimd.pooling_max(image, **options, layout="nchw"))


@pytest.mark.parametrize("function", [pysimd.pooling_max, pysimd.pooling_average])
@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": [[1.0]]}, TypeError, "x is a list"),
        ({"x": np.zeros((8, 8, 3))}, TypeError, "x has dtype float64"),
        ({"x": np.zeros((8, 8, 3), ">f4")}, TypeError, "x has dtype >f4"),
        ({"x": np.zeros((8, 8), np.float32)}, ValueError, r"x has shape \(8, 8\)"),
        ({"x": np.zeros((8, 8, 6), np.float32)[..., ::2]}, ValueError, "x is not C-contiguous"),
        ({"kernel": 0}, ValueError, "kernel is 0, expected at least 1"),
        ({"kernel": (2, -1)}, ValueError, "kernel is -1"),
        ({"kernel": (2, 2, 2)}, ValueError, "kernel is"),
        ({"kernel": 2.5}, TypeError, "kernel is 2.5"),
        ({"kernel": 9}, ValueError, "kernel is 9, expected at most the padded height"),
        ({"kernel": (2, 2**70)}, ValueError, "kernel is too large"),
        ({"stride": 0}, ValueError, "stride is 0"),
        ({"stride": (1, 0)}, ValueError, "stride is 0"),
        ({"padding": -1}, ValueError, "padding is -1"),
        ({"padding": (1, 1, 1)}, ValueError, "padding is"),
        ({"layout": "chwn"}, ValueError, "layout is 'chwn'"),
        ({"layout": ["nchw"]}, ValueError, "layout is"),
        ({"layout": pysimd.TensorFormat.NCHW8C}, ValueError, "layout is"),
    ],
)
def test_refused(function: Any, change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments = {"x": np.ones((8, 8, 3), np.float32), "kernel": 2, "stride": 2, "padding": 0, "layout": "nhwc", **change}
    assert_refused(function, error, sentence, np.full((4, 4, 3), 7, np.float32), **arguments)


@pytest.mark.parametrize("function", [pysimd.pooling_max, pysimd.pooling_average])
def test_refused_out(function: Any) -> None:
    x = np.ones((8, 8, 3), np.float32)
    frozen = np.zeros((4, 4, 3), np.float32)
    frozen.flags.writeable = False
    for out, error, sentence in [
        (np.zeros((4, 4, 2), np.float32), ValueError, r"out has shape \(4, 4, 2\), expected \(4, 4, 3\)"),
        (np.zeros((4, 4, 3)), TypeError, "out has dtype float64, expected float32"),
        (np.zeros((4, 4, 6), np.float32)[..., ::2], ValueError, "out is not C-contiguous"),
        (frozen, ValueError, "out is read-only"),
        (x.reshape(-1)[:48].reshape(4, 4, 3), ValueError, "out overlaps x"),
    ]:
        assert_refused(function, error, sentence, out, x=x, kernel=2)


def test_refused_element_types() -> None:
    with pytest.raises(TypeError, match="x has dtype uint8, expected float32 or bfloat16"):
        pysimd.pooling_average(np.zeros((4, 4, 3), np.uint8), kernel=2)  # type: ignore[type-var]
    for dtype in (np.uint16, np.uint8):
        with pytest.raises(TypeError, match="expected float32 for a window across channels"):
            pysimd.pooling_max(np.zeros((4, 4, 3), dtype), kernel=2, kernel_c=2)
    swapped = np.dtype(ml_dtypes.bfloat16).newbyteorder()
    for order in (">u2", swapped):
        with pytest.raises(TypeError, match="x has dtype"):
            pysimd.pooling_max(np.zeros((4, 4, 3), np.uint16).view(order), kernel=2)
    with pytest.raises(TypeError, match="out has dtype uint16, expected uint8"):
        pysimd.pooling_max(np.zeros((4, 4, 3), np.uint8), kernel=2, out=np.zeros((2, 2, 3), np.uint16))
    for kernel_c in (0, 4):
        with pytest.raises(ValueError, match=f"(kernel_c|kernel) is {kernel_c}"):
            pysimd.pooling_max(np.zeros((4, 4, 3), np.float32), kernel=2, kernel_c=kernel_c)
