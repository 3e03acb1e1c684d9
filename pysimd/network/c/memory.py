"""The data of a program in C: constants that its calls point to, which go to the file of the weights."""

from __future__ import annotations

from typing import Any

from pysimd._library import ffi
from pysimd.annotations import Array
from pysimd.network.binding import address_of

_ALIGNMENT = 64


class Memory:
    """The constants, those of equal bytes once."""

    def __init__(self) -> None:
        self._contents: dict[bytes, int] = {}  # with their offsets, in the order of the file
        self._offsets: dict[int, tuple[int, Any]] = {}  # of the first elements of arrays, by the identity of these
        self.size = 0

    def offset(self, array: Array) -> int:
        """The offset of the first element of an array, which is written as it is in memory."""
        if id(array) not in self._offsets:
            before, content = _content(array)
            padded = content + bytes(-len(content) % _ALIGNMENT)
            begin = self._contents.setdefault(padded, self.size)
            self.size = max(self.size, begin + len(padded))
            self._offsets[id(array)] = begin + before, array
        return self._offsets[id(array)][0]

    @property
    def data(self) -> bytes:
        """All constants so far."""
        return b"".join(self._contents)


def _content(array: Array) -> tuple[int, bytes]:
    """The bytes from the lowest element to the highest one, and how many lie before the first."""
    if array.size == 0:
        return 0, b""
    spans = [(n - 1) * stride for n, stride in zip(array.shape, array.strides)]
    low, high = sum(min(span, 0) for span in spans), sum(max(span, 0) for span in spans) + array.itemsize
    return -low, bytes(ffi.buffer(ffi.cast("char *", address_of(array) + low), high - low))
