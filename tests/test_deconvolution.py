"""Deconvolution on every instruction set against the reference; the life of a context; invalid arguments."""

from __future__ import annotations

import re
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pysimd
from pysimd._pixels import AFTER, BEFORE
from support import PARAMS, Array, assert_refused, assert_same_however_called, assert_within, floats, reference

LAYOUTS = ["nchw", "nhwc"]

# input channels, output channels, group, height, width, kernel, stride, dilation, padding
CASES: list[tuple[int, int, int, int, int, Any, Any, Any, Any]] = [
    (1, 1, 1, 1, 1, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    (16, 32, 1, 7, 9, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0)),  # without overlap
    (17, 33, 1, 5, 6, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0)),
    (21, 21, 1, 6, 5, (4, 4), (2, 2), (1, 1), (1, 1, 1, 1)),
    (5, 7, 1, 6, 8, (3, 3), (2, 2), (1, 1), (1, 1, 0, 0)),
    (4, 6, 1, 5, 7, (5, 5), (2, 2), (1, 1), (2, 2, 2, 2)),
    (3, 5, 1, 4, 5, (3, 2), (2, 3), (1, 2), (0, 1, 2, 1)),
    (8, 16, 1, 9, 8, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),  # a convolution
    (6, 4, 2, 5, 6, (3, 3), (1, 1), (2, 2), (2, 2, 2, 2)),
    (12, 18, 3, 6, 6, (4, 4), (2, 2), (1, 1), (1, 1, 1, 1)),
    (10, 10, 10, 9, 11, (4, 4), (2, 2), (1, 1), (1, 1, 1, 1)),  # depthwise
    (7, 14, 7, 4, 21, (3, 3), (2, 2), (1, 1), (1, 1, 1, 1)),  # depthwise with a multiplier
    (5, 5, 5, 6, 6, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    (3, 4, 1, 5, 5, (1, 1), (2, 2), (1, 1), (0, 0, 0, 0)),  # outputs that are only the bias
    (3, 4, 1, 5, 4, (2, 3), (4, 2), (2, 4), (0, 0, 0, 0)),  # the same, and a dilation that shares a factor with the stride
    (3, 4, 1, 6, 7, (3, 3), (1, 1), (1, 1), (4, 3, 3, 5)),  # cropped by more than the kernel's extent
    (3, 4, 1, 6, 7, (3, 3), (2, 2), (1, 1), (6, 7, 5, 4)),
    (30, 40, 1, 1, 1, (4, 4), (1, 1), (1, 1), (0, 0, 0, 0)),  # one input
    (30, 40, 1, 1, 6, (4, 4), (3, 2), (1, 1), (1, 1, 0, 0)),
    (260, 6, 1, 3, 3, (4, 4), (2, 2), (1, 1), (1, 1, 1, 1)),  # a long sum
]


def in_layout(weight: Array, layout: Any) -> Array:
    """Weights (C, O / group, ky, kx) in the order of the layout."""
    return weight if layout == "nchw" else np.ascontiguousarray(weight.transpose(0, 2, 3, 1))


def flipped(weight: Array) -> Array:
    """The weights (O, C, ky, kx) of the convolution that is equal to a deconvolution of stride 1 and one group."""
    return weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)


def check(x: Array, weight: Array, bias: Array | None, layout: Any, activation: Any, params: Any, geometry: Any) -> None:
    """Compares a batch of images (N, C, H, W) with the reference."""
    stride, dilation, padding, group = geometry
    images = np.stack([reference.from_chw(image, layout) for image in x])
    options = {"stride": stride, "dilation": dilation, "padding": padding, "group": group, "activation": activation}
    y = pysimd.deconvolution(images, in_layout(weight, layout), bias, params=params, layout=layout, **options)
    outputs = weight.shape[1] * group
    with pysimd.Deconvolution32f(images.shape, outputs, kernel=weight.shape[2:], layout=layout, **options) as context:
        block = re.search(r"Winograd F\((\d),\d\)", context.info)
    for image, result in zip(x, y):
        sums, bound = reference.deconvolution(image, weight, bias, stride, dilation, padding, group)
        if block:
            reach = [(taps - 1) * step for taps, step in zip(weight.shape[2:], dilation)]
            around = (reach[0] - padding[0], reach[1] - padding[1], reach[0] - padding[2], reach[1] - padding[3])
            bound = reference.winograd_bound(image, flipped(weight), bias, around, int(block[1]), 1, dilation)
        expected = reference.activate(sums, activation, params, 0)
        assert_within(reference.to_chw(result, layout), expected, reference.activated(bound, activation, params, sums))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_geometries(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for src_c, dst_c, group, height, width, kernel, *geometry in CASES:
        x, weight = floats(rng, 2, src_c, height, width), floats(rng, src_c, dst_c // group, *kernel)
        check(x, weight, floats(rng, dst_c), layout, "identity", None, (*geometry, group))


@pytest.mark.parametrize("activation", PARAMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_activations(isa: str, rng: np.random.Generator, layout: Any, activation: Any) -> None:
    for kernel, stride, group in [(2, 2, 1), (4, 2, 1), (3, 1, 1), (4, 2, 6)]:
        x, weight = floats(rng, 1, 6, 5, 7), floats(rng, 6, 18 // group, kernel, kernel) / 4
        for bias in (None, floats(rng, 18)):
            geometry = ((stride, stride), (1, 1), (0, 1, 0, 1), group)
            check(x, weight, bias, layout, activation, PARAMS[activation](18), geometry)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_winograd(isa: str, rng: np.random.Generator, layout: Any) -> None:
    """3x3 of stride 1 with many channels: for any algorithm, the error is within the bound of the header."""
    for c, o, height, width, padding in [
        (16, 16, 14, 14, (1, 1, 1, 1)),
        (64, 33, 6, 6, (1, 1, 1, 1)),
        (40, 70, 4, 5, (0, 1, 2, 0)),
        (64, 7, 9, 21, (2, 2, 2, 2)),
    ]:
        x = rng.standard_normal((2, c, height, width)).astype(np.float32)
        weight = rng.standard_normal((c, o, 3, 3)).astype(np.float32) / 8
        check(x, weight, floats(rng, o), layout, "relu", None, ((1, 1), (1, 1), padding, 1))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("activation", ["relu", "prelu", "hswish", "elu"])
def test_products_of_all_taps_in_parts(isa: str, layout: Any, activation: Any) -> None:
    """Products of lines that two parts of a large image need are kept (col2im), and activations follow their sums."""
    rng = np.random.default_rng(11)
    x = rng.standard_normal((1, 141, 24, 110)).astype(np.float32)
    weight = rng.standard_normal((141, 8, 5, 5)).astype(np.float32) / 8
    check(x, weight, floats(rng, 8), layout, activation, PARAMS[activation](8), ((2, 2), (1, 1), (2, 2, 2, 2), 1))


def test_algorithm_is_told() -> None:
    """The reported algorithm follows from the shape."""
    if pysimd.active_isa() == "base":
        pytest.skip("base has one algorithm")
    one = pysimd.Deconvolution32f((56, 56, 64), 64, kernel=3, padding=1)
    assert "as a convolution, Winograd F(4,3)" in repr(one)
    assert "phases" in repr(pysimd.Deconvolution32f((28, 28, 64), 32, kernel=2, stride=2))
    assert "phases" in repr(pysimd.Deconvolution32f((28, 28, 64), 32, kernel=3, padding=3))  # cropped further
    assert "by NHWC" in repr(pysimd.Deconvolution32f((64, 28, 28), 32, kernel=4, stride=2, layout="nchw"))
    assert "col2im" in repr(pysimd.Deconvolution32f((416, 17, 17), 8, kernel=3, stride=2, group=4, layout="nchw"))
    assert "col2im" in repr(pysimd.Deconvolution32f((47, 47, 128), 8, kernel=3, stride=3, group=4))
    far = repr(pysimd.Deconvolution32f((7, 7, 2048), 256, kernel=3, stride=2))  # weights in no cache are read once
    assert "phases NHWC" in far or "col2im by panels" in far
    column = pysimd.Deconvolution32f((224, 1, 288), 8, kernel=7, stride=2, padding=(3, 3, 2, 2))
    assert "phases NHWC" in repr(column)  # each output has one tap of a row
    assert "depthwise" in repr(pysimd.Deconvolution32f((8, 28, 28), 8, kernel=4, stride=2, group=8, layout="nchw"))


def test_workspace_is_a_band_and_two_megabytes(isa: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        layout: Any = LAYOUTS[int(rng.integers(2))]
        c = int(rng.integers(1, 600))
        h, w = (int(n) for n in rng.integers(1, 300, 2))
        kernel, stride, dilation = (int(n) for n in rng.integers(1, 5, 3))
        shape = (c, h, w) if layout == "nchw" else (h, w, c)
        context = pysimd.Deconvolution32f(
            shape, int(rng.integers(1, 300)), kernel=kernel, stride=stride, dilation=dilation, layout=layout
        )
        # The lines that one output needs, or a row of tiles, with the part of the outputs beyond the image.
        span = dilation * (kernel - 1) + 1
        band = max(span, 6) * (w + 2 * span + 16) * (c + 16)
        assert context.external_buffer_size * 4 <= (2 << 20) + 2 * band * 4, (shape, context.info)


@st.composite
def geometries(draw: Any) -> Any:
    small = st.integers(1, 4)
    kernel, stride, dilation = (draw(st.tuples(small, small)) for _ in range(3))
    height, width = draw(st.integers(1, 8)), draw(st.integers(1, 20))
    whole = [stride[i] * (size - 1) + dilation[i] * (kernel[i] - 1) + 1 for i, size in enumerate((height, width))]
    top, left = (draw(st.integers(0, min(size - 1, 5))) for size in whole)
    bottom, right = draw(st.integers(0, min(whole[0] - 1 - top, 5))), draw(st.integers(0, min(whole[1] - 1 - left, 5)))
    group = draw(st.sampled_from([1, 1, 2, 5]))
    return (
        group * draw(st.integers(1, 9)),
        group * draw(st.integers(1, 18)),
        group,
        height,
        width,
        kernel,
        stride,
        dilation,
        (top, left, bottom, right),
    )


@given(case=geometries(), layout=st.sampled_from(LAYOUTS), activation=st.sampled_from(sorted(PARAMS)))
def test_any_geometry(isa: str, case: Any, layout: Any, activation: Any) -> None:
    src_c, dst_c, group, height, width, kernel, *geometry = case
    rng = np.random.default_rng(3)
    x, weight = floats(rng, 1, src_c, height, width), floats(rng, src_c, dst_c // group, *kernel)
    check(x, weight, floats(rng, dst_c), layout, activation, PARAMS[activation](dst_c), (*geometry, group))


# ------------------------------------------------------------------------------------------------------ context


def example(rng: np.random.Generator) -> tuple[pysimd.Deconvolution32f, Array, Array]:
    """A context with weights, its input and its result."""
    context = pysimd.Deconvolution32f((2, 5, 6, 8), 12, kernel=4, stride=2, padding=1, activation="prelu")
    context.set_params(floats(rng, *context.weight_shape), floats(rng, 12), floats(rng, 12))
    x = floats(rng, 2, 5, 6, 8)
    return context, x, context(x)


def test_init_with_a_huge_stride_is_quick(isa: str) -> None:
    begin = time.process_time()
    with pysimd.Deconvolution32f((2, 3, 1), 1, kernel=1, stride=(2**26 + 1, 1)) as layer:
        assert layer.dst_shape == (2**26 + 2, 3, 1)
    assert time.process_time() - begin < 0.5


def test_life(isa: str, rng: np.random.Generator) -> None:
    context, x, y = example(rng)
    assert (context.dst_shape, context.weight_shape) == ((2, 10, 12, 12), (8, 4, 4, 12))
    nchw = pysimd.Deconvolution32f((8, 9, 10), 12, kernel=(3, 2), group=4, layout="nchw")
    assert (nchw.dst_shape, nchw.weight_shape) == ((12, 11, 11), (8, 3, 3, 2))
    assert repr(context).startswith("<pysimd.Deconvolution32f ")
    assert context.internal_buffer_size >= 8 * 4 * 4 * 12
    assert_same_however_called(context, x, y)
    weight, bias, params = context._given or (y, y, y)
    one = pysimd.deconvolution(x[1], weight, bias, stride=2, padding=1, activation="prelu", params=params)
    assert np.array_equal(one, y[1])
    context.close()
    with pytest.raises(pysimd.StateError, match="Deconvolution32f is closed"):
        context(x)


def test_forward_before_set_params() -> None:
    context = pysimd.Deconvolution32f((3, 3, 3), 4, kernel=2)
    out = np.full((4, 4, 4), 7, np.float32)
    assert_refused(context.forward, pysimd.StateError, "call set_params", out, x=np.zeros((3, 3, 3), np.float32))


# ------------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"src_shape": (5, 5)}, ValueError, "src_shape is"),
        ({"dst_c": -1}, ValueError, "dst_c is -1"),
        ({"kernel": 0}, ValueError, "kernel is 0"),
        ({"stride": 0}, ValueError, "stride is 0"),
        ({"dilation": 0}, ValueError, "dilation is 0"),
        ({"padding": -1}, ValueError, "padding is -1"),
        ({"padding": 3}, ValueError, r"padding is 3 \+ 3, expected less than the whole height of 6"),
        ({"padding": (0, 2, 0, 4)}, ValueError, r"padding is 2 \+ 4, expected less than the whole width of 6"),
        ({"stride": 2**62}, ValueError, "stride and kernel are too large for the height"),
        ({"stride": 2**60}, ValueError, r"^stride\[0\] is .*, too large"),
        ({"group": 3}, ValueError, "group is 3, expected a divisor of 4 input and 6 output channels"),
        ({"group": 3, "layout": "nchw"}, ValueError, "group is 3, expected a divisor of 5 input and 6 output channels"),
        ({"activation": "tanhshrink"}, ValueError, "activation is 'tanhshrink'"),
        ({"layout": "nchw8c"}, ValueError, "layout is 'nchw8c'"),
    ],
)
def test_refused_shape(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        pysimd.Deconvolution32f(**{"src_shape": (5, 5, 4), "dst_c": 6, "kernel": 2, **change})


def test_refused_arrays() -> None:
    context = pysimd.Deconvolution32f((5, 5, 4), 6, kernel=2, activation="restrict_range")
    with pytest.raises(ValueError, match=r"weight has shape \(2, 2, 4, 6\), expected \(4, 2, 2, 6\)"):
        context.set_params(np.zeros((2, 2, 4, 6), np.float32), params=(0, 1))
    with pytest.raises(ValueError, match=r"params has shape \(3,\), expected \(2,\): the lower and upper of restrict_range"):
        context.set_params(np.zeros((4, 2, 2, 6), np.float32), params=(0, 1, 2))
    context.set_params(np.zeros((4, 2, 2, 6), np.float32), params=(0, 1))
    out = np.full((6, 6, 6), 7, np.float32)
    assert_refused(context.forward, TypeError, "x has dtype float64", out, x=np.zeros((5, 5, 4)))
    assert_refused(context.forward, ValueError, "x has shape", out, x=np.zeros((5, 4, 5), np.float32))
    with pytest.raises(ValueError, match=r"weight has shape \(2, 2, 4\), expected \(C, kernel_y, kernel_x, dst_c / "):
        pysimd.deconvolution(np.zeros((5, 5, 4), np.float32), np.zeros((2, 2, 4), np.float32))


@pytest.mark.parametrize(("group", "c", "o", "kernel", "stride"), [(2, 8, 6, 4, 2), (4, 16, 20, 3, 1), (5, 10, 35, 3, 2)])
def test_an_addition_with_slopes_of_groups(group: int, c: int, o: int, kernel: int, stride: int, isa: str) -> None:
    """Before and after the activation, whose slopes the groups have apart from each other."""
    rng = np.random.default_rng(group)
    x, weight = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((2, 7, 9, c), (c, kernel, kernel, o // group)))
    bias, slope = floats(rng, o), np.abs(floats(rng, o))
    options: dict[str, Any] = {"kernel": kernel, "stride": stride, "padding": 1, "group": group}
    plain = pysimd.Deconvolution32f(x.shape, o, **options)
    plain.set_params(weight, bias)
    sums = plain(x)
    add, found = floats(rng, *sums.shape), np.empty_like(sums)
    context = pysimd.Deconvolution32f(x.shape, o, activation="prelu", **options)
    context.set_params(weight, bias, slope)
    for order, exact in ((BEFORE, _prelu(sums + add, slope)), (AFTER, _prelu(sums, slope) + add)):
        context._forward_pixels(x, add, found, None, order)
        np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-4)


def _prelu(v: Array, slope: Array) -> Array:
    return np.where(v > 0, v, v * slope)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("types", [("float32", "bfloat16"), ("bfloat16", "float32"), ("bfloat16", "bfloat16")])
def test_bfloat16(isa: str, rng: np.random.Generator, layout: Any, types: tuple[str, str]) -> None:
    """Numbers that are rounded once, by a convolution (stride 1) and by floats; depthwise, where a convolution is exact."""
    for kernel, stride, group in [(3, 1, 1), (3, 1, 6), (4, 2, 1), (3, 2, 6), (2, 3, 2)]:
        x, weight, bias = floats(rng, 2, 6, 5, 7), floats(rng, 6, 6 // group, kernel, kernel), floats(rng, 6)
        numbers, small = reference.to_bfloat16(x), types[1] == "bfloat16"
        images = np.stack([reference.from_chw(image, layout) for image in (x if types[0] == "float32" else numbers)])
        options: dict[str, Any] = {
            "kernel": kernel,
            "stride": stride,
            "group": group,
            "layout": layout,
            "activation": "relu",
        }
        with pysimd.Deconvolution16b(images.shape, 6, src_dtype=types[0], dst_dtype=types[1], **options) as context:
            context.set_params(in_layout(weight, layout), bias)
            y = context(images)
        geometry = (stride, stride), (1, 1), (0, 0, 0, 0), group
        rounded = reference.from_bfloat16(reference.to_bfloat16(weight))
        for image, result in zip(reference.from_bfloat16(numbers), y):
            sums, bound = reference.deconvolution(image, rounded, bias, *geometry)
            expected = np.maximum(sums, 0)
            bound = 3 * bound + 1e-6 + 2.0**-8 * (expected + bound) * small
            values = reference.from_bfloat16(result) if small else result
            assert_within(reference.to_chw(values, layout), expected, bound)
