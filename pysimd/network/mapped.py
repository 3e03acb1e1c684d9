"""Model files, whose weights are mapped into memory: everything but a file is refused, and pages are released."""

from __future__ import annotations

import mmap
import os
import stat
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pysimd.annotations import Array


def refuse_devices(path: Any) -> None:
    """Raises ValueError for a FIFO, which open() would wait for, a device or a socket; open() refuses folders."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ValueError(f"{path} is not a model: it is empty or not a file")


def owner_of(array: Array) -> Any:
    """The bytes, or the file that is mapped, in which an array lies, if nobody can write them; else None."""
    owner = array.base
    while isinstance(owner, np.ndarray):
        owner = owner.base
    is_read_only = isinstance(owner, bytes) or (isinstance(owner, mmap.mmap) and memoryview(owner).readonly)
    return owner if is_read_only else None


_AROUND = 2 << 20  # bytes of a file that the system may map for a read of one byte: those of a large page
_SMALL = 1 << 18  # bytes: arrays that are released together with others
_BESIDE = 1 << 16  # bytes that the system usually maps for a read of one byte
_MOST_WAITING = 1 << 20  # bytes
_WAITING: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()  # bytes that are not released yet, by file
_APART = 1 << 17  # bytes, from which on arrays have pages of their own
_PRIVATE: dict[str, Any] = {}
if hasattr(mmap, "MAP_PRIVATE"):  # and all pages at once, as all are written: one by one they take longer than products
    _PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_POPULATE", 0)}


def release(array: Array) -> None:
    """Tells the system that the contents of an array are not needed now, if it is in a mapped file.

    Its pages, and those that were mapped with them, then no longer count as memory of the process, and are read again when
    they are used. Arrays elsewhere are left as they are. Small ones wait until there are many, with which the whole file is
    released: a call of the system, and its pages once more, cost more than they do.
    """
    if array.nbytes < mmap.PAGESIZE:  # it has no page for itself
        return
    file = owner_of(array)  # of another one, changes could be lost
    if not hasattr(file, "madvise"):
        return
    if array.nbytes < _SMALL:
        waiting = _WAITING.get(file, 0) + max(array.nbytes, _BESIDE)
        _WAITING[file] = 0 if waiting >= _MOST_WAITING else waiting
        if waiting >= _MOST_WAITING:
            file.madvise(mmap.MADV_DONTNEED)
        return
    if not (array.flags.c_contiguous or _is_dense(array)):
        return
    begin = _address(array) - _address(np.frombuffer(file, np.uint8))
    first, last = begin // _AROUND * _AROUND, -(-(begin + array.nbytes) // _AROUND) * _AROUND
    file.madvise(mmap.MADV_DONTNEED, first, min(last, len(file)) - first)


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def apart_like(array: Array) -> Array:
    """As ``numpy.empty_like``; a large one has pages of its own, which the system gets back with the last reference.

    Weights that are computed are packed, and gone: in the heap, they would leave holes, which nothing else fits.
    """
    strides = np.empty_like(array).strides
    if array.nbytes < _APART:
        return np.empty_like(array)
    return np.ndarray(array.shape, array.dtype, mmap.mmap(-1, array.nbytes, **_PRIVATE), strides=strides)


def _is_dense(array: Array) -> bool:
    """Whether an array has all elements between its first and its last one, in any order of its axes."""
    steps = sorted((stride, n) for stride, n in zip(array.strides, array.shape) if n != 1)
    size = array.itemsize
    for stride, n in steps:
        if stride != size:
            return False
        size *= n
    return True


@contextmanager
def released(arrays: Iterable[Array]) -> Iterator[None]:
    """Releases, in the end, the whole files in which arrays lie."""
    try:
        yield
    finally:
        parts = {id(array.base): array for array in arrays}  # those of a file have one base
        files = {id(owner): owner for array in parts.values() if hasattr(owner := owner_of(array), "madvise")}
        for file in files.values():
            file.madvise(mmap.MADV_DONTNEED)
