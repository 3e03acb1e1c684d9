"""The results of a graph, computed in float64 by the formulas: the reference for networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable

import numpy as np
from test_resize import expected as resized

from network import quantised
from pysimd.network import Graph
from support import Array
from support import reference as formulas

_Attributes = Mapping[str, Any]
_Inputs = Sequence[Any]  # arrays, None for missing ones


def computed(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs by name."""
    values: dict[str, Any] = {name: _wide(inputs[name]) for name in graph.inputs}
    left = {name: len(graph.users(name)) for name in graph.types}
    for node in graph.nodes:
        x = [values[name] if name in values else _wide(graph.constants[name]) if name else None for name in node.inputs]
        results = FORMULAS[node.operator](x, node.attributes)
        several = results if isinstance(results, tuple) else (results,)
        for name, result in zip(node.outputs, several):
            if result.shape != graph.shape(name):
                raise ValueError(f"{node.operator} gives {result.shape}, expected {graph.shape(name)}")
        values.update(zip(node.outputs, several))
        for name in node.given:
            left[name] -= 1
            if left[name] == 0 and name not in graph.outputs:
                values.pop(name, None)
    return {name: values[name] for name in graph.outputs}


def reference(graph: Graph, image: Array) -> Array:
    """The result for an (H, W, C) image, as (H, W, C)."""
    (source,), (result,) = graph.inputs, graph.outputs
    (found,) = computed(graph, {source: image.transpose(2, 0, 1)[None]})[result]
    return np.asarray(found.reshape(len(found), *(found.shape[1:] or (1, 1))).transpose(1, 2, 0))


def inputs_of(graph: Graph, seed: int = 7) -> dict[str, Array]:
    """Random inputs from -2 to 2."""
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(-2, 2, graph.shape(name)).astype(graph.types[name].dtype) for name in graph.inputs}


def _wide(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype == np.float32 else array


def _params(values: Sequence[float]) -> Array:
    return np.array(values, np.float32).astype(np.float64)


def _activated(x: Array, a: _Attributes, axis: int) -> Array:
    name, params = a.get("activation", ("identity", ()))
    return np.asarray(formulas.activate(x, name, _params(params) if len(params) else None, axis))


# ---- windows over images


def _conv(x: _Inputs, a: _Attributes) -> Array:
    image, weight, bias, add = (*x, None, None)[:4]
    sums = _sums(image, weight, bias, a)
    if add is not None and a["order"] == "activation":
        return np.asarray(_activated(sums, a, 1) + add)
    return _activated(sums if add is None else sums + add, a, 1)


def _sums(image: Array, weight: Array, bias: Array | None, a: _Attributes) -> Array:
    (n, c, *_), (o, part, *kernel), group = image.shape, weight.shape, a["group"]
    top, left, bottom, right = a["pads"]
    padded = np.pad(image, ((0, 0), (0, 0), (top, bottom), (left, right)))
    strides, dilations = a["strides"], a.get("dilations", (1, 1))
    h, w = ((padded.shape[2 + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in (0, 1))
    out = np.zeros((n, group, o // group, h * w))
    for ky, kx in np.ndindex(*kernel):
        y, left = ky * dilations[0], kx * dilations[1]
        taps = padded[
            :, :, y : y + (h - 1) * strides[0] + 1 : strides[0], left : left + (w - 1) * strides[1] + 1 : strides[1]
        ]
        out += weight[:, :, ky, kx].reshape(group, o // group, part) @ taps.reshape(n, group, c // group, h * w)
    return np.asarray(out.reshape(n, o, h, w) + (0 if bias is None else bias[:, None, None]))


def _conv_transpose(x: _Inputs, a: _Attributes) -> Array:
    """Each input lays the kernel, multiplied by it, on the output; what is padding is then cut off."""
    image, weight, bias = (*x, None)[:3]
    (n, c, h, w), (_, part, ky, kx), group = image.shape, weight.shape, a["group"]
    (sy, sx), (dy, dx), (top, left, bottom, right) = a["strides"], a["dilations"], a["pads"]
    full = [(size - 1) * s + (k - 1) * d + 1 for size, s, k, d in zip((h, w), (sy, sx), (ky, kx), (dy, dx))]
    out = np.zeros((n, part * group, *(size + more for size, more in zip(full, a["output_padding"]))))
    for i, k in np.ndindex(ky, kx):
        taps = weight[:, :, i, k].reshape(group, c // group, part).transpose(0, 2, 1)
        terms = (taps @ image.reshape(n, group, c // group, h * w)).reshape(n, -1, h, w)
        out[:, :, i * dy : i * dy + (h - 1) * sy + 1 : sy, k * dx : k * dx + (w - 1) * sx + 1 : sx] += terms
    out = out[:, :, top : out.shape[2] - bottom, left : out.shape[3] - right]
    return _activated(out if bias is None else out + bias[:, None, None], a, 1)


def _merged(x: _Inputs, a: _Attributes) -> Array:
    y = x[0]
    for i, (stage, weight, bias) in enumerate(zip(a["stages"], x[1::2], x[2::2])):
        y = _sums(y, weight, bias, {**stage, "group": y.shape[1] if stage["depthwise"] else 1})
        if i == 2 and a["residual"]:
            y = y + x[0]
        y = _activated(y, stage, 1)
    return np.asarray(y)


def _windows(x: Array, a: _Attributes, outside: float) -> Array:
    """(N, C, H, W, ky, kx): the window of every output."""
    top, left, bottom, right = a["pads"]
    more = [0, 0]
    for i, (before, after) in enumerate(((top, bottom), (left, right))):
        room = x.shape[2 + i] + before + after - a["kernel"][i]
        steps = -(-room // a["strides"][i])
        if a["ceil"] and steps * a["strides"][i] < x.shape[2 + i] + before:
            more[i] = steps * a["strides"][i] - room
    widths = ((0, 0), (0, 0), (top, bottom + max(more[0], 0)), (left, right + max(more[1], 0)))
    x = np.pad(x, widths, constant_values=outside)
    every = np.lib.stride_tricks.sliding_window_view(x, a["kernel"], axis=(2, 3))
    return every[:, :, :: a["strides"][0], :: a["strides"][1]]


def _average(x: _Inputs, a: _Attributes) -> Array:
    """The divisors count pixels, with padding where that is asked for, but not what is behind it."""
    top, left, bottom, right = a["pads"]
    outside = float(a["count_include_pad"])
    inside = np.pad(np.ones(x[0].shape[2:]), ((top, bottom), (left, right)), constant_values=outside)[None, None]
    totals = _windows(x[0], a, 0.0)
    unpadded = {**a, "pads": (0, 0, 0, 0), "ceil": False}
    more = [(totals.shape[2 + i] - 1) * a["strides"][i] + a["kernel"][i] - inside.shape[2 + i] for i in (0, 1)]
    inside = np.pad(inside, ((0, 0), (0, 0), *((0, max(each, 0)) for each in more)))
    return np.asarray(totals.sum((4, 5)) / _windows(inside, unpadded, 0.0).sum((4, 5)))


def _quantized_pool(x: _Inputs, a: _Attributes) -> Array:
    limits = np.iinfo(x[0].dtype)
    if a["kind"] == "max":
        return np.asarray(_windows(x[0], a, limits.min).max((4, 5)))
    (sx, sy), (zx, zy) = a["scales"], a["zeros"]
    values = (x[0].astype(np.float64) - zx) * sx
    y = _average((values,), a) if a["kind"] == "average" else values.mean((2, 3), keepdims=True)
    return np.asarray(np.clip(np.rint(y / sy) + zy, limits.min, limits.max).astype(x[0].dtype))


def _lrn(x: _Inputs, a: _Attributes) -> Array:
    numbers = (a["size"], a["alpha"], a["beta"], a["bias"])
    _, c, *size = x[0].shape
    return np.stack([formulas.lrn(image.reshape(c, -1, 1), *numbers)[0].reshape(c, *size) for image in x[0]])


def _resize(x: _Inputs, a: _Attributes) -> Array:
    return np.asarray(resized(x[0], a["size"], dict(a), a["scale"] or (None, None)))


# ---- products, normalizations and recurrent layers


def _linear(x: _Inputs, a: _Attributes) -> Array:
    src, weight, bias, add = (*x, None, None)[:4]
    sums = np.tensordot(src, weight, weight.ndim - 1) + (0 if bias is None else bias)
    if add is not None and a["order"] == "activation":
        return np.asarray(_activated(sums, a, sums.ndim - 1) + add)
    return _activated(sums if add is None else sums + add, a, sums.ndim - 1)


def _standard(x: Array, axes: tuple[int, ...], eps: float) -> Array:
    return np.asarray((x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + np.float32(eps)))


def _layer_norm(x: _Inputs, a: _Attributes) -> Array:
    src, scale, bias = (*x, None, None)[:3]
    y = _standard(src, tuple(range(a["axis"] % src.ndim, src.ndim)), a["eps"])
    return np.asarray(y * (1 if scale is None else scale) + (0 if bias is None else bias))


def _channel_norm(x: _Inputs, a: _Attributes) -> Array:
    src, scale, bias = (*x, None, None)[:3]
    n, c = src.shape[:2]
    y = _standard(src.reshape(n, a["groups"] or c, -1), (2,), a["eps"]).reshape(n, c, -1)
    y = y * (1 if scale is None else scale[:, None]) + (0 if bias is None else bias[:, None])
    return np.asarray(y.reshape(src.shape))


def _l2_norm(x: _Inputs, a: _Attributes) -> Array:
    return np.asarray(x[0] / np.maximum(np.sqrt((x[0] ** 2).sum(a["axis"], keepdims=True)), a["eps"]))


def _rms_norm(x: _Inputs, a: _Attributes) -> Array:
    src, scale = (*x, None)[:2]
    return np.asarray(src / np.sqrt((src**2).mean(-1, keepdims=True) + a["eps"]) * (1 if scale is None else scale))


def _turned(arrays: Sequence[Array], batch_first: bool) -> tuple[Array, ...]:
    """The results of a recurrent layer with the batch in front."""
    y, *last = arrays
    return (y.transpose(2, 0, 1, 3), *(each.swapaxes(0, 1) for each in last)) if batch_first else tuple(arrays)


def _states(arrays: Sequence[Any], a: _Attributes) -> list[Any]:
    return [array.swapaxes(0, 1) if array is not None and a["batch_first"] else array for array in arrays]


def _lstm(x: _Inputs, a: _Attributes) -> tuple[Array, ...]:
    src, w, r, b, lengths, h0, c0, p = (*x, *[None] * 8)[:8]
    src, h0, c0 = _states((src, h0, c0), a)
    more = {name: a[name] for name in ("activations", "clip", "input_forget") if name in a}
    return _turned(formulas.lstm(src, w, r, b, p, a["direction"], h0, c0, lengths, **more), a["batch_first"])


def _byte_lstm(x: _Inputs, a: _Attributes) -> tuple[Array, ...]:
    src, w, r, b, lengths, h0, c0, p, *terms = (*x, *[None] * 12)[:12]
    src, h0, c0 = _states((src, h0, c0), a)
    found = formulas.byte_lstm(src, w, r, b, p, a["direction"], terms[:2], terms[2:], h0, c0, lengths)
    return _turned(found, a["batch_first"])


def _gru(x: _Inputs, a: _Attributes) -> tuple[Array, ...]:
    src, w, r, b, lengths, h0 = (*x, *[None] * 6)[:6]
    src, h0 = _states((src, h0), a)
    more = {name: a[name] for name in ("activations", "clip") if name in a}
    found = formulas.gru(src, w, r, b, a["direction"], a["linear_before_reset"], h0, lengths, **more)
    return _turned(found, a["batch_first"])


def _rnn(x: _Inputs, a: _Attributes) -> tuple[Array, ...]:
    src, w, r, b, lengths, h0 = (*x, *[None] * 6)[:6]
    src, h0 = _states((src, h0), a)
    more = {name: a[name] for name in ("activations", "clip") if name in a}
    return _turned(formulas.rnn(src, w, r, b, a["direction"], h0, lengths, **more), a["batch_first"])


# ---- element-wise functions, and functions along axes


def _unary(x: _Inputs, a: _Attributes) -> Array:
    name, params = a["function"], a["params"]
    if name in ("relu", "leaky_relu"):
        return np.asarray(formulas.activate(x[0], name, _params(params), 0))
    with np.errstate(all="ignore"):
        return np.asarray(formulas.pointwise(name, x[0], *params)[0], np.float64)


_BINARY = {name: getattr(np, name) for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power")}
_BINARY["replace"] = formulas.replace


def _binary(x: _Inputs, a: _Attributes) -> Array:
    with np.errstate(all="ignore"):
        return _activated(_BINARY[a["function"]](*x), a, 1)


def _along(axis: int, values: Array, rank: int) -> Array:
    return values.reshape([-1 if i == axis % rank else 1 for i in range(rank)])


def _scale(x: _Inputs, a: _Attributes) -> Array:
    src, scale, bias = (*x, None)[:3]
    y = src * _along(a["axis"], scale, src.ndim)
    return _activated(y if bias is None else y + _along(a["axis"], bias, src.ndim), a, 1)


def _prelu(x: _Inputs, a: _Attributes) -> Array:
    return np.asarray(np.maximum(x[0], 0) + _along(a["axis"], x[1], x[0].ndim) * np.minimum(x[0], 0))


def _attention(q: Array, k: Array, v: Array, bias: Any = 0.0, *, scale: float) -> Array:
    scores = scale * q @ k + bias
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(shares / shares.sum(-1, keepdims=True) @ v)


def _softmax(x: _Inputs, a: _Attributes) -> Array:
    powers = np.exp(x[0] - x[0].max(a["axis"], keepdims=True))
    shares = powers / powers.sum(a["axis"], keepdims=True)
    return np.asarray(np.log(shares) if a["log"] else shares)


_REDUCE: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("sum", "mean", "max", "min", "prod")},
    "l1": lambda x, **k: np.abs(x).sum(**k),
    "l2": lambda x, **k: np.sqrt((x * x).sum(**k)),
    "logsumexp": lambda x, **k: np.logaddexp.reduce(x, **k),
    "sum_square": lambda x, **k: (x * x).sum(**k),
}


def _reduce(x: _Inputs, a: _Attributes) -> Array:
    function, axes = a["function"], tuple(a["axes"])
    if function not in ("argmax", "argmin"):
        integers = x[0].dtype.kind in "iub"
        found = np.asarray(_REDUCE[function](x[0].astype(np.int64) if integers else x[0], axis=axes, keepdims=a["keepdims"]))
        return found.astype(x[0].dtype) if integers else found
    (axis,), last = axes, a.get("last", False)
    values = np.flip(x[0], axis) if last else x[0]
    found = getattr(np, function)(values, axis=axis, keepdims=a["keepdims"])
    return np.asarray(x[0].shape[axis] - 1 - found if last else found)


def _by_axis(values: Any, axis: int | None, rank: int) -> Any:
    """Numbers for each coordinate of an axis, or one number."""
    return values if axis is None or np.ndim(values) == 0 else _along(axis, values, rank)


def _quantize(x: _Inputs, a: _Attributes) -> Array:
    src, scale, zero = (*x, None)[:3]
    limits = np.iinfo(a["dtype"])
    scale, shift = (_by_axis(each, a["axis"], src.ndim) for each in (scale, 0 if zero is None else zero.astype(np.int64)))
    return np.asarray(np.clip(np.rint(src / scale) + shift, limits.min, limits.max).astype(a["dtype"]))


def _dequantize(x: _Inputs, a: _Attributes) -> Array:
    src, scale, zero = (*x, None)[:3]
    scale, shift = (_by_axis(each, a["axis"], src.ndim) for each in (scale, 0 if zero is None else zero.astype(np.int64)))
    return np.asarray((src.astype(np.int64) - shift) * scale)


def _requantized(sums: Array, scale: Array, bias: Array | None, a: _Attributes, axis: int) -> Array:
    """Of sums of integers, in float32, as bytes."""
    (of_x, of_y), shape = np.array(a["scales"], np.float32), [-1 if i == axis else 1 for i in range(sums.ndim)]
    exact = sums.astype(np.int64) + (0 if bias is None else bias.reshape(shape))
    factor = (scale.astype(np.float32) * of_x / of_y).reshape(shape)
    return np.asarray(np.clip(np.rint(exact.astype(np.float32) * factor) + a["zeros"][1], 0, 255).astype(np.uint8))


def _looked_up(y: Array, x: _Inputs, a: _Attributes) -> Array:
    return x[4][y].view(a.get("dtype", "uint8")) if len(x) > 4 and x[4] is not None else y


def _quantized_conv(x: _Inputs, a: _Attributes) -> Array:
    src, weight, scale, bias = (*x, None)[:4]
    sums = _sums(src.astype(np.float64) - a["zeros"][0], weight, None, a)
    return _followed(_requantized(sums, scale, bias, a, 1), x, a)


def _quantized_linear(x: _Inputs, a: _Attributes) -> Array:
    src, weight, scale, bias = (*x, None)[:4]
    sums = (src.astype(np.int64) - a["zeros"][0]) @ weight.astype(np.int64)
    return _followed(_requantized(sums, scale, bias, a, src.ndim - 1), x, a)


def _followed(y: Array, x: _Inputs, a: _Attributes) -> Array:
    """The table of results and the addition, in their order."""
    if len(x) <= 5:
        return _looked_up(y, x, a)
    y = _looked_up(y, x, a) if a["order"] == "activation" else y
    (own, other, *scales), (zero, other_zero, *zeros), pair = a["sum_scales"], a["sum_zeros"], (y, x[5])
    of = {"function": "add", "scales": (own, other, *scales), "zeros": (zero, other_zero, *zeros)}
    if a["add_first"]:
        of |= {"scales": (other, own, *scales), "zeros": (other_zero, zero, *zeros)}
        pair = pair[::-1]
    y = _quantized_binary(pair, of)
    return y if a["order"] == "activation" else _looked_up(y, x, a)


def _quantized_binary(x: _Inputs, a: _Attributes) -> Array:
    first, second = ((each.astype(np.float64) - zero) * scale for each, scale, zero in zip(x, a["scales"], a["zeros"]))
    value, limits = first + second if a["function"] == "add" else first * second, np.iinfo(x[0].dtype)
    whole = np.rint(value / a["scales"][2] + a["zeros"][2])
    return np.asarray(np.clip(whole, limits.min, limits.max).astype(x[0].dtype))


def _bytes_matmul(x: _Inputs, a: _Attributes) -> Array:
    sums = quantised.matmul_integer(x[0], x[1], *(0 if zero is None else zero for zero in (*x[2:], None, None)[:2]))
    if "scales" not in a:
        return sums
    return quantised.requantize(sums, quantised.factor(*map(np.float32, a["scales"])), a["zero"], a["dtype"])


def _nbits_product(x: _Inputs, a: _Attributes) -> Array:
    src, packed, scale, zero, bias = (*x, None, None)[:5]
    return quantised.nbits_product(src, packed, scale, zero, a["bits"]) + (0 if bias is None else bias)


def _packed_product(x: _Inputs, a: _Attributes) -> Array:
    src, weight, zero, src_zero, src_scale, scale, bias = (*x, *(None,) * 7)[:7]
    left, right = (
        each.astype(np.int64) - (0 if of is None else of.astype(np.int64)) for each, of in ((src, src_zero), (weight, zero))
    )
    sums = (left @ right).astype(np.int32)
    if a["dtype"] == "int32":
        return np.asarray(sums)
    both = np.float32(1) * (1 if src_scale is None else src_scale) * (1 if scale is None else scale)
    y = sums.astype(np.float32) * both.astype(np.float32)
    return np.asarray(y if bias is None else y + bias)


# ---- moves


def _slice(x: _Inputs, a: _Attributes) -> Array:
    y = x[0]
    for axis, (start, step, size) in enumerate(zip(a["starts"], a["steps"], a["sizes"])):
        y = y.take([start + i * step for i in range(size)], axis)
    return np.asarray(y)


def _pad(x: _Inputs, a: _Attributes) -> Array:
    more = {"constant_values": a["value"]} if a["mode"] == "constant" else {}
    return np.asarray(np.pad(x[0], a["pads"], mode=a["mode"], **more))


def _host(x: _Inputs, a: _Attributes) -> Any:
    narrow = [array.astype(np.float32) if array.dtype == np.float64 else array for array in x]
    found = a["function"](*narrow)
    return tuple(map(_wide, found)) if isinstance(found, (tuple, list)) else _wide(np.asarray(found))


def _cumulative_sum(x: _Inputs, a: _Attributes) -> Array:
    turned = np.flip(x[0], a["axis"]) if a["reverse"] else x[0]
    total = np.cumsum(turned, a["axis"], dtype=turned.dtype)
    total = total - turned if a["exclusive"] else total
    return np.flip(total, a["axis"]) if a["reverse"] else total


_REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "none": lambda old, new: new,
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def _scatter_elements(x: _Inputs, a: _Attributes) -> Array:
    y, indices = np.array(x[0]), np.broadcast_to(x[1], x[2].shape)
    for at in np.ndindex(x[2].shape):
        place = (*at[: a["axis"]], indices[at], *at[a["axis"] + 1 :])
        y[place] = _REDUCTIONS[a["reduction"]](y[place], x[2][at])
    return y


def _scatter_nd(x: _Inputs, a: _Attributes) -> Array:
    y, updates = np.array(x[0]), x[2] if len(x) == 3 else x[2][x[3]]
    for at in np.ndindex(x[1].shape[:-1]):
        place = tuple(x[1][at])
        y[place] = _REDUCTIONS[a["reduction"]](y[place], updates[at])
    return y


def _gather_nd(x: _Inputs, a: _Attributes) -> Array:
    shape = (*x[1].shape[:-1], *x[0].shape[a["batch"] + x[1].shape[-1] :])
    y = np.empty(shape, x[0].dtype)
    for at in np.ndindex(x[1].shape[:-1]):
        y[at] = x[0][(*at[: a["batch"]], *x[1][at])]
    return y


def _divided(x: Array, y: Array) -> Array:
    """Towards zero; 0 of a divisor 0."""
    quotient = np.abs(x) // np.abs(np.where(y == 0, 1, y))
    return np.where(y == 0, 0, np.where((x < 0) == (y < 0), quotient, 0 - quotient)).astype(x.dtype)


_ELEMENTWISE: dict[str, Callable[[Array, Array], Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": _divided,
    "modulo": np.mod,
    "remainder": np.fmod,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "power": np.power,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shift_left": np.left_shift,
    "shift_right": np.right_shift,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_or_equal": np.less_equal,
}


def _elementwise(x: _Inputs, a: _Attributes) -> Array:
    with np.errstate(all="ignore"):  # of divisors 0
        return np.asarray(_ELEMENTWISE[a["function"]](*x))


FORMULAS: dict[str, Callable[[_Inputs, _Attributes], Any]] = {
    "AveragePool": _average,
    "Binary": _binary,
    "ByteProduct": lambda x, a: np.matmul(x[0].astype(np.int32), x[1].astype(np.int32).swapaxes(-2, -1)),
    "Cast": lambda x, a: formulas.cast(x[0], np.dtype(a["dtype"])),
    "ChannelNorm": _channel_norm,
    "Concat": lambda x, a: np.concatenate(x, a["axis"]),
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "CumulativeSum": _cumulative_sum,
    "Dequantize": _dequantize,
    "DynamicConv": _conv,
    "DynamicConvTranspose": _conv_transpose,
    "DynamicQuantize": lambda x, a: quantised.dynamic_quantize(x[0]),
    "Elementwise": _elementwise,
    "ExactBinary": _binary,
    "Expand": lambda x, a: np.broadcast_to(x[0], a["shape"]),
    "Gather": lambda x, a: x[0].take(x[1], a["axis"]),
    "GatherElements": lambda x, a: np.take_along_axis(x[0], x[1], a["axis"]),
    "GatherNd": _gather_nd,
    "GridSample": lambda x, a: formulas.grid_sample(
        x[0].astype(np.float32), x[1].astype(np.float32), a["mode"], a["padding_mode"], a["align_corners"]
    )[0],
    "ByteLstm": _byte_lstm,
    "Gru": _gru,
    "Host": _host,
    "L2Norm": _l2_norm,
    "LayerNorm": _layer_norm,
    "RmsNorm": _rms_norm,
    "Linear": _linear,
    "Lrn": _lrn,
    "Lstm": _lstm,
    "Attention": lambda x, a: _attention(*x, scale=a["scale"]),
    "MatMul": lambda x, a: np.matmul(*x),
    "MaxPool": lambda x, a: _windows(x[0], a, -np.inf).max((4, 5)),
    "MergedConvolution": _merged,
    "BytesMatMul": _bytes_matmul,
    "NBitsProduct": _nbits_product,
    "PackedProduct": _packed_product,
    "Pad": _pad,
    "Prelu": _prelu,
    "Quantize": _quantize,
    "QuantizedBinary": _quantized_binary,
    "QuantizedConv": _quantized_conv,
    "QuantizedLinear": _quantized_linear,
    "QuantizedPool": _quantized_pool,
    "Reduce": _reduce,
    "Reshape": lambda x, a: x[0].reshape(a["shape"]),
    "Resize": _resize,
    "Rnn": _rnn,
    "Scale": _scale,
    "RoiAlign": lambda x, a: formulas.roi_align(
        *(x[0].astype(np.float32), x[1].astype(np.float32), x[2]),
        *(a[name] for name in ("size", "scale", "ratio", "mode", "half_pixel")),
    )[0],
    "ScatterElements": _scatter_elements,
    "ScatterNd": _scatter_nd,
    "Select": lambda x, a: np.where(*x),
    "Slice": _slice,
    "Softmax": _softmax,
    "Table8": lambda x, a: x[1][x[0].view(np.uint8)].view(a["dtype"]),
    "TopK": lambda x, a: formulas.top_k(x[0], a["k"], a["axis"], a["largest"]),
    "Transpose": lambda x, a: x[0].transpose(a["perm"]),
    "Unary": _unary,
}
