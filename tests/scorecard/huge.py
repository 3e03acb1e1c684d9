"""Arrays of more than 2^32 elements in little memory: nearly all of their pages are the same ones, mapped again and again.

A few windows of each array have pages of their own. Sources contain zeros outside of the windows, and what a function stores
outside of them is lost, so a function is correct if it has the right results in the windows. An index that wraps reads zeros
in place of the numbers of a window, or leaves a window unwritten.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

import numpy as np

BLOCK = 4 << 20  # the memory that all pages of results share
PAGE = mmap.PAGESIZE
MAP_FIXED, MAP_POPULATE, MAP_NORESERVE, MADV_HUGEPAGE = 0x10, 0x8000, 0x4000, 14
ANONYMOUS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def map_pages(address: int | None, size: int, access: int, flags: int, file: int = -1) -> int:
    mapped = libc.mmap(address, size, access, flags | (MAP_FIXED if address else 0), file, 0)
    if mapped in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), f"mmap of {size} bytes")
    return int(mapped)


class Region:
    """A range of addresses: zeros to read, or pages that share their memory to write to, besides those of the windows."""

    def __init__(self, size: int, written: bool) -> None:
        self.begin = map_pages(None, size + BLOCK, 0, ANONYMOUS)
        self.begin += -self.begin % BLOCK
        self._file = -1
        self._used = 0
        self._windows: set[int] = set()  # pages
        if written:
            self._file = os.memfd_create("results")
            os.ftruncate(self._file, BLOCK)

    def use(self, size: int) -> None:
        """Makes the first `size` bytes accessible. They stay so: each page that is mapped for the first time costs time."""
        while self._used < size:
            self._map(self._used)
            self._used += BLOCK

    def _map(self, at: int) -> None:
        access = mmap.PROT_READ | mmap.PROT_WRITE
        if self._file >= 0:
            map_pages(self.begin + at, BLOCK, access, mmap.MAP_SHARED | MAP_POPULATE, self._file)
        else:  # pages of 2 MB, which the kernel maps to the same one as long as they are only read
            map_pages(self.begin + at, BLOCK, access, ANONYMOUS)
            libc.madvise(self.begin + at, BLOCK, MADV_HUGEPAGE)

    def open(self, begin: int, end: int) -> None:
        """Gives these bytes memory of their own."""
        for page in range(begin // PAGE, -(-end // PAGE)):
            if page not in self._windows:
                map_pages(self.begin + page * PAGE, PAGE, mmap.PROT_READ | mmap.PROT_WRITE, ANONYMOUS)
                self._windows.add(page)

    def close(self) -> None:
        """Ends all windows."""
        for block in {page * PAGE // BLOCK for page in self._windows}:
            self._map(block * BLOCK)
        self._windows.clear()

    def view(self, begin: int, count: int, kind: str) -> Any:
        """An array of NumPy in this memory."""
        size = count * np.dtype(kind).itemsize
        memory: Any = (ctypes.c_uint8 * size).from_address(self.begin + begin)
        return np.frombuffer(memory, kind)
