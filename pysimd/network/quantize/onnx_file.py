"""An ONNX file that is changed: its nodes and weights, and around them the fields that stay as they are."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, Union

import numpy as np

from pysimd.annotations import Array
from pysimd.network import onnx_reader
from pysimd.network.convert.fold_node import DTYPES
from pysimd.network.files import MAGIC
from pysimd.network.onnx_messages import BYTES, Attribute, Message, Opset, Tensor, ValueInfo
from pysimd.network.onnx_messages import Node as NodeMessage
from pysimd.network.onnx_wire import Malformed, Wire
from pysimd.network.quantize.fields import Data, Field, encoded, message, number, parsed, real, text

_IR, _GRAPH, _OPSET = 1, 7, 8  # fields of a file
_NODE, _INITIALIZER, _INPUT, _OUTPUT, _VALUE_INFO = 1, 5, 11, 12, 13  # of a graph
_OLDEST_IR = 8  # of opset 15, which every program of the last years reads
_MOST_BYTES = (1 << 31) - 1
_TYPES = {name: number for number, name in DTYPES.items()}
_FLOAT, _STRINGS, _EXTERNAL = 1, 8, 1
ONNX, MICROSOFT = ("", "ai.onnx"), "com.microsoft"

AttributeValue = Union[int, float, str, Sequence[int], Array]


def _read(kind: type[Any], data: Data) -> Any:
    found: Message = Wire(np.frombuffer(data, np.uint8)).message(kind) if len(data) else kind()
    return found


class Node:
    """A node, with its attributes and everything else as fields.

    shown : its name, or that of its first output.
    """

    def __init__(self, op: str, inputs: Iterable[str], outputs: Iterable[str], name: str = "", domain: str = "") -> None:
        self.op, self.domain, self.name = op, domain, name
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.attributes: dict[str, Field] = {}
        self.captured: set[str] = set()  # what its subgraphs read
        self._rest: list[Field] = []

    @property
    def shown(self) -> str:
        return self.name or next(filter(None, self.outputs), "")

    def copy(self) -> Node:
        """Another node, to be changed."""
        made = Node(self.op, self.inputs, self.outputs, self.name, self.domain)
        made.attributes, made.captured, made._rest = dict(self.attributes), self.captured, self._rest
        return made

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute that is an integer, a float, a text, a list of one of these, or a Tensor message."""
        if name not in self.attributes:
            return default
        a: Attribute = _read(Attribute, self.attributes[name].value)
        values = {1: a.f, 2: a.i, 3: bytes(a.s).decode("utf-8", "replace"), 4: a.t, 6: list(a.floats), 7: list(a.ints)}
        return values.get(a.type, default)

    def set(self, name: str, value: AttributeValue) -> Node:
        """Sets an attribute."""
        self.attributes[name] = _attribute(name, value)
        return self

    def field(self) -> Field:
        """The node as a field of a graph."""
        names = [text(1, name) for name in self.inputs] + [text(2, name) for name in self.outputs]
        own = [text(of, value) for of, value in ((3, self.name), (4, self.op), (7, self.domain)) if value]
        return message(_NODE, [*names, *own, *self.attributes.values(), *self._rest])


def _node(data: Data) -> Node:
    given: NodeMessage = _read(NodeMessage, data)
    node = Node(given.op_type, given.input, given.output, given.name, "" if given.domain in ONNX else given.domain)
    fields = parsed(data)
    node.attributes = dict(zip((a.name for a in given.attribute), (field for field in fields if field.number == 5)))
    node._rest = [field for field in fields if field.number not in (1, 2, 3, 4, 5, 7)]
    node.captured = {name for a in given.attribute if a.g is not None for name in _names(a.g.node, a.g.output)}
    return node


def _names(nodes: Iterable[NodeMessage], outputs: Iterable[ValueInfo]) -> set[str]:
    """All that a subgraph reads, from outside and from itself."""
    found = {name for node in nodes for name in node.input} | {value.name for value in outputs}
    for node in nodes:
        for a in node.attribute:
            if a.g is not None:
                found |= _names(a.g.node, a.g.output)
    return found


def _attribute(name: str, value: AttributeValue) -> Field:
    if isinstance(value, str):
        own = [text(4, value), number(20, 3)]
    elif isinstance(value, np.ndarray):
        own = [text(5, tensor("", value)), number(20, 4)]
    elif isinstance(value, int):
        own = [number(3, value), number(20, 2)]
    elif isinstance(value, float):
        own = [real(2, value), number(20, 1)]
    else:
        own = [*(number(8, n) for n in value), number(20, 7)]
    return message(5, [text(1, name), *own])


def tensor(name: str, array: Array) -> bytes:
    """An array as a message."""
    data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    dims = [number(1, n) for n in array.shape]
    return encoded([*dims, number(2, _TYPES[array.dtype.name]), text(8, name), text(9, data)])


class File:
    """A model, whose nodes and weights can be changed.

    opset : the version of the operators of ONNX. nodes, inputs, outputs : of the graph.
    """

    def __init__(self, model: Any) -> None:
        data, self._folders = onnx_reader.bytes_of(model)
        if bytes(data.data[: len(MAGIC)]) == MAGIC:
            raise ValueError(
                f"{os.fsdecode(model) if self._folders else 'the model'} is a .simdnet file, expected an ONNX model"
            )
        try:
            self._head = parsed(data.data)
            graph = [field for field in self._head if field.number == _GRAPH]
            fields = [each for field in graph for each in parsed(field.value)]
            self.nodes = [_node(field.value) for field in fields if field.number == _NODE]
        except Malformed as error:
            what = os.fsdecode(model) if self._folders else "the bytes"
            raise ValueError(f"{what} is not an ONNX model, or is truncated: {error}") from None
        self._rest = [f for f in fields if f.number not in (_NODE, _INITIALIZER, _INPUT, _OUTPUT)]
        self._values = {of: _named(fields, of) for of in (_INPUT, _OUTPUT)}
        self._weights: dict[str, Any] = {}  # messages, and arrays of those that are new
        for field in fields:
            if field.number == _INITIALIZER:
                self._weights[_name_of_tensor(field.value)] = field.value
        self.outputs = list(self._values[_OUTPUT])
        self._known: dict[str, Array | None] = {}
        same = [node for node in self.nodes if node.op in ("Constant", "Identity", "Reshape") and not node.domain]
        self._constants = {node.outputs[0]: node for node in same if node.outputs}
        self._fresh: Counter[str] = Counter()
        self._versions = [_read(Opset, field.value) for field in self._head if field.number == _OPSET]
        self.opset = next((each.version for each in self._versions if each.domain in ONNX), 0)

    def copy(self) -> File:
        """Another file, to be changed. Nodes are shared: one that changes is replaced by its copy."""
        made: File = object.__new__(File)
        vars(made).update(vars(self))
        made.nodes, made.outputs = list(self.nodes), list(self.outputs)
        made._weights, made._known, made._fresh = dict(self._weights), dict(self._known), Counter(self._fresh)
        return made

    def part(self, inputs: Iterable[str], floats: Iterable[str]) -> File:
        """What computes others from some inputs, and from floats that become inputs. It has no outputs yet."""
        made, given = self.copy(), dict.fromkeys(floats)
        made.nodes = [node for node in self.nodes if given.keys().isdisjoint(node.outputs)]
        own = {name: self._values[_INPUT][name] for name in inputs}
        own.update((name, _floats(_INPUT, name)) for name in given)
        made._values = {**self._values, _INPUT: own}
        made.outputs = []
        return made

    @property
    def inputs(self) -> list[str]:
        """Those that are no weights."""
        return [name for name in self._values[_INPUT] if name not in self._weights]

    def rank(self, name: str) -> int | None:
        """The number of dimensions of a tensor, where the file has it."""
        values = {**_named(self._rest, _VALUE_INFO), **self._values[_INPUT], **self._values[_OUTPUT]}
        found = _read(ValueInfo, values[name].value).type.tensor_type if name in values else None
        return None if found is None or found.shape is None else len(found.shape.dim)

    # ---- weights

    def constant(self, name: str) -> Array | None:
        """A tensor that is known: a weight, or what a Constant has; None for others, and for other types than float32."""
        if name not in self._known:
            self._known[name] = None  # if it depends on itself
            self._known[name] = self._constant(name)
        return self._known[name]

    def _constant(self, name: str) -> Array | None:
        if name in self._weights:
            found = self._weights[name]
            return found if isinstance(found, np.ndarray) else self._array(_read(Tensor, found))
        node = self._constants.get(name)
        if node is None:
            return None
        if node.op == "Identity":
            return self.constant(node.inputs[0])
        if node.op == "Reshape":
            return self._reshaped(node)
        value = node.get("value")
        if isinstance(value, Tensor):
            return self._array(value)
        kinds = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
        return next((np.array(node.get(key), kind) for key, kind in kinds.items() if key in node.attributes), None)

    def _reshaped(self, node: Node) -> Array | None:
        """A known tensor in a known shape, in which 0 stands for the size that it has."""
        found, shape = (self.constant(name) for name in node.inputs)
        if found is None or shape is None or node.get("allowzero", 0):
            return None
        sizes = shape.reshape(-1).tolist()
        sizes = [found.shape[i] if n == 0 and i < found.ndim else n for i, n in enumerate(sizes)]
        fits = sizes.count(-1) <= 1 and min(sizes, default=1) >= -1
        known = prod(n for n in sizes if n != -1)
        if not fits or (found.size % max(known, 1) if -1 in sizes else known != found.size):
            return None
        return found.reshape(sizes)

    def _array(self, found: Tensor) -> Array | None:
        if found.data_type not in DTYPES or DTYPES[found.data_type] == "float16":
            return None
        return np.asarray(onnx_reader.array_of(found, self._folders))

    def floats(self, name: str) -> Array | None:
        """The same, if it is float32."""
        found = self.constant(name) if name else None
        return found if found is not None and found.dtype == np.float32 else None

    def add(self, name: str, array: Array) -> str:
        """A new weight; its name, which no other tensor has."""
        name = self.new_name(name)
        self._weights[name] = array
        return name

    def new_name(self, name: str) -> str:
        """A name that no tensor has."""
        if not self._fresh:
            self._fresh.update({*self._weights, *self._values[_INPUT], *(n for node in self.nodes for n in node.outputs)})
        found, i = name, 1
        while self._fresh[found]:
            found, i = f"{name}_{i}", i + 1
        self._fresh[found] += 1
        return found

    # ---- nodes

    def uses(self) -> Counter[str]:
        """How often each tensor is read; outputs of the graph are."""
        found = Counter(name for node in self.nodes for name in (*node.inputs, *node.captured) if name)
        found.update(self.outputs)
        return found

    def require(self, domain: str, version: int) -> None:
        """The file has operators of at least this version."""
        domains = ONNX if domain in ONNX else (domain,)
        others = [each for each in self._versions if each.domain not in domains]
        known = max((each.version for each in self._versions if each.domain in domains), default=0)
        made = Opset()
        made.domain, made.version = domain, max(known, version)
        self._versions = [*others, made]
        if domain in ONNX:
            self.opset = made.version

    def encoded(self, inner: Sequence[str] = ()) -> bytes:
        """The bytes of the file. inner : floats that become outputs too."""
        nodes, wanted = self._needed([*self.outputs, *inner])
        made = {name for node in nodes for name in node.outputs}
        weights = [text(_INITIALIZER, self._complete(name)) for name in self._weights if name in wanted]
        inputs = [field for name, field in self._values[_INPUT].items() if name not in self._weights]
        known = self._values[_OUTPUT]
        outputs = [known.get(name) or _floats(_OUTPUT, name) for name in dict.fromkeys([*self.outputs, *inner])]
        rest = [f for f in self._rest if f.number != _VALUE_INFO or _read(ValueInfo, f.value).name in made]
        graph = message(_GRAPH, [*(node.field() for node in _named_apart(nodes)), *rest, *weights, *inputs, *outputs])
        ir = max([_OLDEST_IR, *(f.value for f in self._head if f.number == _IR)])
        head = [f for f in self._head if f.number not in (_IR, _GRAPH, _OPSET)]
        versions = [message(_OPSET, [text(1, each.domain), number(2, each.version)]) for each in self._versions]
        found = encoded([number(_IR, ir), *head, graph, *versions])
        if len(found) > _MOST_BYTES:
            raise ValueError(f"the file has {len(found) / 1e9:.1f} GB, which is more than an ONNX file can have: 2 GB")
        return found

    def _needed(self, names: Iterable[str]) -> tuple[list[Node], set[str]]:
        """The nodes that these tensors need, and all tensors that are read."""
        makers = {name: node for node in self.nodes for name in node.outputs if name}
        wanted, kept, left = set(names), set(), list(names)
        while left:
            node = makers.get(left.pop())
            if node is not None and node not in kept:
                kept.add(node)
                new = {*node.inputs, *node.captured} - wanted
                wanted |= new
                left += new
        return [node for node in self.nodes if node in kept], wanted

    def _complete(self, name: str) -> Data:
        """A weight as a message, with numbers that are in another file."""
        found = self._weights[name]
        if isinstance(found, np.ndarray):
            return tensor(name, found)
        given: Tensor = _read(Tensor, found)
        if given.data_location != _EXTERNAL:
            return bytes(found)
        if given.data_type not in DTYPES or given.data_type == _STRINGS:
            raise ValueError(
                f"the weight {name!r} has type {given.data_type} of ONNX, in another file, which is not supported"
            )
        stored = Tensor()
        vars(stored).update(vars(given))
        if DTYPES[given.data_type] == "float16":  # whose bits stay as they are
            stored.data_type = _TYPES["uint16"]
        data = onnx_reader.array_of(stored, self._folders).tobytes()
        return encoded([*(f for f in parsed(found) if f.number not in (9, 13, 14)), text(9, data)])


def _named(fields: Iterable[Field], of: int) -> Mapping[str, Field]:
    return {_read(ValueInfo, field.value).name: field for field in fields if field.number == of}


def _name_of_tensor(data: Data) -> str:
    return next((bytes(f.value).decode() for f in parsed(data) if f.number == 8 and f.wire == BYTES), "")


def _named_apart(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, each with a name of its own, as ONNX Runtime asks for: two may be made of one weight."""
    names: set[str] = set()
    for node in nodes:
        found, i = node, 1
        while found.name and found.name in names:
            found = node.copy()
            found.name, i = f"{node.name}_{i}", i + 1
        names.add(found.name)
        yield found


def _floats(of: int, name: str) -> Field:
    """A value of floats, whose shape is not known."""
    return message(of, [text(1, name), message(2, [message(1, [number(1, _FLOAT)])])])
