"""PyTorch: traced, frozen and optimized for inference, and without that; both layouts that it has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Callable

import numpy as np
import torch
from torch.nn import functional

from bench.graph import ACTIVATIONS, Network, Node
from bench.layers import AVERAGE, CONVOLUTION, DECONVOLUTION, INNER_PRODUCT, MAX, Array
from bench.whole import Way

NAME = "torch"
VERSION = str(torch.__version__)


def build(net: Network, image: Array, threads: int) -> Iterator[Callable[[], Way]]:
    """Four ways."""
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    for layout, form in (("channels last", torch.channels_last), ("contiguous", torch.contiguous_format)):
        module = _Module(net, form)
        x = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)))[None].contiguous(memory_format=form)
        yield partial(_way, f"eager, {layout}", module, x)
        yield partial(_frozen, f"frozen, {layout}", module, x)


def _frozen(how: str, module: _Module, x: Any) -> Way:
    with torch.inference_mode(False):
        traced = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(module.eval(), x)))
    return _way(how, traced, x)


def _way(how: str, module: Callable[[Any], Any], x: Any) -> Way:
    def call() -> Any:
        with torch.inference_mode():
            return module(x)

    def result() -> Array:
        array: Array = call().contiguous().numpy()
        return array

    return Way(how, call, result)


class _Module(torch.nn.Module):  # type: ignore[misc]
    """The graph, layer by layer."""

    def __init__(self, net: Network, form: Any) -> None:
        super().__init__()
        self._net = net
        for i, node in enumerate(net.nodes):
            if node.weight.size:
                weight = torch.from_numpy(node.weight)
                self.register_buffer(f"weight{i}", weight.contiguous(memory_format=form) if weight.dim() == 4 else weight)
                self.register_buffer(f"bias{i}", torch.from_numpy(node.bias))

    def forward(self, x: Any) -> Any:
        values = [x]
        for i, node in enumerate(self._net.nodes[1:], 1):
            weights = (getattr(self, f"weight{i}"), getattr(self, f"bias{i}")) if node.weight.size else ()
            values.append(_activated(node.activation, _computed(node, [values[j] for j in node.inputs], *weights)))
        return values[-1]


def _computed(node: Node, x: list[Any], *weights: Any) -> Any:
    layer = node.layer
    if layer and node.kind in (CONVOLUTION, MAX):
        if layer.before != layer.after:
            fill = 0.0 if node.kind == CONVOLUTION else float("-inf")
            x = [functional.pad(x[0], [layer.before, layer.after] * 2, value=fill)]
        pad = layer.before if layer.before == layer.after else 0
        if node.kind == MAX:
            return functional.max_pool2d(x[0], layer.kernel, layer.stride, pad)
        return functional.conv2d(x[0], *weights, layer.stride, pad, 1, layer.group)
    if layer and node.kind == DECONVOLUTION:
        return functional.conv_transpose2d(x[0], *weights, layer.stride, layer.before, 0, layer.group)
    if node.kind == INNER_PRODUCT:
        return functional.linear(x[0].flatten(1), *weights)[:, :, None, None]
    if node.kind == AVERAGE:
        return functional.adaptive_avg_pool2d(x[0], 1)
    simple: dict[str, Callable[[], Any]] = {
        "add": lambda: x[0] + x[1],
        "scale": lambda: x[0] * x[1],
        "concat": lambda: torch.cat(x, 1),
        "part": lambda: x[0][:, -node.shape[0] :],
        "enlarge": lambda: functional.interpolate(x[0], scale_factor=2, mode="nearest"),
        "sigmoid": lambda: torch.sigmoid(x[0]),
        "softmax": lambda: torch.softmax(x[0], 1),
    }
    return simple[node.kind]()


def _activated(activation: str, x: Any) -> Any:
    kind, p = ACTIVATIONS[activation]
    if kind == "relu":
        return functional.relu_(x)
    if kind == "restrict_range":
        return functional.hardtanh_(x, *p)
    if kind == "leaky_relu":
        return functional.leaky_relu_(x, p[0])
    return functional.hardswish(x) if kind == "hswish" else x
