"""The limits of the machine, measured in the same run as the cases that are compared with them.

``limits_set.c``, compiled for each instruction set, contains the operations; make links it as liblimits.so. Its declarations
are those of ``limits.h``, which is parsed.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Callable

import cffi
import numpy as np

import pysimd
from bench import arrays, clock
from pysimd._header import declarations
from pysimd._library import LIBRARY, LIBRARY_PATH, ROOT

#: Floating-point operations of one measurement of the peak: a few milliseconds.
_PEAK_WORK = 200_000_000

#: Bytes that are read to measure the speed of memory: more than the share of a last cache that one core has.
_READ_SIZE = 128 << 20

_FUNCTIONS = {"fma": "fma", "dot": "dot_8i", "bf16": "dot_16b"}

ffi: Any = cffi.FFI()
ffi.cdef(declarations(Path(__file__).with_name("limits.h").read_text()))


def built(name: str) -> Path:
    """A library that make builds for benchmarks: next to the library that is measured, else in this checkout."""
    places = [Path(each).resolve().parent / "bench" / name for each in (LIBRARY_PATH, f"{ROOT}/build/{LIBRARY}")]
    for place in places:
        if place.is_file():
            return place
    raise SystemExit(f"there is no {places[-1]}, which make bench and make test build")


@cache
def _opened() -> Any:
    return ffi.dlopen(str(built("liblimits.so")))


def functions() -> Any:
    """``struct limits`` of the instruction set in use."""
    found = _opened().limits_of(pysimd.active_isa().encode())
    if not found:
        raise SystemExit(f"liblimits.so is older than the library and has no {pysimd.active_isa()}: make bench builds it")
    return found


def operations_per_second(arithmetic: str = "fma") -> float:
    """The peak of the instruction set in use, counting two operations each: multiply-adds of floats ("fma"), products of
    bytes ("dot") or of bfloat16 numbers ("bf16")."""
    work, share = getattr(functions(), _FUNCTIONS[arithmetic]), _PEAK_WORK // 9
    done: int = work(share)
    return done / clock.typical(lambda: work(share), 9)


class ReadLimit:
    """The speed at which one core reads memory in order, without any prefetching but the processor's own."""

    def __init__(self, size: int = _READ_SIZE) -> None:
        self._source = arrays.placed(np.zeros(size, np.uint8))

    def bytes_per_second(self) -> float:
        """The best of a few measurements, since others may read from the same memory."""
        source, read = ffi.from_buffer("uint8_t[]", self._source), functions().read
        return len(source) / min(clock.mean(lambda: read(source, len(source)), 1) for _ in range(3))


class CopyLimit:
    """The time of a copy that moves as many bytes as a case does, half of them read and half written.

    A copy is the cheapest operation on so many bytes; its arrays are as large as the case's, so they are in the same level
    of cache. The faster one of plain loads and stores and the C library's copy counts.
    """

    def __init__(self, traffic: int) -> None:
        size = max(traffic // 2, 64)
        self._source = arrays.placed(np.zeros(size, np.uint8))
        self._target = arrays.placed(np.zeros(size, np.uint8))
        self._count = max(1, 16_000_000 // size)

    def seconds(self) -> float:
        """Seconds of one copy."""
        source, target = (ffi.from_buffer("uint8_t[]", array) for array in (self._source, self._target))
        copy = functions().copy
        plain = self._typical(lambda: copy(source, len(source), target))
        return min(plain, self._typical(lambda: np.copyto(self._target, self._source)))

    def _typical(self, copy: Callable[[], object]) -> float:
        copy()  # refills the caches after other code ran
        return clock.typical(copy, self._count)
