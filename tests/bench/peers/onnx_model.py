"""An operator as an ONNX model, for all libraries that read such models."""

from __future__ import annotations

from typing import Any

import onnx.parser
from onnx import helper, numpy_helper

from bench.implementations import Unsupported
from bench.layers import Array
from bench.operators import Operator

_OPSET, _IR = 21, 10


def model_of(operator: Operator, expected: Array) -> Any:
    """A model whose result is like `expected`."""
    if not operator.onnx:
        raise Unsupported("ONNX has no such operator")
    graph = onnx.parser.parse_graph("operator () => () {" + operator.onnx + "}")
    graph.input.extend(_described(name, array) for name, array in operator.inputs.items())
    graph.output.append(_described("y", expected))
    graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in operator.constants.items())
    versions = [helper.make_opsetid("", _OPSET)]
    if "com.microsoft." in operator.onnx:
        versions.append(helper.make_opsetid("com.microsoft", 1))
    return helper.make_model(graph, opset_imports=versions, ir_version=_IR)


def _described(name: str, array: Array) -> Any:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
