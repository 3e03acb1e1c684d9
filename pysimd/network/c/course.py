"""A course in C: what :class:`pysimd.network.courses.course.Course` runs, as branches and loops for known shapes.

Each segment is a program of its own. The tensors that parts pass to each other have places in the block, where the programs
read and write them: only results of branches and rows of loops are copied. A large state of a loop and its next value
change places after each pass. What is known when the program is
written, such as sizes that follow from shapes, is no tensor of the program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pysimd.annotations import Array, Shape
from pysimd.errors import printable
from pysimd.network.c import chosen
from pysimd.network.c.memory import Memory
from pysimd.network.c.pieces import Piece, around_choices
from pysimd.network.c.program import Function, Placed, filled
from pysimd.network.c.rows import axes_behind
from pysimd.network.c.slots import Env, Refused, Rows, Slot, Unknown, failing, known, number_of, refused
from pysimd.network.c.types import C_TYPES
from pysimd.network.convert import UnsupportedModel, graph_of
from pysimd.network.convert.conversion import full_name
from pysimd.network.courses.control import NO_BOUND, Branch, Loop, Scan
from pysimd.network.courses.counted import Counted, Passes
from pysimd.network.courses.course import Course, HostPart, OtherCuts, Segment
from pysimd.network.courses.host_operators import OF_SEQUENCES
from pysimd.network.courses.partition import VALUE_INPUTS, Cut
from pysimd.network.graph import Graph
from pysimd.network.memory import GAP, LINE, packed_roots
from pysimd.network.passes import simplified
from pysimd.network.program import Program
from pysimd.network.runners import Lease
from pysimd.network.source import Source, SourceNode, Value, name_of, with_values
from pysimd.network.views import View

_TO_NHWC, _TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)
_TENSOR = re.compile(r"(TENSOR\([^,]*, )(\d+)\)")
_MOST_COPIED = 64  # bytes of a state, which take no longer than exchanging two places
_MOST_WRITTEN = 64  # passes, one after the other
_MOST_BYTES = 1 << 28  # of rows whose number depends on values: a model takes the memory whether there are as many or not


class _Part(NamedTuple):
    """The program of a segment, with the offsets of the roots of its inputs and outputs, or the known values of these.

    Offsets of states that change places are texts.
    """

    program: Program
    offsets: dict[str, Any]
    known: dict[str, Array]


class _State(NamedTuple):
    """How much is written."""

    parts: int
    constants: int
    lines: int
    size: int


class _Swap(NamedTuple):
    """A state of a loop and the result that it becomes, which change places after each pass in place of being copied.

    number : of the first of two members of `places`: where the state is, and where the result is written.
    state, offset : the places before the loop, and of the state behind it.
    """

    number: int
    state: int
    offset: int
    nbytes: int

    @property
    def texts(self) -> dict[int, str]:
        """In place of these offsets."""
        return {self.state: f"m->places[{self.number}]", self.offset: f"m->places[{self.number + 1}]"}

    @property
    def before(self) -> list[str]:
        """Lines before the loop."""
        return [f"{text} = {offset};" for offset, text in self.texts.items()]

    @property
    def lines(self) -> list[str]:
        """Lines at the end of a pass."""
        one, other = self.texts.values()
        return ["{", f"    const size_t old = {one};", f"    {one} = {other};", f"    {other} = old;", "}"]

    @property
    def after(self) -> list[str]:
        """Lines behind the loop."""
        target, source = (f"TENSOR(unsigned char, {offset})" for offset in (self.state, self.offset))
        return [f"if (m->places[{self.number}] != {self.state}) memcpy({target}, {source}, {self.nbytes});"]


def functions_of(course: Course, shapes: Sequence[Mapping[str, Shape]], layout: str) -> list[Function]:
    """The functions of a course for several shapes of its inputs.

    layout : as of :class:`pysimd.network.program.Program`.

    Raises ValueError, with the node, for what cannot be written.
    """
    functions: list[Function] = []
    for number, each in enumerate(shapes):
        first = sum(len(function.programs) for function in functions)
        functions.append(_Writer(course, each, layout, number, first).function())
    return functions


class _Writer:
    """Runs a course with tensors whose values are not known, and writes the lines that compute these.

    number : of the function.
    first : the number of the first of its programs.

    lines : what is written.

    The constants that lines copy are ``@NUMBER@`` in them, as long as their offsets are not known.
    """

    def __init__(self, course: Course, shapes: Mapping[str, Shape], layout: str, number: int, first: int) -> None:
        self._number, self._first, self._loops, self._places = number, first, 0, 0
        self._contexts, self._most_passes = course.shared.contexts, course.shared.most_passes
        self._swapped: set[int] = set()  # offsets of what changes places
        self._parts: list[_Part] = []
        self._constants: list[Array] = []
        self.lines: list[str] = []
        self._size = 0
        self._inputs: dict[str, Slot] = {}
        given: Env = {}
        for value in course.source.inputs:
            name, shape = value.name, shapes[value.name]
            moved = layout == "nhwc" and len(shape) == 4
            self._inputs[name] = self.slot(_dtype(value), [shape[i] for i in _TO_NHWC] if moved else shape)
            given[name] = self._transposed(self._inputs[name], _TO_NCHW) if moved else self._inputs[name]
        results = dict(zip(course.names, self._run(course, given, of_model=True)))
        self._rows = {name: each.passes for name, each in results.items() if isinstance(each, Rows)}
        self._outputs = {name: self._result(each, layout) for name, each in results.items()}

    def function(self) -> Function:
        """What is written."""
        placed = [_placed(part, self._size) for part in self._parts]
        slots = [*self._inputs.values(), *self._outputs.values(), *self._rows.values()]
        return Function(
            f"course_{self._number}",
            placed,
            {name: _view(slot) for name, slot in self._inputs.items()},
            {name: _view(slot) for name, slot in self._outputs.items()},
            {str(slot.offset): slot.offset for slot in slots},
            self._size,
            self._text,
            {name: _view(slot) for name, slot in self._rows.items()},
            self._places,
        )

    def _text(self, name: str, memory: Memory) -> str:
        offsets = {str(i): str(memory.offset(array)) for i, array in enumerate(self._constants)}
        lines = filled("\n".join(_indented(self.lines)), offsets)
        return f"static int course_{self._number}(struct {name} * m) {{\n    (void)m;\n{lines}\n    return 1;\n}}"

    # ---- tensors

    def slot(self, dtype: Any, shape: Iterable[int]) -> Slot:
        """A new one."""
        made = Slot(np.dtype(dtype), tuple(shape), self._size)
        if made.dtype.name not in C_TYPES:
            raise Refused(f"a tensor of {made.dtype.name} cannot be written as C")
        self._size += -(-(made.nbytes + GAP) // LINE) * LINE
        return made

    def _result(self, result: Slot | Rows, layout: str) -> Slot:
        """A tensor for a result of the model, which is no input."""
        if isinstance(result, Rows) and prod(result.slot.shape[: result.axis]) != 1:
            if layout == "nhwc" and len(result.slot.shape) == 4:
                why = "an output of four dimensions, of which not the first one depends on values, has no other layout"
                raise Refused(f"the model cannot be written as C: {why}")
            return chosen.dense(self, result)
        slot = result.slot if isinstance(result, Rows) else result
        if slot.offset in {-1, *(each.offset for each in self._inputs.values())}:
            slot = self.copied(slot)
        return self._transposed(slot, _TO_NHWC) if layout == "nhwc" and len(slot.shape) == 4 else slot

    def _transposed(self, slot: Slot, order: Sequence[int]) -> Slot:
        node = SourceNode("Transpose", ("x",), ("y",), {"perm": list(order)})
        source = Source("", 13, [Value("x", slot.dtype.name, slot.shape)], [Value("y", "", None)], [node], {})
        return self._computed(simplified(graph_of(source, {"x": slot.shape})), ["y"], {"x": slot})["y"]

    def copied(self, slot: Slot) -> Slot:
        """A copy."""
        made = self.slot(slot.dtype, slot.shape)
        self._copy(made, slot)
        return made

    def _copy(self, target: Slot, source: Slot) -> None:
        self._move(self.pointer(target), 0, self.pointer(source), 0, 1, source.nbytes)

    def _move(self, target: str, target_step: int, source: str, source_step: int, count: int, nbytes: int) -> None:
        """Copies some parts of so many bytes."""
        if count * nbytes == 0:
            return
        if count == 1:
            self.lines.append(f"memcpy({target}, {source}, {nbytes});")
        else:
            self.lines.append(f"copy_parts({target}, {target_step}, {source}, {source_step}, {count}, {nbytes});")

    def pointer(self, slot: Slot, kind: str = "unsigned char") -> str:
        """A pointer to the elements, as text."""
        if slot.known is None:
            return f"TENSOR({kind}, {slot.offset})"
        self._constants.append(np.ascontiguousarray(slot.known))
        return f"DATA({kind}, @{len(self._constants) - 1}@)"

    def _value(self, course: Course, env: Env, name: str) -> Slot:
        """A tensor of known shape."""
        if not name:
            raise ValueError("an input of a branch or a loop is missing")
        if name not in env:
            return known(course.scope.weights[name])
        found = env[name]
        if isinstance(found, Unknown):
            raise found.why
        if isinstance(found, Rows):
            why = f"{name!r}, whose size depends on values, can only be an output of the model, or be read row by row"
            raise Refused(printable(f"the model cannot be written as C: {why}"))
        return found

    def _truth(self, slot: Slot, node: SourceNode) -> bool | str:
        """A condition, as text if it is not known."""
        text = f"{number_of(slot, f'the condition of {name_of(node)}')} != 0"
        return text if slot.known is None else bool(slot.known.reshape(()))

    # ---- parts

    def _run(self, course: Course, env: Env, *, of_model: bool = False) -> list[Any]:
        """Adds the lines of a course, and returns its outputs."""
        while True:
            state = self._state()
            found = dict(env)
            try:
                for part in course.parts:
                    self._part(course, part, found)
                if of_model:
                    rows = {name: each for name, each in found.items() if isinstance(each, Rows)}
                    return [rows.get(name) or self._value(course, found, name) for name in course.outputs]
                return [self._value(course, found, name) for name in course.outputs]
            except OtherCuts:
                self._return_to(state)

    def _state(self) -> _State:
        return _State(len(self._parts), len(self._constants), len(self.lines), self._size)

    def _return_to(self, state: _State) -> None:
        """Forgets what was written since then."""
        parts, constants, lines, self._size = state
        self._swapped = {offset for offset in self._swapped if offset < self._size}
        del self._parts[parts:], self._constants[constants:], self.lines[lines:]

    @contextmanager
    def _apart(self) -> Iterator[list[str]]:
        """Adds lines to a list of their own."""
        lines, self.lines = self.lines, []
        try:
            yield self.lines
        finally:
            self.lines = lines

    def _part(self, course: Course, part: Any, env: Env) -> None:
        kinds = {Segment: self._segment, HostPart: self._host, Branch: self._branch, Loop: self._loop, Scan: self._scan}
        write: Any = kinds.get(type(part))
        if write is None:
            raise refused(part.node, "programs in C have no sequences")
        write(course, part, env)

    def _host(self, course: Course, part: HostPart, env: Env) -> None:
        """What Python computes, if it can do so now."""
        node = part.node
        if full_name(node) in OF_SEQUENCES:
            raise refused(node, "programs in C have no sequences")
        slots = [(name, self._value(course, env, name)) for name in node.inputs if name]
        found: dict[str, Any] = {name: slot.known for name, slot in slots if slot.known is not None}
        if len(found) < len(slots):
            self._chosen(course, node, env)
            return
        part.run(found, None, Lease())
        env.update((name, known(found[name])) for name in node.outputs if name)

    def _chosen(self, course: Course, node: SourceNode, env: Env) -> None:
        """Operators that choose, which give as many rows as values decide."""
        slots = [self._value(course, env, name) if name else None for name in node.inputs]
        write = chosen.WRITERS.get(full_name(node), chosen.largest if node.op == "TopK" else None)
        if write is None:
            raise refused(node, "the shape of its result depends on values")
        env.update((name, each) for name, each in zip(node.outputs, write(self, node, slots)) if name)

    # ---- segments

    def _segment(self, course: Course, part: Segment, env: Env) -> None:
        pieces = around_choices(course, part, env)
        if pieces:
            for each in pieces:
                write: Any = self._chosen if isinstance(each, SourceNode) else self._segment
                write(course, each, env)
            return
        rows = {name: each for name in part.cut.inputs for each in (env.get(name),) if isinstance(each, Rows)}
        if rows:
            self._behind_rows(course, part, env, rows)
            return
        slots = {name: self._value(course, env, name) for name in part.cut.inputs}
        values: dict[str, Any] = {name: slot.known for name, slot in slots.items()}
        if part.needs_no_plan(values):
            part.run(values, None, Lease())
            env.update((name, known(values[name])) for name in part.cut.outputs)
            return
        graph = self._graph(course, part, slots)
        names = dict(zip(part.cut.outputs, graph.outputs))
        found = {name: _given(graph, of, slots) for name, of in names.items()}
        env.update((name, slot) for name, slot in found.items() if slot is not None)
        computed = [of for name, of in names.items() if found[name] is None]
        made = self._computed(graph, computed, slots) if computed else {}
        env.update((name, made[of]) for name, of in names.items() if of in made)

    def _behind_rows(self, course: Course, part: Segment, env: Env, rows: Mapping[str, Rows]) -> None:
        """A segment that computes each row by itself: it computes as many as there can be."""
        cut, own = part.cut, dict(env)
        own.update((name, each.slot) for name, each in rows.items())
        node: Any = next(node for node in cut.nodes if not rows.keys().isdisjoint(node.reads))
        if len({each.passes.offset for each in rows.values()}) == 1 and cut.values.isdisjoint(rows):
            axes = axes_behind(
                cut.nodes,
                {name: each.axis for name, each in rows.items()},
                self._shapes(course, part, {name: self._value(course, own, name) for name in cut.inputs}),
                course.scope.weights.get,
                course.scope.opset,
            )
            if isinstance(axes, dict):
                self._segment(course, part, own)
                passes = next(iter(rows.values())).passes
                for name in cut.outputs:
                    found: Any = own[name]
                    env[name] = Rows(found, passes, axes[name]) if name in axes else found
                return
            node = axes
        names = " and ".join(repr(name) for name in rows)
        raise refused(node, f"it does not compute each row by itself, and the size of {names} depends on values")

    def _shapes(self, course: Course, part: Segment, slots: Mapping[str, Slot]) -> dict[str, Shape]:
        """The shapes of all tensors of a segment."""
        made = [name for node in part.cut.nodes for name in node.outputs if name]
        graph = self._graph(course, part, slots, made)
        shapes = {name: np.shape(array) for name, array in course.scope.weights.items()}
        shapes.update((name, slot.shape) for name, slot in slots.items())
        return {**shapes, **{name: graph.shape(of) for name, of in zip(made, graph.outputs)}}

    def _computed(self, graph: Graph, outputs: Sequence[str], slots: Mapping[str, Slot]) -> dict[str, Slot]:
        """Some outputs of a graph, which a program of its own computes of these inputs."""
        graph = Graph(graph.name, graph.nodes, graph.inputs, outputs, graph.types, graph.constants).replaced(graph.nodes)
        program = Program(graph, "nchw", self._contexts)
        program.refuse_contexts()
        given = {view.root: slots[name] for name, view in program.inputs.items()}
        made = {name: self.slot(view.dtype, view.shape) for name, view in program.outputs.items()}
        offsets = {root: slot.offset for root, slot in given.items() if slot.known is None}
        offsets.update((view.root, made[name].offset) for name, view in program.outputs.items())
        known = {root: np.ascontiguousarray(slot.known) for root, slot in given.items() if slot.known is not None}
        self.lines.append(f"if (!compute_{self._first + len(self._parts)}(m)) return 0;")
        self._parts.append(_Part(program, offsets, known))
        return made

    def _graph(
        self, course: Course, part: Segment, slots: Mapping[str, Slot], results: Sequence[str] | None = None
    ) -> Graph:
        """The graph of a segment, in which the values that its runs would know are constants.

        results : its outputs, in place of those of the segment.
        """
        cut = part.cut
        for name in sorted(cut.values):
            if slots[name].known is None:
                raise refused(_user(cut, name), f"it needs the value of {name!r}, which is known at run time only")
        constants = {
            name: slot.known
            for name, slot in slots.items()
            if slot.known is not None and (name in cut.values or part.numbers(name, slot.known) is not None)
        }
        inputs = [Value(name, slot.dtype.name, slot.shape) for name, slot in slots.items() if name not in constants]
        outputs = [Value(name, "", None) for name in (cut.outputs if results is None else results)]
        source = Source(course.source.name, course.scope.opset, inputs, outputs, cut.nodes, course.scope.weights)
        shapes = {value.name: slots[value.name].shape for value in inputs}
        try:
            return simplified(graph_of(with_values(source, constants), shapes, course.scope.fallback))
        except UnsupportedModel as error:
            course.refuse(part.whole if isinstance(part, Piece) else cut, error)
            raise

    # ---- branches

    def _branch(self, course: Course, part: Branch, env: Env) -> None:
        node = part.node
        flag = self._truth(self._value(course, env, node.inputs[0]), node)
        if not isinstance(flag, str):
            body = part.bodies["then" if flag else "else"]
            env.update((name, slot) for name, slot in zip(node.outputs, self._run(body, _captured(body, env))) if name)
            return
        arms = [self._arm(body, env) for body in part.bodies.values()]
        results = [slots for slots, _ in arms if not isinstance(slots, ValueError)]
        if not results:
            raise arms[0][0]
        env.update((name, self._joined(of, name, node)) for name, of in zip(node.outputs, zip(*results)) if name)
        for word, (slots, arm) in zip((f"if ({flag}) {{", "} else {"), arms):
            with self._apart() as lines:
                if isinstance(slots, ValueError):
                    lines += failing(node, _text_of(slots))
                else:
                    self._give(env, node, slots)
            self.lines += [word, *_indented(arm), *_indented(lines)]
        self.lines.append("}")

    def _arm(self, body: Course, env: Env) -> tuple[Any, list[str]]:
        """The results of a branch and its lines; instead of results the error, if it cannot run for these shapes."""
        state = self._state()
        with self._apart() as lines:
            try:
                return self._run(body, _captured(body, env)), lines
            except Refused:
                raise
            except ValueError as error:
                parts, constants, _, size = state
                self._return_to(_State(parts, constants, 0, size))
                return error, lines

    def _joined(self, slots: Sequence[Slot], name: str, node: SourceNode) -> Slot | Unknown:
        """What a branch gives, whichever graph runs."""
        types = {(slot.dtype, slot.shape) for slot in slots}
        if len(types) == 1:
            return self.slot(*types.pop())
        found = " and ".join(slot.type for slot in slots)
        return Unknown(refused(node, f"its branches give {found} for {name!r}"))

    def _give(self, env: Env, node: SourceNode, slots: Sequence[Slot]) -> None:
        for name, slot in zip(node.outputs, slots):
            target = env[name] if name else None
            if isinstance(target, Slot):
                self._copy(target, slot)

    # ---- loops

    def _loop(self, course: Course, part: Loop, env: Env) -> None:
        node = part.node
        trips, condition = (self._value(course, env, name) if name else None for name in part.inputs[:2])
        states = [self._value(course, env, name) for name in part.inputs[2:]]
        first = True if condition is None else self._truth(condition, node)
        if trips is not None and trips.known is None:
            number_of(trips, f"the number of passes of {name_of(node)}")
            bound: Any = trips
            holds = False
        else:
            counted = self._counting(part, env, states)
            bounds = part.bound(None if trips is None else trips.known), counted.most
            bound = min((each for each in bounds if each is not None), default=None)
            holds = counted.is_exact
        if first is False or (isinstance(bound, int) and bound <= 0):
            results: list[Any] = [*states, *map(_known_rows, part.no_rows(len(states)))]
        else:
            state = self._state()
            try:
                results = self._counted(part, env, states, bound, first, holds)
            except Refused:
                if not isinstance(bound, int) or bound > _MOST_WRITTEN or first is not True:
                    raise
                self._return_to(state)
                results = self._one_by_one(part, env, states, bound)
        env.update((name, result) for name, result in zip(node.outputs, results) if name)

    def _counting(self, part: Loop, env: Env, states: Sequence[Slot]) -> Passes:
        """The passes of a Loop after which a condition that counts ends it."""
        body = part.body
        given = {**_captured(body, env), **dict(zip(body.inputs[2:], states))}

        def value(name: str) -> Array | None:
            slot = given.get(name)
            return slot.known if isinstance(slot, Slot) else body.scope.weights.get(name)

        return Counted(body, value).passes(body.outputs[0])

    def _counted(
        self, part: Loop, env: Env, states: Sequence[Slot], bound: Any, first: bool | str, holds: bool
    ) -> list[Any]:
        """The results of a Loop that is one in C, whose variable is the number of the pass."""
        own = [self.copied(state) for state in states]
        place = self.slot(np.int64, ())
        number, flag, *names = part.body.inputs
        inner: Env = {**_captured(part.body, env), number: place, flag: known(True), **dict(zip(names, own))}

        def begin(count: str) -> None:
            self.lines.append(f"*TENSOR(long long, {place.offset}) = {count};")

        return [*own, *self._passes(part, inner, own, bound, first, begin, holds)]

    def _one_by_one(self, part: Loop, env: Env, states: Sequence[Slot], bound: int) -> list[Any]:
        """The results of a Loop whose passes are written one after the other, as shapes depend on the number of the pass, or
        change from pass to pass."""
        number, flag, *names = part.body.inputs
        passes: list[Sequence[Slot]] = []
        goes_on: bool | str = True
        while goes_on and len(passes) < bound:
            given = {number: known(np.int64(len(passes))), flag: known(True), **dict(zip(names, states))}
            lead, *results = self._run(part.body, {**_captured(part.body, env), **given})
            goes_on = self._truth(lead, part.node)
            if isinstance(goes_on, str):
                raise refused(part.node, "the shapes in it change, and a condition ends it")
            states = results[: len(states)]
            passes.append(results[len(states) :])
        wanted = [*part.node.outputs[len(states) :], *[""] * len(passes[0])]
        return [
            *states,
            *(self._stacked(rows, name, part.node) if name else None for name, rows in zip(wanted, zip(*passes))),
        ]

    def _stacked(self, rows: Sequence[Slot], name: str, node: SourceNode) -> Slot:
        """Rows that are in places of their own."""
        types = dict.fromkeys(row.type for row in rows)
        if len(types) > 1:
            raise ValueError(f"the rows of {name!r} of {name_of(node)} are {' and '.join(types)}")
        made = self.slot(rows[0].dtype, (len(rows), *rows[0].shape))
        for i, row in enumerate(rows):
            self._move_row(row, made, 0, str(i), to_row=False)
        return made

    def _scan(self, course: Course, part: Scan, env: Env) -> None:
        given = [self._value(course, env, name) for name in part.node.inputs[part.batched :]]
        results = self._batch(part, env, given) if part.batched else self._scanned(part, env, given)
        env.update((name, result) for name, result in zip(part.node.outputs, results) if name)

    def _batch(self, part: Scan, env: Env, given: Sequence[Slot]) -> list[Any]:
        """The results of a Scan of opset 8, which has an axis of the batch before all others."""
        counts = {slot.shape[0] for slot in given}
        if len(counts) != 1 or counts == {0}:
            raise ValueError(
                f"the inputs of {name_of(part.node)} have batches of {sorted(counts)}, expected one size above 0"
            )
        batch = counts.pop()
        self._loops += 1
        loop = _Names(self._loops)
        place = _place(loop.count, batch, False)
        made: list[Any] = []
        with self._apart() as lines:
            each = [self.slot(slot.dtype, slot.shape[1:]) for slot in given]
            for target, source in zip(each, given):
                self._move_row(target, source, 0, place, to_row=True)
            for result in self._scanned(part, env, each):
                made.append(None if result is None else self.slot(result.dtype, (batch, *result.shape)))
                if result is not None:
                    self._move_row(result, made[-1], 0, place, to_row=False)
        self._repeat(part.node, loop, batch, NO_BOUND, (True, True), lines, [])
        return made

    def _scanned(self, part: Scan, env: Env, given: Sequence[Slot]) -> list[Any]:
        """The results of a Scan without an axis of a batch."""
        body, states, scanned = part.body, given[: part.states], given[part.states :]
        ways = [(axis % len(slot.shape), back) for (axis, back), slot in zip(part.ways("input", len(scanned)), scanned)]
        length = part.length([slot.shape[axis] for slot, (axis, _) in zip(scanned, ways)])
        if length == 0:
            return [*states, *map(_known_rows, part.arranged(part.no_rows(len(states))))]
        own = [self.copied(state) for state in states]
        slices = [self.slot(slot.dtype, _without(slot.shape, axis)) for slot, (axis, _) in zip(scanned, ways)]
        inner: Env = {**_captured(body, env), **dict(zip(body.inputs, (*own, *slices)))}

        def begin(count: str) -> None:
            for target, source, (axis, back) in zip(slices, scanned, ways):
                self._move_row(target, source, axis, _place(count, length, back), to_row=True)

        return [*own, *self._passes(part, inner, own, length, True, begin, True)]

    def _passes(
        self,
        part: Loop | Scan,
        inner: Env,
        states: Sequence[Slot],
        bound: int | Slot | None,
        first: bool | str,
        begin: Callable[[str], None],
        holds: bool,
    ) -> list[Any]:
        """Adds a loop, and returns what its passes give.

        states : those of the body, which have their first values.
        bound : the number of passes if the condition stays true; None if it is not given.
        first : the condition of the first pass.
        begin : adds the first lines of a pass, in which a variable of this name has the number of the passes before.
        holds : whether the condition of a pass is true as long as there are fewer than `bound`.
        """
        self._loops += 1
        loop = _Names(self._loops)
        begun = self._state()
        with self._apart() as lines:
            begin(loop.count)
            results = self._run(part.body, inner)
            goes_on = holds or self._truth(results[0], part.node)
            if goes_on is False and not isinstance(bound, Slot):
                bound, goes_on = 1, True
            elif goes_on is not True:
                self.lines.append(f"{loop.flag} = {goes_on or 0};")
            finals, rows = results[part.lead :][: len(states)], results[part.lead + len(states) :]
            is_exact = first is True and goes_on is True and isinstance(bound, int)
            most = bound if isinstance(bound, int) else self._most_passes
            made = self._rows_of(part, len(states), rows, loop.count, most, is_exact)
            swaps = self._carry(part, states, finals, begun)
        self._swap(swaps, begun, lines)
        self.lines += [line for swap in swaps for line in swap.before]
        after: list[str] = []
        if any(made) and not is_exact:
            total = self.slot(np.int64, ())
            after = [f"*TENSOR(long long, {total.offset}) = {loop.count};"]
            made = [Rows(each, total) if isinstance(each, Slot) else each for each in made]
        limited = self._most_passes + 1 if after else NO_BOUND
        self._repeat(part.node, loop, bound, limited, (first, goes_on), lines, after)
        self.lines += [line for swap in swaps for line in swap.after]
        return made

    def _rows_of(
        self, part: Loop | Scan, states: int, rows: Sequence[Slot], count: str, most: int, is_exact: bool
    ) -> list[Any]:
        """Adds the lines that collect results of a body; they are None where nothing reads them.

        most : the number of passes if `is_exact`, else of as many as there can be.
        """
        node = part.node
        wanted = [*node.outputs[states:], *[""] * len(rows)]
        ways = part.ways("output", len(rows)) if isinstance(part, Scan) else [(0, False)] * len(rows)
        made: list[Any] = []
        for name, row, (axis, back) in zip(wanted, rows, ways):
            if not name:
                made.append(None)
            elif not is_exact and most * row.nbytes > _MOST_BYTES:
                size = f"{most} rows of {name!r}, as many as there can be, take more than {_MOST_BYTES >> 20} MB"
                made.append(Unknown(refused(node, f"{size}: most_passes sets another limit")))
            else:
                axis %= len(row.shape) + 1
                made.append(self.slot(row.dtype, (*row.shape[:axis], most, *row.shape[axis:])))
                self._move_row(row, made[-1], axis, _place(count, most, back), to_row=False)
        return made

    def _move_row(self, row: Slot, rows: Slot, axis: int, place: str, *, to_row: bool) -> None:
        """Copies a row to its place among rows along an axis, or from there."""
        count, part = prod(rows.shape[:axis]), prod(rows.shape[axis + 1 :]) * int(rows.dtype.itemsize)
        one = self.pointer(row), part
        offset = str(int(place) * part) if place.isdigit() else f"{place} * {part}"
        many = f"{self.pointer(rows)} + {offset}", rows.shape[axis] * part
        target, source = (one, many) if to_row else (many, one)
        self._move(*target, *source, count, part)

    def _carry(self, part: Loop | Scan, states: Sequence[Slot], results: Sequence[Slot], first: _State) -> list[_Swap]:
        """Adds the lines that make results of a pass the states of the next one, and returns what changes places instead.

        first : the state before the lines of the body.
        """
        taken = {state.offset for state in states}
        moved, swapped = [], []
        for name, state, result in zip(part.body.inputs[2 * part.lead :], states, results):
            if (state.dtype, state.shape) != (result.dtype, result.shape):
                raise refused(part.node, f"its state {name!r} is {state.type} and then {result.type}")
            if result.offset == state.offset:  # it stays
                continue
            is_free = result.offset >= first.size and result.offset not in self._swapped  # a tensor of the body
            if is_free and state.nbytes > _MOST_COPIED:
                swapped.append(_Swap(self._places, state.offset, result.offset, state.nbytes))
                self._swapped.update((state.offset, result.offset))
                self._places += 2
                continue
            moved.append((state, self.copied(result) if result.offset in taken else result))
        for state, result in moved:
            self._copy(state, result)
        self.lines += [line for swap in swapped for line in swap.lines]
        return swapped

    def _swap(self, swaps: Sequence[_Swap], first: _State, lines: list[str]) -> None:
        """Makes the lines and the programs of a body find states where the last pass has left them."""
        texts = {offset: text for swap in swaps for offset, text in swap.texts.items()}
        lines[:] = [_TENSOR.sub(lambda found: f"{found[1]}{texts.get(int(found[2]), found[2])})", line) for line in lines]
        for part in self._parts[first.parts :]:
            part.offsets.update((root, texts[at]) for root, at in part.offsets.items() if at in texts)

    def _repeat(
        self,
        node: SourceNode,
        loop: _Names,
        bound: int | Slot | None,
        limited: int,
        conditions: tuple[bool | str, bool | str],
        lines: Sequence[str],
        after: Sequence[str],
    ) -> None:
        """Adds a loop of these lines.

        limited : the computed number of passes from which on the limit of the program is their bound.
        conditions : of the first pass, and of later ones.
        after : the lines behind it.
        """
        first, goes_on = conditions
        flags = [] if first is True and goes_on is True else [loop.flag]
        before, endless = [f"long long {loop.count};"], [*flags]
        before += [f"int {flag} = {1 if first is True else first};" for flag in flags]
        limit = str(self._most_passes if bound is None else bound)
        if isinstance(bound, Slot):
            limit = loop.most
            before += [
                f"const long long {loop.trips} = {number_of(bound, '')};",
                f"const long long {limit} = {loop.trips} < {limited} ? {loop.trips} : {self._most_passes};",
            ]
            endless.append(f"{loop.trips} >= {limited}")
        condition = " && ".join([*flags, f"{loop.count} < {limit}"])
        text = [*before, f"for ({loop.count} = 0; {condition}; {loop.count}++) {{", *_indented(lines), "}"]
        if not isinstance(bound, int):
            lines = failing(node, f"it has run {self._most_passes} times, the limit of this program")
            text += [f"if ({' && '.join([*endless, f'{loop.count} == {limit}'])}) {{", *_indented(lines), "}"]
        self.lines += ["{", *_indented([*text, *after]), "}"]


class _Names:
    """The variables of a loop: the number of passes so far, whether another one follows, how many at most, as given."""

    def __init__(self, number: int) -> None:
        self.count, self.flag, self.most, self.trips = (f"{word}_{number}" for word in ("count", "on", "most", "trips"))


def _place(count: str, length: int, back: bool) -> str:
    """The number of the row of a pass."""
    return f"(size_t)({length - 1} - {count})" if back else f"(size_t){count}"


def _known_rows(array: Array | None) -> Slot | None:
    return None if array is None else known(array)


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


def _captured(body: Course, env: Env) -> Env:
    return {name: env[name] for name in body.captured}


def _dtype(value: Value) -> str:
    return "float32" if value.dtype in ("float16", "bfloat16") else value.dtype


def _view(slot: Slot) -> View:
    return View(str(slot.offset), slot.dtype, slot.shape)


def _given(graph: Graph, name: str, slots: Mapping[str, Slot]) -> Slot | None:
    """An output of a segment, if it is a constant or an input in another shape; else None."""
    shape, producer = graph.shape(name), graph.producer(name)
    while producer is not None and producer.operator == "Reshape":
        name = producer.inputs[0]
        producer = graph.producer(name)
    if name in graph.constants:
        return known(graph.constants[name].reshape(shape))
    return slots[name].reshaped(shape) if name in slots else None


def _user(cut: Cut, name: str) -> SourceNode:
    """The node of a segment that needs a value."""
    readers = [node for node in cut.nodes if name in node.reads]
    needing = [
        node
        for node in readers
        if name in (node.inputs[i] for i in VALUE_INPUTS.get(full_name(node), ()) if i < len(node.inputs))
    ]
    return (needing or readers)[0]


def _text_of(error: ValueError) -> str:
    return error.nodes[0].reason if isinstance(error, UnsupportedModel) and error.nodes else str(error)


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _placed(part: _Part, begin: int) -> Placed:
    """The places of the tensors of a segment: those that no other part reads are behind `begin`."""
    arrangement = part.program.arrangement
    own = {root: life for root, life in arrangement.lives.items() if root not in part.offsets and root not in part.known}
    offsets, size = packed_roots(own, {root: arrangement.types[root].nbytes for root in own})
    places = {root: begin + offset for root, offset in offsets.items()}
    return Placed(part.program, {**places, **part.offsets}, begin + size, part.known)
