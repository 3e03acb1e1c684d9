"""The steps of networks: the time of each in the network, alone, and what bounds it.

In the network, a step finds its weights in no cache if others have used the caches since the last image; alone, it is called
again and again. No step can be faster than alone, nor than one core reads its packed weights from memory: the bound is the
longer of these times. Rounds of passes of the network, of each step alone, and of the speed of memory alternate. With
several threads, rounds also have passes on one thread, whose steps show where threads gain least.
"""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

import pysimd
from bench import clock
from bench.limits import ReadLimit
from bench.models import MODELS
from bench.report import markdown_table
from bench.whole.table import images_of
from bench.whole.workers import Round, passes
from pysimd.network import Graph, Runner
from pysimd.network.binding import Bound
from pysimd.network.passes import simplified
from pysimd.network.reports.report import described

#: What a network may take, relative to the sum of the bounds of its steps.
AIM = 1.08

_PASSES = Round(0, 0, 0.1)
_ALONE_SECONDS = 0.004
_LISTED = 10  # steps of a network on a page

_Calls = Sequence[Bound]


@dataclass(frozen=True)
class Step:
    """A step of a network. Times are seconds of a pass, medians of the rounds."""

    name: str
    info: str
    network_seconds: float
    alone_seconds: float
    weight_bytes: int  # packed
    bound_seconds: float
    single_seconds: float = 0.0  # in the network on one thread; measured with several threads only

    @property
    def speedup(self) -> float:
        """The time on one thread over that on several."""
        return self.single_seconds / max(self.network_seconds, 1e-9)

    @property
    def loss(self) -> float:
        """Seconds of a pass beyond the bound."""
        return self.network_seconds - self.bound_seconds


@dataclass(frozen=True)
class Stepped:
    """A network on one instruction set with a number of threads."""

    network: str
    title: str
    isa: str
    batch: int
    seconds: float  # of a pass without clocks between steps
    read_speed: float  # bytes per second of memory
    steps: tuple[Step, ...]
    threads: int = 1
    single_seconds: float = 0.0  # of a pass on one thread; measured with several threads only

    @property
    def bound_seconds(self) -> float:
        return sum(step.bound_seconds for step in self.steps)

    @property
    def ratio(self) -> float:
        """Its time over the sum of the bounds."""
        return self.seconds / self.bound_seconds


class _Timed:
    """A network that is ready to run, and the times of each round."""

    def __init__(self, graph: Graph, threads: int) -> None:
        self._graph, self._runner, self._threads = graph, Runner(simplified(graph), "nhwc"), threads
        np.copyto(self._runner.inputs[graph.inputs[0]], images_of(graph))
        self._calls = [step.calls for step in self._runner.steps]
        self._alone = [_together(calls) for calls in self._calls]
        self._runner.run()
        self._counts = [max(1, round(_ALONE_SECONDS / max(clock.mean(call, 1), 1e-7))) for call in self._alone]
        self._memory = ReadLimit()
        self._whole: list[float] = []
        self._single: list[float] = []
        self._in_network: list[list[float]] = []
        self._on_one_thread: list[list[float]] = []
        self._by_itself: list[list[float]] = []
        self._speeds: list[float] = []

    def sample(self) -> None:
        """Measures one round."""
        if self._threads > 1:
            with pysimd.num_threads(1):
                self._sample_network(self._single, self._on_one_thread)
        self._sample_network(self._whole, self._in_network)
        self._by_itself.append([_repeated(call, count) for call, count in zip(self._alone, self._counts)])
        self._speeds.append(self._memory.bytes_per_second())

    def _sample_network(self, whole: list[float], steps: list[list[float]]) -> None:
        whole.append(statistics.median(passes(self._runner.run, _PASSES)))
        count = max(2, round(_PASSES.counted / whole[-1]))
        clocks = min(min(clocked([()] * len(self._alone))) for _ in range(count))
        each = zip(*(clocked(self._calls) for _ in range(count)))
        steps.append([max(statistics.median(times) - clocks, 0.0) for times in each])

    def result(self, network: str, isa: str, batch: int) -> Stepped:
        """The result, after the last round."""
        speed = statistics.median(self._speeds)
        steps = []
        measured = (self._in_network, self._by_itself, self._on_one_thread or [[0.0] * len(self._alone)])
        times = zip(*(map(statistics.median, zip(*rounds)) for rounds in measured))
        for number, (in_network, alone, single) in enumerate(times):
            step = self._runner.steps[number]
            size = step.weight_bytes
            info = step.context.info if step.context else ""
            bound = max(alone, size / speed)
            steps.append(Step(described(self._runner.placed, step.node), info, in_network, alone, size, bound, single))
        whole, single = (statistics.median(times or [0.0]) for times in (self._whole, self._single))
        return Stepped(network, self._graph.name, isa, batch, whole, speed, tuple(steps), self._threads, single)


def _together(calls: _Calls) -> Callable[[], Any]:
    def run() -> None:
        for call in calls:
            call()

    return calls[0] if len(calls) == 1 else run


def clocked(steps: Sequence[_Calls]) -> list[float]:
    """Seconds of each step of a pass."""
    times = [time.perf_counter()]
    for calls in steps:
        for call in calls:
            call()
        times.append(time.perf_counter())
    return [end - begin for begin, end in zip(times, times[1:])]


def _repeated(call: Callable[[], Any], count: int) -> float:
    call()
    return clock.typical(call, count)


def time_steps(name: str, batch: int, isa: str, rounds: int, threads: int = 1) -> Stepped:
    """A network, step by step."""
    with pysimd.max_isa(isa), pysimd.num_threads(threads):
        timed = _Timed(MODELS[name](batch=batch), threads)
        for _ in range(rounds):
            timed.sample()
        return timed.result(name, isa, batch)


def figures(results: Iterable[Stepped]) -> dict[str, Any]:
    """All figures, for JSON."""
    totals = ("ratio", "bound_seconds")
    return {"steps": [{**dataclasses.asdict(one), **{what: getattr(one, what) for what in totals}} for one in results]}


def read(figures: Mapping[str, Any]) -> list[Stepped]:
    """Reads the results back from :func:`figures`."""
    results = []
    for row in figures.get("steps", ()):
        found = {field.name: row[field.name] for field in dataclasses.fields(Stepped) if field.name in row}
        results.append(Stepped(**{**found, "steps": tuple(Step(**step) for step in row["steps"])}))
    return results


# ---- the text

_LEGEND = f"""network: microseconds of a step in a pass of the network. alone: called again and again. bound: the longer of
that and of the time in which one core reads the packed weights (MB) from memory in order, as measured in the same run.
lost: network less bound. A network's time over the sum of its bounds: the aim is {AIM}. gain: with several threads, the
time of the step in a pass on one thread over that on all."""
_HEAD = ["lost", "network", "alone", "bound", "MB", "gain", "step", "how"]


def _by_loss(one: Stepped) -> Iterator[list[str]]:
    for step in sorted(one.steps, key=lambda step: -step.loss):
        times = (step.loss, step.network_seconds, step.alone_seconds, step.bound_seconds)
        numbers = [*(f"{seconds * 1e6:.1f}" for seconds in times), f"{step.weight_bytes / 1e6:.2f}"]
        yield [*numbers, f"{step.speedup:.2f}" if one.threads > 1 else "", step.name, step.info]


def total(one: Stepped) -> str:
    """One line: the network's time, the sum of bounds, and their ratio."""
    sums = [
        sum(step.network_seconds for step in one.steps),
        sum(step.alone_seconds for step in one.steps),
        one.bound_seconds,
    ]
    steps, alone, bound = (f"{seconds * 1e3:.2f}" for seconds in sums)
    how = f"batch {one.batch}" if one.threads == 1 else f"batch {one.batch}, {one.threads} threads"
    gain = f", {one.single_seconds / one.seconds:.3f} times as fast as on one thread" if one.threads > 1 else ""
    return (
        f"{one.title}, {one.isa}, {how}: {one.seconds * 1e3:.2f} ms{gain} ({steps} with clocks between steps), "
        f"alone {alone}, bounds {bound}: {one.ratio:.3f} of them; memory is read at {one.read_speed / 1e9:.1f} GB/s"
    )


def text(one: Stepped) -> str:
    """The table of a network, the largest loss first, and its totals."""
    lines = [_HEAD, *_by_loss(one)]
    shown = [" ".join([*(f"{cell:>9}" for cell in line[:6]), f" {line[6]:<44}", line[7]]).rstrip() for line in lines]
    return "\n".join(["", *shown, total(one)])


def footer() -> str:
    """The meaning of columns."""
    return "\n" + _LEGEND


def section(results: Sequence[Stepped]) -> str:
    """The totals and the largest losses as a section of a page of Markdown."""
    totals = [
        [
            one.title,
            one.isa,
            str(one.batch),
            str(one.threads),
            f"{one.seconds * 1e3:.2f}",
            f"{sum(step.alone_seconds for step in one.steps) * 1e3:.2f}",
            f"{one.bound_seconds * 1e3:.2f}",
            f"{one.ratio:.3f}",
            f"{one.read_speed / 1e9:.1f}",
        ]
        for one in results
    ]
    head = ["network", "level", "batch", "threads", "ms", "alone", "bounds", "ms over bounds", "memory, GB/s"]
    lines = ["## Networks, step by step", "", _LEGEND, "", *markdown_table(head, totals)]
    for one in results:
        batch = f", batch {one.batch}" if one.batch > 1 else ""
        threads = f", {one.threads} threads" if one.threads > 1 else ""
        lines += ["", f"### {one.title}{batch}{threads}: where most is lost", ""]
        lines += markdown_table(_HEAD, list(_by_loss(one))[:_LISTED])
    return "\n".join(lines) + "\n"
