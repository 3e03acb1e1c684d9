"""Runners that are kept for the next calls with the same shapes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from pysimd.annotations import Shape
from pysimd.network.runner import Runner

MOST_SHAPES = 8

_Key = tuple[tuple[str, Shape], ...]


class Runners:
    """Runners that no call uses at present, for the shapes that were used last.

    A call takes one away while it runs, so that two threads, or a fallback that calls its own model, never share one: a
    second call at the same time prepares another. Of each shape, there are as many as have run at once.

    most_shapes : how many shapes are kept.
    most_bytes : the bytes of their tensors, without packed weights; the shape that was used last is kept in any case.
    """

    def __init__(self, most_shapes: int = MOST_SHAPES, most_bytes: float = float("inf")) -> None:
        self.most_shapes, self.most_bytes = most_shapes, most_bytes
        self._idle: OrderedDict[_Key, list[Runner]] = OrderedDict()
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

    @property
    def shapes(self) -> list[dict[str, Shape]]:
        """Those of the runners that are kept, the one that was used last at the end."""
        with self._lock:
            return [dict(key) for key in self._idle]

    @property
    def nbytes(self) -> int:
        """The bytes of the tensors of the runners that are kept."""
        with self._lock:
            return self._bytes()

    def trim(self, most_shapes: int = 1, most_bytes: float = float("inf")) -> None:
        """Releases runners until no more are kept than this, but not those of the shape that was used last."""
        with self._lock:
            while len(self._idle) > 1 and (len(self._idle) > most_shapes or self._bytes() > most_bytes):
                self._idle.popitem(last=False)

    def _bytes(self) -> int:
        return sum(runner.block_bytes for each in self._idle.values() for runner in each)

    def _pop(self, key: _Key) -> Runner | None:
        with self._lock:
            idle = self._idle.get(key)
            return idle.pop() if idle else None

    def _push(self, key: _Key, runner: Runner) -> None:
        with self._lock:
            self._idle.setdefault(key, []).append(runner)
            self._idle.move_to_end(key)
        self.trim(self.most_shapes, self.most_bytes)
