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


def blocks(rows: Array, block: int, symmetric: bool) -> tuple[Array, Array, Array | None]:
    """Rows of weights (N, K) as MatMulNBits has them: 4 bits each, two in a byte, with a scale for each block of K.

    Returns the bytes (N, blocks, block / 2), the scales (N, blocks), and the zeros, two in a byte; None if all are 8.
    """
    count, size = rows.shape
    wide = np.zeros((count, -(-size // block) * block), np.float64)
    wide[:, :size] = rows
    parts = wide.reshape(count, -1, block)
    if symmetric:
        scale, zero = _divided(np.abs(parts).max(2), 7), np.full(parts.shape[:2], 8.0)
    else:
        least, most = np.minimum(parts.min(2), 0), np.maximum(parts.max(2), 0)
        scale = _divided(most - least, 15)
        zero = np.clip(np.rint(-least / scale), 0, 15)
    numbers = np.clip(np.rint(parts / scale[..., None]) + zero[..., None], 0, 15).astype(np.uint8)
    packed = numbers[..., ::2] | numbers[..., 1::2] << 4
    return packed, scale.astype(np.float32), None if symmetric else _pairs(zero.astype(np.uint8))


def _divided(ranges: Array, levels: int) -> Array:
    """Scales as float32; 1 where all weights are zero."""
    scale = (ranges / levels).astype(np.float32)
    return np.where(scale < _TINY, np.float32(1), scale)


def _pairs(zeros: Array) -> Array:
    """Two numbers of each row in a byte."""
    even = zeros if zeros.shape[1] % 2 == 0 else np.pad(zeros, ((0, 0), (0, 1)))
    packed: Array = even[:, ::2] | even[:, 1::2] << 4
    return packed.reshape(-1)
