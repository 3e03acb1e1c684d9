"""Takes the times.

A case and its limit are timed in turn, many short rounds, so that both see the same clock and the same neighbours; of each
the median is kept, with the minimum beside it. A case with ``empty`` arguments (a call that does nothing) is also timed
without work, and that is subtracted: what remains is the function's time, not Python's.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Callable

from pysimd._library import ffi, lib
from pysimd.bench import limits
from pysimd.bench.cases import Case, Prepared

_ROUND_SECONDS = 0.004


@dataclass(frozen=True)
class Result:
    """One case on one instruction set. Times are seconds for one call."""

    family: str
    layer: str
    layout: str
    isa: str
    seconds: float
    best_seconds: float
    limit: str
    limit_seconds: float
    aim_seconds: float | None
    info: str

    @property
    def fraction(self) -> float:
        """How much of the limit is reached: 1 is the machine's own speed."""
        return self.limit_seconds / self.seconds


def _time_calls(call: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def _calls_per_round(call: Callable[[], Any]) -> int:
    call()  # the first call allocates scratch and warms the caches
    return max(1, min(10_000, round(_ROUND_SECONDS / max(_time_calls(call, 2), 1e-7))))


def _limit_of(prepared: Prepared) -> tuple[str, Callable[[], float]]:
    if prepared.flops:
        flops = prepared.flops
        return "fma", lambda: flops / limits.flops_per_second()
    return "copy", limits.CopyLimit(prepared.traffic).seconds


def run_case(case: Case, isa: str, rounds: int) -> Result:
    """Times one case on one instruction set."""
    if not lib.SimdnetSetMaxIsa(isa.encode()):
        raise ValueError(f"isa is {isa!r}, expected an instruction set of this machine")
    try:
        prepared = case.prepare()
        count = _calls_per_round(prepared.call)
        limit, limit_seconds = _limit_of(prepared)
        limit_seconds()
        times, overheads, bounds, peaks = [], [], [], []
        for _ in range(rounds):
            bounds.append(limit_seconds())
            overheads.append(_time_calls(prepared.empty, count) if prepared.empty else 0.0)
            times.append(max(_time_calls(prepared.call, count) - overheads[-1], 1e-9))
            peaks.append(limits.flops_per_second() if case.aim_us else 1.0)
    finally:
        lib.SimdnetSetMaxIsa(ffi.NULL)
    return Result(
        family=case.family,
        layer=case.layer,
        layout=case.layout,
        isa=isa,
        seconds=statistics.median(times),
        best_seconds=min(times),
        limit=limit,
        limit_seconds=statistics.median(bounds),
        aim_seconds=case.aim_seconds(prepared, statistics.median(peaks), statistics.median(bounds)),
        info=prepared.info,
    )


def isa_levels() -> list[str]:
    """The instruction sets of this machine, oldest first."""
    names: list[str] = []
    while (name := lib.SimdnetIsaLevel(len(names))) != ffi.NULL:
        names.append(ffi.string(name).decode())
    return names


def run(cases: Iterable[Case], levels: list[str], rounds: int) -> Iterator[Result]:
    """Times every case on every level, yielding results as they come."""
    for case in cases:
        for isa in levels:
            yield run_case(case, isa, rounds)
