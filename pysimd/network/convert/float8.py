"""Floats of 8 and 4 bits in files: each byte is one of 256 numbers, which are float32 here.

The types differ in the bits of the exponent, in its bias, and in what is NaN: with FN, the bytes whose bits but for the sign
are all set, and there is no infinity; with FNUZ, the byte of -0 alone. E5M2 is as float16, with fewer bits. E2M1 has 4 bits
and only numbers; E8M0 only powers of 2, and NaN.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from pysimd.annotations import Array

#: By their numbers in ONNX: the bits of the fraction, the bias of the exponent, and the bytes of NaN.
_TYPES = {
    17: (3, 7, (0x7F, 0xFF)),  # E4M3FN
    18: (3, 8, (0x80,)),  # E4M3FNUZ
    19: (2, 15, (0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF)),  # E5M2
    20: (2, 16, (0x80,)),  # E5M2FNUZ
}
_INFINITY = {19: 0x7C}
_NO_NEGATIVE_ZERO = (18, 20)
FLOAT4, POWERS = 23, 24  # E2M1 and E8M0

FLOAT8 = tuple(_TYPES)
SMALL_FLOATS = (*FLOAT8, FLOAT4, POWERS)


@cache
def numbers_of(kind: int) -> Array:
    """The float of each byte, for the number of a type."""
    if kind == POWERS:
        return np.append(np.ldexp(1.0, np.arange(255) - 127), np.nan).astype(np.float32)
    if kind == FLOAT4:
        half = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
        return np.concatenate([half, -half])
    digits, bias, nan = _TYPES[kind]
    every = np.arange(256)
    size, exponent = every & 127, (every & 127) >> digits
    fraction = (size & ((1 << digits) - 1)) / (1 << digits)
    found = np.where(exponent > 0, np.ldexp(1 + fraction, exponent - bias), np.ldexp(fraction, 1 - bias))
    if kind in _INFINITY:
        found[size == _INFINITY[kind]] = np.inf
    found = np.where(every > 127, -found, found)
    found[list(nan)] = np.nan
    return found.astype(np.float32)


def rounded(x: Array, kind: int, saturate: bool = True, mode: str = "up") -> Array:
    """The nearest number of a type for each float, ties to the even byte.

    saturate : what is beyond the largest number becomes it, infinity too; else infinity, or NaN where there is none.
    mode : "up", "down" or "nearest", of powers of 2.
    """
    with np.errstate(all="ignore"):  # of NaN
        x = np.asarray(x, np.float32)
        return _power(x, saturate, mode) if kind == POWERS else _nearest(x, kind, saturate)


def _nearest(x: Array, kind: int, saturate: bool) -> Array:
    numbers = numbers_of(kind)[: len(numbers_of(kind)) // 2]
    numbers = numbers[np.isfinite(numbers)].astype(np.float64)
    beyond = 2 * numbers[-1] - numbers[-2]  # what would follow the largest
    between = (numbers + np.append(numbers[1:], beyond)) / 2
    size = np.abs(x).astype(np.float64)
    place = np.searchsorted(between, size)  # ties go down
    tie = (place < len(between)) & (size == between[np.minimum(place, len(between) - 1)])
    place += tie & (place % 2 == 1)
    known = kind == FLOAT4 or saturate
    most = numbers[-1] if known else np.inf if kind in _INFINITY else np.nan
    found = np.copysign(np.append(numbers, most)[place], x)
    if kind == FLOAT4:
        return np.where(np.isnan(x), -0.0, found).astype(np.float32)  # there is no NaN
    if kind in _NO_NEGATIVE_ZERO:
        found = np.where(found == 0, 0.0, found)
    return np.where(np.isnan(x), np.nan, found).astype(np.float32)


def _power(x: Array, saturate: bool, mode: str) -> Array:
    """The power of 2 beside the size of each number; infinity is NaN, and 0 the least power."""
    if mode not in ("up", "down", "nearest"):
        raise ValueError(f"round_mode is {mode!r}, expected 'up', 'down' or 'nearest'")
    bits = np.ascontiguousarray(x).view(np.uint32).reshape(x.shape)
    exponent, fraction = ((bits >> 23) & 255).astype(np.int64), bits & 0x7FFFFF
    half = np.where(exponent > 0, fraction >= 0x400000, fraction > 0x400000)
    more = {"up": fraction > 0, "down": np.zeros(x.shape, bool), "nearest": half}[mode]
    more = more & (exponent < (254 if saturate else 255))
    return numbers_of(POWERS)[exponent + more]
