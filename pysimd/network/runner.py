"""Execution of a graph: contexts with their weights, arrays, and the prepared calls of each step of the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Callable

import numpy as np

from pysimd._library import ffi, lib
from pysimd._pixels import copy
from pysimd.activation import hswish, relu, restrict_range, sigmoid
from pysimd.annotations import ActivationName, Array, Shape
from pysimd.calls import prepare
from pysimd.channelwise import scale
from pysimd.convolution import Convolution32f
from pysimd.deconvolution import Deconvolution32f
from pysimd.eltwise import eltwise
from pysimd.inner_product import inner_product
from pysimd.merged_convolution import ConvolutionStage, MergedConvolution32f
from pysimd.network.graph import Graph, Node
from pysimd.network.passes import Group, Part
from pysimd.network.planner import View, matrix_of, plan_of, weights_of
from pysimd.pooling import pooling_average, pooling_max
from pysimd.softmax import softmax

Call = Callable[[], Any]

_PAGE = 4096


class Runner:
    """Runs a graph of one input and one result, for an image or a batch.

    ``runner(image)`` takes (H, W, C) float32 and returns the result's array, which the next call overwrites. It is
    (H, W, C), or (1, 1, C) for a vector. If the graph is for more images than one, both have their number in front.
    Alternatively, write the image into :attr:`image` and call :meth:`run`.

    steps, calls : groups of nodes, and for each the calls that compute it, none where the plan has made it unnecessary.
    contexts : those of the steps that have one, by step number.
    """

    def __init__(self, graph: Graph) -> None:
        if len(graph.inputs) != 1 or len(graph.outputs) != 1:
            raise ValueError(f"{graph.name} has inputs {graph.inputs} and outputs {graph.outputs}, expected one of each")
        plan = plan_of(graph)
        block = _aligned(plan.size)
        self._graph = graph
        self._arrays = {name: plan.array(block, name) for name in plan.images}
        self._images, self._views = plan.images, plan.views
        self.image, self.result = self._arrays[graph.inputs[0]], self._arrays[graph.outputs[0]]
        self.steps = plan.steps
        self.contexts: dict[int, Any] = {}
        self.calls = [self._calls(number, step) for number, step in enumerate(self.steps)]
        self._all = tuple(call for calls in self.calls for call in calls)

    def __call__(self, image: Array) -> Array:
        np.copyto(self.image, image)
        return self.run()

    def run(self) -> Array:
        """Computes the result for the contents of :attr:`image`."""
        for call in self._all:
            call()
        return self.result

    def _calls(self, number: int, step: Group) -> list[Call]:
        first, y = step.parts[0], self._arrays[step.output]
        x = [self._arrays[name] for name in first.inputs]
        if first.operator in ("Conv", "ConvTranspose"):
            return [self._convolution(number, step, x[0], y)]
        if first.operator == "Concat":
            calls = self._concatenation(step, x, y)
        elif first.operator == "Slice":
            calls = [] if step.output in self._views else [_taken(first.node, x[0], y)]
        elif first.operator == "Gemm":
            calls = [self._fully_connected(number, first, x[0], y)]
        elif first.operator == "Mul":
            images = zip(*(array.reshape(-1, *array.shape[-3:]) for array in (*x, y)))
            calls = [prepare(scale, image, factors.reshape(-1), out=result) for image, factors, result in images]
        else:
            calls = [_plain(first.node, x, y)]
        activation = step.parts[-1].activation
        return [*calls, _activated(activation, y, y)] if activation else calls

    def _convolution(self, number: int, step: Group, x: Array, y: Array) -> Call:
        convolutions = [part for part in step.parts if part.operator != "Add"]
        added = len(convolutions) < len(step.parts)
        if len(convolutions) > 1:
            self.contexts[number] = context = _merged(self._graph, convolutions, step.parts[-1], x.shape)
        else:
            self.contexts[number] = context = _single(self._graph, convolutions[0], step.parts[-1], x.shape)
        if not added or len(convolutions) > 1:
            return prepare(context.forward, x, out=y)
        (other,) = [name for name in step.parts[-1].inputs if name != convolutions[0].output]
        return prepare(context.forward, x, add=self._arrays[other], out=y)

    def _fully_connected(self, number: int, part: Part, x: Array, y: Array) -> Call:
        """Of a batch as a convolution, whose packed weights are read once for all images."""
        weight, bias = matrix_of(self._graph, part.node, self._images[part.inputs[0]])
        if x.ndim == 3:
            placed = _aligned(weight.size).reshape(weight.shape)
            np.copyto(placed, weight)
            return prepare(inner_product, x.reshape(-1), placed, bias, out=y.reshape(-1))
        pixels = x.reshape(len(x), 1, -1)
        self.contexts[number] = context = Convolution32f(pixels.shape, len(bias), kernel=1)
        context.set_params(np.ascontiguousarray(weight.T)[None, None], bias)
        return prepare(context.forward, pixels, out=y.reshape(len(y), 1, -1))

    def _concatenation(self, step: Group, x: list[Array], y: Array) -> list[Call]:
        """Copies the images that are not written in place."""
        begins = np.cumsum([0, *(part.shape[-1] for part in x)])
        return [
            prepare(copy, part, out=y[..., begin : begin + part.shape[-1]])
            for name, part, begin in zip(step.parts[0].inputs, x, begins)
            if self._views.get(name) != View(step.output, begin)
        ]


def _aligned(size: int) -> Array:
    """An array of floats in memory of the library, which has large pages if it is large.

    In pages of 4 KB, the 1024 x 1000 weights of a layer that every pass reads once are read at half of the speed.
    """
    block = lib.SimdAllocate(max(size, 1) * 4, _PAGE)
    if block == ffi.NULL:
        raise MemoryError(f"no memory for {size} floats of a network")
    return np.frombuffer(ffi.buffer(ffi.gc(block, lib.SimdFree), size * 4), np.float32)


# ---- contexts


@dataclass(frozen=True)
class _Activation:
    """The activation in the form that contexts take."""

    name: ActivationName
    params: tuple[float, ...] | None


def _activation(node: Node | None) -> _Activation:
    if node is None:
        return _Activation("identity", None)
    a = node.attributes
    return {
        "Relu": lambda: _Activation("relu", None),
        "LeakyRelu": lambda: _Activation("leaky_relu", (a["alpha"],)),
        "Clip": lambda: _Activation("restrict_range", (a["min"], a["max"])),
        "HardSwish": lambda: _Activation("hswish", (3.0, 1 / 6)),
    }[node.operator]()


def _single(graph: Graph, part: Part, last: Part, src_shape: Shape) -> Any:
    """A convolution or a deconvolution, optionally with an addition, whose activation is then the context's."""
    weight, bias = weights_of(graph, part.node)
    a, activation = part.node.attributes, _activation(last.activation)
    make = Deconvolution32f if part.operator == "ConvTranspose" else Convolution32f
    made = make(
        src_shape,
        len(bias),
        kernel=a["kernel_shape"],
        stride=a["strides"],
        padding=a["pads"],
        group=a["group"],
        activation=activation.name,
    )
    made.set_params(weight, bias, activation.params)
    return made


def _merged(graph: Graph, parts: Sequence[Part], last: Part, src_shape: Shape) -> Any:
    """Several convolutions, optionally with an addition as the last part, whose activation is then the last stage's."""
    weights = [weights_of(graph, part.node) for part in parts]
    activations = [_activation(part.activation) for part in (*parts[:-1], last)]
    stages = [
        ConvolutionStage(
            part.node.attributes["kernel_shape"],
            len(bias) if part.node.attributes["group"] == 1 else None,
            part.node.attributes["strides"],
            part.node.attributes["pads"],
            activation.name,
        )
        for part, (_, bias), activation in zip(parts, weights, activations)
    ]
    made = MergedConvolution32f(src_shape, stages, residual=last is not parts[-1])
    made.set_params([weight for weight, _ in weights], [bias for _, bias in weights], [a.params for a in activations])
    return made


# ---- steps without contexts


def _plain(node: Node, x: list[Array], y: Array) -> Call:
    a = node.attributes
    calls: dict[str, Callable[[], Call]] = {
        "Add": lambda: prepare(eltwise, x, out=y),
        "AveragePool": lambda: prepare(pooling_average, x[0], kernel=a["kernel_shape"], stride=a["strides"], out=y),
        "GlobalAveragePool": lambda: prepare(pooling_average, x[0], kernel=x[0].shape[-3:-1], out=y),
        "MaxPool": lambda: prepare(
            pooling_max, x[0], kernel=a["kernel_shape"], stride=a["strides"], padding=a["pads"], out=y
        ),
        "Resize": lambda: _enlarged(x[0], y),
        "Sigmoid": lambda: prepare(sigmoid, x[0], out=y),
        "Softmax": lambda: prepare(softmax, x[0], out=y),
    }
    return calls[node.operator]() if node.operator in calls else _activated(node, x[0], y)


def _enlarged(x: Array, y: Array) -> Call:
    """Repeats pixels."""
    (*images, h, w, c), times = x.shape, y.shape[-2] // x.shape[-2]
    return partial(np.copyto, y.reshape(*images, h, -1, w, times, c), x[..., :, None, :, None, :])


def _taken(node: Node, x: Array, y: Array) -> Call:
    """Copies some channels."""
    return prepare(copy, x[..., node.attributes["start"] : node.attributes["end"]], out=y)


def _activated(node: Node, x: Array, y: Array) -> Call:
    a = node.attributes
    calls: dict[str, Callable[[], Call]] = {
        "Relu": lambda: prepare(relu, x, out=y),
        "LeakyRelu": lambda: prepare(relu, x, slope=a["alpha"], out=y),
        "Clip": lambda: prepare(restrict_range, x, a["min"], a["max"], out=y),
        "HardSwish": lambda: prepare(hswish, x, out=y),
    }
    if node.operator not in calls:
        raise ValueError(f"{node.operator} is nothing that runs by itself")
    return calls[node.operator]()
