"""A library that has built a network, in a process of its own.

It selects the fastest of the library's implementations with the expected result, and then takes samples on request.
"""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

import pysimd
from bench.implementations import fastest
from bench.layers import Array
from bench.remote import Remote
from bench.whole import OURS
from pysimd.network import Graph

_TOLERANCE = 1e-3  # relative to the largest value


@dataclass(frozen=True)
class Round:
    """A round of a library: seconds of a pause before it, of passes that are not counted, and of those that are, with the
    least number of these."""

    pause: float
    before: float
    counted: float
    least: int = 2


_TRIAL = Round(0, 0, 0.1)


def passes(call: Callable[[], Any], round_: Round) -> list[float]:
    """Seconds of each counted call; at least one is not counted."""
    time.sleep(round_.pause)
    begin = time.perf_counter()
    call()
    while time.perf_counter() - begin < round_.before:
        call()
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < round_.least or time.perf_counter() - begin < round_.counted:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def _trial(call: Callable[[], Any]) -> float:
    return min(passes(call, _TRIAL))


@dataclass(frozen=True)
class Task:
    """The task of a worker; `expected` is None for the first."""

    isa: str
    graph: Graph
    images: Array  # (N, H, W, C)
    threads: int
    expected: Array | None = None


class _Built:
    """In the process: the fastest implementation."""

    def __init__(self, name: str, task: Task) -> None:
        if name == OURS:
            pysimd.set_max_isa(task.isa)
        library = importlib.import_module(f"bench.whole.{name}")
        self._version = library.VERSION
        self._fastest = fastest(library.build(task.graph, task.images, task.threads), _trial, task.expected, _TOLERANCE)

    def about(self) -> tuple[str, str, Array]:
        return self._version, self._fastest.how, np.asarray(self._fastest.result())

    def sample(self, round_: Round) -> list[float]:
        return passes(self._fastest.call, round_)


class Worker:
    """A library with a network, in a process of its own."""

    def __init__(self, name: str, task: Task) -> None:
        self.name = name
        self._remote = Remote(_Built, name, task)
        self.version, self.how, self.result = self._remote.call("about")

    def sample(self, round_: Round) -> list[float]:
        """Seconds of several consecutive passes."""
        times: list[float] = self._remote.call("sample", round_)
        return times

    def close(self) -> None:
        """Ends the process."""
        self._remote.close()
