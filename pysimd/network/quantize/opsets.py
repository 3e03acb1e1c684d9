"""Files of older operators as files of opset 13, the first in which channels have scales of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pysimd.errors import printable
from pysimd.network.quantize.onnx_file import File, Node

OPSET = 13
_OLDEST = 11
#: Operators of opsets 11 and 12 that later ones have changed, by what makes nodes of opset 13 of one.
_CHANGES: dict[str, Callable[[File, Node], list[Node]]] = {}


def upgraded(file: File) -> File:
    """The same model with operators of opset 13 or later. Raises ValueError for a file that is too old."""
    if file.opset >= OPSET:
        return file
    if file.opset < _OLDEST:
        raise ValueError(
            f"the model has operators of version {file.opset}, expected {_OLDEST} or later: convert it with"
            " onnx.version_converter.convert_version(model, 13) of the package onnx"
        )
    made = file.copy()
    made.nodes = []
    for node in file.nodes:
        _refuse_inner(node)
        change = None if node.domain else _CHANGES.get(node.op)
        made.nodes += [node] if change is None else change(made, node)
    made.require("", OPSET)
    return made


def _refuse_inner(node: Node) -> None:
    if node.captured:
        raise ValueError(
            f"the node {node.shown!r} ({printable(node.op)}) has a subgraph, of operators before version {OPSET}: convert"
            " the model with onnx.version_converter.convert_version(model, 13) of the package onnx"
        )


def _with_input(name: str) -> Callable[[File, Node], list[Node]]:
    """Integers that were an attribute are the second input."""

    def change(file: File, node: Node) -> list[Node]:
        if name not in node.attributes:
            return [node]
        found = node.copy()
        values = np.array(node.get(name), np.int64)
        del found.attributes[name]
        found.inputs = [node.inputs[0], file.add(f"{node.outputs[0]}_{name}", values)]
        return [found]

    return change


def _softmax(file: File, node: Node) -> list[Node]:
    """Which was over all dimensions from the axis on, the second by default."""
    axis, rank = int(node.get("axis", 1)), file.rank(node.inputs[0]) or file.rank(node.outputs[0])
    if axis == -1 or (rank is not None and axis % rank == rank - 1):
        return [node.copy().set("axis", -1)]
    x, y = node.inputs[0], node.outputs[0]
    shape, flat, found = (file.new_name(f"{y}_{what}") for what in ("shape", "flat", "softmax"))
    inner = node.copy().set("axis", -1)
    inner.inputs, inner.outputs = [flat], [found]
    flatten = Node("Flatten", [x], [flat]).set("axis", axis)
    return [Node("Shape", [x], [shape]), flatten, inner, Node("Reshape", [found, shape], [y])]


for _op, _name in (("Squeeze", "axes"), ("Unsqueeze", "axes"), ("ReduceSum", "axes"), ("Split", "split")):
    _CHANGES[_op] = _with_input(_name)
for _op in ("Softmax", "LogSoftmax", "Hardmax"):
    _CHANGES[_op] = _softmax
