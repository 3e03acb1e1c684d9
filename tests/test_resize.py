"""Resizing: the formulas of ONNX Resize and of the documented resizer, in float64 and in integers."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, trunc
from typing import Any

import numpy as np
import pytest

import pysimd

COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric")
SIZES = [
    ((5, 9), (10, 18)), ((5, 9), (7, 31)), ((13, 8), (4, 5)), ((13, 8), (4, 3)), ((1, 6), (3, 1)), ((2, 2), (2, 5)),
    ((40, 33), (3, 70)),
]  # fmt: skip


def float_positions(n: int, m: int, scale: float, coordinates: str) -> Any:
    """By a scale that is given: in float32, each operation as it is written."""
    f, i = np.float32, np.arange(m, dtype=np.float32)
    s, length, result = f(scale), f(n), f(m)
    if s == 1:
        return i
    if coordinates == "align_corners":
        return i * (length - f(1)) / (result - f(1)) if m > 1 else i
    if coordinates == "asymmetric":
        return i / s
    if coordinates == "pytorch_half_pixel" and m == 1:
        return i
    if coordinates == "half_pixel_symmetric":  # of which the last three operations are not rounded
        offset = length / f(2) * (f(1) - result / (s * length))
        return (np.float64(offset) + (i.astype(np.float64) + 0.5) / np.float64(s) - 0.5).astype(f)
    return (i + f(0.5)) / s - f(0.5)


def position(i: int, n: int, m: int, scale: float | None, coordinates: str) -> Fraction:
    """Without a scale exactly, so that no rounding decides which element is nearest."""
    if scale is not None:
        return Fraction(float(float_positions(n, m, scale, coordinates)[i]))
    half = Fraction(1, 2)
    if coordinates == "align_corners":
        return Fraction(i * (n - 1), m - 1) if m > 1 else Fraction(0)
    if coordinates == "asymmetric":
        return Fraction(i * n, m)
    if coordinates == "pytorch_half_pixel" and m == 1:
        return Fraction(0)
    return (i + half) * n / m - half


def kernel(d: float, mode: str, a: float) -> float:
    d = abs(d)
    if mode == "linear":
        return max(1 - d, 0.0)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0


def axis(n: int, m: int, scale: float | None, options: dict[str, Any]) -> Any:
    """The matrix of weights, m by n."""
    weights = np.zeros((m, n))
    mode, s = options["mode"], float(np.float32(scale)) if scale else m / n
    for i in range(m):
        x = position(i, n, m, scale, options.get("coordinates", "half_pixel"))
        if mode == "nearest":
            half = Fraction(1, 2) + (Fraction(1, 10**6) if scale else 0)
            rounded = {
                "round_prefer_floor": ceil(x - half),
                "round_prefer_ceil": floor(x + half),
                "floor": floor(x),
                "ceil": ceil(x),
            }[options.get("rounding", "round_prefer_floor")]
            weights[i, min(max(rounded, 0), n - 1)] = 1
        elif mode == "area":
            for j in range(n):
                weights[i, j] = max(0.0, min(j + 1, (i + 1) / s, n) - max(j, i / s))
            weights[i] /= weights[i].sum()
        else:
            narrow = min(s, 1.0) if options.get("antialias") else 1.0
            reach = ceil(2 / narrow) + 1
            taps = range(floor(x) - reach, floor(x) + reach + 1)
            values = {j: kernel(float(j - x) * narrow, mode, options.get("cubic", -0.75)) for j in taps}
            if options.get("exclude_outside"):
                values = {j: value for j, value in values.items() if 0 <= j < n}
            total = sum(values.values()) if options.get("exclude_outside") or narrow < 1 else 1
            for j, value in values.items():
                weights[i, min(max(j, 0), n - 1)] += value / total
    return weights


def expected(x: Any, size: tuple[int, int], options: dict[str, Any], scales: Any = (None, None)) -> Any:
    """For images (..., C, H, W)."""
    y_axis = axis(x.shape[-2], size[0], scales[0], options)
    x_axis = axis(x.shape[-1], size[1], scales[1], options)
    return y_axis @ x.astype(np.float64) @ x_axis.T


def all_options() -> list[dict[str, Any]]:
    options: list[dict[str, Any]] = [{"mode": "area"}]
    for coordinates in COORDINATES:
        for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            options.append({"mode": "nearest", "coordinates": coordinates, "rounding": rounding})
        for mode in ("linear", "cubic"):
            for antialias in (False, True):
                options.append({"mode": mode, "coordinates": coordinates, "antialias": antialias})
    options.append({"mode": "cubic", "cubic": -0.5, "exclude_outside": True})
    options.append({"mode": "linear", "antialias": True, "exclude_outside": True})
    return options


@pytest.mark.parametrize("options", all_options(), ids=str)
@pytest.mark.parametrize("channels", [1, 3, 20])
def test_formula(channels: int, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    for src, size in SIZES:
        x = rng.uniform(-1, 1, (2, channels, *src)).astype(np.float32)
        want = expected(x, size, options)
        tolerance = 0 if options["mode"] == "nearest" else 2e-6
        np.testing.assert_allclose(pysimd.resize(x, size, layout="nchw", **options), want, rtol=0, atol=tolerance)
        pixels = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
        y = pysimd.resize(pixels, size, **options)
        np.testing.assert_allclose(y.transpose(0, 3, 1, 2), want, rtol=0, atol=tolerance)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic", "area"])
def test_bytes(mode: str) -> None:
    rng = np.random.default_rng(2)
    for src, size in SIZES:
        x = rng.integers(0, 256, (3, *src), dtype=np.uint8)
        want = np.clip(expected(x, size, {"mode": mode}), 0, 255)
        y = pysimd.resize(x, size, mode=mode, layout="nchw")
        assert y.dtype == np.uint8
        assert np.abs(y - want).max() <= 0.5001


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic", "area"])
def test_scale(mode: str) -> None:
    x = np.random.default_rng(3).uniform(-1, 1, (2, 7, 11)).astype(np.float32)
    for coordinates in COORDINATES:
        options = {"mode": mode, "coordinates": coordinates}
        for size in ((4, 24), (5, 25)):  # rounded down, and not
            want = expected(x, size, options, (0.65, 2.25))
            y = pysimd.resize(x, size, scale=(0.65, 2.25), layout="nchw", **options)  # type: ignore[arg-type]
            np.testing.assert_allclose(y, want, rtol=0, atol=2e-6)
        np.testing.assert_array_equal(
            pysimd.resize(x, scale=(0.65, 2.25), layout="nchw", **options),  # type: ignore[arg-type]
            pysimd.resize(x, (4, 24), scale=(0.65, 2.25), layout="nchw", **options),  # type: ignore[arg-type]
        )


def test_signals_and_slices() -> None:
    rng = np.random.default_rng(4)
    signal = rng.uniform(-1, 1, (3, 9)).astype(np.float32)
    want = expected(signal[:, None], (1, 20), {"mode": "linear"})[:, 0]
    np.testing.assert_allclose(pysimd.resize(signal, 20, mode="linear", layout="ncw"), want, atol=1e-6)
    big, target = rng.uniform(-1, 1, (2, 5, 6, 30)).astype(np.float32), np.zeros((2, 10, 12, 25), np.float32)
    for mode in ("nearest", "linear"):
        pysimd.resize(big[..., 3:23], scale=2, mode=mode, out=target[..., 2:22])
        np.testing.assert_array_equal(target[..., 2:22], pysimd.resize(big[..., 3:23].copy(), scale=2, mode=mode))
        assert not target[..., :2].any()
        assert not target[..., 22:].any()


def test_refused() -> None:
    x = np.zeros((4, 4, 2), np.float32)
    for options, word in (
        ({}, "size"),
        ({"size": 3, "scale": 2}, "scale"),
        ({"size": 3, "mode": "lanczos"}, "mode"),
        ({"size": 3, "coordinates": "tf_crop_and_resize"}, "coordinates"),
        ({"size": 3, "rounding": "up"}, "rounding"),
        ({"scale": -1}, "scale"),
        ({"scale": (1, 2, 3)}, "scale"),
        ({"size": 3, "cubic": np.inf}, "cubic"),
        ({"size": (1, 2, 3)}, "size"),
        ({"size": -1}, "size"),
        ({"size": 3, "layout": "nchw4c"}, "layout"),
    ):
        with pytest.raises(ValueError, match=word):
            pysimd.resize(x, **options)
    with pytest.raises(TypeError, match="float64"):
        pysimd.resize(x.astype(np.float64), 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="x is not C-contiguous"):  # pixels with gaps are of nhwc
        pysimd.resize(np.zeros((2, 4, 4), np.float32)[:, :, :2], 3, layout="nchw")
    with pytest.raises(ValueError, match="method"):
        pysimd.Resizer((4, 4, 2), 3, method="area", dtype="float32")
    with pytest.raises(ValueError, match="channels"):
        pysimd.Resizer((4, 4, 5), 3, method="area")
    with pytest.raises(ValueError, match="src_shape"):
        pysimd.Resizer((4, 4), 3)


# ---- the documented resizer


def split(i: int, n: int, m: int, method: str) -> tuple[int, np.float32]:
    """The element before output i, and the fraction, in float arithmetic."""
    f = np.float32
    k = f(n) / f(m)
    if method == "bilinear_caffe":
        x = f(i) * (f(n - 1) / f(m - 1) if m > 1 else f(0))
    else:
        x = f(i) * k if method == "bilinear_pytorch" else (f(i) + f(0.5)) * k - f(0.5)
    j = floor(x)
    if n == 1 or j < 0:
        return 0, f(0)
    return (n - 2, f(1)) if j > n - 2 else (j, x - f(j))


def integers(n: int, m: int, method: str, halved: bool) -> Any:
    """The integer weights of bytes, with which the sum of a row is the unit."""
    unit = {"bilinear": 16, "bilinear_opencv": 16384, "bicubic": 128}.get(method, 2048)
    weights = np.zeros((m, n), np.int64)
    half = -(-n // 2) if halved else n
    part = unit // 2 if halved else unit
    k = np.float32(half) / np.float32(m)

    def left(i: int) -> tuple[int, int]:
        t = np.float32(i) * k
        e, u = (half - 1, np.float32(1)) if i == m else (floor(t), t - np.float32(floor(t)))
        return e, trunc(part * float(np.float32(1) - u) / float(k))

    for i in range(m):
        if method.startswith("area"):
            (e, first), (last, rest) = left(i), left(i + 1)
            for j in range(e, last + 1):
                value = (first if j == e else left(0)[1]) - (rest if j == last else 0)
                for t in (2 * j, min(2 * j + 1, n - 1)) if halved else (j,):
                    weights[i, t] += value
        else:
            j, a = split(i, n, m, method)
            d = float(a)
            values = {j: 1 - d, j + 1: d}
            if method == "bicubic":
                values = {
                    j - 1: -(2 - d) * (1 - d) * d / 6,
                    j: (2 - d) * (1 + d) * (1 - d) / 2,
                    j + 1: (2 - d) * (1 + d) * d / 2,
                    j + 2: -(1 + d) * (1 - d) * d / 6,
                }
            whole = {t: floor(v * unit + 0.5) if unit == 16 else round(v * unit) for t, v in values.items()}
            if unit != 128:
                whole[j] = unit - whole[j + 1]
            whole[max(whole, key=lambda t: whole[t])] += unit - sum(whole.values())
            for t, value in whole.items():
                weights[i, min(max(t, 0), n - 1)] += value
        weights[i, int(np.argmax(weights[i]))] += unit - weights[i].sum()
    return weights


@pytest.mark.parametrize("method", ["bilinear", "bilinear_opencv", "bicubic", "area", "area_fast"])
def test_resizer_bytes(method: str) -> None:
    rng = np.random.default_rng(5)
    for src, size in SIZES:
        for channels in (1, 3, 4):
            x = rng.integers(0, 256, (*src, channels), dtype=np.uint8)
            halved = method == "area_fast" and all(-(-n // 2) >= m for n, m in zip(src, size))
            y_axis, x_axis = (integers(n, m, method, halved) for n, m in zip(src, size))
            rows = np.einsum("xw,hwc->hxc", x_axis, x.astype(np.int64))
            if method == "bilinear_opencv":
                rows >>= 7
                want = (np.einsum("yhxc->yxc", (y_axis[:, :, None, None] * rows[None]) >> 16) + 16) >> 5
            else:
                sums = np.einsum("yh,hxc->yxc", y_axis, rows)
                bits = {"bilinear": 8, "bicubic": 14}.get(method, 22)
                want = np.clip((sums + (1 << (bits - 1))) >> bits, 0, 255)
            y = pysimd.Resizer(x.shape, size, method=method)(x)
            np.testing.assert_array_equal(y, want)
            constant = pysimd.Resizer(x.shape, size, method=method)(np.full_like(x, 255))
            if method != "bilinear_opencv":
                assert (constant == 255).all()


@pytest.mark.parametrize("method", ["bilinear", "bilinear_caffe", "bilinear_pytorch"])
@pytest.mark.parametrize("dtype", ["float32", "uint16", "bfloat16"])
def test_resizer_floats(method: str, dtype: str) -> None:
    if dtype == "uint16" and method != "bilinear":
        with pytest.raises(ValueError, match="method"):
            pysimd.Resizer((3, 3, 1), 2, method=method, dtype=dtype)
        return
    rng = np.random.default_rng(6)
    for src, size in SIZES:
        x = rng.uniform(0, 65535, (*src, 3))
        x = np.rint(x) if dtype == "uint16" else x / 65535
        given = pysimd.to_bfloat16(x.astype(np.float32)) if dtype == "bfloat16" else x.astype(dtype)
        wide = pysimd.from_bfloat16(given) if dtype == "bfloat16" else given
        axes = []
        for n, m in zip(src, size):
            axes.append(np.zeros((m, n)))
            for i in range(m):
                j, a = split(i, n, m, method)
                axes[-1][i, j] += 1 - a
                axes[-1][i, min(j + 1, n - 1)] += a
        want = np.einsum("yh,xw,hwc->yxc", *axes, wide.astype(np.float64))
        y = pysimd.Resizer(x.shape, size, method=method, dtype=dtype)(given)
        found = pysimd.from_bfloat16(y) if dtype == "bfloat16" else y
        np.testing.assert_allclose(found, want, atol={"float32": 1e-6, "uint16": 0.51, "bfloat16": 2.0**-9 + 1e-5}[dtype])


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "bfloat16"])
def test_resizer_nearest(dtype: str) -> None:
    x = np.random.default_rng(7).integers(0, 200, (13, 9, 5))
    given = pysimd.to_bfloat16(x.astype(np.float32)) if dtype == "bfloat16" else x.astype(dtype)
    f = np.float32
    for method in ("nearest", "nearest_pytorch"):
        indices = []
        for n, m in ((13, 7), (9, 30)):
            whole = method == "nearest_pytorch"
            found = [i * n // m if whole else floor((f(i) + f(0.5)) * (f(n) / f(m))) for i in range(m)]
            indices.append(np.minimum(found, n - 1))
        result = pysimd.Resizer((13, 9, 5), (7, 30), method=method, dtype=dtype)(given)
        np.testing.assert_array_equal(result, given[np.ix_(*indices)])


@pytest.mark.parametrize("scale", [1 << 62, 10**30, 10**400, 1e300])
def test_a_scale_that_no_image_can_have_is_refused(scale: Any) -> None:
    with pytest.raises(ValueError, match=r"scale is .*, too large for"):
        pysimd.resize(np.zeros((4, 4, 2), np.float32), scale=scale)


def test_position_behind_the_last_element_without_taps(isa: str) -> None:
    x = np.full((1, 1, 1), 7, np.float32)
    y = pysimd.resize(x, (1, 2000001), scale=(1, 2e6), mode="linear", coordinates="asymmetric", exclude_outside=True)
    assert y.shape == (1, 2000001, 1)
    assert np.all(y == 7)
