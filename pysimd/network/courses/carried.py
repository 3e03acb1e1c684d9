"""Passes of a loop whose body is one segment: they run in one runner, and their states go from its outputs to its inputs.

Copies of states cost as much as a step of a small body. After some passes there are two sets of calls of all steps: the
first one reads the states where the inputs of the runner are, and writes the new ones to spare arrays; the second one reads
these, and writes where the first one reads. Passes alternate between them. The places of the outputs in the block of the
runner do not serve for that: steps use them for other tensors before an output is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pysimd.annotations import Array
from pysimd.errors import check, errno
from pysimd.network.run_calls import Joined

if TYPE_CHECKING:
    from pysimd.network.courses.course import Course
    from pysimd.network.courses.rows import Rows
    from pysimd.network.runner import Runner

Calls = Sequence[tuple[Callable[..., Any], Sequence[Any]]]

#: The bytes of states that a runner has copied before it gets calls that need no copies: making these takes as long. A copy
#: of a small array takes as long as one of so many bytes.
_MOST_COPIED, _COPY = 1 << 20, 1 << 12


class Side:
    """Calls of all steps, and the arrays that they read and write, by name."""

    __slots__ = ("arrays", "joined")

    def __init__(self, calls: Calls, arrays: Mapping[str, Array]) -> None:
        self.joined, self.arrays = Joined(calls), arrays


class Spare:
    """What a runner keeps for the loop that it runs.

    copied : bytes of states that were copied.
    first : the calls of the runner.
    sides : the two sets of calls, once they are made.
    nbytes : of spare arrays.
    known : what every call of the loop prepares for its passes, where it is the same in all calls.
    """

    def __init__(self) -> None:
        self.copied = self.nbytes = 0
        self.known: list[Any] | None = None
        self.first: Side | None = None
        self.sides: tuple[Side, ...] = ()


class Passes(Protocol):
    """A loop, see :mod:`pysimd.network.courses.control`.

    lead : how many outputs of the body are before its states.
    """

    body: Course
    lead: int

    def becoming(self, states: Sequence[str]) -> list[tuple[str, str]]:
        """The states with the results that they become, without those that stay."""

    def condition(self, value: Any) -> Callable[[], bool] | None:
        """The condition of the next pass, as a function; None if it is always true."""


class Carried:
    """The passes of a loop in one runner."""

    def __init__(self, loop: Passes, runner: Runner, env: Any, states: Sequence[str]) -> None:
        self._loop, self._runner, self._env = loop, runner, env
        for name, target in runner.inputs.items():
            target[...] = env[name]
        self._results = loop.body.outputs[loop.lead + len(states) :]
        self._states = loop.becoming(states)
        if runner.spare is None:
            runner.spare = Spare()
        self._spare: Spare = runner.spare

    def run(self, count: int, limit: int, given: Callable[[int], Any], rows: Sequence[Rows | None]) -> tuple[int, bool]:
        """Runs passes until the last one, or until the shape of a state changes; the states are in the environment then.

        Returns the number of passes that have run, and whether the last one says that another one follows.
        """
        inputs, spare = self._runner.inputs, self._spare
        changing = [(name, inputs[name]) for name in given(count) if name in inputs]
        kept, sides = (True, spare.known) if spare.known else self._prepared()
        wanted = [(i, row) for i, row in enumerate(rows) if row is not None]
        collected = _collected(wanted, sides)
        cost = 0 if spare.sides else sum(inputs[name].nbytes + _COPY for name, _ in self._states if name in inputs)
        this = 0
        while True:
            calls, _, is_true, carry, _ = sides[this]
            for function, arguments in calls:
                function(*arguments)
            if errno():  # which stays as the first call that fails has set it
                check()
            count += 1
            for add, result in collected[this]:
                add(result)
            goes_on = is_true is None or is_true()
            if not kept or not goes_on or count >= limit:
                break
            for target, out in carry:
                target[...] = out
            if changing:
                each = given(count)
                for name, target in changing:
                    target[...] = each[name]
            if len(sides) == 2:
                this = 1 - this
            elif cost:
                spare.copied += cost
                if spare.copied > _MOST_COPIED:
                    spare.sides, spare.known, cost = self._made(), None, 0
                    _, sides = self._prepared()
                    collected = _collected(wanted, sides)
        arrays = sides[this][4]
        self._env.update([(name, np.array(self._value(arrays, out))) for name, out in self._states])
        return count, goes_on

    def _value(self, arrays: Mapping[str, Array], name: str) -> Any:
        """A result of the body: one of the runner, or a constant, or of around the loop."""
        return arrays[name] if name in arrays else self._loop.body.value(self._env, name)

    def _prepared(self) -> tuple[bool, list[Any]]:
        """Whether states stay as they are, see :meth:`_stays`, and what the passes need."""
        runner, spare, body = self._runner, self._spare, self._loop.body
        first = spare.first = spare.first or Side(runner.calls, {**runner.inputs, **runner.outputs})
        kept = self._stays(first.arrays)
        sides = self._sides(spare.sides if kept and spare.sides else (first,))
        if (
            kept
            and all(name in first.arrays for name in body.outputs)
            and all(name in runner.inputs for name, _ in self._states)
        ):
            spare.known = sides
        return kept, sides

    def _stays(self, arrays: Mapping[str, Array]) -> bool:
        """Whether states keep their shapes, and what is collected of the inputs of the body is in the runner."""
        inputs, body = self._runner.inputs, self._loop.body
        for name, out in self._states:
            before, after = self._env[name], self._value(arrays, out)
            if (
                not isinstance(before, (np.ndarray, np.generic))
                or before.shape != after.shape
                or before.dtype != after.dtype
            ):
                return False
        return all(name in inputs for name in self._results if name in body.inputs)

    def _sides(self, sides: Sequence[Side]) -> list[Any]:
        """For each: its calls, what is collected, the condition, what is copied for the next pass; its arrays."""
        loop, inputs, found = self._loop, self._runner.inputs, []
        for side, after in zip(sides, (sides[-1], sides[0])):
            arrays = side.arrays
            results = [self._value(arrays, name) for name in self._results]
            is_true = loop.condition(self._value(arrays, loop.body.outputs[0])) if loop.lead else None
            pairs = [(after.arrays[name], self._value(arrays, out)) for name, out in self._states if name in inputs]
            carry = [(target, out) for target, out in pairs if target is not out]
            found.append((side.joined.calls, results, is_true, carry, arrays))
        return found

    def _made(self) -> tuple[Side, ...]:
        """Two sets of calls for the states that can be written where the next pass reads them; none if there are no such."""
        runner = self._runner
        spare: dict[str, Array] = {}
        taken: dict[str, str] = {}  # the states that results become
        for name, out in self._states:
            if out not in taken and runner.is_placed(name) and runner.is_placed(out):
                taken[out], spare[name] = name, np.empty_like(runner.inputs[name])
        if not taken:
            return ()
        self._spare.nbytes = sum(array.nbytes for array in spare.values())
        runner.has_grown = True
        first = {out: spare[name] for out, name in taken.items()}
        second = {**spare, **{out: runner.inputs[name] for out, name in taken.items()}}
        return tuple(Side(runner.calls_at(each), {**runner.inputs, **runner.outputs, **each}) for each in (first, second))


def _collected(wanted: Sequence[tuple[int, Rows]], sides: Sequence[Any]) -> list[list[tuple[Any, Array]]]:
    """For each side, what adds a row of each result that is wanted, and the result."""
    return [[(row.putting(np.asarray(side[1][i])), side[1][i]) for i, row in wanted] for side in sides]
