"""The representation of a network: nodes that apply operators to tensors, in an order in which they can be computed.

Operators, their attributes and the order of their inputs are those of ONNX, except that numbers which ONNX has as constant
inputs (the bounds of Clip, the scales of Resize, ...) are attributes here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pysimd.annotations import Array
from pysimd.network.operators import shape_of

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Tensor:
    """A value: its properties known before it is computed."""

    name: str
    shape: Shape
    dtype: str = "float32"
    layout: str = "nchw"  # a letter for each axis: images nchw, vectors nc, weights oiyx, ioyx or oi, biases o


@dataclass(frozen=True, eq=False)  # a node is equal only to itself
class Node:
    """An application of an operator; inputs and outputs are names of tensors."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def output(self) -> str:
        """The output of a node that has only one."""
        (name,) = self.outputs
        return name


class Graph:
    """Nodes in execution order; tensors by name; the arrays of constant tensors.

    Raises ValueError for a graph that cannot be computed.
    """

    def __init__(
        self,
        name: str,
        nodes: Iterable[Node],
        inputs: Iterable[str],
        outputs: Iterable[str],
        tensors: Mapping[str, Tensor],
        constants: Mapping[str, Array],
    ) -> None:
        self.name = name
        self.nodes = tuple(nodes)
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.tensors, self.constants = dict(tensors), dict(constants)
        self._validate()
        self._producers = {name: node for node in self.nodes for name in node.outputs}
        self._users: dict[str, list[Node]] = {name: [] for name in self.tensors}
        for node in self.nodes:
            for read in dict.fromkeys(node.inputs):
                self._users[read].append(node)

    def users(self, name: str) -> list[Node]:
        """The nodes that read a tensor, in execution order."""
        return self._users[name]

    def producer(self, name: str) -> Node | None:
        """The node that computes a tensor; None for inputs and constants."""
        return self._producers.get(name)

    def shape(self, name: str) -> Shape:
        """The shape of a tensor."""
        return self.tensors[name].shape

    def _validate(self) -> None:
        known = {*self.inputs, *self.constants}
        for node in self.nodes:
            missing = [name for name in node.inputs if name not in known]
            if missing:
                raise ValueError(f"{node.operator} reads {missing[0]}, which nothing before it gives")
            if known & set(node.outputs):
                raise ValueError(f"{node.operator} gives {node.output}, which is there already")
            shape = shape_of(node.operator, [self.shape(name) for name in node.inputs], node.attributes)
            if self.shape(node.output) != shape:
                raise ValueError(f"{node.output} has shape {self.shape(node.output)}, but {node.operator} gives {shape}")
            known |= set(node.outputs)
        if not set(self.outputs) <= known:
            raise ValueError(f"nothing gives the outputs {sorted(set(self.outputs) - known)}")
        for name, value in self.constants.items():
            if (self.shape(name), self.tensors[name].dtype) != (value.shape, value.dtype.name):
                raise ValueError(f"{name} is {value.dtype} of {value.shape}, expected {self.tensors[name]}")
        for tensor in self.tensors.values():
            if len(tensor.layout) != len(tensor.shape):
                raise ValueError(f"{tensor.name} has shape {tensor.shape}, but the layout {tensor.layout}")
