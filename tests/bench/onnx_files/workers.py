"""A library in a process of its own, which loads a model for one row of the table after the other."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.implementations import fastest
from bench.layers import Array
from bench.onnx_files import Input, Loaded, values_of
from bench.remote import Remote
from bench.whole.workers import Round, passes

_TOLERANCE = 1e-3  # relative to the largest value
_TRIAL = Round(0, 0, 0.05, 1)


@dataclass(frozen=True)
class Task:
    """A row; `expected` is None for the libraries whose outputs tell what is right, and for ours."""

    path: str
    inputs: Sequence[Input]
    threads: int
    expected: Sequence[Array] | None = None


class _Served:
    """In the process."""

    def __init__(self, name: str) -> None:
        self._library = importlib.import_module(f"bench.onnx_files.{name}")
        self._loaded: Loaded | None = None

    def version(self) -> str:
        return str(self._library.VERSION)

    def load(self, task: Task) -> tuple[str, Mapping[str, int], Sequence[Array]]:
        """The fastest implementation with the expected outputs; the one before is freed."""
        self._loaded = None
        built = self._library.build(task.path, values_of(task.inputs), task.threads)
        self._loaded = found = fastest(built, lambda call: min(passes(call, _TRIAL)), task.expected, _TOLERANCE)
        return found.how, found.bytes, found.result()

    def sample(self, round_: Round) -> list[float]:
        assert self._loaded is not None
        return passes(self._loaded.call, round_)


class Worker:
    """A library in a process of its own, which is started again after a crash. Raises Unsupported for all that fails."""

    how: str
    bytes: Mapping[str, int]
    outputs: Sequence[Any]

    def __init__(self, name: str) -> None:
        self.name = name
        self._start()

    def _start(self) -> None:
        self._remote = Remote(_Served, self.name)
        self.version: str = self._remote.call("version")

    def load(self, task: Task) -> None:
        """Takes the place of what was loaded before."""
        if not self._remote.alive:
            self._start()
        self.how, self.bytes, self.outputs = self._remote.call("load", task)

    def sample(self, round_: Round) -> list[float]:
        """Seconds of several consecutive passes."""
        times: list[float] = self._remote.call("sample", round_)
        return times

    def close(self) -> None:
        """Ends the process."""
        self._remote.close()
