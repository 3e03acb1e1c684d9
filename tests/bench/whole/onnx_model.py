"""A network as an ONNX model."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from bench.graph import ACTIVATIONS, Network, Node
from bench.layers import AVERAGE, CONVOLUTION, DECONVOLUTION, INNER_PRODUCT, MAX, Array


def model_of(net: Network) -> Any:
    """Of one image as (1, C, H, W), "x", and one output, "y"."""
    made = _Model(net)
    last = len(net.nodes) - 1
    source = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, *net.shape(0)])
    target = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, *net.shape(last)])
    graph = helper.make_graph(made.operators, "network", [source], [target], made.tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


class _Model:
    """The operators and constants of a model; what layer i gives is called "v<i>", that of the last one "y"."""

    def __init__(self, net: Network) -> None:
        self._net = net
        self.operators: list[Any] = []
        self.tensors: list[Any] = []
        for i in range(1, len(net.nodes)):
            self._layer(i)

    def _name(self, i: int) -> str:
        return "x" if i == 0 else "y" if i == len(self._net.nodes) - 1 else f"v{i}"

    def _constant(self, value: Array, name: str) -> str:
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def _operator(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> None:
        self.operators.append(helper.make_node(kind, inputs, [output], **attributes))

    def _layer(self, i: int) -> None:
        node, name = self._net.nodes[i], self._name(i)
        inputs = [self._name(j) for j in node.inputs]
        before = name if node.activation == "identity" else f"{name}_before"
        (self._weighted if node.weight.size else self._plain)(node, inputs, before, name)
        if before != name:
            self._activate(node.activation, before, name)

    def _weighted(self, node: Node, inputs: list[str], output: str, name: str) -> None:
        assert node.layer
        bias = self._constant(node.bias, f"{name}_bias")
        if node.kind == INNER_PRODUCT:
            flat = self._constant(np.array([1, -1]), f"{name}_flat_shape")
            whole = self._constant(np.array([1, node.layer.o, 1, 1]), f"{name}_whole_shape")
            weight = self._constant(node.weight, f"{name}_weight")
            self._operator("Reshape", [inputs[0], flat], f"{name}_flat")
            self._operator("Gemm", [f"{name}_flat", weight, bias], f"{name}_product", transB=1)
            self._operator("Reshape", [f"{name}_product", whole], output)
            return
        weight = self._constant(node.weight, f"{name}_weight")
        kind = {CONVOLUTION: "Conv", DECONVOLUTION: "ConvTranspose"}[node.kind]
        self._operator(kind, [*inputs, weight, bias], output, group=node.layer.group, **_window(node))

    def _plain(self, node: Node, inputs: list[str], output: str, name: str) -> None:
        if node.kind == MAX:
            self._operator("MaxPool", inputs, output, **_window(node))
        elif node.kind == "part":
            c = self._net.shape(node.inputs[0])[0]
            ends = [(c - node.shape[0], "from"), (c, "to"), (1, "axis")]
            names = [self._constant(np.array([value]), f"{name}_{what}") for value, what in ends]
            self._operator("Slice", [*inputs, *names], output)
        elif node.kind == "enlarge":
            scales = self._constant(np.array([1, 1, 2, 2], np.float32), f"{name}_scales")
            self._operator("Resize", [inputs[0], "", scales], output, mode="nearest", nearest_mode="floor",
                           coordinate_transformation_mode="asymmetric")  # fmt: skip
        else:
            kinds = {AVERAGE: "GlobalAveragePool", "add": "Add", "scale": "Mul", "concat": "Concat", "sigmoid": "Sigmoid",
                     "softmax": "Softmax"}  # fmt: skip
            axis = {"axis": 1} if node.kind in ("concat", "softmax") else {}
            self._operator(kinds[node.kind], inputs, output, **axis)

    def _activate(self, activation: str, x: str, y: str) -> None:
        kind, p = ACTIVATIONS[activation]
        if kind == "restrict_range":
            low, high = (self._constant(np.array(value, np.float32), f"{y}_{i}") for i, value in enumerate(p))
            self._operator("Clip", [x, low, high], y)
        elif kind == "leaky_relu":
            self._operator("LeakyRelu", [x], y, alpha=p[0])
        elif kind == "hswish":
            self._operator("HardSwish", [x], y)
        else:
            self._operator("Relu", [x], y)


def _window(node: Node) -> dict[str, list[int]]:
    layer = node.layer
    assert layer
    pads = [layer.before] * 2 + [layer.after] * 2
    return {"kernel_shape": [layer.kernel] * 2, "strides": [layer.stride] * 2, "pads": pads}
