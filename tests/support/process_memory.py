"""The memory of this process, as Linux counts it."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path

_ROLLUP = Path("/proc/self/smaps_rollup")


def is_counted() -> bool:
    """Whether this system counts anonymous memory."""
    return _ROLLUP.exists()


def anonymous() -> int:
    """Anonymous memory of the process, in bytes, without what can be given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    for line in _ROLLUP.read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) << 10
    raise RuntimeError(f"{_ROLLUP} has no anonymous memory")
