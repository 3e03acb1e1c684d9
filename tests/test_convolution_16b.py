"""Convolution of bfloat16 numbers on every instruction set against the reference; conversions; invalid arguments."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_convolution import CASES, LAYOUTS, geometries, in_layout

import pysimd
from support import PARAMS, Array, assert_refused, assert_same_however_called, floats, reference

DTYPES = ["float32", "bfloat16"]


def check(rng: np.random.Generator, case: Any, layout: Any, activation: Any, types: tuple[str, str]) -> None:
    """Compares a batch of two images with the reference."""
    src_c, dst_c, group, height, width, kernel, *geometry = case
    stride, dilation, padding = geometry
    weight, bias = floats(rng, dst_c, src_c // group, *kernel), floats(rng, dst_c)
    params = PARAMS[activation](dst_c)
    x = floats(rng, 2, src_c, height, width)
    if types[0] == "bfloat16":
        x = reference.to_bfloat16(x)
    images = np.stack([reference.from_chw(image, layout) for image in x])
    with pysimd.Convolution16b(
        images.shape,
        dst_c,
        kernel=kernel,
        stride=stride,
        dilation=dilation,
        padding=padding,
        group=group,
        activation=activation,
        layout=layout,
        src_dtype=types[0],
        dst_dtype=types[1],
    ) as context:
        context.set_params(in_layout(weight, layout), bias, params)
        y = context(images)
    small = types[1] == "bfloat16"
    assert y.dtype == (np.uint16 if small else np.float32)
    for image, result in zip(x, y):
        expected, bound = reference.convolution_16b(
            image, weight, bias, (stride, dilation, padding, group), activation, params, small, layout
        )
        result = reference.to_chw(reference.from_bfloat16(result) if small else result, layout)
        assert (np.abs(result - expected) <= bound).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_geometries(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for number, case in enumerate(CASES):
        for types in (("bfloat16", "bfloat16"), (DTYPES[number % 2], DTYPES[number // 2 % 2])):
            check(rng, case, layout, "identity", types)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_many_channels_of_one_tap(isa: str, rng: np.random.Generator, layout: Any) -> None:
    """Pixels may be copied with gaps between them."""
    for channels, stride in ((515, 1), (515, 3), (528, 1)):
        case = (channels, 150, 1, 7, 19, (1, 1), (stride, stride), (1, 1), (0, 0, 0, 0))
        check(rng, case, layout, "identity", ("bfloat16", "bfloat16"))


@pytest.mark.parametrize("dst", DTYPES)
@pytest.mark.parametrize("src", DTYPES)
@pytest.mark.parametrize("activation", PARAMS)
def test_activations_and_types(isa: str, rng: np.random.Generator, activation: Any, src: str, dst: str) -> None:
    for layout in LAYOUTS:
        case = (5, 18, 1, 7, 9, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1))
        check(rng, case, layout, activation, (src, dst))
        check(rng, (18, 18, 18, *case[3:]), layout, activation, (src, dst))


@given(
    case=geometries(),
    layout=st.sampled_from(LAYOUTS),
    activation=st.sampled_from(sorted(PARAMS)),
    types=st.tuples(st.sampled_from(DTYPES), st.sampled_from(DTYPES)),
)
def test_any_geometry(isa: str, case: Any, layout: Any, activation: Any, types: Any) -> None:
    check(np.random.default_rng(3), case, layout, activation, types)


def test_infinities_stay_where_they_belong(isa: str) -> None:
    """Odd numbers of inputs, also in groups: an infinity does not affect its neighbours, although pairs are multiplied."""
    cases: list[tuple[int, Any]] = [(1, "nhwc"), (3, "nhwc"), (1, "nchw"), (3, "nchw")]
    for group, layout in cases:
        x = np.zeros((3 * group, 4, 5), np.float32)
        x[0, 1, 2] = np.inf
        images = reference.to_bfloat16(reference.from_chw(x, layout))
        weight = np.ones((group, 3, 1, 1), np.float32)
        with pysimd.Convolution16b(images.shape, group, kernel=1, group=group, layout=layout) as context:
            context.set_params(in_layout(weight, layout))
            y = reference.to_chw(reference.from_bfloat16(context(images)), layout)
        expected = np.zeros((group, 4, 5), np.float32)
        expected[0, 1, 2] = np.inf
        assert np.array_equal(y, expected)


def test_near_to_float(isa: str, rng: np.random.Generator) -> None:
    x = rng.standard_normal((20, 21, 24), dtype=np.float32)
    weight, bias = rng.standard_normal((3, 3, 24, 40), dtype=np.float32) * np.float32(0.1), floats(rng, 40)
    exact = pysimd.convolution(x, weight, bias, padding=1, activation="relu")
    with pysimd.Convolution16b(x.shape, 40, kernel=3, padding=1, activation="relu") as context:
        context.set_params(weight, bias)
        y = pysimd.from_bfloat16(context(pysimd.to_bfloat16(x)))
    assert np.abs(y - exact).max() < 0.01 * exact.max()


# -------------------------------------------------------------------------------------------------- conversions


def test_every_bfloat16_and_what_lies_around_it() -> None:
    numbers = np.arange(65536, dtype=np.uint32)
    small = numbers.astype(np.uint16)
    wide = pysimd.from_bfloat16(small)
    assert wide.dtype == np.float32
    assert np.array_equal(wide.view(np.uint32), numbers << 16)
    assert np.array_equal(pysimd.from_bfloat16(small.view(ml_dtypes.bfloat16)).view(np.uint32), numbers << 16)
    for low in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF):
        x = (numbers << 16 | np.uint32(low)).view(np.float32)
        actual, expected = pysimd.to_bfloat16(x), reference.to_bfloat16(x)
        nan = np.isnan(x)
        assert np.array_equal(actual[~nan], expected[~nan])
        assert np.isnan(pysimd.from_bfloat16(actual)[nan]).all()
        # and through the library, in a layer with one tap that changes nothing
        with pysimd.Convolution16b((256, 256, 1), 1, kernel=1, src_dtype="float32") as context:
            context.set_params(np.ones((1, 1, 1, 1), np.float32))
            through = context(x.reshape(256, 256, 1)).ravel()
        expected[expected == 0x8000] = 0  # -0 + 0 is 0
        assert np.array_equal(through[~nan], expected[~nan])


def test_conversions_keep_shapes(rng: np.random.Generator) -> None:
    x = floats(rng, 3, 4, 5)
    assert np.array_equal(pysimd.to_bfloat16(x[:, ::2]), reference.to_bfloat16(x)[:, ::2])
    assert pysimd.from_bfloat16(pysimd.to_bfloat16(x)[:, ::2]).shape == (3, 2, 5)
    turned = pysimd.from_bfloat16(pysimd.to_bfloat16(x).T)
    assert turned.shape == (5, 4, 3) and turned.flags.c_contiguous  # as all functions require
    assert isinstance(pysimd.from_bfloat16(np.array(0x3F80, np.uint16)), np.ndarray)
    with pytest.raises(TypeError, match="x has dtype float64"):
        pysimd.to_bfloat16(np.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="x has dtype float32"):
        pysimd.from_bfloat16(x)


# ------------------------------------------------------------------------------------------------------ context


def example(rng: np.random.Generator) -> tuple[pysimd.Convolution16b, Array, Array]:
    context = pysimd.Convolution16b((2, 9, 10, 7), 12, kernel=3, padding=1, activation="prelu")
    context.set_params(floats(rng, *context.weight_shape), floats(rng, 12), floats(rng, 12))
    x = pysimd.to_bfloat16(floats(rng, 2, 9, 10, 7))
    return context, x, context(x)


def test_result_does_not_depend_on_buffer_threads_or_pickle(isa: str, rng: np.random.Generator) -> None:
    context, x, y = example(rng)
    assert isa in repr(context)
    assert context.internal_buffer_size > 2 * 3 * 3 * 7 * 12
    assert_same_however_called(context, x, y, np.uint8)


#: Few channels in a group: channels, results, groups, height, width, kernel, layout.
BY_FLOATS: list[Any] = [
    (3, 3, 1, 20, 90, (5, 5), "nchw"),
    (9, 9, 3, 130, 160, (3, 3), "nchw"),
    (20, 40, 20, 14, 17, (3, 3), "nchw"),
    (17, 1, 1, 21, 19, (9, 9), "nhwc"),
    (2, 2, 2, 12, 45, (3, 3), "nhwc"),  # depthwise
    (1, 1, 1, 9, 30, (5, 3), "nhwc"),
]


@pytest.mark.parametrize("case", BY_FLOATS)
def test_by_floats(isa: str, rng: np.random.Generator, case: Any) -> None:
    """Some images at a time: all if they are small, one of the larger ones."""
    src_c, dst_c, group, height, width, kernel, layout = case
    padding = (kernel[0] // 2, kernel[1] // 2, kernel[0] // 2, kernel[1] // 2)
    for types in ((a, b) for a in DTYPES for b in DTYPES):
        check(rng, (src_c, dst_c, group, height, width, kernel, (1, 1), (1, 1), padding), layout, "prelu", types)
    shape = (5, src_c, height, width) if layout == "nchw" else (5, height, width, src_c)
    with pysimd.Convolution16b(shape, dst_c, kernel=kernel, padding=padding, group=group, layout=layout) as context:
        assert ("by floats" in context.info) == (isa != "base")
        context.set_params(floats(rng, *context.weight_shape), floats(rng, dst_c))
        x = pysimd.to_bfloat16(floats(rng, *shape))
        y = context(x)
        assert_same_however_called(context, x, y, np.uint8)
    with pysimd.preference("memory"):
        context = pysimd.Convolution16b(shape, dst_c, kernel=kernel, padding=padding, group=group, layout=layout)
    assert "by floats" not in context.info


def test_ml_dtypes_come_back(rng: np.random.Generator) -> None:
    context, x, y = example(rng)
    given_back = context(x.view(ml_dtypes.bfloat16))
    assert given_back.dtype == ml_dtypes.bfloat16
    assert np.array_equal(given_back.view(np.uint16), y)


def test_forward_before_set_params() -> None:
    context = pysimd.Convolution16b((5, 5, 3), 4, kernel=3)
    out = np.full((3, 3, 4), 7, np.uint16)
    assert_refused(context.forward, pysimd.StateError, "call set_params", out, x=np.zeros((5, 5, 3), np.uint16))


# ------------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"src_dtype": np.float64}, TypeError, "src_dtype has dtype float64, expected float32 or bfloat16"),
        ({"dst_dtype": np.uint8}, TypeError, "dst_dtype has dtype uint8"),
        ({"kernel": 6}, ValueError, "kernel is 6"),
        ({"group": 3}, ValueError, "group is 3"),
        ({"padding": 2**62}, ValueError, r"^padding\[0\] is .*, too large"),
    ],
)
def test_refused_shape(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        pysimd.Convolution16b(**{"src_shape": (5, 5, 4), "dst_c": 6, "kernel": 2, **change})


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"weight": np.zeros((2, 2, 4, 6))}, TypeError, "weight has dtype float64"),
        ({"weight": np.zeros((2, 2, 4, 6), np.uint16)}, TypeError, "weight has dtype uint16"),
        ({"bias": np.zeros(5, np.float32)}, ValueError, "bias has shape"),
        ({"params": 1.0}, ValueError, "params has shape"),
    ],
)
def test_refused_weights(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    context = pysimd.Convolution16b((5, 5, 4), 6, kernel=2, activation="restrict_range")
    good: dict[str, Any] = {"weight": np.zeros((2, 2, 4, 6), np.float32), "bias": None, "params": (0, 1)}
    with pytest.raises(error, match=sentence):
        context.set_params(**{**good, **change})
    with pytest.raises(pysimd.StateError):
        context(np.zeros((5, 5, 4), np.uint16))


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": np.zeros((5, 5, 4), np.float32)}, TypeError, "x has dtype float32"),
        ({"x": np.zeros((1, 5, 5, 4), np.uint16)}, ValueError, "x has shape"),
        ({"x": np.zeros((5, 5, 8), np.uint16)[:, :, ::2]}, ValueError, "x is not C-contiguous"),
        ({"buf": np.zeros(0, np.uint8)}, ValueError, "buf has 0 elements"),
        ({"buf": np.zeros(10**6, np.float32)}, TypeError, "dtype float32"),
    ],
)
def test_refused_forward(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    context = pysimd.Convolution16b((5, 5, 4), 6, kernel=2)
    context.set_params(np.zeros((2, 2, 4, 6), np.float32))
    arguments = {"x": np.zeros((5, 5, 4), np.uint16), **change}
    assert_refused(context.forward, error, sentence, np.full((4, 4, 6), 7, np.uint16), **arguments)
    x = np.zeros((5, 5, 4), np.uint16)
    assert_refused(context.forward, ValueError, "out overlaps x", x.reshape(-1)[:96].reshape(4, 4, 6), x=x)
    assert_refused(context.forward, TypeError, "out has dtype", np.zeros((4, 4, 6), np.float32), x=x)
