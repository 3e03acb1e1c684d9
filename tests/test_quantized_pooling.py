"""Pooling of quantised bytes, on every instruction set: ONNX Runtime's formulas in NumPy's float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from support import Array, assert_refused

DTYPES = ["uint8", "int8"]


def drawn(rng: np.random.Generator, dtype: Any, *shape: int) -> Array:
    return rng.integers(0, 256, shape).astype(np.uint8).view(dtype)


def saturated(x: Array, dtype: Any) -> Array:
    limits = np.iinfo(dtype)
    return np.clip(x, limits.min, limits.max).astype(dtype)


def windows(size: int, kernel: int, stride: int, before: int, after: int, ceil: bool) -> list[tuple[range, int]]:
    """The elements of the image in each window of an axis, and how many there are with the padding."""
    room = size + before + after - kernel
    count = (-(-room // stride) if ceil else room // stride) + 1
    if ceil and (count - 1) * stride >= size + before:
        count -= 1
    found = []
    for i in range(count):
        begin = i * stride - before
        inside = range(max(begin, 0), max(min(begin + kernel, size), max(begin, 0)))
        found.append((inside, min(begin + kernel, size + after) - begin))
    return found


def pooled(x: Array, kind: str, of: dict[str, Any], src: Any, dst: Any) -> Array:
    """Of (N, C, H, W)."""
    kernel, stride, sides = of["kernel"], of["stride"], of["padding"]
    rows, columns = (
        windows(x.shape[2 + i], kernel[i], stride[i], sides[i], sides[2 + i], of["ceil_mode"]) for i in range(2)
    )
    y = np.empty((*x.shape[:2], len(rows), len(columns)), x.dtype)
    (sx, zx), (sy, zy) = ((np.float32(scale), zero) for scale, zero in (src, dst))
    for i, (ys, height) in enumerate(rows):
        for j, (xs, width) in enumerate(columns):
            taps = [x[:, :, a, b] for a in ys for b in xs]
            if kind == "max":
                y[:, :, i, j] = np.max([*taps, np.full(x.shape[:2], np.iinfo(x.dtype).min, x.dtype)], axis=0)
                continue
            total = np.zeros(x.shape[:2], np.float32)
            for tap in taps:
                total = total + (tap.astype(np.float32) - np.float32(zx)) * sx
            count = len(taps) if of["exclude_pad"] else height * width
            mean = total / np.float32(count) if count else total
            y[:, :, i, j] = saturated(np.rint(mean / sy + np.float32(zy)), x.dtype)
    return y


WINDOWS: list[dict[str, Any]] = [
    {"kernel": (2, 2), "stride": (2, 2), "padding": (0, 0, 0, 0), "ceil_mode": False},
    {"kernel": (3, 3), "stride": (2, 1), "padding": (1, 1, 1, 1), "ceil_mode": True},
    {"kernel": (3, 2), "stride": (1, 3), "padding": (2, 0, 1, 1), "ceil_mode": False},
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("of", WINDOWS, ids=range(len(WINDOWS)))
def test_windows(isa: str, rng: np.random.Generator, dtype: Any, of: dict[str, Any]) -> None:
    """Scales that give many ties, and zeros that are odd and even."""
    least = np.iinfo(dtype).min
    for channels in (1, 3, 64, 131):
        x = drawn(rng, dtype, 2, channels, 7, 8)
        turned = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
        for kind, exclude, dst in (("max", False, 0), ("average", False, 3), ("average", True, 200), ("average", True, 8)):
            linears = (0.5, least + 7), (0.25 if exclude else 0.7, least + dst)
            options: dict[str, Any] = {**of, "exclude_pad": exclude}
            expected = pooled(x, kind, options, *linears)
            options.update(zip(("src", "dst"), linears))
            np.testing.assert_array_equal(pysimd.quantized_pooling(x, kind, layout="nchw", **options), expected)
            y = pysimd.quantized_pooling(turned, kind, **options)
            np.testing.assert_array_equal(y, expected.transpose(0, 2, 3, 1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_global(isa: str, rng: np.random.Generator, dtype: Any) -> None:
    least = np.iinfo(dtype).min
    for channels, size in ((3, (1, 1)), (64, (7, 7)), (130, (31, 5))):
        x = drawn(rng, dtype, 2, channels, *size)
        for sx, zx, sy, zy in ((0.5, 9, 0.25, 3), (0.3, 255, 0.2, 128), (1.0, 0, 1.0, 0)):
            count = np.float32(size[0] * size[1])
            factor = np.float32(sx) / (np.float32(sy) * count)
            total = x.sum((2, 3), dtype=np.int32) - int(count) * (zx + least)
            expected = saturated(np.rint(total.astype(np.float32) * factor) + zy + least, dtype)
            options: dict[str, Any] = {"src": (sx, zx + least), "dst": (sy, zy + least)}
            y = pysimd.quantized_pooling(x, "global_average", layout="nchw", **options)
            np.testing.assert_array_equal(y[:, :, 0, 0], expected)
            turned = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
            y = pysimd.quantized_pooling(turned, "global_average", **options)
            np.testing.assert_array_equal(y[:, 0, 0], expected)


def test_vectors() -> None:
    """Ties: the zero is added before the rounding of windows, and after that of images."""
    x = np.array([1, 0, 0, 1], np.uint8).reshape(1, 4, 1)
    assert pysimd.quantized_pooling(x, "average", kernel=(1, 2), dst=(1.0, 3)).ravel().tolist() == [4, 4]
    assert pysimd.quantized_pooling(x, "global_average", dst=(1.0, 3)).ravel().tolist() == [3]
    assert pysimd.quantized_pooling(x, "max", kernel=(1, 3), stride=1).ravel().tolist() == [1, 1]


def test_signals_and_out(rng: np.random.Generator) -> None:
    x = drawn(rng, np.uint8, 9, 5)
    out = np.empty((4, 5), np.uint8)
    assert pysimd.quantized_pooling(x, "max", kernel=2, layout="nwc", out=out) is out
    np.testing.assert_array_equal(out, np.maximum(x[:8:2], x[1::2]))


X = np.ones((4, 5, 3), np.uint8)


@pytest.mark.parametrize(
    ("error", "sentence", "arguments"),
    [
        (TypeError, "x has dtype float32, expected uint8 or int8", {"x": X.astype(np.float32)}),
        (ValueError, "kind is 'mean', expected one of max, average, global_average", {"kind": "mean"}),
        (ValueError, "scaleSrc is 0", {"src": (0.0, 0)}),
        (ValueError, "scaleDst is inf", {"dst": (np.inf, 0)}),
        (ValueError, "zeroDst is 256", {"dst": (1.0, 256)}),
        (ValueError, "kernel is 0", {"kernel": 0}),
    ],
)
def test_bad_arguments(error: type[Exception], sentence: str, arguments: dict[str, Any]) -> None:
    given: dict[str, Any] = {"x": X, "kind": "average", "kernel": 2} | arguments
    assert_refused(pysimd.quantized_pooling, error, sentence, np.zeros((2, 2, 3), np.uint8), **given)
