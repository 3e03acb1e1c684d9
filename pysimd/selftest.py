"""A quick check of an installation: every family against NumPy, on every instruction set of the machine.

``python -m pysimd selftest`` runs it in seconds, with nothing but NumPy and cffi. It detects a broken build or
machine; small errors are left to the tests of the source checkout.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import erf, erfc
from typing import Any, Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import pysimd
from pysimd.annotations import Array

#: What was called, its result, that of NumPy, and the largest error as a fraction of the largest value.
Case = tuple[str, Array, Array, float]

_ROUNDED = 1e-6  # a few roundings
_SUMMED = 1e-5  # a sum of many terms


def _floats(rng: np.random.Generator, *shape: int) -> Array:
    return rng.uniform(-2, 2, shape).astype(np.float32)


def _bf16(x: Array) -> Array:
    """Rounded to bfloat16, nearest even, as uint16."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def _widened(x: Array) -> Array:
    return (x.astype(np.uint32) << 16).view(np.float32)


def _windows(x: Array, kernel: int, stride: int = 1, padding: int = 0, outside: float = 0) -> Array:
    """The windows of images (..., H, W, C), as (..., y, x, C, kernel, kernel)."""
    sides = [(0, 0)] * (x.ndim - 3) + [(padding, padding)] * 2 + [(0, 0)]
    padded = np.pad(x.astype(np.float64), sides, constant_values=outside)
    windows: Array = sliding_window_view(padded, (kernel, kernel), axis=(-3, -2))
    return windows[..., ::stride, ::stride, :, :, :]


def _convolved(x: Array, weight: Array, stride: int = 1, padding: int = 0) -> Array:
    """With weights (kernel, kernel, C, D), or (kernel, kernel, 1, C) of a depthwise convolution."""
    windows = _windows(x, len(weight), stride, padding)
    depthwise = weight.shape[2] == 1 < x.shape[-1]
    taps = (weight[:, :, 0] if depthwise else weight).astype(np.float64)
    sums: Array = np.einsum("...cyx,yxc->...c" if depthwise else "...cyx,yxcd->...d", windows, taps, optimize=True)
    return sums


def _of_each(function: Callable[[float], float], x: Array) -> Array:
    values: Array = np.vectorize(function, otypes=[np.float64])(x)
    return values


def activation(rng: np.random.Generator) -> Iterator[Case]:
    x = 3 * _floats(rng, 7, 37)
    d = x.astype(np.float64)
    yield "relu", pysimd.relu(x, slope=0.5), np.where(d > 0, d, d / 2), _ROUNDED
    yield "elu", pysimd.elu(x), np.where(d >= 0, d, np.expm1(d)), _ROUNDED
    yield "hswish", pysimd.hswish(x), np.clip(d + 3, 0, 6) * d / 6, _ROUNDED
    yield "hardswish", pysimd.hardswish(x), np.clip(d + 3, 0, 6) * d / 6, _ROUNDED
    yield "leaky_relu", pysimd.leaky_relu(x), np.where(d > 0, d, d / 100), _ROUNDED
    yield "relu6", pysimd.relu6(x), np.clip(d, 0, 6), 0
    yield "restrict_range", pysimd.restrict_range(x, -1.0, 1.0), np.clip(d, -1, 1), 0
    yield "sigmoid", pysimd.sigmoid(x), 1 / (1 + np.exp(-d)), _ROUNDED
    yield "softplus", pysimd.softplus(x), np.log1p(np.exp(d)), _ROUNDED
    yield "tanh", pysimd.tanh(x), np.tanh(d), _ROUNDED
    yield "swish", pysimd.swish(x), d / (1 + np.exp(-d)), _ROUNDED
    yield "silu", pysimd.silu(x), d / (1 + np.exp(-d)), _ROUNDED
    yield "mish", pysimd.mish(x), d * np.tanh(np.log1p(np.exp(d))), _ROUNDED
    yield "hard_sigmoid", pysimd.hard_sigmoid(x), np.clip(d / 6 + 0.5, 0, 1), _ROUNDED
    yield "hardsigmoid", pysimd.hardsigmoid(x), np.clip(d / 6 + 0.5, 0, 1), _ROUNDED
    yield "gelu", pysimd.gelu(x), d * _of_each(erfc, -d / np.sqrt(2)) / 2, _ROUNDED


def unary(rng: np.random.Generator) -> Iterator[Case]:
    x = _floats(rng, 5, 41)
    p = np.abs(x) + np.float32(0.125)
    d = p.astype(np.float64)
    yield "absolute", pysimd.absolute(x), np.abs(x), 0
    yield "negative", pysimd.negative(x), -x, 0
    yield "exp", pysimd.exp(x), np.exp(x.astype(np.float64)), _ROUNDED
    yield "log", pysimd.log(p), np.log(d), _ROUNDED
    yield "rsqrt", pysimd.rsqrt(p), 1 / np.sqrt(d), _ROUNDED
    yield "sqrt", pysimd.sqrt(p), np.sqrt(d), _ROUNDED
    d = x.astype(np.float64)
    yield "ceil", pysimd.ceil(x), np.ceil(x), 0
    yield "cos", pysimd.cos(x), np.cos(d), _ROUNDED
    yield "erf", pysimd.erf(x), _of_each(erf, d), _ROUNDED
    yield "floor", pysimd.floor(x), np.floor(x), 0
    yield "reciprocal", pysimd.reciprocal(p), 1 / p, 0
    yield "rint", pysimd.rint(x), np.rint(x), 0
    yield "sign", pysimd.sign(x), np.sign(x), 0
    yield "sin", pysimd.sin(x), np.sin(d), _ROUNDED
    yield "unary", pysimd.unary(x, "zero"), np.zeros_like(x), 0
    yield "arcsinh", pysimd.arcsinh(x), np.arcsinh(d), _ROUNDED
    yield "arctan", pysimd.arctan(x), np.arctan(d), _ROUNDED
    yield "cosh", pysimd.cosh(x), np.cosh(d), _ROUNDED
    yield "sinh", pysimd.sinh(x), np.sinh(d), _ROUNDED
    yield "tan", pysimd.tan(x), np.tan(d), _ROUNDED
    s = np.clip(x, -1, 1) * np.float32(0.9)
    d = s.astype(np.float64)
    yield "arccos", pysimd.arccos(s), np.arccos(d), _ROUNDED
    yield "arcsin", pysimd.arcsin(s), np.arcsin(d), _ROUNDED
    yield "arctanh", pysimd.arctanh(s), np.arctanh(d), _ROUNDED
    yield "arccosh", pysimd.arccosh(p + 1), np.arccosh((p + 1).astype(np.float64)), _ROUNDED


def add(rng: np.random.Generator) -> Iterator[Case]:
    a, b = _floats(rng, 3, 83), _floats(rng, 3, 83)
    yield "add", pysimd.add(a, b), a + b, 0
    yield "Add16b", pysimd.add(_bf16(a), b, dtype="bfloat16"), _bf16(_widened(_bf16(a)) + b), 0
    x, y = (rng.integers(0, 256, (5, 6, 19), dtype=np.uint8) for _ in range(2))
    c = [rng.uniform(0.25, 0.75, 19).astype(np.float32) for _ in range(6)]
    total = ((x * c[0] + c[1]) + y * c[2] + c[3]) * c[4] + c[5]
    z = pysimd.add_8i(x, y, a_scale=c[0], a_shift=c[1], b_scale=c[2], b_shift=c[3], c_scale=c[4], c_shift=c[5])
    yield "add_8i", z, np.clip(np.rint(total), 0, 255), 1 / 200


def affine(rng: np.random.Generator) -> Iterator[Case]:
    x, a, b = _floats(rng, 5, 7, 19), _floats(rng, 19), _floats(rng, 19)
    wide = _widened(_bf16(x))
    expected = np.maximum(wide, 0) + np.float32(0.25) * np.minimum(wide, 0)
    yield "relu_16b", pysimd.relu_16b(_bf16(x), slope=0.25), _bf16(expected), 0
    e = np.exp(wide.astype(np.float64))
    yield "softmax_16b", _widened(pysimd.softmax_16b(_bf16(x))), e / e.sum(-1, keepdims=True), 1 / 256
    centred = wide.astype(np.float64) - wide.mean(-1, keepdims=True, dtype=np.float64)
    normal = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    yield "layer_norm_16b", _widened(pysimd.layer_norm_16b(_bf16(x))), normal, 1 / 256
    with pysimd.Scale16b(x.shape) as scaling:
        yield "Scale16b", scaling(_bf16(x), a, b), _bf16(wide * a + b), 0
    stats = pysimd.statistics(x)
    with pysimd.Scale8i(x.shape, dst_dtype="float32") as layer:
        layer.set_params(a, b, stats, stats)
        bytes_ = pysimd.quantize(x, stats)
        yield "Scale8i", layer(bytes_), pysimd.dequantize(bytes_, stats) * a + b, _ROUNDED


def quantized(rng: np.random.Generator) -> Iterator[Case]:
    """Scales are powers of two, so that every product is exact."""
    x, y = (rng.integers(0, 256, (5, 7, 18), dtype=np.uint8) for _ in range(2))
    a, src, dst = rng.integers(-4, 5, 18).astype(np.float32), (0.5, 128), (0.25, 100)
    v, w = ((each.astype(np.float32) - 128) / 2 for each in (x, y))

    def bytes_of(t: Array) -> Array:
        nearest: Array = np.clip(np.rint(t * 4) + 100, 0, 255)
        return nearest

    yield "quantized_scale", pysimd.quantized_scale(x, a, src=src, dst=dst), bytes_of(v * a), 0
    yield "quantized_prelu", pysimd.quantized_prelu(x, a, src=src, dst=dst), bytes_of(np.where(v > 0, v, a * v)), 0
    joined = pysimd.quantized_concatenate([x, y], 1, src=[src, src], dst=dst)
    yield "quantized_concatenate", joined, bytes_of(np.concatenate([v, w], 1)), 0
    even, odd = pysimd.quantized_shuffle(x, y, src=(src, src), dst=dst)
    both = bytes_of(np.concatenate([v, w], 2))
    yield "quantized_shuffle", np.stack([even, odd]), np.stack([both[..., ::2], both[..., 1::2]]), 0
    with pysimd.QuantizedAdd(x.shape, a=src, b=src, dst=dst) as context:
        yield "QuantizedAdd", context(x, y), bytes_of(v + w), 0
    product = pysimd.quantized_binary("multiply", x, y, src=(src, src), dst=dst)
    yield "quantized_binary", product, bytes_of(v * w), 0


def channelwise(rng: np.random.Generator) -> Iterator[Case]:
    x, z = _floats(rng, 5, 4, 19), _floats(rng, 5, 4, 19)
    a, b, c = (_floats(rng, 19) for _ in range(3))
    v, twice = x + a, np.concatenate([a, b])

    def positive(t: Array) -> Array:
        return np.maximum(t, np.float32(0))

    two = np.concatenate([x, z], -1)
    yield "add_bias", pysimd.add_bias(x, a), v, 0
    yield "scale", pysimd.scale(x, a, b), x * a + b, _ROUNDED
    yield "prelu", pysimd.prelu(x, a), positive(x) - a * positive(-x), _ROUNDED
    yield "fused0", pysimd.fused0(x, bias=a, scale=b), (v - np.abs(v)) * b + positive(v), _ROUNDED
    yield "fused1", pysimd.fused1(x, bias0=a, scale1=b, bias1=c), positive(-v) * b + c + positive(v), _ROUNDED
    scaled = x * a + b
    yield "fused2", pysimd.fused2(x, scale=a, bias=b, slope=0.5), positive(scaled) - positive(-scaled) / 2, _ROUNDED
    yield "fused3", pysimd.fused3(x, slope=b, bias=a), positive(v) - b * positive(-v), _ROUNDED
    joined = np.concatenate([positive(v), positive(v * np.float32(0.5) + np.float32(1))], -1)
    yield "fused4", pysimd.fused4(x, bias0=a, scale1=0.5, bias1=1.0), joined, _ROUNDED
    yield "fused8", pysimd.fused8(x, z, scale=a), x + z * a, _ROUNDED
    yield "fused9", pysimd.fused9(x, z, scale=twice, bias=twice), positive(two * twice + twice), _ROUNDED


def eltwise(rng: np.random.Generator) -> Iterator[Case]:
    x, y, z = (_floats(rng, 211) for _ in range(3))
    yield "eltwise sum", pysimd.eltwise([x, y, z], weights=[1, 2, 3]), x + 2 * y + 3 * z, _ROUNDED
    yield "eltwise max", pysimd.eltwise([x, y, z], "max"), np.maximum(np.maximum(x, y), z), 0


def binary(rng: np.random.Generator) -> Iterator[Case]:
    x, c = _floats(rng, 3, 5, 7, 11), _floats(rng, 3, 5, 1, 1)
    yield "binary", pysimd.binary("add", x, c, activation="relu"), np.maximum(x + c, 0), 0
    yield "binary subtract", pysimd.subtract(c, x), c - x, 0
    yield "binary maximum", pysimd.maximum(x, c), np.maximum(x, c), 0
    yield "binary minimum", pysimd.minimum(x, c), np.minimum(x, c), 0
    yield "binary multiply", pysimd.multiply(x, c), x * c, 0
    yield "binary divide", pysimd.divide(c, x), c / x, 0
    yield "binary power", pysimd.power(np.abs(x), c), np.abs(x).astype(np.float64) ** c, _ROUNDED
    q = np.clip(np.rint(x / np.float32(0.02)) + 128, 0, 255)
    yield "quantize_linear", pysimd.quantize_linear(x, 0.02, 128), q, 0
    half = np.arange(256, dtype=np.uint8) // 2
    found, step, least = pysimd.dynamic_quantize(x)
    yield "dynamic_quantize", pysimd.dequantize_linear(found, float(step), int(least)), x, float(step) * 0.501
    yield "table8", pysimd.table8(q.astype(np.uint8), half), q // 2, 0
    yield (
        "dequantize_linear",
        pysimd.dequantize_linear(q.astype(np.uint8), 0.02, 128),
        (q - 128) * np.float32(0.02),
        _ROUNDED,
    )


def integers(rng: np.random.Generator) -> Iterator[Case]:
    a, b = rng.integers(-9, 9, (7, 13, 19)), rng.integers(1, 9, (13, 1))
    yield "elementwise", pysimd.elementwise("modulo", a, b), a % b, 0
    yield "elementwise comparison", pysimd.elementwise("less", a.astype(np.int8), b.astype(np.int8)), a < b, 0
    sums = np.zeros((13, 19), np.int64)
    np.add.at(sums, b[:7, 0], a[:, 0])
    added = pysimd.scatter_elements(np.zeros((13, 19), np.int64), b[:7], a[:, 0].copy(), reduction="add")
    yield "scatter_elements", added, sums, 0
    yield "scatter_nd", pysimd.scatter_nd(np.zeros((13, 19), np.int64), b[:7], a[:, 0].copy(), reduction="add"), sums, 0
    yield "gather_nd", pysimd.gather_nd(a, b[:6] % 7), a[b[:6, 0] % 7], 0
    yield "cumulative_sum", pysimd.cumulative_sum(a, axis=1), a.cumsum(1), 0
    yield "select", pysimd.select(a < b, a, b), np.where(a < b, a, b), 0


def matrices(rng: np.random.Generator) -> Iterator[Case]:
    a, b, bias = _floats(rng, 37, 65), _floats(rng, 65, 51), _floats(rng, 37)
    product = a.astype(np.float64) @ b
    yield "gemm", pysimd.gemm(a, b), product, _SUMMED
    yield "gemm transpose_b", pysimd.gemm(a, b.T.copy(), transpose_b=True), product, _SUMMED
    yield "gemm transpose_a", pysimd.gemm(a.T.copy(), b, transpose_a=True), product, _SUMMED
    scores = np.exp(product @ b.T.astype(np.float64) / 64)
    attended = scores / scores.sum(1, keepdims=True) @ b.astype(np.float64)
    yield "attention", pysimd.attention(product.astype(np.float32), b, b, scale=1 / 64), attended, _SUMMED
    q = rng.integers(0, 16, (51, 80)).astype(np.uint8)
    packed, sixteenths = (q[:, ::2] | q[:, 1::2] << 4).reshape(51, 5, 8), np.full((51, 5), 0.0625, np.float32)
    few_bits = a.astype(np.float64) @ (q[:, :65].T / 16 - 0.5)
    yield "gemm_nbits", pysimd.gemm_nbits(a, packed, sixteenths), few_bits, _SUMMED
    bytes_a, bytes_b = q[:7, :33], rng.integers(-128, 128, (33, 20)).astype(np.int8)
    sums_of_bytes = pysimd.quantized_gemm(bytes_a.copy(), bytes_b)
    yield "quantized_gemm", sums_of_bytes, bytes_a.astype(np.int32) @ bytes_b.astype(np.int32), 0
    with pysimd.QuantizedGemm(bytes_b.shape, bytes_b.dtype) as packed_bytes:
        packed_bytes.set_params(bytes_b)
        yield "QuantizedGemm", packed_bytes(bytes_a.copy()), sums_of_bytes, 0
    yield "matmul", pysimd.matmul(np.stack([a, a]), b), np.stack([product, product]), _SUMMED
    weights = b.T.copy()
    sums = np.maximum(product + bias[:1], 0)
    yield "linear", pysimd.linear(a, weights, float(bias[0]), activation="relu"), sums, _SUMMED
    with pysimd.InnerProduct32f(a.shape, 51, activation="relu") as context:
        context.set_params(weights, float(bias[0]))
        yield "InnerProduct32f", context(a), sums, _SUMMED
    with pysimd.InnerProduct16b(a.shape, 51, activation="relu", dst_dtype="float32") as small:
        small.set_params(weights, float(bias[0]))
        exact = _widened(_bf16(a)).astype(np.float64) @ _widened(_bf16(b)) + bias[:1]
        yield "InnerProduct16b", small(_bf16(a)), np.maximum(exact, 0), _SUMMED
    yield "inner_product", pysimd.inner_product(b[:, 0].copy(), a, bias), product[:, 0] + bias, _SUMMED


def recurrent(rng: np.random.Generator) -> Iterator[Case]:
    x = _floats(rng, 5, 19)
    w = _floats(rng, 1, 4 * 21, 19) * np.float32(0.2)
    r = _floats(rng, 1, 4 * 21, 21) * np.float32(0.2)
    states: dict[str, list[Array]] = {"LSTM": [], "GRU": [], "RNN": []}
    h = c = n = s = np.zeros(21)
    for step in x.astype(np.float64):
        i, o, f, g = np.split(w[0] @ step + r[0] @ h, 4)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        states["LSTM"].append(h)
        z, reset = np.split(1 / (1 + np.exp(-w[0, :42] @ step - r[0, :42] @ n)), 2)
        n = (1 - z) * np.tanh(w[0, 42:63] @ step + r[0, 42:63] @ (reset * n)) + z * n
        states["GRU"].append(n)
        s = np.tanh(w[0, :21] @ step + r[0, :21] @ s)
        states["RNN"].append(s)
    memory, gated, simple = pysimd.LSTM(x.shape, 21), pysimd.GRU(x.shape, 21), pysimd.RNN(x.shape, 21)
    memory.set_params(w, r)
    gated.set_params(w[:, :63].copy(), r[:, :63].copy())
    simple.set_params(w[:, :21].copy(), r[:, :21].copy())
    yield "LSTM", memory(x)[:, 0], np.stack(states["LSTM"]), _SUMMED
    yield "lstm", pysimd.lstm(x, w, r), memory(x), 0
    yield "GRU", gated(x)[:, 0], np.stack(states["GRU"]), _SUMMED
    yield "gru", pysimd.gru(x, w[:, :63].copy(), r[:, :63].copy()), gated(x), 0
    yield "RNN", simple(x)[:, 0], np.stack(states["RNN"]), _SUMMED
    yield "rnn", pysimd.rnn(x, w[:, :21].copy(), r[:, :21].copy()), simple(x), 0


def layout(rng: np.random.Generator) -> Iterator[Case]:
    x, weight = _floats(rng, 19, 5, 7), _floats(rng, 3, 3, 19, 13)
    there = pysimd.convert_image(x, src_layout="nchw", dst_layout="nhwc")
    yield "convert_image", there, x.transpose(1, 2, 0), 0
    blocks = pysimd.convert_image(there, src_layout="nhwc", dst_layout="nchw8c")
    yield "convert_image back", pysimd.convert_image(blocks, src_layout="nchw8c", dst_layout="nchw", channels=19), x, 0
    filters = pysimd.convert_filter(weight, src_layout="yxio", dst_layout="oiyx")
    yield "convert_filter", filters, weight.transpose(3, 2, 0, 1), 0


def copies(rng: np.random.Generator) -> Iterator[Case]:
    x = _floats(rng, 5, 7, 33)
    yield "copy", pysimd.copy(x[::2, :, ::-1]), x[::2, :, ::-1], 0
    yield "concatenate", pysimd.concatenate([x, x[:2]]), np.concatenate([x, x[:2]]), 0
    yield "pad", pysimd.pad(x, (1, 2), "reflect"), np.pad(x, (1, 2), "reflect"), 0
    yield "permute", pysimd.permute(x, (1, 2, 0)), x.transpose(1, 2, 0), 0
    yield "transpose", pysimd.transpose(x), x.T, 0
    with pysimd.Permute(x.shape, (0, 2, 1)) as context:
        yield "Permute", context(x), x.transpose(0, 2, 1), 0


def reductions(rng: np.random.Generator) -> Iterator[Case]:
    x = _floats(rng, 19, 70, 33)
    d = x.astype(np.float64)
    for axis in (0, 1, 2):
        yield "sum", pysimd.sum(x, axis), d.sum(axis), _SUMMED
        yield "mean", pysimd.mean(x, axis), d.mean(axis), _SUMMED
        yield "amax", pysimd.amax(x, axis), d.max(axis), 0
        yield "amin", pysimd.amin(x, axis), d.min(axis), 0
        yield "prod", pysimd.prod(x, axis), d.prod(axis), _SUMMED
        yield "logsumexp", pysimd.logsumexp(x, axis), np.log(np.exp(d).sum(axis)), _SUMMED
        yield "reduce", pysimd.reduce(x, "l2", axis), np.sqrt((d * d).sum(axis)), _SUMMED
        yield "argmax", pysimd.argmax(x, axis), d.argmax(axis), 0
        yield "argmin", pysimd.argmin(x, axis), d.argmin(axis), 0


def normalisation(rng: np.random.Generator) -> Iterator[Case]:
    x = _floats(rng, 5, 7, 23)
    d = x.astype(np.float64)
    e = np.exp(d - d.max(-1, keepdims=True))
    yield "softmax", pysimd.softmax(x), e / e.sum(-1, keepdims=True), _SUMMED
    sums = sliding_window_view(np.pad(d * d, [(0, 0), (0, 0), (2, 2)]), 5, axis=-1).sum(-1)
    yield "lrn", pysimd.lrn(x, alpha=0.5), d / (1 + 0.1 * sums) ** 0.75, _SUMMED
    mean, deviation = d.mean(-1, keepdims=True), d.std(-1, keepdims=True)
    yield "layer_norm", pysimd.layer_norm(x, eps=0), (d - mean) / deviation, _SUMMED
    mean, deviation = d.mean((0, 1)), d.std((0, 1))
    yield "instance_norm", pysimd.instance_norm(x, eps=0), (d - mean) / deviation, _SUMMED
    mean, deviation = d.mean((1, 2), keepdims=True), d.std((1, 2), keepdims=True)
    yield "group_norm", pysimd.group_norm(x, 5, eps=0), (d - mean) / deviation, _SUMMED
    length = np.sqrt((d * d).sum((0, 1)))
    yield "global_response_norm", pysimd.global_response_norm(x, 1, eps=0), d * (1 + length / length.mean()), _SUMMED
    yield "l2_normalize", pysimd.l2_normalize(x, eps=0), d / np.sqrt((d * d).sum(-1, keepdims=True)), _SUMMED


def gathering(rng: np.random.Generator) -> Iterator[Case]:
    x, places = _floats(rng, 13, 11, 19), rng.integers(-13, 13, (7, 11, 19))
    yield "gather", pysimd.gather(x, places[:, 0, 0].copy()), x[places[:, 0, 0]], 0
    yield "cast", pysimd.cast(x, np.int64), np.trunc(x), 0
    yield "to_bfloat16", pysimd.to_bfloat16(x), _bf16(x), 0
    yield "from_bfloat16", pysimd.from_bfloat16(_bf16(x)), _widened(_bf16(x)), 0
    taken = np.take_along_axis(x, places, 0)
    yield "gather_elements", pysimd.gather_elements(x, places, axis=0), taken, 0
    with pysimd.GatherElements(x.shape, 7, axis=0) as context:
        yield "GatherElements", context(x, places), taken, 0
    values, indices = pysimd.top_k(x, 5)
    yield "top_k", values, -np.sort(-x)[..., :5], 0
    order = np.arange(35).reshape(5, 7) * 13 % 35
    yield "top_k integers", pysimd.top_k(order, 3)[0], -np.sort(-order)[..., :3], 0
    yield "top_k indices", np.take_along_axis(x, indices, 2), values, 0
    image, corners = x[None], np.array([-1, 0, 1], np.float32)
    grid = np.stack(np.meshgrid(corners, corners), -1)[None]
    middle = x[:, ::5, ::9]
    yield "grid_sample", pysimd.grid_sample(image, grid, align_corners=True), middle[None], _ROUNDED
    with pysimd.GridSample2d(image.shape, 3, mode="nearest", align_corners=True) as sampler:
        yield "GridSample2d", sampler(image, grid), middle[None], 0
    whole, every = np.array([[0, 0, x.shape[2], x.shape[1]]], np.float32), np.array([0])
    yield "roi_align", pysimd.roi_align(image, whole, every, x.shape[1:], sampling_ratio=1), image, _ROUNDED
    ver, hor = _floats(rng, 11, 19), _floats(rng, 13, 19)
    yield "tiled_scale", pysimd.tiled_scale(x, ver, hor), x * ver * hor[:, None], 0
    yield "channel_sum", pysimd.channel_sum(_bf16(x)), _widened(_bf16(x)).sum((0, 1), np.float64), _SUMMED
    boxes = np.array([[[0, 0, 2, 2], [0, 0, 2, 1.5], [5, 5, 6, 6]]], np.float32)
    selected = pysimd.non_max_suppression(boxes, np.array([[[1, 3, 2]]], np.float32), iou_threshold=0.5)
    yield "non_max_suppression", selected, np.array([[0, 0, 1], [0, 0, 2]]), 0


def pooling(rng: np.random.Generator) -> Iterator[Case]:
    x = _floats(rng, 2, 9, 11, 19)
    least = float(x.min()) - 1
    greatest = _windows(x, 3, 2, 1, least).max((-2, -1))
    yield "pooling_max", pysimd.pooling_max(x, kernel=3, stride=2, padding=1), greatest, 0
    planes = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    of_bytes = rng.integers(0, 256, x.shape, np.uint8)
    whole = np.clip(np.rint(of_bytes.sum((1, 2)) / (of_bytes[0, :, :, 0].size * 2.0) + 0.0) + 3, 0, 255)
    pooled_bytes = pysimd.quantized_pooling(of_bytes, "global_average", src=(0.5, 0), dst=(1.0, 3))
    yield "quantized_pooling", pooled_bytes[:, 0, 0], whole, 1
    pooled = pysimd.pooling_max(planes, kernel=3, stride=2, padding=1, layout="nchw")
    yield "pooling_max nchw", pooled, greatest.transpose(0, 3, 1, 2), 0
    rounded = pysimd.pooling_max(_bf16(x), kernel=3, stride=2, padding=1)
    yield "pooling_max bfloat16", rounded, _bf16(greatest), 0
    yield "pooling_average", pysimd.pooling_average(x, kernel=3), _windows(x, 3, 3).mean((-2, -1)), _SUMMED


def pictures(rng: np.random.Generator) -> Iterator[Case]:
    picture = rng.integers(0, 256, (9, 13, 3), dtype=np.uint8)
    tensor = pysimd.set_input(picture, pixel_format="bgr24", lower=-1.0, upper=1.0)
    yield "set_input", tensor, picture / 127.5 - 1, _ROUNDED
    a, b = _floats(rng, 5, 7, 6), _floats(rng, 5, 7, 14)
    both = np.concatenate([a, b], -1)
    even, odd = pysimd.shuffle(a, b)
    yield "shuffle even", even, both[..., ::2], 0
    yield "shuffle odd", odd, both[..., 1::2], 0


def convolutions(rng: np.random.Generator) -> Iterator[Case]:
    x, bias = _floats(rng, 2, 13, 11, 19), _floats(rng, 37)
    for kernel, stride in ((1, 1), (3, 1), (3, 2), (5, 1)):
        weight, padding = _floats(rng, kernel, kernel, 19, 37), kernel // 2
        y = pysimd.convolution(x, weight, bias, stride=stride, padding=padding, activation="relu")
        expected = np.maximum(_convolved(x, weight, stride, padding) + bias, 0)
        yield f"convolution {kernel}x{kernel} stride {stride}", y, expected, _SUMMED
        quantised = _quantised(x, weight, bias, expected, stride=stride, padding=padding, activation="relu")
        yield f"Convolution8i {kernel}x{kernel} stride {stride}", quantised, expected, 0.03
        rounded = _rounded(x, weight, bias, stride=stride, padding=padding, activation="relu")
        yield f"Convolution16b {kernel}x{kernel} stride {stride}", rounded, expected, 0.01
    each = _floats(rng, 3, 3, 1, 19)
    y = pysimd.convolution(x, each, padding=1, group=19)
    yield "convolution depthwise", y, _convolved(x, each, 1, 1), _SUMMED
    planes = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    weight = _floats(rng, 3, 3, 19, 37)
    y = pysimd.convolution(planes, np.ascontiguousarray(weight.transpose(3, 2, 0, 1)), layout="nchw")
    yield "convolution nchw", y, _convolved(x, weight).transpose(0, 3, 1, 2), _SUMMED
    wide = _floats(rng, 19, 2, 2, 8)
    y = np.einsum("nhwc,cyxd->nhywxd", x.astype(np.float64), wide).reshape(2, 26, 22, 8)
    yield "deconvolution", pysimd.deconvolution(x, wide, stride=2), y, _SUMMED
    with pysimd.Deconvolution16b(x.shape, 8, kernel=2, stride=2, dst_dtype="float32") as small:
        small.set_params(wide)
        exact = np.einsum("nhwc,cyxd->nhywxd", _widened(_bf16(x)).astype(np.float64), _widened(_bf16(wide)))
        yield "Deconvolution16b", small(_bf16(x)), exact.reshape(2, 26, 22, 8), _SUMMED
    yield from _of_bytes(rng)
    yield from _merged(rng, x)
    yield from _winograd(x[0], weight)


def _quantised(x: Array, weight: Array, bias: Array, y: Array, **options: Any) -> Array:
    """A convolution by bytes, as floats."""
    seen, given = pysimd.statistics(x), pysimd.statistics(y.astype(np.float32))
    with pysimd.Convolution8i(x.shape, weight.shape[3], kernel=len(weight), **options) as context:
        context.set_params(weight, bias, src_stats=seen, dst_stats=given)
        return pysimd.dequantize(context(pysimd.quantize(x, seen)), given)


def _of_bytes(rng: np.random.Generator) -> Iterator[Case]:
    x, weight = rng.integers(0, 256, (2, 9, 7, 19), np.uint8), rng.integers(-128, 128, (3, 3, 19, 37), np.int8)
    with pysimd.QuantizedConvolution(x.shape, 37, kernel=3) as context:
        context.set_params(weight, 1.0, src=(1.0, 100), dst=(4096.0, 128))
        sums = _convolved(x.astype(np.float64) - 100, weight.astype(np.float64))
        expected = np.clip(np.rint(sums / 4096) + 128, 0, 255).astype(np.uint8)
        yield "QuantizedConvolution", context(x), expected, 0
        table = np.arange(256, dtype=np.uint8)[::-1] // 3
        context.set_params(weight, 1.0, src=(1.0, 100), dst=(4096.0, 128), table=table)
        yield "QuantizedConvolution", context(x), table[expected], 0
        addition = pysimd.QuantizedSum((1.0, 0), (1.0, 0), (1.0, 0))
        context.set_params(weight, 1.0, src=(1.0, 100), dst=(4096.0, 128), addition=addition)
        both = np.minimum(expected.astype(np.int32) + table[expected], 255).astype(np.uint8)
        yield "QuantizedConvolution", context(x, add=np.ascontiguousarray(table[expected])), both, 0
    stages = [pysimd.ConvolutionStage(1, 24), pysimd.ConvolutionStage(3, padding=1)]
    with pysimd.QuantizedMergedConvolution(x.shape, stages) as merged:
        numbers = [rng.integers(-128, 128, shape, np.int8) for shape in merged.weight_shapes]
        merged.set_params(numbers, [1 / 256, 1 / 256], [(1.0, 0), (1.0, 90), (1.0, 128)])
        with pysimd.QuantizedConvolution(x.shape, 24, kernel=1) as one:
            one.set_params(numbers[0], 1 / 256, (1.0, 0), (1.0, 90))
            between = one(x)
        with pysimd.QuantizedConvolution(between.shape, 24, kernel=3, padding=1, group=24) as other:
            other.set_params(numbers[1], 1 / 256, (1.0, 90), (1.0, 128))
            yield "QuantizedMergedConvolution", merged(x), other(between), 0
    rows, turned = x.reshape(-1, x.shape[-1]), rng.integers(-128, 128, (29, x.shape[-1]), np.int8)
    exact = rows.astype(np.int32) @ turned.T.astype(np.int32)
    yield "inner_product_8i", pysimd.inner_product_8i(rows, turned), exact, 0
    with pysimd.QuantizedInnerProduct(rows.shape, 29) as product:
        product.set_params(turned, 1 / 1024, (1.0, 0), (1.0, 128))
        yield "QuantizedInnerProduct", product(rows), np.clip(np.rint(exact / 1024) + 128, 0, 255), 0


def _rounded(x: Array, weight: Array, bias: Array, **options: Any) -> Array:
    """A convolution by bfloat16 numbers, as floats."""
    with pysimd.Convolution16b(x.shape, weight.shape[3], kernel=len(weight), **options) as context:
        context.set_params(weight, bias)
        return pysimd.from_bfloat16(context(pysimd.to_bfloat16(x)))


def _merged(rng: np.random.Generator, x: Array) -> Iterator[Case]:
    stage = pysimd.ConvolutionStage
    weights = [_floats(rng, 1, 1, 19, 40), _floats(rng, 3, 3, 1, 40), _floats(rng, 1, 1, 40, 19)]
    stages = [stage(1, 40, activation="relu"), stage(3, padding=1, activation="relu"), stage(1, 19)]
    with pysimd.MergedConvolution32f(x.shape, stages, residual=True) as context:
        context.set_params(weights)
        y = np.maximum(_convolved(x, weights[0]), 0)
        y = np.maximum(_convolved(y, weights[1], 1, 1), 0)
        yield "MergedConvolution32f", context(x), _convolved(y, weights[2]) + x, _SUMMED
    with pysimd.MergedConvolution16b(x.shape, stages, residual=True, src_dtype="float32", dst_dtype="float32") as small:
        small.set_params(weights)
        yield "MergedConvolution16b", small(x), _convolved(y, weights[2]) + x, 0.01
    with pysimd.MergedConvolution8i(x.shape, stages, src_dtype="float32", dst_dtype="float32") as bytes_:
        bytes_.set_params(weights, src_stats=pysimd.statistics(x), middle_stats=pysimd.statistics(y.astype(np.float32)))
        exact = _convolved(y, weights[2])
        yield "MergedConvolution8i", bytes_(x) / np.abs(exact).max(), exact / np.abs(exact).max(), 0.05


def resizing(rng: np.random.Generator) -> Iterator[Case]:
    """Enlarging by two repeats pixels; a picture of half the size has the means of four pixels."""
    x = rng.random((6, 8, 3), np.float32)
    twice = x.repeat(2, axis=0).repeat(2, axis=1)
    yield "resize nearest", pysimd.resize(x, scale=2), twice, 0
    yield "Resize area", pysimd.Resize(twice.shape, (6, 8), mode="area")(twice), x, _SUMMED
    yield "Resizer", pysimd.Resizer(twice.shape, (6, 8), dtype="float32")(twice), x, _SUMMED


def _winograd(x: Array, weight: Array) -> Iterator[Case]:
    v, u = pysimd.winograd_input(x, padding=1), pysimd.winograd_filter(weight)
    y = pysimd.winograd_output(np.matmul(v, u), x.shape[:2])
    yield "winograd_output", y, _convolved(x, weight, 1, 1), 10 * _SUMMED


FAMILIES: tuple[Callable[[np.random.Generator], Iterator[Case]], ...] = (
    activation, unary, add, channelwise, eltwise, binary, integers, matrices, recurrent, layout, copies, reductions,
    normalisation, affine, quantized, gathering, resizing, pooling, pictures, convolutions
)  # fmt: skip


def failures() -> Iterator[str]:
    """One message for each case that fails, on the instruction set in use."""
    for family in FAMILIES:
        for name, actual, expected, bound in family(np.random.default_rng(1)):
            if actual.shape != expected.shape:
                yield f"{name}: shape {actual.shape}, expected {expected.shape}"
                continue
            expected = expected.astype(np.float64)
            error = float(np.abs(actual - expected).max() / max(np.abs(expected).max(), 1))
            if not error <= bound:
                yield f"{name}: error {error:.2e} of the largest value, expected at most {bound:.0e}"


def main() -> int:
    """Prints a line for each instruction set and for each failure; the exit status is 1 if something failed."""
    failed = False
    for level in pysimd.isa_levels():
        start = time.perf_counter()
        with pysimd.max_isa(level):
            found = list(failures())
        state = f"{len(found)} failures" if found else "ok"
        print(f"{level:<12} {state}, {time.perf_counter() - start:.2f} s", *found, sep="\n    ", flush=True)
        failed |= bool(found)
    return int(failed)
