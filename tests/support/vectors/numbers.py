"""Roundings: of floats, of bytes, of bfloat16 numbers; values of bytes; channels."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Linear = tuple[float, int]  # the scale and the zero of a tensor
F = np.float32
GREATEST = Fraction(float(np.finfo(np.float32).max))


def f(x: Any) -> Any:
    """Rounded to float32."""
    return np.asarray(x).astype(F)


def nearest_float(x: Fraction) -> float:
    """A number that is rounded once to float32, ties to even."""
    if x == 0:
        return 0.0
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
    exponent -= abs(x) < Fraction(2) ** exponent
    step = Fraction(2) ** (max(exponent, -126) - 23)
    rounded = round(x / step) * step
    return float(rounded) if abs(rounded) <= GREATEST else float("inf") * (1 if x > 0 else -1)


def fma(a: Any, b: Any, c: Any) -> Array:
    """a * b + c, rounded once."""
    a, b, c = np.broadcast_arrays(f(a), f(b), f(c))
    terms = zip(*(each.reshape(-1).tolist() for each in (a, b, c)))
    sums = [nearest_float(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in terms]
    return np.array(sums, F).reshape(a.shape)


def limited(v: Any, zero: Any = 0, dtype: Any = np.uint8, most: int | None = None) -> Array:
    """The nearest integers, ties to even, then the zero, then the limits; NaN is the least."""
    limits = np.iinfo(dtype)
    whole = np.rint(np.asarray(v, np.float64)) + np.asarray(zero, np.float64)
    whole = np.clip(whole, limits.min, limits.max if most is None else most)
    result: Array = np.where(np.isnan(whole), limits.min, whole).astype(dtype)
    return result


def value(x: Array, linear: Linear) -> Array:
    """What bytes stand for."""
    scale, zero = linear
    return np.asarray(f(f(x.astype(np.int32) - zero) * F(scale)))


def along(coefficients: Any, x: Array, layout: str) -> Any:
    """One coefficient for each channel, which broadcasts over `x`."""
    values = np.asarray(coefficients, F)
    return values if values.ndim == 0 or layout == "nhwc" else values.reshape(-1, 1, 1)


def to_bfloat16(x: Any) -> Array:
    """The nearest of the two bfloat16 numbers beside a float, the one with the even last bit of a tie; NaN becomes quiet."""
    bits = f(x).view(np.uint32)
    below, rest = bits >> 16, bits & 0xFFFF
    up = (rest > 0x8000) | ((rest == 0x8000) & (below % 2 == 1))
    nan = (bits & 0x7FFFFFFF) > 0x7F800000
    result: Array = np.where(nan, below | 0x40, below + up).astype(np.uint16)
    return result


def from_bfloat16(x: Array) -> Array:
    """bfloat16 numbers, as uint16, as floats."""
    return (x.astype(np.uint32) << 16).view(F)


def floats_of(x: Array) -> Array:
    """Floats, or bfloat16 numbers as floats."""
    return from_bfloat16(x) if x.dtype == np.uint16 else x


def as_dtype(y: Any, dtype: str) -> Array:
    """Floats as they are, or as bfloat16 numbers."""
    rounded: Array = to_bfloat16(y) if dtype == "bfloat16" else f(y)
    return rounded
