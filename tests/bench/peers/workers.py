"""Peers in processes of their own, which build layers and time them on request.

A process keeps what it has built for several rows. If a row makes it crash, that row has no time of the peer; the others are
built again in a new process, when their next sample is due.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import cast

from bench import clock, peers
from bench.implementations import Unsupported, fastest
from bench.layers import Array, Block, Values
from bench.operators import Operator
from bench.peers import NAMES, Library, trial
from bench.remote import Remote


@dataclass(frozen=True)
class Task:
    """A block of layers or an operator, and its expected result."""

    subject: Block | Operator
    expected: Array
    tolerance: float  # relative to the largest value
    layout: str = "-"
    values: tuple[Values, ...] = ()  # of the layers of a block


class _Served:
    """In the process: the library, and what it has built, by number."""

    def __init__(self, module: str) -> None:
        self._library = cast(Library, importlib.import_module(module))
        self._timers: dict[int, tuple[clock.Timer, clock.ColdTimer]] = {}

    def about(self) -> tuple[str, str]:
        return self._library.NAME, self._library.VERSION

    def build(self, number: int, task: Task) -> str:
        """Keeps the fastest made, returns its description."""
        if isinstance(task.subject, Operator):
            builders = self._library.of_operator(task.subject, task.expected)
        else:
            builders = self._library.build(task.subject, task.layout, task.values)
        made = fastest(builders, trial, task.expected, task.tolerance)
        self._timers[number] = clock.Timer(made.call, made.empty), clock.ColdTimer(made.call, made.empty)
        return made.how

    def sample(self, number: int, cold: bool) -> clock.Sample:
        return self._timers[number][cold].sample()

    def drop(self, number: int) -> None:
        del self._timers[number]


class Peer:
    """A library in a process of its own, which is restarted after a crash."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._remote = Remote(_Served, module)
        self.NAME, self.VERSION = self._remote.call("about")

    def remote(self) -> Remote:
        if not self._remote.alive:
            self._remote = Remote(_Served, self._module)
        return self._remote

    def close(self) -> None:
        """Ends the process."""
        self._remote.close()


class Built:
    """A block built by a peer. Raises `Unsupported` for anything that the peer cannot do."""

    _numbers = count()

    def __init__(self, peer: Peer, task: Task) -> None:
        self._peer, self._task, self._number = peer, task, next(self._numbers)
        self._build()

    def _build(self) -> None:
        self._remote = self._peer.remote()
        self.how: str = self._remote.call("build", self._number, self._task)

    def sample(self, cold: bool = False) -> clock.Sample:
        """Measures one round, or a cold call."""
        if not self._remote.alive:  # it crashed in another row
            self._build()
        sample: clock.Sample = self._remote.call("sample", self._number, cold)
        return sample

    def close(self) -> None:
        """Frees what was built."""
        if self._remote.alive:
            with suppress(Unsupported):
                self._remote.call("drop", self._number)


@contextmanager
def started(names: Iterable[str] = NAMES) -> Iterator[tuple[list[Peer], dict[str, str]]]:
    """The peers that are installed, in processes that end with the context, and why the others are skipped."""
    found: list[Peer] = []
    skipped: dict[str, str] = {}
    try:
        for name in names:
            try:
                found.append(Peer(f"{peers.__name__}.{name}"))
            except Unsupported as error:
                skipped[name] = str(error)
        yield found, skipped
    finally:
        for peer in found:
            peer.close()
