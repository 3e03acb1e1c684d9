"""Execution of a graph: its arrays in one block of memory, and the prepared calls of its steps."""

from __future__ import annotations

import mmap
from _thread import RLock  # of threading, which takes as long to import as a file here
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pysimd._library import ffi, lib
from pysimd.annotations import Array
from pysimd.errors import check, errno, printable
from pysimd.network.binding import Binding, Bound, BoundSizes, Memory, address_of
from pysimd.network.calls import OWN, Call
from pysimd.network.contexts import Context, Contexts
from pysimd.network.given import Inputs, by_name, fitting_each, refuse_others
from pysimd.network.graph import Graph, Node
from pysimd.network.in_place import MOST_RESULTS, WORTH, Calls, Elsewhere, InPlace, are_large
from pysimd.network.memory import Places, Plan, memory_text, packed
from pysimd.network.records import record
from pysimd.network.run_calls import Joined

if TYPE_CHECKING:
    from pysimd.network.prepared import StoredProgram
    from pysimd.network.program import Program

_PAGE = 4096
_LARGE = 2 << 20  # bytes of a large page
_MOST_ROOM = 4  # times the bytes that are needed, in a block that is used again

Self = TypeVar("Self", bound="Runner")


@record
class Step:
    """A node with the calls that compute it, and its context if it has one."""

    node: Node
    calls: Sequence[Bound]
    context: Context | None = None

    @property
    def weight_bytes(self) -> int:
        """The bytes that its context holds, for packed weights above all."""
        return 0 if self.context is None else self.context.nbytes


class Runner:
    """Runs a graph. Calls with inputs in several threads wait for one another; with :meth:`copy`, each thread has a runner
    of its own. All else is for one thread at a time: calls without inputs, or with `return_views`, return arrays that the
    next call of any thread overwrites.

    graph : as built, or with what :func:`pysimd.network.passes.simplified` has joined.
    layout : how inputs and outputs of four dimensions are stored: "nchw", the order of the graph, or "nhwc".
    contexts : of runners of the same weights for other shapes, to share them.
    progress : is called with the part of the weights that is packed, from 0 to 1.
    outputs : the names of the outputs, in the order of the graph, where a model gives an input back under the same name.

    ``runner({"x": image})`` computes the outputs for new inputs and returns them as new arrays, by name; with one input,
    ``runner(image)`` does the same. Inputs of float32 may be given as float16, which is converted. Alternatively,
    write the inputs into the arrays of :attr:`inputs` and call ``runner()``, which returns :attr:`outputs`: arrays that the
    next call overwrites. :meth:`bind` makes arrays of the caller those of :attr:`inputs` and :attr:`outputs`. What these
    contain after a call that was given inputs is not defined.

    ``print(runner)`` shows inputs, outputs, the number of steps, and the memory.

    """

    #: Whether it keeps the last large results, and returns their arrays again once nobody else has them.
    keeps_results = False
    _is_zero = False  # the block, when it was allocated

    def __init__(
        self,
        graph: Graph,
        layout: str = "nchw",
        contexts: Contexts | None = None,
        progress: Callable[[float], Any] | None = None,
        outputs: Iterable[str] | None = None,
    ) -> None:
        from pysimd.network.program import Program  # here, as a plan in a file needs none of what it imports

        self._pack(Program(graph, layout, Contexts() if contexts is None else contexts, outputs), progress)

    @classmethod
    def packing(cls: type[Self], program: Program, progress: Callable[[float], Any] | None = None) -> Self:
        """A runner of a program without open sizes, which nobody uses any more.

        If nobody has its graph either, each array of weights is released as soon as it is packed.
        """
        runner = object.__new__(cls)
        runner._pack(program, progress)
        return runner

    def _pack(self, program: Program, progress: Callable[[float], Any] | None) -> None:
        plan = packed(program.arrangement)
        sizes, places = BoundSizes(), Places((), 0, plan.offsets, plan.size)
        self._start(program, sizes, places, program.last_contexts(sizes.numbers, progress))
        light = program.graph, program.stored, plan
        self._described: Callable[[], tuple[Graph, Graph, Plan]] = lambda: light
        self._clear_new()

    @classmethod
    def of_stored(
        cls: type[Self],
        program: StoredProgram,
        described: Callable[[], tuple[Graph, Graph, Plan]],
        progress: Callable[[float], Any] | None = None,
    ) -> Self:
        """A runner of a plan in a file.

        described : as of :meth:`of_program`.
        """
        runner = object.__new__(cls)
        sizes, places = BoundSizes(), Places((), 0, program.offsets, program.size)
        runner._start(program, sizes, places, program.contexts(sizes.numbers, progress))
        runner._described = described
        runner._clear_new()
        return runner

    @classmethod
    def of_program(
        cls: type[Self],
        program: Program,
        sizes: BoundSizes,
        places: Places,
        described: Callable[[], tuple[Graph, Graph, Plan]],
        block: Array | None = None,
    ) -> Self:
        """A runner of a program with open sizes.

        sizes : what is in place of these.
        places : of the roots in the block.
        described : makes the graph, the graph of stored tensors, and the plan, for reports.
        block : of a runner that is no longer used, to be used again.

        Inputs and outputs have any values until :meth:`clear`: a call may read and write large ones elsewhere, and memory
        that nobody touches costs nothing.
        """
        runner = object.__new__(cls)
        runner._start(program, sizes, places, program.contexts(sizes.numbers), block)
        runner._described = described
        return runner

    def _start(
        self,
        program: Program | StoredProgram,
        sizes: BoundSizes,
        places: Places,
        contexts: Iterable[Context | None],
        block: Array | None = None,
    ) -> None:
        self._program: Any = program
        self._sizes, self._places = sizes, places
        self.layout = program.layout
        self.operators: tuple[str, ...] = ()  # of the file, one for each node, for reports
        self.file = ""  # the path of the model, if it has one, for reports
        self._contexts = list(contexts)
        self._alone = RLock()  # a function of Python that is a step may call the runner
        self._bind(block)

    def is_of(self, program: Program) -> bool:
        """Whether this is a runner of that program."""
        return program is self._program

    def places_for(self, sizes: Sequence[int]) -> Places | None:
        """Where tensors are, if these places and the block serve roots of these bytes and are not much too large."""
        places = self._places
        return places if places.fit(sizes, _MOST_ROOM * places.size / max(self.block.nbytes, 1)) else None

    def move(self, sizes: BoundSizes, places: Places, described: Callable[[], tuple[Graph, Graph, Plan]]) -> None:
        """Makes this a runner for other sizes, as :meth:`of_program` does; its inputs have any values, then.

        It needs a small part of the time, since it replaces only what differs. If it raises, the runner cannot be used.
        """
        memory = self._binding.memory if places is self._places else None
        self._sizes, self._places, self._described = sizes, places, described
        self.__dict__.pop("steps", None)
        self.__dict__.pop("_description", None)
        last, contexts = self._contexts, list(self._contexts)
        self._contexts = contexts
        for i, context in self._program.contexts_again(sizes.numbers, last):
            contexts[i] = context
            for call, bound in zip(self._program.steps[i].calls, self._steps[i]):
                if isinstance(call, Call) and call.arguments[0] is OWN:
                    bound.arguments[0] = context.handle
        self._binding.move(self._memory(self.block, memory), sizes.numbers)
        self._view()

    def _bind(self, block: Array | None) -> None:
        """Gives calls their arguments in a block: this one, if it is large enough and not much too large, or another."""
        program = self._program
        self._binding = binding = Binding(self._memory(block), self._sizes.numbers)
        handles = [None if context is None else context.handle for context in self._contexts]
        self._steps = [[binding.call(call, own) for call in step.calls] for step, own in zip(program.steps, handles)]
        self._calls = [(call.function, call.arguments) for calls in self._steps for call in calls]
        self._view()

    def _memory(self, block: Array | None, known: Memory | None = None) -> Memory:
        """The places in this block, if it is large enough and not much too large, or in another.

        known : that of these places in this block, for other sizes.
        """
        program, places = self._program, self._places
        size = places.size + program.scratch(self._sizes.numbers)
        if block is None or not size <= block.nbytes <= _MOST_ROOM * size:
            (block, self._is_zero), known = _allocated(size), None
        self.block = block
        if known is not None:
            return known.with_computed(self._sizes.constants)
        offsets = {**places.offsets, "": places.size}
        return Memory(block, offsets, program.constants, program.addresses, self._sizes.constants)

    def _view(self) -> None:
        """Makes the arrays of inputs and outputs."""
        array = self._binding.array
        self.inputs: dict[str, Array] = {name: array(view) for name, view in self._program.inputs.items()}
        self.outputs: dict[str, Array] = {name: array(view) for name, view in self._program.outputs.items()}
        self._are_large = are_large((*self.inputs.values(), *self.outputs.values()))
        self._in_place: InPlace | None = None
        self._others: list[Binding] = []  # of calls_at()
        self.spare: Any = None  # of the loop that uses this runner, see pysimd.network.courses.carried
        self.has_grown = True  # since the bytes of the runner were counted
        self._quick: Any = None  # what computed() prepares, with calls that are joined
        self._has_run = False

    def clear(self) -> None:
        """Sets inputs and outputs to zero, until they are given and computed. Others are written before they are read."""
        views = {**self._program.inputs, **self._program.outputs}
        for name, array in (*self.inputs.items(), *self.outputs.items()):
            if views[name].root in self._places.offsets:  # else it is a constant
                array[...] = 0

    def _clear_new(self) -> None:
        """:meth:`clear` of a block that is new: where the system has given zeros, its pages are not touched before they
        are needed."""
        if not self._is_zero:
            self.clear()

    @property
    def graph(self) -> Graph:
        """The graph that is run, for the sizes of this runner."""
        return self._description[0]

    @property
    def placed(self) -> Graph:
        """The graph of stored tensors, see :func:`pysimd.network.layouts.placed`."""
        return self._description[1]

    @property
    def plan(self) -> Plan:
        """The places of tensors in :attr:`block`."""
        return self._description[2]

    @cached_property
    def _description(self) -> tuple[Graph, Graph, Plan]:
        return self._described()

    @cached_property
    def steps(self) -> list[Step]:
        """The nodes that are computed, in order, with their calls and contexts."""
        nodes = self.placed.nodes
        each = zip(self._program.numbers, self._steps, self._contexts)
        return [Step(nodes[i], calls, context) for i, calls, context in each if calls]

    def __call__(
        self,
        inputs: Inputs | None = None,
        *,
        outputs: Mapping[str, Array] | None = None,
        return_views: bool = False,
    ) -> dict[str, Array]:
        """Computes the outputs for these inputs; without inputs and outputs, :meth:`run`.

        inputs : by name, or an array for the only input; those that are bound may be missing. Large dense arrays are read
            in place, others are copied. All must stay as they are until the call returns.
        outputs : arrays for some of the results, by name, as of :meth:`bind`, for this call. They may share memory with
            inputs of the call, which are copied then.
        return_views : whether results are arrays that the next call overwrites: those of :attr:`outputs`, in place of new
            ones.

        Raises TypeError and ValueError for what does not fit; then nothing is written.
        """
        if inputs is None and outputs is None:
            return self.run()
        with self._alone:
            return self._computed(inputs, outputs, return_views)

    def _computed(self, inputs: Inputs | None, outputs: Mapping[str, Array] | None, return_views: bool) -> dict[str, Array]:
        given = {} if inputs is None else self._given(inputs)
        if not self._are_large and outputs is None and self._in_place is None:
            for name, array in given.items():
                self.inputs[name][...] = array
            found = self.run()
            return dict(found) if return_views else {name: array.copy() for name, array in found.items()}
        in_place = self._with_places()
        return in_place.run(given, {} if outputs is None else in_place.checked(outputs, given), return_views)

    def computed(self, given: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs for inputs of which each is known to fit; others among them are not read.

        They are those of :attr:`outputs`, which the next call overwrites, or new arrays if they are large."""
        if self._are_large or self._in_place is not None:
            return self({name: given[name] for name in self.inputs})
        calls, copied, placed, _ = self._quick or self._prepared_quick()
        for name, array in copied:
            array[...] = given[name]
        moved = [] if placed else placed
        try:
            for name, array, pointers in placed:
                if self._binding.point(pointers, given[name]):
                    moved.append((array, pointers))
                else:
                    array[...] = given[name]
            for function, arguments in calls:
                function(*arguments)
            if errno():  # which stays as the first call that fails has set it
                check()
        finally:
            for array, pointers in moved:
                self._binding.point(pointers, array)
        return self.outputs

    def _prepared_quick(self) -> tuple[Any, ...]:
        """All calls, the inputs that are copied, and those whose pointers are replaced in less time, with these."""
        copied: list[Any] = []
        placed: list[Any] = []
        for name, array in self.inputs.items():
            pointers = self._binding.pointers_to(self._program.inputs[name].root)
            if self.is_placed(name) and pointers and array.nbytes >= WORTH * len(pointers):
                placed.append((name, array, pointers))
            else:
                copied.append((name, array))
        joined = Joined(self._calls)
        placed = [(name, array, joined.places(pointers)) for name, array, pointers in placed]
        found = self._quick = joined.calls, copied, placed, joined
        return found

    def bind(self, inputs: Mapping[str, Any] | None = None, outputs: Mapping[str, Any] | None = None) -> None:
        """Makes arrays of the caller the runner's own: from now on, inputs are read and outputs written there, in place.

        inputs, outputs : by name, arrays of the type and the shape of those of :attr:`inputs` and :attr:`outputs`, dense, at
            any address; None for the runner's memory. Others remain as they are bound. Outputs must be writable, and share
            memory with no other array that is bound.

        The arrays are then those of :attr:`inputs` and :attr:`outputs`. Calls need not be given inputs that are bound, and
        return outputs that are. With a cache among both, the arrays of two steps are swapped, and none is copied:
        ``run.bind(inputs={"past": b}, outputs={"present": a})``.

        Raises TypeError and ValueError for what does not fit; then everything remains as it was.
        """
        in_place = self._with_places()
        in_place.bind(inputs or {}, outputs or {})
        self.inputs = {**in_place.inputs, **in_place.bound_inputs}
        self.outputs = {**in_place.outputs, **in_place.bound_outputs}

    def _with_places(self) -> InPlace:
        if self._in_place is None:
            kept = MOST_RESULTS if self.keeps_results else 0
            self._in_place = InPlace(self._program, self._binding, self._calls, self.block, self.inputs, self.outputs, kept)
        return self._in_place

    @property
    def calls(self) -> Calls:
        """The functions of all steps with their arguments."""
        return self._calls

    def is_placed(self, name: str) -> bool:
        """Whether an input or output may be elsewhere: it is no constant, and no function of Python gets it."""
        view = self._program.inputs.get(name) or self._program.outputs.get(name)
        return view is not None and view.root in self._places.offsets and view.root not in self._binding.in_python

    def calls_at(self, arrays: Mapping[str, Array]) -> Calls:
        """Other calls of all steps, for dense arrays of the right types in place of some inputs and outputs.

        They serve until the runner moves to other sizes.
        """
        views = {**self._program.inputs, **self._program.outputs}
        roots = {views[name].root: array for name, array in arrays.items()}
        binding = Binding(Elsewhere(self._binding.memory, roots), self._sizes.numbers)
        handles = [None if context is None else context.handle for context in self._contexts]
        made = [binding.call(call, own) for step, own in zip(self._program.steps, handles) for call in step.calls]
        self._others.append(binding)
        return [(call.function, call.arguments) for call in made]

    def run(self) -> dict[str, Array]:
        """Computes :attr:`outputs` for the contents of :attr:`inputs`."""
        calls = self._calls
        if self._has_run and self._in_place is None:  # which changes arguments, of which joined calls have copies
            calls = (self._quick or self._prepared_quick())[0]
        self._has_run = True  # joining takes as long as several runs save
        for function, arguments in calls:
            function(*arguments)
            if errno():
                check()
        return self.outputs

    def copy(self: Self) -> Self:
        """Another runner of the same graph, with the same weights and memory of its own, for another thread."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.__dict__.pop("steps", None)
        made._alone = RLock()
        made._bind(None)
        made._clear_new()
        return made

    @property
    def block_bytes(self) -> int:
        """The bytes of the block that holds all tensors, and of spare arrays for the states of a loop."""
        return int(self.block.nbytes) + (0 if self.spare is None else self.spare.nbytes)

    @property
    def weight_bytes(self) -> int:
        """The bytes of packed weights, without those that another runner of the model has packed."""
        return sum(context.nbytes for context in self._contexts if context is not None)

    def report(self, path: Any = None) -> str:
        """Where the time goes: runs the model a few times with what is in :attr:`inputs`, and returns a table of its steps.

        path : an HTML file that is written as well, with the time by step, the memory over the steps, and the graph.
        """
        from pysimd.network.reports.report import Report

        report = Report(self)
        if path is not None:
            report.write(path)
        return str(report)

    def _given(self, inputs: Inputs) -> dict[str, Array]:
        """Inputs that fit, by name."""
        if type(inputs) is not dict or inputs.keys() != self.inputs.keys():
            bound = {} if self._in_place is None else self._in_place.bound_inputs
            named = by_name(inputs, [name for name in self.inputs if name not in bound] or self.inputs, "the input")
            refuse_others({**bound, **named}, self.inputs)
            return fitting_each(named, self.inputs)
        return fitting_each(inputs, self.inputs)

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(_listed(arrays)) for arrays in (self.inputs, self.outputs))
        return f"<pysimd.network.{type(self).__name__} {self._program.name!r}: {inputs} -> {outputs}, {self._summary()}>"

    def __str__(self) -> str:
        lines = [f"{printable(self._program.name) or 'model'}, prepared: {self._summary()}"]
        lines += [f"  input   {text}" for text in _listed(self.inputs)]
        lines += [f"  output  {text}" for text in _listed(self.outputs)]
        return "\n".join(lines)

    def _summary(self) -> str:
        return f"{sum(map(bool, self._steps))} steps, {memory_text(self.block_bytes, self.weight_bytes)}"


def _listed(arrays: Mapping[str, Array]) -> list[str]:
    """Names, types and shapes."""
    return [f"{printable(name)}: {array.dtype} {array.shape}" for name, array in arrays.items()]


def _allocated(size: int) -> tuple[Array, bool]:
    """Bytes for a block, and whether they are known to be 0, as what the system has given for a large one is.

    A large one has large pages, as blocks of the library have.
    """
    if size >= _LARGE and hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            pages = mmap.mmap(-1, size + _LARGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except (OSError, OverflowError):
            raise MemoryError(f"no memory for {size} bytes of a network") from None
        first = -address_of(np.frombuffer(pages, np.uint8)) % _LARGE
        with suppress(OSError):  # of a system without large pages
            pages.madvise(mmap.MADV_HUGEPAGE, first, size)
        return np.frombuffer(pages, np.uint8, size, first), True
    block = lib.SimdAllocate(max(size, 1), _PAGE)
    if block == ffi.NULL:
        raise MemoryError(f"no memory for {size} bytes of a network")
    return np.frombuffer(ffi.buffer(ffi.gc(block, lib.SimdFree), max(size, 1)), np.uint8), False
