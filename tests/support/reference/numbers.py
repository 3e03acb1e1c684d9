"""Errors of float32 arithmetic, and bfloat16."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

EPS = float(np.finfo(np.float32).eps) / 2  # the largest relative error of a rounding
TINY = float(np.finfo(np.float32).smallest_subnormal)
LOWEST = np.float32(-np.finfo(np.float32).max)


def from_bfloat16(x: Array) -> Array:
    """bfloat16, as uint16, to float32: it is the upper half."""
    return (x.astype(np.uint32) << 16).view(np.float32)


def to_bfloat16(x: Array) -> Array:
    """float32 to bfloat16, as uint16: nearest, ties to even, found by comparing the two neighbours. NaN: any quiet one."""
    x = np.asarray(x, np.float32)
    bits = x.view(np.uint32)
    below = (bits >> 16).astype(np.uint16)  # towards zero
    above = (below + np.uint16(1)).astype(np.uint16)
    with np.errstate(invalid="ignore"):
        magnitude = np.abs(x.astype(np.float64))
        low = np.abs(from_bfloat16(below).astype(np.float64))
        # The next one away from zero. Beyond the largest finite value it is 2**128, which gives the tie required by IEEE
        # 754.
        high = np.abs(from_bfloat16(above).astype(np.float64))
        high = np.where(np.isinf(high), 2.0**128, high)
        up = (magnitude - low > high - magnitude) | ((magnitude - low == high - magnitude) & (below & 1 == 1))
    rounded = np.where(np.isinf(x), below, np.where(up, above, below)).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), rounded)
