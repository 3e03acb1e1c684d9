"""Sums of products: inner products, convolutions and deconvolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.reference.elementwise import activate, activated
from support.reference.numbers import EPS, TINY, Array, from_bfloat16, to_bfloat16


def inner_product(x: Array, weight: Array, bias: Array | None) -> tuple[Array, Array]:
    """weight @ x + bias for the last axis of x, and its bound."""
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    terms = np.zeros(weight.shape[0]) if bias is None else bias.astype(np.float64)
    magnitude = np.abs(x) @ np.abs(weight).T + np.abs(terms)
    return x @ weight.T + terms, (x.shape[-1] + 1) * EPS * magnitude + TINY


def gemm(a: Array, b: Array, alpha: float, beta: float, c: Array) -> tuple[Array, Array]:
    """alpha * a @ b + beta * c, where factors of 0 are treated as in BLAS, and its bound."""
    shape, depth = (a.shape[0], b.shape[1]), a.shape[1]
    product, magnitude = np.zeros(shape), np.zeros(shape)
    if alpha != 0:
        a, b = a.astype(np.float64), b.astype(np.float64)
        product, magnitude = alpha * (a @ b), abs(alpha) * (np.abs(a) @ np.abs(b))
    if beta != 0:
        old = beta * c.astype(np.float64)
        product, magnitude = product + old, magnitude + np.abs(old)
    return product, (depth + 4) * 2 * EPS * magnitude + TINY


def convolution(
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: tuple[int, int],
    dilation: tuple[int, int],
    pad: tuple[int, int, int, int],
    group: int,
) -> tuple[Array, Array]:
    """The sums of one image (C, H, W) with weights (O, C / group, ky, kx), before the activation, and their bound."""
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    outputs, inputs, kernel_y, kernel_x = weight.shape
    top, left, bottom, right = pad
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right)))
    height = (padded.shape[1] - (dilation[0] * (kernel_y - 1) + 1)) // stride[0] + 1
    width = (padded.shape[2] - (dilation[1] * (kernel_x - 1) + 1)) // stride[1] + 1
    out, magnitude = np.zeros((outputs, height, width)), np.zeros((outputs, height, width))
    per = outputs // group
    for g, ky, kx in np.ndindex(group, kernel_y, kernel_x):
        image = padded[g * inputs : (g + 1) * inputs]
        y, xx = ky * dilation[0], kx * dilation[1]
        taps = image[:, y : y + (height - 1) * stride[0] + 1 : stride[0], xx : xx + (width - 1) * stride[1] + 1 : stride[1]]
        w = weight[g * per : (g + 1) * per, :, ky, kx]
        out[g * per : (g + 1) * per] += np.tensordot(w, taps, 1)
        magnitude[g * per : (g + 1) * per] += np.tensordot(np.abs(w), np.abs(taps), 1)
    if bias is not None:
        out += bias.astype(np.float64)[:, None, None]
        magnitude += np.abs(bias.astype(np.float64))[:, None, None]
    return out, (inputs * kernel_y * kernel_x + 1) * EPS * magnitude + TINY


def merged_convolution(x: Array, stages: list[tuple[Any, ...]], add: bool) -> tuple[Array, Array]:
    """The result of the stages for one image (C, H, W), and the bound: each stage adds its own rounding to the error of its
    source, as amplified by its weights and activation. A stage: weight (O, I, ky, kx), bias, stride, pad, group, activation
    and its params.
    """
    value, error = x.astype(np.float64), np.zeros(x.shape)
    for i, (weight, bias, stride, pad, group, activation, params) in enumerate(stages):
        sums, bound = convolution(value, weight, bias, stride, (1, 1), pad, group)
        carried, _ = convolution(error, np.abs(weight), None, stride, (1, 1), pad, group)
        if add and i == 2:
            sums, bound = sums + x, bound + 2 * EPS * np.abs(x)
        value = activate(sums, activation, params, 0)
        error = activated(bound + 1.01 * carried, activation, params, sums)
    return value, error


def quantisation(low: Array, high: Array) -> tuple[Array, np.float32]:
    """The scales of the channels of a tensor, and the byte that represents 0."""
    negative = bool((low < 0).any())
    inverse = np.maximum(np.abs(low), np.abs(high)).astype(np.float32) / np.float32(127 if negative else 255)
    inverse[inverse < np.float32(1e-7)] = 1
    return np.float32(1) / inverse, np.float32(128 if negative else 0)


def to_bytes(v: Array) -> Array:
    """Nearest bytes of float32 values, ties to even; 0 for NaN."""
    return np.rint(np.where(np.isnan(v), 0, np.clip(v, 0, 255))).astype(np.uint8)


def convolution_8i(
    x: Array,
    weight: Array,
    bias: Array | None,
    stats: tuple[Array, Array, Array, Array],
    geometry: tuple[Any, ...],
    activation: str,
    params: Array | None,
    dst_dtype: Any,
) -> Array:
    """One image (C, H, W), float32 or uint8, with weights (O, C / group, ky, kx), in the header's float32 operations."""
    stride, dilation, pad, group = geometry
    (scale, zero), (dst_scale, dst_zero) = quantisation(*stats[:2]), quantisation(*stats[2:])
    inputs, per = weight.shape[1], len(weight) // group
    channels = np.add.outer(np.arange(len(weight)) // per * inputs, np.arange(inputs))
    with np.errstate(all="ignore"):
        n = weight / scale[channels][:, :, None, None]
        ws = np.float32(127) / np.abs(n).max(axis=(1, 2, 3), initial=0).astype(np.float32)
        w8 = np.nan_to_num(np.rint(np.clip(n * ws[:, None, None, None], -128, 127))).astype(np.int64)
        empty = np.isinf(ws)
        w8[empty] = 0
        norm = np.where(empty, np.float32(0), np.float32(1) / ws)
        terms = (int(zero) * w8.sum(axis=(1, 2, 3))).astype(np.float32) / ws
        b = (np.zeros(len(weight), np.float32) if bias is None else bias) - terms
        bytes_ = x if x.dtype == np.uint8 else to_bytes(x * scale[:, None, None] + zero)
    shifted = bytes_.astype(np.int64) - int(zero)  # so that the padding is 0
    sums = convolution(shifted, w8, None, stride, dilation, pad, group)[0].astype(np.int64)
    sums = (sums + int(zero) * w8.sum(axis=(1, 2, 3))[:, None, None]).astype(np.float32)
    v = sums * norm[:, None, None] + b[:, None, None]
    v = activate_32f(v, activation, params)
    return v if dst_dtype == np.float32 else to_bytes(v * dst_scale[:, None, None] + dst_zero)


def convolution_16b(
    x: Array,
    weight: Array,
    bias: Array | None,
    geometry: tuple[Any, ...],
    activation: str,
    params: Array | None,
    small: bool,
    layout: str,
) -> tuple[Array, Array]:
    """One image (C, H, W), float32 or bfloat16 as uint16, before its result is rounded, and the bound of the result, which
    is bfloat16 where `small`: the float chain's, what numbers below 2^-126 add that may count as 0, and half a unit. In
    NHWC, depthwise convolutions round neither floats nor weights."""
    stride, dilation, pad, group = geometry
    exact = layout == "nhwc" and group == len(x) == len(weight) > 1
    numbers = from_bfloat16(x) if x.dtype == np.uint16 else x if exact else from_bfloat16(to_bfloat16(x))
    weights = weight if exact else from_bfloat16(to_bfloat16(weight))
    sums, bound = convolution(numbers, weights, bias, stride, dilation, pad, group)
    v = activate(sums, activation, params, 0)
    terms = weight[0].size
    bound = activated(bound + (2 * terms + 3) * 2.0**-126, activation, params, sums) + 2.0**-126
    return v, bound + 2.0**-8 * (np.abs(v) + bound) * small


def activate_32f(v: Array, activation: str, params: Array | None) -> Any:
    """`activate` for (C, H, W) in float32 operations, except for those with exp."""
    p = np.zeros(1, np.float32) if params is None else params
    if activation == "elu":
        return np.where(v >= 0, v, (p[0] * np.expm1(np.minimum(v, 0).astype(np.float64))).astype(np.float32))
    if activation in ("leaky_relu", "prelu"):
        slopes = p.reshape(-1, 1, 1)
        return np.maximum(np.float32(0), v) + slopes * np.minimum(np.float32(0), v)
    if activation == "hswish":
        return np.maximum(np.minimum(v, p[0]) + p[0], np.float32(0)) * p[1] * v
    if activation == "hard_sigmoid":
        return np.maximum(np.minimum(v * p[0] + p[1], np.float32(1)), np.float32(0))
    if activation == "swish":
        return (v / (1 + np.exp(-(p[0] * v).astype(np.float64)))).astype(np.float32)
    if activation in ("mish", "gelu", "sigmoid"):
        return activate(v.astype(np.float64), activation, params, 0).astype(np.float32)
    limits = {"relu": (np.float32(0), np.float32(np.inf)), "restrict_range": (p[0], p[-1])}
    low, high = limits.get(activation, (np.float32(-np.inf), np.float32(np.inf)))
    return np.minimum(np.maximum(low, v), high)


def winograd_bound(
    x: Array,
    weight: Array,
    bias: Array | None,
    pad: tuple[int, int, int, int],
    block: int,
    stride: int = 1,
    dilation: tuple[int, int] = (1, 1),
) -> Array:
    """The bound of a convolution by F(block, kernel): the header's, plus the addition of the bias.

    Along each axis, the tiles of outputs ``dilation`` apart that begin at output 0, at 1, and so on.
    """
    kernel = weight.shape[2:]
    before, after = pad[:2], pad[2:]
    dst, tiles, added = [], [], [(0, 0)]
    for axis, (taps, d) in enumerate(zip(kernel, dilation)):
        size = (x.shape[1 + axis] + before[axis] + after[axis] - (taps - 1) * d - 1) // stride + 1
        outputs = block if taps > 1 else 1
        reach = (stride * (outputs - 1) + taps) * d
        firsts = [first for phase in range(d) for first in range(phase, size, outputs * d)]
        dst.append(size)
        tiles.append([(slice(at, at + outputs * d, d), slice(at * stride, at * stride + reach, d)) for at in firsts])
        added.append((before[axis], after[axis] + stride * outputs * d))
    padded = np.pad(np.abs(x.astype(np.float64)), added)
    sums = np.abs(weight.astype(np.float64)).sum((2, 3))
    bound = np.zeros((len(weight), *dst))
    for to_y, from_y in tiles[0]:
        for to_x, from_x in tiles[1]:
            bound[:, to_y, to_x] = (sums @ padded[:, from_y, from_x].max((1, 2)))[:, None, None]
    terms = 0 if bias is None else np.abs(bias.astype(np.float64))[:, None, None]
    k = 16 if 1 in kernel or 5 in kernel else {1: {2: 4, 3: 12, 4: 32}, 2: {2: 2, 4: 12}}[stride][block]
    return k * EPS * bound + 2 * EPS * (terms + bound) + TINY


def deconvolution(
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: tuple[int, int],
    dilation: tuple[int, int],
    pad: tuple[int, int, int, int],
    group: int,
) -> tuple[Array, Array]:
    """The sums of one image (C, H, W) with weights (C, O / group, ky, kx), before the activation, and their bound.

    Each input lays the kernel, multiplied by it, on the output; what is padding is then cut off.
    """
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    inputs, per, kernel_y, kernel_x = weight.shape
    size = [stride[i] * (x.shape[1 + i] - 1) + dilation[i] * (weight.shape[2 + i] - 1) + 1 for i in (0, 1)]
    out, magnitude, terms = (np.zeros((per * group, *size)) for _ in range(3))
    of_group = inputs // group
    for g, ky, kx in np.ndindex(group, kernel_y, kernel_x):
        image, w = x[g * of_group : (g + 1) * of_group], weight[g * of_group : (g + 1) * of_group, :, ky, kx]
        y, xx = ky * dilation[0], kx * dilation[1]
        bottom, right = y + stride[0] * (x.shape[1] - 1) + 1, xx + stride[1] * (x.shape[2] - 1) + 1
        at = np.s_[g * per : (g + 1) * per, y : bottom : stride[0], xx : right : stride[1]]
        out[at] += np.tensordot(w.T, image, 1)
        magnitude[at] += np.tensordot(np.abs(w.T), np.abs(image), 1)
        terms[at] += of_group
    top, left, bottom, right = pad
    out, magnitude, terms = (a[:, top : size[0] - bottom, left : size[1] - right] for a in (out, magnitude, terms))
    if bias is not None:
        out = out + bias.astype(np.float64)[:, None, None]
        magnitude = magnitude + np.abs(bias.astype(np.float64))[:, None, None]
    return out, (terms + 1) * EPS * magnitude + TINY
