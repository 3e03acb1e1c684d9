"""PyTorch: traced, frozen and optimized for inference, and without that; in both of its layouts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Callable

import torch
from torch.nn import functional

from bench.layers import Array
from bench.whole import Implementation, nchw
from pysimd.network import Graph, Node

NAME = "torch"
VERSION = str(torch.__version__)


def build(graph: Graph, images: Array, threads: int) -> Iterator[Callable[[], Implementation]]:
    """Yields four implementations."""
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    for layout, form in (("channels last", torch.channels_last), ("contiguous", torch.contiguous_format)):
        module = _Module(graph, form)
        x = torch.from_numpy(nchw(images)).contiguous(memory_format=form)
        yield partial(_implementation, f"eager, {layout}", module, x)
        yield partial(_frozen, f"frozen, {layout}", module, x)


def _frozen(how: str, module: _Module, x: Any) -> Implementation:
    with torch.inference_mode(False):
        traced = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(module.eval(), x)))
    return _implementation(how, traced, x)


def _implementation(how: str, module: Callable[[Any], Any], x: Any) -> Implementation:
    def call() -> Any:
        with torch.inference_mode():
            return module(x)

    def result() -> Array:
        array: Array = call().contiguous().numpy()
        return array

    return Implementation(how, call, result)


class _Module(torch.nn.Module):  # type: ignore[misc]
    """The graph, node by node."""

    def __init__(self, graph: Graph, form: Any) -> None:
        super().__init__()
        self._graph = graph
        for name, value in graph.constants.items():
            tensor = torch.from_numpy(value)
            self.register_buffer(_named(name), tensor.contiguous(memory_format=form) if tensor.dim() == 4 else tensor)

    def forward(self, x: Any) -> Any:
        values = {self._graph.inputs[0]: x}
        for node in self._graph.nodes:
            inputs = [values[name] if name in values else getattr(self, _named(name)) for name in node.inputs]
            values[node.output] = _computed(node, inputs)
        return values[self._graph.outputs[0]]


def _named(constant: str) -> str:
    """The attribute of a module that holds a constant."""
    return f"c{constant[1:]}"


def _computed(node: Node, x: list[Any]) -> Any:
    """The result of a node. Activations overwrite their input."""
    a = node.attributes
    if "pads" in a:
        pads = a["pads"]
        if pads[:2] != pads[2:]:
            fill = 0.0 if node.operator == "Conv" else float("-inf")
            x = [functional.pad(x[0], [pads[1], pads[3], pads[0], pads[2]], value=fill), *x[1:]]
        pad = pads[:2] if pads[:2] == pads[2:] else (0, 0)
        if node.operator == "MaxPool":
            return functional.max_pool2d(x[0], a["kernel"], a["strides"], pad)
        if node.operator == "Conv":
            return functional.conv2d(*x, a["strides"], pad, 1, a["group"])
        return functional.conv_transpose2d(*x, a["strides"], pad, 0, a["group"])
    operators: dict[str, Callable[[], Any]] = {
        "Binary": lambda: x[0] + x[1] if a["function"] == "add" else x[0] * x[1],
        "Concat": lambda: torch.cat(x, a["axis"]),
        "Linear": lambda: functional.linear(x[0], x[1].t(), x[2]),
        "Reduce": lambda: functional.adaptive_avg_pool2d(x[0], 1),
        "Reshape": lambda: x[0].reshape(a["shape"]),
        "Resize": lambda: functional.interpolate(x[0], scale_factor=a["scale"], mode="nearest"),
        "Slice": lambda: x[0][:, a["starts"][1] : a["starts"][1] + a["sizes"][1]],
        "Softmax": lambda: torch.softmax(x[0], a["axis"]),
        "Unary": lambda: _activated(a["function"], x[0], *a["params"]),
    }
    return operators[node.operator]()


def _activated(function: str, x: Any, *params: float) -> Any:
    functions: dict[str, Callable[..., Any]] = {
        "hswish": lambda x, *_: functional.hardswish(x),
        "leaky_relu": functional.leaky_relu_,
        "relu": functional.relu_,
        "restrict_range": functional.hardtanh_,
        "sigmoid": lambda x, _: torch.sigmoid(x),
    }
    return functions[function](x, *params)
