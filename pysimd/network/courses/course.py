"""The course of a model: its parts, which run one after the other where values decide what is computed.

A model whose sizes, branches or numbers of passes depend on values cannot be one plan. Its nodes are cut into parts, see
:mod:`pysimd.network.courses.partition`, which run in order and pass each other arrays by name:

* a :class:`Segment` is planned as a model is, with open dimensions (:mod:`pysimd.network.open_runner`), at its first run,
  when the types of its inputs are known. Other sizes cost a binding. Tensors that decide sizes behind a cut are constants of
  the segment; their numbers are sizes of the plan, too, so that other values also cost a binding alone.
* a :class:`HostPart` is an operator that Python computes: see :mod:`pysimd.network.courses.host_operators`, where others
  are added.
* a branch or a loop, see :mod:`pysimd.network.courses.control`; the graphs in them are courses.

Where the conversion of a segment finds another value that it needs, the course is cut there as well, and the run begins
again: no part has effects on anything but its results.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Union

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.errors import printable
from pysimd.network.contexts import Contexts
from pysimd.network.convert import UnsupportedModel, graph_of
from pysimd.network.convert.conversion import full_name
from pysimd.network.convert.fold import evaluate
from pysimd.network.courses.host_operators import HOST_OPERATORS, OF_NODES, OF_SEQUENCES
from pysimd.network.courses.partition import LOOPS, Cut, Needs, Partition, Scope, captured, top_of, without_copies
from pysimd.network.open_plan import OpenPlan
from pysimd.network.open_runner import OpenRunner
from pysimd.network.passes import simplified
from pysimd.network.planning import planning
from pysimd.network.runner import Runner
from pysimd.network.runners import Idle, Lease, Runners
from pysimd.network.sizes import Sizes
from pysimd.network.source import Source, SourceNode, Value, name_of, with_values

#: Arrays by name; lists of arrays for sequences, None for optional values that are empty.
Env = dict[str, Any]

_MOST_PLANS = 16  # of a segment, for inputs of other types and other values that are no sizes
_MOST_SIZES, _LARGEST = 64, 1 << 31  # numbers of a tensor that decides sizes, and each of them
MOST_PASSES = 1_000_000
# Of a segment: a loop can see as many sizes in one call, each of which would be bound again in the next. A recogniser of
# tables whose decoder sees 182 takes 1.8 times as long with 64.
_MOST_SHAPES = 256
_MOST_BYTES = 1 << 30
_MOST_READY = 1 << 10  # combinations of shapes and values whose runners are found at once
#: What is computed without a plan, of a few integers.
_ARITHMETIC = frozenset(
    (
        "Add", "And", "Concat", "Div", "Equal", "Gather", "Greater", "GreaterOrEqual", "Identity", "Less", "LessOrEqual",
        "Max", "Min", "Mod", "Mul", "Neg", "Not", "Or", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "Shape", "Size",
        "Slice", "Squeeze", "Sub", "Unsqueeze", "Where", "Xor",
    )
)  # fmt: skip


def _is_few_integers(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.size <= _MOST_SIZES and value.dtype.kind in "iub"


def lasting(value: Any) -> Any:
    """A value, or a copy if it has memory of something else, such as of a runner. Sequences have no such arrays."""
    return value.copy() if isinstance(value, np.ndarray) and not value.flags.owndata else value


class OtherCuts(Exception):
    """The course is cut in other places now, and must run from its beginning."""


@dataclass
class Shared:
    """What all courses of a model have in common.

    with_graphs : the parts whose operators have graphs, which are courses: those of :mod:`pysimd.network.courses.control`.
    most_passes : of a loop that has no bound of its own.
    most_shapes, most_bytes : of the tensors that each segment keeps between runs.
    """

    contexts: Contexts
    with_graphs: Mapping[str, Callable[[Course, SourceNode], Part]]
    most_passes: int = MOST_PASSES
    most_shapes: int = _MOST_SHAPES
    most_bytes: int = _MOST_BYTES
    lock: threading.RLock = field(default_factory=threading.RLock)


class Times(dict[int, list[float]]):
    """The number of runs and the seconds of parts, by their identities."""

    def timed(self, part: Part, env: Env, lease: Lease) -> None:
        """Runs a part."""
        start = time.perf_counter()
        part.run(env, self, lease)
        self.add(part, 1, time.perf_counter() - start)

    def add(self, part: Part, runs: int, seconds: float) -> None:
        """Counts runs of a part."""
        entry = self.setdefault(id(part), [0, 0.0])
        entry[0] += runs
        entry[1] += seconds


class Course:
    """A graph, cut into parts.

    source : the graph; weights and constants around it are those of the scope.
    captured : what it reads of the graphs around it that is not constant; it is given as inputs are.
    names, outputs : of its results, in the file, and of the tensors that they are.
    """

    def __init__(self, source: Source, outer: Scope, shared: Shared) -> None:
        self.names = [value.name for value in source.outputs]
        source = without_copies(source, outer.fallback)
        self.source, self.scope, self.shared = source, outer.within(source), shared
        self.captured = captured(source, self.scope)
        self.inputs = [value.name for value in source.inputs]
        self.outputs = [value.name for value in source.outputs]
        self._needs = Needs()
        self.parts: Sequence[Part] = self._cut()

    def run(self, env: Env, times: Times | None, lease: Lease) -> list[Any]:
        """The outputs. The environment has inputs and what is captured; the results of parts are added.

        lease : gets the runners that are taken. What they compute, the outputs too, is overwritten once it has ended.
        """
        while True:
            try:
                for part in self.parts:
                    if times is None:
                        part.run(env, None, lease)
                    else:
                        times.timed(part, env, lease)
            except OtherCuts:
                env = {name: env[name] for name in (*self.inputs, *self.captured) if name in env}
                continue
            return [env[name] if name in env else self.value(env, name) for name in self.outputs]

    def run_alone(self, env: Env, times: Times | None) -> list[Any]:
        """Outputs that later runs do not overwrite."""
        lease = Lease()
        try:
            return [lasting(each) for each in self.run(env, times, lease)]
        finally:
            lease.end()

    def segments(self) -> Iterator[Segment]:
        """Those of this graph, and of the graphs in it."""
        for part in self.parts:
            if isinstance(part, Segment):
                yield part
            for body in getattr(part, "bodies", {}).values():
                yield from body.segments()

    def value(self, env: Env, name: str) -> Any:
        """A tensor; None if it has no name."""
        return env[name] if name in env else np.asarray(self.scope.weights[name]) if name else None

    def refuse(self, cut: Cut, error: UnsupportedModel) -> None:
        """Cuts the course before the values that the conversion of a segment needs.

        Raises the error if this is not what it lacks.
        """
        with self.shared.lock:
            found = False
            for node, names in error.needed:
                top = top_of(node, cut.nodes)
                if top is None:
                    continue
                known = {*cut.inputs, *(name for each in cut.nodes for name in each.outputs)}
                if top is not node and not known.issuperset(names):
                    found = found or top not in self._needs.apart
                    self._needs.apart.add(top)
                else:
                    of = self._needs.values.setdefault(top, set())
                    found = found or not of.issuperset(names)
                    of.update(names)
            if any(isinstance(part, Segment) and part.cut is cut for part in self.parts):  # else another thread has done it
                if not found:
                    raise error
                self.parts = self._cut()
        raise OtherCuts from error

    def _cut(self) -> list[Part]:
        cuts = Partition(self.source, [*self.inputs, *self.captured], self.scope, self._needs).cuts
        made = {id(cut.nodes[0]): cut for cut in cuts if not cut.planned}
        kept = {id(part.node): part for part in getattr(self, "parts", ()) if not isinstance(part, Segment)}
        parts: list[Part] = []
        for cut in cuts:
            if cut.planned:
                parts.append(Segment(self, cut))
                continue
            node = made[id(cut.nodes[0])].nodes[0]
            of = HostPart if full_name(node) not in (*LOOPS, "If") else self.shared.with_graphs[node.op]
            parts.append(kept.get(id(node)) or of(self, node))
        return parts


class HostPart:
    """An operator that Python computes."""

    def __init__(self, course: Course, node: SourceNode) -> None:
        self.course, self.node = course, node
        name = full_name(node)
        self._function = HOST_OPERATORS[name] if name not in OF_NODES else OF_NODES[name](node, course.scope.weights)
        self._constants: dict[str, Any] = {}  # by name, once they are needed
        self._keeps = name in OF_SEQUENCES  # results have inputs, for longer than runs of a body

    def run(self, env: Env, times: Times | None, lease: Lease) -> None:
        """Adds the outputs."""
        known = self._constants or self._all_constants()
        inputs = [env[name] if name in env else known[name] for name in self.node.inputs]
        if self._keeps:
            inputs = [lasting(each) for each in inputs]
        try:
            results = self._function(self.node, inputs, self.course.scope.opset)
        except (ValueError, IndexError, TypeError) as error:
            raise ValueError(f"{name_of(self.node)}: {printable(str(error))}") from error
        env.update([(name, result) for name, result in zip(self.node.outputs, results) if name])

    def _all_constants(self) -> dict[str, Any]:
        """The inputs that are constants, and None for those that are missing."""
        of = {name: self.course.scope.weights.get(name) if name else None for name in self.node.inputs}
        self._constants = {name: None if array is None else np.asarray(array) for name, array in of.items()}
        return self._constants


class Segment:
    """Nodes that are planned together."""

    def __init__(self, course: Course, cut: Cut) -> None:
        self.course, self.cut = course, cut
        self._opened: OrderedDict[Any, OpenRunner] = OrderedDict()
        self._known = cut.values | cut.sizes  # inputs that may be constants of a plan
        self._inputs = [(name, name in self._known) for name in cut.inputs]
        self._ready: dict[Any, tuple[Runners, Idle]] = {}  # where runners are, by what decides which one is taken
        self._is_arithmetic = all(node.op in _ARITHMETIC and not node.domain for node in cut.nodes)

    @property
    def opened(self) -> tuple[OpenRunner, ...]:
        """One for each combination of types of inputs, and of values that are no sizes."""
        return tuple(self._opened.values())

    @property
    def plans(self) -> tuple[OpenPlan, ...]:
        """Those that were made."""
        return tuple(plan for opened in self.opened for plan in opened.plans)

    def run(self, env: Env, times: Times | None, lease: Lease) -> None:
        """Adds the outputs."""
        if self._is_arithmetic and self.needs_no_plan(env):
            self._run_by_numpy(env)
        else:
            env.update(self.taken(env, lease).computed(env))

    def needs_no_plan(self, env: Env) -> bool:
        """Whether it is arithmetic of a few integers, for which a plan costs more."""
        return self._is_arithmetic and all(_is_few_integers(env[name]) for name in self.cut.inputs)

    def _run_by_numpy(self, env: Env) -> None:
        """Adds the outputs without a plan."""
        course = self.course
        found = dict(env)
        for node in self.cut.nodes:
            inputs = [course.value(found, name) for name in node.inputs]
            results = evaluate(node, inputs, course.scope.opset)
            found.update(zip(node.outputs, results or ()))
        env.update((name, found[name]) for name in self.cut.outputs)

    def taken(self, env: Env, lease: Lease) -> Runner:
        """A runner for the inputs and values in the environment, in which nothing is written; it is added to the lease."""
        key: list[Any] = []
        for name, is_known in self._inputs:
            array = env[name]
            if type(array) is not np.ndarray:
                array = env[name] = self._array(name, array)
            key += (array.shape, array.dtype)
            if is_known and (array.size <= _MOST_SIZES or name in self.cut.values):
                key.append(array.tobytes())
        ready = self._ready.get(tuple(key))
        if ready is not None:
            try:
                runner = ready[1].pop()
            except IndexError:  # another thread has it, or it was released
                ready = None
        if ready is None:
            opened, shapes = self._opened_for(env)
            idle, runner = opened.pop(shapes)
            if len(self._ready) >= _MOST_READY:
                self._ready.clear()
            ready = self._ready[tuple(key)] = opened.runners, idle
        lease.append((*ready, runner))
        return runner

    def _opened_for(self, env: Env) -> tuple[OpenRunner, dict[str, Shape]]:
        """What has runners for the inputs and values in the environment, and the shapes that it needs."""
        key, shapes = [], {}
        for name in self.cut.inputs:
            array = env[name]
            numbers = self.numbers(name, array) if name in self._known else None
            key.append((array.dtype, array.ndim) if numbers is None else numbers[0])
            shapes[name] = array.shape if numbers is None else numbers[1]
        opened = self._opened.get(tuple(key))
        if opened is None:
            with self.course.shared.lock:
                opened = self._opened[tuple(key)] = self._opened.get(tuple(key)) or self._open_runner(env)
                while len(self._opened) > _MOST_PLANS:
                    self._opened.popitem(last=False)
                    self._ready.clear()
        return opened, shapes

    def _array(self, name: str, value: Any) -> Array:
        if value is None or isinstance(value, (list, tuple)):
            what = "empty" if value is None else "a sequence"
            raise ValueError(printable(f"{name!r} is {what}, expected a tensor"))
        return np.asarray(value)

    def numbers(self, name: str, array: Array) -> tuple[Any, Shape] | None:
        """For a tensor whose value is known: what is a constant of the plan, and the numbers that are sizes. Else None."""
        needed = name in self.cut.values
        if not needed and (name not in self.cut.sizes or array.size > _MOST_SIZES or array.dtype.kind not in "iu"):
            return None
        if array.dtype.kind not in "iu" or not 0 < array.size <= _MOST_SIZES:
            return (array.dtype, array.shape, array.tobytes()), ()
        numbers = array.reshape(-1).tolist()
        fixed = tuple(n if not 0 <= n < _LARGEST else None for n in numbers)
        return (array.dtype, array.shape, fixed), tuple(n for n in numbers if 0 <= n < _LARGEST)

    def _open_runner(self, env: Env) -> OpenRunner:
        """For inputs of these types, and values that differ in sizes alone."""
        course, cut = self.course, self.cut
        inputs, dims = [], {}
        constants: dict[str, Array] = {}
        numbers: dict[str, tuple[Array, Sequence[int | str]]] = {}
        for name in cut.inputs:
            array = env[name]
            found = self.numbers(name, array)
            if found is None:
                dims[name] = self._dims(name, array)
                inputs.append(Value(name, array.dtype.name, dims[name]))
                continue
            dims[name] = tuple(f"{name}[{i}]" for i in range(array.size))[: len(found[1])]
            if found[1]:
                rest = iter(dims[name])
                numbers[name] = array, [next(rest) if n is None else n for n in found[0][2]]
            else:
                constants[name] = array.copy()
        outputs = [Value(name, "", None) for name in cut.outputs]
        weights = course.scope.weights
        source = Source(course.source.name, course.scope.opset, inputs, outputs, cut.nodes, weights)
        plan = partial(self._planned, with_values(source, constants), dims, numbers)
        opened = OpenRunner({value.name: value for value in inputs}, dims, plan)
        opened.most_shapes, opened.most_bytes = course.shared.most_shapes, course.shared.most_bytes
        return opened

    def _dims(self, name: str, array: Array) -> tuple[int | str, ...]:
        """The dimensions of an input: all are open but those that are numbers in the file."""
        given: Any = next((value.dims for value in self.course.source.inputs if value.name == name), None)
        if given is None or len(given) != array.ndim:
            given = (None,) * array.ndim
        return tuple(n if n == size else f"{name}.{i}" for i, (n, size) in enumerate(zip(given, array.shape)))

    def _planned(self, source: Source, dims: Mapping[str, Any], numbers: Mapping[str, Any], sizes: Sizes) -> OpenPlan:
        try:
            try:
                return self._plan(source, dims, numbers, sizes, sizes.__getitem__)
            except UnsupportedModel as error:
                if error.needed:
                    raise
                return self._plan(source, dims, numbers, sizes, lambda name: int(sizes[name]))
            except ValueError:
                return self._plan(source, dims, numbers, sizes, lambda name: int(sizes[name]))
        except UnsupportedModel as error:
            self.course.refuse(self.cut, error)
            raise

    def _plan(
        self,
        source: Source,
        dims: Mapping[str, Any],
        numbers: Mapping[str, tuple[Array, Sequence[Any]]],
        sizes: Sizes,
        size_of: Callable[[str], Any],
    ) -> OpenPlan:
        shapes = {
            value.name: tuple(size_of(n) if isinstance(n, str) else n for n in dims[value.name]) for value in source.inputs
        }
        known = {}
        for name, (array, each) in numbers.items():
            elements = np.empty(array.size, object)
            elements[:] = [size_of(n) if isinstance(n, str) else n for n in each]
            if not any(isinstance(n, str) for n in each) or isinstance(size_of(dims[name][0]), int):
                elements = elements.astype(array.dtype)
            known[name] = elements.reshape(array.shape), array.dtype.name
        operators = tuple(node.op for node in source.nodes)
        outputs = [value.name for value in source.outputs]
        with planning(source.weights.values()):
            graph = simplified(graph_of(source, shapes, self.course.scope.fallback, known))
            return OpenPlan(sizes, graph, "nchw", self.course.shared.contexts, outputs, operators, "")


#: The parts in :mod:`pysimd.network.courses.control` are like these.
Part = Union[HostPart, Segment, Any]
