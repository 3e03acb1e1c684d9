"""Functions of bfloat16 numbers and of half precision: sums in double, with the bound of those in float."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.vectors.numbers import Array, F, along, as_dtype, f, floats_of, from_bfloat16, to_bfloat16
from support.vectors.pointwise import pool
from support.vectors.products import activate, convolve, images_of, in_layout, options_of, weights_of

EPS = 2.0**-23


def add_16b(a: Array, b: Array, dst_dtype: str) -> Array:
    return as_dtype(f(floats_of(a) + floats_of(b)), dst_dtype)


def scale_16b(x: Array, norm: Array | None, bias: Array | None, layout: str, dst_dtype: str) -> Array:
    y = floats_of(x)
    y = y if norm is None else f(y * along(norm, x, layout))
    return as_dtype(y if bias is None else f(y + along(bias, x, layout)), dst_dtype)


def relu_16b(x: Array, slope: float) -> Array:
    v = from_bfloat16(x)
    y = f(np.maximum(v, F(0)) + f(F(slope) * np.minimum(v, F(0))))
    return to_bfloat16(y)


def pooling_max_16b(x: Array, layout: str, window: dict[str, Any]) -> Array:
    def largest(taps: list[Array], size: int) -> Array:
        least = np.full((x.shape[0], x.shape[-1 if layout == "nhwc" else 1]), -np.inf, F)
        return to_bfloat16(np.max([least, *(from_bfloat16(tap) for tap in taps)], 0))

    return pool(x, layout, window, largest)


def channel_sum_16b(x: Array, layout: str) -> tuple[Array, float]:
    v = from_bfloat16(x).astype(np.float64)
    axes = tuple(range(v.ndim - 1)) if layout == "nhwc" else (-2, -1)
    count = v.size // v.shape[-1 if layout == "nhwc" else -3]
    return f(v.sum(axes)), float(count * EPS * np.abs(v).sum(axes).max())


def rounded_16b(y: Array, error: float) -> tuple[Array, float]:
    """bfloat16 numbers of sums in double, and their bound: that of the sums, and a step where they are near a tie."""
    return to_bfloat16(y), error + float(np.abs(y).max()) * 2.0**-8


def softmax_16b(x: Array, axis: int) -> tuple[Array, float]:
    v = from_bfloat16(x).astype(np.float64)
    e = np.exp(v - v.max(axis, keepdims=True))
    return rounded_16b(e / e.sum(axis, keepdims=True), 1e-6)


def normalize_16b(x: Array, scale: Array, shift: Array, eps: float, layout: str) -> tuple[Array, float]:
    v = from_bfloat16(x).astype(np.float64)
    axis = -1 if layout == "nhwc" else -3
    centred = v - v.mean(axis, keepdims=True)
    factor = 1 / np.sqrt((centred**2).mean(axis, keepdims=True) + np.float64(F(eps)))
    y = centred * factor * along(scale, x, layout).astype(np.float64) + along(shift, x, layout)
    return rounded_16b(y, 1e-5 * float(np.abs(y).max()))


def _sums(x: Array, w: Array, bias: Array, options: dict[str, Any]) -> tuple[Array, float]:
    """Sums of products in double, of (N, C, H, W), and their bound."""
    x, w = x.astype(np.float64), w.astype(np.float64)
    count = w[0].size
    sizes = convolve(np.abs(x), np.abs(w), options) + np.abs(bias)[:, None, None]
    sums = convolve(x, w, options) + bias.astype(np.float64)[:, None, None]
    return sums, float((count + 3) * EPS * sizes.max())


def _finished(v: Array, error: float, options: dict[str, Any], dst_dtype: str) -> tuple[Array, float]:
    y = in_layout(activate(v, options["activation"], options.get("params"), 1), options["layout"])
    return rounded_16b(y, error) if dst_dtype == "bfloat16" else (f(y), error)


def round_16b(x: Array) -> Array:
    """As floats."""
    return from_bfloat16(to_bfloat16(x))


def convolution_16b(x: Array, weight: Array, bias: Array, dst_dtype: str, options: dict[str, Any]) -> tuple[Array, float]:
    """A depthwise convolution of several channels in NHWC rounds neither floats nor weights."""
    source, w = images_of(floats_of(x), options["layout"]), weights_of(weight, options["layout"])
    if not (options["layout"] == "nhwc" and 1 < options["group"] == source.shape[1] == len(w)):
        source, w = round_16b(source), round_16b(w)
    return _finished(*_sums(source, w, bias, options), options, dst_dtype)


def deconvolution_16b(x: Array, weight: Array, bias: Array, dst_dtype: str, options: dict[str, Any]) -> tuple[Array, float]:
    """Each element adds the kernel, times itself, at `stride` times its place. Weights (C, dst_c / group, ky, kx)."""
    layout, group = options["layout"], options["group"]
    source = round_16b(images_of(floats_of(x), layout)).astype(np.float64)
    w = round_16b(weight if layout == "nchw" else weight.transpose(0, 3, 1, 2)).astype(np.float64)
    (step_y, step_x), (apart_y, apart_x) = options["stride"], options["dilation"]
    count, channels, rows, columns = source.shape
    outputs, kernel_y, kernel_x = w.shape[1:]
    height, width = (rows - 1) * step_y + (kernel_y - 1) * apart_y + 1, (columns - 1) * step_x + (kernel_x - 1) * apart_x + 1
    sums, sizes = np.zeros((2, count, outputs * group, height, width))
    for c in range(channels):
        to = slice(c // (channels // group) * outputs, (c // (channels // group) + 1) * outputs)
        for i, j in np.ndindex(kernel_y, kernel_x):
            at = (
                slice(i * apart_y, i * apart_y + rows * step_y, step_y),
                slice(j * apart_x, j * apart_x + columns * step_x, step_x),
            )
            product = source[:, c, None] * w[c, :, i, j][:, None, None]
            sums[(slice(None), to, *at)] += product
            sizes[(slice(None), to, *at)] += np.abs(product)
    top, left, bottom, right = options["padding"]
    inside = (Ellipsis, slice(top, height - bottom), slice(left, width - right))
    v = sums[inside] + bias.astype(np.float64)[:, None, None]
    error = (channels * kernel_y * kernel_x + 3) * EPS * float(sizes.max() + np.abs(bias).max())
    return _finished(v, error, options, dst_dtype)


def inner_product_16b(x: Array, weight: Array, bias: Array, activation: str, dst_dtype: str) -> tuple[Array, float]:
    """weight : (outputs, inputs)."""
    a, b = round_16b(floats_of(x)).astype(np.float64), round_16b(weight).astype(np.float64).T
    v = activate(a @ b + bias.astype(np.float64), activation, None, 1)
    error = (len(b) + 3) * EPS * float((np.abs(a) @ np.abs(b) + np.abs(bias)).max())
    return rounded_16b(v, error) if dst_dtype == "bfloat16" else (f(v), error)


def merged_16b(x: Array, stages: Any, weights: Any, biases: Any, residual: bool, dst_dtype: str) -> tuple[Array, float]:
    """Rounds what the expansion and the projection read; the depthwise convolution reads floats."""
    source = floats_of(x)
    y, error = images_of(source, "nhwc"), 0.0
    for stage, weight, bias in zip(stages, weights, biases):
        options, w = options_of(stage, y.shape[1]), weights_of(weight, "nhwc")
        last = stage is stages[-1]
        if stage["dst_c"] is not None:
            tie = (
                0.0 if stage is stages[0] else float(convolve(np.abs(y), np.abs(w.astype(y.dtype)), options).max()) * 2.0**-8
            )
            y, w = round_16b(y), round_16b(w)
            error += tie
        else:
            error *= float(np.abs(w).sum((1, 2, 3)).max())
        v, more = _sums(y, w, bias, options)
        error += more
        if last and residual:
            v = v + images_of(source, "nhwc")
        y = activate(v, options["activation"], options["params"], 1)
        y = y if last else f(y)
    y = in_layout(y, "nhwc")
    return rounded_16b(y, error) if dst_dtype == "bfloat16" else (f(y), error)


def bits_to_bfloat16(bits: Array) -> Array:
    """Of floats as uint32, to uint32."""
    return to_bfloat16(bits.view(F)).astype(np.uint32)


def bits_to_half(bits: Array) -> Array:
    """The nearest number of half precision, ties to even; NaN becomes quiet, with the upper bits of its payload."""
    sign, magnitude = bits >> 16 & 0x8000, (bits & 0x7FFFFFFF).view(F).astype(np.float64)
    nan = (bits & 0x7FFFFFFF) > 0x7F800000
    _, exponent = np.frexp(magnitude)
    step = 2.0 ** (np.maximum(exponent, -13) - 11)
    rounded = np.rint(magnitude / step) * step
    _, place = np.frexp(rounded)
    normal = ((place + 14) << 10) + (np.ldexp(rounded, 1 - place) - 1) * 1024
    finite = np.where(rounded < 2.0**-14, rounded * 2.0**24, normal)
    number = np.where(magnitude >= 65520, 0x7C00, finite)
    number = np.where(nan, 0, number).astype(np.int64)
    return (sign | np.where(nan, 0x7E00 | bits >> 13 & 0x3FF, number)).astype(np.uint32)


def bits_from_half(bits: Array) -> Array:
    """Exact; a NaN keeps its payload."""
    sign, exponent, fraction = (bits & 0x8000) << 16, bits >> 10 & 31, bits & 0x3FF
    small = f(fraction * 2.0**-24).view(np.uint32)
    normal = (exponent + 112) << 23 | fraction << 13
    special = np.uint32(0x7F800000) | fraction << 13
    return (sign | np.where(exponent == 0, small, np.where(exponent == 31, special, normal))).astype(np.uint32)
