"""A model of a batch with every operator of graphs but those of Python, for programs in C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pysimd.network.model import Model
from pysimd.network.runner import Runner
from pysimd.network.source import Source, SourceNode, Value
from support import Array


def model_of(nodes: Sequence[SourceNode], inputs: Sequence[Value], outputs: Sequence[str], **weights: Array) -> Model:
    """A model of these nodes, whose outputs are of float32."""
    return Model(Source("net", 17, inputs, [Value(name, "float32", None) for name in outputs], nodes, weights))


class Batch:
    """A model of two images "x" and others, with every operator of graphs but those of Python.

    Its outputs are what no node reads.
    """

    def __init__(self) -> None:
        self.random = np.random.default_rng(5)
        self.nodes: list[SourceNode] = []
        self.weights: dict[str, Array] = {}
        self._images()
        self._others()

    def w(self, *shape: int, dtype: Any = np.float32) -> str:
        return self.constant(self.random.uniform(0.25, 0.75, shape).astype(dtype))

    def constant(self, values: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = np.asarray(values)
        return name

    def add(self, op: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any) -> str:
        names = tuple(f"t{len(self.nodes)}{letter}" for letter in "abc"[:outputs])
        self.nodes.append(SourceNode(op, inputs, names, attributes, domain=domain))
        return names[0]

    def _images(self) -> None:
        w, add = self.w, self.add
        add("Conv", "x", w(5, 4, 3, 3), w(5), pads=[1, 1, 1, 1])
        wide = add("Conv", "x", w(8, 4, 1, 1))
        add("Conv", add("Conv", wide, w(8, 1, 3, 3), pads=[1, 1, 1, 1], group=8), w(4, 8, 1, 1))
        add("ConvTranspose", "x", w(4, 3, 2, 2), strides=[2, 2])
        add("Conv", "x", add("Abs", "x"))
        add("ConvTranspose", "x", add("Transpose", "x", perm=[1, 0, 2, 3]))
        add("MaxPool", "x", kernel_shape=[2, 2], strides=[2, 2])
        add("AveragePool", "x", kernel_shape=[3, 3], strides=[2, 2])
        add("AveragePool", "x", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 0], ceil_mode=1, count_include_pad=1)
        add("BatchNormalization", "x", w(4), w(4), w(4), w(4))
        add("Mul", "x", w(4, 1, 1))
        add("Add", "x", w(6, 1))
        add("PRelu", "x", w(4, 1, 1))
        add("InstanceNormalization", "x", w(4), w(4))
        add("LpNormalization", "x", axis=1)
        add("LRN", "x", size=3)
        add("Resize", "x", "", self.constant(np.array([1, 1, 2, 2], np.float32)), mode="linear")
        add("GridSample", "x", "grid")
        self._quantized()
        scale, zero = w(4), self.constant(np.zeros(4, np.uint8))
        add("DequantizeLinear", add("QuantizeLinear", "x", scale, zero, axis=1), scale, zero, axis=1)

    def _quantized(self) -> None:
        add, constant, one, zero = self.add, self.constant, self.constant(np.float32(1)), self.constant(np.uint8(9))
        data, signed = add("QuantizeLinear", "x", one, zero), constant(np.int8(0))
        add("DynamicQuantizeLinear", "x", outputs=3)
        add("MatMulInteger", data, constant(np.ones((5, 3), np.int8)), zero, signed)
        for group in (1, 2, 4):
            weight = constant(np.full((4, 4 // group, 3, 2), 3, np.int8))
            add("ConvInteger", data, weight, zero, group=group, pads=[1, 1, 1, 0])
            add("QLinearConv", data, one, zero, weight, one, signed, one, zero, group=group)
        other = add("QuantizeLinear", add("Neg", "x"), one, zero)  # of one tensor, sums are tables
        add("ConvInteger", data, add("QuantizeLinear", "x", one, signed), zero)  # weights that are computed
        for op in ("QLinearAdd", "QLinearMul"):
            add(op, data, one, zero, other, one, zero, one, zero, domain="com.microsoft")
        for op in ("QLinearSigmoid", "QLinearGlobalAveragePool", "QLinearSoftmax"):
            add(op, data, one, zero, one, zero, domain="com.microsoft")
        add("QLinearMatMul", data, one, zero, constant(np.ones((5, 3), np.int8)), one, signed, one, zero)

    def _others(self) -> None:
        w, add, constant = self.w, self.add, self.constant
        add("LSTM", "v", w(1, 20, 4), w(1, 20, 5), outputs=3, hidden_size=5)
        add("GRU", "v", w(1, 15, 4), w(1, 15, 5), outputs=2, hidden_size=5)
        add("RNN", "v", w(1, 5, 4), w(1, 5, 5), outputs=2, hidden_size=5)
        add("Cast", "v", to=7)
        add("MatMul", "v", w(4, 3))
        add("MatMul", "v", add("Transpose", "v", perm=[0, 2, 1]))
        add("PRelu", "v", w(2, 1))
        for axis in (0, 1, 2):
            add("Softmax", "x", axis=axis)
            add("LogSoftmax", "v", axis=axis)
            add("LayerNormalization", "v", w(*(3, 2, 4)[axis:]), axis=axis)
            add("ReduceL2", "x", axes=[axis], keepdims=0)
            add("ArgMax", "v", axis=axis)
            add("TopK", "x", constant([2]), outputs=2, axis=axis)
            add("Gather", "x", constant([[1, 0, 1]]), axis=axis)
            add("GatherElements", "v", constant(np.ones((3, 2, 4), np.int64)), axis=axis)
        add("Add", add("Sigmoid", "x"), "x")
        add("Concat", "x", "x", axis=2)
        add("Slice", "x", constant([1, 4]), constant([2, 0]), constant([1, 2]), constant([1, -2]))
        add("Pad", "x", constant([0, 0, 1, 0, 0, 0, 0, 2]), mode="reflect")
        add("Reshape", add("Transpose", "x", perm=[0, 3, 1, 2]), constant([2, -1]))
        add("Expand", "v", constant([2, 3, 2, 4]))
        scores = add("Mul", add("MatMul", "x", add("Transpose", "x", perm=[0, 1, 3, 2])), self.constant(np.float32(0.5)))
        add("MatMul", add("Softmax", scores, axis=-1), "x")

    def model(self) -> Model:
        inputs = [
            Value("x", "float32", (2, 4, 6, 5)),
            Value("grid", "float32", (2, 3, 3, 2)),
            Value("v", "float32", (3, 2, 4)),
        ]
        read = {name for node in self.nodes for name in node.inputs}
        outputs = [name for node in self.nodes for name in node.outputs if name not in read]
        return model_of(self.nodes, inputs, outputs, **self.weights)


def inputs_of(runner: Runner) -> dict[str, Array]:
    """Random inputs."""
    random = np.random.default_rng(6)
    return {name: random.uniform(-1, 1, array.shape).astype(array.dtype) for name, array in runner.inputs.items()}
