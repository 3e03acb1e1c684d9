"""Quantised convolution on every instruction set against the reference, bit for bit; statistics; invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_convolution import CASES, LAYOUTS, geometries, in_layout

import pysimd
from support import PARAMS, Array, assert_refused, assert_same_however_called, floats, reference

DTYPES = [np.float32, np.uint8]


def statistics_of(rng: np.random.Generator, channels: int, size: float, signed: bool) -> pysimd.Statistics:
    high = (size * rng.uniform(0.1, 1, channels)).astype(np.float32)
    low = (-size * rng.uniform(0, 1, channels)).astype(np.float32) if signed else np.zeros(channels, np.float32)
    return pysimd.Statistics(low, high)


def check(rng: np.random.Generator, case: Any, layout: Any, activation: Any, types: tuple[Any, Any], signed: bool) -> None:
    """Compares a batch of two images with the reference."""
    src_c, dst_c, group, height, width, kernel, *geometry = case
    stride, dilation, padding = geometry
    weight, bias = floats(rng, dst_c, src_c // group, *kernel), floats(rng, dst_c)
    weight[0] *= rng.integers(0, 4) != 0  # sometimes a filter of zeros
    params = PARAMS[activation](dst_c)
    seen = statistics_of(rng, src_c, 4, signed)
    given_ = statistics_of(rng, dst_c, 20, activation != "relu")
    if types[0] == np.uint8:
        x = rng.integers(0, 256, (2, src_c, height, width), np.uint8)
    else:
        x = floats(rng, 2, src_c, height, width)
    options = {"stride": stride, "dilation": dilation, "padding": padding, "group": group, "activation": activation}
    images = np.stack([reference.from_chw(image, layout) for image in x])
    with pysimd.Convolution8i(
        images.shape, dst_c, kernel=kernel, layout=layout, src_dtype=types[0], dst_dtype=types[1], **options
    ) as context:
        context.set_params(in_layout(weight, layout), bias, params, seen, given_)
        y = context(images)
    assert y.dtype == types[1]
    stats = (seen.min, seen.max, given_.min, given_.max)
    for image, result in zip(x, y):
        expected = reference.convolution_8i(
            image, weight, bias, stats, (stride, dilation, padding, group), activation, params, types[1]
        )
        result = reference.to_chw(result, layout)
        if activation in ("elu", "mish", "swish", "gelu", "sigmoid"):
            near = 1 if types[1] == np.uint8 else 6 * np.spacing(np.abs(expected))
            assert (np.abs(result.astype(np.float64) - expected) <= near).all()
        else:
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_geometries(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for number, case in enumerate(CASES):
        for types in ((np.uint8, np.uint8), (DTYPES[number % 2], DTYPES[number // 2 % 2])):
            check(rng, case, layout, "identity", types, number % 3 > 0)


def test_few_channels_of_one_tap(isa: str, rng: np.random.Generator) -> None:
    """One row of results in a vector, or several."""
    for src_c, dst_c in ((14, 14), (16, 9), (12, 3), (10, 16), (3, 3), (4, 8), (2, 1)):
        case = (src_c, dst_c, 1, 5, 31, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0))
        check(rng, case, "nhwc", "identity", (np.uint8, np.uint8), signed=True)


@pytest.mark.parametrize("dst", DTYPES)
@pytest.mark.parametrize("src", DTYPES)
@pytest.mark.parametrize("activation", PARAMS)
def test_activations_and_types(isa: str, rng: np.random.Generator, activation: Any, src: Any, dst: Any) -> None:
    for layout in LAYOUTS:
        for signed in (False, True):
            case = (6, 18, 1, 7, 9, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1))
            check(rng, case, layout, activation, (src, dst), signed)
            check(rng, (18, 18, 18, *case[3:]), layout, activation, (src, dst), signed)


@given(
    case=geometries(),
    layout=st.sampled_from(LAYOUTS),
    activation=st.sampled_from(sorted(PARAMS)),
    types=st.tuples(st.sampled_from(DTYPES), st.sampled_from(DTYPES)),
    signed=st.booleans(),
)
def test_any_geometry(isa: str, case: Any, layout: Any, activation: Any, types: Any, signed: bool) -> None:
    check(np.random.default_rng(3), case, layout, activation, types, signed)


def test_nothing_saturates(isa: str) -> None:
    """The largest possible products, in pairs and groups of four, with sums of more than 16 bits."""
    for c in (1, 2, 3, 4, 7, 64, 300):
        stats = pysimd.Statistics(np.zeros(c, np.float32), np.full(c, 255, np.float32))
        results = pysimd.Statistics(np.full(5, -1, np.float32), np.ones(5, np.float32))
        weight = np.ones((1, 1, c, 5), np.float32)
        weight[..., 1] *= -1
        with pysimd.Convolution8i((3, 7, c), 5, kernel=1, dst_dtype=np.float32) as context:
            context.set_params(weight, src_stats=stats, dst_stats=results)
            y = context(np.full((3, 7, c), 255, np.uint8))
        np.testing.assert_allclose(y, np.broadcast_to(255 * c * np.array([1, -1, 1, 1, 1]), y.shape), rtol=1e-6)


def test_special_floats(isa: str) -> None:
    """NaN becomes byte 0; infinities become the smallest and largest byte."""
    x = np.array([[[np.nan, np.inf, -np.inf, 0.25]]], np.float32)
    for low, expected in ((0, [0, 255, 0, 64]), (-1, [0, 255, 0, 160])):
        stats = pysimd.Statistics(np.full(4, low, np.float32), np.ones(4, np.float32))
        assert pysimd.quantize(x, stats)[0, 0].tolist() == expected
        with pysimd.Convolution8i((1, 1, 4), 4, kernel=1, group=4, src_dtype=np.float32, dst_dtype=np.uint8) as context:
            context.set_params(np.ones((1, 1, 1, 4), np.float32), src_stats=stats, dst_stats=stats)
            np.testing.assert_allclose(context(x)[0, 0], expected, atol=1)


def test_near_to_float(rng: np.random.Generator) -> None:
    """The purpose of it: the result is close to that of the float convolution."""
    x = rng.standard_normal((20, 21, 24), dtype=np.float32)
    weight, bias = rng.standard_normal((3, 3, 24, 40), dtype=np.float32) * np.float32(0.1), floats(rng, 40)
    exact = pysimd.convolution(x, weight, bias, padding=1, activation="relu")
    seen, given_ = pysimd.statistics(x), pysimd.statistics(exact)
    with pysimd.Convolution8i(x.shape, 40, kernel=3, padding=1, activation="relu") as context:
        context.set_params(weight, bias, src_stats=seen, dst_stats=given_)
        y = pysimd.dequantize(context(pysimd.quantize(x, seen)), given_)
    assert np.abs(y - exact).max() < 0.03 * exact.max()


# ------------------------------------------------------------------------------------------------------ context


def example(rng: np.random.Generator) -> tuple[pysimd.Convolution8i, Array, Array]:
    context = pysimd.Convolution8i((2, 9, 10, 8), 12, kernel=3, padding=1, activation="prelu")
    stats = statistics_of(rng, 8, 2, True), statistics_of(rng, 12, 9, True)
    context.set_params(floats(rng, *context.weight_shape), floats(rng, 12), floats(rng, 12), *stats)
    x = rng.integers(0, 256, (2, 9, 10, 8), np.uint8)
    return context, x, context(x)


def test_result_does_not_depend_on_buffer_threads_or_pickle(isa: str, rng: np.random.Generator) -> None:
    context, x, y = example(rng)
    assert context.internal_buffer_size > 3 * 3 * 8 * 12
    assert_same_however_called(context, x, y, np.uint8)


def test_forward_before_set_params() -> None:
    context = pysimd.Convolution8i((5, 5, 3), 4, kernel=3)
    out = np.full((3, 3, 4), 7, np.uint8)
    assert_refused(context.forward, pysimd.StateError, "call set_params", out, x=np.zeros((5, 5, 3), np.uint8))


# --------------------------------------------------------------------------------------------------- statistics


def test_statistics_and_bytes(rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 5, 6, 4), dtype=np.float32)
    whole, parts = pysimd.statistics(x), pysimd.statistics(list(x))
    planes = pysimd.statistics(np.ascontiguousarray(np.moveaxis(x, -1, 1)), layout="nchw")
    for stats in (whole, parts, planes):
        assert np.array_equal(stats.min, x.min(axis=(0, 1, 2)))
        assert np.array_equal(stats.max, x.max(axis=(0, 1, 2)))
    scale, zero = reference.quantisation(whole.min, whole.max)
    assert np.array_equal(whole.scale, scale)
    assert whole.zero == zero == 128
    bytes_ = pysimd.quantize(x, whole)
    assert np.array_equal(bytes_, reference.to_bytes(x * scale + zero))
    assert np.abs(pysimd.dequantize(bytes_, whole) - x).max() <= 0.51 * whole.step.max()
    turned = pysimd.quantize(np.ascontiguousarray(np.moveaxis(x, -1, 1)), whole, layout="nchw")
    assert np.array_equal(np.moveaxis(turned, 1, -1), bytes_)
    assert pysimd.statistics(np.abs(x)).zero == 0
    assert pysimd.statistics(np.zeros((2, 2), np.float32)).step.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: pysimd.statistics([]), ValueError, "samples is empty"),
        (lambda: pysimd.statistics(np.zeros((2, 2))), TypeError, "samples has dtype float64"),
        (lambda: pysimd.statistics(np.zeros((0, 2), np.float32)), ValueError, r"samples has shape \(0, 2\)"),
        (lambda: pysimd.statistics(np.zeros((2, 2), np.float32), layout="nchw"), ValueError, "C, H, W"),
        (lambda: pysimd.statistics([np.zeros((1, 2), np.float32), np.zeros((1, 3), np.float32)]), ValueError, "2 and 3"),
        (lambda: pysimd.statistics(np.full((2, 2), np.nan, np.float32)), ValueError, "infinity or a NaN"),
        (
            lambda: pysimd.quantize(np.zeros((2, 3), np.float32), pysimd.statistics(np.zeros((2, 2), np.float32))),
            ValueError,
            "expected 2 channels at axis -1",
        ),
        (
            lambda: pysimd.dequantize(np.zeros((2, 2)), pysimd.statistics(np.zeros((2, 2), np.float32))),  # type: ignore[arg-type]
            TypeError,
            "x has dtype float64",
        ),
    ],
)
def test_refused_samples(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        call()


def singles(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("low", "high", "error", "sentence"),
    [
        (singles(0, 2), singles(1, 1), ValueError, "stats.min of channel 1 is 2, expected at most the maximum"),
        (singles(0, np.nan), singles(1, 1), ValueError, "stats.min contains an infinity or NaN"),
        (singles(0, 0), singles(1, np.inf), ValueError, "stats.max contains an infinity or NaN"),
        (np.zeros(2), singles(1, 1), TypeError, "stats.min has dtype float64"),
        (singles(0, 0), singles(1), ValueError, r"stats.max has shape \(1,\), expected one value for each of 2"),
        (np.zeros((1, 2), np.float32), singles(1, 1), ValueError, "stats.min has shape"),
        (None, singles(1, 1), TypeError, "stats.min is"),
    ],
)
def test_refused_statistics(low: Any, high: Any, error: type[Exception], sentence: str) -> None:
    stats = pysimd.Statistics(low, high)
    with pytest.raises(error, match=sentence):
        pysimd.quantize(np.zeros((2, 2), np.float32), stats)
    with pytest.raises(error, match=sentence):
        pysimd.dequantize(np.zeros((2, 2), np.uint8), stats)
    with pytest.raises((error, ValueError)):
        pysimd.Convolution8i((2, 2, 2), 1, kernel=1).set_params(
            np.zeros((1, 1, 2, 1), np.float32), src_stats=stats, dst_stats=pysimd.Statistics(singles(0), singles(1))
        )


def test_other_than_statistics_are_refused() -> None:
    with pytest.raises(TypeError, match=r"stats is a tuple, expected pysimd\.Statistics"):
        pysimd.quantize(np.zeros((2, 2), np.float32), (0, 1))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"src_dtype": np.float64}, TypeError, "src_dtype has dtype float64, expected float32 or uint8"),
        ({"dst_dtype": "bfloat16"}, TypeError, "dst_dtype has dtype bfloat16"),
        ({"kernel": 6}, ValueError, "kernel is 6"),
        ({"group": 3}, ValueError, "group is 3"),
        ({"padding": 2**62}, ValueError, r"^padding\[0\] is .*, too large"),
    ],
)
def test_refused_shape(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        pysimd.Convolution8i(**{"src_shape": (5, 5, 4), "dst_c": 6, "kernel": 2, **change})


def stats_with(channels: int, low: float, high: float) -> pysimd.Statistics:
    """Valid statistics, except for the last channel."""
    minima, maxima = np.zeros(channels, np.float32), np.ones(channels, np.float32)
    minima[-1], maxima[-1] = low, high
    return pysimd.Statistics(minima, maxima)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"weight": np.zeros((2, 2, 4, 6))}, TypeError, "weight has dtype float64"),
        (
            {"weight": np.full((2, 2, 4, 6), np.nan, np.float32)},
            ValueError,
            "weight of output channel 0 is -?nan, expected finite",
        ),
        ({"bias": np.full(6, np.inf, np.float32)}, ValueError, "bias of output channel 0 is inf, expected a finite number"),
        ({"params": 1.0}, ValueError, "params has shape"),
        ({"src_stats": None}, TypeError, "src_stats is None, expected pysimd.Statistics"),
        ({"src_stats": stats_with(3, 0, 1)}, ValueError, "src_stats.min has shape"),
        ({"src_stats": stats_with(4, 2, 1)}, ValueError, "src_stats.min of channel 3 is 2, expected at most the maximum"),
        ({"src_stats": stats_with(4, np.nan, 1)}, ValueError, "src_stats.min contains an infinity or NaN"),
        ({"dst_stats": stats_with(6, 0, np.inf)}, ValueError, "dst_stats.max contains an infinity or NaN"),
    ],
)
def test_refused_weights(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    context = pysimd.Convolution8i((5, 5, 4), 6, kernel=2, activation="restrict_range")
    good = {"weight": np.zeros((2, 2, 4, 6), np.float32), "bias": None, "params": (0, 1)}
    stats = {"src_stats": stats_with(4, 0, 1), "dst_stats": stats_with(6, 0, 1)}
    with pytest.raises(error, match=sentence):
        context.set_params(**{**good, **stats, **change})
    with pytest.raises(pysimd.StateError):
        context(np.zeros((5, 5, 4), np.uint8))


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": np.zeros((5, 5, 4), np.float32)}, TypeError, "x has dtype float32"),
        ({"x": np.zeros((1, 5, 5, 4), np.uint8)}, ValueError, "x has shape"),
        ({"x": np.zeros((5, 5, 8), np.uint8)[:, :, ::2]}, ValueError, "x is not C-contiguous"),
        ({"buf": np.zeros(0, np.uint8)}, ValueError, "buf has 0 elements"),
        ({"buf": np.zeros(10**6, np.float32)}, TypeError, "dtype float32"),
    ],
)
def test_refused_forward(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    context = pysimd.Convolution8i((5, 5, 4), 6, kernel=2)
    context.set_params(np.zeros((2, 2, 4, 6), np.float32), None, None, stats_with(4, 0, 1), stats_with(6, 0, 1))
    arguments = {"x": np.zeros((5, 5, 4), np.uint8), **change}
    assert_refused(context.forward, error, sentence, np.full((4, 4, 6), 7, np.uint8), **arguments)
    x = np.zeros((5, 5, 4), np.uint8)
    assert_refused(context.forward, ValueError, "out overlaps x", x.reshape(-1)[:96].reshape(4, 4, 6), x=x)
    assert_refused(context.forward, TypeError, "out has dtype", np.zeros((4, 4, 6), np.float32), x=x)
