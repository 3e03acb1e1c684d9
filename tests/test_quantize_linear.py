"""Floats as bytes and back, with scales and zeros, on every instruction set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pysimd
from pysimd.lowlevel import ffi, lib
from support import Array, assert_refused, floats


def quantized(x: Array, scale: Array, zero: Array, dtype: Any) -> Array:
    """The quotient in float32, then integers."""
    limits = np.iinfo(dtype)
    with np.errstate(all="ignore"):
        sums = np.rint((x / scale).astype(np.float64)) + zero
    return np.where(np.isnan(sums), limits.min, np.clip(sums, limits.min, limits.max)).astype(dtype)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_both_ways(isa: str, rng: np.random.Generator, dtype: Any) -> None:
    for shape, axis in (
        ((1,), None),
        ((200, 77), None),
        ((0, 3), None),
        ((5, 64), -1),
        ((40, 30, 3), 2),
        ((3, 7, 9, 9), 1),
        ((2, 5, 300), 1),
        ((3, 1500), 1),
        ((6, 40), 0),
        ((3, 0), 0),
    ):
        channels = 1 if axis is None else shape[axis]
        scale = (np.abs(floats(rng, channels)) + np.float32(0.01)).astype(np.float32)
        zero = rng.integers(0, 256, channels, np.uint8).view(dtype)
        broad: Any = [1] * len(shape)
        if axis is not None:
            broad[axis] = channels
        x = (floats(rng, *shape) * 100).astype(np.float32)
        expected = quantized(x, scale.reshape(broad), zero.reshape(broad).astype(np.float64), dtype)
        y = pysimd.quantize_linear(x, scale, zero, axis=axis)
        assert y.dtype == dtype
        assert np.array_equal(y, expected)
        back = pysimd.dequantize_linear(y, scale, zero, axis=axis)
        assert np.array_equal(back, (y.astype(np.float32) - zero.reshape(broad)) * scale.reshape(broad))


def test_quotients_next_to_ties(isa: str, rng: np.random.Generator) -> None:
    """Of scales for which no division is needed, and of those that are too small or too large for that."""
    powers = [-126.0, -61, -60, -59.5, -7, 0, *rng.uniform(-60, 60, 20), 59.5, 60, 61, 119]
    for scale in (np.float32(2**power) for power in powers):
        x = (scale * (rng.integers(-300, 300, 3000) + 0.5)).astype(np.float32)
        x = (x.view(np.int32) + rng.integers(-2, 3, x.size, np.int32)).view(np.float32)
        x[:5] = np.inf, -np.inf, np.nan, 3e38, 1e-45
        expected = quantized(x, np.array(scale), np.array(100.0), "uint8")
        assert np.array_equal(pysimd.quantize_linear(x, scale, 100), expected)


def test_scale_that_is_nearly_two(isa: str) -> None:
    """1 / scale is just above 1/2, which a product with the inverse and one addition do not tell from it."""
    scale, x = np.array(2 - 2**-23, np.float32), np.arange(-200, 200, dtype=np.float32)
    assert np.array_equal(pysimd.quantize_linear(x, scale, 100), quantized(x, scale, np.array(100.0), "uint8"))


def test_ties_and_limits(isa: str) -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, 1e9, -1e9, np.inf, -np.inf, np.nan, 300, -300], np.float32)
    expected = np.array([2, 4, 4, 2, 255, 0, 255, 0, 0, 255, 0], np.uint8)
    assert np.array_equal(pysimd.quantize_linear(x, 1, 2), expected)
    expected = np.array([0, 2, 2, 0, 127, -128, 127, -128, -128, 127, -128], np.int8)
    assert np.array_equal(pysimd.quantize_linear(x, 1, dtype="int8"), expected)
    third = np.arange(-400, 400, dtype=np.float32) * np.float32(0.05)  # x / 0.1 is a tie, x * 10 is not always
    assert np.array_equal(
        pysimd.quantize_linear(third, 0.1, 128), quantized(third, np.array(0.1, np.float32), np.array(128.0), "uint8")
    )


def test_documented_functions(isa: str, rng: np.random.Generator) -> None:
    x, norm = (floats(rng, 1001) * 300).astype(np.float32), np.float32(0.7)
    bytes_, back = np.empty(1001, np.uint8), np.empty(1001, np.float32)

    def at(array: Array, kind: str) -> Any:
        return ffi.cast(kind, array.ctypes.data)

    for zero in (0, 128, 255, -5, 1000, 2**23):
        lib.SimdSynetQuantizeLinear(at(x, "float *"), x.size, (norm,), zero, at(bytes_, "uint8_t *"))
        expected = np.clip(np.rint((x * norm).astype(np.float64)) + zero, 0, 255)
        assert np.array_equal(bytes_, expected)
        lib.SimdSynetDequantizeLinear(at(bytes_, "uint8_t *"), x.size, -zero, (norm,), at(back, "float *"))
        assert np.array_equal(back, (bytes_.astype(np.float32) - np.float32(zero)) * norm)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"x": np.ones(4)}, TypeError, "x has dtype float64"),
        ({"x": np.ones(8, np.float32)[::2]}, ValueError, "x is not C-contiguous"),
        ({"scale": np.ones(3, np.float32)}, ValueError, "scale has shape"),
        ({"scale": np.ones(4)}, TypeError, "scale has dtype"),
        ({"zero": 256}, ValueError, "zero is 256, expected an integer, 0 .. 255, for uint8"),
        ({"zero": 1.5}, ValueError, "zero is 1.5, expected an integer"),
        ({"zero": np.ones(3, np.uint8)}, ValueError, "zero has shape"),
        ({"zero": np.ones(4, np.int8), "dtype": "uint8"}, TypeError, "zero has dtype int8"),
        ({"axis": 1}, ValueError, "axis is 1, expected -1 .. 0"),
        ({"axis": -2}, ValueError, "axis is -2"),
        ({"dtype": "float32"}, TypeError, "dtype has dtype float32"),
        ({"out": np.zeros(5, np.uint8)}, ValueError, "out has shape"),
        ({"out": np.zeros(4, np.int16)}, TypeError, "out has dtype"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    arguments: dict[str, Any] = {"x": np.ones(4, np.float32), "scale": np.ones(4, np.float32), "axis": 0, **change}
    out = arguments.pop("out", np.full(4, 7, np.uint8))
    assert_refused(pysimd.quantize_linear, error, sentence, out, **arguments)


def test_dequantize_refused() -> None:
    with pytest.raises(TypeError, match="x has dtype float32"):
        pysimd.dequantize_linear(np.ones(4, np.float32), 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"zero is 128, expected an integer, -128 \.\. 127, for int8"):
        pysimd.dequantize_linear(np.ones(4, np.int8), 1, 128)
    with pytest.raises(ValueError, match="out overlaps scale"):
        memory = np.zeros(4, np.float32)
        pysimd.dequantize_linear(np.ones(4, np.uint8), memory, axis=0, out=memory)


@pytest.mark.parametrize("zero", [float("inf"), float("-inf"), float("nan")])
def test_a_zero_that_is_not_finite_is_refused(zero: Any) -> None:
    with pytest.raises(ValueError, match=f"zero is {zero}, expected an integer"):
        pysimd.dequantize_linear(np.zeros(3, np.uint8), 1.0, zero)


@pytest.mark.parametrize("huge", [10**400, -(10**400)])
def test_numbers_that_no_float_can_hold_are_refused(huge: int) -> None:
    x, y = np.zeros(3, np.uint8), np.zeros(3, np.float32)
    calls = (
        lambda: pysimd.dequantize_linear(x, huge),
        lambda: pysimd.add(y, huge),
        lambda: pysimd.hardswish(y, scale=huge),
        lambda: pysimd.prepare(pysimd.hardswish, y, scale=huge),
    )
    for call in calls:
        with pytest.raises(ValueError, match="which is too large for a float"):
            call()


@pytest.mark.parametrize("shape", [(), (1,)])
def test_prepared_calls_read_scale_and_zero_each_time(shape: tuple[int, ...]) -> None:
    """Arrays of one element, too, if there is one scale."""
    x = np.array([0, 1, 2, 3], np.float32)
    scale, zero = np.ones(shape, np.float32), np.zeros(shape, np.uint8)
    down = pysimd.prepare(pysimd.quantize_linear, x, scale, zero)
    up = pysimd.prepare(pysimd.dequantize_linear, down.result, scale, zero)
    scale[...], zero[...] = 0.5, 7
    assert down().tolist() == [7, 9, 11, 13]
    assert up().tolist() == [0, 1, 2, 3]
