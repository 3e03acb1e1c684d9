"""The memory that the calls of a program in C point to: tensors, and data that go to the file of the weights.

Of the data, constants are read by all models of a program. What else runs use may be written by them, such as arrays between
the calls of a step: every model has a copy of this work memory.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from typing import Any, NamedTuple

import numpy as np

from pysimd._library import ffi
from pysimd.annotations import Array

_ALIGNMENT = 64


def address_of(pointer: Any) -> int:
    """The address in a pointer or an array of C; 0 for an empty array."""
    kind = ffi.typeof(pointer)
    if kind.kind == "array":
        pointer = ffi.addressof(pointer, 0) if len(pointer) else ffi.NULL
    return int(ffi.cast("uintptr_t", pointer))


def _bounds(array: Array) -> tuple[int, int]:
    """The first byte of an array, and the one after its last."""
    spans = [(n - 1) * stride for n, stride in zip(array.shape, array.strides)]
    begin = array.ctypes.data
    if array.size == 0:
        return begin, begin
    return begin + sum(min(span, 0) for span in spans), begin + sum(max(span, 0) for span in spans) + array.itemsize


class _Region(NamedTuple):
    """Bytes of memory that a pointer may point into."""

    begin: int
    end: int
    owner: Any
    is_constant: bool


class Memory:
    """The memory that calls point to. Neighbours that overlap are one region, and constants of equal bytes are written once.

    blocks : of tensors, each one of another shape of the model.
    """

    def __init__(self, *blocks: Array) -> None:
        self._blocks = [(int(block.ctypes.data), int(block.ctypes.data + block.nbytes)) for block in blocks]
        self._regions: list[_Region] = []
        self._merged: list[_Region] | None = None
        self._offsets: dict[int, int] = {}  # of regions, by their addresses
        self._constants: dict[bytes, int] = {}  # those of constants by their content, in the order of the file
        self._end = 0
        self._work: list[bytes] = []

    def add(self, value: Any, is_constant: bool = False) -> None:
        """Finds arrays in an argument, and in what it keeps alive."""
        if isinstance(value, np.ndarray):
            low, high = _bounds(value)
            self._keep(_Region(low, high, value, is_constant))
        elif isinstance(value, ffi.CData):
            kind = ffi.typeof(value)
            if kind.kind == "array" and kind.item.kind == "primitive":
                begin = address_of(value)
                self._keep(_Region(begin, begin + ffi.sizeof(value), value, is_constant))
            elif kind.kind == "array" and kind.item.kind == "pointer":
                for each in value:
                    self.add(each, is_constant)
        elif isinstance(value, dict):
            for each in value.values():
                self.add(each, is_constant)
        elif isinstance(value, (tuple, list)):
            for each in value:
                self.add(each, is_constant)
        elif hasattr(value, "array") and hasattr(value, "data"):
            self.add(value.array, is_constant)
            self.add(value.data, is_constant)

    def _keep(self, region: _Region) -> None:
        is_tensor = any(low <= region.begin and region.end <= high for low, high in self._blocks)
        if region.end > region.begin and not is_tensor:
            self._regions.append(region)
            self._merged = None

    def is_tensor(self, address: int) -> bool:
        """Whether this is an address in a block."""
        return any(low <= address < high for low, high in self._blocks)

    def place(self, address: int, kind: str = "void") -> str:
        """A pointer in C to a type. Raises ValueError for one into unknown memory."""
        for low, high in self._blocks:
            if low <= address < high:
                return f"TENSOR({kind}, {address - low})"
        regions = self._joined()
        at = bisect_right(regions, _Region(address, sys.maxsize, None, False)) - 1  # Python 3.9 knows no key=
        if at < 0 or address >= regions[at].end:
            raise ValueError("an argument points to memory that is not known")
        region = regions[at]
        if region.begin not in self._offsets:
            self._offsets[region.begin] = self._written_at(region)
        macro = "DATA" if region.is_constant else "WORK"
        return f"{macro}({kind}, {self._offsets[region.begin] + address - region.begin})"

    def _written_at(self, region: _Region) -> int:
        """Writes a region, and returns its offset."""
        content = bytes(ffi.buffer(ffi.cast("char *", region.begin), region.end - region.begin))
        content += bytes(-len(content) % _ALIGNMENT)
        if not region.is_constant:
            self._work.append(content)
            return sum(map(len, self._work[:-1]))
        offset = self._constants.setdefault(content, self._end)
        self._end = max(self._end, offset + len(content))
        return offset

    def _joined(self) -> list[_Region]:
        if self._merged is None:
            self._merged = []
            for region in sorted(self._regions, key=lambda each: (each.begin, -each.end, not each.is_constant)):
                if self._merged and region.begin < self._merged[-1].end:
                    last = self._merged[-1]
                    is_constant = last.is_constant and (region.is_constant or region.end <= last.end)
                    end, owners = max(last.end, region.end), (last.owner, region.owner)
                    self._merged[-1] = _Region(last.begin, end, owners, is_constant)
                else:
                    self._merged.append(region)
        return self._merged

    @property
    def size(self) -> int:
        """The bytes of constants so far."""
        return self._end

    @property
    def constants(self) -> bytes:
        """The constants so far."""
        return b"".join(self._constants)

    @property
    def work(self) -> bytes:
        """The work memory as it is before a run."""
        return b"".join(self._work)
