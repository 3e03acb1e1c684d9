"""Reads ONNX files.

What the file says is checked as far as the rest relies on it: sizes of weights and places of external data here, names and
order in ``source``. Operators are checked where they are converted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import count
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pysimd.annotations import Array
from pysimd.errors import printable
from pysimd.network.convert.float8 import FLOAT4, SMALL_FLOATS, numbers_of
from pysimd.network.convert.fold_node import DTYPES, OF_BITS
from pysimd.network.graph import name_of
from pysimd.network.mapped import refuse_devices
from pysimd.network.onnx_messages import (
    Attribute,
    Dim,
    File,
    Function,
    Graph,
    Node,
    SparseTensor,
    Tensor,
    TensorType,
    ValueInfo,
)  # fmt: skip
from pysimd.network.onnx_wire import Malformed, Wire, integers
from pysimd.network.planning import uncollected
from pysimd.network.records import replace
from pysimd.network.source import Dimension, Source, SourceNode, Value, in_order

if TYPE_CHECKING:
    from pathlib import Path

_OLDEST_OPSET, _NEWEST_OPSET = 7, 28
#: The versions in which an operator got another meaning for the same attributes and inputs.
_CHANGES = (9, 10, 11, 13, 16, 20, 21)
_NEWEST_IR = 14  # the version of the format
_DEPTH = 24  # of subgraphs within subgraphs, and of functions within functions
_MOST_INLINED = 1 << 23  # bytes of nodes, each with 512 more, that calls of functions become: it can grow exponentially
_MOST_NODES = 1 << 15  # and weights: each takes 20 us and 700 bytes, from as few as 2 bytes of the file
_MOST_VALUES = 1 << 17  # inputs and outputs of graphs, and attributes
_MOST_NAMES = 1 << 18  # inputs and outputs of nodes
_FLOAT16, _BFLOAT16 = 10, 16
_OVERRIDABLE = 4  # the version of the format since which an input that is a weight too can be given in its place
_ONNX_DOMAINS = ("", "ai.onnx")
_EXTERNAL = 1  # the place of data
_OTHERS = frozenset((*OF_BITS, *SMALL_FLOATS))  # types of elements that have others here: bytes and float32
_TYPES_OF_VALUES = {
    **DTYPES, 16: "bfloat16", **dict.fromkeys(SMALL_FLOATS, "float32"),
    **{number: name for number, (name, _) in OF_BITS.items()},
}  # fmt: skip
#: Operators whose first input has the type of the result.
_MOVES = {
    "Concat", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose",
    "Unsqueeze",
}  # fmt: skip

#: Operators whose attributes can say the type of the result.
_CHOOSE_TYPES = {"Cast", "Constant", "QuantizeLinear"}

_INT, _TENSOR, _GRAPH = 2, 4, 5  # types of attributes
_ATTRIBUTES: Mapping[int, Callable[[Attribute], Any]] = {
    1: lambda a: a.f,
    2: lambda a: a.i,
    3: lambda a: bytes(a.s).decode("utf-8", "replace"),
    6: lambda a: list(a.floats),
    7: lambda a: list(a.ints),
    8: lambda a: [text.decode("utf-8", "replace") for text in a.strings],
    13: lambda a: None,  # the type of an Optional, which nothing needs
}

#: Where a tensor has its numbers if not in raw_data; those of the other types are in int32_data.
_FIELDS_OF_TYPES = {
    "float32": "float_data", "float64": "double_data", "int64": "int64_data", "uint32": "uint64_data",
    "uint64": "uint64_data",
}  # fmt: skip


def read(model: Any) -> Source:
    """The source of an ONNX model: a path, the bytes of a file, or an ``onnx.ModelProto``.

    Weights are mapped, and read when they are used: the file, and those that belong to it, must not be changed as long as
    the model is used. Raises ValueError with the reason for anything else; OSError if the file cannot be read.
    """
    data, folders = bytes_of(model)
    name = os.fsdecode(model) if folders else "the bytes"
    try:
        with uncollected():
            source = _Reader(folders).source(Wire(data).message(File))
    except Malformed as error:
        raise ValueError(f"{name} is not an ONNX model, or is truncated: {error}") from None
    return replace(source, file=name if folders else "")


def bytes_of(model: Any) -> tuple[Array, tuple[str, ...]]:
    """The bytes of what :func:`read` takes, and the folders in which its external data may be."""
    if not isinstance(model, (str, os.PathLike)):
        return np.frombuffer(_bytes(model) or b"\0", np.uint8), ()
    name = os.fsdecode(model)
    return _mapped(name), (os.path.realpath(os.path.dirname(name)), os.path.dirname(os.path.realpath(name)))


def array_of(tensor: Tensor, folders: Sequence[str]) -> Array:
    """A tensor of a file as an array; float16 and bfloat16 as float32. Raises ValueError."""
    return _Reader(folders)._tensor(tensor)


def _bytes(model: Any) -> bytes:
    """The bytes of a file that are given, or to which a message of protobuf is serialized."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model)
    if not hasattr(model, "SerializeToString"):
        raise TypeError(f"model is a {type(model).__name__}, expected a path, bytes, or an onnx.ModelProto")
    try:
        return bytes(model.SerializeToString())
    except MemoryError:
        raise
    except Exception as error:  # of protobuf, whose class depends on its version
        reason = "one of 2 GB or more must be saved with its weights in other files, and loaded by its path"
        raise ValueError(f"the ModelProto cannot be serialized ({error}): {reason}") from None


def _mapped(path: str) -> Array:
    """The bytes of a file. Raises ValueError for what has none, OSError if it cannot be read."""
    refuse_devices(path)
    with open(path, "rb"):  # which has the better messages
        pass
    if not os.stat(path).st_size:
        raise ValueError(f"{path} is not an ONNX model: it is empty or not a file")
    return _map(path)


def _map(path: Any) -> Array:
    """The bytes of a file in a plain array: each view of a memmap takes three times as long."""
    return np.memmap(path, np.uint8, "r").view(np.ndarray)


class _Reader:
    """Reads a model. Names and order come first, numbers second: only of what the outputs need.

    folders : those in which its external data may be: that of the path and that of the file to which the path leads, as in
        caches whose names are links to files elsewhere.
    """

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = folders
        self._functions: dict[tuple[str, str, str], Function] = {}
        self._files: dict[Path, Array] = {}  # mapped once, as each map holds a descriptor
        self._of_bits: dict[str, int] = {}  # the types of tensors of a few bits, and of small floats
        self._opset, self._inlined_bytes, self._calls = 0, 0, count()
        self._nodes, self._values, self._names = 0, 0, 0

    def source(self, model: File) -> Source:
        """The source of a whole model."""
        if not model.ir_version or model.graph is None:
            raise ValueError("the data are not an ONNX model: there is no graph")
        if model.ir_version > _NEWEST_IR:
            raise ValueError(
                f"the model has version {model.ir_version} of the format, supported are those up to {_NEWEST_IR}"
            )
        self._opset = _version(model)
        self._functions = {(each.domain, each.name, each.overload): each for each in model.functions}
        source = in_order(self._graph(model.graph, 0))
        overridable = source.overridable if model.ir_version >= _OVERRIDABLE else ()
        return self._with_numbers(replace(source, overridable=overridable))

    def _graph(self, graph: Graph, depth: int) -> Source:
        """A graph whose weights and attributes are still messages."""
        if depth > _DEPTH:
            raise ValueError(f"graphs are nested more than {_DEPTH} deep")
        self._count(graph)
        weights: dict[str, Any] = {tensor.name: tensor for tensor in graph.initializer}  # of equal names, the last counts
        weights.update((tensor.values.name, tensor) for tensor in graph.sparse_initializer)
        if "" in weights:
            raise ValueError("a weight has no name")
        values = [_value(value) for value in graph.input]
        inputs, given = ([value for value in values if (value.name in weights) is known] for known in (False, True))
        outputs = [_value(value) for value in graph.output]
        if not all(value.name for value in (*inputs, *outputs)):
            raise ValueError("an input or an output of the graph has no name")
        messages = self._expanded(graph.node, 0)
        self._find_bits(graph, messages)
        if depth == 0:
            messages = _without_constants(messages, weights)
        nodes = [self._node(node, depth) for node in messages]
        return Source(graph.name, self._opset, inputs, outputs, nodes, weights, given)

    def _with_numbers(self, source: Source) -> Source:
        """A graph with its weights and attributes."""
        messages: Mapping[str, Any] = source.weights
        arrays = {id(tensor): self._tensor(tensor) for tensor in messages.values()}  # of equal constants one
        weights = {name: arrays[id(tensor)] for name, tensor in messages.items()}
        for node in source.nodes:
            if node.attributes:
                self._read_attributes(node)
        return replace(source, weights=weights)

    def _count(self, graph: Graph) -> None:
        """Refuses a model that would take much more time and memory than its file suggests."""
        self._nodes += len(graph.node) + len(graph.initializer) + len(graph.sparse_initializer)
        self._values += len(graph.input) + len(graph.output)
        if self._nodes > _MOST_NODES:
            raise ValueError(f"the model has more than {_MOST_NODES} nodes and weights")
        for node in graph.node:
            self._values += len(node.attribute)
            self._names += len(node.input) + len(node.output)
        if self._values > _MOST_VALUES:
            raise ValueError(f"the model has more than {_MOST_VALUES} inputs, outputs and attributes")
        if self._names > _MOST_NAMES:
            raise ValueError(f"the nodes of the model have more than {_MOST_NAMES} inputs and outputs")

    def _find_bits(self, graph: Graph, nodes: Iterable[Node]) -> None:
        """The tensors of a few bits for each element, for which the source has bytes, and of small floats: float32."""
        found = self._of_bits
        found.update((tensor.name, tensor.data_type) for tensor in graph.initializer if tensor.data_type in _OTHERS)
        for value in graph.input:
            tensor = value.type.tensor_type
            if tensor is not None and tensor.elem_type in _OTHERS:
                found[value.name] = tensor.elem_type
        for node in nodes:
            if not found and node.op_type not in _CHOOSE_TYPES:  # as nearly all
                continue
            number = found.get(node.input[0], 0) if node.op_type in _MOVES and node.input else 0
            if node.op_type == "Constant":
                number = next((a.t.data_type for a in node.attribute if a.name == "value" and a.t), 0)
            if node.op_type in ("Cast", "QuantizeLinear"):
                number = next((a.i for a in node.attribute if a.name in ("to", "output_dtype")), 0)
            if node.op_type in ("CastLike", "QuantizeLinear") and node.input:
                number = found.get(node.input[-1], number)
            if number in _OTHERS:
                found.update(dict.fromkeys(node.output, number))

    def _node(self, node: Node, depth: int) -> SourceNode:
        attributes: dict[str, Any] = {a.name: a for a in node.attribute}
        op, inputs = node.op_type, tuple(node.input)
        if self._of_bits and op in ("QuantizeLinear", "CastLike") and inputs[-1] in self._of_bits:
            op, inputs, name = ("Cast", inputs[:1], "to") if op == "CastLike" else (op, inputs, "output_dtype")
            attributes[name] = chosen = Attribute()  # the type of the result, which is that of the last input
            chosen.name, chosen.type, chosen.i = name, _INT, self._of_bits[node.input[-1]]
        if op == "DequantizeLinear" and inputs and self._of_bits.get(inputs[0]) in SMALL_FLOATS:
            attributes["of_floats"] = chosen = Attribute()
            chosen.name, chosen.type, chosen.i = "of_floats", _INT, 1
        if op == "GatherBlockQuantized" and inputs[:1] and self._of_bits.get(inputs[0]) in OF_BITS:
            attributes["unpacked"] = chosen = Attribute()  # its bytes have one number, not several
            chosen.name, chosen.type, chosen.i = "unpacked", _INT, 1
        for name, a in attributes.items():
            if a.type == _GRAPH:
                attributes[name] = self._graph(a.g or Graph(), depth + 1)
        return SourceNode(op, inputs, tuple(node.output), attributes, node.name, node.domain)

    def _read_attributes(self, node: SourceNode) -> None:
        """Puts the attributes of a node in place of their messages."""
        attributes: Any = node.attributes
        try:
            for name, a in attributes.items():
                attributes[name] = self._attribute(a)
        except ValueError as error:
            raise ValueError(f"the node {node.name!r} ({printable(node.op)}): {error}") from None

    def _attribute(self, a: Source | Attribute) -> Any:
        if isinstance(a, Source):
            return self._with_numbers(a)
        if a.type == _TENSOR:
            return self._tensor(a.t)
        if a.type not in _ATTRIBUTES:
            raise ValueError(f"the attribute {a.name!r} has type {a.type}, which is not supported")
        return _ATTRIBUTES[a.type](a)

    # ---- functions of the model itself

    def _expanded(self, nodes: Iterable[Node], depth: int) -> list[Node]:
        """Nodes, with the nodes of its function in place of each that names one."""
        if not self._functions:
            return list(nodes)
        found: list[Node] = []
        for node in nodes:
            function = self._functions.get((node.domain, node.op_type, node.overload))
            if function is None:
                found.append(node)
            elif depth >= _DEPTH:
                raise ValueError(f"functions are nested more than {_DEPTH} deep")
            else:
                found.extend(self._expanded(self._inlined(function, node), depth + 1))
        return found

    def _inlined(self, function: Function, node: Node) -> list[Node]:
        """The nodes of a function, with the names and attributes of one call."""
        what = f"the function {function.name!r}"
        if len(node.input) > len(function.input) or len(node.output) > len(function.output):
            raise ValueError(f"{what} has fewer inputs or outputs than the node {node.name!r} that calls it")
        versions = [each.version for each in function.opset_import if each.domain in _ONNX_DOMAINS]
        ends = min([*versions, self._opset]), max([*versions, self._opset])
        if any(ends[0] < change <= ends[1] for change in _CHANGES):
            raise ValueError(f"{what} has operators of another version than the model, which is not supported")
        if not set(function.input).isdisjoint(function.output):
            raise ValueError(f"{what} returns one of its inputs, which is not supported")
        self._inlined_bytes += sum(each.size + 512 for each in function.node)
        if self._inlined_bytes > _MOST_INLINED:
            raise ValueError(f"function calls expand to more than {_MOST_INLINED} bytes of nodes")
        prefix = f"{node.name or node.op_type}.{next(self._calls)}/"
        names = dict(zip(function.input, node.input)) | dict.fromkeys(function.input[len(node.input) :], "")
        names.update((inner, outer) for inner, outer in zip(function.output, node.output) if outer)
        given = {a.name: a for a in function.attribute_proto} | {a.name: a for a in node.attribute}
        return [_called(each, prefix, names, given) for each in function.node]

    # ---- weights

    def _tensor(self, tensor: Tensor | SparseTensor) -> Array:
        """A tensor as an array."""
        if isinstance(tensor, SparseTensor):
            raise ValueError(f"the weight {tensor.values.name!r} is sparse, which is not supported")
        shape = tuple(tensor.dims)
        if shape and min(shape) < 0:
            raise ValueError(f"{_what(tensor)} has the shape {shape}")
        if tensor.data_type in OF_BITS:
            return self._unpacked(tensor, shape)
        if tensor.data_type == FLOAT4:
            return numbers_of(FLOAT4)[self._unpacked(tensor, shape)]
        if tensor.data_type in SMALL_FLOATS:
            return numbers_of(tensor.data_type)[self._stored(tensor, shape, np.dtype(np.uint8))]
        if tensor.data_type not in DTYPES and tensor.data_type != _BFLOAT16:
            raise ValueError(f"{_what(tensor)} has type {tensor.data_type} of ONNX, which is not supported")
        array = self._stored(tensor, shape, _dtype_of(tensor.data_type))
        if tensor.data_type == _BFLOAT16:  # the upper halves of floats
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return array.astype(np.float32) if tensor.data_type == _FLOAT16 else array

    def _stored(self, tensor: Tensor, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """The numbers as they are in the file."""
        if tensor.data_location == _EXTERNAL:
            return self._external(tensor, prod(shape) * dtype.itemsize).view(dtype).reshape(shape)
        if tensor.raw_data is not None:
            return _raw(tensor, tensor.raw_data, shape, dtype)
        return _typed(tensor, shape, dtype)

    def _unpacked(self, tensor: Tensor, shape: Sequence[int]) -> Array:
        """Numbers of a few bits, several of them in a byte, the first in the lowest bits, as bytes."""
        name, bits = OF_BITS.get(tensor.data_type, ("uint8", 4))
        packed = self._stored(tensor, (-(-prod(shape) * bits // 8),), np.dtype(np.uint8))
        every = packed[:, None] >> np.arange(0, 8, bits, dtype=np.uint8) & np.uint8((1 << bits) - 1)
        found = every.reshape(-1)[: prod(shape)].reshape(shape)
        sign = np.uint8(1 << (bits - 1) if name == "int8" else 0)
        return ((found ^ sign) - sign).view(name)

    def _external(self, tensor: Tensor, nbytes: int) -> Array:
        """Bytes of another file, mapped."""
        given = {each.key: each.value for each in tensor.external_data}
        if not self._folders:
            raise ValueError(f"{_what(tensor)} is in another file, {given.get('location')!r}: load the model by its path")
        location = given.get("location", "")
        try:
            path = self._place(location)
            offset, length = int(given.get("offset", 0)), int(given.get("length", nbytes))
            apart = set(self._folders).isdisjoint(map(str, path.parents))
            within = bool(location) and not os.path.isabs(location) and not apart
            size = path.stat().st_size if within else 0
            if within and not path.is_file():
                raise ValueError("it is not a file")
        except (OSError, ValueError, RuntimeError) as error:  # the last is a circle of links
            raise ValueError(f"{_what(tensor)} is in the file {location!r}, which cannot be read: {error}") from None
        if not within:
            raise ValueError(f"{_what(tensor)} is in the file {location!r}, which is not within the folder of the model")
        if length != nbytes or offset < 0 or offset + nbytes > size:
            raise ValueError(
                f"{_what(tensor)} has {length} bytes from {offset} on in {location!r} of {size} bytes, expected {nbytes}"
            )
        if nbytes == 0:
            return np.zeros(0, np.uint8)
        if path not in self._files:
            try:
                self._files[path] = _map(path)
            except OSError as error:
                raise ValueError(f"{_what(tensor)} is in the file {location!r}, which cannot be read: {error}") from None
        if offset + nbytes > self._files[path].size:
            raise ValueError(f"{_what(tensor)} is in the file {location!r}, which became shorter")
        return self._files[path][offset : offset + nbytes]

    def _place(self, location: str) -> Path:
        """The file of a location, beside the path of the model, or else beside the file to which that leads."""
        from pathlib import Path  # here, as few models have such files

        places = [Path(folder, location) for folder in self._folders]
        return next((place for place in places if place.exists()), places[0]).resolve()


def _without_constants(nodes: Iterable[Node], weights: dict[str, Any]) -> list[Node]:
    """The nodes without those that are an array of the file, as half of the nodes of some files; these become weights."""
    found = []
    for node in nodes:
        if node.op_type == "Constant" and _is_array(node) and node.output[0] and node.output[0] not in weights:
            weights[node.output[0]] = node.attribute[0].t
        else:
            found.append(node)
    return found


def _is_array(node: Node) -> bool:
    """Whether a Constant has a tensor and nothing else."""
    is_whole = len(node.attribute) == len(node.output) == 1 and not node.input and node.domain in _ONNX_DOMAINS
    return is_whole and node.attribute[0].type == _TENSOR and node.attribute[0].name == "value"


def _version(model: File) -> int:
    versions = [each.version for each in model.opset_import if each.domain in _ONNX_DOMAINS]
    if not versions:
        graph = model.graph
        if not model.opset_import or graph is None or any(node.domain in _ONNX_DOMAINS for node in graph.node):
            raise ValueError("the model declares no operator version (opset_import)")
        return _NEWEST_OPSET  # all operators are of other domains
    if not _OLDEST_OPSET <= versions[0] <= _NEWEST_OPSET:
        supported = f"{_OLDEST_OPSET} to {_NEWEST_OPSET}"
        raise ValueError(f"the model has operators of version {versions[0]}, supported are {supported}")
    return versions[0]


# ---- calls of functions


def _called(node: Node, prefix: str, names: Mapping[str, str], given: Mapping[str, Attribute]) -> Node:
    """A node of a function; tensors without a name of the call get its prefix, in subgraphs too."""
    called = node.copied()
    called.name = prefix + node.name
    called.input, called.output = ([_renamed(name, prefix, names) for name in each] for each in (node.input, node.output))
    bound = [(_bound(a, given), bool(a.ref_attr_name)) for a in node.attribute]
    called.attribute = [
        a if a.g is None or of_call else _with_graph(a, prefix, names, given) for a, of_call in bound if a is not None
    ]  # a graph that the call has given has names of the caller
    return called


def _renamed(name: str, prefix: str, names: Mapping[str, str]) -> str:
    return names.get(name, prefix + name) if name else ""


def _bound(a: Attribute, given: Mapping[str, Attribute]) -> Attribute | None:
    """An attribute; where it refers to one of the function, that of the call, None if it has none."""
    if not a.ref_attr_name:
        return a
    if a.ref_attr_name not in given:
        return None
    found = given[a.ref_attr_name].copied()
    found.name = a.name
    return found


def _with_graph(a: Attribute, prefix: str, names: Mapping[str, str], given: Mapping[str, Attribute]) -> Attribute:
    """An attribute whose graph, a part of a function, has the names of one call."""
    changed, graph = a.copied(), (a.g or Graph()).copied()
    graph.node = [_called(each, prefix, names, given) for each in graph.node]
    for field in ("input", "output", "initializer"):
        messages = [each.copied() for each in getattr(graph, field)]
        for each in messages:
            each.name = names.get(each.name, prefix + each.name)
        setattr(graph, field, messages)
    changed.g = graph
    return changed


# ---- the numbers of weights and attributes


@cache
def _what(tensor: Tensor) -> str:
    """A tensor in a message."""
    return f"the weight {tensor.name!r}" if tensor.name else "a constant"


@cache
def _dtype_of(kind: int) -> np.dtype[Any]:
    """The type of the elements in the file; integers stand for bfloat16."""
    return np.dtype("uint16" if kind == _BFLOAT16 else DTYPES[kind]).newbyteorder("<")


def _raw(tensor: Tensor, data: Array, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """The numbers as the bytes of an array."""
    nbytes = prod(shape) * dtype.itemsize
    if data.size != nbytes:
        raise ValueError(f"{_what(tensor)} has {data.size} bytes, expected {nbytes} for the shape {tuple(shape)}")
    return np.ndarray(shape, dtype, data)


def _typed(tensor: Tensor, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """The numbers in the field of their type; it has float16 and bfloat16 as the integers that have their bits."""
    kind = name_of(dtype)
    field = _FIELDS_OF_TYPES.get(kind, "int32_data")
    data = getattr(tensor, field)
    given = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8) if isinstance(data, bytearray) else data
    try:
        if kind in ("float32", "float64"):
            array: Array = given.view(dtype)
        else:
            array = integers(given, np.dtype(np.uint16) if dtype == np.float16 else dtype)
    except (Malformed, ValueError) as error:
        raise ValueError(f"{_what(tensor)} cannot be read: {error}") from None
    if array.size != prod(shape):
        raise ValueError(f"{_what(tensor)} has {array.size} numbers, expected {prod(shape)} for the shape {tuple(shape)}")
    return array.view(dtype).reshape(shape)


# ---- inputs and outputs


def _value(value: ValueInfo) -> Value:
    """The name, type and dimensions of an input or an output."""
    others = [name for name, *_ in value.type.FIELDS.values() if name in vars(value.type)]
    if value.type.tensor_type is None and others:
        return Value(value.name, others[0], None)
    tensor = value.type.tensor_type or TensorType()
    dtype = _TYPES_OF_VALUES.get(tensor.elem_type, f"type {tensor.elem_type} of ONNX")
    dims = None if tensor.shape is None else tuple(map(_dimension, tensor.shape.dim))
    return Value(value.name, dtype, dims)


def _dimension(dim: Dim) -> Dimension:
    """A number, a name, or None for an open dimension, which some exporters write as -1, or as "?" for all of them."""
    if dim.dim_value is not None:
        return dim.dim_value if dim.dim_value >= 0 else None
    return None if dim.dim_param in ("", "?", "-1", "None") else dim.dim_param
