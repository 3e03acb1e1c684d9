"""Additions, layers of channels, activations, and what scales whole rows: softmax and normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from support.reference.numbers import EPS, TINY, Array, from_bfloat16, to_bfloat16

# --------------------------------------------------------------------------------------------------- addition


def add_8i(a: Array, b: Array, scales: dict[str, Array], upper: int) -> Array:
    """float32, each operation rounded, in the documented order; (C, H, W)."""
    s = {name: values[:, None, None].astype(np.float32) for name, values in scales.items()}
    with np.errstate(all="ignore"):
        left = a.astype(np.float32) * s["a_scale"] + s["a_shift"]
        right = b.astype(np.float32) * s["b_scale"] + s["b_shift"]
        t = (left + right) * s["c_scale"] + s["c_shift"]
    rounded = np.rint(np.where(np.isnan(t), np.float32(0), t))
    return np.clip(rounded, 0, upper).astype(np.uint8)


def add_16b(a: Array, b: Array, bfloat16: bool) -> Array:
    """The sum of two arrays in float32; uint16 means bfloat16."""
    terms = [from_bfloat16(x) if x.dtype == np.uint16 else x for x in (a, b)]
    with np.errstate(all="ignore"):
        total = (terms[0] + terms[1]).astype(np.float32)
    return to_bfloat16(total) if bfloat16 else total


# -------------------------------------------------------------------------------------- channel-wise layers


def _positive(x: Array) -> Array:
    """max(0, x), where NaN gives NaN."""
    return np.where(x < 0, x.dtype.type(0), x)


def _negative(x: Array) -> Array:
    return np.where(x > 0, x.dtype.type(0), x)


def channelwise(layer: str, x: Array, x1: Array | None, terms: dict[str, Array | float]) -> tuple[Array, Array]:
    """One image (C, H, W) through a layer with one result, and its bound, 0 where the documentation fixes every rounding.

    x1 is the second source of fused8; terms are the coefficients by name, (C,) or one number.
    """
    exact = layer in ("add_bias", "prelu", "fused0", "fused3")
    kind = np.float32 if exact else np.float64
    x = x.astype(kind)
    y: Array
    t: dict[str, Any] = {
        k: kind(v) if np.ndim(v) == 0 else np.asarray(v).astype(kind)[:, None, None] for k, v in terms.items()
    }
    magnitude: Any = 0.0
    with np.errstate(all="ignore"):
        if layer == "add_bias":
            y = x + t["bias"]
        elif layer == "scale":
            bias = t.get("bias", kind(0))
            y = x * t["scale"] + bias
            magnitude = np.abs(x * t["scale"]) + np.abs(bias)
        elif layer == "prelu":
            y = _positive(x) + t["slope"] * _negative(x)
        elif layer == "fused0":
            v = x + t["bias"]
            y = (v - np.abs(v)) * t["scale"] + _positive(v)
        elif layer == "fused1":
            v = x + t["bias0"]
            y = _positive(-v) * t["scale1"] + t["bias1"] + _positive(v)
            magnitude = (np.abs(x) + np.abs(t["bias0"])) * (1 + np.abs(t["scale1"])) + np.abs(t["bias1"])
        elif layer == "fused2":
            v = x * t["scale"] + t["bias"]
            y = _positive(v) + _negative(v) * t["slope"]
            magnitude = (np.abs(x * t["scale"]) + np.abs(t["bias"])) * (1 + np.abs(t["slope"]))
        elif layer == "fused3":
            v = x + t["bias"]
            y = _positive(v) + _negative(v) * t["slope"]
        else:
            assert layer == "fused8"
            assert x1 is not None
            y = x + x1.astype(kind) * t["scale"]
            magnitude = np.abs(x) + np.abs(x1.astype(kind) * t["scale"])
    return y, np.zeros(y.shape) if exact else 5 * EPS * magnitude + 4 * TINY


def fused4(x: Array, bias0: Array, scale1: float, bias1: float) -> tuple[Array, Array]:
    """Both halves, concatenated, and their bound."""
    x, bias = x.astype(np.float64), bias0.astype(np.float64)[:, None, None]
    s, t = np.float64(np.float32(scale1)), np.float64(np.float32(bias1))
    v, size = x + bias, np.abs(x) + np.abs(bias)
    bound = 5 * EPS * np.concatenate([size, size * np.abs(s) + np.abs(t)]) + 4 * TINY
    return np.concatenate([_positive(v), _positive(v * s + t)]), bound


def fused9(x0: Array, x1: Array, scale: Array, bias: Array) -> tuple[Array, Array, Array]:
    """The first result, its bound, and the second result."""
    both = np.concatenate([x0, x1])
    product = both.astype(np.float64) * scale.astype(np.float64)[:, None, None]
    terms = bias.astype(np.float64)[:, None, None]
    return _positive(product + terms), 3 * EPS * (np.abs(product) + np.abs(terms)) + 2 * TINY, both


# ------------------------------------------------------------------------------------- activations and softmax


def relu(x: Array, slope: float) -> Array:
    """At most one product that is not 0, so exact; NaN propagates. With slope 0 there is no product, so -inf gives 0."""
    if slope == 0:
        return np.where(x < 0, np.float32(0), x)
    s = np.float32(slope)
    with np.errstate(all="ignore"):
        positive = np.where(x < 0, np.float32(0), x)
        negative = np.where(x > 0, np.float32(0), x)
        return (positive + s * negative).astype(np.float32)


def replace(a: Array, b: Array) -> Array:
    """b, but a where b is NaN."""
    return np.where(np.isnan(b), a, b)


def pointwise(name: str, x: Array, *params: float) -> tuple[Array, float]:
    """An activation or a unary operation in float64, and its error in units in the last place; 0 if it is exact.

    Operations of the formula on x before exp, log or tanh are rounded to float32, as in the library; the others are not.
    """
    p = [np.float32(value).astype(np.float64) for value in params]
    with np.errstate(invalid="ignore"):  # a NaN may be signalling
        x = x.astype(np.float64)

    def times(factor: Any) -> Array:
        rounded: Array = (factor * x).astype(np.float32)
        return rounded.astype(np.float64)

    with np.errstate(all="ignore"):
        if name == "elu":
            return np.where(x >= 0, x, p[0] * np.expm1(x)), 2
        if name == "hswish":
            low = np.where(p[0] < x, p[0], x).astype(np.float32)
            gate = np.maximum(low + np.float32(p[0]), np.float32(0)) * np.float32(p[1])
            return gate * x.astype(np.float32), 0
        if name == "restrict_range":
            return np.where(np.isnan(x), x, np.minimum(np.maximum(p[0], x), p[1])), 0
        if name == "sigmoid":
            return 1 / (1 + np.exp(-times(p[0]))), 2
        if name == "softplus":
            return np.where(x > p[1], x, np.logaddexp(0, times(p[0])) / p[0]), 2
        if name == "tanh":
            return np.tanh(times(p[0])), 2
        if name == "swish":
            return x / (1 + np.exp(-times(p[0]))), 3
        if name == "mish":
            return np.where(x > p[0], x, x * np.tanh(np.logaddexp(0, x))), 5
        if name == "hard_sigmoid":
            sums = times(p[0]).astype(np.float32) + np.float32(p[1])
            return np.where(np.isnan(sums), sums, np.clip(sums, 0, 1)), 0
        if name == "gelu":
            return x * np.vectorize(math.erfc, otypes=[np.float64])(x * -(0.5**0.5)) / 2, 4
        if name == "erf":
            return np.vectorize(math.erf, otypes=[np.float64])(x), 2
        if name == "rsqrt":
            return 1 / np.sqrt(x), 2
        if name == "reciprocal":
            return np.reciprocal(x.astype(np.float32)), 0
        if name.startswith("arc") or name in ("cosh", "sinh", "tan"):
            return getattr(np, name)(x), 4
        return getattr(np, name)(x), 2 if name in ("exp", "log", "sin", "cos") else 0


def activate(v: Array, activation: str, params: Array | None, axis: int) -> Any:
    """The activation of a convolution, applied to its sums in float64; `axis` is that of the channels."""
    p = np.zeros(0) if params is None else params.astype(np.float64)
    if activation == "identity":
        return v
    if activation == "relu":
        return np.maximum(0, v)
    if activation == "leaky_relu":
        return np.maximum(0, v) + p[0] * np.minimum(0, v)
    if activation == "restrict_range":
        return np.minimum(np.maximum(p[0], v), p[1])
    if activation == "prelu":
        slopes = p.reshape([-1 if i == axis else 1 for i in range(v.ndim)])
        return np.maximum(0, v) + slopes * np.minimum(0, v)
    if activation == "elu":
        return np.where(v >= 0, v, p[0] * np.expm1(np.minimum(v, 0)))
    if activation == "hswish":
        return np.maximum(np.minimum(v, p[0]) + p[0], 0) * p[1] * v
    if activation == "mish":
        return np.where(v > p[0], v, v * np.tanh(np.logaddexp(0, v)))
    if activation == "hard_sigmoid":
        return np.clip(v * p[0] + p[1], 0, 1)
    if activation == "swish":
        return v / (1 + np.exp(-p[0] * v))
    if activation == "gelu":
        return v * np.vectorize(math.erfc, otypes=[np.float64])(v * -(0.5**0.5)) / 2
    if activation == "sigmoid":
        return 1 / (1 + np.exp(-v))
    raise AssertionError(activation)


def activated(bound: Array, activation: str, params: Array | None, sums: Array) -> Any:
    """The bound after the activation: its largest slope times the bound of the sum, plus its own few roundings."""
    p = np.zeros(1) if params is None else np.abs(params.astype(np.float64))
    slope = {"leaky_relu": 1 + p.max(), "prelu": 1 + p.max(), "elu": max(1.0, p.max())}.get(activation, 1.0)
    if activation == "hswish":
        slope = 3 * p[1] * (p[0] + np.abs(sums))
    if activation in ("mish", "swish", "gelu"):
        slope = 1.2
    largest = 1 if activation == "sigmoid" else p.max()
    return bound * slope + 8 * EPS * (np.abs(sums) * slope + largest)


def softmax(x: Array, axis: int) -> tuple[Array, Array]:
    """Softmax and its bound: 2 ULP of exp, the rounding of v - max, n additions, a division, and terms that may be 0."""
    x = x.astype(np.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    e = np.exp(shifted)
    out = e / e.sum(axis=axis, keepdims=True)
    relative = (4 + 4 + x.shape[axis] + 2) * EPS + 2 * EPS * np.abs(shifted).max(axis=axis, keepdims=True)
    return out, relative * out + 2.0**-125


def lrn(x: Array, size: int, alpha: float, beta: float, bias: float) -> tuple[Array, Array]:
    """Local response normalization of (C, H, W), and its bound: 1e-6 of the result."""
    squares = x.astype(np.float64) ** 2
    half, channels = size // 2, x.shape[0]
    sums = np.stack([squares[max(0, c - half) : c + half + 1].sum(axis=0) for c in range(channels)])
    base = np.float64(np.float32(bias)) + np.float64(np.float32(alpha / size)) * sums
    out = x.astype(np.float64) * base ** np.float64(np.float32(-beta))
    return out, 1e-6 * max(1, abs(beta)) * np.abs(out) + TINY


def normalized(
    x: Array, axes: tuple[int, ...], weight: Array, bias: Array, eps: float, *, centred: bool = True
) -> tuple[Array, Array]:
    """(x - mean) / sqrt(variance + eps) * weight + bias, or x / sqrt(sum of squares + eps) * weight, and its bound."""
    x, eps, count = x.astype(np.float64), np.float64(np.float32(eps)), np.prod([x.shape[axis] for axis in axes])
    mean = x.mean(axis=axes, keepdims=True) if centred else np.zeros(1)
    squares = ((x - mean) ** 2).sum(axis=axes, keepdims=True)
    base = eps + (squares / count if centred else squares)
    by, additions = np.abs(weight) / np.sqrt(base), 12 + min(count, 300)
    off = (additions + 2) * EPS * np.abs(x).mean(axis=axes, keepdims=True) if centred else np.zeros(1)
    relative = (additions + 10) * EPS + off**2 / base
    out = (x - mean) / np.sqrt(base) * weight + bias
    return out, by * (off + np.abs(x - mean) * relative) + 4 * EPS * (np.abs(out) + np.abs(bias)) + TINY


def response(x: Array, axes: tuple[int, ...], weight: Array, bias: Array, eps: float) -> tuple[Array, Array]:
    """x * (1 + weight * g / (mean of g + eps)) + bias of a batch, g the length of each channel, and its bound."""
    x = x.astype(np.float64)
    g = np.sqrt((x * x).sum(axis=axes, keepdims=True))
    channels = tuple(i for i in range(1, x.ndim) if i not in axes)
    by = weight * g / (g.mean(axis=channels, keepdims=True) + np.float64(np.float32(eps)))
    return x * (1 + by) + bias, 4 * EPS * (np.abs(x) * (1 + np.abs(by) * 300) + np.abs(bias)) + TINY


def eltwise(arrays: list[Array], operation: str, weights: Array | None) -> tuple[Array, Array]:
    """The combination of the arrays, and its bound: 0 except for sums."""
    if operation == "sum":
        factors = np.ones(len(arrays)) if weights is None else weights.astype(np.float64)
        terms = [a.astype(np.float64) * w for a, w in zip(arrays, factors)]
        return np.sum(terms, axis=0), (len(arrays) + 1) * EPS * np.sum(np.abs(terms), axis=0) + len(arrays) * TINY
    out = arrays[0]
    for a in arrays[1:]:
        out = out * a if operation == "product" else np.where(out > a if operation == "max" else out < a, out, a)
    return out.astype(np.float64), np.zeros(out.shape)
