"""How long a call takes."""

from __future__ import annotations

import statistics
import time
from typing import Any, Callable

_STRETCHES = 9


def mean(call: Callable[[], Any], count: int) -> float:
    """Seconds of a call, the mean of so many."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def typical(call: Callable[[], Any], count: int) -> float:
    """Seconds of a call, of about so many: the median of up to nine stretches, as the processor may be elsewhere in one."""
    stretch = -(-count // _STRETCHES)
    return statistics.median(mean(call, stretch) for _ in range(-(-count // stretch)))
