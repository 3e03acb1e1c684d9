"""Selects the fastest working implementation of a computation in a library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Callable, Protocol, TypeVar

import numpy as np

from bench.layers import Array


class Unsupported(Exception):
    """A computation that a library does not support."""


class Candidate(Protocol):
    """An implementation, as built by modules of libraries."""

    @property
    def how(self) -> str: ...
    @property
    def call(self) -> Callable[[], Any]: ...
    @property
    def result(self) -> Callable[[], Any]: ...


T = TypeVar("T", bound=Candidate)


def error_of(result: Any, expected: Any) -> float:
    """The largest difference, relative to the largest value; of lists of arrays, the largest error of theirs."""
    if isinstance(expected, list):
        if len(result) != len(expected):
            raise Unsupported(f"{len(result)} outputs instead of {len(expected)}")
        return max(map(error_of, result, expected), default=0.0)
    result, expected = np.asarray(result), np.asarray(expected)
    if expected.size == result.size == 0:
        return 0.0
    theirs, ours = (array.astype(np.float64) for array in (result.reshape(expected.shape), expected))
    return float(np.abs(theirs - ours).max() / max(np.abs(ours).max(), 1e-30))


def fastest(
    builders: Iterable[Callable[[], T]],
    trial: Callable[[Callable[[], Any]], float],
    expected: Array | Sequence[Array] | None,
    tolerance: float,
) -> T:
    """Each of `builders` is a function that builds an implementation. One that raises, or whose result differs from
    `expected`, is skipped; if none is left, the first exception is raised. `trial` measures the seconds of a call."""
    trials: list[tuple[float, int, T]] = []
    faults: list[Exception] = []
    for build in _until_a_fault(builders, faults):
        try:
            made = build()
            error = 0.0 if expected is None else error_of(made.result(), expected)
            if not error <= tolerance:
                raise Unsupported(f"computes something else, error {error:.1e}")
            trials.append((trial(made.call), len(trials), made))
        except Exception as fault:  # of any kind: it is the library's failure
            faults.append(fault)
    if not trials:
        raise faults[0] if faults else Unsupported("no implementation of this")
    return min(trials)[-1]


def _until_a_fault(builders: Iterable[Callable[[], T]], faults: list[Exception]) -> Iterator[Callable[[], T]]:
    """A generator ends when it raises, but what it yielded before remains valid."""
    try:
        yield from builders
    except Exception as fault:
        faults.append(fault)
