"""What surrounds the reading and planning of a model: collections of garbage wait, and pages of its file are released."""

from __future__ import annotations

import gc
from _thread import allocate_lock  # of threading, which takes as long to import as a file here
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from pysimd.annotations import Array
from pysimd.network.mapped import released

_lock = allocate_lock()
_depth = 0  # blocks of uncollected() that run, in all threads
_enabled = False  # whether collections were enabled before the first of them


@contextmanager
def uncollected() -> Iterator[None]:
    """No collections of garbage by Python meanwhile, in any thread.

    A model and its plan are many objects that stay, which collections would walk again and again: 44% of the time for 2,400
    residual blocks. What planning drops is not in cycles, and released at once.
    """
    global _depth, _enabled
    with _lock:
        if _depth == 0:
            _enabled = gc.isenabled()
            gc.disable()
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0 and _enabled:
                gc.enable()


@contextmanager
def planning(weights: Iterable[Array]) -> Iterator[None]:
    """For the planning of a model of these weights."""
    with uncollected(), released(weights):
        yield
