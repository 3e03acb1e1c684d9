"""Reads ONNX files, by the package ``onnx``.

What the file says is checked here as far as the rest relies on it: names, order, sizes of weights, places of external data.
Operators are checked where they are converted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.convert.fold import DTYPES
from pysimd.network.source import Dimension, Source, SourceNode, Value

_OLDEST_OPSET = 7
_DEPTH = 32  # of subgraphs within subgraphs
_ONNX_DOMAINS = ("", "ai.onnx")


def read(model: Any) -> Source:
    """The source of an ONNX model: a path, the bytes of a file, or an ``onnx.ModelProto``.

    Weights in other files are mapped, and read when they are used. Raises ValueError for what is no such model, with the
    reason; ImportError without the package; OSError if the file cannot be read.
    """
    try:
        import onnx
    except ImportError:
        raise ImportError("ONNX files need the package onnx: pip install 'pysimd[onnx]'") from None
    if isinstance(model, onnx.ModelProto):
        return _Reader(onnx, None).source(model)
    folder, name = None, "the bytes"
    if isinstance(model, (str, os.PathLike)):
        path = Path(model)
        folder, name = path.resolve().parent, str(path)
        data = path.read_bytes()
    elif isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
    else:
        raise TypeError(f"model is a {type(model).__name__}, expected a path, bytes, or an onnx.ModelProto")
    parsed = onnx.ModelProto()
    try:
        parsed.ParseFromString(data)
    except Exception as error:  # of protobuf, whose class depends on its version
        raise ValueError(f"{name} is no ONNX model, or cut: {error}") from None
    del data
    return _Reader(onnx, folder).source(parsed)


class _Reader:
    """Reads a model whose external data are in a folder."""

    def __init__(self, onnx: Any, folder: Path | None) -> None:
        self._onnx, self._folder = onnx, folder
        self._functions: dict[tuple[str, str], Any] = {}

    def source(self, model: Any) -> Source:
        """The source of a whole model."""
        if not model.ir_version or not model.HasField("graph"):
            raise ValueError("the data are no ONNX model: there is no graph")
        if model.ir_version > self._onnx.IR_VERSION:
            raise ValueError(
                f"the model has version {model.ir_version} of the format, the installed package onnx reads up to "
                f"{self._onnx.IR_VERSION}: update it"
            )
        opset = self._opset(model)
        self._functions = {(function.domain, function.name): function for function in model.functions}
        return self._graph(model.graph, opset, set(), 0)

    def _opset(self, model: Any) -> int:
        versions = [each.version for each in model.opset_import if each.domain in _ONNX_DOMAINS]
        if not versions:
            raise ValueError("the model does not tell the version of its operators (opset_import)")
        newest = self._onnx.defs.onnx_opset_version()
        if not _OLDEST_OPSET <= versions[0] <= newest:
            raise ValueError(f"the model has operators of version {versions[0]}, supported are {_OLDEST_OPSET} to {newest}")
        return int(versions[0])

    def _graph(self, graph: Any, opset: int, outer: set[str], depth: int) -> Source:
        if depth > _DEPTH:
            raise ValueError(f"graphs within graphs are more than {_DEPTH} deep")
        if len(graph.sparse_initializer):
            raise ValueError("the model has sparse weights, which are not supported")
        weights: dict[str, Array] = {}
        for tensor in graph.initializer:
            if not tensor.name or tensor.name in weights:
                raise ValueError(f"two weights have the name {tensor.name!r}" if tensor.name else "a weight has no name")
            weights[tensor.name] = self._tensor(tensor)
        inputs = [_value(value) for value in graph.input if value.name not in weights]
        outputs = [_value(value) for value in graph.output]
        _refuse_equal([value.name for value in inputs], "inputs")
        _refuse_equal([value.name for value in outputs], "outputs")
        known = {*outer, *weights, *(value.name for value in inputs)}
        nodes = self._expanded(graph.node, depth)
        made = [name for node in nodes for name in node.output if name]
        _refuse_equal([*made, *weights, *(value.name for value in inputs)], "tensors")
        found = [self._node(node, opset, known | set(made), depth) for node in _ordered(nodes, known)]
        for output in outputs:
            if output.name not in known and output.name not in made:
                raise ValueError(f"nothing gives the output {output.name!r}")
        return Source(graph.name, opset, inputs, outputs, found, weights)

    def _node(self, node: Any, opset: int, outer: set[str], depth: int) -> SourceNode:
        attributes = {a.name: self._attribute(a, opset, outer, depth) for a in node.attribute}
        return SourceNode(node.op_type, tuple(node.input), tuple(node.output), attributes, node.name, node.domain)

    def _attribute(self, a: Any, opset: int, outer: set[str], depth: int) -> Any:
        kinds = self._onnx.AttributeProto
        if a.type == kinds.TENSOR:
            return self._tensor(a.t)
        if a.type == kinds.GRAPH:
            return self._graph(a.g, opset, outer, depth + 1)
        if a.type == kinds.STRING:
            return a.s.decode("utf-8", "replace")
        if a.type == kinds.STRINGS:
            return [text.decode("utf-8", "replace") for text in a.strings]
        plain = {kinds.FLOAT: lambda: a.f, kinds.INT: lambda: a.i, kinds.FLOATS: lambda: list(a.floats)}
        plain[kinds.INTS] = lambda: list(a.ints)
        if a.type not in plain:
            raise ValueError(f"the attribute {a.name!r} has type {a.type}, which is not supported")
        return plain[a.type]()

    # ---- functions of the model itself

    def _expanded(self, nodes: Iterable[Any], depth: int, prefix: str = "") -> list[Any]:
        """Nodes, with the nodes of its function in place of each that names one."""
        found: list[Any] = []
        for number, node in enumerate(nodes):
            function = self._functions.get((node.domain, node.op_type))
            if function is None:
                found.append(node)
            elif depth >= _DEPTH:
                raise ValueError(f"functions within functions are more than {_DEPTH} deep")
            else:
                inner = self._inlined(function, node, f"{prefix}{node.name or node.op_type}.{number}/")
                found.extend(self._expanded(inner, depth + 1, f"{prefix}{number}."))
        return found

    def _inlined(self, function: Any, node: Any, prefix: str) -> list[Any]:
        """The nodes of a function, with the names and attributes of one call."""
        names = dict(zip(function.input, node.input)) | dict.fromkeys(function.input[len(node.input) :], "")
        names.update((inner, outer) for inner, outer in zip(function.output, node.output) if outer)
        given = {a.name: a for a in function.attribute_proto} | {a.name: a for a in node.attribute}
        made = []
        for each in function.node:
            copy = self._onnx.NodeProto()
            copy.CopyFrom(each)
            copy.name = prefix + each.name
            for field in (copy.input, copy.output):
                renamed = [names.get(name, prefix + name) if name else "" for name in field]
                del field[:]
                field.extend(renamed)
            attributes = [self._bound(a, given) for a in each.attribute]
            del copy.attribute[:]
            copy.attribute.extend(a for a in attributes if a is not None)
            made.append(copy)
        return made

    def _bound(self, a: Any, given: Mapping[str, Any]) -> Any:
        """An attribute; where it refers to one of the function, that of the call, None if it has none."""
        if not a.ref_attr_name:
            return a
        if a.ref_attr_name not in given:
            return None
        found = self._onnx.AttributeProto()
        found.CopyFrom(given[a.ref_attr_name])
        found.name = a.name
        return found

    # ---- weights

    def _tensor(self, tensor: Any) -> Array:
        """A tensor as an array."""
        shape = tuple(tensor.dims)
        what = f"the weight {tensor.name!r}" if tensor.name else "a constant"
        if any(n < 0 for n in shape):
            raise ValueError(f"{what} has the shape {shape}")
        if tensor.data_type in (8, 0) or tensor.data_type not in {*DTYPES, 16}:
            raise ValueError(f"{what} has type {tensor.data_type} of ONNX, which is not supported")
        dtype = np.dtype("uint16" if tensor.data_type == 16 else DTYPES[tensor.data_type])
        nbytes = prod(shape) * dtype.itemsize
        if tensor.data_location == self._onnx.TensorProto.EXTERNAL:
            array = self._external(tensor, what, nbytes).view(dtype).reshape(shape)
        elif tensor.HasField("raw_data"):
            if len(tensor.raw_data) != nbytes:
                raise ValueError(f"{what} has {len(tensor.raw_data)} bytes, expected {nbytes} for the shape {shape}")
            array = np.frombuffer(tensor.raw_data, dtype.newbyteorder("<")).reshape(shape)
        else:
            array = self._typed(tensor, what, shape)
        if tensor.data_type == 16:  # bfloat16: the upper halves of floats
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return array.astype(np.float32) if array.dtype == np.float16 else array

    def _typed(self, tensor: Any, what: str, shape: Sequence[int]) -> Array:
        """The numbers in the field of their type."""
        fields = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")
        count = max(len(getattr(tensor, field)) for field in fields)
        if count != prod(shape):
            raise ValueError(f"{what} has {count} numbers, expected {prod(shape)} for the shape {tuple(shape)}")
        try:
            array: Array = self._onnx.numpy_helper.to_array(tensor)
        except Exception as error:
            raise ValueError(f"{what} cannot be read: {error}") from None
        return array.view(np.uint16) if array.dtype.name == "bfloat16" else array

    def _external(self, tensor: Any, what: str, nbytes: int) -> Array:
        """Bytes of another file, mapped. Its path must be within the folder of the model."""
        given = {each.key: each.value for each in tensor.external_data}
        if self._folder is None:
            raise ValueError(f"{what} is in another file, {given.get('location')!r}: load the model by its path")
        location = given.get("location", "")
        path = (self._folder / location).resolve()
        if not location or os.path.isabs(location) or self._folder not in path.parents:
            raise ValueError(f"{what} is in the file {location!r}, which is not within the folder of the model")
        try:
            offset, length = int(given.get("offset", 0)), int(given.get("length", nbytes))
            size = path.stat().st_size
        except (OSError, ValueError) as error:
            raise ValueError(f"{what} is in the file {location!r}, which cannot be read: {error}") from None
        if length != nbytes or offset < 0 or offset + nbytes > size:
            raise ValueError(
                f"{what} has {length} bytes from {offset} on in {location!r} of {size} bytes, expected {nbytes}"
            )
        if nbytes == 0:
            return np.zeros(0, np.uint8)
        return np.memmap(path, np.uint8, "r", offset, (nbytes,))


def _refuse_equal(names: Sequence[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"two {what} have the name {name!r}")
        seen.add(name)


def _value(value: Any) -> Value:
    """The name, type and dimensions of an input or an output."""
    kind = value.type.WhichOneof("value")
    if kind not in (None, "tensor_type"):
        return Value(value.name, kind, None)
    tensor = value.type.tensor_type
    dtype = "bfloat16" if tensor.elem_type == 16 else DTYPES.get(tensor.elem_type, f"type {tensor.elem_type} of ONNX")
    if not tensor.HasField("shape"):
        return Value(value.name, dtype, None)
    return Value(value.name, dtype, tuple(map(_dimension, tensor.shape.dim)))


def _dimension(dim: Any) -> Dimension:
    """A number; some exporters write -1 for an open dimension."""
    if dim.HasField("dim_value"):
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return str(dim.dim_param) or None


def _ordered(nodes: Sequence[Any], known: set[str]) -> list[Any]:
    """Nodes in an order in which they can be computed; those that are in one already stay in it."""
    ready = set(known)
    waiting, found = list(nodes), []
    while waiting:
        later = []
        for node in waiting:
            if all(not name or name in ready for name in _reads(node)):
                found.append(node)
                ready.update(node.output)
            else:
                later.append(node)
        if len(later) == len(waiting):
            made = {name for node in waiting for name in node.output}
            node = later[0]
            name = next(name for name in _reads(node) if name and name not in ready)
            why = "which depends on it in turn" if name in made else "which nothing gives"
            raise ValueError(f"the node {node.name!r} ({node.op_type}) reads {name!r}, {why}")
        waiting = later
    return found


def _reads(node: Any) -> list[str]:
    """The inputs of a node, with what its subgraphs read from outside."""
    names = list(node.input)
    for attribute in node.attribute:
        if attribute.HasField("g"):
            inner = attribute.g
            own = {*(t.name for t in inner.initializer), *(v.name for v in inner.input)}
            own.update(name for each in inner.node for name in each.output)
            names += [name for each in inner.node for name in _reads(each) if name not in own]
    return names
