"""Weights as integers with a sign, without a zero point."""

from __future__ import annotations

import numpy as np

from pysimd.annotations import Array

_TINY = float(np.finfo(np.float32).tiny)
_MOST_BIAS = (1 << 31) - 1


def scales_of(weight: Array, axis: int) -> Array:
    """One for each output, so that the largest weight is 127; 1 where all are zero."""
    largest = np.abs(weight).max(tuple(i for i in range(weight.ndim) if i != axis)).astype(np.float64)
    scale = largest / 127
    return np.where(scale < _TINY, 1.0, scale).astype(np.float32)


def raised(scales: Array, of_x: np.float32, bias: Array | None) -> Array:
    """Scales with which the bias, in units of the sums, is an int32."""
    if bias is None:
        return scales
    least = np.abs(bias).astype(np.float64) / (float(of_x) * (_MOST_BIAS - 128))
    return np.maximum(scales, least.astype(np.float32))


def quantized(weight: Array, scales: Array, axis: int) -> Array:
    """The nearest integers from -127 to 127."""
    along = scales.reshape([-1 if i == axis else 1 for i in range(weight.ndim)])
    return np.clip(np.rint(weight / along), -127, 127).astype(np.int8)


def bias_of_sums(bias: Array, scales: Array) -> Array:
    """A bias in units of the sums."""
    limits = np.iinfo(np.int32)
    return np.clip(np.rint(bias.astype(np.float64) / scales), limits.min, limits.max).astype(np.int32)
