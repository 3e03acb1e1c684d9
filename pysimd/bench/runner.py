"""Takes the times.

A case, its limit and the peers are timed in turn, many short rounds, every second one in reverse, so that all see the same
clock and the same neighbours; of each the median is kept, with the minimum beside it. Some rows of the table take their
rounds in turn, too: those of one row are then seconds apart, and who disturbs the machine for a moment meets few of them.
What has an ``empty`` call (one that does nothing) is also timed without work, and the least of that is subtracted: what
remains is the function's time, not Python's.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Callable

import numpy as np

import pysimd
from pysimd.bench import clock, limits, peers
from pysimd.bench.cases import Case, Prepared
from pysimd.bench.ways import Unsupported, fastest

_ROUND_SECONDS = 0.004
_TOGETHER = 16  # rows that take their rounds in turn

#: Levels that differ from their parent in one family: others are not timed again beside it.
_ONLY = {"avx512vnni": "convolution_8i", "avx512bf16": "convolution_16b", "neondotprod": "convolution_8i"}


@dataclass(frozen=True)
class PeerTime:
    """A peer's times for a case, and which of its ways that was.

    `ratio` is the median of the rounds' ratios of its time to ours: what slows the machine for a while slows both. None
    where calling the peer takes so much longer than computing that the difference tells nothing.
    """

    how: str
    seconds: float
    best_seconds: float
    ratio: float | None


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
    threads: int = 1
    flops: int = 0  # of a case that computes
    traffic: int = 0  # bytes that a case needs to read and write at the least
    samples: tuple[float, ...] = ()
    limits: tuple[float, ...] = ()  # seconds of the limit, in the same rounds
    uses: Mapping[str, int] = field(default_factory=dict)  # how often which network has it
    peers: Mapping[str, PeerTime] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)  # why a peer has no time

    @property
    def fraction(self) -> float:
        """How much of the limit is reached: 1 is the machine's own speed."""
        return self.limit_seconds / self.seconds


def _calls_per_round(call: Callable[[], Any]) -> int:
    """By the fastest of some calls: a disturbed one would leave rounds of a single call, which tell about other things."""
    call()  # the first call allocates scratch and warms the caches
    seconds, begin = 1.0, time.perf_counter()
    for number in range(20):
        seconds = min(seconds, clock.mean(call, 1))
        if number >= 4 and time.perf_counter() - begin > _ROUND_SECONDS:
            break
    return max(1, min(10_000, round(_ROUND_SECONDS / max(seconds, 1e-7))))


class _Timed:
    """Something that is timed, and its samples."""

    def __init__(self, call: Callable[[], Any], empty: Callable[[], Any] | None) -> None:
        self._call, self._empty = call, empty
        self._count = _calls_per_round(call)
        self._times: list[float] = []
        self._overheads: list[float] = []

    def sample(self) -> None:
        self._call()  # what others have driven out of the caches comes back
        self._overheads.append(clock.typical(self._empty, self._count) if self._empty else 0.0)
        self._times.append(clock.typical(self._call, self._count))

    @property
    def samples(self) -> list[float]:
        least = min(self._overheads)
        return [max(seconds - least, 1e-9) for seconds in self._times]

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def least(self) -> float:
        return min(self.samples)

    def over(self, ours: _Timed) -> float | None:
        """The ratio of `PeerTime`."""
        if self.median < min(self._overheads) / 4:
            return None
        return statistics.median(theirs / mine for theirs, mine in zip(self.samples, ours.samples))


def _limit_of(prepared: Prepared) -> tuple[str, Callable[[], float]]:
    if prepared.flops:
        return prepared.arithmetic, lambda: prepared.flops / limits.operations_per_second(prepared.arithmetic)
    return "copy", limits.CopyLimit(prepared.traffic).seconds


def _built(case: Case, prepared: Prepared, peer: peers.Peer) -> peers.Way:
    """The case as the peer computes it fastest."""
    if case.subject is None or prepared.result is None:
        raise Unsupported("not a layer for peers")
    tolerance = 0.02 if case.subject.quantised else 1e-3  # by some bytes: a tie may be rounded otherwise
    return fastest(peer.build(case.subject, case.layout, prepared.values), peers.trial, prepared.result(), tolerance)


class _Peers:
    """What peers build of a case, and their times."""

    def __init__(self, case: Case, prepared: Prepared, others: Sequence[peers.Peer]) -> None:
        self.timed: dict[str, _Timed] = {}
        self.absent: dict[str, str] = {}  # why a peer has no time
        self._how: dict[str, str] = {}
        for peer in others:
            try:
                way = _built(case, prepared, peer)
                self.timed[peer.NAME], self._how[peer.NAME] = _Timed(way.call, way.empty), way.how
            except Exception as error:  # a peer's own failure is told, and is none of ours
                last = str(error).strip().splitlines()[-1:] or [""]
                self.absent[peer.NAME] = f"{type(error).__name__}: {last[0]}"

    def times(self, ours: _Timed) -> dict[str, PeerTime]:
        """After the last sample."""
        return {
            name: PeerTime(self._how[name], timed.median, timed.least, timed.over(ours))
            for name, timed in self.timed.items()
        }


class _Row:
    """One case on one instruction set, beside peers. The limits are those of one thread."""

    def __init__(self, case: Case, isa: str, threads: int, others: Sequence[peers.Peer]) -> None:
        self._case, self._isa, self._threads = case, isa, threads
        self._bounds: list[float] = []
        self._peaks: list[float] = []
        with self._set() as self._used:
            self._prepared = case.prepare()
            self._ours = _Timed(self._prepared.call, self._prepared.empty)
            self._beside = _Peers(case, self._prepared, others)
            self._limit, self._limit_seconds = _limit_of(self._prepared)
            self._limit_seconds()

    @contextmanager
    def _set(self) -> Iterator[int]:
        with pysimd.max_isa(self._isa), pysimd.num_threads(self._threads) as used:
            yield used

    def sample(self, reverse: bool) -> None:
        """A round."""
        turn = [self._ours, *self._beside.timed.values()]
        with self._set():
            self._bounds.append(self._limit_seconds())
            for entrant in reversed(turn) if reverse else turn:
                entrant.sample()
            self._peaks.append(limits.operations_per_second() if self._case.aim_us else 1.0)

    def result(self) -> Result:
        """After the last round."""
        case, prepared, bound = self._case, self._prepared, statistics.median(self._bounds)
        return Result(
            family=case.family,
            layer=case.layer,
            layout=case.layout,
            isa=self._isa,
            seconds=self._ours.median,
            best_seconds=self._ours.least,
            limit=self._limit,
            limit_seconds=bound,
            aim_seconds=case.aim_seconds(prepared, statistics.median(self._peaks), bound),
            info=prepared.info,
            threads=self._used,
            flops=prepared.flops,
            traffic=prepared.traffic or _least_traffic(case),
            samples=tuple(self._ours.samples),
            limits=tuple(self._bounds),
            uses=case.uses,
            peers=self._beside.times(self._ours),
            absent=self._beside.absent,
        )


def _timed(rows: Sequence[_Row], rounds: int) -> list[Result]:
    """Rows that take their rounds in turn."""
    for number in range(rounds):
        for row in rows:
            row.sample(reverse=number % 2 == 1)
    return [row.result() for row in rows]


def run_case(case: Case, isa: str, rounds: int, others: Sequence[peers.Peer] = (), threads: int = 1) -> Result:
    """Times one case on one instruction set, beside peers."""
    return _timed([_Row(case, isa, threads, others)], rounds)[0]


def isa_levels() -> list[str]:
    """The instruction sets of this machine, oldest first, up to the one in use: ``SIMDNET_MAX_ISA`` may be a cap."""
    levels = pysimd.isa_levels()
    return list(levels[: levels.index(pysimd.active_isa()) + 1])


def _least_traffic(case: Case) -> int:
    """Bytes of what goes into a block of layers, comes out of it, and of its weights."""
    if case.subject is None:
        return 0
    first = case.subject.layers[0]
    weights = sum(int(np.prod(layer.weight)) for layer in case.subject.layers if layer.weight)
    return 4 * (int(np.prod(first.src)) + weights + int(np.prod(case.subject.dst)))


def _levels_of(case: Case, levels: Sequence[str]) -> list[str]:
    return [isa for isa in levels if len(levels) == 1 or case.family == _ONLY.get(isa, case.family)]


def count(cases: Iterable[Case], levels: Sequence[str], counts: Sequence[int] = (1,)) -> int:
    """How many results :func:`run` gives."""
    return sum(len(_levels_of(case, levels)) for case in cases) * len(counts)


def run(
    cases: Sequence[Case],
    levels: Sequence[str],
    rounds: int,
    others: Sequence[peers.Peer] = (),
    counts: Sequence[int] = (1,),
) -> Iterator[Result]:
    """Times every case on every level with every number of threads, yielding results as they come; peers, which have one
    thread, beside the first number."""
    wanted = (
        (case, isa, threads, others if threads == counts[0] else ())
        for case in cases
        for isa in _levels_of(case, levels)
        for threads in counts
    )
    total = count(cases, levels, counts)
    for done in range(groups := -(-total // _TOGETHER)):
        size = total * (done + 1) // groups - total * done // groups
        yield from _timed([_Row(*row) for row in islice(wanted, size)], rounds)
