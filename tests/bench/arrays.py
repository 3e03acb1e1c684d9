"""Arrays for timing: aligned to a cache line, each at a different offset within its page.

NumPy's own large arrays begin 16 bytes after the start of a page. Every wide vector would then cross a cache line, and loads
from one array would wait for stores to another at a distance of a multiple of 4096 bytes: times would depend on that more
than on the function.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

_PAGE, _LINE = 4096, 64
_offsets = itertools.cycle(range(0, _PAGE, 9 * _LINE))


def empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """An uninitialised array at such an address."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    block = np.empty(size + 2 * _PAGE, np.uint8)
    start = -block.ctypes.data % _PAGE + next(_offsets)
    array: np.ndarray[Any, Any] = block[start : start + size].view(dtype).reshape(shape)
    return array


def placed(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of `values` at such an address."""
    array = empty(values.shape, values.dtype)
    array[...] = values
    return array
