"""A process for each library: their threads, left spinning after a call, would slow whoever comes next in the same one.

A worker builds a network, picks the fastest of the library's ways that compute what is expected, and then takes samples when
it is asked to. While another one has its turn it sleeps on its pipe.
"""

from __future__ import annotations

import importlib
import multiprocessing
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Callable

import numpy as np

import pysimd
from pysimd.bench.graph import Network
from pysimd.bench.layers import Array
from pysimd.bench.ways import Unsupported, fastest
from pysimd.bench.whole import OURS

_TRIAL_SECONDS, _ROUND_SECONDS = 0.1, 0.05
_MOST_CALLS = 50
_TOLERANCE = 1e-3  # of the largest value


@dataclass(frozen=True)
class _Ready:
    version: str
    how: str
    result: Array


def _calls(call: Callable[[], Any], seconds: float, most: int = _MOST_CALLS) -> list[float]:
    """The times of some calls, after one that fetches what other processes have driven out of the caches."""
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
    """What a worker is to do; `expected` is None for the first."""

    isa: str
    net: Network
    image: Array
    threads: int
    expected: Array | None = None


def _serve(pipe: Connection, name: str, task: Task) -> None:
    """The process: one reply to its start, then one to each request, until there is none."""
    try:
        if name == OURS:
            pysimd.set_max_isa(task.isa)
        library = importlib.import_module(f"pysimd.bench.whole.{name}")
        way = fastest(library.build(task.net, task.image, task.threads), _trial, task.expected, _TOLERANCE)
        pipe.send(_Ready(library.VERSION, way.how, np.asarray(way.result())))
    except BaseException as error:  # a library's own failure is told, and is none of ours
        last = str(error).strip().splitlines()[-1:] or [""]
        pipe.send(error if isinstance(error, Unsupported) else Unsupported(f"{type(error).__name__}: {last[0]}"))
        return
    while pipe.recv():
        pipe.send(_calls(way.call, _ROUND_SECONDS))


class Worker:
    """A library with a network, in a process of its own."""

    def __init__(self, name: str, task: Task) -> None:
        processes = multiprocessing.get_context("spawn")
        self.name = name
        self._pipe, theirs = processes.Pipe()
        self._process = processes.Process(target=_serve, args=(theirs, name, task), daemon=True)
        self._process.start()
        theirs.close()
        try:
            ready = self._receive()
        except Unsupported:
            self.close()
            raise
        self.version, self.how, self.result = ready.version, ready.how, ready.result

    def _receive(self) -> Any:
        try:
            reply = self._pipe.recv()
        except EOFError:
            raise Unsupported("its process ended") from None
        if isinstance(reply, Unsupported):
            raise reply
        return reply

    def sample(self) -> list[float]:
        """Seconds of some passes, one after the other."""
        self._pipe.send(True)
        times: list[float] = self._receive()
        return times

    def close(self) -> None:
        """Ends the process."""
        with suppress(OSError):
            self._pipe.send(False)
        self._pipe.close()
        self._process.join(5)
        if self._process.is_alive():
            self._process.terminate()
