"""Convolutions and products of bytes and of few bits. Sums are integers; what follows them is NumPy's float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from support.vectors.numbers import Array, F, Linear, f, limited
from support.vectors.pointwise import dynamic_quantize, linear_sum, steps
from support.vectors.text import PLAIN_OPTIONS


def images_of(x: Array, layout: str) -> Array:
    """(N, C, H, W)."""
    return x if layout == "nchw" else x.transpose(0, 3, 1, 2)


def in_layout(y: Array, layout: str) -> Array:
    return np.ascontiguousarray(y if layout == "nchw" else y.transpose(0, 2, 3, 1))


def weights_of(w: Array, layout: str) -> Array:
    """(output channels, input channels of a group, ky, kx)."""
    return w if layout == "nchw" else w.transpose(3, 2, 0, 1)


def convolve(x: Array, w: Array, geometry: dict[str, Any], outside: int = 0) -> Array:
    """Sums of products of (N, C, H, W) and (O, C / group, ky, kx), in int64 or float64; `outside` is the padding."""
    top, left, bottom, right = geometry["padding"]
    (step_y, step_x), (apart_y, apart_x) = geometry["stride"], geometry["dilation"]
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=outside)
    count, inputs, kernel_y, kernel_x = w.shape
    rows = (padded.shape[2] - (kernel_y - 1) * apart_y - 1) // step_y + 1
    columns = (padded.shape[3] - (kernel_x - 1) * apart_x - 1) // step_x + 1
    y = np.zeros((len(x), count, rows, columns), x.dtype)
    for o in range(count):
        first = o // (count // geometry["group"]) * inputs
        for i, j in np.ndindex(kernel_y, kernel_x):
            at_y, at_x = i * apart_y, j * apart_x
            seen = padded[:, first : first + inputs, at_y : at_y + rows * step_y : step_y]
            seen = seen[..., at_x : at_x + columns * step_x : step_x]
            y[:, o] += np.einsum("nchw,c->nhw", seen, w[o, :, i, j])
    return y


def activate(v: Array, activation: str, params: Any, axis: int) -> Any:
    """In the type of `v`; those whose results are exact or rounded a few times."""
    if activation == "relu":
        return np.maximum(v, v.dtype.type(0))
    if activation == "restrict_range":
        return np.clip(v, *params)
    if activation in ("leaky_relu", "prelu"):
        places = [-1 if activation == "prelu" and i == axis else 1 for i in range(v.ndim)]
        slopes = np.array(params, np.float32).reshape(places)
        return np.maximum(v, 0) + (np.minimum(v, 0) * slopes).astype(v.dtype)
    assert activation == "identity"
    return v


def wrapped(sums: Array) -> Array:
    """The low 32 bits, as int32."""
    return sums.astype(np.int64).astype(np.uint64).astype(np.uint32).view(np.int32)


def quantized_convolution(
    x: Array, weight: Array, scale: Array, bias: Array, linears: Sequence[Linear], options: dict[str, Any]
) -> Array:
    """linears : of the source, of the middle and of the result."""
    layout, activation = options["layout"], options["activation"]
    (s0, z0), (s1, z1), (s2, z2) = linears
    sums = convolve(images_of(x, layout).astype(np.int64) - z0, weights_of(weight, layout).astype(np.int64), options)
    total = f(wrapped(sums + bias[:, None, None]))
    norm = f(f(F(s0) * scale) / F(s2 if activation == "identity" else s1))
    v = f(total * norm[:, None, None])
    if activation == "identity":
        return in_layout(limited(v, z2), layout)
    middle = f(f(limited(v, z1).astype(np.int32) - z1) * F(s1))
    params = options.get("params")
    return in_layout(limited(f(activate(middle, activation, params, 1) * f(F(1) / F(s2))), z2), layout)


def options_of(stage: dict[str, Any], channels: int) -> dict[str, Any]:
    """Those of a stage of a merged convolution, as a convolution by itself."""
    kernel, stride, pad = ((stage[name], stage[name]) for name in ("kernel", "stride", "padding"))
    group = channels if stage["dst_c"] is None else 1
    activation, params = stage.get("activation", "identity"), stage.get("params")
    options = {"kernel": kernel, "stride": stride, "padding": pad * 2, "group": group}
    return {**PLAIN_OPTIONS, **options, "activation": activation, "params": params}


def quantized_merged(
    x: Array, stages: Any, weights: Any, scales: Any, biases: Any, linears: Sequence[Linear], residual: str
) -> Array:
    """Each convolution by itself. residual : "", "result" or "source", the first term of the sum, whose zero is inside."""
    y = x
    for i, (stage, weight, scale, bias) in enumerate(zip(stages, weights, scales, biases)):
        y = quantized_convolution(
            y, weight, scale, bias, (linears[i], (1.0, 0), linears[i + 1]), options_of(stage, y.shape[-1])
        )
    if not residual:
        return y
    terms = [(x, linears[0]), (y, linears[3])]
    (a, a_linear), (b, b_linear) = terms if residual == "source" else terms[::-1]
    return linear_sum(a, b, (a_linear, b_linear), linears[4], np.uint8)


def quantized_inner_product(x: Array, weight: Array, scale: Array, bias: Array, src: Linear, dst: Linear) -> Array:
    """weight : (outputs, inputs)."""
    sums = (x.astype(np.int64) - src[1]) @ weight.astype(np.int64).T
    return limited(f(f(wrapped(sums + bias)) * f(f(F(src[0]) * scale) / F(dst[0]))), dst[1])


def quantized_followed(
    x: Array,
    weight: Array,
    scale: Array,
    linears: Sequence[Linear],
    rows: bool,
    options: dict[str, Any],
    table: Array | None,
    sums: Sequence[Linear] | None,
    add: Array | None,
    order: Sequence[str],
) -> Array:
    """A convolution or an inner product of rows, and what SimdnetQuantizedSetParams() lets follow it.

    sums : of the bytes that are added to, of `add`, and of the sum.
    order : "before" or "after" the table, and "result first" or "add first" as operands.
    """
    zeros, (src, dst) = np.zeros(len(scale), np.int32), linears
    if rows:
        y = quantized_inner_product(x, weight, scale, zeros, src, dst)
    else:
        y = quantized_convolution(x, weight, scale, zeros, (src, dst, dst), options)
    if table is not None and (add is None or order[0] == "after"):
        y = table[y]
    if add is not None and sums is not None:
        own, other, result = sums
        pair = (y.view(add.dtype), own), (add, other)
        (a, of_a), (b, of_b) = pair[::-1] if order[1] == "add first" else pair
        y = linear_sum(a, b, (of_a, of_b), result, add.dtype)
        y = table[y.view(np.uint8)].view(add.dtype) if table is not None and order[0] == "before" else y
    return y


def inner_product_8i(x: Array, weight: Array) -> Array:
    return wrapped(x.astype(np.int64) @ weight.astype(np.int64).T)


def weights_8i(weight: Array, scale: Array, group: int) -> tuple[Array, Array, Array]:
    """Bytes of (O, C / group, ky, kx) weights, ws and 1 / ws of each output channel."""
    count, inputs = weight.shape[:2]
    bytes_, factors, norm = np.zeros(weight.shape, np.int64), np.full(count, np.inf, F), np.zeros(count, F)
    for o in range(count):
        first = o // (count // group) * inputs
        n = f(weight[o] / scale[first : first + inputs, None, None])
        largest = np.abs(n).max()
        if largest > 0:
            factors[o] = f(F(127) / largest)
            bytes_[o], norm[o] = limited(f(n * factors[o]), 0, np.int8), f(F(1) / factors[o])
    return bytes_, factors, norm


def multiplied_8i(bytes_: Array, weight: Array, bias: Array, stats: Any, options: dict[str, Any]) -> Array:
    """A convolution of bytes (N, C, H, W), as floats before the result is converted."""
    _, scale, zero = steps(*stats)
    w8, ws, norm = weights_8i(weight, scale, options["group"])
    sums = f(wrapped(convolve(bytes_.astype(np.int64), w8, options, zero)))
    shift = f(bias - f(f(F(zero) * f(w8.sum((1, 2, 3)))) / ws))
    v = f(f(sums * norm[:, None, None]) + shift[:, None, None])
    return np.asarray(activate(v, options["activation"], options.get("params"), 1))


def quantized_by(x: Array, stats: Any) -> Array:
    """Bytes of (N, C, H, W) by statistics."""
    _, scale, zero = steps(*stats)
    return limited(f(f(x * scale[:, None, None]) + F(zero)))


def convolution_8i(
    x: Array, weight: Array, bias: Array, src: Any, dst: Any, dst_dtype: str, options: dict[str, Any]
) -> Array:
    """src, dst : minima and maxima of channels."""
    images = images_of(x, options["layout"])
    bytes_ = quantized_by(images, src) if x.dtype == F else images
    v = multiplied_8i(bytes_, weights_of(weight, options["layout"]), bias, src, options)
    return in_layout(quantized_by(v, dst) if dst_dtype == "uint8" else v, options["layout"])


def merged_8i(x: Array, stages: Any, weights: Any, biases: Any, stats: Any, dst_dtype: str) -> Array:
    """stats : of the source, before the projection, of the result. Numbers that are exact in float32 alone."""
    y = images_of(x, "nhwc")
    for i, (stage, weight, bias) in enumerate(zip(stages, weights, biases)):
        options, w = options_of(stage, y.shape[1]), weights_of(weight, "nhwc")
        if stage["dst_c"] is None:
            if y.dtype == np.uint8:
                inv, _, zero = steps(*stats[0])
                y = f(f(y.astype(F) * inv[:, None, None]) + f(F(-zero) * inv)[:, None, None])
            v = f(convolve(y.astype(np.float64), w.astype(np.float64), options) + bias[:, None, None])
            y = activate(v, options["activation"], options["params"], 1)
            continue
        of = stats[0] if i == 0 else stats[1]
        y = multiplied_8i(y if y.dtype == np.uint8 else quantized_by(y, of), w, bias, of, options)
    return in_layout(quantized_by(y, stats[2]) if dst_dtype == "uint8" else y, "nhwc")


def quantized_gemm(
    a: Array,
    b: Array,
    zeros: Sequence[Array],
    scales: Sequence[Array] | None,
    bias: Array | None,
    dst: Linear | None,
    dtype: str,
) -> Array:
    """zeros, scales : of rows, (..., M, 1) or a number, and of columns."""
    left, right = a.astype(np.int64) - zeros[0].astype(np.int64), b.astype(np.int64) - zeros[1].astype(np.int64)
    sums = left @ right
    if dtype == "float32":
        assert scales is not None
        y = f(f(wrapped(sums)) * f(scales[0] * scales[1]))
        return np.asarray(y if bias is None else f(y + bias))
    total = wrapped(sums if bias is None else sums + bias)
    if dtype == "int32":
        return total
    assert scales is not None and dst is not None
    return limited(f(f(total) * f(f(scales[0] * scales[1]) / F(dst[0]))), dst[1], dtype)


def unpacked(packed: Array, bits: int, count: int) -> Array:
    """Numbers of 4 or 8 bits of rows of bytes, the lower bits first."""
    rows = packed.reshape(len(packed), -1).astype(np.int64)
    numbers = rows if bits == 8 else np.stack([rows & 15, rows >> 4], -1).reshape(len(rows), -1)
    return numbers[:, :count]


def gemm_nbits(
    x: Array, weight: Array, scale: Array, zero: Array | None, bias: Array | None, bits: int, quantised: bool
) -> tuple[Array, float]:
    """The product, and the bound of the error of its sums."""
    (rows, blocks, size), depth = weight.shape, x.shape[-1]
    block = size * 8 // bits
    zeros = np.full((rows, blocks), 1 << (bits - 1)) if zero is None else unpacked(zero, bits, blocks)
    numbers = unpacked(weight, bits, blocks * block).reshape(rows, blocks, block) - zeros[:, :, None]
    padded = np.pad(x, ((0, 0), (0, blocks * block - depth))).reshape(-1, blocks, block)
    if quantised:
        s = f(np.abs(padded).max(-1) / F(127))
        q = np.where(s[..., None] > 0, np.minimum(np.rint(f(padded / s[..., None])), 127), 0)
        inner = np.einsum("mbk,nbk->mnb", q.astype(np.float64), numbers.astype(np.float64))
        products = inner * f(s[:, None] * scale[None]).astype(np.float64)
    else:
        w = numbers * scale[:, :, None].astype(np.float64)
        products = np.einsum("mbk,nbk->mnbk", padded.astype(np.float64), w).reshape(len(x), rows, -1)
    total = products.sum(-1) + (0 if bias is None else bias.astype(np.float64))
    size_of_terms = np.abs(np.nan_to_num(products, posinf=0, neginf=0)).sum(-1).max() + (
        0 if bias is None else np.abs(bias).max()
    )
    return f(total), float((products.shape[-1] + 8) * 2.0**-23 * size_of_terms)


def lstm_of_bytes(x: Array, weight: Array, recurrent: Array, scales: Any, zeros: Any, bias: Array) -> Array:
    """DynamicQuantizeLSTM: x (steps, batch, input); weights (directions, input, 4 H) with gates i, o, f, c.

    The states must not be near the middle between two bytes, as they are computed here in double.
    """
    count, batch = x.shape[:2]
    hidden = recurrent.shape[1]
    y = np.zeros((count, len(weight), batch, hidden))
    source = dynamic_quantize(x)
    for d in range(len(weight)):
        h, c = np.zeros((batch, hidden), F), np.zeros((batch, hidden))
        terms = bias[d].astype(np.float64).reshape(2, -1).sum(0)
        for t in range(count) if d == 0 else range(count)[::-1]:
            bytes_, s, z = dynamic_quantize(h)
            middle = np.abs(np.abs(h / s - np.rint(h / s)) - 0.5)
            assert middle.min() > 1e-3, "a state is near the middle between two bytes"
            gates = terms + _gates(source[0][t], source[1:], weight[d], scales[0][d], zeros[0][d])
            gates = gates + _gates(bytes_, (s, z), recurrent[d], scales[1][d], zeros[1][d])
            i, o, forget, g = np.split(gates, 4, -1)
            c = _sigmoid(forget) * c + _sigmoid(i) * np.tanh(g)
            h = f(_sigmoid(o) * np.tanh(c))
            y[t, d] = h
    return np.asarray(f(y))


def _gates(bytes_: Array, linear: Sequence[Any], weight: Array, scale: Any, zero: Any) -> Array:
    sums = (bytes_.astype(np.int64) - int(linear[1])) @ (weight.astype(np.int64) - np.asarray(zero, np.int64))
    return np.asarray(f(f(sums) * f(F(linear[0]) * scale)), np.float64)


def _sigmoid(v: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-v)))
