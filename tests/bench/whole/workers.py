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

_TRIAL_SECONDS, _ROUND_SECONDS = 0.1, 0.05
_MOST_CALLS = 50
_TOLERANCE = 1e-3  # relative to the largest value


def _calls(call: Callable[[], Any], seconds: float, most: int = _MOST_CALLS) -> list[float]:
    """The times of several calls, after one that refills the caches."""
    call()
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < 2 or (time.perf_counter() - begin < seconds and len(times) < most):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def _trial(call: Callable[[], Any]) -> float:
    return min(_calls(call, _TRIAL_SECONDS))


@dataclass(frozen=True)
class Task:
    """The task of a worker; `expected` is None for the first."""

    isa: str
    graph: Graph
    image: Array
    threads: int
    expected: Array | None = None


class _Built:
    """In the process: the fastest implementation."""

    def __init__(self, name: str, task: Task) -> None:
        if name == OURS:
            pysimd.set_max_isa(task.isa)
        library = importlib.import_module(f"bench.whole.{name}")
        self._version = library.VERSION
        self._fastest = fastest(library.build(task.graph, task.image, task.threads), _trial, task.expected, _TOLERANCE)

    def about(self) -> tuple[str, str, Array]:
        return self._version, self._fastest.how, np.asarray(self._fastest.result())

    def sample(self) -> list[float]:
        return _calls(self._fastest.call, _ROUND_SECONDS)


class Worker:
    """A library with a network, in a process of its own."""

    def __init__(self, name: str, task: Task) -> None:
        self.name = name
        self._remote = Remote(_Built, name, task)
        self.version, self.how, self.result = self._remote.call("about")

    def sample(self) -> list[float]:
        """Seconds of several consecutive passes."""
        times: list[float] = self._remote.call("sample")
        return times

    def close(self) -> None:
        """Ends the process."""
        self._remote.close()
