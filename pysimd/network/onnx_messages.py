"""The messages of ONNX files, with the fields that are read; ``onnx_wire`` skips all others.

The attributes of a class are what a message has for fields that the file does not have. The numbers of a tensor stay the
bytes that they are in the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar, Union

from pysimd.annotations import Array

# ---- how a field is written, and what is made of it

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
INT, INTS, FLOAT, FLOATS, TEXT, TEXTS, DATA, DATAS, PACKED, MESSAGE, MESSAGES = range(11)

_WIRES = {INT: (VARINT,), INTS: (VARINT, BYTES), FLOAT: (FIXED32,), FLOATS: (FIXED32, BYTES)}
_WIRES |= {PACKED: (VARINT, FIXED32, FIXED64, BYTES)}

#: What a field begins with, 8 times its number and how it is written: the attribute, the kind, and the class of a message.
Fields = Mapping[int, "tuple[str, int, type[Message] | None]"]
#: The bytes of numbers: those of one field in the file, or of several fields.
Packed = Union[Array, bytearray]

_M = TypeVar("_M", bound="Message")


class Message:
    """A message of a file; size is the number of its bytes there."""

    FIELDS: ClassVar[Fields] = {}
    size = 0

    def copied(self: _M) -> _M:
        """As ``copy.copy``, a module that takes longer to import than most here, as it looks for Jython first."""
        made = type(self)()
        vars(made).update(vars(self))
        return made


def _fields(*given: tuple[int, str, int] | tuple[int, str, int, type[Message]]) -> Fields:
    found: dict[int, tuple[str, int, type[Message] | None]] = {}
    for number, name, kind, *of in given:
        for wire in _WIRES.get(kind, (BYTES,)):
            found[number << 3 | wire] = (name, kind, of[0] if of else None)
    return found


# ---- the messages


class Entry(Message):
    """A key and a value, such as the place of external data."""

    key, value = "", ""
    FIELDS = _fields((1, "key", TEXT), (2, "value", TEXT))


class Opset(Message):
    """A set of operators, and its version."""

    domain, version = "", 0
    FIELDS = _fields((1, "domain", TEXT), (2, "version", INT))


class Tensor(Message):
    """An array, whose numbers are in one of the fields of their type, in raw_data, or in another file."""

    dims: Sequence[int] = ()
    data_type, data_location, name = 0, 0, ""
    float_data: Packed | None = None
    int32_data: Packed | None = None
    int64_data: Packed | None = None
    double_data: Packed | None = None
    uint64_data: Packed | None = None
    raw_data: Array | None = None
    external_data: Sequence[Entry] = ()
    FIELDS = _fields(
        (1, "dims", INTS), (2, "data_type", INT), (4, "float_data", PACKED), (5, "int32_data", PACKED),
        (7, "int64_data", PACKED), (8, "name", TEXT), (9, "raw_data", DATA), (10, "double_data", PACKED),
        (11, "uint64_data", PACKED), (13, "external_data", MESSAGES, Entry), (14, "data_location", INT),
    )  # fmt: skip


class SparseTensor(Message):
    """An array that is mostly zero; its values have the name."""

    values: Tensor = Tensor()
    FIELDS = _fields((1, "values", MESSAGE, Tensor))


class Dim(Message):
    """A dimension: a number, or the name of one."""

    dim_value: int | None = None
    dim_param = ""
    FIELDS = _fields((1, "dim_value", INT), (2, "dim_param", TEXT))


class Shape(Message):
    """The dimensions of an input or an output."""

    dim: Sequence[Dim] = ()
    FIELDS = _fields((1, "dim", MESSAGES, Dim))


class TensorType(Message):
    """The type of the elements, and the shape if the file has one."""

    elem_type = 0
    shape: Shape | None = None
    FIELDS = _fields((1, "elem_type", INT), (2, "shape", MESSAGE, Shape))


class Type(Message):
    """The type of an input or an output: one of these."""

    tensor_type: TensorType | None = None
    sequence_type: Message | None = None
    map_type: Message | None = None
    opaque_type: Message | None = None
    sparse_tensor_type: Message | None = None
    optional_type: Message | None = None
    FIELDS = _fields(
        (1, "tensor_type", MESSAGE, TensorType), (4, "sequence_type", MESSAGE, Message), (5, "map_type", MESSAGE, Message),
        (7, "opaque_type", MESSAGE, Message), (8, "sparse_tensor_type", MESSAGE, Message),
        (9, "optional_type", MESSAGE, Message),
    )  # fmt: skip


class ValueInfo(Message):
    """An input or an output."""

    name = ""
    type: Type = Type()
    FIELDS = _fields((1, "name", TEXT), (2, "type", MESSAGE, Type))


class Attribute(Message):
    """An attribute of a node, or a reference to one of the function."""

    name, ref_attr_name, type = "", "", 0
    f, i = 0.0, 0
    s: Array | bytes = b""
    t: Tensor = Tensor()
    g: Graph | None = None
    floats: Sequence[float] = ()
    ints: Sequence[int] = ()
    strings: Sequence[bytes] = ()


class Node(Message):
    """An application of an operator."""

    input: Sequence[str] = ()
    output: Sequence[str] = ()
    name, op_type, domain, overload = "", "", "", ""
    attribute: Sequence[Attribute] = ()
    FIELDS = _fields(
        (1, "input", TEXTS), (2, "output", TEXTS), (3, "name", TEXT), (4, "op_type", TEXT),
        (5, "attribute", MESSAGES, Attribute), (7, "domain", TEXT), (8, "overload", TEXT),
    )  # fmt: skip


class Graph(Message):
    """Nodes, weights, inputs and outputs."""

    name = ""
    node: Sequence[Node] = ()
    initializer: Sequence[Tensor] = ()
    sparse_initializer: Sequence[SparseTensor] = ()
    input: Sequence[ValueInfo] = ()
    output: Sequence[ValueInfo] = ()
    FIELDS = _fields(
        (1, "node", MESSAGES, Node), (2, "name", TEXT), (5, "initializer", MESSAGES, Tensor),
        (11, "input", MESSAGES, ValueInfo), (12, "output", MESSAGES, ValueInfo),
        (15, "sparse_initializer", MESSAGES, SparseTensor),
    )  # fmt: skip


Attribute.FIELDS = _fields(
    (1, "name", TEXT), (2, "f", FLOAT), (3, "i", INT), (4, "s", DATA), (5, "t", MESSAGE, Tensor), (6, "g", MESSAGE, Graph),
    (7, "floats", FLOATS), (8, "ints", INTS), (9, "strings", DATAS), (20, "type", INT), (21, "ref_attr_name", TEXT),
)  # fmt: skip


class Function(Message):
    """A function of the model, which nodes name as they name an operator."""

    name, domain, overload = "", "", ""
    input: Sequence[str] = ()
    output: Sequence[str] = ()
    node: Sequence[Node] = ()
    opset_import: Sequence[Opset] = ()
    attribute_proto: Sequence[Attribute] = ()
    FIELDS = _fields(
        (1, "name", TEXT), (4, "input", TEXTS), (5, "output", TEXTS), (7, "node", MESSAGES, Node),
        (9, "opset_import", MESSAGES, Opset), (10, "domain", TEXT), (11, "attribute_proto", MESSAGES, Attribute),
        (13, "overload", TEXT),
    )  # fmt: skip


class File(Message):
    """A whole model."""

    ir_version = 0
    graph: Graph | None = None
    opset_import: Sequence[Opset] = ()
    functions: Sequence[Function] = ()
    FIELDS = _fields(
        (1, "ir_version", INT), (7, "graph", MESSAGE, Graph), (8, "opset_import", MESSAGES, Opset),
        (25, "functions", MESSAGES, Function),
    )  # fmt: skip
