"""Selects the fastest working implementation of a computation in a library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Callable, Protocol, TypeVar

import numpy as np

from bench.layers import Array


class Unsupported(Exception):
    """A computation that a library does not support."""


class Way(Protocol):
    """An implementation, as built by modules of libraries."""

    @property
    def how(self) -> str: ...
    @property
    def call(self) -> Callable[[], Any]: ...
    @property
    def result(self) -> Callable[[], Array]: ...


W = TypeVar("W", bound=Way)


def error_of(result: Array, expected: Array) -> float:
    """The largest difference, relative to the largest value."""
    return float(np.abs(result.reshape(expected.shape) - expected).max() / max(np.abs(expected).max(), 1e-30))


def fastest(
    ways: Iterable[Callable[[], W]], trial: Callable[[Callable[[], Any]], float], expected: Array | None, tolerance: float
) -> W:
    """Each of `ways` is a function that builds an implementation. One that raises, or whose result differs from `expected`,
    is skipped; if none is left, the first exception is raised. `trial` measures the seconds of a call."""
    trials: list[tuple[float, int, W]] = []
    faults: list[Exception] = []
    for build in _until_a_fault(ways, faults):
        try:
            way = build()
            error = 0.0 if expected is None else error_of(np.asarray(way.result()), expected)
            if not error <= tolerance:
                raise Unsupported(f"computes something else, error {error:.1e}")
            trials.append((trial(way.call), len(trials), way))
        except Exception as fault:  # of any kind: it is the library's failure
            faults.append(fault)
    if not trials:
        raise faults[0] if faults else Unsupported("no way to compute this")
    return min(trials)[-1]


def _until_a_fault(ways: Iterable[Callable[[], W]], faults: list[Exception]) -> Iterator[Callable[[], W]]:
    """A generator ends when it raises, but what it yielded before remains valid."""
    try:
        yield from ways
    except Exception as fault:
        faults.append(fault)
