"""Models from ONNX files, compared with other libraries that run the same files.

There is a module for each library, including ours:

    VERSION                        in the table
    build(path, inputs, threads)   yields the library's implementations of the model for these inputs (arrays by name), as
                                   functions that each build one `Loaded`: if one fails, the others remain

* ``simdnet``, ``onnxruntime``, ``openvino``, ``ncnn``: the libraries; ``pnnx``: the program that converts files for ncnn.
* ``shapes``: the inputs of a file, and their shapes.
* ``workers``: a process for each library. ``first``: a process that loads a model, answers once, and tells what that took.
* ``table``: measures and prints.

The modules of libraries and this one import nothing of simdnet or of the other libraries: ``first`` measures what a process
needs that has one library only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple

import numpy as np

OURS = "simdnet"

#: The modules of the other libraries, in the order of the table. The first tells what is right.
PEERS = ("onnxruntime", "openvino", "ncnn")

#: How ncnn is built if not all in float32.
USUAL = "usual options"


@dataclass(frozen=True)
class Loaded:
    """A model that a library has loaded for some inputs."""

    how: str  # a description of the implementation
    call: Callable[[], Any]
    result: Callable[[], Sequence[Any]]  # the outputs of a call, arrays in the order of the file
    bytes: Mapping[str, int] = field(default_factory=dict)  # of its parts, if the library tells
    multiply_adds: int = 0  # of a call, if the library tells


class Input(NamedTuple):
    """An input of a model, with all its dimensions."""

    name: str
    type: str  # of NumPy
    shape: Sequence[int]
    value: int = 1  # of integers, all of them


def values_of(inputs: Sequence[Input]) -> dict[str, Any]:
    """The same for all libraries: numbers between 0 and 1, and integers of the input's value."""
    random = np.random.default_rng(7)
    return {
        name: random.random(shape, np.float32) if kind == "float32" else np.full(shape, value, kind)
        for name, kind, shape, value in inputs
    }
