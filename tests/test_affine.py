"""Layers of bfloat16 numbers and of bytes with coefficients of channels, beside NumPy on every instruction set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.lowlevel import ffi, lib
from support import Array, assert_same, floats, reference

SHAPES = [(1, 1, 1), (3, 5, 7), (4, 2, 9), (16, 4, 5), (17, 1, 33), (64, 7, 7), (2, 9, 40), (3, 20, 20), (130, 2, 1)]
LAYOUTS: list[Any] = ["nchw", "nhwc"]


def bf16(x: Array) -> Array:
    return reference.to_bfloat16(x)


def widened(x: Array) -> Array:
    return reference.from_bfloat16(x) if x.dtype == np.uint16 else x.astype(np.float32)


def nearest_bytes(t: Array, upper: int = 255) -> Array:
    """To the nearest integer, ties to even; NaN is 0."""
    return np.clip(np.rint(np.where(np.isnan(t), np.float32(0), t)), 0, upper).astype(np.uint8)


def each(values: Array) -> Array:
    return values[:, None, None]


def test_relu_16b_of_every_number(isa: str) -> None:
    x = np.arange(65536, dtype=np.uint32).astype(np.uint16)
    wide = widened(x)
    for slope in (0.0, 0.25, -3.0):
        with np.errstate(all="ignore"):
            expected = bf16(np.where(wide > 0, wide, 0) + np.float32(slope) * np.where(wide > 0, 0, wide))
        y = pysimd.relu_16b(x, slope=slope)
        number = ~np.isnan(widened(expected))
        assert np.array_equal(y[number], expected[number])
        assert np.isnan(widened(y[~number])).all()
    assert pysimd.relu_16b(np.array([0x8000], np.uint16), slope=0.5)[0] == 0


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("terms", [(True, True), (True, False), (False, True)])
def test_scale_16b(isa: str, rng: np.random.Generator, layout: Any, terms: tuple[bool, bool]) -> None:
    for shape in SHAPES:
        chw, norm, bias = floats(rng, *shape), floats(rng, shape[0]), floats(rng, shape[0])
        given = [value if wanted else None for value, wanted in zip((norm, bias), terms)]
        for src, dst in (("bfloat16", "bfloat16"), ("float32", "bfloat16"), ("bfloat16", "float32"), ("float32", "float32")):
            values = bf16(chw) if src == "bfloat16" else chw
            y = widened(values)
            if terms[0]:
                y = y * each(norm)
            if terms[1]:
                y = y + each(bias)
            x = reference.from_chw(values, layout)
            with pysimd.Scale16b(
                x.shape, src_dtype=src, dst_dtype=dst, norm=terms[0], bias=terms[1], layout=layout
            ) as context:
                result = context(x, *given)
            assert_same(reference.to_chw(result, layout), bf16(y) if dst == "bfloat16" else y)


def test_scale_16b_keeps_zeros_and_batches(rng: np.random.Generator) -> None:
    zeros = np.array([[0.0], [-0.0]], np.float32)
    with pysimd.Scale16b(zeros.shape, src_dtype="float32", dst_dtype="float32", bias=False) as context:
        assert np.signbit(context(zeros, 1.0))[:, 0].tolist() == [False, True]
    x = bf16(floats(rng, 3, 5, 4, 6))
    with pysimd.Scale16b(x.shape, layout="nchw") as context, pysimd.Scale16b(x.shape[1:], layout="nchw") as one:
        norm = floats(rng, 5)
        expected = np.stack([one(image, norm, 1.0) for image in x])
        assert_same(context(x, norm, 1.0), expected)
        assert_same(context(x, norm, 1.0, out=x), expected)
        with pytest.raises(TypeError, match="norm is None, expected coefficients"):
            context(x)
    with pysimd.Scale16b((2, 2), bias=False) as context, pytest.raises(TypeError, match="bias is given, expected None"):
        context(np.zeros((2, 2), np.uint16), 1.0, 1.0)
    with pytest.raises(ValueError, match="norm and bias are SimdFalse"):
        pysimd.Scale16b((2, 2), norm=False, bias=False)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_conversions(isa: str, rng: np.random.Generator, layout: Any) -> None:
    """Ties, numbers beyond the range, infinities and NaN; 180 is the largest byte in narrowed mode."""
    form = {"nchw": lib.SimdTensorFormatNchw, "nhwc": lib.SimdTensorFormatNhwc}[layout]
    for c, h, w in SHAPES:
        chw = (rng.integers(-40, 1100, (c, h, w)) / 2).astype(np.float32)
        chw.reshape(-1)[:: max(c * h * w // 3, 1)] = np.resize(np.array([np.nan, np.inf, -np.inf], np.float32), 3)[:1]
        scale = rng.choice(np.array([0.5, 1, -1, 0.3, np.inf, 0], np.float32), c)
        shift = rng.choice(np.array([0, 128, 0.5], np.float32), c)
        x = reference.from_chw(chw, layout)
        terms = ffi.from_buffer("float[]", scale), ffi.from_buffer("float[]", shift)
        for flags, upper in ((0, 255), (8, 180)):
            y = np.empty(x.shape, np.uint8)
            pointers = ffi.from_buffer("float[]", x), ffi.from_buffer("uint8_t[]", y)
            lib.SimdSynetConvert32fTo8u(pointers[0], 1, c, h, w, form, *terms, pointers[1], flags)
            with np.errstate(all="ignore"):
                assert_same(reference.to_chw(y, layout), nearest_bytes(chw * each(scale) + each(shift), upper))
        z = np.empty(x.shape, np.float32)
        lib.SimdSynetConvert8uTo32f(pointers[1], 1, c, h, w, form, *terms, ffi.from_buffer("float[]", z), 0)
        with np.errstate(all="ignore"):
            expected = reference.to_chw(y, layout).astype(np.float32) * each(scale) + each(shift)
        assert np.array_equal(reference.to_chw(z, layout), expected, equal_nan=True)


def limits(rng: np.random.Generator, channels: int, signed: bool) -> pysimd.Statistics:
    least = -np.abs(floats(rng, channels)) if signed else np.zeros(channels, np.float32)
    return pysimd.Statistics(least, np.abs(floats(rng, channels)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("signed", [False, True])
def test_scale_8i(isa: str, rng: np.random.Generator, layout: Any, signed: bool) -> None:
    for shape in SHAPES:
        scale, bias = floats(rng, shape[0]), floats(rng, shape[0])
        before, behind = limits(rng, shape[0], signed), limits(rng, shape[0], not signed)
        for src, dst in (("uint8", "uint8"), ("float32", "uint8"), ("uint8", "float32"), ("float32", "float32")):
            for given in (bias, None):
                narrow = src == "uint8"
                chw = rng.integers(0, 256, shape).astype(np.uint8) if narrow else floats(rng, *shape)
                one, zero = np.ones_like(scale), np.zeros_like(scale)
                k, h = (before.step, np.float32(-before.zero) * before.step) if narrow else (one, zero)
                k, h = k * scale, h * scale
                h = h if given is None else h + given
                if dst == "uint8":
                    k, h = k * behind.scale, h * behind.scale + np.float32(behind.zero)
                y = chw.astype(np.float32) * each(k) + each(h)
                x = reference.from_chw(chw, layout)
                with pysimd.Scale8i(x.shape, src_dtype=src, dst_dtype=dst, layout=layout) as context:
                    context.set_params(scale, given, before, behind)
                    result = reference.to_chw(context(x), layout)
                assert_same(result, nearest_bytes(y) if dst == "uint8" else y)


def test_scale_8i_statistics_of_other_signs(rng: np.random.Generator) -> None:
    """Nothing remains of former parameters; and a context that takes over those of another one has its bits."""
    x = rng.integers(0, 256, (7, 5)).astype(np.uint8)
    signed, unsigned = limits(rng, 5, True), limits(rng, 5, False)
    with pysimd.Scale8i(x.shape) as again, pysimd.Scale8i(x.shape) as fresh, pysimd.Scale8i((3, 7, 5)) as other:
        again.set_params(1.0, None, signed, signed)
        again.set_params(2.0, 1.0, unsigned, unsigned)
        fresh.set_params(2.0, 1.0, unsigned, unsigned)
        assert_same(again(x), fresh(x))
        other.share_params(fresh)
        fresh.set_params(1.0, None, signed, signed)
        assert_same(other(np.stack([x] * 3))[2], again(x))
        with pytest.raises(ValueError, match=r"channels of other is 5, expected 4"):
            pysimd.Scale8i((7, 4)).share_params(fresh)
        with pytest.raises(ValueError, match="'8u -> 8u', expected '8u -> 32f'"):
            pysimd.Scale8i((7, 5), dst_dtype="float32").share_params(fresh)
        with pytest.raises(ValueError, match="scale of channel 0 is nan"):
            fresh.set_params(np.nan, None, signed, signed)
        with pytest.raises(TypeError, match="dst_stats is None"):
            fresh.set_params(1.0, None, signed)
