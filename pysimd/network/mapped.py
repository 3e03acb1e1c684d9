"""Files of models, whose weights are mapped into memory: what is no file is refused, and pages are given back."""

from __future__ import annotations

import mmap
import os
import stat
from typing import Any

import numpy as np

from pysimd.annotations import Array


def refuse_devices(path: Any) -> None:
    """Raises ValueError for a FIFO, which open() would wait for, a device or a socket; open() refuses folders."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ValueError(f"{path} is no model: it is empty, or no file")


def release(array: Array) -> None:
    """Tells the system that the contents of an array are not needed for now, if it lies in a file that is mapped.

    Its pages then no longer count as memory of the process, and are read again when they are used. Other arrays are left
    as they are.
    """
    file = array.base
    while isinstance(file, np.ndarray):
        file = file.base
    if not isinstance(file, mmap.mmap) or not hasattr(file, "madvise"):
        return
    every = np.frombuffer(file, np.uint8)
    if every.flags.writeable or not array.flags.forc:  # changes could be lost; other elements may be in use
        return
    begin = array.ctypes.data - every.ctypes.data
    first = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE
    last = (begin + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if first < last:
        file.madvise(mmap.MADV_DONTNEED, first, last - first)
