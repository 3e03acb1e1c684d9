"""Convolution of quantised bytes on every instruction set against the formula, bit for bit; ties, extremes, refusals."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from test_convolution import CASES, LAYOUTS, in_layout

import pysimd
from support import PARAMS, Array, reference

F = np.float32


def nearest(v: Array, zero: int) -> Array:
    rounded: Array = np.nan_to_num(np.clip(np.rint(v) + zero, 0, 255), nan=0.0)
    return rounded


def expected(x: Array, w: Array, scale: Array, linears: Any, bias: Array, geometry: Any, act: str, params: Any) -> Array:
    """One image (C, H, W), weights (O, C / group, ky, kx), by the header's formula."""
    stride, dilation, pad, group = geometry
    (s0, z0), (s1, z1), (s2, z2) = linears
    sums = reference.convolution(x.astype(np.int64) - z0, w.astype(np.int64), None, stride, dilation, pad, group)[0]
    total = (sums + bias[:, None, None]).astype(F)
    norm = (F(s0) * scale) / F(s2 if act == "identity" else s1)
    v = total * norm[:, None, None]
    if act == "identity":
        return nearest(v, z2)
    middle = (nearest(v, z1) - z1).astype(F) * F(s1)
    activated = reference.activate(middle, act, params, 0).astype(F)
    return nearest(activated * (F(1) / F(s2)), z2)


def check(rng: np.random.Generator, case: Any, layout: Any, act: str, zeros: tuple[int, int, int]) -> None:
    src_c, dst_c, group, height, width, kernel, *geometry = case
    stride, dilation, padding = geometry
    weight = rng.integers(-128, 128, (dst_c, src_c // group, *kernel), np.int8)
    scale = rng.uniform(0.001, 0.01, dst_c).astype(F)
    bias = rng.integers(-9999, 9999, dst_c, np.int32)
    linears = tuple(zip((0.0625, 0.5, 0.4), zeros))
    x = rng.integers(0, 256, (2, src_c, height, width), np.uint8)
    images = np.stack([reference.from_chw(image, layout) for image in x])
    params = PARAMS[act](dst_c)
    options = {"stride": stride, "dilation": dilation, "padding": padding, "group": group, "activation": act}
    with pysimd.QuantizedConvolution(images.shape, dst_c, kernel=kernel, layout=layout, **options) as context:
        context.set_params(in_layout(weight, layout), scale, linears[0], linears[2], bias, params, linears[1])
        y = context(images)
    for image, result in zip(x, y):
        want = expected(image, weight, scale, linears, bias, (stride, dilation, padding, group), act, params)
        near = act in ("elu", "mish", "swish", "gelu", "sigmoid", "hswish")  # NumPy's functions may round otherwise
        difference = np.abs(reference.to_chw(result, layout).astype(int) - want)
        assert difference.max(initial=0) <= near, (case, act)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_geometries(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for number, case in enumerate(CASES):
        check(rng, case, layout, "identity", [(0, 0, 0), (255, 9, 255), (121, 0, 7)][number % 3])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_many_channels_of_one_tap(isa: str, rng: np.random.Generator, layout: Any) -> None:
    """Pixels may be copied with gaps between them: all, every third one, and those of padding."""
    for stride, pad in ((1, 0), (3, 0), (1, 1)):
        case = (1030, 150, 1, 7, 19, (1, 1), (stride, stride), (1, 1), (pad, pad, pad, pad))
        check(rng, case, layout, "identity", (3, 5, 7))


@pytest.mark.parametrize("act", PARAMS)
def test_activations(isa: str, rng: np.random.Generator, act: str) -> None:
    for layout in LAYOUTS:
        case = (6, 18, 1, 7, 9, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1))
        check(rng, case, layout, act, (128, 100, 31))
        check(rng, (18, 18, 18, *case[3:]), layout, act, (3, 255, 0))


@pytest.mark.parametrize("zero", [0, 1, 7, 255])
def test_ties(isa: str, zero: int) -> None:
    """Halves are rounded to even before the zero point is added."""
    x = np.arange(256, dtype=np.uint8).reshape(1, 256, 1)
    with pysimd.QuantizedConvolution(x.shape, 1, kernel=1) as context:
        context.set_params(np.ones((1, 1, 1, 1), np.int8), 0.5, (1.0, 128), (1.0, zero))
        y = context(x)[0, :, 0]
    assert y.tolist() == np.clip(np.rint((np.arange(256) - 128) / 2) + zero, 0, 255).tolist()


def test_extremes(isa: str) -> None:
    """Sums of 255 times 127 and -127: nothing saturates."""
    for c in (1, 2, 3, 4, 7, 64, 300):
        weight = np.stack([np.full((1, 1, c), w, np.int8) for w in (127, -127, 127, -128)], -1)
        with pysimd.QuantizedConvolution((3, 7, c), 4, kernel=1) as context:
            context.set_params(weight, 1 / c, (1.0, 0), (255.0, 128))
            y = context(np.full((3, 7, c), 255, np.uint8))
        assert (y == np.array([255, 1, 255, 0])).all()


BAD = [0.0, -1.0, float("nan"), float("inf")]


@pytest.mark.parametrize("bad", BAD)
def test_refused_scales(bad: float) -> None:
    context = pysimd.QuantizedConvolution((2, 2, 3), 2, kernel=1)
    weight, good = np.ones((1, 1, 3, 2), np.int8), (1.0, 0)
    for scale, src, dst, name in (
        (bad, good, good, "weightScale"),
        (1.0, (bad, 0), good, "ioScale 0"),
        (1.0, good, (bad, 0), "ioScale"),
    ):
        with pytest.raises(ValueError, match=name):
            context.set_params(weight, scale, src, dst)
    with pytest.raises(ValueError, match="once divided"):
        context.set_params(weight, 3e38, (3e38, 0), good)
    with pytest.raises(ValueError, match="expected a byte"):
        context.set_params(weight, 1.0, (1.0, 256), good)
    with pytest.raises(pysimd.StateError):
        context(np.zeros((2, 2, 3), np.uint8))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_table(isa: str, rng: np.random.Generator, layout: Any) -> None:
    """The bytes without a table, looked up: for all algorithms, also where a table only limits bytes."""
    tables = rng.integers(0, 256, 256, np.uint8), np.clip(np.arange(256), 20, 180).astype(np.uint8)
    for number, case in enumerate(CASES):
        src_c, dst_c, group, height, width, kernel, stride, dilation, padding = case
        x, table = rng.integers(0, 256, (2, src_c, height, width), np.uint8), tables[number % 2]
        images = np.stack([reference.from_chw(image, layout) for image in x])
        options = {"stride": stride, "dilation": dilation, "padding": padding, "group": group}
        given = (
            in_layout(rng.integers(-128, 128, (dst_c, src_c // group, *kernel), np.int8), layout),
            0.01,
            (0.5, 9),
            (0.75, 90),
        )
        with pysimd.QuantizedConvolution(images.shape, dst_c, kernel=kernel, layout=layout, **options) as context:
            context.set_params(*given)
            plain = context(images)
            context.set_params(*given, table=table)
            np.testing.assert_array_equal(context(images), table[plain], str(case))
            copied = pickle.loads(pickle.dumps(context))
            np.testing.assert_array_equal(copied(images), table[plain], str(case))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_sums(isa: str, rng: np.random.Generator, layout: Any, dtype: str) -> None:
    """The bytes without an addition, added by quantized_binary: for all algorithms, before and after a table."""
    low = 128 if dtype == "int8" else 0
    pairs = (0.4, 9 - low), (0.3, 255 - low), (0.55, 70 - low)
    for number, case in enumerate(CASES):
        src_c, dst_c, group, height, width, kernel, stride, dilation, padding = case
        x, table = rng.integers(0, 256, (2, src_c, height, width), np.uint8), rng.integers(0, 256, 256, np.uint8)
        images = np.stack([reference.from_chw(image, layout) for image in x])
        options = {"stride": stride, "dilation": dilation, "padding": padding, "group": group}
        weight = in_layout(rng.integers(-128, 128, (dst_c, src_c // group, *kernel), np.int8), layout)
        given = weight, 0.01, (0.5, 9), (0.75, 90)
        first, after = number % 2 == 1, number % 4 > 1
        with pysimd.QuantizedConvolution(images.shape, dst_c, kernel=kernel, layout=layout, **options) as context:
            context.set_params(*given)
            plain = context(images)
            add = rng.integers(0, 256, plain.shape, np.uint8)
            addition = pysimd.QuantizedSum(*pairs, add_first=first, dtype=dtype)
            context.set_params(*given, table=table, addition=addition)
            np.testing.assert_array_equal(context(images), table[plain])
            operands = [((table[plain] if after else plain).view(dtype), pairs[0]), (add.view(dtype), pairs[1])]
            (a, of_a), (b, of_b) = operands[::-1] if first else operands
            both = pysimd.quantized_binary("add", a, b, src=(of_a, of_b), dst=pairs[2]).view(np.uint8)
            expected = both if after else table[both]
            np.testing.assert_array_equal(context(images, add=add, after=after), expected, str(case))
            copied = pickle.loads(pickle.dumps(context))
            np.testing.assert_array_equal(copied(images, add=add, after=after), expected, str(case))


def test_sums_of_channel_slices() -> None:
    """In larger arrays, of which nothing else is written; dense arrays alone in other layouts."""
    rng = np.random.default_rng(3)
    whole, result = rng.integers(0, 256, (2, 4, 5, 40), np.uint8), np.full((2, 4, 5, 33), 7, np.uint8)
    addition = pysimd.QuantizedSum((0.5, 3), (0.25, 7), (0.75, 90))
    with pysimd.QuantizedConvolution((2, 4, 5, 19), 17, kernel=1) as context:
        context.set_params(rng.integers(-128, 128, (1, 1, 19, 17), np.int8), 0.01, (0.5, 9), (0.75, 90), addition=addition)
        x, add = whole[..., :19], whole[..., 19:36]
        expected = context(x.copy(), add=add.copy())
        context(x, add=add, out=result[..., 2:19])
        np.testing.assert_array_equal(result[..., 2:19], expected)
        assert (result[..., :2] == 7).all() and (result[..., 19:] == 7).all()
        with pytest.raises(ValueError, match="out overlaps add"):
            context(x, add=add, out=add)
    with pysimd.QuantizedConvolution((19, 4, 5), 17, kernel=1, layout="nchw") as context:
        context.set_params(rng.integers(-128, 128, (17, 19, 1, 1), np.int8), 0.01, (0.5, 9), (0.75, 90), addition=addition)
        image, more = np.zeros((19, 4, 5), np.uint8), np.zeros((17, 4, 6), np.uint8)
        with pytest.raises(ValueError, match="contiguous"):
            context(image, add=more[..., :5])


def test_refused_sums() -> None:
    weight, pair = np.ones((1, 1, 3, 2), np.int8), (1.0, 0)
    x, add = np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2, 2), np.uint8)
    context = pysimd.QuantizedConvolution((2, 2, 3), 2, kernel=1)
    for values, words in (
        (((0.0, 0), pair, pair), "ownScale is 0"),
        ((pair, (1.0, 256), pair), "addZero is 256"),
        ((pair, pair, (1.0, -1)), "sumZero is -1"),
    ):
        with pytest.raises(ValueError, match=words):
            context.set_params(weight, 1.0, pair, pair, addition=pysimd.QuantizedSum(*values))
    with pytest.raises(TypeError, match="addition is"):
        context.set_params(weight, 1.0, pair, pair, addition=(pair, pair, pair))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"addition\.dtype has dtype float32"):
        context.set_params(weight, 1.0, pair, pair, addition=pysimd.QuantizedSum(pair, pair, pair, dtype="float32"))
    with pytest.raises(pysimd.StateError):
        context(x)
    context.set_params(weight, 1.0, pair, pair)
    with pytest.raises(ValueError, match="adds nothing"):
        context(x, add=add)
    context.set_params(weight, 1.0, pair, pair, addition=pysimd.QuantizedSum(pair, pair, pair))
    with pytest.raises(ValueError, match="add has shape"):
        context(x, add=add[..., :1])
    with pytest.raises(TypeError, match="add has dtype"):
        context(x, add=add.view(np.int8))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Identity"):
        of = pysimd.QuantizedConvolution((2, 2, 3), 2, kernel=1, activation="relu")
        of.set_params(weight, 1.0, pair, pair, addition=pysimd.QuantizedSum(pair, pair, pair))


def test_refused_tables() -> None:
    weight, pair, table = np.ones((1, 1, 3, 2), np.int8), (1.0, 0), np.zeros(256, np.uint8)
    context = pysimd.QuantizedConvolution((2, 2, 3), 2, kernel=1)
    with pytest.raises(ValueError, match="table has shape"):
        context.set_params(weight, 1.0, pair, pair, table=table[1:])
    with pytest.raises(TypeError, match="table has dtype"):
        context.set_params(weight, 1.0, pair, pair, table=table.view(np.int8))
    with pytest.raises(ValueError, match="weightScale"):
        context.set_params(weight, -1.0, pair, pair, table=table)
    with pytest.raises(pysimd.StateError):
        context(np.zeros((2, 2, 3), np.uint8))
    with pytest.raises(ValueError, match="Identity"):
        pysimd.QuantizedConvolution((2, 2, 3), 2, kernel=1, activation="relu").set_params(
            weight, 1.0, pair, pair, table=table
        )
