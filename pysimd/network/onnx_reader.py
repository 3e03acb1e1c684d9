"""Reads ONNX files, by the package ``onnx``.

What the file says is checked as far as the rest relies on it: sizes of weights and places of external data here, names and
order in ``source``. Operators are checked where they are converted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.errors import printable
from pysimd.network.convert.fold import DTYPES
from pysimd.network.mapped import refuse_devices
from pysimd.network.onnx_wire import Weights
from pysimd.network.source import Dimension, Source, SourceNode, Value, in_order

_OLDEST_OPSET = 7
_DEPTH = 24  # of subgraphs within subgraphs, and of functions within functions
_MOST_INLINED = 1 << 23  # bytes of nodes, each with 512 more, that calls of functions become: it can grow exponentially
_MOST_NODES = 1 << 15  # and weights: each takes 20 us and 700 bytes, from as few as 2 bytes of the file
_MOST_VALUES = 1 << 17  # inputs and outputs of graphs, and attributes
_MOST_NAMES = 1 << 18  # inputs and outputs of nodes
_BFLOAT16 = 16
_OVERRIDABLE = 4  # the version of the format since which an input that is a weight too can be given in its place
_ONNX_DOMAINS = ("", "ai.onnx")


def read(model: Any) -> Source:
    """The source of an ONNX model: a path, the bytes of a file, or an ``onnx.ModelProto``.

    Weights are mapped, and read when they are used: the file, and those that belong to it, must not be changed as long as
    the model is used. Raises ValueError with the reason for anything else; ImportError without the package; OSError if the
    file cannot be read.
    """
    try:
        import onnx
    except ImportError:
        raise ImportError("ONNX files need the package onnx: pip install 'pysimd[onnx]'") from None
    if isinstance(model, onnx.ModelProto):
        return _Reader(onnx, (), None).source(model)
    folders, name = (), "the bytes"  # type: tuple[Path, ...], str
    if isinstance(model, (str, os.PathLike)):
        path = Path(model)
        folders, name = (path.parent.resolve(), path.resolve().parent), str(path)
        data = _mapped(path)
    elif isinstance(model, (bytes, bytearray, memoryview)):
        data = np.frombuffer(bytes(model) or b"\0", np.uint8)
    else:
        raise TypeError(f"model is a {type(model).__name__}, expected a path, bytes, or an onnx.ModelProto")
    weights = Weights(data)
    parsed, rest = onnx.ModelProto(), weights.model_without()
    try:
        parsed.ParseFromString(rest)
    except MemoryError:
        raise
    except Exception as error:  # of protobuf, whose class depends on its version
        raise ValueError(f"{name} is not an ONNX model, or is truncated: {error}") from None
    del rest
    reader = _Reader(onnx, folders, weights)
    return replace(reader.source(parsed), file=name if folders else "")


def _mapped(path: Path) -> Array:
    """The bytes of a file. Raises ValueError for what has none, OSError if it cannot be read."""
    refuse_devices(path)
    with open(path, "rb"):  # which has the better messages
        pass
    if not path.stat().st_size:
        raise ValueError(f"{path} is not an ONNX model: it is empty or not a file")
    return np.memmap(path, np.uint8, "r")


class _Reader:
    """Reads a model. Names and order come first, numbers second: only of what the outputs need.

    folders : those in which its external data may be: that of the path and that of the file to which the path leads, as in
        caches whose names are links to files elsewhere.
    weights : those that were taken out of it before.
    """

    def __init__(self, onnx: Any, folders: Sequence[Path], weights: Weights | None) -> None:
        self._onnx, self._folders, self._weights = onnx, folders, weights
        self._functions: dict[tuple[str, str, str], Any] = {}
        self._files: dict[Path, Array] = {}  # mapped once, as each map holds a descriptor
        self._opset, self._inlined_bytes, self._calls = 0, 0, count()
        self._nodes, self._values, self._names = 0, 0, 0

    def source(self, model: Any) -> Source:
        """The source of a whole model."""
        if not model.ir_version or not model.HasField("graph"):
            raise ValueError("the data are not an ONNX model: there is no graph")
        if model.ir_version > self._onnx.IR_VERSION:
            raise ValueError(
                f"the model has version {model.ir_version} of the format, the installed package onnx reads up to "
                f"{self._onnx.IR_VERSION}: update it"
            )
        self._opset = self._version(model)
        self._functions = {(each.domain, each.name, _overload(each)): each for each in model.functions}
        source = in_order(self._graph(model.graph, 0))
        overridable = source.overridable if model.ir_version >= _OVERRIDABLE else ()
        return self._with_numbers(replace(source, overridable=overridable))

    def _version(self, model: Any) -> int:
        versions = [each.version for each in model.opset_import if each.domain in _ONNX_DOMAINS]
        if not versions:
            raise ValueError("the model declares no operator version (opset_import)")
        newest = self._onnx.defs.onnx_opset_version()
        if not _OLDEST_OPSET <= versions[0] <= newest:
            raise ValueError(f"the model has operators of version {versions[0]}, supported are {_OLDEST_OPSET} to {newest}")
        return int(versions[0])

    def _graph(self, graph: Any, depth: int) -> Source:
        """A graph whose weights and attributes are still messages."""
        if depth > _DEPTH:
            raise ValueError(f"graphs are nested more than {_DEPTH} deep")
        self._count(graph)
        weights = {_text(tensor.name): tensor for tensor in graph.initializer}  # of several with one name, the last counts
        weights.update((_text(tensor.values.name), tensor) for tensor in graph.sparse_initializer)
        if "" in weights:
            raise ValueError("a weight has no name")
        values = [_value(value) for value in graph.input]
        inputs, given = ([value for value in values if (value.name in weights) is known] for known in (False, True))
        outputs = [_value(value) for value in graph.output]
        if not all(value.name for value in (*inputs, *outputs)):
            raise ValueError("an input or an output of the graph has no name")
        nodes = [self._node(node, depth) for node in self._expanded(graph.node, 0)]
        return Source(_text(graph.name), self._opset, inputs, outputs, nodes, weights, given)

    def _with_numbers(self, source: Source) -> Source:
        """A graph with its weights and attributes."""
        weights = {name: self._tensor(tensor) for name, tensor in source.weights.items()}
        nodes = [replace(node, attributes=self._attributes(node)) for node in source.nodes]
        return replace(source, nodes=nodes, weights=weights)

    def _count(self, graph: Any) -> None:
        """Refuses a model that would take much more time and memory than its file suggests."""
        self._nodes += len(graph.node) + len(graph.initializer) + len(graph.sparse_initializer)
        self._values += len(graph.input) + len(graph.output)
        if self._nodes > _MOST_NODES:
            raise ValueError(f"the model has more than {_MOST_NODES} nodes and weights")
        self._values += sum(len(node.attribute) for node in graph.node)
        self._names += sum(len(node.input) + len(node.output) for node in graph.node)
        if self._values > _MOST_VALUES:
            raise ValueError(f"the model has more than {_MOST_VALUES} inputs, outputs and attributes")
        if self._names > _MOST_NAMES:
            raise ValueError(f"the nodes of the model have more than {_MOST_NAMES} inputs and outputs")

    def _node(self, node: Any, depth: int) -> SourceNode:
        attributes = {_text(a.name): a for a in node.attribute}
        for name, a in attributes.items():
            if a.type == self._onnx.AttributeProto.GRAPH:
                attributes[name] = self._graph(a.g, depth + 1)
        inputs, outputs = tuple(map(_text, node.input)), tuple(map(_text, node.output))
        return SourceNode(_text(node.op_type), inputs, outputs, attributes, _text(node.name), _text(node.domain))

    def _attributes(self, node: SourceNode) -> dict[str, Any]:
        try:
            return {name: self._attribute(a) for name, a in node.attributes.items()}
        except ValueError as error:
            raise ValueError(f"the node {node.name!r} ({printable(node.op)}): {error}") from None

    def _attribute(self, a: Any) -> Any:
        if isinstance(a, Source):
            return self._with_numbers(a)
        kinds = self._onnx.AttributeProto
        if a.type == kinds.TENSOR:
            return self._tensor(a.t)
        if a.type == kinds.STRING:
            return a.s.decode("utf-8", "replace")
        if a.type == kinds.STRINGS:
            return [text.decode("utf-8", "replace") for text in a.strings]
        plain: dict[int, Any] = {kinds.FLOAT: lambda: a.f, kinds.INT: lambda: a.i, kinds.FLOATS: lambda: list(a.floats)}
        plain[kinds.INTS] = lambda: list(a.ints)
        if a.type not in plain:
            raise ValueError(f"the attribute {a.name!r} has type {a.type}, which is not supported")
        return plain[a.type]()

    # ---- functions of the model itself

    def _expanded(self, nodes: Iterable[Any], depth: int) -> list[Any]:
        """Nodes, with the nodes of its function in place of each that names one."""
        found: list[Any] = []
        for node in nodes:
            function = self._functions.get((node.domain, node.op_type, _overload(node)))
            if function is None:
                found.append(node)
            elif depth >= _DEPTH:
                raise ValueError(f"functions are nested more than {_DEPTH} deep")
            else:
                found.extend(self._expanded(self._inlined(function, node), depth + 1))
        return found

    def _inlined(self, function: Any, node: Any) -> list[Any]:
        """The nodes of a function, with the names and attributes of one call."""
        what = f"the function {function.name!r}"
        if len(node.input) > len(function.input) or len(node.output) > len(function.output):
            raise ValueError(f"{what} has fewer inputs or outputs than the node {node.name!r} that calls it")
        if any(each.domain in _ONNX_DOMAINS and each.version != self._opset for each in function.opset_import):
            raise ValueError(f"{what} has operators of another version than the model, which is not supported")
        if not set(function.input).isdisjoint(function.output):
            raise ValueError(f"{what} returns one of its inputs, which is not supported")
        self._inlined_bytes += sum(each.ByteSize() + 512 for each in function.node)
        if self._inlined_bytes > _MOST_INLINED:
            raise ValueError(f"function calls expand to more than {_MOST_INLINED} bytes of nodes")
        for each in (*node.input, *node.output, *function.input, *function.output):
            _text(each)
        prefix = f"{node.name or node.op_type}.{next(self._calls)}/"
        names = dict(zip(function.input, node.input)) | dict.fromkeys(function.input[len(node.input) :], "")
        names.update((inner, outer) for inner, outer in zip(function.output, node.output) if outer)
        given = {a.name: a for a in function.attribute_proto} | {a.name: a for a in node.attribute}
        return [self._called(each, prefix, names, given) for each in function.node]

    def _called(self, node: Any, prefix: str, names: Mapping[str, str], given: Mapping[str, Any]) -> Any:
        """A node of a function; tensors without a name of the call get its prefix, in subgraphs too."""
        copy = self._onnx.NodeProto()
        copy.CopyFrom(node)
        copy.name = prefix + _text(node.name)
        for field in (copy.input, copy.output):
            renamed = [names.get(name, prefix + name) if name else "" for name in map(_text, field)]
            del field[:]
            field.extend(renamed)
        attributes = [self._bound(a, given) for a in node.attribute]
        del copy.attribute[:]
        copy.attribute.extend(a for a in attributes if a is not None)
        for a in copy.attribute:
            if a.HasField("g") and not self._is_of_call(a, node):
                self._rename(a.g, prefix, names, given)
        return copy

    def _is_of_call(self, a: Any, node: Any) -> bool:
        """Whether the call has given an attribute, a graph, whose names are those of the caller."""
        return any(each.name == a.name and each.ref_attr_name for each in node.attribute)

    def _rename(self, graph: Any, prefix: str, names: Mapping[str, str], given: Mapping[str, Any]) -> None:
        """Gives a subgraph of a function the names of one call."""
        nodes = [self._called(each, prefix, names, given) for each in graph.node]
        del graph.node[:]
        graph.node.extend(nodes)
        for each in (*graph.input, *graph.output, *graph.initializer):
            each.name = names.get(each.name, prefix + _text(each.name))

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
        if isinstance(tensor, self._onnx.SparseTensorProto):
            raise ValueError(f"the weight {tensor.values.name!r} is sparse, which is not supported")
        shape = tuple(tensor.dims)
        what = f"the weight {tensor.name!r}" if tensor.name else "a constant"
        if any(n < 0 for n in shape):
            raise ValueError(f"{what} has the shape {shape}")
        if tensor.data_type not in {*DTYPES, _BFLOAT16}:
            raise ValueError(f"{what} has type {tensor.data_type} of ONNX, which is not supported")
        dtype = np.dtype("uint16" if tensor.data_type == _BFLOAT16 else DTYPES[tensor.data_type]).newbyteorder("<")
        nbytes = prod(shape) * dtype.itemsize
        if tensor.data_location == self._onnx.TensorProto.EXTERNAL:
            array = self._external(tensor, what, nbytes).view(dtype).reshape(shape)
        elif tensor.HasField("raw_data"):
            array = self._raw(tensor, what, shape, nbytes).view(dtype).reshape(shape)
        else:
            array = self._typed(tensor, what, shape)
        if tensor.data_type == _BFLOAT16:  # the upper halves of floats
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return array.astype(np.float32) if array.dtype == np.float16 else array

    def _raw(self, tensor: Any, what: str, shape: Sequence[int], nbytes: int) -> Array:
        """The bytes of a weight: in the mapped file, or in the message."""
        given = tensor.raw_data
        data = self._weights.found(given) if self._weights else None
        if data is None:
            data = np.frombuffer(given, np.uint8) if given else np.zeros(0, np.uint8)
        if data.size != nbytes:
            raise ValueError(f"{what} has {data.size} bytes, expected {nbytes} for the shape {tuple(shape)}")
        return data

    def _typed(self, tensor: Any, what: str, shape: Sequence[int]) -> Array:
        """The numbers in the field of their type."""
        fields = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")
        count = max(len(getattr(tensor, field)) for field in fields)
        if count != prod(shape):
            raise ValueError(f"{what} has {count} numbers, expected {prod(shape)} for the shape {tuple(shape)}")
        try:
            array: Array = self._onnx.numpy_helper.to_array(tensor)
        except MemoryError:
            raise
        except Exception as error:
            raise ValueError(f"{what} cannot be read: {error}") from None
        return array.view(np.uint16) if array.dtype.name == "bfloat16" else array

    def _external(self, tensor: Any, what: str, nbytes: int) -> Array:
        """Bytes of another file, mapped."""
        given = {each.key: each.value for each in tensor.external_data}
        if not self._folders:
            raise ValueError(f"{what} is in another file, {given.get('location')!r}: load the model by its path")
        location = given.get("location", "")
        try:
            path = self._place(location)
            offset, length = int(given.get("offset", 0)), int(given.get("length", nbytes))
            within = bool(location) and not os.path.isabs(location) and not set(self._folders).isdisjoint(path.parents)
            size = path.stat().st_size if within else 0
            if within and not path.is_file():
                raise ValueError("it is not a file")
        except (OSError, ValueError, RuntimeError) as error:  # the last is a circle of links
            raise ValueError(f"{what} is in the file {location!r}, which cannot be read: {error}") from None
        if not within:
            raise ValueError(f"{what} is in the file {location!r}, which is not within the folder of the model")
        if length != nbytes or offset < 0 or offset + nbytes > size:
            raise ValueError(
                f"{what} has {length} bytes from {offset} on in {location!r} of {size} bytes, expected {nbytes}"
            )
        if nbytes == 0:
            return np.zeros(0, np.uint8)
        if path not in self._files:
            try:
                self._files[path] = np.memmap(path, np.uint8, "r")
            except OSError as error:
                raise ValueError(f"{what} is in the file {location!r}, which cannot be read: {error}") from None
        if offset + nbytes > self._files[path].size:
            raise ValueError(f"{what} is in the file {location!r}, which became shorter")
        return self._files[path][offset : offset + nbytes]

    def _place(self, location: str) -> Path:
        """The file of a location, beside the path of the model, or else beside the file to which that leads."""
        places = [folder / location for folder in self._folders]
        return next((place for place in places if place.exists()), places[0]).resolve()


def _text(value: Any) -> str:
    """A text; protobuf gives bytes where they are not UTF-8."""
    if not isinstance(value, str):
        raise ValueError(f"the name {value!r} is not UTF-8")
    return value


def _overload(message: Any) -> str:
    """The overload of a function or of a node that calls one; older versions of the package have none."""
    return str(getattr(message, "overload", ""))


def _value(value: Any) -> Value:
    """The name, type and dimensions of an input or an output."""
    kind = value.type.WhichOneof("value")
    if kind not in (None, "tensor_type"):
        return Value(_text(value.name), kind, None)
    tensor = value.type.tensor_type
    dtype = "bfloat16" if tensor.elem_type == 16 else DTYPES.get(tensor.elem_type, f"type {tensor.elem_type} of ONNX")
    if not tensor.HasField("shape"):
        return Value(_text(value.name), dtype, None)
    return Value(_text(value.name), dtype, tuple(map(_dimension, tensor.shape.dim)))


def _dimension(dim: Any) -> Dimension:
    """A number, a name, or None for an open dimension, which some exporters write as -1, or as "?" for all of them."""
    if dim.HasField("dim_value"):
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    name = _text(dim.dim_param)
    return None if name in ("", "?", "-1", "None") else name
