"""Builds graphs node by node: every method adds one and returns the name of its output, which later ones take.

Images are (N, C, H, W), vectors (N, C), all float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pysimd._geometry import pair, sides
from pysimd.annotations import Array, Padding, Pair
from pysimd.network.graph import Graph, Node, Shape, Tensor
from pysimd.network.operators import shape_of


class Builder:
    """A graph under construction; :meth:`graph` returns it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[Node] = []
        self._inputs: list[str] = []
        self._tensors: dict[str, Tensor] = {}
        self._constants: dict[str, Array] = {}

    def graph(self, *outputs: str) -> Graph:
        """All nodes so far; `outputs` are the results."""
        return Graph(self._name, self._nodes, self._inputs, outputs, self._tensors, self._constants)

    def shape(self, name: str) -> Shape:
        """The shape of a tensor."""
        return self._tensors[name].shape

    def input(self, shape: Shape) -> str:
        """An input image, given to each run."""
        name = f"x{len(self._inputs)}"
        self._inputs.append(name)
        self._tensors[name] = Tensor(name, tuple(shape))
        return name

    def _constant(self, value: Array, layout: str) -> str:
        name = f"c{len(self._constants)}"
        self._constants[name] = np.ascontiguousarray(value)
        self._tensors[name] = Tensor(name, value.shape, value.dtype.name, layout)
        return name

    def _node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self._nodes)}"
        shape = shape_of(operator, [self.shape(read) for read in inputs], attributes)
        self._tensors[name] = Tensor(name, shape, layout="nchw"[: len(shape)])
        self._nodes.append(Node(operator, inputs, (name,), attributes))
        return name

    # ---- with weights

    def conv(self, x: str, weight: Array, bias: Array, *, stride: Pair = 1, padding: Padding = 0, group: int = 1) -> str:
        """A convolution; weight (O, C / group, ky, kx), bias (O,)."""
        window = _window(weight.shape[2:], stride, padding)
        return self._node("Conv", x, self._constant(weight, "oiyx"), self._constant(bias, "o"), group=group, **window)

    def deconv(self, x: str, weight: Array, bias: Array, *, stride: Pair = 1, padding: Padding = 0, group: int = 1) -> str:
        """A transposed convolution; weight (C, O / group, ky, kx), bias (O,)."""
        window = _window(weight.shape[2:], stride, padding)
        return self._node(
            "ConvTranspose", x, self._constant(weight, "ioyx"), self._constant(bias, "o"), group=group, **window
        )

    def gemm(self, x: str, weight: Array, bias: Array) -> str:
        """A fully connected layer over vectors; weight (O, C), bias (O,)."""
        return self._node("Gemm", x, self._constant(weight, "oi"), self._constant(bias, "o"), transB=1)

    # ---- pooling

    def max(self, x: str, kernel: Pair, stride: Pair, padding: Padding = 0) -> str:
        """The maximum of each window."""
        return self._node("MaxPool", x, **_window(pair(kernel, "kernel", 1), stride, padding))

    def average(self, x: str, kernel: Pair, stride: Pair) -> str:
        """The mean of each window."""
        return self._node("AveragePool", x, **_window(pair(kernel, "kernel", 1), stride, 0))

    def mean(self, x: str) -> str:
        """The mean of each channel."""
        return self._node("GlobalAveragePool", x)

    # ---- of several tensors, and of parts

    def add(self, x: str, y: str) -> str:
        """The sum of two equal shapes."""
        return self._node("Add", x, y)

    def scale(self, x: str, y: str) -> str:
        """Each channel of `x` multiplied by a value of the 1x1 image `y`."""
        return self._node("Mul", x, y)

    def concat(self, x: str, y: str) -> str:
        """The channels of `x`, then those of `y`."""
        return self._node("Concat", x, y, axis=1)

    def part(self, x: str, start: int, end: int) -> str:
        """Channels `start` to `end` - 1."""
        return self._node("Slice", x, axis=1, start=start, end=end)

    # ---- other shapes

    def enlarge(self, x: str) -> str:
        """Each pixel twice in both directions."""
        return self._node("Resize", x, scales=(1, 1, 2, 2))

    def flatten(self, x: str) -> str:
        """Each image as a vector."""
        return self._node("Flatten", x)

    def pixel(self, x: str) -> str:
        """Each vector as an image of 1x1."""
        return self._node("Reshape", x, shape=(*self.shape(x), 1, 1))

    # ---- elementwise

    def relu(self, x: str) -> str:
        """max(0, x)"""
        return self._node("Relu", x)

    def leaky_relu(self, x: str, alpha: float) -> str:
        """max(0, x) + alpha * min(0, x)"""
        return self._node("LeakyRelu", x, alpha=alpha)

    def clip(self, x: str, low: float, high: float) -> str:
        """min(max(low, x), high)"""
        return self._node("Clip", x, min=low, max=high)

    def hard_swish(self, x: str) -> str:
        """x * min(max(x + 3, 0), 6) / 6"""
        return self._node("HardSwish", x)

    def sigmoid(self, x: str) -> str:
        """The logistic function."""
        return self._node("Sigmoid", x)

    def softmax(self, x: str) -> str:
        """Exponentials of the channels, divided by their sum."""
        return self._node("Softmax", x, axis=1)


def _window(kernel: tuple[int, ...], stride: Pair, padding: Padding) -> dict[str, tuple[int, ...]]:
    return {"kernel_shape": tuple(kernel), "strides": pair(stride, "stride", 1), "pads": sides(padding, "padding")}
