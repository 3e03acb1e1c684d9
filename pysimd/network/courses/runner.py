"""Running a model whose course depends on values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from pysimd._geometry import number
from pysimd.annotations import Array, Shape
from pysimd.errors import printable
from pysimd.network.contexts import Contexts
from pysimd.network.convert.at_run_time import BY_NUMPY, REASONS
from pysimd.network.convert.conversion import INPUT_TYPES, full_name, supported_operators
from pysimd.network.courses.control import PARTS, Branch
from pysimd.network.courses.course import Course, Env, HostPart, Part, Segment, Shared, Times
from pysimd.network.courses.host_operators import HOST_OPERATORS
from pysimd.network.courses.partition import LOOPS, Scope
from pysimd.network.given import Inputs, array_of, by_name, fitting, refuse_others
from pysimd.network.in_place import copied_to
from pysimd.network.open_runner import Dims, OpenRunner
from pysimd.network.runners import Lease
from pysimd.network.source import Source, Value, label_of
from pysimd.network.unsupported import UnsupportedModel, UnsupportedNode

_RUNS = 3  # of a report, after one that plans
_LISTED = 6


class CourseRunner:
    """Runs a model whose sizes, branches or loops depend on values; :meth:`pysimd.Model.prepare` returns it.

    ``runner({"x": image})`` computes the outputs and returns them as new arrays, by name; with one input,
    ``runner(image)`` does the same. Where the shapes of all inputs are known, alternatively, write the inputs into the
    arrays of :attr:`inputs` and call ``runner.run()``, which returns :attr:`outputs`. The shapes of outputs can depend on
    values, so that :attr:`outputs` has nothing before the first run, and new arrays after each.

    The model is cut into parts, which are planned when they run for the first time; other sizes, of inputs as of what is
    computed, cost a binding of a plan that exists. Several threads may call a runner at once. ``print(runner)`` shows the
    parts, with those inside of branches and loops, and :meth:`report` their times.

    Each segment keeps tensors for the shapes that it used last, within the limits :attr:`most_shapes` and
    :attr:`most_bytes`, which hold for all runners with the same plans; :meth:`trim` releases all but the last.

    inputs : arrays by name; none if dimensions are open.
    """

    def __init__(self, course: Course, values: Mapping[str, Value], dims: Dims | None, layout: str = "nchw") -> None:
        self._course, self._values, self.layout = course, dict(values), layout
        self.dims = None if dims is None else {name: tuple(each) for name, each in dims.items()}
        self.operators = tuple(node.op for node in course.source.nodes)
        self.file = course.source.file
        self._checked_last: dict[str, tuple[Shape, Any]] = {}  # shapes and types of inputs that were right
        self._clear()

    def _clear(self) -> None:
        self.inputs: dict[str, Array] = {}
        self.outputs: dict[str, Any] = {}
        if self.dims is not None and all(isinstance(n, int) for each in self.dims.values() for n in each):
            for name, each in self.dims.items():
                dtype = self._values[name].dtype
                shape: Any = self._stored(each)
                self.inputs[name] = np.zeros(shape, "float32" if dtype in ("float16", "bfloat16") else dtype)

    def __call__(self, inputs: Inputs | None = None, *, outputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Computes the outputs for these inputs; both as of :meth:`pysimd.network.Runner.__call__`."""
        if inputs is None and outputs is None:
            return self.run()
        results = self._run(self._given(self.inputs if inputs is None else inputs), None)
        return copied_to(outputs, results) if outputs else results

    def run(self) -> dict[str, Any]:
        """Computes :attr:`outputs` for the contents of :attr:`inputs`."""
        self.outputs = self._run({name: array.copy() for name, array in self.inputs.items()}, None)
        return self.outputs

    def copy(self) -> CourseRunner:
        """Another runner with the same plans, and inputs of its own."""
        return self.of(self.dims, self.layout)

    def of(self, dims: Dims | None, layout: str) -> CourseRunner:
        """A runner with the same plans for these dimensions of the inputs, and this layout."""
        return CourseRunner(self._course, self._values, dims, layout)

    def prepare(self, shapes: Dims) -> CourseRunner:
        """A runner with the same plans for these shapes of all inputs, in the order of the file."""
        refuse_others(shapes, self._values)
        return self.of(shapes, self.layout)

    @property
    def most_passes(self) -> int:
        """How often the body of a Loop runs that has no bound of its own, before this is an error; 1000000 by default."""
        return self._course.shared.most_passes

    @most_passes.setter
    def most_passes(self, count: int) -> None:
        self._course.shared.most_passes = number(count, "most_passes", 1)

    @property
    def most_shapes(self) -> int:
        """For how many shapes each segment keeps tensors between calls, at least 1; 256 unless another number is set."""
        return self._course.shared.most_shapes

    @most_shapes.setter
    def most_shapes(self, count: int) -> None:
        self._limit("most_shapes", number(count, "most_shapes", 1))

    @property
    def most_bytes(self) -> int:
        """How many bytes of tensors each segment keeps between calls; 1 GiB unless another number is set.

        The tensors of the shape that a segment used last are kept in any case."""
        return self._course.shared.most_bytes

    @most_bytes.setter
    def most_bytes(self, count: int) -> None:
        self._limit("most_bytes", number(count, "most_bytes", 0))

    @property
    def kept_bytes(self) -> int:
        """The bytes of the tensors that all segments keep, without packed weights."""
        return sum(opened.kept_bytes for opened in self._opened())

    def trim(self) -> None:
        """Releases the memory of all shapes but the one that each segment used last."""
        for opened in self._opened():
            opened.trim()

    def _limit(self, name: str, value: int) -> None:
        with self._course.shared.lock:  # under which segments take the limits
            setattr(self._course.shared, name, value)
            for opened in self._opened():
                setattr(opened, name, value)

    def _opened(self) -> list[OpenRunner]:
        return [opened for segment in self._course.segments() for opened in segment.opened]

    def report(self, inputs: Inputs | None = None, path: Any = None) -> str:
        """Where the time goes: runs the model a few times with these inputs, or with what is in :attr:`inputs`, and
        returns a table of its parts, with those inside of branches and loops.

        path : an HTML file that is written as well, with this table.
        """
        text = self._table(inputs)
        if path is not None:
            from pysimd.network.reports.pages import page

            body = f"<h2>Time by part</h2><pre>{escape(text)}</pre>"
            with open(path, "w", encoding="utf-8") as file:
                file.write(page(self.file or self._course.source.name, body))
        return text

    def _table(self, inputs: Inputs | None) -> str:
        if inputs is None and self.dims is not None and len(self.inputs) < len(self.dims):
            return str(self)
        env = {name: array.copy() for name, array in self.inputs.items()} if inputs is None else self._given(inputs)
        self._run(env, None)
        times = Times()
        for _ in range(_RUNS):
            self._run(env, times)
        return "\n".join([f"{'runs':>8} {'ms':>10}  part", *_described(self._course, times, "  ")])

    def __str__(self) -> str:
        lines = [f"{printable(self._course.source.name) or 'model'}, prepared as a course of parts"]
        lines += [f"  input   {printable(name)}: {value.dtype}" for name, value in self._values.items()]
        return "\n".join([*lines, *_described(self._course, None, "  ")])

    def __repr__(self) -> str:
        return f"<pysimd.network.CourseRunner {self._course.source.name!r}: {len(self._course.parts)} parts>"

    def _run(self, env: Env, times: Times | None) -> dict[str, Any]:
        if self.layout == "nhwc":
            env = {name: _moved(value, (0, 3, 1, 2)) for name, value in env.items()}
        lease = Lease()
        try:
            results = self._course.run(dict(env), times, lease)
            if self.layout == "nhwc":
                results = [_moved(value, (0, 2, 3, 1)) for value in results]
            if all(type(value) is np.ndarray and value.base is not None for value in results):  # of runners, nearly always
                return dict(zip(self._course.names, [value.copy() for value in results]))
            taken = {id(each) for value in env.values() for each in (value if isinstance(value, list) else [value])}
            return {name: _own(value, taken) for name, value in zip(self._course.names, results)}
        finally:
            lease.end()

    def _given(self, inputs: Inputs) -> Env:
        """The inputs, if they fit, as arrays that a run may keep."""
        given = inputs
        if type(given) is not dict or given.keys() != self._values.keys():
            given = by_name(inputs, self._values, "the input")
            refuse_others(given, self._values)
        last = self._checked_last
        return {
            name: array
            if type(array) is np.ndarray and last.get(name) == (array.shape, array.dtype) and array.flags.c_contiguous
            else self._checked(name, array)
            for name, array in given.items()
        }

    def _checked(self, name: str, given: Any) -> Any:
        value = self._values[name]
        is_array = type(given) is np.ndarray
        if is_array and self._checked_last.get(name) == (given.shape, given.dtype):
            return np.asarray(given, order="C")  # nearly all calls are such, and the checks take as long as a small segment
        if value.dtype.endswith("_type"):  # a sequence, or an optional value
            return [np.asarray(each) for each in given] if isinstance(given, (list, tuple)) else given
        array = array_of(given, name, value.dtype)
        expected = np.dtype("float32" if value.dtype in ("float16", "bfloat16") else value.dtype)
        if array.dtype != expected:
            array = fitting(given, name, np.empty(array.shape, expected)).astype(expected)
        shape = (
            array.shape if self.layout == "nchw" or array.ndim != 4 else (array.shape[0], array.shape[3], *array.shape[1:3])
        )
        dims: Any = value.dims if self.dims is None else self.dims.get(name)
        if dims is not None and not _fits(shape, dims):
            raise ValueError(f"{printable(name)} has shape {array.shape}, expected {self._stored(tuple(dims))}")
        if is_array and given.dtype == expected:
            self._checked_last[name] = given.shape, given.dtype
        return np.asarray(array, order="C")

    def _stored(self, shape: Any) -> Any:
        """A shape in the layout of inputs."""
        return (shape[0], *shape[2:], shape[1]) if self.layout == "nhwc" and len(shape) == 4 else shape


def _fits(shape: Shape, dims: Sequence[Any]) -> bool:
    return len(shape) == len(dims) and all(n == size for n, size in zip(dims, shape) if isinstance(n, int))


def _moved(value: Any, order: Shape) -> Any:
    return np.ascontiguousarray(value.transpose(order)) if isinstance(value, np.ndarray) and value.ndim == 4 else value


def _own(value: Any, taken: set[int]) -> Any:
    """A result that shares no memory with inputs and other results, whose arrays are those with these identities."""
    if isinstance(value, list):
        return [_own(each, taken) for each in value]
    if not isinstance(value, np.ndarray):
        return value
    if value.base is not None or id(value) in taken or not value.flags.writeable:
        return value.copy()
    taken.add(id(value))
    return value


def course_of(source: Source, fallback: Mapping[str, Any], contexts: Contexts) -> Course:
    """The course of a model.

    Raises UnsupportedModel for operators and types of inputs that are not known, before anything is planned.
    """
    found = list(_unknown(source, fallback))
    for value in source.inputs:
        if value.dtype not in INPUT_TYPES and not value.dtype.endswith("_type"):  # of sequences and optional values
            found.append(UnsupportedNode(value.name, "input", f"its type is {value.dtype}"))
    if found:
        raise UnsupportedModel(source.name, found)
    return Course(source, Scope(source.name, source.opset, fallback, {}), Shared(contexts, PARTS))


def _unknown(source: Source, fallback: Mapping[str, Any]) -> Iterator[UnsupportedNode]:
    """The operators of a graph, and of those in it, that are not known."""
    known = {*supported_operators(), *BY_NUMPY, *HOST_OPERATORS, *LOOPS, "Constant", "If", "Range", "ConstantOfShape"}
    for node in source.nodes:
        name = full_name(node)
        if name not in known and name not in fallback and f"ai.onnx.{name}" not in fallback:
            of = label_of(node)
            yield UnsupportedNode(of, name, REASONS.get(name, "the operator is not known"))
        for inner in node.attributes.values():
            if isinstance(inner, Source):
                yield from _unknown(inner, fallback)


# ---- reports


def _described(course: Course, times: Times | None, indent: str) -> Iterator[str]:
    """The parts of a course, with those inside of branches and loops."""
    for part in course.parts:
        yield _times_of(part, times) + indent + _text_of(part)
        for name, body in getattr(part, "bodies", {}).items():
            yield " " * len(_times_of(part, times)) + f"{indent}  {name}:"
            yield from _described(body, times, indent + "    ")


def _times_of(part: Part, times: Times | None) -> str:
    if times is None:
        return ""
    runs, seconds = times.get(id(part), [0, 0.0])
    return f"{runs / _RUNS:8.0f} {seconds / _RUNS * 1e3:10.3f}"


def _text_of(part: Part) -> str:
    if isinstance(part, Segment):
        nodes = part.cut.nodes
        operators = list(dict.fromkeys(node.op for node in nodes))
        more = f" and {len(operators) - _LISTED} more" if len(operators) > _LISTED else ""
        known = f", of the values of {', '.join(sorted(part.cut.values))}" if part.cut.values else ""
        plans = f", {len(part.plans)} plans" if part.plans else ""
        return printable(f"segment of {len(nodes)} nodes ({', '.join(operators[:_LISTED])}{more}){known}{plans}")
    kind = "on the host" if isinstance(part, HostPart) else "branch" if isinstance(part, Branch) else "loop"
    name = label_of(part.node)
    return printable(f"{kind}: {part.node.op} {name!r}")
