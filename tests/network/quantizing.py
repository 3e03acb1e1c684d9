"""Small float models to quantise, as the bytes of ONNX files, and samples."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

from support import Array

F = np.float32


class Net:
    """A model under construction, with random weights."""

    def __init__(self, seed: int = 1, opset: int = 17) -> None:
        self.onnx = pytest.importorskip("onnx")
        self.rng, self.opset = np.random.default_rng(seed), opset
        self.nodes: list[Any] = []
        self.weights: dict[str, Array] = {}

    def weight(self, *shape: int, scale: float = 1.0) -> str:
        """Random numbers, smaller where more of them are added."""
        values = self.rng.normal(0, scale / prod(shape[1:]) ** 0.5, shape)
        return self.constant(values.astype(F))

    def constant(self, array: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = np.asarray(array)
        return name

    def add(self, op: str, *inputs: str, y: str = "", **attributes: Any) -> str:
        y = y or f"t{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(op, inputs, [y], f"node_{y}", **attributes))
        return y

    def conv(
        self, x: str, outputs: int, inputs: int, k: int = 3, *, bias: bool = True, y: str = "", **attributes: Any
    ) -> str:
        group = attributes.get("group", 1)
        names = [x, self.weight(outputs, inputs // group, k, k), *([self.weight(outputs, scale=0.2)] if bias else [])]
        return self.add("Conv", *names, y=y, pads=[k // 2] * 4, **attributes)

    def bytes(self, shapes: dict[str, list[Any]], outputs: dict[str, list[Any]]) -> bytes:
        helper = self.onnx.helper
        given, results = (
            [helper.make_tensor_value_info(name, 1, shape) for name, shape in each.items()] for each in (shapes, outputs)
        )
        weights = [self.onnx.numpy_helper.from_array(array, name) for name, array in self.weights.items()]
        graph = helper.make_graph(self.nodes, "small", given, results, weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        return bytes(model.SerializeToString())


def images(seed: int, count: int, *shape: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.normal(0, 1, shape).astype(F) for _ in range(count)]


SHAPE = (1, 3, 24, 20)


def small(opset: int = 17, seed: int = 1) -> bytes:
    """Convolutions of each kind, batch normalisation, a sum, a product of matrices and functions of elements."""
    net = Net(seed, opset)
    a = net.add("Relu", net.conv("x", 8, 3, strides=[2, 2], y="first"))
    b = net.conv(a, 8, 8, group=8, bias=False)
    norm = [net.constant(net.rng.uniform(0.5, 2, 8).astype(F)) for _ in range(4)]
    c = net.add("BatchNormalization", b, *norm, epsilon=1e-3)
    d = net.add("Mul", c, net.add("Sigmoid", c))
    e = net.add("Add", net.conv(d, 8, 8, 1, y="pointwise"), a)
    f = net.add("Concat", e, d, axis=1)
    g = net.add("GlobalAveragePool", net.add("MaxPool", f, kernel_shape=[2, 2], strides=[2, 2]))
    h = net.add("MatMul", net.add("Flatten", g), net.weight(16, 12))
    i = net.add("LeakyRelu", net.add("Add", h, net.weight(12)), alpha=0.1)
    net.add("Softmax", net.add("Gemm", i, net.weight(12, 10), net.weight(10), y="last"), y="y", axis=1)
    return net.bytes({"x": list(SHAPE)}, {"y": [1, 10]})
