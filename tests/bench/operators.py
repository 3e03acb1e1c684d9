"""An operator of networks with its arrays, independent of library: a text in the language of each peer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bench.layers import Array


@dataclass(frozen=True)
class Operator:
    """What computes `y`, or the first of several results, from `inputs` and `constants`.

    `onnx` is the nodes of a graph in ONNX's own syntax, "y = Relu(x)"; `torch` is an expression on tensors, in which the
    modules torch and functional are known. Both refer to arrays by name. One that is empty says that the library has no
    such operator.
    """

    onnx: str
    torch: str
    inputs: Mapping[str, Array]
    constants: Mapping[str, Array] = field(default_factory=dict)
