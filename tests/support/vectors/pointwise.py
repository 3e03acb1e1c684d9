"""Functions of elements, of channels and of windows of bytes, in NumPy's float32, as in the header and ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from support.vectors.numbers import Array, F, Linear, along, f, fma, limited, value


def _at_axis(x: Array, numbers: Array, axis: int | None) -> Array:
    return numbers.reshape([-1 if i == axis else 1 for i in range(x.ndim)]) if axis is not None else numbers


def quantize_linear(x: Array, scale: Array, zero: Array, axis: int | None) -> Array:
    """Quotients, not products; the zero joins integers."""
    quotients = f(x / _at_axis(x, scale, axis))
    return limited(quotients, _at_axis(x, zero, axis).astype(np.int32), zero.dtype)


def dequantize_linear(x: Array, scale: Array, zero: Array, axis: int | None) -> Array:
    differences = f(x.astype(np.int32) - _at_axis(x, zero, axis).astype(np.int32))
    return np.asarray(f(differences * _at_axis(x, scale, axis)))


def quantize_by_norm(x: Array, norm: Array, zero: int) -> Array:
    return limited(f(x * norm), zero)


def dequantize_by_norm(x: Array, norm: Array, bias: int) -> Array:
    return np.asarray(f(f(x.astype(np.int32) + bias) * norm))


def dynamic_quantize(x: Array) -> tuple[Array, Array, Array]:
    """The bytes, the scale and the zero."""
    numbers = x[~np.isnan(x)]
    most, least = numbers.max(initial=F(0)), numbers.min(initial=F(0))
    scale = f(f(most - least) / F(255))
    scale = F(1) if scale == 0 else scale
    zero = limited(f(F(0) - f(least / scale)))
    bytes_ = limited(f(x / scale), zero) if np.isfinite(scale) else np.zeros(x.shape, np.uint8)
    return bytes_, np.asarray(scale, F), zero if np.isfinite(scale) else np.zeros((), np.uint8)


def convert_to_8u(x: Array, scale: Array, shift: Array, layout: str, narrowed: bool) -> Array:
    sums = f(f(x * along(scale, x, layout)) + along(shift, x, layout))
    return limited(sums, most=180 if narrowed else 255)


def convert_to_32f(x: Array, scale: Array, shift: Array, layout: str) -> Array:
    return np.asarray(f(f(x.astype(F) * along(scale, x, layout)) + along(shift, x, layout)))


def steps(least: Array, most: Array) -> tuple[Array, Array, int]:
    """inv, scale and zero of statistics."""
    negative = bool((least < 0).any())
    inv = f(np.maximum(np.abs(least), np.abs(most)) / F(127 if negative else 255))
    inv = np.where(inv < F(1e-7), F(1), inv)
    return inv, f(F(1) / inv), 128 if negative else 0


def scale_8i(x: Array, scale: Array, bias: Array | None, src: Any, dst: Any, layout: str, dst_dtype: str) -> Array:
    """src, dst : minima and maxima."""
    k, h = np.ones_like(scale), np.zeros_like(scale)
    if x.dtype == np.uint8:
        inv, _, zero = steps(*src)
        k, h = inv, f(F(-zero) * inv)
    k, h = f(k * scale), f(h * scale)
    h = h if bias is None else f(h + bias)
    if dst_dtype == "uint8":
        _, by, zero = steps(*dst)
        k, h = f(k * by), f(f(h * by) + F(zero))
    y = f(f(x.astype(F) * along(k, x, layout)) + along(h, x, layout))
    return limited(y) if dst_dtype == "uint8" else np.asarray(y)


def add_8i(a: Array, b: Array, coefficients: Sequence[Array], layout: str, narrowed: bool) -> Array:
    """coefficients : scale and shift of a, of b and of the sum."""
    a_scale, a_shift, b_scale, b_shift, scale, shift = (along(each, a, layout) for each in coefficients)
    left, right = f(f(a.astype(F) * a_scale) + a_shift), f(f(b.astype(F) * b_scale) + b_shift)
    return limited(f(f(f(left + right) * scale) + shift), most=180 if narrowed else 255)


def requantized(v: Any, linear: Linear) -> Array:
    """The bytes of values, by the inverse of the scale."""
    scale, zero = linear
    return limited(f(v * f(F(1) / F(scale))), zero)


def linear_sum(a: Array, b: Array, src: Sequence[Linear], dst: Linear, dtype: Any) -> Array:
    """QLinearAdd: the zero is inside the rounding."""
    (a_scale, a_zero), (b_scale, b_zero), (scale, zero) = *src, dst
    p, q = f(F(a_scale) / F(scale)), f(F(b_scale) / F(scale))
    t = f(F(zero) - f(f(p * F(a_zero)) + f(q * F(b_zero))))
    return limited(fma(a.astype(F), p, fma(b.astype(F), q, t)), 0, dtype)


def quantized_add(a: Array, b: Array, src: Sequence[Any], dst: Any, relu: bool) -> Array:
    """src, dst : None for tensors of floats."""
    if None not in (*src, dst):
        total = linear_sum(a, b, src, dst, np.uint8)
        return np.maximum(total, np.uint8(dst[1])) if relu else total
    left, right = (x if linear is None else value(x, linear) for x, linear in zip((a, b), src))
    floats = f(left + right)
    floats = np.maximum(floats, F(0)) if relu else floats
    return np.asarray(floats) if dst is None else requantized(floats, dst)


def quantized_binary(operation: str, a: Array, b: Array, src: Sequence[Linear], dst: Linear) -> Array:
    if operation == "add":
        return linear_sum(a, b, src, dst, a.dtype)
    (a_scale, a_zero), (b_scale, b_zero), (scale, zero) = *src, dst
    product = f((a.astype(np.int32) - a_zero) * (b.astype(np.int32) - b_zero))
    factor = f(f(F(a_scale) * F(b_scale)) / F(scale))
    return limited(f(f(product * factor) + F(zero)), 0, a.dtype)


def quantized_prelu(x: Array, slope: Array, src: Linear, dst: Linear, layout: str) -> Array:
    v = value(x, src)
    below = f(along(slope, x, layout) * np.minimum(v, F(0)))
    return requantized(f(np.maximum(v, F(0)) + below), dst)


def quantized_scale(x: Array, scale: Array, bias: Array | None, src: Linear, dst: Linear, layout: str) -> Array:
    terms = F(0) if bias is None else along(bias, x, layout)
    return requantized(fma(value(x, src), along(scale, x, layout), terms), dst)


def quantized_concat(arrays: Sequence[Array], axis: int, src: Sequence[Linear], dst: Linear) -> Array:
    return np.concatenate([requantized(value(x, linear), dst) for x, linear in zip(arrays, src)], axis)


def quantized_shuffle(
    a: Array, b: Array, src: Sequence[Linear], dst: Linear, layout: str, channels: Any
) -> tuple[Array, ...]:
    """channels : of both results, of the inverse; None for equal halves, the even and the odd ones."""
    axis = -1 if layout == "nhwc" else -3
    parts = [np.moveaxis(requantized(value(x, linear), dst), axis, 0) for x, linear in zip((a, b), src)]
    if channels is None:
        both = np.concatenate(parts)
        results = both[::2], both[1::2]
    else:
        both = np.stack(parts, 1).reshape(-1, *parts[0].shape[1:])
        results = both[: channels[0]], both[channels[0] :]
    return tuple(np.ascontiguousarray(np.moveaxis(each, 0, axis)) for each in results)


def table8(x: Array, table: Array) -> Array:
    return np.array([table[number & 255] for number in x.reshape(-1).tolist()], table.dtype).reshape(x.shape)


def _windows(size: int, kernel: int, stride: int, before: int, after: int, ceil: bool) -> Iterator[tuple[range, int]]:
    """The elements of an image in each window of an axis, and how many there are with the padding."""
    last = size + before + after - kernel
    count = (-(-last // stride) if ceil else last // stride) + 1
    count -= ceil and (count - 1) * stride >= size + before
    for begin in (i * stride - before for i in range(count)):
        end = begin + kernel
        yield range(max(begin, 0), min(end, size)), min(end, size + after) - begin


def pool(x: Array, layout: str, window: dict[str, Any], of_window: Any) -> Array:
    """of_window : computes channels of the elements of the image, one by one, and of the size of the window."""
    images = x if layout == "nhwc" else x.transpose(0, 2, 3, 1)
    top, left, bottom, right = window["padding"]
    axes = [
        list(_windows(images.shape[1 + i], window["kernel"][i], window["stride"][i], before, after, window["ceil_mode"]))
        for i, (before, after) in enumerate(((top, bottom), (left, right)))
    ]
    rows = [
        np.stack([of_window([images[:, i, j] for i in ys for j in xs], height * width) for xs, width in axes[1]], 1)
        for ys, height in axes[0]
    ]
    y = np.stack(rows, 1)
    return np.ascontiguousarray(y if layout == "nhwc" else y.transpose(0, 3, 1, 2))


def pooling_max(x: Array, layout: str, window: dict[str, Any]) -> Array:
    """Of integers: bytes."""
    least = np.full((x.shape[0], x.shape[-1 if layout == "nhwc" else 1]), np.iinfo(x.dtype).min, x.dtype)
    return pool(x, layout, window, lambda taps, _: np.max([least, *taps], 0))


def quantized_average(x: Array, layout: str, window: dict[str, Any], exclude_pad: bool, src: Linear, dst: Linear) -> Array:
    """QLinearAveragePool: sums of floats in the order of rows; the zero is added before the rounding."""

    def mean(taps: list[Array], size: int) -> Array:
        total = np.zeros(taps[0].shape, F)
        for tap in taps:
            total = f(total + value(tap, src))
        average = f(total / F(len(taps) if exclude_pad else size))
        return limited(f(f(average / F(dst[0])) + F(dst[1])), 0, x.dtype)

    return pool(x, layout, window, mean)


def quantized_global_average(x: Array, layout: str, src: Linear, dst: Linear) -> Array:
    """QLinearGlobalAveragePool: an exact sum; the zero is added after the rounding."""
    axes = (1, 2) if layout == "nhwc" else (2, 3)
    count = x.shape[axes[0]] * x.shape[axes[1]]
    total = x.sum(axes, dtype=np.int64, keepdims=True) - count * src[1]
    return limited(f(f(total) * f(F(src[0]) / f(F(dst[0]) * F(count)))), dst[1], x.dtype)
