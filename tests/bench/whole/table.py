"""Measures the times of whole networks and prints them.

All libraries have built the network before the first is timed; then they are timed alternately, in rounds of whole passes,
every second one in reverse order. For a round, the median pass counts; for the rounds, the median of the ratios to ours.

With one thread, rounds are short. With several, each library runs alone for seconds: short rounds made all of them slower
(MobileNetV2 on two cores of an Emerald Rapids: 3.7 ms instead of 2.5, ONNX Runtime 4.7 instead of 3.4).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from bench import clock
from bench.implementations import Unsupported
from bench.layers import Array
from bench.models import MODELS
from bench.report import markdown_table
from bench.whole import OURS, USUAL
from bench.whole.workers import Round, Task, Worker
from pysimd.network import Graph

_SHORT = Round(0, 0, 0.05)
# With several threads. The pause: threads of the previous library may wait actively for up to 0.2 s.
_ALONE = Round(0.3, 0.3, 2.0)


@dataclass(frozen=True)
class Time:
    """A library's time for a network: seconds of an image, the median of the rounds, the fastest pass, and each round."""

    version: str
    how: str
    seconds: float
    best_seconds: float
    rounds: tuple[float, ...]

    @property
    def mark(self) -> str:
        """The mark after an unreliable time."""
        return "~" if clock.swings(self.seconds, self.best_seconds) else ""


@dataclass(frozen=True)
class Whole:
    """A network with a number of threads on one instruction set."""

    network: str
    title: str
    threads: int
    isa: str
    ours: Time
    peers: Mapping[str, Time] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)  # why a library has no time
    batch: int = 1

    def ratio(self, peer: str) -> float:
        """Its time relative to ours: the median of the rounds' ratios."""
        return statistics.median(theirs / mine for theirs, mine in zip(self.peers[peer].rounds, self.ours.rounds))

    def spread(self, peer: str) -> float:
        """Half of the interquartile range of the rounds' ratios."""
        ratios = sorted(theirs / mine for theirs, mine in zip(self.peers[peer].rounds, self.ours.rounds))
        low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
        return (high - low) / 2


def images_of(graph: Graph) -> Array:
    """The same for all, (N, H, W, C)."""
    n, c, h, w = graph.shape(graph.inputs[0])
    return np.random.default_rng(7).random((n, h, w, c), np.float32)


def time_network(name: str, batch: int, threads: int, isa: str, rounds: int, peers: Sequence[str]) -> Whole:
    """One line of the table."""
    graph = MODELS[name](batch=batch)
    task = Task(isa, graph, images_of(graph), threads)
    round_ = _SHORT if threads == 1 else _ALONE
    absent: dict[str, str] = {}
    with ExitStack() as stack:
        ours = Worker(OURS, task)
        stack.callback(ours.close)
        workers = [ours]
        for peer in peers:
            try:
                worker = Worker(peer, dataclasses.replace(task, expected=ours.result))
                stack.callback(worker.close)
                workers.append(worker)
            except Unsupported as error:
                absent[peer] = str(error)
        times = times_of(workers, rounds, round_, batch)
    mine = times.pop(OURS)
    return Whole(name, graph.name, threads, isa, mine, times, absent, batch)


class Sampled(Protocol):
    """A process with a network."""

    name: str
    version: str
    how: str

    def sample(self, round_: Round) -> list[float]: ...


def times_of(
    workers: Sequence[Sampled], rounds: int, round_: Round, batch: int, seconds: float = math.inf
) -> dict[str, Time]:
    """The times of all by name, of as many rounds as requested; fewer, but at least two, if they take that many seconds."""
    samples: dict[str, list[list[float]]] = {worker.name: [] for worker in workers}
    begin = time.perf_counter()
    for number in range(rounds):
        if number >= 2 and time.perf_counter() - begin > seconds:
            break
        for worker in workers if number % 2 == 0 else reversed(workers):
            samples[worker.name].append([taken / batch for taken in worker.sample(round_)])
    return {worker.name: _time(worker, samples[worker.name]) for worker in workers}


def _time(worker: Sampled, samples: list[list[float]]) -> Time:
    rounds = tuple(statistics.median(times) for times in samples)
    return Time(worker.version, worker.how, statistics.median(rounds), min(map(min, samples)), rounds)


def run(
    names: Iterable[str],
    batches: Sequence[int],
    counts: Sequence[int],
    levels: Sequence[str],
    rounds: int,
    peers: Sequence[str],
) -> Iterator[Whole]:
    """Times every network with batches of every size and every number of threads, yielding results as they come; peers only
    at the newest level."""
    for name, isa, batch, threads in itertools.product(names, levels, batches, counts):
        yield time_network(name, batch, threads, isa, rounds, peers if isa == levels[-1] else ())


def figures(results: Iterable[Whole]) -> dict[str, Any]:
    """All figures, for JSON."""
    rows = []
    for whole in results:
        ratios = {name: [whole.ratio(name), whole.spread(name)] for name in whole.peers}
        swings = [name for name, taken in {OURS: whole.ours, **whole.peers}.items() if taken.mark]
        rows.append(dict(dataclasses.asdict(whole), ratios=ratios, swings=swings))
    return {"networks": rows}


def read(figures: Mapping[str, Any]) -> list[Whole]:
    """Reads the results back from :func:`figures`, by batch, number of threads and network."""
    results = []
    for row in figures.get("networks", ()):
        ours, *peers = (
            Time(**{**taken, "rounds": tuple(taken["rounds"])}) for taken in (row["ours"], *row["peers"].values())
        )
        found = {name: row[name] for name in ("network", "title", "threads", "isa", "absent")}
        results.append(Whole(**found, ours=ours, peers=dict(zip(row["peers"], peers)), batch=row.get("batch", 1)))
    order = [*USUAL, *MODELS]
    return sorted(results, key=lambda r: (r.batch, r.threads, order.index(r.network) if r.network in order else 99))


# ---- the text

_LEGEND = """Milliseconds of an image of the batch. After another library's time: its ratio to ours, ± half of the
interquartile range of the rounds. ~: the rounds vary: their median is more than 1.5 times the fastest pass."""


def header(peers: Sequence[str]) -> str:
    """The line above the table."""
    head = f"{'network':<16} {'level':<11} {'batch':>5} {'threads':>7} {'ms':>8} {'best':>8}" + "".join(
        f" {peer:>20}" for peer in peers
    )
    return f"{head}\n{'-' * len(head)}"


def row(whole: Whole, peers: Sequence[str]) -> str:
    """Our time; for each peer its time, and its ratio to ours."""
    cells = [
        f"{whole.peers[peer].seconds * 1e3:8.2f}{whole.peers[peer].mark} {whole.ratio(peer):5.2f} ± {whole.spread(peer):.2f}"
        if peer in whole.peers
        else "-"
        for peer in peers
    ]
    mine = f"{whole.ours.seconds * 1e3:8.2f} {whole.ours.best_seconds * 1e3:8.2f}{whole.ours.mark}"
    return f"{whole.title:<16} {whole.isa:<11} {whole.batch:>5} {whole.threads:>7} {mine}" + "".join(
        f" {cell:>20}" for cell in cells
    )


def footer(results: Sequence[Whole]) -> str:
    """The meaning of columns; how each library ran; which is faster; what is missing."""
    return "\n".join(["", _LEGEND, "", *_notes(results)])


def _notes(results: Sequence[Whole]) -> list[str]:
    implementations: dict[str, list[str]] = {}
    for whole in results:
        for name, taken in whole.peers.items():
            implementations.setdefault(f"{name} {taken.version}, {taken.how}", []).append(_named(whole))
    lines = [f"{implementation}: {', '.join(networks)}" for implementation, networks in sorted(implementations.items())]
    for whole in results:
        lines += [f"without {name} in {_named(whole)}: {why}" for name, why in whole.absent.items()]
        behind = [name for name in whole.peers if whole.ratio(name) < 1]
        lines += [f"{name} is ahead in {_named(whole)}" for name in behind]
    return lines


def _named(whole: Whole) -> str:
    return f"{whole.title} ({whole.threads}{f', batch {whole.batch}' if whole.batch > 1 else ''})"


def section(results: Sequence[Whole], peers: Sequence[str]) -> str:
    """The table as a section of a page of Markdown."""
    rows = []
    for whole in results:
        cells = [
            f"{whole.peers[peer].seconds * 1e3:.2f}{whole.peers[peer].mark} "
            f"({whole.ratio(peer):.2f} ± {whole.spread(peer):.2f})"
            if peer in whole.peers
            else "-"
            for peer in peers
        ]
        mine = f"{whole.ours.seconds * 1e3:.2f}{whole.ours.mark}"
        rows.append([whole.title, whole.isa, str(whole.batch), str(whole.threads), mine, *cells])
    lines = [
        "## Whole networks",
        "",
        _LEGEND,
        "",
        *markdown_table(["network", "level", "batch", "threads", "simdnet", *peers], rows),
        "",
        "The fastest implementation of each library, and the networks (threads) for which it was the fastest:",
        "",
        *(f"- {note}" for note in _notes(results)),
    ]
    return "\n".join(lines) + "\n"
