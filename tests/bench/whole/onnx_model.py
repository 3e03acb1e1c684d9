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

    def _constants(self, node: Node, *values: Any) -> list[str]:
        names = [f"{node.output}_{i}" for i in range(len(values))]
        self.tensors += [numpy_helper.from_array(np.asarray(value), name) for name, value in zip(names, values)]
        return names

    def _node(self, node: Node) -> None:
        given = dict(node.attributes)
        more: list[str] = []
        if node.operator == "Clip":
            more = self._constants(node, np.float32(given.pop("min")), np.float32(given.pop("max")))
        elif node.operator == "Slice":
            more = self._constants(node, *(np.array([given.pop(name)]) for name in ("start", "end", "axis")))
        elif node.operator == "Resize":
            more = ["", *self._constants(node, np.array(given.pop("scales"), np.float32))]
            given = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
        elif node.operator == "Reshape":
            more = self._constants(node, np.array(given.pop("shape")))
        inputs = [self._name(name) for name in node.inputs]
        self.operators.append(helper.make_node(node.operator, [*inputs, *more], [self._name(node.output)], **given))
