"""Version, machine, threads and instruction sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import index
from typing import overload

from pysimd._library import ffi, lib
from pysimd.enums import CpuInfoType
from pysimd.errors import check, raise_last


def _text(pointer: object) -> str:
    return str(ffi.string(pointer).decode("ascii"))


def version() -> str:
    """The version of the library, three numbers with dots."""
    return _text(lib.SimdVersion())


@overload
def cpu_info() -> dict[str, int]: ...
@overload
def cpu_info(what: CpuInfoType | str) -> int: ...
def cpu_info(what: CpuInfoType | str | None = None) -> int | dict[str, int]:
    """A fact about this machine, by :class:`CpuInfoType` or its lower-case name; without an argument a dict of all.

    Counts, cache sizes in bytes, and 1 or 0 for an instruction set that is usable or not.
    """
    if what is None:
        return {kind.name.lower(): int(lib.SimdCpuInfo(kind)) for kind in CpuInfoType}
    if isinstance(what, str):
        if what.upper() not in CpuInfoType.__members__:
            raise ValueError(f"what is {what!r}, expected one of {', '.join(kind.name.lower() for kind in CpuInfoType)}")
        what = CpuInfoType[what.upper()]
    return int(lib.SimdCpuInfo(CpuInfoType(what)))


def alignment() -> int:
    """The alignment in bytes that suits the instruction set in use: 64, 32 or 16."""
    return int(lib.SimdAlignment())


def performance_statistic() -> str:
    """A table of the time spent in each function, as :func:`set_verbose` has it collected; else an empty string.

    A line of names, then one for each function, shape, algorithm and instruction set: calls, their microseconds (total,
    mean, min, max), and these four words; the largest total first. MemoryError where there is none for the table.
    """
    table = _text(lib.SimdPerformanceStatistic())
    check()
    return table


def set_verbose(level: int) -> None:
    """What the library tells about its calls: 0 nothing, 1 counts and times them for :func:`performance_statistic`, 2 also
    writes a line for each on stderr.

    The environment variable ``SIMDNET_VERBOSE`` says it first. With 1 and 2 the library introduces itself by a line on
    stderr, once. Going from 0 to 1 or 2 begins a new table.
    """
    level = index(level)
    if not 0 <= level <= 2:
        raise ValueError(f"level is {level}, expected 0, 1 or 2")
    lib.SimdnetSetVerbose(level)


def get_num_threads() -> int:
    """The number of threads that one call may use; 1 unless set, here or by the environment's ``SIMDNET_NUM_THREADS``."""
    return int(lib.SimdGetThreadNumber())


def set_num_threads(number: int) -> None:
    """Sets it for the whole process, limited to 1 .. the number of processors that the process may use.

    Results do not depend on it. What is worth several threads gets them; small work stays on the caller.
    """
    number = index(number)
    if number < 1:
        raise ValueError(f"number is {number}, expected at least 1")
    lib.SimdSetThreadNumber(min(number, 1 << 30))


@contextmanager
def num_threads(number: int) -> Iterator[int]:
    """Sets the number of threads inside a ``with`` block; gives the number then in use. It is that of the whole process."""
    before = get_num_threads()
    set_num_threads(number)
    try:
        yield get_num_threads()
    finally:
        set_num_threads(before)


def isa_levels() -> tuple[str, ...]:
    """The instruction sets of this machine, oldest first."""
    levels: list[str] = []
    while True:
        name = lib.SimdnetIsaLevel(len(levels))
        if name == ffi.NULL:
            return tuple(levels)
        levels.append(_text(name))


def active_isa() -> str:
    """The instruction set in use, after the cap."""
    return _text(lib.SimdnetActiveIsa())


def set_max_isa(name: str | None) -> None:
    """Caps the instruction set: `name` and older ones are used by the calls that follow; None lifts the cap.

    The cap is one for the whole process; contexts that exist keep the instruction set they were made with. ValueError for a
    name that no instruction set of this architecture has.
    """
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name is {name!r}, expected a str or None")
    if lib.SimdnetSetMaxIsa(ffi.NULL if name is None else name.encode()) != lib.SimdTrue:
        raise_last()


@contextmanager
def max_isa(name: str | None) -> Iterator[str]:
    """Caps the instruction set inside a ``with`` block; gives the name of the one then in use."""
    before = active_isa()
    set_max_isa(name)
    try:
        yield active_isa()
    finally:
        set_max_isa(before)
