"""The runners that calls of a model have prepared, kept for the next calls with the same shapes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from pysimd.annotations import Shape
from pysimd.network.runner import Runner

_MOST_SHAPES = 8


class Runners:
    """Runners that no call uses at present, for the shapes that were used last.

    A call takes one away while it runs, so that two threads, or a fallback that calls its own model, never share one: a
    second call at the same time prepares another. Of each shape, there are as many as have run at once.
    """

    def __init__(self) -> None:
        self._idle: OrderedDict[tuple[tuple[str, Shape], ...], list[Runner]] = OrderedDict()
        self._lock = threading.Lock()  # of _idle
        self._preparing = threading.RLock()  # one at a time, so that the next shares its packed weights; a fallback may call

    @contextmanager
    def taken(self, shapes: Mapping[str, Shape], prepare: Callable[[Mapping[str, Shape]], Runner]) -> Iterator[Runner]:
        """A runner for these shapes, which is prepared if there is none."""
        key = tuple(sorted(shapes.items()))
        runner = self._pop(key)
        if runner is None:
            with self._preparing:
                runner = self._pop(key) or prepare(shapes)  # another call may have returned one meanwhile
        try:
            yield runner
        finally:
            self._push(key, runner)

    def _pop(self, key: tuple[tuple[str, Shape], ...]) -> Runner | None:
        with self._lock:
            idle = self._idle.get(key)
            return idle.pop() if idle else None

    def _push(self, key: tuple[tuple[str, Shape], ...], runner: Runner) -> None:
        with self._lock:
            self._idle.setdefault(key, []).append(runner)
            self._idle.move_to_end(key)
            while len(self._idle) > _MOST_SHAPES:
                self._idle.popitem(last=False)
