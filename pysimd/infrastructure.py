"""Version, machine, threads and instruction sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, overload

from pysimd._geometry import integer
from pysimd._library import ffi, lib
from pysimd.errors import check, shown

if TYPE_CHECKING:  # as it takes 2 ms, which models do not need
    from pysimd.enums import CpuInfoType, PreferenceType

_PREFERENCES: dict[str, int] = {
    "speed": lib.SimdnetPreferSpeed, "memory": lib.SimdnetPreferMemory, "exact": lib.SimdnetPreferExact,
    "bfloat16": lib.SimdnetPreferBfloat16,
}  # fmt: skip


def _text(pointer: object) -> str:
    return str(ffi.string(pointer).decode("ascii"))


def version() -> str:
    """The version of the library, three numbers separated by dots.

    >>> pysimd.version() == pysimd.__version__
    True
    """
    return _text(lib.SimdVersion())


def version_number() -> int:
    """The version of the library as a number to compare: major * 10000 + minor * 100 + patch.

    >>> pysimd.version_number() >= 200  # 0.2.0 or newer
    True
    """
    return int(lib.SimdnetVersionNumber())


@overload
def cpu_info() -> dict[str, int]: ...
@overload
def cpu_info(what: CpuInfoType | str) -> int: ...
def cpu_info(what: CpuInfoType | str | None = None) -> int | dict[str, int]:
    """A property of this machine, or a dict of all of them.

    what : a :class:`CpuInfoType` or its lower-case name; None for all.

    Values are counts, sizes of caches in bytes, and 1 or 0 for an instruction set that is usable or not. Raises ValueError
    for an unknown name.

    >>> pysimd.cpu_info("cores") >= 1
    True
    """
    from pysimd.enums import CpuInfoType

    if what is None:
        return {kind.name.lower(): int(lib.SimdCpuInfo(kind)) for kind in CpuInfoType}
    if isinstance(what, str):
        if what.upper() not in CpuInfoType.__members__:
            raise ValueError(f"what is {what!r}, expected one of {', '.join(kind.name.lower() for kind in CpuInfoType)}")
        what = CpuInfoType[what.upper()]
    return int(lib.SimdCpuInfo(CpuInfoType(what)))


def alignment() -> int:
    """The alignment in bytes that suits the instruction set in use: 64, 32 or 16.

    >>> pysimd.alignment() in (16, 32, 64)
    True
    """
    return int(lib.SimdAlignment())


def performance_statistic() -> str:
    """A table of the time spent in each function, collected after :func:`set_verbose`; without it an empty string.

    One line of headings, then one for each function, shape, algorithm and instruction set: the number of calls, their time
    in microseconds (total, mean, min, max), and these four names; the largest total first. Raises MemoryError if there is no
    memory for the table.

    >>> isinstance(pysimd.performance_statistic(), str)
    True
    """
    table = _text(lib.SimdPerformanceStatistic())
    check()
    return table


def set_verbose(level: int) -> None:
    """Sets what the library reports about its calls.

    level : 0 for nothing; 1 to count and time calls for :func:`performance_statistic`; 2 to write a line for each on stderr,
        too.

    The environment variable ``SIMDNET_VERBOSE`` sets the initial level. At level 1 and 2 the library writes one line about
    itself on stderr, once. A change from 0 to 1 or 2 starts a new table. Raises ValueError for another level.

    >>> pysimd.set_verbose(0)
    """
    level = integer(level, "level")
    if not 0 <= level <= 2:
        raise ValueError(f"level is {level}, expected 0, 1 or 2")
    lib.SimdnetSetVerbose(level)


def get_num_threads() -> int:
    """The number of threads that one call may use: 1 unless set here or by the environment variable ``SIMDNET_NUM_THREADS``.

    >>> pysimd.get_num_threads() >= 1
    True
    """
    return int(lib.SimdGetThreadNumber())


def set_num_threads(number: int) -> None:
    """Sets the number of threads that one call may use, for the whole process.

    number : at least 1; limited to the number of processors that the process may use.

    Results do not depend on it. Small work always stays on the calling thread. Raises ValueError for a number below 1.

    >>> pysimd.set_num_threads(1)
    """
    number = integer(number, "number")
    if number < 1:
        raise ValueError(f"number is {number}, expected at least 1")
    lib.SimdSetThreadNumber(min(number, 1 << 30))


@contextmanager
def num_threads(number: int) -> Iterator[int]:
    """Sets the number of threads inside a ``with`` block, for the whole process, and returns the number in use.

    number : as for :func:`set_num_threads`.

    >>> with pysimd.num_threads(2) as number:
    ...     number <= 2
    True
    """
    before = get_num_threads()
    set_num_threads(number)
    try:
        yield get_num_threads()
    finally:
        set_num_threads(before)


def get_preference() -> str:
    """What the contexts of convolutions and products that the calling thread makes are to spare, see :func:`set_preference`.

    >>> pysimd.get_preference()
    'speed'
    """
    found = lib.SimdnetGetPreference()
    return next(name for name, number in _PREFERENCES.items() if number == found)


def set_preference(preference: PreferenceType | str) -> None:
    """Sets what the contexts of convolutions and products that the calling thread makes afterwards are to spare.

    preference : "speed", as long as nothing is set; "memory", "exact" or "bfloat16", see :class:`PreferenceType`.

    "speed" takes the fastest algorithm, for many layers of 3x3, 5x5, 1x3, ... Winograd's: its sums are 8 to 20 times less
    exact than direct ones, a NaN spreads over its tile, and its packed weights take 1.3 to 4 times the bytes of the weights.
    "exact" takes direct sums only, "memory" the least bytes of packed weights and buffers; today both choose the same
    algorithms. "bfloat16" is "speed" with products of bfloat16 numbers, 8 bits of precision, where that takes less time: on
    "amx", in layers of at least 8 inputs and outputs, 2 to 4 times as fast. Contexts that exist, and those of other threads,
    keep theirs. Raises ValueError for something else.

    >>> pysimd.set_preference("speed")
    """
    lib.SimdnetSetPreference(preference_number(preference))


def preference_number(preference: PreferenceType | str | None) -> int:
    """The number of a preference in C; of None, that of the calling thread. Raises ValueError for something else."""
    if preference is None:
        return int(lib.SimdnetGetPreference())
    if not isinstance(preference, str):
        from pysimd.enums import PreferenceType

        return PreferenceType(preference)
    if preference.lower() not in _PREFERENCES:
        names = ", ".join(map(repr, _PREFERENCES))
        raise ValueError(f"preference is {shown(preference)}, expected one of {names}")
    return _PREFERENCES[preference.lower()]


@contextmanager
def preference(preference: PreferenceType | str) -> Iterator[None]:
    """Sets the preference of the calling thread inside a ``with`` block.

    preference : as for :func:`set_preference`.

    >>> with pysimd.preference("exact"):
    ...     context = pysimd.Convolution32f((56, 56, 64), 64, kernel=3, padding="same")
    >>> context.info.startswith("Winograd")
    False
    """
    before = get_preference()
    set_preference(preference)
    try:
        yield
    finally:
        set_preference(before)


def isa_levels() -> tuple[str, ...]:
    """The instruction sets of this machine, oldest first.

    >>> pysimd.isa_levels()[0]
    'base'
    """
    levels: list[str] = []
    while True:
        name = lib.SimdnetIsaLevel(len(levels))
        if name == ffi.NULL:
            return tuple(levels)
        levels.append(_text(name))


def active_isa() -> str:
    """The instruction set in use.

    >>> pysimd.active_isa() in pysimd.isa_levels()
    True
    """
    return _text(lib.SimdnetActiveIsa())


def set_max_isa(name: str | None) -> None:
    """Limits the instruction set to `name` and older ones, for the whole process.

    name : one of :func:`isa_levels`; None for no limit.

    Existing contexts keep the instruction set they were created with. Raises ValueError for a name that no instruction set
    of this architecture has.

    >>> pysimd.set_max_isa("base")
    >>> pysimd.active_isa()
    'base'
    >>> pysimd.set_max_isa(None)
    """
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name is {name!r}, expected a str or None")
    if lib.SimdnetSetMaxIsa(ffi.NULL if name is None else name.encode()) != lib.SimdTrue:
        known = ", ".join(isa_levels())
        raise ValueError(f"name is {shown(name)}, expected None or an instruction set, of which this machine has {known}")


@contextmanager
def max_isa(name: str | None) -> Iterator[str]:
    """Limits the instruction set inside a ``with`` block, for the whole process, and returns the one in use.

    name : as for :func:`set_max_isa`.

    >>> with pysimd.max_isa("base") as level:
    ...     level
    'base'
    """
    before = active_isa()
    set_max_isa(name)
    try:
        yield active_isa()
    finally:
        set_max_isa(before)
