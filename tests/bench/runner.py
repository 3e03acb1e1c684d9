"""Measures the times.

A case, its limit and the peers are timed alternately, in many short rounds, every second one in reverse order, so that the
clock and other processes affect all of them alike; for each, the median and the minimum are kept. Peers run in processes of
their own, which sleep while others are timed, and whose crashes affect no others. The rounds of several rows of the table
are interleaved, too: those of one row are then seconds apart, and a short disturbance of the machine affects few of them.

Cold calls, if requested, follow the warm ones of a round, each after other data have gone through the caches.

If there is an ``empty`` call (one that does nothing), it is timed as well, and the least of its times is subtracted: what
remains is the function's time, not Python's.
"""

from __future__ import annotations

import os
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Callable

import numpy as np

import pysimd
from bench import clock, limits
from bench.cases import Case, Prepared
from bench.implementations import Unsupported
from bench.layers import Block
from bench.peers.workers import Built, Peer, Task
from bench.whole import OURS
from pysimd._library import ROOT

_TOGETHER = 16  # rows whose rounds are interleaved


def _families_of_levels() -> dict[str, set[str]]:
    """The families in which a level differs from its parent, for levels that improve only some kernels (``level.mk``)."""
    families = {}
    for path in Path(ROOT, "libsrc", "isa").glob("*/level.mk"):
        if kernels := re.search(r"^KERNELS_\w+ *:= (.+)", path.read_text(), re.MULTILINE):
            sources = (Path(ROOT, "libsrc", "kernels", f"{name}.c").read_text() for name in kernels[1].split())
            families[path.parent.name] = set(re.findall(r"^SN_INSTALL\(\w+, (\w+)\)", "".join(sources), re.MULTILINE))
    return families


# For these levels, other families are not timed again.
_ONLY = _families_of_levels()


@dataclass(frozen=True)
class PeerTime:
    """A peer's times for a case, and how it computed it.

    `ratio` is the median of the rounds' ratios of its time to ours: a temporary slowdown of the machine affects both. None
    where the overhead of calling the peer exceeds the computation so much that the difference is meaningless. The cold ones
    are those of calls that find nothing in the caches, None if there are none.
    """

    how: str
    seconds: float
    best_seconds: float
    ratio: float | None
    cold_seconds: float | None = None
    cold_ratio: float | None = None


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
    flops: int = 0  # for a case that computes
    traffic: int = 0  # the least number of bytes that a case must read and write
    samples: tuple[float, ...] = ()
    limits: tuple[float, ...] = ()  # seconds of the limit, in the same rounds
    cold_samples: tuple[float, ...] = ()  # seconds of calls that find nothing in the caches, one in each round
    uses: Mapping[str, int] = field(default_factory=dict)  # how often each network contains it
    peers: Mapping[str, PeerTime] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)  # why a peer has no time
    draw: tuple[int, ...] = ()  # of a layer drawn at random: the seed and the index

    @property
    def best_ratio(self) -> float | None:
        """The time of the fastest peer over ours, if one has a time."""
        return min((time.ratio for time in self.peers.values() if time.ratio is not None), default=None)

    @property
    def fraction(self) -> float:
        """The fraction of the limit that is reached; 1 is the speed of the machine."""
        return self.limit_seconds / self.seconds

    @property
    def cold_seconds(self) -> float | None:
        """The median of the cold calls, if there are any."""
        return statistics.median(self.cold_samples) if self.cold_samples else None

    @property
    def swings(self) -> list[str]:
        """The names of those whose rounds differ so much that the median is unreliable: ours, and peers."""
        times: dict[str, Result | PeerTime] = {OURS: self, **self.peers}
        return [name for name, time in times.items() if clock.swings(time.seconds, time.best_seconds)]


class _Timed:
    """A timed call and its samples; `cold` are those of cold calls, if they are measured too."""

    def __init__(self, sample: Callable[[], clock.Sample], cold: Callable[[], clock.Sample] | None = None) -> None:
        self._sample = sample
        self._taken: list[clock.Sample] = []
        self.cold = _Timed(cold) if cold else None

    def sample(self) -> None:
        self._taken.append(self._sample())
        if self.cold:
            self.cold.sample()

    @property
    def _overhead(self) -> float:
        return min(taken.overhead for taken in self._taken)

    @property
    def samples(self) -> list[float]:
        return [max(taken.seconds - self._overhead, 1e-9) for taken in self._taken]

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def least(self) -> float:
        return min(self.samples)

    def over(self, ours: _Timed) -> float | None:
        """The ratio of `PeerTime`."""
        if self.median < self._overhead / 4:
            return None
        return statistics.median(theirs / mine for theirs, mine in zip(self.samples, ours.samples))


def _limit_of(prepared: Prepared) -> tuple[str, Callable[[], float]]:
    found: list[tuple[str, Callable[[], float]]] = []
    if prepared.flops:
        found.append((prepared.arithmetic, lambda: prepared.flops / limits.operations_per_second(prepared.arithmetic)))
    if prepared.either or not found:
        found.append(("copy", limits.CopyLimit(prepared.traffic).seconds))
    return max(found, key=lambda limit: limit[1]()) if len(found) > 1 else found[0]


def _task(case: Case, prepared: Prepared) -> Task | None:
    """The case for peers, if it is a layer or an operator."""
    subject = prepared.operator or case.subject
    if subject is None or prepared.result is None:
        return None
    expected = prepared.result()
    of_bytes = expected.dtype.itemsize == 1 or (isinstance(subject, Block) and subject.quantised)
    tolerance = 0.02 if of_bytes else 1e-3  # they may round ties differently
    return Task(subject, expected, tolerance, case.layout, prepared.values)


class _Beside:
    """A case built by a peer, and its times; after a failure, no more times, and `fault` is the reason."""

    def __init__(self, task: Task, peer: Peer, cold: bool) -> None:
        self.name, self.fault = peer.NAME, ""
        self._built: Built | None = None
        with self._noted():
            self._built = Built(peer, task)
            self._timed = _Timed(self._built.sample, partial(self._built.sample, cold=True) if cold else None)

    @contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except Unsupported as error:
            self.fault = str(error)

    def sample(self) -> None:
        with self._noted():
            if not self.fault:
                self._timed.sample()

    def time(self, ours: _Timed) -> PeerTime:
        """The result, after the last sample."""
        assert self._built is not None
        times = PeerTime(self._built.how, self._timed.median, self._timed.least, self._timed.over(ours))
        cold, our_cold = self._timed.cold, ours.cold
        if cold is None or our_cold is None:
            return times
        return replace(times, cold_seconds=cold.median, cold_ratio=cold.over(our_cold))

    def close(self) -> None:
        if self._built is not None:
            self._built.close()


class _Row:
    """One case on one instruction set, with peers. The limits are those of one thread."""

    def __init__(self, case: Case, isa: str, threads: int, others: Sequence[Peer], cold: bool) -> None:
        self._case, self._isa, self._threads = case, isa, threads
        self._bounds: list[float] = []
        self._peaks: list[float] = []
        with self._set() as self._used:
            self._prepared = case.prepare()
            call, empty = self._prepared.call, self._prepared.empty
            self._ours = _Timed(clock.Timer(call, empty).sample, clock.ColdTimer(call, empty).sample if cold else None)
            task = _task(case, self._prepared)
            self._beside = [_Beside(task, peer, cold) for peer in others if task]
            self._limit, self._limit_seconds = _limit_of(self._prepared)
            self._limit_seconds()

    @contextmanager
    def _set(self) -> Iterator[int]:
        with pysimd.max_isa(self._isa), pysimd.num_threads(self._threads) as used:
            yield used

    def sample(self, reverse: bool) -> None:
        """Measures one round."""
        turn: list[_Timed | _Beside] = [self._ours, *self._beside]
        with self._set():
            self._bounds.append(self._limit_seconds())
            for entrant in reversed(turn) if reverse else turn:
                entrant.sample()
            self._peaks.append(limits.operations_per_second() if self._case.aim_us else 1.0)

    def result(self) -> Result:
        """The result, after the last round."""
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
            cold_samples=tuple(self._ours.cold.samples) if self._ours.cold else (),
            uses=case.uses,
            peers={peer.name: peer.time(self._ours) for peer in self._beside if not peer.fault},
            absent={peer.name: peer.fault for peer in self._beside if peer.fault},
            draw=case.draw,
        )

    def close(self) -> None:
        """Frees what peers have built."""
        for peer in self._beside:
            peer.close()


def _timed(rows: Sequence[_Row], rounds: int) -> list[Result]:
    """Times rows with interleaved rounds."""
    for number in range(rounds):
        for row in rows:
            row.sample(reverse=number % 2 == 1)
    for row in rows:
        row.close()
    return [row.result() for row in rows]


def run_case(
    case: Case, isa: str, rounds: int, others: Sequence[Peer] = (), threads: int = 1, *, cold: bool = False
) -> Result:
    """Times one case on one instruction set, with peers."""
    return _timed([_Row(case, isa, threads, others, cold)], rounds)[0]


def isa_levels() -> list[str]:
    """The instruction sets of this machine, oldest first, up to ``SIMDNET_MAX_ISA``."""
    levels = pysimd.isa_levels()
    return list(levels[: levels.index(pysimd.active_isa()) + 1] if os.environ.get("SIMDNET_MAX_ISA") else levels)


def _least_traffic(case: Case) -> int:
    """The bytes of the source, the result and the weights of a block of layers."""
    if case.subject is None:
        return 0
    first = case.subject.layers[0]
    weights = sum(int(np.prod(layer.weight)) for layer in case.subject.layers if layer.weight)
    return 4 * (int(np.prod(first.src)) + weights + int(np.prod(case.subject.dst)))


def _levels_of(case: Case, levels: Sequence[str]) -> list[str]:
    return [isa for isa in levels if len(levels) == 1 or case.family in _ONLY.get(isa, {case.family})]


def count(cases: Iterable[Case], levels: Sequence[str], counts: Sequence[int] = (1,)) -> int:
    """The number of results of :func:`run`."""
    return sum(len(_levels_of(case, levels)) for case in cases) * len(counts)


def run(
    cases: Sequence[Case],
    levels: Sequence[str],
    rounds: int,
    others: Sequence[Peer] = (),
    counts: Sequence[int] = (1,),
    *,
    cold: bool = False,
) -> Iterator[Result]:
    """Times every case on every level with every number of threads, yielding results as they come; peers, which use one
    thread, only with the first number. If `cold`, also those of cold calls."""
    wanted = (
        (case, isa, threads, others if threads == counts[0] else ())
        for case in cases
        for isa in _levels_of(case, levels)
        for threads in counts
    )
    total = count(cases, levels, counts)
    for done in range(groups := -(-total // _TOGETHER)):
        size = total * (done + 1) // groups - total * done // groups
        yield from _timed([_Row(*row, cold) for row in islice(wanted, size)], rounds)
