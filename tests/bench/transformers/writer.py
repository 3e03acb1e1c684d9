"""Writes a graph of ONNX node by node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from bench.layers import Array

OPSET = 17
_TYPES = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}


class Writer:
    """A model in the making. Names of tensors are numbers, as those of exporters."""

    def __init__(self, seed: int = 1) -> None:
        self._random = np.random.default_rng(seed)
        self._nodes: list[Any] = []
        self._weights: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def input(self, name: str, shape: Sequence[int], kind: str = "float32") -> str:
        self._inputs.append(helper.make_tensor_value_info(name, _TYPES[kind], shape))
        return name

    def output(self, x: str) -> None:
        self._outputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, None))

    def constant(self, array: Any, kind: str = "float32") -> str:
        name = f"c{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(np.asarray(array, kind), name))
        return name

    def weight(self, *shape: int) -> str:
        """Random numbers whose sums of products keep the size of numbers."""
        array = self._random.standard_normal(shape, np.float32)
        return self.constant(array / np.float32(max(shape[-2] if len(shape) == 2 else np.prod(shape[1:]), 1) ** 0.5))

    def vector(self, n: int, around: float = 0) -> str:
        return self.constant(around + self._random.standard_normal(n, np.float32) / 8)

    def integers(self, high: int, *shape: int) -> Array:
        return self._random.integers(0, high, shape)

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        return self.several(op, 1, *inputs, **attributes)[0]

    def several(self, op: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        names = [f"t{len(self._nodes)}_{i}" for i in range(outputs)]
        self._nodes.append(helper.make_node(op, inputs, names, f"{op}_{len(self._nodes)}", **attributes))
        return names

    def ints(self, *values: int) -> str:
        return self.constant(values, "int64")

    def reshape(self, x: str, *shape: int) -> str:
        return self.add("Reshape", x, self.ints(*shape))

    def transpose(self, x: str, *perm: int) -> str:
        return self.add("Transpose", x, perm=perm)

    def slice(self, x: str, axis: int, begin: int, end: int) -> str:
        return self.add("Slice", x, self.ints(begin), self.ints(end), self.ints(axis))

    def number(self, op: str, x: str, value: float) -> str:
        return self.add(op, x, self.constant(value))

    def model(self) -> Any:
        graph = helper.make_graph(self._nodes, "transformer", self._inputs, self._outputs, self._weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 8
        return model
