"""Fields of messages as protobuf writes them: those that nobody changes stay the bytes that they are.

``onnx_wire`` reads what the rest of the package needs of a file; here a file is taken apart and put together again, with
all that it has.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, NamedTuple, Union

from pysimd.network.onnx_messages import BYTES, FIXED32, FIXED64, VARINT
from pysimd.network.onnx_wire import Malformed

Data = Union[bytes, bytearray, memoryview]
_SIZES = {FIXED32: 4, FIXED64: 8}


class Field(NamedTuple):
    """A field: its number, how it is written, and its value: a number where it is VARINT, else bytes."""

    number: int
    wire: int
    value: Any


def parsed(data: Data) -> list[Field]:
    """The fields of a message. Raises Malformed."""
    found, at, view = [], 0, memoryview(data)
    try:
        while at < len(view):
            key, at = _number(view, at)
            value: Any = 0
            if key & 7 in _SIZES:
                first, at = at, at + _SIZES[key & 7]
                value = view[first:at]
            elif key & 7 in (VARINT, BYTES):
                value, at = _number(view, at)
                if key & 7 == BYTES:
                    first, at = at, at + value
                    value = view[first:at]
            else:
                raise Malformed(f"a field is written in the way {key & 7}, which is not known")
            found.append(Field(key >> 3, key & 7, value))
    except IndexError:
        at = len(view) + 1
    if at > len(view):
        raise Malformed("it ends within a field")
    return found


def _number(data: memoryview, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while data[at] > 127:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if shift > 63:
            raise Malformed("a number has more than 10 bytes")
    return value | data[at] << shift, at + 1


# ---- writing


def varint(value: int) -> bytes:
    """A number of variable length; negative ones have the 64 bits of their complement."""
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def number(of: int, value: int) -> Field:
    """A field of an integer."""
    return Field(of, VARINT, value)


def text(of: int, value: str | Data) -> Field:
    """A field of a text, of bytes or of a message that is encoded."""
    return Field(of, BYTES, value.encode() if isinstance(value, str) else value)


def real(of: int, value: float) -> Field:
    """A field of a float."""
    return Field(of, FIXED32, struct.pack("<f", value))


def message(of: int, fields: Iterable[Field]) -> Field:
    """A field of a message."""
    return Field(of, BYTES, encoded(fields))


def encoded(fields: Iterable[Field]) -> bytes:
    """The bytes of a message."""
    parts: list[Any] = []
    for of, wire, value in fields:
        parts.append(varint(of << 3 | wire))
        if wire == VARINT:
            parts.append(varint(value))
        else:
            if wire == BYTES:
                parts.append(varint(len(value)))
            parts.append(value)
    return b"".join(parts)
