"""What the machine can do, measured in the same run as the cases that are compared with it."""

from __future__ import annotations

import time
from typing import Callable

import numpy as np

from pysimd._library import ffi, lib
from pysimd.bench import arrays

#: Floating-point operations of one measurement of the peak: a few milliseconds.
_PEAK_WORK = 200_000_000


def flops_per_second() -> float:
    """The multiply-add peak of the instruction set in use, two operations for each multiply-add."""
    start = time.perf_counter()
    done: int = lib.SimdnetFmaWork(_PEAK_WORK)
    return done / (time.perf_counter() - start)


def products_per_second() -> float:
    """The peak of products of bytes of the instruction set in use, two operations for each that is added."""
    start = time.perf_counter()
    done: int = lib.SimdnetDotWork(_PEAK_WORK)
    return done / (time.perf_counter() - start)


class CopyLimit:
    """The time of a copy that moves as many bytes as a case does, half of them read and half written.

    A copy is the cheapest thing that touches so many bytes; the arrays are as large as the case's, so they come from the
    same level of cache. Of the library's plain copy and the C library's the faster one counts.
    """

    def __init__(self, traffic: int) -> None:
        size = max(traffic // 2, 64)
        self._source = arrays.placed(np.zeros(size, np.uint8))
        self._target = arrays.placed(np.zeros(size, np.uint8))
        self._repeats = max(1, 2_000_000 // size)

    def seconds(self) -> float:
        """Seconds of one copy, mean of as many as take a measurable time."""
        source, target = (ffi.from_buffer("uint8_t[]", array) for array in (self._source, self._target))
        plain = self._mean(lambda: lib.SimdnetCopyWork(source, len(source), target))
        return min(plain, self._mean(lambda: np.copyto(self._target, self._source)))

    def _mean(self, copy: Callable[[], object]) -> float:
        start = time.perf_counter()
        for _ in range(self._repeats):
            copy()
        return (time.perf_counter() - start) / self._repeats
