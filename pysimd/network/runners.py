"""Runners that are kept for the next calls with the same shapes."""

from __future__ import annotations

from _thread import RLock, allocate_lock  # of threading, which takes as long to import as a file here
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any, Optional

from numpy import ndarray

from pysimd._geometry import number
from pysimd.annotations import Shape
from pysimd.network.runner import Runner

_MOST_SHAPES = 8
_MOST_BYTES = 1 << 30

_Key = tuple[tuple[str, Shape], ...]
Prepare = Callable[[Mapping[str, Shape], Optional[Runner]], Runner]


class Idle(list[Runner]):
    """The runners of one shape that no call uses at present. One call is added or taken at a time, without a lock.

    key : the shape.
    is_kept : whether calls with this shape find it; else its runners have been released, and those that come back belong to
        another one, or begin anew.
    counted, nbytes : how many runners there were at once, and their bytes.
    """

    __slots__ = ("counted", "is_kept", "key", "nbytes")

    def __init__(self, key: _Key) -> None:
        super().__init__()
        self.key, self.is_kept, self.counted, self.nbytes = key, False, 0, 0


class Runners:
    """Runners that no call uses at present, for the shapes that were used last.

    A call takes one away while it runs, so that two threads, or a fallback that calls its own model, never share one: a
    second call at the same time prepares another. Of each shape, there are as many as have run at once.

    most_shapes, most_bytes : as of :class:`KeepsRunners`; :meth:`shrink` makes smaller ones take effect.
    """

    def __init__(self) -> None:
        self.most_shapes, self.most_bytes = _MOST_SHAPES, _MOST_BYTES
        self._idle: OrderedDict[_Key, Idle] = OrderedDict()
        self._last: Idle | None = None  # the one at the end of these
        self._bytes = 0  # of all that are kept
        self._lock = allocate_lock()  # of what is kept; a runner is taken of a list, and returned, in one step
        self._preparing = RLock()  # one at a time, so that the next shares its packed weights; a fallback may call

    def taken(self, shapes: Mapping[str, Shape], prepare: Prepare) -> AbstractContextManager[Runner]:
        """A runner for these shapes, which is prepared if there is none, of one that is released for it."""
        return _Taken(self, shapes, prepare)

    def pop(self, shapes: Mapping[str, Shape], prepare: Prepare) -> tuple[Idle, Runner]:
        """That runner, and the list to which :meth:`push` returns it, from which later calls may take it at once."""
        key = _key(shapes)
        idle = self._idle.get(key)
        if idle is not None:
            try:
                return idle, idle.pop()
            except IndexError:
                pass
        with self._preparing:
            idle = self._idle.get(key)
            if idle:  # another call may have returned one meanwhile
                with suppress(IndexError):
                    return idle, idle.pop()
            return Idle(key) if idle is None else idle, prepare(shapes, self._reclaimed())

    def known(self, inputs: Any) -> dict[str, Shape] | None:
        """The shapes of inputs, if these are arrays by name and runners are kept for them: then they have been checked.

        Nearly all calls are such, and the checks take three times as long as the rest of a call of a tiny model.
        """
        if not self._idle or type(inputs) is not dict or not all(type(name) is str for name in inputs):
            return None
        if not all(type(array) is ndarray for array in inputs.values()):
            return None
        shapes = {name: array.shape for name, array in inputs.items()}
        return shapes if _key(shapes) in self._idle else None

    @property
    def shapes(self) -> list[dict[str, Shape]]:
        """Those of the runners that are kept, the one that was used last at the end."""
        with self._lock:
            return [dict(key) for key in self._idle]

    @property
    def nbytes(self) -> int:
        """The bytes of the tensors of the runners that are kept."""
        return self._bytes

    def push(self, idle: Idle, runner: Runner) -> None:
        """Keeps a runner for later calls, if there may be one more."""
        idle.append(runner)
        if idle is not self._last or runner.has_grown or len(idle) > idle.counted:
            self._keep(idle, runner)

    def _keep(self, idle: Idle, runner: Runner) -> None:
        """Makes this list the one that was used last, and counts its bytes."""
        with self._lock:
            if not idle.is_kept:  # it is new, or was released while its runner ran
                idle = self._known_as(idle)
            if idle is not self._last:
                self._idle.move_to_end(idle.key)
                self._last = idle
            if runner.has_grown or len(idle) > idle.counted:
                runner.has_grown = False
                idle.counted = max(idle.counted, len(idle))
                nbytes = sum(each.block_bytes for each in idle)
                self._bytes += nbytes - idle.nbytes
                idle.nbytes = nbytes
            is_full = len(self._idle) > self.most_shapes or self._bytes > self.most_bytes
        if is_full:
            self.shrink()

    def _known_as(self, idle: Idle) -> Idle:
        """The list that calls find for the shape of this one, with its runners."""
        kept = self._idle.setdefault(idle.key, idle)
        kept.is_kept = True
        if kept is not idle:
            kept += idle
            idle.clear()
        return kept

    def _reclaimed(self) -> Runner | None:
        """The runner that was used longest ago, which is no longer kept, if there is no room for one more like the last.

        New memory costs more than a call does in many models, as of a decoder, whose shapes change in each step.
        """
        with self._lock:
            last = 0 if self._last is None else self._last.nbytes // max(self._last.counted, 1)
            if len(self._idle) < self.most_shapes and self._bytes + last <= self.most_bytes:
                return None
            released = self._released() if self._idle else []
            return released[-1] if released else None

    def shrink(self, most_shapes: int | None = None) -> None:
        """Releases runners until no more are kept than there may be, but not those of the shape that was used last."""
        most = self.most_shapes if most_shapes is None else most_shapes
        with self._lock:
            while len(self._idle) > 1 and (len(self._idle) > most or self._bytes > self.most_bytes):
                self._released()

    def _released(self) -> list[Runner]:
        """The runners of the shape that was used longest ago, which is no longer kept."""
        _, idle = self._idle.popitem(last=False)
        self._bytes -= idle.nbytes
        idle.is_kept, idle.counted, idle.nbytes = False, 0, 0
        self._last = None if idle is self._last else self._last
        runners = list(idle)
        idle.clear()
        return runners


class _Taken:
    """A runner that is taken for a block of a ``with`` statement; a generator would take 2.5 us, this 1.9."""

    __slots__ = ("_given", "_idle", "_runner", "_runners")

    def __init__(self, runners: Runners, shapes: Mapping[str, Shape], prepare: Prepare) -> None:
        self._runners, self._given = runners, (shapes, prepare)

    def __enter__(self) -> Runner:
        self._idle, self._runner = self._runners.pop(*self._given)
        return self._runner

    def __exit__(self, *exception: object) -> None:
        self._runners.push(self._idle, self._runner)


class Lease(list[tuple[Runners, Idle, Runner]]):
    """Runners that a run of several plans has taken: what they compute stays where it is until they are returned."""

    def end(self) -> None:
        """Returns all."""
        for runners, idle, runner in self:
            runners.push(idle, runner)
        self.clear()


def _key(shapes: Mapping[str, Shape]) -> _Key:
    return tuple(sorted(shapes.items()))


class KeepsRunners:
    """An object that keeps runners for the shapes of its last calls, with limits that can be set at any time."""

    _runners: Runners

    @property
    def most_shapes(self) -> int:
        """For how many shapes tensors are kept between calls, at least 1; 8 unless another number is set."""
        return self._runners.most_shapes

    @most_shapes.setter
    def most_shapes(self, count: int) -> None:
        self._limit("most_shapes", number(count, "most_shapes", 1))

    @property
    def most_bytes(self) -> int:
        """How many bytes of tensors are kept between calls; 1 GiB unless another number is set.

        The tensors of the shape that was used last are kept in any case."""
        return self._runners.most_bytes

    @most_bytes.setter
    def most_bytes(self, count: int) -> None:
        self._limit("most_bytes", number(count, "most_bytes", 0))

    def _limit(self, name: str, value: int) -> None:
        setattr(self._runners, name, value)
        self._runners.shrink()

    @property
    def kept(self) -> list[dict[str, Shape]]:
        """The shapes for which tensors are kept; the one that was used last at the end."""
        return self._runners.shapes

    @property
    def kept_bytes(self) -> int:
        """The bytes of the tensors that are kept, without packed weights."""
        return self._runners.nbytes

    def trim(self) -> None:
        """Releases the memory of all shapes but the one that was used last."""
        self._runners.shrink(1)
