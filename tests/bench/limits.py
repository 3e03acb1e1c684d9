"""What the machine can do, measured in the same run as the cases that are compared with it."""

from __future__ import annotations

from typing import Callable

import numpy as np

from bench import arrays, clock
from pysimd._library import ffi, lib

#: Floating-point operations of one measurement of the peak: a few milliseconds.
_PEAK_WORK = 200_000_000

_WORK: dict[str, Callable[[int], int]] = {
    "fma": lib.SimdnetFmaWork,
    "dot": lib.SimdnetDotWork,
    "bf16": lib.SimdnetDot16bWork,
}


def operations_per_second(arithmetic: str = "fma") -> float:
    """The peak of the instruction set in use, two operations each: of multiply-adds of floats ("fma"), of products of bytes
    ("dot") or of bfloat16 numbers ("bf16")."""
    work, share = _WORK[arithmetic], _PEAK_WORK // 9
    return work(share) / clock.typical(lambda: work(share), 9)


class CopyLimit:
    """The time of a copy that moves as many bytes as a case does, half of them read and half written.

    A copy is the cheapest thing that touches so many bytes; the arrays are as large as the case's, so they come from the
    same level of cache. Of the library's plain copy and the C library's the faster one counts.
    """

    def __init__(self, traffic: int) -> None:
        size = max(traffic // 2, 64)
        self._source = arrays.placed(np.zeros(size, np.uint8))
        self._target = arrays.placed(np.zeros(size, np.uint8))
        self._count = max(1, 16_000_000 // size)

    def seconds(self) -> float:
        """Seconds of one copy."""
        source, target = (ffi.from_buffer("uint8_t[]", array) for array in (self._source, self._target))
        plain = self._typical(lambda: lib.SimdnetCopyWork(source, len(source), target))
        return min(plain, self._typical(lambda: np.copyto(self._target, self._source)))

    def _typical(self, copy: Callable[[], object]) -> float:
        copy()  # what others have driven out of the caches comes back
        return clock.typical(copy, self._count)
