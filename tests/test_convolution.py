"""Convolution on every instruction set against the reference; the life of a context; invalid arguments."""

from __future__ import annotations

import gc
import os
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pysimd
from support import PARAMS, Array, assert_refused, assert_same_however_called, assert_within, floats, reference

LAYOUTS = ["nchw", "nhwc"]

# input channels, output channels, group, height, width, kernel, stride, dilation, padding
CASES: list[tuple[int, int, int, int, int, Any, Any, Any, Any]] = [
    (1, 1, 1, 1, 1, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    (16, 32, 1, 7, 9, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    (17, 33, 1, 5, 6, (1, 1), (2, 2), (1, 1), (0, 0, 0, 0)),
    (3, 8, 1, 5, 5, (1, 1), (1, 1), (1, 1), (1, 1, 1, 1)),  # 1x1 with padding
    (8, 16, 1, 12, 13, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    (3, 19, 1, 23, 25, (7, 7), (2, 2), (1, 1), (3, 3, 3, 3)),
    (5, 7, 1, 9, 8, (3, 2), (2, 1), (1, 2), (0, 1, 2, 3)),
    (6, 4, 2, 8, 8, (3, 3), (1, 1), (2, 2), (2, 2, 2, 2)),
    (12, 18, 3, 6, 6, (2, 2), (1, 1), (1, 1), (0, 0, 0, 0)),
    (10, 10, 10, 9, 11, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),  # depthwise
    (33, 33, 33, 14, 14, (5, 5), (2, 2), (1, 1), (2, 2, 2, 2)),
    (4, 8, 4, 6, 7, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),  # depthwise with a multiplier
    (6, 9, 3, 5, 4, (5, 4), (1, 1), (1, 1), (0, 0, 0, 0)),  # a kernel as large as the image
    (40, 70, 1, 4, 4, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
    (4, 5, 1, 3, 40, (1, 3), (1, 1), (1, 1), (0, 1, 0, 1)),
    (4, 5, 1, 20, 3, (5, 1), (3, 1), (1, 1), (2, 0, 2, 0)),
    (260, 6, 1, 3, 3, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),  # a long sum
    (2, 2, 1, 9, 21, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),  # in NHWC, lanes are results of several pixels
    (3, 3, 1, 7, 43, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    (5, 7, 1, 8, 37, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0)),
    (2, 6, 1, 13, 39, (3, 3), (2, 2), (1, 1), (1, 1, 1, 1)),
    (2, 3, 1, 9, 50, (3, 2), (1, 1), (2, 2), (0, 2, 1, 0)),
    (2, 3, 1, 2, 2, (2, 2), (1, 1), (1, 1), (4, 4, 4, 4)),  # windows completely in the padding
]


GEOMETRY = ("stride", "dilation", "padding")


def in_layout(weight: Array, layout: Any) -> Array:
    """Weights (O, I, ky, kx) in the order of the layout."""
    return weight if layout == "nchw" else np.ascontiguousarray(weight.transpose(2, 3, 1, 0))


def check(x: Array, weight: Array, bias: Array | None, layout: Any, activation: Any, params: Any, geometry: Any) -> None:
    """Compares a batch of images (N, C, H, W) with the reference."""
    stride, dilation, padding, group = geometry
    images = np.stack([reference.from_chw(image, layout) for image in x])
    options = {"stride": stride, "dilation": dilation, "padding": padding, "group": group, "activation": activation}
    y = pysimd.convolution(images, in_layout(weight, layout), bias, params=params, layout=layout, **options)
    with pysimd.Convolution32f(images.shape, len(weight), kernel=weight.shape[2:], layout=layout, **options) as context:
        block = re.search(r"Winograd F\((\d),\d\)", context.info)
    for image, result in zip(x, y):
        sums, bound = reference.convolution(image, weight, bias, stride, dilation, padding, group)
        if block:
            bound = reference.winograd_bound(image, weight, bias, padding, int(block[1]), stride[0], dilation)
        expected = reference.activate(sums, activation, params, 0)
        assert_within(reference.to_chw(result, layout), expected, reference.activated(bound, activation, params, sums))


# channels, height, width, kernel, dilation: depthwise by large kernels, whose blocks have several rows and vectors
LARGE: list[tuple[int, int, int, Any, Any]] = [
    (3, 13, 50, (7, 7), (1, 1)),  # NCHW: rows and vectors that overlap those before, with each number of vectors of a block
    (2, 6, 17, (5, 6), (1, 1)),
    (2, 11, 37, (9, 3), (1, 1)),
    (1, 8, 75, (6, 11), (1, 1)),
    (2, 25, 40, (7, 5), (2, 3)),
    (2, 12, 64, (5, 5), (1, 1)),
    (37, 16, 15, (11, 11), (1, 1)),  # NHWC: two, three and four rows are left, and inputs at both edges
    (20, 10, 9, (4, 6), (1, 1)),
    (16, 7, 8, (3, 4), (1, 1)),
    (19, 9, 16, (2, 6), (1, 1)),  # fewer rows of taps than rows of a block
    (16, 5, 30, (1, 8), (1, 1)),
    (35, 11, 13, (9, 3), (1, 1)),  # three taps at a time, at edges and inside
    (32, 6, 40, (5, 7), (1, 1)),
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_large_depthwise_kernels(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for channels, height, width, kernel, dilation in LARGE:
        x, weight = floats(rng, 1, channels, height, width), floats(rng, channels, 1, *kernel)
        reach = [(size - 1) * step for size, step in zip(kernel, dilation)]
        padding = (reach[0] // 2, reach[1] // 2, reach[0] - reach[0] // 2, reach[1] - reach[1] // 2)
        check(x, weight, floats(rng, channels), layout, "relu", None, ((1, 1), dilation, padding, channels))


# Channels, height, width, kernel, stride, padding: depthwise NHWC pixel by pixel, and blocks between such edges.
PIXELS: list[tuple[int, int, int, Any, Any, Any]] = [
    (150, 2, 2, (4, 4), (1, 1), (1, 1, 2, 2)),  # narrow images: several vectors, one, and a part
    (70, 3, 3, (5, 5), (1, 1), (2, 2, 2, 2)),
    (33, 5, 3, (3, 9), (2, 1), (1, 4, 1, 4)),  # no pixel is inside
    (16, 1, 9, (1, 2), (1, 4), (0, 2, 0, 3)),
    *[(24, 4, 3 * width, (3, 3), (3, 3), (1, 1, 1, 1)) for width in range(4, 20)],  # each rest of a row; half a vector
    (8, 9, 40, (3, 3), (3, 3), (1, 1, 1, 1)),
    (5, 9, 40, (3, 3), (3, 3), (1, 4, 1, 4)),
    (37, 13, 40, (7, 7), (2, 2), (3, 3, 3, 3)),  # seven taps at a time inside, in parts at edges and in tails
    (37, 25, 50, (7, 7), (3, 3), (3, 3, 3, 3)),
]


def test_depthwise_pixels(isa: str, rng: np.random.Generator) -> None:
    for channels, height, width, kernel, stride, padding in PIXELS:
        for batch, activation in ((1, "relu"), (2, "elu")):
            x, weight = floats(rng, batch, channels, height, width), floats(rng, channels, 1, *kernel)
            params, geometry = PARAMS[activation](channels), (stride, (1, 1), padding, channels)
            check(x, weight, floats(rng, channels), "nhwc", activation, params, geometry)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_groups_of_a_vector_by_winograd(isa: str, layout: Any) -> None:
    """3x3 without stride; images of few tiles and dilated rows are computed by others."""
    shape = (28, 28, 64) if layout == "nhwc" else (64, 28, 28)
    with pysimd.Convolution32f(shape, 64, kernel=3, padding=1, group=4, layout=layout) as context:
        if isa.startswith(("avx", "amx")):
            assert context.info.startswith("Winograd F(4,3)")
    with pysimd.Convolution32f((14, 14, 60), 60, kernel=3, padding=4, dilation=4, group=5, layout="nhwc") as context:
        if isa.startswith(("avx", "amx")):
            assert context.info.startswith("direct NHWC")


def test_large_depthwise_kernels_of_planes(isa: str) -> None:
    """NCHW: few channels are not converted, which would compute whole vectors of channels."""
    with pysimd.Convolution32f((9, 52, 26), 9, kernel=7, padding=3, group=9, layout="nchw") as context:
        assert context.info.startswith("base" if isa == "base" else "depthwise NCHW,")


# Channels, height, width, kernel, and whether planes are converted; few channels and short windows are not.
CONVERTED = [
    (256, 7, 7, (3, 3), True),
    (64, 20, 20, (7, 7), True),
    (96, 28, 28, (1, 3), False),
    (10, 19, 19, (11, 11), False),
    (10, 20, 30, (4, 4), False),
]


def test_converted_depthwise_planes(isa: str) -> None:
    for channels, height, width, kernel, converted in CONVERTED:
        y, x = ((size - 1) // 2 for size in kernel)
        shape = (channels, height, width)
        padding = (y, x, y, x)
        with pysimd.Convolution32f(
            shape, channels, kernel=kernel, padding=padding, group=channels, layout="nchw"
        ) as context:
            name = "depthwise NCHW by NHWC," if converted else "depthwise NCHW,"
            assert context.info.startswith("base" if isa == "base" else name), shape


@pytest.mark.parametrize("layout", LAYOUTS)
def test_geometries(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for src_c, dst_c, group, height, width, kernel, *geometry in CASES:
        x, weight = floats(rng, 2, src_c, height, width), floats(rng, dst_c, src_c // group, *kernel)
        check(x, weight, floats(rng, dst_c), layout, "identity", None, (*geometry, group))


@pytest.mark.parametrize("activation", PARAMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_activations(isa: str, rng: np.random.Generator, layout: Any, activation: Any) -> None:
    for group, kernel in [(1, 1), (1, 3), (6, 3)]:
        x, weight = floats(rng, 1, 6, 7, 9), floats(rng, 18, 6 // group, kernel, kernel) / 4
        for bias in (None, floats(rng, 18)):
            geometry = ((1, 1), (1, 1), (1, 1, 1, 1), group)
            check(x, weight, bias, layout, activation, PARAMS[activation](18), geometry)


@pytest.mark.parametrize("activation", ["identity", "restrict_range", "elu", "prelu"])
def test_few_outputs_of_short_rows(isa: str, rng: np.random.Generator, activation: Any) -> None:
    """NCHW: rows that fill no vectors are computed as one, with what lies between them, and copied."""
    for c, o, height, width, kernel, dilation, pad in [
        (40, 2, 10, 10, (2, 2), (1, 1), 1),
        (40, 3, 9, 9, (3, 3), (1, 1), 0),  # in place
        (24, 1, 7, 17, (3, 5), (2, 1), 2),
        (24, 4, 11, 18, (3, 3), (1, 2), 2),
        (6, 5, 17, 17, (3, 3), (1, 1), 1),  # in parts
        (4, 9, 19, 19, (3, 3), (1, 1), 1),
        (900, 2, 61, 20, (2, 2), (1, 1), 1),  # several bands
    ]:
        x, weight = floats(rng, 2, c, height, width), floats(rng, o, c, *kernel)
        params = PARAMS[activation](o)
        check(x, weight, floats(rng, o), "nchw", activation, params, ((1, 1), dilation, (pad,) * 4, 1))


def test_parts_of_large_images(isa: str, rng: np.random.Generator) -> None:
    """Several panels of outputs, and more pixels than meet all of them before the next ones."""
    x, weight, bias = floats(rng, 203, 207, 40), floats(rng, 1, 1, 40, 45), floats(rng, 45)
    context = pysimd.Convolution32f(x.shape, 45, kernel=1, activation="relu")
    context.set_params(weight, bias)
    expected = np.maximum(x.astype(np.float64) @ weight[0, 0] + bias, 0)
    bound = 1e-5 * (np.abs(x).astype(np.float64) @ np.abs(weight[0, 0]) + np.abs(bias))
    assert (np.abs(context.forward(x) - expected) <= bound).all()


@pytest.mark.parametrize("activation", ["identity", "restrict_range", "elu"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_winograd(isa: str, rng: np.random.Generator, layout: Any, activation: Any) -> None:
    """Many channels: for any algorithm, the error is within the bound of the header."""
    for c, o, height, width, padding, stride, kernel, dilation in [
        (16, 16, 14, 14, (1, 1, 1, 1), 1, (3, 3), (1, 1)),
        (64, 33, 6, 6, (1, 1, 1, 1), 1, (3, 3), (1, 1)),
        (40, 70, 4, 5, (0, 1, 2, 3), 1, (3, 3), (1, 1)),
        (33, 7, 9, 21, (0, 0, 0, 0), 1, (3, 3), (1, 1)),
        (128, 16, 7, 7, (1, 1, 1, 1), 1, (3, 3), (1, 1)),
        (300, 8, 30, 29, (3, 0, 1, 2), 1, (3, 3), (1, 1)),
        (64, 33, 32, 31, (1, 1, 1, 1), 2, (3, 3), (1, 1)),
        (40, 70, 16, 17, (0, 1, 2, 3), 2, (3, 3), (1, 1)),
        (128, 16, 7, 8, (1, 1, 1, 1), 2, (3, 3), (1, 1)),
        (64, 33, 17, 21, (2, 3, 2, 3), 1, (3, 3), (2, 3)),
        (40, 24, 13, 14, (6, 4, 5, 7), 1, (3, 3), (6, 5)),
        (32, 33, 9, 31, (0, 1, 0, 1), 1, (1, 3), (1, 1)),
        (32, 33, 30, 9, (2, 0, 3, 1), 1, (3, 1), (2, 1)),
        (48, 20, 7, 33, (1, 4, 0, 3), 1, (1, 5), (1, 2)),
        (48, 20, 21, 7, (2, 0, 2, 0), 1, (5, 1), (1, 1)),
        (40, 33, 15, 14, (2, 2, 2, 2), 1, (5, 5), (1, 1)),
    ]:
        x = rng.standard_normal((2, c, height, width)).astype(np.float32)
        weight = rng.standard_normal((o, c, *kernel)).astype(np.float32) / 8
        geometry = ((stride, stride), dilation, padding, 1)
        check(x, weight, floats(rng, o), layout, activation, PARAMS[activation](o), geometry)


@pytest.mark.parametrize("activation", PARAMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_addition(isa: str, rng: np.random.Generator, layout: Any, activation: Any) -> None:
    """After the bias and before the activation, for every algorithm: any stride, grouped, depthwise, few outputs."""
    winograd: list[tuple[int, int, int, int, int, Any, Any, Any, Any]] = [
        (64, 40, 1, 16, 17, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
        (64, 40, 1, 16, 17, (3, 3), (2, 2), (1, 1), (1, 1, 1, 1)),
        (64, 40, 1, 16, 17, (3, 3), (1, 1), (2, 2), (2, 2, 2, 2)),
        (64, 40, 1, 16, 17, (5, 1), (1, 1), (1, 1), (2, 0, 2, 0)),
    ]
    for c, o, group, height, width, kernel, stride, dilation, padding in [*CASES, *winograd]:
        x, weight, bias = floats(rng, 2, c, height, width), floats(rng, o, c // group, *kernel) / 8, floats(rng, o)
        params = PARAMS[activation](o)
        images = np.stack([reference.from_chw(image, layout) for image in x])
        options = dict(zip(GEOMETRY, (stride, dilation, padding)))
        shape = {"kernel": kernel, "group": group, "activation": activation, "layout": layout, **options}
        with pysimd.Convolution32f(images.shape, o, **shape) as context:
            context.set_params(in_layout(weight, layout), bias, params)
            add = floats(rng, *context.dst_shape)
            block = re.search(r"Winograd F\((\d),\d\)", context.info)
            y = context(images, add=add)
        for image, more, result in zip(x, add, y):
            sums, bound = reference.convolution(image, weight, bias, stride, dilation, padding, group)
            if block:
                bound = reference.winograd_bound(image, weight, bias, padding, int(block[1]), stride[0], dilation)
            more = reference.to_chw(more, layout)
            bound = bound + 2 * reference.EPS * (np.abs(sums) + np.abs(more)) + weight[0].size * reference.EPS * np.abs(more)
            expected = reference.activate(sums + more, activation, params, 0)
            bound = reference.activated(bound, activation, params, sums + more)
            assert_within(reference.to_chw(result, layout), expected, bound)


def test_addition_is_prepared_and_refused(rng: np.random.Generator) -> None:
    x, weight = floats(rng, 5, 6, 8), floats(rng, 3, 3, 8, 8)
    context = pysimd.Convolution32f(x.shape, 8, kernel=3, padding=1, activation="relu")
    context.set_params(weight)
    plain = pysimd.Convolution32f(x.shape, 8, kernel=3, padding=1)
    plain.set_params(weight)
    expected = np.maximum(plain(x) + x, 0)
    np.testing.assert_allclose(context(x, add=x), expected, atol=1e-5 * expected.max())
    call = pysimd.prepare(context.forward, x, add=x, out=np.zeros_like(x))
    np.testing.assert_array_equal(call(), context(x, add=x))
    buf = np.zeros(context.external_buffer_size, np.float32)
    np.testing.assert_array_equal(context(x, add=x, buf=buf), context(x, add=x))
    out = np.ones_like(x)
    assert_refused(context.forward, ValueError, "add has shape", out, x=x, add=np.ones((5, 6, 7), np.float32))
    assert_refused(context.forward, TypeError, "add", out, x=x, add=x.astype(np.float64))
    assert_refused(context.forward, ValueError, "overlaps add", out, x=x, add=out)


def test_algorithm_is_told() -> None:
    """The reported algorithm follows from the shape."""
    if pysimd.active_isa() == "base":
        pytest.skip("base has one algorithm")
    for size, channels, expected in [(56, 64, "F(4,3)"), (6, 64, "F(3,3)"), (4, 128, "F(2,3)")]:
        nhwc = pysimd.Convolution32f((size, size, channels), 64, kernel=3, padding=1)
        nchw = pysimd.Convolution32f((channels, size, size), 64, kernel=3, padding=1, layout="nchw")
        assert f"Winograd {expected}" in repr(nhwc)
        assert "Winograd" in repr(nchw)
    assert "direct" in repr(pysimd.Convolution32f((56, 56, 3), 64, kernel=3, padding=1))
    for size, expected in [(56, "F(4,3) of stride 2"), (8, "F(2,3) of stride 2")]:
        assert expected in repr(pysimd.Convolution32f((size, size, 64), 64, kernel=3, padding=1, stride=2))
    assert "direct" in repr(pysimd.Convolution32f((56, 56, 64), 64, kernel=3, padding=1, stride=(2, 1)))
    for kernel, expected in [
        ((1, 3), "F(6,3) of rows"),
        ((3, 1), "F(6,3) of columns"),
        ((1, 5), "F(4,5) of rows"),
        ((5, 1), "F(4,5) of columns"),
        ((5, 5), "F(2,5)"),
        ((1, 7), "F(2,7) of rows"),
        ((7, 1), "F(2,7) of columns"),
    ]:
        assert f"Winograd {expected}," in repr(pysimd.Convolution32f((28, 28, 64), 64, kernel=kernel, padding=1))
    assert "Winograd F(4,3) of rows," in repr(pysimd.Convolution32f((28, 8, 64), 64, kernel=(1, 3), padding=(0, 1)))
    assert "Winograd F(4,3)," in repr(pysimd.Convolution32f((56, 56, 64), 64, kernel=3, padding=4, dilation=4))
    assert "direct" in repr(pysimd.Convolution32f((56, 56, 64), 64, kernel=3, padding=2, dilation=2, stride=2))
    many = pysimd.Convolution32f((8, 16, 16), 1984, kernel=3, padding=1, stride=2, layout="nchw")
    assert "direct NCHW," in repr(many)  # short sums of many outputs are stored as planes
    far = repr(pysimd.Convolution32f((1456, 19, 19), 416, kernel=3, padding=1, stride=2, layout="nchw"))
    assert "direct NCHW by NHWC," in far or "tile 14x32" not in far  # each block would read all weights


@st.composite
def geometries(draw: Any) -> Any:
    small = st.integers(1, 3)
    kernel, stride, dilation = (draw(st.tuples(small, small)) for _ in range(3))
    padding = draw(st.tuples(*[st.integers(0, 3)] * 4))
    least = [max(1, dilation[i] * (kernel[i] - 1) + 1 - padding[i] - padding[i + 2]) for i in (0, 1)]
    height, width = draw(st.integers(least[0], least[0] + 9)), draw(st.integers(least[1], least[1] + 20))
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
        padding,
    )


@given(case=geometries(), layout=st.sampled_from(LAYOUTS), activation=st.sampled_from(sorted(PARAMS)))
def test_any_geometry(isa: str, case: Any, layout: Any, activation: Any) -> None:
    src_c, dst_c, group, height, width, kernel, *geometry = case
    rng = np.random.default_rng(3)
    x, weight = floats(rng, 1, src_c, height, width), floats(rng, dst_c, src_c // group, *kernel)
    check(x, weight, floats(rng, dst_c), layout, activation, PARAMS[activation](dst_c), (*geometry, group))


# ------------------------------------------------------------------------------------------------------ context


def example(rng: np.random.Generator, **options: Any) -> tuple[pysimd.Convolution32f, Array, Array]:
    """A context with weights, its input and its result."""
    context = pysimd.Convolution32f((2, 9, 10, 8), 12, kernel=3, padding=1, activation="prelu", **options)
    context.set_params(floats(rng, *context.weight_shape), floats(rng, 12), floats(rng, 12))
    x = floats(rng, 2, 9, 10, 8)
    return context, x, context(x)


def weights_of(context: pysimd.Convolution32f) -> Any:
    return context._given


def test_shapes_and_sizes(rng: np.random.Generator) -> None:
    context, _, y = example(rng)
    assert (context.src_shape, context.dst_shape, context.weight_shape) == ((2, 9, 10, 8), (2, 9, 10, 12), (3, 3, 8, 12))
    assert y.shape == context.dst_shape
    assert context.external_buffer_size >= 1
    assert context.internal_buffer_size >= 3 * 3 * 8 * 12
    nchw = pysimd.Convolution32f((8, 9, 10), 12, kernel=(3, 2), group=4, layout="nchw")
    assert (nchw.dst_shape, nchw.weight_shape) == ((12, 7, 9), (12, 2, 3, 2))
    assert pysimd.active_isa() in context.info
    assert repr(context).startswith("<pysimd.Convolution32f ")


def test_result_does_not_depend_on_batch_buffer_or_threads(isa: str, rng: np.random.Generator) -> None:
    context, x, y = example(rng)
    assert_same_however_called(context, x, y)
    weight, bias, params = weights_of(context)
    one = pysimd.convolution(x[1], weight, bias, padding=1, activation="prelu", params=params)
    assert np.array_equal(one, y[1])


@pytest.mark.parametrize(
    ("batch", "shape", "outputs", "kernel", "stride", "padding"),
    [
        (5, (256, 4, 4), 136, (1, 4), 1, (0, 1, 0, 2)),  # rows of a tile are lines of several images,
        (16, (256, 3, 3), 96, 4, 1, (1, 1, 2, 2)),  # pixels of several images,
        (3, (160, 7, 7), 150, 4, 2, 1),  # pixels of one image
        (4, (330, 4, 3), 220, 2, 1, 0),  # in place
    ],
)
def test_small_images_share_passes_over_many_weights(
    batch: int,
    shape: tuple[int, ...],
    outputs: int,
    kernel: Any,
    stride: int,
    padding: Any,
    isa: str,
    rng: np.random.Generator,
) -> None:
    def made(*src: int) -> pysimd.Convolution32f:
        return pysimd.Convolution32f(
            src, outputs, kernel=kernel, stride=stride, padding=padding, activation="relu", layout="nchw"
        )

    context, one = made(batch, *shape), made(*shape)
    assert isa == "base" or "direct NCHW by NHWC" in context.info
    weight, bias = floats(rng, *context.weight_shape), floats(rng, outputs)
    context.set_params(weight, bias)
    one.set_params(weight, bias)
    x, add = floats(rng, batch, *shape), floats(rng, *context.dst_shape)
    for threads in (1, 2):
        with pysimd.num_threads(threads):
            y, z = context(x), context(x, add=add)
        for i in range(batch):
            assert np.array_equal(y[i], one(x[i])), (threads, i)
            assert np.array_equal(z[i], one(x[i], add=add[i])), (threads, i)


@pytest.mark.parametrize(
    ("batch", "shape", "kernel", "padding", "group"),
    [
        (4, (1, 1, 96), (6, 3), (3, 1, 3, 1), 3),
        (9, (2, 1, 70), 3, 1, 1),
        (3, (3, 2, 64), (3, 2), 0, 2),
        (9, (1, 1, 70), (2, 1), (2, 0, 2, 0), 1),  # outputs of padding alone
    ],
)
def test_small_images_are_rows_of_a_tile(
    batch: int, shape: tuple[int, ...], kernel: Any, padding: Any, group: int, isa: str, rng: np.random.Generator
) -> None:
    def made(*src: int) -> pysimd.Convolution32f:
        return pysimd.Convolution32f(src, 96, kernel=kernel, padding=padding, group=group, activation="relu")

    context, one = made(batch, *shape), made(*shape)
    weight, bias = floats(rng, *context.weight_shape), floats(rng, 96)
    context.set_params(weight, bias)
    one.set_params(weight, bias)
    x, add = floats(rng, batch, *shape), floats(rng, *context.dst_shape)
    wide = np.zeros((*context.dst_shape[:3], 100), np.float32)
    for threads in (1, 2):
        with pysimd.num_threads(threads):
            y, z = context(x), context(x, add=add)
            context(x, out=wide[..., 2:98])
        assert np.array_equal(wide[..., 2:98], y)
        for i in range(batch):
            assert np.array_equal(y[i], one(x[i])), (isa, threads, i)
            assert np.array_equal(z[i], one(x[i], add=add[i])), (isa, threads, i)


def test_keeps_its_instruction_set(rng: np.random.Generator) -> None:
    with pysimd.max_isa("base"):
        context, x, y = example(rng)
    assert "base" in context.info
    assert np.array_equal(context(x), y)


def test_set_params_again(rng: np.random.Generator) -> None:
    context, x, y = example(rng)
    weight, bias, params = weights_of(context)
    context.set_params(weight * 2, bias * 2, params)
    assert np.array_equal(context(x), y * 2)
    weight[:] = 0  # the context has its own copy
    assert np.array_equal(context(x), y * 2)


def test_params_as_numbers(rng: np.random.Generator) -> None:
    x, weight = floats(rng, 5, 5, 3), floats(rng, 1, 1, 3, 4)
    cases: list[tuple[Any, Any]] = [("elu", 0.5), ("restrict_range", (-1, 1)), ("hswish", [3, 1 / 6])]
    for activation, numbers in cases:
        array = np.array(numbers, np.float32).reshape(-1)
        assert np.array_equal(
            pysimd.convolution(x, weight, activation=activation, params=numbers),
            pysimd.convolution(x, weight, activation=pysimd.Activation[activation.upper()], params=array),
        )


def test_close(rng: np.random.Generator) -> None:
    context, x, _ = example(rng)
    with context as same:
        assert same is context
    assert context.closed
    context.close()
    assert "closed" in repr(context)
    for use in (
        lambda: context(x),
        lambda: context.info,
        lambda: context.external_buffer_size,
        lambda: context.set_params(np.zeros((3, 3, 8, 12), np.float32)),
        lambda: context.__enter__(),
        lambda: pickle.dumps(context),
    ):
        with pytest.raises(pysimd.StateError, match="Convolution32f is closed"):
            use()
    with pytest.raises(pysimd.StateError, match="closed"):
        pysimd.Convolution32f.__new__(pysimd.Convolution32f)(x)  # as in a subclass whose __init__ failed early


def test_pickle(rng: np.random.Generator) -> None:
    context, x, y = example(rng)
    again = pickle.loads(pickle.dumps(context))
    assert again.info == context.info
    assert np.array_equal(again(x), y)
    bare = pickle.loads(pickle.dumps(pysimd.Convolution32f((5, 5, 3), 4, kernel=1)))
    with pytest.raises(pysimd.StateError):
        bare(np.zeros((5, 5, 3), np.float32))


def test_forward_before_set_params() -> None:
    context = pysimd.Convolution32f((5, 5, 3), 4, kernel=3)
    out = np.full((3, 3, 4), 7, np.float32)
    assert_refused(context.forward, pysimd.StateError, "call set_params", out, x=np.zeros((5, 5, 3), np.float32))


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_contexts_are_released() -> None:
    """Packed weights of 4 MB each, 18 times; released by close, by reference counting, or by the collector."""
    weight = np.ones((1, 1, 512, 2048), np.float32)

    def use(times: int) -> None:
        for turn in range(times):
            context = pysimd.Convolution32f((1, 1, 512), 2048, kernel=1)
            context.set_params(weight)
            if turn % 3 == 0:
                context.close()
            elif turn % 3 == 1:
                cycle: list[Any] = [context]
                cycle.append(cycle)
                del cycle
            del context
            gc.collect()

    use(3)
    before = resident_bytes()
    use(18)
    assert resident_bytes() - before < 5 * weight.nbytes


# ------------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"src_shape": (5, 5)}, ValueError, "src_shape is"),
        ({"src_shape": (5, 5, -1)}, ValueError, "src_shape is -1"),
        ({"dst_c": -1}, ValueError, "dst_c is -1"),
        ({"kernel": 0}, ValueError, "kernel is 0"),
        ({"kernel": 6}, ValueError, "kernel is 6"),
        ({"stride": 0}, ValueError, "stride is 0"),
        ({"dilation": 0}, ValueError, "dilation is 0"),
        ({"dilation": 5}, ValueError, "kernel is 6"),
        ({"padding": -1}, ValueError, "padding is -1"),
        ({"padding": 2**62}, ValueError, r"^padding\[0\] is .*, too large"),
        ({"padding": 2**63}, ValueError, "padding is too large for the height"),
        ({"src_shape": 5}, TypeError, "src_shape is 5, expected a tuple of integers"),
        ({"group": 0}, ValueError, "group is 0"),
        ({"group": 3}, ValueError, "group is 3, expected a divisor of 4 input and 6 output channels"),
        ({"activation": "tanhshrink"}, ValueError, "activation is 'tanhshrink'"),
        ({"activation": 11}, ValueError, "11"),
        ({"layout": "nchw8c"}, ValueError, "layout is 'nchw8c'"),
    ],
)
def test_refused_shape(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        pysimd.Convolution32f(**{"src_shape": (5, 5, 4), "dst_c": 6, "kernel": 2, **change})


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"weight": np.zeros((2, 2, 4, 6))}, TypeError, "weight has dtype float64"),
        ({"weight": np.zeros((6, 4, 2, 2), np.float32)}, ValueError, r"weight has shape \(6, 4, 2, 2\)"),
        ({"weight": np.zeros((2, 2, 6, 4), np.float32).swapaxes(2, 3)}, ValueError, "weight is not C-contiguous"),
        ({"bias": np.zeros(4, np.float32)}, ValueError, "bias has shape"),
        ({"bias": np.zeros(6)}, TypeError, "bias has dtype"),
        ({"params": {"low": 0}}, ValueError, "params has 'low', expected lower and upper for the activation restrict_range"),
        ({"params": 1.0}, ValueError, "params has shape"),
        ({"params": np.zeros(2)}, TypeError, "params has dtype float64"),
    ],
)
def test_refused_weights(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    context = pysimd.Convolution32f((5, 5, 4), 6, kernel=2, activation="restrict_range")
    with pytest.raises(error, match=sentence):
        context.set_params(**{"weight": np.zeros((2, 2, 4, 6), np.float32), "params": (0, 1), **change})
    with pytest.raises(pysimd.StateError):
        context(np.zeros((5, 5, 4), np.float32))


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": np.zeros((5, 5, 4))}, TypeError, "x has dtype float64"),
        ({"x": np.zeros((1, 5, 5, 4), np.float32)}, ValueError, "x has shape"),
        ({"x": np.zeros((5, 5, 8), np.float32)[:, :, ::2]}, ValueError, "x is not C-contiguous"),
        ({"buf": np.zeros(0, np.float32)}, ValueError, "buf has 0 elements"),
        ({"buf": np.zeros(10**6)}, TypeError, "dtype float64"),
    ],
)
def test_refused_forward(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    context = pysimd.Convolution32f((5, 5, 4), 6, kernel=2)
    context.set_params(np.zeros((2, 2, 4, 6), np.float32))
    arguments = {"x": np.zeros((5, 5, 4), np.float32), **change}
    assert_refused(context.forward, error, sentence, np.full((4, 4, 6), 7, np.float32), **arguments)


def test_refused_out() -> None:
    context = pysimd.Convolution32f((5, 5, 4), 6, kernel=2)
    context.set_params(np.zeros((2, 2, 4, 6), np.float32))
    x = np.zeros((5, 5, 4), np.float32)
    assert_refused(context.forward, ValueError, "out overlaps x", x.reshape(-1)[:96].reshape(4, 4, 6), x=x)
    assert_refused(context.forward, ValueError, "out has shape", np.zeros((4, 4, 4), np.float32), x=x)
    with pytest.raises(ValueError, match="weight has shape"):
        pysimd.convolution(x, np.zeros((2, 2, 4), np.float32))


def _random_layer(rng: np.random.Generator) -> dict[str, Any]:
    """A random layer, up to large ones, whose kernel need not fit its image."""
    kernel, dilation = int(rng.choice([1, 2, 3, 3, 3, 5, 7, 11])), int(rng.choice([1, 1, 1, 2, 4, 8]))
    c, o, h, w = (int(2 ** rng.uniform(0, limit)) for limit in (12, 11, 10, 12))
    group = int(rng.choice([1, 1, 4, c]))
    c, o = (c, c) if group == c else (c * group, o * group)
    layout = str(rng.choice(["nhwc", "nchw"]))
    return {
        "src_shape": (h, w, c) if layout == "nhwc" else (c, h, w),
        "dst_c": o,
        "kernel": kernel,
        "dilation": dilation,
        "stride": int(rng.integers(1, 5)),
        "padding": dilation * (kernel - 1) - int(rng.integers(0, kernel)) * dilation // 2,
        "group": group,
        "layout": layout,
    }


def test_workspace_is_a_band_and_two_megabytes(isa: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        layer = _random_layer(rng)
        h, w, c = layer["src_shape"] if layer["layout"] == "nhwc" else (*layer["src_shape"][1:], layer["src_shape"][0])
        span, pad = layer["dilation"] * (layer["kernel"] - 1) + 1, layer["padding"]
        if min(h, w) + 2 * pad < span:
            continue
        # The lines that one output needs, or a row of tiles; padding of lines and pixels takes less than that.
        band = max(span, 6) * (w + 2 * pad + 16) * (c + 16)
        for shape in (layer["src_shape"], (3, *layer["src_shape"])):
            with pysimd.Convolution32f(**{**layer, "src_shape": shape}) as convolution:
                assert convolution.external_buffer_size * 4 <= (2 << 20) + 2 * band * 4, (layer, convolution.info)
