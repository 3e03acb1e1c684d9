"""The result of a graph, computed in float64 by the formulas: the reference for networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

import numpy as np
from support import Array

from pysimd.network import Graph


def reference(graph: Graph, image: Array) -> Array:
    """The result for an (H, W, C) image, as (H, W, C)."""
    (source,), (result,) = graph.inputs, graph.outputs
    values: dict[str, Array] = {source: image.transpose(2, 0, 1).astype(np.float64)[None]}
    left = {name: len(graph.users(name)) for name in graph.tensors}
    for node in graph.nodes:
        x = [values[name] if name in values else graph.constants[name].astype(np.float64) for name in node.inputs]
        values[node.output] = _FORMULAS[node.operator](x, node.attributes)
        for name in dict.fromkeys(node.inputs):
            left[name] -= 1
            if left[name] == 0 and name not in graph.outputs:
                values.pop(name, None)
    (found,) = values[result]
    return np.asarray(found.reshape(len(found), *(found.shape[1:] or (1, 1))).transpose(1, 2, 0))


_Attributes = Mapping[str, Any]


def _windows(x: Array, a: _Attributes, outside: float) -> Array:
    """(N, C, H, W, ky, kx): the window of every output."""
    top, left, bottom, right = a["pads"]
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=outside)
    every = np.lib.stride_tricks.sliding_window_view(x, a["kernel_shape"], axis=(2, 3))
    return every[:, :, :: a["strides"][0], :: a["strides"][1]]


def _conv(x: list[Array], a: _Attributes) -> Array:
    image, weight, bias = x
    windows = _windows(image, a, 0.0)
    if a["group"] == 1:
        sums = np.tensordot(windows, weight, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)
    else:
        assert weight.shape[1] == 1
        sums = np.einsum("nchwyx,cyx->nchw", windows, weight[:, 0])
    return np.asarray(sums + bias[:, None, None])


def _conv_transpose(x: list[Array], a: _Attributes) -> Array:
    image, weight, bias = x
    assert a["group"] == 1 and not any(a["pads"])
    (n, _, h, w), (_, o, ky, kx), (sy, sx) = image.shape, weight.shape, a["strides"]
    out = np.zeros((n, o, (h - 1) * sy + ky, (w - 1) * sx + kx)) + bias[:, None, None]
    for dy in range(ky):
        for dx in range(kx):
            terms = np.tensordot(image, weight[:, :, dy, dx], (1, 0)).transpose(0, 3, 1, 2)
            out[:, :, dy : dy + h * sy : sy, dx : dx + w * sx : sx] += terms
    return np.asarray(out)


def _softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))


_FORMULAS: dict[str, Callable[[list[Array], _Attributes], Array]] = {
    "Add": lambda x, a: x[0] + x[1],
    "AveragePool": lambda x, a: _windows(x[0], a, 0.0).mean((4, 5)),
    "Clip": lambda x, a: np.minimum(np.maximum(x[0], a["min"]), a["max"]),
    "Concat": lambda x, a: np.concatenate(x, a["axis"]),
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Flatten": lambda x, a: x[0].reshape(len(x[0]), -1),
    "Gemm": lambda x, a: x[0] @ x[1].T + x[2],
    "GlobalAveragePool": lambda x, a: x[0].mean((2, 3), keepdims=True),
    "HardSwish": lambda x, a: x[0] * np.minimum(np.maximum(x[0] + 3, 0), 6) / 6,
    "LeakyRelu": lambda x, a: np.maximum(x[0], 0) + a["alpha"] * np.minimum(x[0], 0),
    "MaxPool": lambda x, a: _windows(x[0], a, -np.inf).max((4, 5)),
    "Mul": lambda x, a: x[0] * x[1],
    "Relu": lambda x, a: np.maximum(x[0], 0),
    "Reshape": lambda x, a: x[0].reshape(a["shape"]),
    "Resize": lambda x, a: x[0].repeat(a["scales"][2], 2).repeat(a["scales"][3], 3),
    "Sigmoid": lambda x, a: 1 / (1 + np.exp(-x[0])),
    "Slice": lambda x, a: x[0].take(range(a["start"], a["end"]), a["axis"]),
    "Softmax": lambda x, a: _softmax(x[0]),
}
