"""The parts of a course that run graphs: branches and loops."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.errors import printable
from pysimd.network.course import Course, Env, OtherCuts, Segment, Times
from pysimd.network.source import Source, SourceNode

NO_BOUND = 1 << 31  # exporters write a large number of passes where a condition ends a loop
_FIRST_ROWS = 16
_MOST_ROWS = 1 << 16  # for which memory is allocated before a loop runs


def name_of(node: SourceNode) -> str:
    name = node.name or next(iter(filter(None, node.outputs)), "")
    return printable(f"the node {name!r} ({node.op})")


def _graph(node: SourceNode, name: str) -> Source:
    found = node.attributes.get(name)
    if not isinstance(found, Source):
        raise ValueError(f"{name_of(node)} has no graph {name}")
    return found


def _truth(value: Any, node: SourceNode) -> bool:
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

    def run(self, env: Env, times: Times | None) -> None:
        """Adds the outputs."""
        condition = self.course.value(env, self.node.inputs[0])
        body = self.bodies["then" if _truth(condition, self.node) else "else"]
        results = body.run({name: env[name] for name in body.captured}, times)
        env.update((name, result) for name, result in zip(self.node.outputs, results) if name)


class Rows:
    """What the passes of a loop give for one of its outputs: rows in one array, which is enlarged as they come.

    most : the number of passes, if it is known.
    """

    def __init__(self, what: str, most: int | None) -> None:
        self._what, self._most = what, most
        self._array: Array | None = None
        self._count = 0

    def add(self, row: Array) -> None:
        """Copies a row."""
        if self._array is None:
            first = _FIRST_ROWS if self._most is None else max(1, min(self._most, _MOST_ROWS))
            self._array = np.empty((first, *row.shape), row.dtype)
        elif self._array.shape[1:] != row.shape or self._array.dtype != row.dtype:
            was, now = (f"{dtype} {tuple(shape)}" for dtype, shape in (
                (self._array.dtype, self._array.shape[1:]), (row.dtype, row.shape)
            ))  # fmt: skip
            raise ValueError(f"{self._what} is {now} in pass {self._count}, and was {was}")
        elif self._count == len(self._array):
            self._array = np.concatenate((self._array, np.empty_like(self._array)))
        self._array[self._count] = row
        self._count += 1

    def array(self) -> Array | None:
        """All rows; None if there are none."""
        if self._array is None:
            return None
        found = self._array[: self._count]
        return found if 2 * self._count >= len(self._array) else found.copy()


class _Passes:
    """What Loop and Scan have in common: a body that runs once for each pass, whose states are those of the next.

    states, rows : the places of inputs of the body that are states, and its outputs: first `lead` ones, such as a
        condition, then one for each state, then those that are collected.
    """

    lead = 0

    def __init__(self, course: Course, node: SourceNode) -> None:
        self.course, self.node = course, node
        self.body = Course(_graph(node, "body"), course.scope, course.shared)

    @property
    def bodies(self) -> Mapping[str, Course]:
        """By what they are, for reports."""
        return {"body": self.body}

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
        names = self.body.outputs[self.lead + states :]
        wanted = [*self.node.outputs[states:], *[""] * len(names)]
        what = name_of(self.node)
        return [Rows(f"{name!r} of {what}", most) if read else None for name, read in zip(names, wanted)]

    def _collected(self, states: int, rows: Sequence[Rows | None]) -> list[Array | None]:
        """The arrays of these."""
        values = self.body.source.outputs[self.lead + states :]
        return [_array_of(row, value) for row, value in zip(rows, values)]

    def no_rows(self, states: int) -> list[Array | None]:
        """What is collected of no passes."""
        return self._collected(states, self._rows(states, 0))

    def _run(
        self,
        env: Env,
        states: Sequence[str],
        given: Callable[[int], Env],
        goes_on: Callable[[int, Sequence[Any]], bool],
        rows: Sequence[Rows | None],
        times: Times | None,
    ) -> list[Any]:
        """Runs passes while `goes_on` says so, by the number of those that have run and the leading outputs of the last one.

        states : the names of the states in the body, which `env` has with their first values.
        given : the other inputs of a pass.

        Returns the states at the end.
        """
        count = 0
        lead: list[Any] = []
        while goes_on(count, lead):
            segment = self._whole(states)
            if segment is not None:
                env.update(_arrays(given(count)))
                try:
                    with segment.taken(env) as runner:
                        carried = _Carried(self, segment, runner, env, states)
                        start, before = time.perf_counter(), count
                        count, lead = carried.run(count, given, goes_on, rows), carried.leading
                except OtherCuts:  # before any pass
                    continue
                if times is not None:
                    times.add(segment, count - before, time.perf_counter() - start)
                continue
            results = self.body.run({**env, **_arrays(given(count))}, times)
            lead, count = results[: self.lead], count + 1
            env.update(zip(states, results[self.lead :]))
            for row, result in zip(rows, results[self.lead + len(states) :]):
                if row is not None:
                    row.add(np.asarray(result))
        return [env[name] for name in states]

    def _whole(self, states: Sequence[str]) -> Segment | None:
        """The body, if it is one segment whose values do not change from pass to pass, and no state becomes another one."""
        parts, body = self.body.parts, self.body
        if len(parts) != 1 or not isinstance(parts[0], Segment):
            return None
        if not parts[0].cut.values.isdisjoint(body.inputs):
            return None
        same = (*body.inputs[1 : 1 + self.lead], *states)
        copied = any(name in body.inputs and name != state for state, name in zip(same, body.outputs))
        collected = set(body.outputs[len(same) :]).intersection(body.inputs)
        return None if copied or not collected.issubset(parts[0].cut.inputs) else parts[0]


class _Carried:
    """Passes of a body that is one segment, in one runner: states go from its outputs to its inputs."""

    def __init__(self, loop: _Passes, segment: Segment, runner: Any, env: Env, states: Sequence[str]) -> None:
        self._loop, self._runner, self._env = loop, runner, env
        for name, target in runner.inputs.items():
            np.copyto(target, env[name])
        arrays = {**runner.inputs, **runner.outputs}
        outputs = [arrays[name] if name in arrays else loop.body.value(env, name) for name in loop.body.outputs]
        self.leading, rest = outputs[: loop.lead], outputs[loop.lead :]
        self._results = rest[len(states) :]
        self._states = [(name, out) for name, out in zip(states, rest) if out is not env.get(name)]

    def run(
        self,
        count: int,
        given: Callable[[int], Env],
        goes_on: Callable[[int, Sequence[Any]], bool],
        rows: Sequence[Rows | None],
    ) -> int:
        """Runs passes until the last one, or until the shape of a state changes; the states are in the environment then.

        Returns the number of passes that have run.
        """
        inputs, run = self._runner.inputs, self._runner.run
        pairs = [(inputs[name], out) for name, out in self._states if name in inputs]
        kept = all(target.shape == out.shape and target.dtype == out.dtype for target, out in pairs)
        kept = kept and len(pairs) == len(self._states)
        changing = [(name, inputs[name]) for name in given(count) if name in inputs]
        collected = [(row, result) for row, result in zip(rows, self._results) if row is not None]
        while True:
            run()
            count += 1
            for row, result in collected:
                row.add(result)
            if not kept or not goes_on(count, self.leading):
                break
            for target, out in pairs:
                np.copyto(target, out)
            if changing:
                each = given(count)
                for name, target in changing:
                    target[...] = each[name]
        self.leading = [np.array(each) for each in self.leading]
        self._env.update((name, np.array(out)) for name, out in self._states)
        return count


class Loop(_Passes):
    """A Loop."""

    lead = 1

    def __init__(self, course: Course, node: SourceNode) -> None:
        super().__init__(course, node)
        self.inputs = (*node.inputs, *[""] * (2 - len(node.inputs)))
        self._check(len(self.inputs) - 2, len(self.inputs))

    def run(self, env: Env, times: Times | None) -> None:
        """Adds the outputs."""
        node, body = self.node, self.body
        trips, condition, *states = (self.course.value(env, name) for name in self.inputs)
        bound = self.bound(trips)
        first = condition is None or _truth(condition, node)
        most, true = self.course.shared.most_passes, np.array(True)

        def goes_on(count: int, lead: Sequence[Any]) -> bool:
            if bound is not None and count >= bound:
                return False
            if not (lead[0] is true or _truth(lead[0], node) if count else first):
                return False
            if bound is None and count >= most:
                limit = f"{most} times, the limit, which most_passes of the runner sets"
                raise ValueError(f"{name_of(node)} has no bound, and has run {limit}")
            return True

        number, flag, *names = body.inputs
        inner = {name: env[name] for name in body.captured}
        inner.update(zip(names, states))
        inner[flag] = true
        rows = self._rows(len(states), bound)
        finals = self._run(inner, names, lambda count: {number: count}, goes_on, rows, times)
        collected = self._collected(len(states), rows)
        env.update((name, result) for name, result in zip(node.outputs, (*finals, *collected)) if name)

    def bound(self, trips: Any) -> int | None:
        """The number of passes, if it is given and not so large that only the condition ends the loop."""
        if trips is None:
            return None
        if np.size(trips) != 1:
            raise ValueError(f"the number of passes of {name_of(self.node)} has {np.size(trips)} elements, expected 1")
        bound = int(np.asarray(trips).reshape(()))
        return bound if bound < NO_BOUND else None


def _array_of(rows: Rows | None, value: Any) -> Array | None:
    """The rows of an output of the body; if there are none, an array of the shape that the file has for it, without rows."""
    if rows is None:
        return None
    found = rows.array()
    if found is None:
        dims = tuple(n if isinstance(n, int) else 0 for n in value.dims or ())
        dtype = {"float16": "float32", "bfloat16": "float32"}.get(value.dtype, value.dtype)
        found = np.zeros((0, *dims), "float32" if dtype.startswith("type ") else dtype)
    return found


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

    def run(self, env: Env, times: Times | None) -> None:
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

        finals = self._run(inner, body.inputs[:states], slices, lambda count, _: count < length, rows, times)
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

    def run(self, env: Env, times: Times | None) -> None:
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
            passes.append(body.run({**inner, **dict(zip(body.inputs, each))}, times))
        for k, name in enumerate(self.node.outputs):
            if name:
                env[name] = [results[k] for results in passes]


PARTS: Mapping[str, Callable[[Course, SourceNode], Any]] = {
    "If": Branch, "Loop": Loop, "Scan": Scan, "SequenceMap": SequenceMap,
}  # fmt: skip
