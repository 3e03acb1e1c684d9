"""The formulas of quantised operators in NumPy: f() is a rounding to float32, and results have equal bits everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from support import Array

F = np.float32
LIMITS = {"uint8": (0, 255), "int8": (-128, 127)}


def saturated(x: Any, dtype: str) -> Array:
    """The nearest integers, ties to even, within the range of a type; NaN is the least."""
    least, most = LIMITS[dtype]
    return np.asarray(np.nan_to_num(np.clip(np.rint(x), least, most), nan=least), dtype)


def quantize(x: Any, scale: Any, zero: Any, dtype: str) -> Array:
    """QuantizeLinear: the zero is added after rounding."""
    with np.errstate(all="ignore"):
        ratio = np.rint((x / F(scale)).astype(F)).astype(np.float64)
    return saturated(ratio + np.float64(zero), dtype)


def dequantize(q: Any, scale: Any, zero: Any) -> Array:
    """DequantizeLinear."""
    return np.asarray((q.astype(np.int32) - np.int32(zero)).astype(F) * F(scale), F)


def dynamic_quantize(x: Array) -> tuple[Array, Any, Any]:
    """DynamicQuantizeLinear: all zeros have the scale 1; NaN counts as 0."""
    x = np.where(np.isnan(x), F(0), x)
    with np.errstate(all="ignore"):
        most, least = F(max(0, x.max(initial=0))), F(min(0, x.min(initial=0)))
        scale = F(F(most - least) / F(255)) or F(1)
        zero = np.rint(np.clip(np.nan_to_num(F(0) - F(least / scale), nan=0), 0, 255)).astype(np.uint8)
        return quantize(x, scale, int(zero), "uint8"), scale, zero


def matmul_integer(a: Array, b: Array, za: Any = 0, zb: Any = 0) -> Array:
    """MatMulInteger: exact sums; zeros are broadcast as they are."""
    wide = np.matmul(a.astype(np.int64) - np.int64(za), b.astype(np.int64) - np.int64(zb))
    return np.asarray(wide).astype(np.int32)


def requantize(sums: Any, factor: Any, zero: Any, dtype: str) -> Array:
    """saturated(nearest(f(float(sum) * factor)) + zero)."""
    return saturated(np.rint((sums.astype(F) * F(factor)).astype(F)).astype(np.float64) + np.float64(zero), dtype)
