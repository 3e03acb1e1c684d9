"""The formulas of quantised operators in NumPy: f() is a rounding to float32, and results have equal bits everywhere."""

from __future__ import annotations

from fractions import Fraction
from math import frexp
from typing import Any

import numpy as np

from support import Array

F = np.float32
#: The operators of com.microsoft that test_quantised.py has.
MICROSOFT = (
    "DequantizeLinear", "DynamicQuantizeLSTM", "DynamicQuantizeMatMul", "EmbedLayerNormalization", "GatherBlockQuantized",
    "MatMulIntegerToFloat", "MatMulNBits", "QAttention", "QEmbedLayerNormalization", "QGemm", "QLinearAdd",
    "QLinearAveragePool", "QLinearConcat", "QLinearConv", "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearMul",
    "QLinearReduceMean", "QLinearSigmoid", "QLinearSoftmax", "QLinearWhere", "QuantizeLinear",
)  # fmt: skip
LIMITS = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}


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
    """DynamicQuantizeLinear: all zeros have the scale 1; NaN is not of the range, and becomes 0."""
    known = x[~np.isnan(x)]
    with np.errstate(all="ignore"):
        most, least = F(max(0, known.max(initial=0))), F(min(0, known.min(initial=0)))
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


def to_float(sums: Any, sa: Any, sb: Any, bias: Any = None) -> Array:
    """MatMulIntegerToFloat: two roundings, and one for the bias."""
    y = (sums.astype(F) * (F(sa) * F(sb)).astype(F)).astype(F)
    return np.asarray(y if bias is None else y + F(bias), F)


def factor(sa: Any, sb: Any, sy: Any) -> Array:
    """f(f(sa * sb) / sy)."""
    return np.asarray((F(sa) * F(sb)).astype(F) / F(sy), F)


def decode(packed: Array, scale: Array, zero: Any, bits: int, block: int, size: int) -> Array:
    """The weights (N, K) of MatMulNBits, one by one."""
    count, blocks = len(packed), -(-size // block)

    def at(data: Array, i: int) -> int:
        return int(data.reshape(-1)[i * bits // 8]) >> i * bits % 8 & (1 << bits) - 1

    found = np.zeros((count, size), F)
    for n in range(count):
        for k in range(size):
            of = n * blocks + k // block
            z: Any = 1 << (bits - 1)
            if zero is not None:
                row = zero.reshape(count, -1)[n]
                z = at(row, k // block) if zero.dtype == np.uint8 else row[k // block]
            found[n, k] = (F(at(packed[n], k)) - F(z)) * F(scale.reshape(-1)[of])
    return found


def nbits_product(x: Array, packed: Array, scale: Array, zero: Any, bits: int) -> Array:
    """MatMulNBits with the level of accuracy 4, without a bias: x is quantised in blocks."""
    count, blocks, block = len(packed), packed.shape[1], packed.shape[2] * 8 // bits
    rows = np.zeros((int(np.prod(x.shape[:-1])), blocks, block), F)
    rows.reshape(len(rows), -1)[:, : x.shape[-1]] = x.reshape(len(rows), -1)
    of_x = (np.abs(rows).max(-1, keepdims=True) / F(127)).astype(F)
    q = np.rint(rows / np.where(of_x > 0, of_x, F(1)))
    w = decode(packed, np.ones((count, blocks), F), zero, bits, block, blocks * block).reshape(count, blocks, block)
    sums = np.einsum("ibk,jbk->ijb", q.astype(np.float64), w.astype(np.float64))
    factors = (of_x[:, None, :, 0] * scale.reshape(1, count, blocks)).astype(F)
    return np.asarray((sums * factors).sum(-1).reshape(*x.shape[:-1], count).astype(F))


def conv_integer(x: Array, w: Array, zx: Any, zw: Any, strides: Any, pads: Any, dilations: Any, group: int) -> Array:
    """ConvInteger: pads are (top, left, bottom, right); zw one number, or one of each output."""
    wide = np.pad(x.astype(np.int64) - int(zx), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    weight = w.astype(np.int64) - np.reshape(np.int64(zw), (-1, 1, 1, 1))
    (n, _, h, width), (outputs, part, ky, kx) = wide.shape, w.shape
    oh, ow = ((m - d * (k - 1) - 1) // s + 1 for m, d, k, s in zip((h, width), dilations, (ky, kx), strides))
    found = np.zeros((n, outputs, oh, ow), np.int64)
    for o in range(outputs):
        first = o // (outputs // group) * part
        for i in range(part):
            for y in range(ky):
                for z in range(kx):
                    at = wide[:, first + i, y * dilations[0] :: strides[0], z * dilations[1] :: strides[1]]
                    found[:, o] += at[:, :oh, :ow] * weight[o, i, y, z]
    return found.astype(np.int32)


def _nearest32(x: Fraction) -> float:
    """A number rounded once to float32; there are no subnormal ones here."""
    if x == 0:
        return 0.0
    step = Fraction(2) ** (frexp(float(x))[1] - 24)
    return float(round(x / step) * step)


def add(a: Array, b: Array, sa: Any, za: Any, sb: Any, zb: Any, sy: Any, zy: Any, dtype: str) -> Array:
    """QLinearAdd of flat arrays, one by one: saturated(nearest(fma(a, ra, fma(b, rb, t))))."""
    ra, rb = F(sa / sy), F(sb / sy)
    t = F(zy) - (F(ra * F(za)) + F(rb * F(zb)))
    found = []
    for x, y in zip(a.tolist(), b.tolist()):
        inner = _nearest32(y * Fraction(float(rb)) + Fraction(float(t)))
        found.append(_nearest32(x * Fraction(float(ra)) + Fraction(inner)))
    return saturated(np.array(found, F), dtype)


def multiply(a: Array, b: Array, sa: Any, za: Any, sb: Any, zb: Any, sy: Any, zy: Any, dtype: str) -> Array:
    """QLinearMul: the zero is added before rounding."""
    p = (a.astype(np.int32) - np.int32(za)) * (b.astype(np.int32) - np.int32(zb))
    return saturated((p.astype(F) * F(F(sa * sb) / sy)).astype(F) + F(zy), dtype)


def global_mean(x: Array, sx: Any, zx: Any, sy: Any, zy: Any, dtype: str) -> Array:
    """QLinearGlobalAveragePool of (N, C, H, W)."""
    n = x.shape[2] * x.shape[3]
    sums = x.astype(np.int32).sum((2, 3), keepdims=True) - n * np.int32(zx)
    return requantize(sums, F(sx / F(sy * F(n))), zy, dtype)


def mean(
    x: Array, sx: Any, zx: Any, sy: Any, zy: Any, kernel: Any, strides: Any, pads: Any, ceil: bool, all_: bool
) -> Array:
    """QLinearAveragePool of (N, C, H, W), window by window."""
    values, (h, w), (top, left, bottom, right) = dequantize(x, sx, zx), x.shape[2:], pads
    rooms = (h + top + bottom - kernel[0], w + left + right - kernel[1])
    counts = [-(-room // s) + 1 if ceil else room // s + 1 for room, s in zip(rooms, strides)]
    if ceil:  # a window that begins beyond the image and the padding before it is none
        counts = [n - ((n - 1) * s >= m + before) for n, s, m, before in zip(counts, strides, (h, w), (top, left))]
    found = np.zeros((*x.shape[:2], *counts), F)
    for i, j in np.ndindex(*counts):
        y, z = i * strides[0] - top, j * strides[1] - left
        rows, columns = range(max(y, 0), min(y + kernel[0], h)), range(max(z, 0), min(z + kernel[1], w))
        total = np.zeros(x.shape[:2], F)
        for row in rows:
            for column in columns:
                total = total + values[:, :, row, column]
        count = len(rows) * len(columns)
        if all_:
            count = (min(y + kernel[0], h + bottom) - y) * (min(z + kernel[1], w + right) - z)
        found[:, :, i, j] = total / F(count)
    return saturated((found / F(sy)).astype(F) + F(zy), str(x.dtype))
