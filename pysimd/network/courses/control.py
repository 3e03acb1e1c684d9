"""The parts of a course that run graphs: branches and loops."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.courses.carried import Carried
from pysimd.network.courses.course import Course, Env, OtherCuts, Segment, Times
from pysimd.network.courses.rows import Rows, rows_of
from pysimd.network.runners import Lease
from pysimd.network.source import Source, SourceNode, name_of

NO_BOUND = 1 << 31  # exporters write a large number of passes where a condition ends a loop
_TRUE = np.array(True)


def _graph(node: SourceNode, name: str) -> Source:
    found = node.attributes.get(name)
    if not isinstance(found, Source):
        raise ValueError(f"{name_of(node)} has no graph {name}")
    return found


def truth(value: Any, node: SourceNode) -> bool:
    """A condition, which is a tensor of one element."""
    if type(value) is np.ndarray and value.dtype == bool and value.size == 1:  # nearly all are such
        return bool(value.item())
    array = np.asarray(value)
    if array.size != 1 or array.dtype == object:
        raise ValueError(f"the condition of {name_of(node)} has {array.size} elements, expected 1")
    return bool(array.reshape(()))


def _arrays(given: Env) -> Env:
    return {name: np.asarray(each) for name, each in given.items()}


class Branch:
    """An If: both of its graphs are planned when they are needed, one of them runs."""

    def __init__(self, course: Course, node: SourceNode) -> None:
        self.course, self.node = course, node
        graphs = [_graph(node, name) for name in ("then_branch", "else_branch")]
        for of in zip(*(graph.outputs for graph in graphs)):
            first, second = (value.dtype for value in of)
            if first != second and not any(dtype.startswith("type ") for dtype in (first, second)):
                names = " and ".join(repr(value.name) for value in of)
                raise ValueError(f"the branches of {name_of(node)} have results of {first} and {second}: {names}")
        if any(len(graph.outputs) < len(node.outputs) for graph in graphs):
            raise ValueError(f"a branch of {name_of(node)} has fewer than {len(node.outputs)} results")
        self.bodies = {name: Course(graph, course.scope, course.shared) for name, graph in zip(("then", "else"), graphs)}

    def run(self, env: Env, times: Times | None, lease: Lease) -> None:
        """Adds the outputs."""
        condition = self.course.value(env, self.node.inputs[0])
        body = self.bodies["then" if truth(condition, self.node) else "else"]
        results = body.run({name: env[name] for name in body.captured}, times, lease)
        env.update((name, result) for name, result in zip(self.node.outputs, results) if name)


class _Passes:
    """What Loop and Scan have in common: a body that runs once for each pass, whose states are those of the next.

    states, rows : the places of inputs of the body that are states, and its outputs: first `lead` ones, such as a
        condition, then one for each state, then those that are collected.
    """

    lead = 0

    def __init__(self, course: Course, node: SourceNode) -> None:
        self.course, self.node = course, node
        self.body = Course(_graph(node, "body"), course.scope, course.shared)
        self._of_parts: tuple[Any, Segment | None] = (None, None)
        self._wanted: list[tuple[str, str]] | None = None  # what is collected, and what it becomes, if something reads it
        self._read = frozenset[str]()  # inputs of the segment that is the body
        self._pairs: Any = None

    @property
    def bodies(self) -> Mapping[str, Course]:
        """By what they are, for reports."""
        return {"body": self.body}

    def becoming(self, states: Sequence[str]) -> list[tuple[str, str]]:
        """The states with the results that they become, without those that stay."""
        if self._pairs is None:
            self._pairs = [pair for pair in zip(states, self.body.outputs[self.lead :]) if pair[0] != pair[1]]
        found: list[tuple[str, str]] = self._pairs
        return found

    def condition(self, value: Any) -> Callable[[], bool] | None:
        """The condition of the next pass, as a function; None if it is always true."""
        if value is _TRUE:
            return None
        is_usual = type(value) is np.ndarray and value.dtype == bool and value.size == 1
        return value.item if is_usual else partial(truth, value, self.node)

    def _check(self, states: int, inputs: int) -> None:
        """Refuses a body with another number of inputs and outputs."""
        body = self.body
        if len(body.inputs) != inputs or len(body.outputs) < self.lead + states:
            found = f"{len(body.inputs)} inputs and {len(body.outputs)} results"
            raise ValueError(
                f"the body of {name_of(self.node)} has {found}, which do not fit its {len(self.node.inputs)} inputs"
            )

    def _rows(self, states: int, most: int | None) -> list[Rows | None]:
        """For each output that is collected; None for one that nothing reads."""
        if self._wanted is None:
            names = self.body.outputs[self.lead + states :]
            self._wanted = list(zip(names, (*self.node.outputs[states:], *[""] * len(names))))
        return [Rows(name, self.node, most) if read else None for name, read in self._wanted]

    def _collected(self, states: int, rows: Sequence[Rows | None]) -> list[Array | None]:
        """The arrays of these."""
        values = self.body.source.outputs[self.lead + states :]
        return [rows_of(row, value) for row, value in zip(rows, values)]

    def no_rows(self, states: int) -> list[Array | None]:
        """What is collected of no passes."""
        return self._collected(states, self._rows(states, 0))

    def _run(
        self,
        env: Env,
        states: Sequence[str],
        given: Callable[[int], Env],
        limit: int,
        rows: Sequence[Rows | None],
        times: Times | None,
    ) -> bool:
        """Runs so many passes, or until the condition that a pass gives is false; returns whether it holds at the end.

        states : the names of the states in the body, which `env` has with their first values, and then with the last ones.
        given : the other inputs of a pass, by the number of those before.
        """
        count, goes_on = 0, True
        while goes_on and count < limit:
            segment = self._whole(states)
            if segment is not None:
                first = given(count)
                if not self._read.isdisjoint(first):
                    env.update(_arrays(first))
                lease = Lease()
                try:
                    carried = Carried(self, segment.taken(env, lease), env, states)
                    start, before = time.perf_counter(), count
                    count, goes_on = carried.run(count, limit, given, rows)
                except OtherCuts:  # before any pass
                    continue
                finally:
                    lease.end()
                if times is not None:
                    times.add(segment, count - before, time.perf_counter() - start)
                continue
            results = self.body.run_alone({**env, **_arrays(given(count))}, times)
            goes_on, count = not self.lead or truth(results[0], self.node), count + 1
            env.update(zip(states, results[self.lead :]))
            for row, result in zip(rows, results[self.lead + len(states) :]):
                if row is not None:
                    row.add(np.asarray(result))
        return goes_on

    def _whole(self, states: Sequence[str]) -> Segment | None:
        """The body, if it is one segment whose values do not change from pass to pass, and no state becomes another one."""
        parts, body = self.body.parts, self.body
        if self._of_parts[0] is not parts:
            segment = parts[0] if len(parts) == 1 and isinstance(parts[0], Segment) else None
            if segment is not None:
                same = (*body.inputs[1 : 1 + self.lead], *states)
                copied = any(name in body.inputs and name != state for state, name in zip(same, body.outputs))
                collected = set(body.outputs[len(same) :]).intersection(body.inputs)
                if copied or not collected.issubset(segment.cut.inputs) or not segment.cut.values.isdisjoint(body.inputs):
                    segment = None
            self._of_parts = parts, segment
            self._read = frozenset(() if segment is None else segment.cut.inputs)
        return self._of_parts[1]


class Loop(_Passes):
    """A Loop."""

    lead = 1

    def __init__(self, course: Course, node: SourceNode) -> None:
        super().__init__(course, node)
        self.inputs = (*node.inputs, *[""] * (2 - len(node.inputs)))
        weights = course.scope.weights
        self._known = {name: np.asarray(weights[name]) for name in self.inputs if name in weights}
        self._fixed: tuple[int | None, bool] | None = None  # the number of passes and the condition, if they are constants
        self._check(len(self.inputs) - 2, len(self.inputs))

    def run(self, env: Env, times: Times | None, lease: Lease) -> None:
        """Adds the outputs."""
        node, body = self.node, self.body
        trips, condition, *states = [
            env[name] if name in env else self._known[name] if name else None for name in self.inputs
        ]
        bound, first = self._fixed or (self.bound(trips), condition is None or truth(condition, node))
        if self._fixed is None and self._known.keys() >= {name for name in self.inputs[:2] if name}:
            self._fixed = bound, first
        limit = self.course.shared.most_passes if bound is None else bound
        number, flag, *names = body.inputs
        inner = {name: env[name] for name in body.captured}
        inner.update(zip(names, states))
        inner[flag] = _TRUE
        rows = self._rows(len(states), bound)
        if first and self._run(inner, names, lambda count: {number: count}, limit, rows, times) and bound is None:
            sets = f"{limit} times, the limit, which most_passes of the runner sets"
            raise ValueError(f"{name_of(node)} has no bound, and has run {sets}")
        collected = self._collected(len(states), rows)
        results = (*(inner[name] for name in names), *collected)
        env.update((name, result) for name, result in zip(node.outputs, results) if name)

    def bound(self, trips: Any) -> int | None:
        """The number of passes, if it is given and not so large that only the condition ends the loop."""
        if trips is None:
            return None
        trips = np.asarray(trips)
        if trips.size != 1:
            raise ValueError(f"the number of passes of {name_of(self.node)} has {trips.size} elements, expected 1")
        bound = int(trips.item())
        return bound if bound < NO_BOUND else None


class Scan(_Passes):
    """A Scan: the passes take slices of its last inputs along an axis, and give slices of its last outputs."""

    def __init__(self, course: Course, node: SourceNode) -> None:
        super().__init__(course, node)
        self.batched = course.scope.opset < 9
        self._scanned = int(node.attributes.get("num_scan_inputs", 0))
        inputs = len(node.inputs) - self.batched
        self.states = inputs - self._scanned
        if not 0 < self._scanned <= inputs:
            raise ValueError(f"{name_of(node)} has num_scan_inputs {self._scanned}, and {inputs} inputs")
        self._check(self.states, inputs)
        if self.batched and node.inputs[0]:
            raise ValueError(f"{name_of(node)} has sequence_lens, which are not supported")

    def run(self, env: Env, times: Times | None, lease: Lease) -> None:
        """Adds the outputs."""
        given = [np.asarray(self.course.value(env, name)) for name in self.node.inputs[self.batched :]]
        if self.batched:
            batch = [self._passes(env, [each[i] for each in given], times) for i in range(len(given[0]))]
            results: Sequence[Any] = [None if each[0] is None else np.stack(each) for each in zip(*batch)]
        else:
            results = self._passes(env, given, times)
        env.update((name, result) for name, result in zip(self.node.outputs, results) if name)

    def ways(self, kind: str, count: int) -> list[tuple[int, bool]]:
        """For each of the "input" or "output" tensors that have slices: the axis, and whether the last one is first."""
        directions = "directions" if self.batched and kind == "input" else f"scan_{kind}_directions"
        axes, backwards = (self.node.attributes.get(name) or [0] * count for name in (f"scan_{kind}_axes", directions))
        return [(int(axis), bool(back)) for axis, back in zip(axes, backwards)]

    def length(self, lengths: Iterable[int]) -> int:
        """The number of slices, which all inputs have in common."""
        found = set(lengths)
        if len(found) != 1:
            raise ValueError(f"the inputs that {name_of(self.node)} scans have the lengths {sorted(found)}")
        return found.pop()

    def _passes(self, env: Env, given: Sequence[Any], times: Times | None) -> list[Any]:
        body, states = self.body, self.states
        ways = self.ways("input", self._scanned)
        moved = [np.moveaxis(each, axis, 0)[:: -1 if back else 1] for each, (axis, back) in zip(given[states:], ways)]
        length = self.length(map(len, moved))
        names = body.inputs[states:]
        rows = self._rows(states, length)
        inner = {name: env[name] for name in body.captured}
        inner.update(zip(body.inputs[:states], given))

        def slices(count: int) -> Env:
            return {name: each[count] for name, each in zip(names, moved)}

        self._run(inner, body.inputs[:states], slices, length, rows, times)
        finals = [inner[name] for name in body.inputs[:states]]
        return [*finals, *self.arranged(self._collected(states, rows))]

    def arranged(self, collected: Sequence[Array | None]) -> Iterator[Array | None]:
        """What was collected, in the order and along the axis that the node says."""
        for each, (axis, back) in zip(collected, self.ways("output", len(collected))):
            yield None if each is None else np.ascontiguousarray(np.moveaxis(each[::-1] if back else each, 0, axis))


class SequenceMap:
    """A SequenceMap: its body runs for each element of the first input, a sequence."""

    def __init__(self, course: Course, node: SourceNode) -> None:
        self.course, self.node = course, node
        self.body = Course(_graph(node, "body"), course.scope, course.shared)
        if len(self.body.inputs) != len(node.inputs):
            raise ValueError(f"the body of {name_of(node)} has {len(self.body.inputs)} inputs, expected {len(node.inputs)}")

    @property
    def bodies(self) -> Mapping[str, Course]:
        """By what they are, for reports."""
        return {"body": self.body}

    def run(self, env: Env, times: Times | None, lease: Lease) -> None:
        """Adds the outputs."""
        first, *others = (self.course.value(env, name) for name in self.node.inputs)
        lengths = {len(each) for each in (first, *others) if isinstance(each, list)}
        if len(lengths) != 1 or not isinstance(first, list):
            raise ValueError(f"{name_of(self.node)} has sequences of the lengths {sorted(lengths)}, expected equal ones")
        body = self.body
        passes = []
        for i in range(len(first)):
            inner = {name: env[name] for name in body.captured}
            each = [value[i] if isinstance(value, list) else value for value in (first, *others)]
            passes.append(body.run_alone({**inner, **dict(zip(body.inputs, each))}, times))
        for k, name in enumerate(self.node.outputs):
            if name:
                env[name] = [results[k] for results in passes]


PARTS: Mapping[str, Callable[[Course, SourceNode], Any]] = {
    "If": Branch, "Loop": Loop, "Scan": Scan, "SequenceMap": SequenceMap,
}  # fmt: skip
