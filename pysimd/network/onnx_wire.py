"""Finds large weights in the bytes of ONNX files, so that they can be mapped.

The package ``onnx`` copies all bytes of a file twice: as a message, and again when a field of it is read. So the message is
made without them: each large ``raw_data`` is replaced by a short text with its place. The rest is copied unchanged.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Union

from pysimd.annotations import Array

#: Shorter ones are not worth it.
_LARGE = 1 << 12
_MOST_FIELDS = 1 << 19  # of large messages: some take 80 bytes of memory, from 2 of the file, when protobuf reads them
_DEPTH = 100  # of messages within messages, as protobuf has it
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_RAW_DATA = 9

#: The messages that can have weights somewhere, by field: ModelProto, GraphProto, NodeProto, AttributeProto, TensorProto.
_FIELDS = {
    "model": {7: "graph"},
    "graph": {1: "node", 5: "tensor"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph"},
    "tensor": {},
}

_Part = Union[bytes, "tuple[int, int]"]  # bytes, or a range of the file


class Weights:
    """The large weights in the bytes of a model."""

    def __init__(self, data: Array) -> None:
        self._data, self._bytes = data, memoryview(data)  # type: ignore[arg-type]  # before Python 3.12
        self._mark = os.urandom(16)  # which no file can have guessed
        self._read = 0  # fields

    def model_without(self) -> bytes:
        """The bytes of the model with marks in place of large weights; all as they are if they do not read as fields.

        Raises ValueError if there are too many fields.
        """
        try:
            parts, _ = self._message("model", 0, len(self._bytes), 0)
        except _Malformed:
            return bytes(self._bytes)
        return b"".join(part if isinstance(part, bytes) else self._bytes[part[0] : part[1]] for part in parts)

    def found(self, given: bytes) -> Array | None:
        """The weight for which a mark stands; None if it is none."""
        if len(given) != len(self._mark) + 16 or not given.startswith(self._mark):
            return None
        begin, end = struct.unpack("<QQ", given[len(self._mark) :])
        return self._data[begin:end]

    def _message(self, kind: str, begin: int, end: int, depth: int) -> tuple[list[_Part], int]:
        """The parts of a message, and how many bytes they have."""
        if depth > _DEPTH:
            raise _Malformed
        parts: list[_Part] = []
        size, copied = 0, begin  # what comes after `copied` is not yet in parts
        for number, wire, start, first, last in self._fields(begin, end):
            if wire != _BYTES or last - first < _LARGE:
                continue
            if kind == "tensor" and number == _RAW_DATA:
                inner: list[_Part] = [self._mark + struct.pack("<QQ", first, last)]
                length = len(self._mark) + 16
            elif number in _FIELDS[kind]:
                inner, length = self._message(_FIELDS[kind][number], first, last, depth + 1)
            else:
                continue
            head = _varint(number << 3 | _BYTES) + _varint(length)
            parts += [(copied, start), head, *inner]
            size += start - copied + len(head) + length
            copied = last
        parts.append((copied, end))
        return parts, size + end - copied

    def _fields(self, at: int, end: int) -> Iterator[tuple[int, int, int, int, int]]:
        """The fields of a message: number, wire type, where it starts, where its bytes begin and end."""
        while at < end:
            start = at
            key, at = self._number(at, end)
            number, wire = key >> 3, key & 7
            first = at
            if wire == _VARINT:
                _, at = self._number(at, end)
            elif wire == _BYTES:
                length, first = self._number(at, end)
                at = first + length
            elif wire in (_FIXED64, _FIXED32):
                at += 8 if wire == _FIXED64 else 4
            else:
                raise _Malformed
            if at > end or not number:
                raise _Malformed
            self._read += 1
            if self._read > _MOST_FIELDS:
                raise ValueError(f"the model has more than {_MOST_FIELDS} fields")
            yield number, wire, start, first, at

    def _number(self, at: int, end: int) -> tuple[int, int]:
        """A number of variable length, and where it ends."""
        value = 0
        for shift in range(0, 70, 7):
            if at >= end:
                raise _Malformed
            byte = self._bytes[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, at
        raise _Malformed


class _Malformed(Exception):
    """Bytes that are not fields; protobuf has a more precise message."""


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes((*found, value))
