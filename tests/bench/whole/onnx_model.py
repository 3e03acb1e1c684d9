"""A graph as an ONNX model: the same operators; numbers that are inputs in ONNX become constants."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from pysimd.network import Graph, Node


def model_of(graph: Graph) -> Any:
    """A model with one input of images (N, C, H, W), "x", and one output, "y"."""
    made = _Model(graph)
    source = helper.make_tensor_value_info("x", TensorProto.FLOAT, graph.shape(graph.inputs[0]))
    target = helper.make_tensor_value_info("y", TensorProto.FLOAT, graph.shape(graph.outputs[0]))
    onnx_graph = helper.make_graph(made.operators, "network", [source], [target], made.tensors)
    return helper.make_model(onnx_graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


class _Model:
    """The operators and constants of a model."""

    def __init__(self, graph: Graph) -> None:
        self._names = {graph.inputs[0]: "x", graph.outputs[0]: "y"}
        self.operators: list[Any] = []
        self.tensors: list[Any] = [numpy_helper.from_array(value, name) for name, value in graph.constants.items()]
        for node in graph.nodes:
            self._node(node)

    def _name(self, name: str) -> str:
        return self._names.get(name, name)

    def _node(self, node: Node) -> None:
        operator, given, constants = _translated(node)
        more = [name and self._constant(f"{node.output}_{name}", constants[name]) for name in constants]
        inputs = [self._name(name) for name in node.inputs]
        self.operators.append(helper.make_node(operator, [*inputs, *more], [self._name(node.output)], **given))

    def _constant(self, name: str, value: Any) -> str:
        self.tensors.append(numpy_helper.from_array(np.asarray(value), name))
        return name


def _translated(node: Node) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The operator in ONNX, its attributes, and the constants behind its inputs; an empty name is a missing one."""
    a = node.attributes
    window = {name: a[name] for name in ("strides", "pads", "group") if name in a}
    if node.operator in ("Conv", "ConvTranspose"):
        return node.operator, window, {}
    if node.operator in ("MaxPool", "AveragePool"):
        return node.operator, {**window, "kernel_shape": a["kernel"]}, {}
    if node.operator == "Unary":
        operator, *names = _UNARY[a["function"]]
        if operator == "Clip":
            return operator, {}, dict(zip(("min", "max"), map(np.float32, a["params"])))
        return operator, dict(zip(names, a["params"])), {}
    if node.operator == "Binary":
        return {"add": "Add", "multiply": "Mul"}[a["function"]], {}, {}
    if node.operator == "Slice":
        ends = [start + size for start, size in zip(a["starts"], a["sizes"])]
        return "Slice", {}, {"starts": np.array(a["starts"]), "ends": np.array(ends)}
    if node.operator == "Resize":
        rules = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
        return "Resize", rules, {"": None, "scales": np.array((1, 1, *a["scale"]), np.float32)}
    if node.operator == "Reshape":
        return "Reshape", {}, {"shape": np.array(a["shape"])}
    plain: dict[str, tuple[str, dict[str, Any]]] = {"Linear": ("Gemm", {}), "Reduce": ("GlobalAveragePool", {})}
    plain |= {name: (name, {"axis": a.get("axis")}) for name in ("Concat", "Softmax")}
    operator, given = plain[node.operator]
    return operator, given, {}


# The operators of functions, and the names of their parameters.
_UNARY = {
    "hswish": ("HardSwish",),
    "leaky_relu": ("LeakyRelu", "alpha"),
    "relu": ("Relu",),
    "restrict_range": ("Clip",),
    "sigmoid": ("Sigmoid",),
}
