"""Layers of quantised bytes beside NumPy on every instruction set: ties, the ends of the range, zeros at the ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.lowlevel import lib
from support import Array, assert_same, floats, reference

SHAPES = [(1, 1, 1), (3, 5, 7), (16, 4, 5), (17, 1, 33), (64, 7, 7), (2, 9, 40), (3, 20, 20), (130, 2, 1)]
LAYOUTS: list[Any] = ["nchw", "nhwc"]
#: Scales whose products are exact, so that there are ties, and others; zeros at the ends and between.
LINEAR = [(0.5, 0), (1.0, 255), (0.25, 128), (0.013, 3), (0.3, 77)]


def bytes_of(rng: np.random.Generator, *shape: int) -> Array:
    x = rng.integers(0, 256, shape).astype(np.uint8)
    x.reshape(-1)[:2] = np.array([0, 255], np.uint8)[: x.size]
    return x


def value(x: Array, linear: tuple[float, int]) -> Array:
    result: Array = (x.astype(np.float32) - np.float32(linear[1])) * np.float32(linear[0])
    return result


def quantised(y: Array, linear: tuple[float, int]) -> Array:
    """By the inverse of the scale, each operation rounded."""
    t = y.astype(np.float32) * (np.float32(1) / np.float32(linear[0]))
    result: Array = np.clip(np.rint(t.astype(np.float64)) + linear[1], 0, 255).astype(np.uint8)
    return result


def fused(a: Array, b: Any, c: Any) -> Array:
    """a * b + c; the product of floats is exact in double, and so is nearly every sum."""
    result: Array = (a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)).astype(np.float32)
    return result


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layers_of_channels(isa: str, rng: np.random.Generator, layout: Any) -> None:
    for i, shape in enumerate(SHAPES):
        src, dst = LINEAR[i % 5], LINEAR[(2 * i + 1) % 5]
        chw, slope, bias = bytes_of(rng, *shape), floats(rng, shape[0]), floats(rng, shape[0])
        v, x = value(chw, src), reference.from_chw(chw, layout)
        k, h = slope[:, None, None], bias[:, None, None]
        options: dict[str, Any] = {"src": src, "dst": dst, "layout": layout}
        y = pysimd.quantized_prelu(x, slope, **options)
        assert_same(reference.to_chw(y, layout), quantised(np.maximum(v, 0) + k * np.minimum(v, 0), dst))
        y = pysimd.quantized_scale(x, slope, bias, **options)
        assert_same(reference.to_chw(y, layout), quantised(fused(v, k, h), dst))
        y = pysimd.quantized_scale(x, slope, **options, out=x)
        assert_same(reference.to_chw(y, layout), quantised(v * k, dst))


def test_batches(rng: np.random.Generator) -> None:
    x, slope = bytes_of(rng, 3, 5, 4, 6), floats(rng, 5)
    options: dict[str, Any] = {"src": (0.5, 3), "dst": (0.25, 128), "layout": "nchw"}
    expected = np.stack([pysimd.quantized_prelu(image, slope, **options) for image in x])
    assert_same(pysimd.quantized_prelu(x, slope, **options), expected)
    a, b = bytes_of(rng, 3, 4, 4, 6), bytes_of(rng, 3, 2, 4, 6)
    options["src"] = (0.5, 3), (0.3, 7)
    pairs = [pysimd.quantized_shuffle(p, q, **options) for p, q in zip(a, b)]
    for one, each in zip(pysimd.quantized_shuffle(a, b, **options), zip(*pairs)):
        assert_same(one, np.stack(each))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_concatenate(isa: str, rng: np.random.Generator, axis: int) -> None:
    arrays = []
    for extent in (3, 70, 1):
        shape = [5, 4, 6]
        shape[axis] = extent
        arrays.append(bytes_of(rng, *shape))
    for i, dst in enumerate(LINEAR):
        src = [LINEAR[(i + k) % 5] for k in range(3)]
        expected = np.concatenate([quantised(value(x, pair), dst) for x, pair in zip(arrays, src)], axis)
        assert_same(pysimd.quantized_concatenate(arrays, axis, src=src, dst=dst), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_shuffle_and_its_inverse(isa: str, rng: np.random.Generator, layout: Any) -> None:
    src, dst = ((0.5, 3), (0.3, 200)), (0.25, 128)
    for c0, c1, h, w in ((2, 2, 1, 1), (4, 2, 3, 5), (2, 6, 7, 9), (64, 58, 5, 5), (130, 2, 1, 3)):
        a, b = bytes_of(rng, c0, h, w), bytes_of(rng, c1, h, w)
        both = np.concatenate([quantised(value(x, pair), dst) for x, pair in zip((a, b), src)])
        given = [reference.from_chw(x, layout) for x in (a, b)]
        parts = pysimd.quantized_shuffle(given[0], given[1], src=src, dst=dst, layout=layout)
        for part, expected in zip(parts, (both[::2], both[1::2])):
            assert_same(reference.to_chw(part, layout), expected)
        half = (c0 + c1) // 2
        p, q = bytes_of(rng, half, h, w), bytes_of(rng, half, h, w)
        joined = np.empty((c0 + c1, h, w), np.uint8)
        joined[::2], joined[1::2] = (quantised(value(x, pair), dst) for x, pair in zip((p, q), src))
        given = [reference.from_chw(x, layout) for x in (p, q)]
        parts = pysimd.quantized_shuffle(given[0], given[1], src=src, dst=dst, channels=(c0, c1), layout=layout)
        for part, expected in zip(parts, (joined[:c0], joined[c0:])):
            assert_same(reference.to_chw(part, layout), expected)


def added(a: Array, b: Array, linear: list[tuple[float, int]], relu: bool) -> Array:
    """QLinearAdd of ONNX, as printed: scales of the ratio, one constant, one rounding of each product with its sum."""
    (sa, za), (sb, zb), (s, z) = [(np.float32(scale), np.float32(zero)) for scale, zero in linear]
    ra, rb = sa / s, sb / s
    t = z - (ra * za + rb * zb)
    total = fused(a.astype(np.float32), ra, fused(b.astype(np.float32), rb, t))
    y = np.clip(np.rint(total), 0, 255)
    result: Array = np.maximum(y, z if relu else 0).astype(np.uint8)
    return result


@pytest.mark.parametrize("relu", [False, True])
def test_add_of_all_pairs_of_bytes(isa: str, relu: bool) -> None:
    a, b = (np.ascontiguousarray(x.reshape(-1).astype(np.uint8)) for x in np.mgrid[:256, :256])
    for i in range(5):
        linear = [LINEAR[i], LINEAR[(i + 2) % 5], LINEAR[(3 * i + 1) % 5]]
        with pysimd.QuantizedAdd(a.shape, a=linear[0], b=linear[1], dst=linear[2], relu=relu) as context:
            assert_same(context(a, b), added(a, b, linear, relu))


def test_add_has_the_bytes_of_onnx() -> None:
    """Ties and odd zeros: zero is inside the rounding. Expected bytes are those of QLinearAdd of ONNX Runtime's formula."""
    a, b = np.array([0, 1, 2, 3, 255, 255], np.uint8), np.array([0, 0, 0, 0, 0, 255], np.uint8)
    with pysimd.QuantizedAdd((6,), a=(0.5, 0), b=(0.5, 0), dst=(1.0, 3)) as context:
        assert context(a, b).tolist() == [3, 4, 4, 4, 130, 255]
    with pysimd.QuantizedAdd((6,), a=(0.5, 1), b=(0.5, 255), dst=(1.0, 255)) as context:
        assert context(a, b).tolist() == [127, 128, 128, 128, 254, 255]


@pytest.mark.parametrize("types", range(7))
def test_add_with_floats(isa: str, rng: np.random.Generator, types: int) -> None:
    for size in (1, 5, 64, 131, 9000):
        linear = [LINEAR[(size + k) % 5] if types >> k & 1 else None for k in range(3)]
        given = [floats(rng, size) if pair is None else bytes_of(rng, size) for pair in linear[:2]]
        left, right = (x if pair is None else value(x, pair) for x, pair in zip(given, linear))
        for relu in (False, True):
            total = np.maximum(left + right, np.float32(0)) if relu else left + right
            expected = total if linear[2] is None else quantised(total, linear[2])
            with pysimd.QuantizedAdd((size,), a=linear[0], b=linear[1], dst=linear[2], relu=relu) as context:
                assert_same(context(*given), expected)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ((0.0, 3), "is 0, expected a finite number above 0"),
        ((float("nan"), 3), "is nan, expected a finite number"),
        ((-1.0, 3), "is -1, expected a finite number"),
        ((float("inf"), 3), "expected a finite number"),
        ((1.0, 256), "256, expected"),
        ((1.0, -1), "1, expected"),
    ],
)
def test_scales_and_zeros_that_are_refused(bad: tuple[float, int], sentence: str) -> None:
    x, good = np.zeros((2, 2), np.uint8), (1.0, 0)
    for src, dst in ((bad, good), (good, bad)):
        with pytest.raises(ValueError, match=sentence):
            pysimd.quantized_prelu(x, 1.0, src=src, dst=dst)
        with pytest.raises(ValueError, match=sentence):
            pysimd.QuantizedAdd(x.shape, a=src, b=good, dst=dst)
    with pytest.raises(ValueError, match="expected"):
        pysimd.quantized_concatenate([x], src=[bad], dst=good)
    with pytest.raises(ValueError, match="expected"):
        pysimd.quantized_shuffle(x[None], x[None], src=(good, bad), dst=good)
    assert lib.SimdnetLastErrorKind() == 1


def test_other_refusals() -> None:
    x, pair = np.zeros((2, 2), np.uint8), (1.0, 0)
    with pytest.raises(ValueError, match=r"src is .*, expected 2 tuples"):
        pysimd.quantized_concatenate([x, x], src=[pair], dst=pair)
    with pytest.raises(ValueError, match=r"arrays\[1\] has shape"):
        pysimd.quantized_concatenate([x, x[:, :1].copy()], src=[pair, pair], dst=pair)
    with pytest.raises(ValueError, match="channels is"):
        pysimd.quantized_shuffle(x[None], x[None], src=(pair, pair), dst=pair, channels=(2, 4))
    with pytest.raises(TypeError, match=r"src is 0.5, expected a tuple \(scale, zero\)"):
        pysimd.quantized_prelu(x, 1.0, src=0.5, dst=pair)  # type: ignore[arg-type]
