"""Measures the time of a call."""

from __future__ import annotations

import statistics
import time
from functools import cache
from typing import Any, Callable, NamedTuple

import numpy as np

_ROUND_SECONDS = 0.004
_STRETCHES = 9
_WARM_UP_SECONDS = 0.05  # a virtual Xeon that slept for a second computes the first calls of 4 ms in 19, 7, 6.5 and 6 ms
_SWING = 1.5
_OTHER_DATA = 128 << 20


def mean(call: Callable[[], Any], count: int) -> float:
    """Seconds per call, the mean of `count` calls."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def typical(call: Callable[[], Any], count: int) -> float:
    """Seconds per call, from about `count` calls: the median of up to nine stretches, since one may be interrupted."""
    stretch = -(-count // _STRETCHES)
    return statistics.median(mean(call, stretch) for _ in range(-(-count // stretch)))


def _warm_up(call: Callable[[], Any]) -> None:
    """Calls it until the caches are refilled after other code, and the clock of a processor that was idle has risen."""
    end = time.perf_counter() + _WARM_UP_SECONDS
    call()
    while time.perf_counter() < end:
        call()


class Sample(NamedTuple):
    """Seconds of a call, and of an empty call."""

    seconds: float
    overhead: float


class Timer:
    """Times a call, in rounds of equally many calls."""

    def __init__(self, call: Callable[[], Any], empty: Callable[[], Any] | None) -> None:
        self._call, self._empty = call, empty
        self._count = _calls_per_round(call)

    def sample(self) -> Sample:
        """Measures one round."""
        _warm_up(self._call)
        overhead = typical(self._empty, self._count) if self._empty else 0.0
        return Sample(typical(self._call, self._count), overhead)


class ColdTimer:
    """Times single calls, each after other data have gone through the caches: weights and images come from memory."""

    def __init__(self, call: Callable[[], Any], empty: Callable[[], Any] | None) -> None:
        self._call, self._empty = call, empty or _nothing

    def sample(self) -> Sample:
        """Measures one call. The empty call before it loads the code of Python again, but none of the call's arrays."""
        _read_other_data()
        self._empty()
        overhead = mean(self._empty, 1)
        return Sample(mean(self._call, 1), overhead)


def _nothing() -> None:
    pass


@cache
def _other_data() -> np.ndarray[Any, Any]:
    return np.ones(_OTHER_DATA // 8, np.int64)


def _read_other_data() -> None:
    """Reading is enough: writing would leave lines to be stored during the timed call."""
    _other_data().max()


def _calls_per_round(call: Callable[[], Any]) -> int:
    """From the fastest of some calls: a disturbed call would lead to rounds of a single call."""
    call()  # the first call allocates scratch memory and warms the caches
    seconds, begin = 1.0, time.perf_counter()
    for number in range(20):
        seconds = min(seconds, mean(call, 1))
        if number >= 4 and time.perf_counter() - begin > _ROUND_SECONDS:
            break
    return max(1, min(10_000, round(_ROUND_SECONDS / max(seconds, 1e-7))))


def swings(median: float, best: float) -> bool:
    """Whether rounds differ so much that their median is unreliable."""
    return median > _SWING * best
