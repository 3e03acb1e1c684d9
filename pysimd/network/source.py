"""What the file of a model says, whatever its format: nodes, weights, inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from pysimd.annotations import Array

#: A dimension: a number, the name of one that the file leaves open, or None.
Dimension = Union[int, str, None]


@dataclass(frozen=True)
class Value:
    """An input or an output; dims is None if the file does not tell its shape."""

    name: str
    dtype: str
    dims: tuple[Dimension, ...] | None


@dataclass(frozen=True, eq=False)
class SourceNode:
    """An application of an operator of ONNX.

    attributes : ints, floats, strings, lists of these, arrays, and a :class:`Source` for a subgraph.
    """

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    domain: str = ""


@dataclass(frozen=True, eq=False)
class Source:
    """A model, or a subgraph of one. Nodes are in an order in which they can be computed.

    opset : the version of the operators of ONNX.
    weights : arrays by name, read from the file when they are used, where that is possible.
    """

    name: str
    opset: int
    inputs: Sequence[Value]
    outputs: Sequence[Value]
    nodes: Sequence[SourceNode]
    weights: Mapping[str, Array]
