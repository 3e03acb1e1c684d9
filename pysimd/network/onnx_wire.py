"""Reads ONNX files, which are messages as protobuf writes them.

Large data are not copied: they are views of the bytes, or of the file that is mapped. Fields that ``onnx_messages`` does not
have are skipped without being looked at.
"""

from __future__ import annotations

import struct
from typing import Any, TypeVar

import numpy as np

from pysimd.annotations import Array
from pysimd.network.onnx_messages import (
    BYTES,
    DATA,
    DATAS,
    FIXED32,
    FIXED64,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    MESSAGES,
    TEXT,
    TEXTS,
    VARINT,
    Attribute,
    Message,
    Node,
)  # fmt: skip

_MOST_FIELDS = 1 << 20  # each takes up to 1 us and 80 bytes, from as few as 2 bytes of the file
_OF_MESSAGE = 4  # as many fields does a message count for
_DEPTH = 100  # of messages within messages, as protobuf has it
_LONGEST = 100  # bytes of attributes that are compared with others
_NUMBERED = (BYTES, VARINT)  # ways of writing a field that begin with a number
_INPUT, _OUTPUT, _NAME, _OPERATOR, _ATTRIBUTE = (number << 3 | BYTES for number in (1, 2, 3, 4, 5))  # fields of nodes
_MOST_OF_NODE = 1 << 12  # bytes that are copied
_BLOCK = 1 << 16  # bytes of numbers that are decoded at a time

_M = TypeVar("_M", bound=Message)


class Malformed(Exception):
    """The bytes are not fields of messages."""


class Wire:
    """The bytes of a file. Large data that are read are views of them."""

    def __init__(self, data: Array) -> None:
        self._data, self._bytes = data, memoryview(data)  # type: ignore[arg-type]  # before Python 3.12
        self._read = 0  # fields
        self._attributes: dict[bytes, Attribute] = {}

    def message(self, kind: type[_M]) -> _M:
        """The file as a message. Raises Malformed, or ValueError for too many fields and for names that are not UTF-8."""
        found = kind()
        try:
            self._add(found, 0, len(self._bytes), 0)
        except IndexError:
            raise Malformed("it ends within a field") from None
        except UnicodeDecodeError as error:
            raise ValueError(f"the name {error.object!r} is not UTF-8") from None
        return found

    def _add(self, message: Message, at: int, end: int, depth: int) -> None:
        """Adds the fields that a part of the file has to a message; the numbers of most of them have one byte."""
        if depth > _DEPTH:
            raise Malformed(f"messages are nested more than {_DEPTH} deep")
        message.size += end - at
        data, fields, values = self._bytes, message.FIELDS, vars(message)
        while at < end:
            key, at = data[at], at + 1
            if key > 127:  # here and below, those of two bytes without a call
                more = data[at]
                key, at = (key & 127 | more << 7, at + 1) if more < 128 else self._number(at - 1)
            wire, first, value = key & 7, at, 0
            if wire in _NUMBERED:
                value, at = data[at], at + 1
                if value > 127:
                    more = data[at]
                    value, at = (value & 127 | more << 7, at + 1) if more < 128 else self._number(at - 1)
                if wire == BYTES:
                    first, at = at, at + value
            elif wire in (FIXED32, FIXED64):
                at += 4 if wire == FIXED32 else 8
            else:
                raise Malformed(f"a field is written in the way {wire}, which is not known")
            if at > end or key < 8:
                raise Malformed("a field is longer than its message" if at > end else "a field has no number")
            self._read += 1
            if self._read > _MOST_FIELDS:
                self._count(0)
            if key not in fields:
                continue
            name, kind, of = fields[key]
            if kind == TEXT:
                values[name] = str(data[first:at], "utf-8")
            elif kind == TEXTS:
                values.setdefault(name, []).append(str(data[first:at], "utf-8"))
            elif kind == INT:
                values[name] = value if value < _SIGN else _signed(value)
            elif kind == INTS and wire == VARINT:
                values.setdefault(name, []).append(value if value < _SIGN else _signed(value))
            elif of is None:
                self._store(values, name, kind, first, at)
            elif of is Attribute:
                values.setdefault(name, []).append(self._attribute(first, at, depth))
            elif of is Node:
                values.setdefault(name, []).append(self._node(first, at, depth))
            else:
                self._count(_OF_MESSAGE)
                self._add(_child(values, name, kind, of), first, at, depth + 1)

    def _node(self, first: int, last: int, depth: int) -> Node:
        """A node. Its bytes are copied, which are read in half of the time then; texts and attributes are all that most
        nodes have."""
        self._count(_OF_MESSAGE)
        found = Node()
        text = bytes(self._bytes[first : min(last, first + _MOST_OF_NODE)])
        at, end = 0, len(text)
        inputs, outputs, attributes, known, fields = [], [], [], self._attributes, 0
        while at + 2 < end:
            key, size, begin = text[at], text[at + 1], at + 2
            if size > 127:
                size, begin = size & 127 | text[begin] << 7, begin + 1
            after = begin + size
            if after > end or size >= 1 << 14:
                break
            if key == _INPUT:
                inputs.append(text[begin:after].decode())
            elif key == _OUTPUT:
                outputs.append(text[begin:after].decode())
            elif key == _ATTRIBUTE:
                attribute = known.get(text[begin:after])
                attributes.append(attribute or self._attribute(first + begin, first + after, depth + 1))
            elif key == _OPERATOR:
                found.op_type = text[begin:after].decode()
            elif key == _NAME:
                found.name = text[begin:after].decode()
            else:
                break
            fields += 1
            at = after
        self._read += fields
        found.input, found.output, found.attribute, found.size = inputs, outputs, attributes, at
        if first + at < last:  # another field, or a large one: as those of any message
            self._add(found, first + at, last, depth + 1)
        return found

    def _attribute(self, first: int, last: int, depth: int) -> Attribute:
        """An attribute, one object for all that have the same bytes, as most nodes have those of others."""
        text = bytes(self._bytes[first:last]) if last - first < _LONGEST else b""
        found = self._attributes.get(text)
        if found is None:
            self._count(_OF_MESSAGE)
            found = Attribute()
            self._add(found, first, last, depth + 1)
            if text:
                self._attributes[text] = found
        return found

    def _store(self, values: dict[str, Any], name: str, kind: int, first: int, last: int) -> None:
        """Keeps a field without texts and messages; of several ones that are no list, the last."""
        if kind == INTS:
            values.setdefault(name, []).extend(map(_signed, self._packed(first, last)))
        elif kind == DATA:
            values[name] = self._data[first:last]
        elif kind == DATAS:
            values.setdefault(name, []).append(bytes(self._bytes[first:last]))
        elif kind == FLOAT:
            (values[name],) = struct.unpack_from("<f", self._bytes, first)
        elif kind == FLOATS:
            self._count((last - first) // 4)
            values.setdefault(name, []).extend(_floats(self._bytes[first:last]))
        elif name not in values:
            values[name] = self._data[first:last]
        else:  # numbers in several fields
            if not isinstance(values[name], bytearray):
                values[name] = bytearray(values[name])
            values[name] += self._bytes[first:last]

    def _count(self, fields: int) -> None:
        self._read += fields
        if self._read > _MOST_FIELDS:
            raise ValueError(f"the model has more than {_MOST_FIELDS} fields")

    def _packed(self, at: int, end: int) -> list[int]:
        """The numbers of one field; few, as each takes much more memory than the file has of it."""
        found = []
        while at < end:
            value, at = self._number(at)
            self._count(1)
            found.append(value)
        if at > end:
            raise Malformed("a number is longer than its field")
        return found

    def _number(self, at: int) -> tuple[int, int]:
        """A number of variable length, and where it ends."""
        value = self._bytes[at]
        at += 1
        if value < 128:
            return value, at
        value &= 127
        for shift in range(7, 70, 7):
            byte = self._bytes[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value & _MASK, at
        raise Malformed("a number has more than 10 bytes")


_SIGN, _MASK = 1 << 63, (1 << 64) - 1


def _signed(value: int) -> int:
    return value if value < _SIGN else value - (1 << 64)


def _floats(data: memoryview) -> tuple[float, ...]:
    if len(data) % 4:
        raise Malformed("a field of floats has a part of one")
    return struct.unpack(f"<{len(data) // 4}f", data)


def _child(values: dict[str, Any], name: str, kind: int, of: type[Message]) -> Message:
    """The message to which a field adds: a new one of a list, or the only one, which several fields may give in parts."""
    if kind == MESSAGES:
        child = of()
        values.setdefault(name, []).append(child)
        return child
    found: Message = values.setdefault(name, of())
    return found


def integers(data: Any, dtype: np.dtype[Any]) -> Array:
    """Numbers of variable length as an array, with the lowest bits if the type is narrower. Raises Malformed."""
    given = np.frombuffer(data, np.uint8)
    if given.size and given.max() < 128:  # as sizes and axes: each number has one byte
        return given != 0 if dtype == np.bool_ else given.astype(dtype)
    ends = [np.count_nonzero(given[at : at + _BLOCK] < 128) for at in range(0, given.size, _BLOCK)]
    found, at, done = np.empty(sum(map(int, ends)), dtype), 0, 0
    while at < given.size:
        block = given[at : at + _BLOCK]
        last = np.flatnonzero(block < 128)
        if not last.size or int(np.diff(last, prepend=-1).max()) > 10:
            raise Malformed("a number has more than 10 bytes, or is not complete")
        size = int(last[-1]) + 1
        first = np.concatenate([[0], last[:-1] + 1])
        place = np.arange(size) - np.repeat(first, last - first + 1)
        bits = (block[:size] & 127).astype(np.uint64) << (7 * place).astype(np.uint64)
        numbers = np.bitwise_or.reduceat(bits, first)
        found[done : done + last.size] = numbers != 0 if dtype == np.bool_ else numbers.astype(dtype)
        at, done = at + size, done + last.size
    return found
