"""Models: files that are loaded, prepared for shapes, and run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Union, overload

from pysimd._geometry import number, shape_of
from pysimd.annotations import Array, Shape
from pysimd.errors import printable, shown
from pysimd.infrastructure import active_isa, get_preference, preference
from pysimd.network.contexts import Contexts
from pysimd.network.given import Inputs, Shapes, Values, array_of, by_name, constant, explained, refuse_others, sum_of
from pysimd.network.memory import packed
from pysimd.network.open_runner import Dims, OpenRunner, OpenShapes, open_dims
from pysimd.network.planning import planning
from pysimd.network.runner import Runner
from pysimd.network.runners import KeepsRunners, Runners
from pysimd.network.source import Dimension, Source, Value, with_values
from pysimd.network.unsupported import UnsupportedModel

if TYPE_CHECKING:
    from pathlib import Path

    from pysimd.network import prepared as stored_plans
    from pysimd.network import saved
    from pysimd.network.c import open as c_open
    from pysimd.network.c import program as c_program
    from pysimd.network.courses.course import Course
    from pysimd.network.courses.runner import CourseRunner
    from pysimd.network.graph import Graph
    from pysimd.network.memory import Plan
    from pysimd.network.open_plan import OpenPlan
    from pysimd.network.program import Program
    from pysimd.network.sizes import Sizes

Fallback = Mapping[str, Callable[..., Any]]
#: Examples of sizes of open dimensions: by name a size, or several; or a list of such mappings.
OpenSizes = Union[Mapping[str, Union[int, Sequence[int]]], Sequence[Mapping[str, Union[int, Sequence[int]]]]]

_PROBES = 64, 1024  # sizes of open dimensions, to look for what is not supported


class OpenShape(ValueError):
    """The shape of an input is needed, which neither the file nor the caller has given.

    reason : the message without its last part, how to pass the shape in Python.
    name, example : the input, and a shape of it.
    """

    def __init__(self, value: Value) -> None:
        self.reason, self.name = f"the shape of the input {_described(value)} is open", value.name
        self.example = _example(value)
        super().__init__(f"{self.reason}: pass it, as in {{{self.name!r}: {self.example}}}")


_EXAMPLE = 64  # the size of an open dimension for which a program in C is planned


class Model(KeepsRunners):
    """A model as its file describes it; :func:`pysimd.load` returns it. :meth:`prepare` makes it ready to run for some
    shapes of its inputs, a call also runs it: ``model({"x": image})``, or ``model(image)`` where there is one input.

    inputs, outputs : names with their types and dimensions; a dimension is a number, or a name if the file leaves it open.
    overridable : likewise, the weights that the file lists as inputs too: those whose shapes are given are inputs.
    values : the inputs of the file that :meth:`with_values` has made constants, with their arrays.

    ``print(model)`` shows inputs, outputs, operators, and what is not supported. A model can be pickled if its fallbacks
    can, and sent to other processes.
    """

    def __init__(
        self,
        source: Source,
        fallback: Fallback | None = None,
        file: str = "",
        plans: Sequence[saved.StoredPlan] = (),
        whole: Callable[[], Source] | None = None,
    ) -> None:
        self._outline, self._fallback, self._file = source, dict(fallback or {}), file
        self._whole = whole  # reads the nodes and weights of the source, if it has none
        self._contexts, self._runners = Contexts(), Runners()
        self._preferring: dict[str, Contexts] = {}  # those of preparations that prefer something
        self._open: OpenRunner | None = None  # of calls
        self._course: CourseRunner | None = None
        self._is_in_parts = False  # whether some shapes, which may be all, have no plan
        self._limits: dict[str, int] = {}  # those that were set
        self._plans = plans  # of the file, if they are to be used

    def __call__(self, inputs: Inputs, *, outputs: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """Computes the outputs for these inputs, as new arrays by name.

        inputs : by name, or an array for the only input, in the types and layouts of the file. Large dense arrays are read
            in place.
        outputs : arrays that take the place of some of the new ones: dense, writable, of the type and the shape.

        The first call with inputs of some shapes prepares the model for them, and the model keeps that for later calls: for
        the combinations of shapes that were used last, within the limits :attr:`most_shapes` and :attr:`most_bytes`, which
        can be set; :meth:`trim` releases all but the last. Where the file leaves dimensions open, the model is planned once,
        and that plan serves other sizes in a small part of the time, see :meth:`prepare`. Several threads may call a model
        at once; while they run, each has tensors of its own, and the memory for them is kept too. A runner of
        :meth:`prepare` is for other layouts, and for calls without copies. A model in which values decide what is computed
        runs in parts, see :class:`~pysimd.network.CourseRunner`; each part keeps its own tensors: for 256 shapes, unless
        :attr:`most_shapes` is set here, which holds for each part then, as :attr:`most_bytes` does.

        Raises TypeError and ValueError for inputs that do not fit, and what :meth:`prepare` raises.
        """
        shapes = self._runners.known(inputs)
        if shapes is None:
            if self._is_in_parts or self._has_sequences:
                return self._as_course(None)(inputs, outputs=outputs)
            inputs = by_name(inputs, self.inputs, "the input")
            known = {**self.inputs, **{name: value for name, value in self.overridable.items() if name in inputs}}
            refuse_others(inputs, known)
            shapes = self.shapes({name: array_of(inputs[name], name, value.dtype).shape for name, value in known.items()})
        try:
            with self._runners.taken(shapes, self._prepared) as runner:
                return runner(inputs, outputs=outputs)
        except UnsupportedModel as error:
            course = self._as_course(error)
        self._is_in_parts = True  # for shapes without a plan: to look for one again costs far more than a call
        return course(inputs, outputs=outputs)

    def _prepared(self, shapes: Mapping[str, Shape], released: Runner | None) -> Runner:
        """For a call: by a plan that serves other shapes too, where the file leaves dimensions open."""
        dims = open_dims(self.inputs, {})
        if dims is None or not set(shapes) <= set(dims) or self._stored(shapes, "nchw"):
            return self._fixed(shapes, "nchw", None)
        if self._open is None:
            self._open = self._open_runner(dims, "nchw")
        return self._open.bound(shapes, released)

    def _as_course(self, error: UnsupportedModel | None) -> CourseRunner:
        """What runs the model where values decide what is computed, see :mod:`pysimd.network.courses.course`.

        error : why it is no single plan. Raises it if the model cannot run as a course either.
        """
        if self._course is None:
            course = self._new_course(self._contexts, error)
            from pysimd.network.courses.runner import CourseRunner  # here, as few models need it

            made = CourseRunner(course, self.inputs, None)
            for name, value in self._limits.items():
                setattr(made, name, value)
            self._course = made
        return self._course

    def _new_course(self, contexts: Contexts, error: UnsupportedModel | None) -> Course:
        """Its parts. Raises the error if the model cannot run as a course."""
        if error is not None and not (self._is_cut or error.needed):
            raise error
        from pysimd.network.courses.runner import course_of  # here, as few models need it

        try:
            return course_of(self.source, self._fallback, contexts)
        except UnsupportedModel as found:
            raise (error or found) from None

    def _refuse_weights(self, names: Iterable[str]) -> None:
        """Refuses weights as inputs of a course."""
        for name in names:
            if name in self.overridable:
                raise ValueError(f"{name!r} is a weight, which cannot be an input where values decide what is computed")

    def _limit(self, name: str, value: int) -> None:
        super()._limit(name, value)
        self._limits[name] = value
        if self._course is not None:
            setattr(self._course, name, value)

    @property
    def kept_bytes(self) -> int:
        """The bytes of the tensors that are kept, those of the parts of a course among them, without packed weights."""
        return super().kept_bytes + (0 if self._course is None else self._course.kept_bytes)

    def trim(self) -> None:
        """Releases the memory of all shapes but the one that was used last; in a course, that each part used last."""
        super().trim()
        if self._course is not None:
            self._course.trim()

    @cached_property
    def _is_cut(self) -> bool:
        """Whether values may decide what is computed."""
        from pysimd.network.courses.partition import is_cut

        return is_cut(self.source, self._fallback)

    @cached_property
    def _has_sequences(self) -> bool:
        """Whether an input is no tensor."""
        return any(value.dtype.endswith("_type") for value in self._outline.inputs)

    @property
    def source(self) -> Source:
        """What the file says."""
        whole = self._whole
        if whole is not None:
            self._outline, self._whole = whole(), None
        return self._outline

    @property
    def name(self) -> str:
        """The name in the file."""
        return self._outline.name

    @property
    def inputs(self) -> dict[str, Value]:
        """The inputs by name: those that are not weights."""
        return {value.name: value for value in self._outline.inputs}

    @property
    def outputs(self) -> dict[str, Value]:
        """The outputs by name; dimensions that the file leaves open are None."""
        return {value.name: value for value in self._outline.outputs}

    @property
    def overridable(self) -> dict[str, Value]:
        """The weights, by name, that are inputs if :meth:`prepare` is given their shapes."""
        return {value.name: value for value in self._outline.overridable}

    @property
    def values(self) -> dict[str, Array]:
        """The inputs of the file that are constants, by name."""
        return {name: self.source.weights[name] for name in self.source.values}

    def with_values(self, values: Values) -> Model:
        """A model in which some inputs are constants: ``model.with_values({"sr": 16000})``.

        values : by name, arrays in the types of the file, or numbers or nested lists, which are converted to these; in
            shapes that fit the file. A number is also a tensor of one element. Those of :attr:`overridable` can be given.

        What is computed from constants alone is computed by the preparation: an ``If`` takes one branch, and sizes, numbers
        of repetitions and the like may be computed from them. The model has these inputs no more. It shares packed weights
        with this one.

        Raises TypeError and ValueError for unknown inputs, and values that do not fit.
        """
        given = by_name(values, self.inputs, "the value")
        known = {**self.inputs, **self.overridable}
        self._refuse_unknown(given, known)
        arrays = {name: _constant(known[name], value) for name, value in given.items()}
        model = Model(with_values(self.source, arrays), self._fallback, self._file)
        model._contexts = self._contexts
        model.most_shapes, model.most_bytes = self.most_shapes, self.most_bytes
        return model

    def _that_prefers(self, prefer: str) -> Model:
        """This model, whose preparations share packed weights with all that have the same preference."""
        prefer = _preferred(prefer)
        model = Model(self._outline, self._fallback, self._file, self._plans, self._whole)
        model._contexts = self._preferring.setdefault(prefer, Contexts(prefer))
        return model

    def _refuse_unknown(self, given: Iterable[str], known: Collection[str]) -> None:
        for name in given:
            if name not in known:
                what = "is a constant already" if name in self.source.values else "is not an input"
                raise ValueError(f"{name!r} {what}, expected {', '.join(map(repr, self.inputs)) or 'none'}")

    def shapes(self, shapes: Shapes | None = None) -> dict[str, Shape]:
        """The shapes of all inputs: those given, by name or alone for the only input, else those of the file.

        A dimension with a name has, in an input whose shape is not given, the size that it has in those that are given.

        Raises ValueError for an unknown input, for one whose shape is open and not given, and for a shape that contradicts
        the file.
        """
        given = {} if shapes is None else by_name(shapes, self.inputs, "the shape")
        known = {**self.inputs, **{name: value for name, value in self.overridable.items() if name in given}}
        self._refuse_unknown(given, known)
        found = {name: _fitting(known[name], shape) for name, shape in given.items()}
        sizes: dict[str, set[int]] = {}  # names may stand for several
        for name, shape in found.items():
            for n, size in zip(known[name].dims or (), shape):
                if isinstance(n, str):
                    sizes.setdefault(n, set()).add(size)
        return {name: found[name] if name in found else _inferred(value, sizes) for name, value in known.items()}

    @overload
    def prepare(  # type: ignore[overload-overlap]  # names are no numbers
        self,
        shapes: Shapes,
        *,
        layout: str = "nchw",
        progress: Callable[[float], Any] | None = None,
        values: Values | None = None,
        prefer: str | None = None,
    ) -> Runner: ...

    @overload
    def prepare(
        self,
        shapes: OpenShapes,
        *,
        layout: str = "nchw",
        progress: Callable[[float], Any] | None = None,
        values: Values | None = None,
        prefer: str | None = None,
    ) -> OpenRunner: ...

    @overload
    def prepare(
        self,
        shapes: None = None,
        *,
        layout: str = "nchw",
        progress: Callable[[float], Any] | None = None,
        values: Values | None = None,
        prefer: str | None = None,
    ) -> Any: ...

    def prepare(
        self,
        shapes: Any = None,
        *,
        layout: str = "nchw",
        progress: Callable[[float], Any] | None = None,
        values: Values | None = None,
        prefer: str | None = None,
    ) -> Any:
        """Plans the model for these shapes of its inputs, and packs the weights.

        shapes : by name, or the shape of the only input; inputs that are not given have the dimensions of the file. A
            dimension that is a name, or None, is open: ``(1, 3, 48, "W")``. Those of :attr:`overridable` are inputs if they
            are given, and then no dimension can be open.
        layout : how inputs and outputs of four dimensions are stored: "nchw", as in the file, or "nhwc", with channels last,
            which avoids conversions.
        progress : a function that is called, several times, with the part of the weights that is packed: from 0 to 1.
        values : inputs that become constants, as of :meth:`with_values`; they have no shapes then.
        prefer : "speed"; "exact" for convolutions of direct sums, without Winograd's algorithm; "memory" for the least
            packed weights; "bfloat16" for products of numbers that are rounded to bfloat16, where that is faster (with
            "amx"); None for what the calling thread has set, see :func:`pysimd.set_preference`, by default "speed".

        Returns a :class:`~pysimd.network.Runner` for these shapes; if dimensions are open an
        :class:`~pysimd.network.OpenRunner`, whose calls take inputs of any sizes of these. If sizes, branches or numbers of
        passes depend on values that are computed at run time, it is a :class:`~pysimd.network.CourseRunner`, whose parts are
        planned when they run for the first time.

        Preparations of one model for different shapes share packed weights where the same algorithms serve them, as long as
        one that uses them exists.

        Raises ValueError for shapes that do not fit, and :class:`UnsupportedModel`, which is a ValueError, with everything
        that is not supported.
        """
        if layout not in ("nchw", "nhwc"):
            raise ValueError(f"layout is {shown(layout)}, expected 'nchw' or 'nhwc'")
        if prefer is not None:
            return self._that_prefers(prefer).prepare(shapes, layout=layout, progress=progress, values=values)
        if values is not None:
            return self.with_values(values).prepare(shapes, layout=layout, progress=progress)
        given = {} if shapes is None else by_name(shapes, self.inputs, "the shape")
        dims = open_dims(self.inputs, given)
        if self._has_sequences or (self._is_in_parts and dims is not None):
            return self._as_course(None).of(dims, layout)
        if dims is not None:
            error = self._anyhow(self._no_plan) if self._is_cut else None
            is_plan = error is None or error.is_of_known  # or this model or these sizes are wrong
            if is_plan:
                return self._open_runner(dims, layout)
            course, self._is_in_parts = self._as_course(error), True
            return course.of(dims, layout)
        try:
            runner = self._fixed(shapes, layout, progress)
            runner.keeps_results = True
            return runner
        except UnsupportedModel as error:
            course = self._as_course(error)
        self._refuse_weights(given)
        return course.of(self.shapes(shapes), layout)

    def _fixed(self, shapes: Shapes | None, layout: str, progress: Callable[[float], Any] | None) -> Runner:
        given = self.shapes(shapes)
        stored = self._stored(given, layout)
        runner = stored and self._runner_of(stored, progress)
        if runner is None:
            runner = self._planned(given, shapes, layout, progress)
        runner.operators = tuple(node.op for node in self._outline.nodes)
        runner.file = self._outline.file
        return runner

    def _planned(
        self, given: Mapping[str, Shape], shapes: Shapes | None, layout: str, progress: Callable[[float], Any] | None
    ) -> Runner:
        with planning(self.source.weights.values()), explained(self.inputs, given):
            from pysimd.network import planner  # within, as importing makes much that stays, too

            graph = planner.graph_of(self.source, given, self._fallback)
            try:
                simple = planner.simplified(graph)
                program = planner.Program(simple, layout, self._contexts, self.outputs, is_open=False)
                del graph, simple  # the program has its weights, until they are packed
                return Runner.packing(program, progress)
            except ValueError as error:
                raise (self._no_plan(shapes) or error) from error

    def _purpose(self, shapes: Mapping[str, Shape], layout: str) -> stored_plans.Purpose:
        """What a plan of this process would be for."""
        from pysimd.network import prepared as stored_plans  # here, as few files have plans

        return stored_plans.purpose(active_isa(), self._contexts.prefer or get_preference(), layout, shapes)

    def _stored(self, shapes: Mapping[str, Shape], layout: str) -> saved.StoredPlan | None:
        """The plan of the file for these shapes of all inputs, if it has one that serves here."""
        if not self._plans:
            return None
        wanted = self._purpose(shapes, layout)
        return next((plan for plan in self._plans if plan.purpose == wanted), None)

    def _runner_of(self, plan: saved.StoredPlan, progress: Callable[[float], Any] | None) -> Runner | None:
        """A runner of a plan of the file; None if its contexts would be others on this processor."""

        def described() -> tuple[Graph, Graph, Plan]:
            program = self._program(plan.purpose.shapes, plan.purpose.layout, self._contexts)
            return program.graph, program.stored, packed(program.arrangement)

        return plan.runner(self._contexts, described, progress)

    def _program(self, shapes: Mapping[str, Shape], layout: str, contexts: Contexts) -> Program:
        from pysimd.network import planner

        with planning(self.source.weights.values()):
            graph = planner.simplified(planner.graph_of(self.source, shapes, self._fallback))
            return planner.Program(graph, layout, contexts, self.outputs)

    def _open_runner(self, dims: Dims, layout: str) -> OpenRunner:
        from pysimd.network import planner
        from pysimd.network.open_plan import OpenPlan

        def plan(sizes: Sizes) -> OpenPlan:
            try:
                return planned(sizes, sizes.__getitem__)
            except ValueError:  # as for a preparation, or something needs numbers: then a plan for these sizes alone
                return planned(sizes, lambda name: int(sizes[name]))

        def planned(sizes: Sizes, size_of: Callable[[str], Any]) -> OpenPlan:
            shapes: dict[str, Any] = {
                name: tuple(size_of(n) if isinstance(n, str) else n for n in each) for name, each in dims.items()
            }
            with planning(self.source.weights.values()):
                graph = planner.simplified(planner.graph_of(self.source, shapes, self._fallback))
                operators = tuple(node.op for node in self.source.nodes)
                return OpenPlan(sizes, graph, layout, self._contexts, self.outputs, operators, self.source.file)

        return OpenRunner(self.inputs, dims, plan, layout)

    def unsupported(self, shapes: Shapes | None = None) -> UnsupportedModel | None:
        """What is not supported; None if everything is."""
        if self._has_sequences:
            return self._no_course(None)
        found = self._no_plan(shapes)
        return found and self._no_course(found)

    def _no_course(self, error: UnsupportedModel | None) -> UnsupportedModel | None:
        """Why it cannot run as a course, if it is no plan for this reason."""
        try:
            self._as_course(error)
        except UnsupportedModel as found:
            return found
        return None

    def _no_plan(self, shapes: Shapes | None = None) -> UnsupportedModel | None:
        """Why it is no plan for these shapes; None if it is one."""
        from pysimd.network import planner
        from pysimd.network.check import refused

        try:
            with planning(self.source.weights.values()):
                graph = planner.graph_of(self.source, self.shapes(shapes), self._fallback)
        except UnsupportedModel as error:
            return error
        found = refused(graph)
        return UnsupportedModel(self.name, found) if found else None

    def save(
        self,
        path: Any,
        prepared: Shapes | Sequence[Shapes] | bool = False,
        *,
        layout: str = "nchw",
        prefer: str | None = None,
    ) -> None:
        """Writes the model to a ".simdnet" file, which :func:`pysimd.load` reads as it reads an ONNX file.

        prepared : shapes of the inputs, as of :meth:`prepare`, for which the file shall also contain what a preparation
            finds: the plan and packed weights, for the instruction set in use; a list of shapes for several; True for the
            shapes of the file of the model. ``pysimd.load(path, prepared=True)`` uses them.
        layout, prefer : of these preparations, as of :meth:`prepare`.

        The file is complete or not there at all. Fallbacks are not saved. Raises OSError if it cannot be written; with
        `prepared` also what :meth:`prepare` raises, and ValueError where dimensions are open, values decide what is
        computed, or Python computes a node: then there is no plan that a file can contain.
        """
        if layout not in ("nchw", "nhwc"):
            raise ValueError(f"layout is {shown(layout)}, expected 'nchw' or 'nhwc'")
        several: Sequence[Any] = prepared if isinstance(prepared, list) else [] if prepared is False else [prepared]
        contexts = Contexts(_preferred(prefer))
        from pysimd.network import saved

        plans = [self._plan(None if each is True else each, layout, contexts) for each in several]
        saved.write(self.source, path, plans)

    def _plan(self, shapes: Shapes | None, layout: str, contexts: Contexts) -> saved.Plan:
        """The plan for these shapes, for a file."""
        from pysimd.network import prepared as stored_plans

        given = self.shapes(shapes)
        purpose = stored_plans.purpose(active_isa(), str(contexts.prefer), layout, given)

        def describe(arrays: stored_plans.Arrays) -> dict[str, Any]:
            with explained(self.inputs, given):
                program = self._program(given, layout, contexts)
                plan = packed(program.arrangement)
                return stored_plans.described(program, plan.offsets, plan.size, arrays)

        return purpose, describe

    def compile(
        self,
        folder: Any,
        shapes: Shapes | OpenShapes | Sequence[Shapes] | None = None,
        *,
        layout: str = "nchw",
        name: str = "model",
        embed: bool | str = False,
        sizes: OpenSizes | None = None,
        values: Values | None = None,
        prefer: str | None = None,
        most_passes: int | None = None,
    ) -> list[Path]:
        """Writes the model, prepared for these shapes, as a program in C that needs nothing but libsimdnet.

        folder : where the files are written: NAME.c and NAME.h, the weights NAME.bin, an example main.c, and a Makefile. It
            is created if it does not exist.
        shapes, layout : as of :meth:`prepare`; a list of shapes is for a program that runs with each of them. The file of
            the weights, the packed weights as far as the same algorithms serve the shapes, and the memory of tensors are
            shared.
        name : of the files, the functions and the type: an identifier of ASCII that neither C, nor its library, nor the
            program has already.
        sizes : for shapes with open dimensions, ``{"x": (1, 3, 48, "W")}``, the sizes for which the program is planned, as
            ``{"W": 320}``; 64 by default. NAME_create() and NAME_resize() of the program take the sizes: all for which the
            conditions hold that this plan depends on; for others they return an error with the condition. Several sizes,
            ``{"W": (320, 1)}``, are for a program with several plans: one for each size that no earlier plan serves. Of
            several dimensions these are all combinations; a list, ``[{"N": 1, "W": 320}, {"N": 8, "W": 64}]``, names them
            one by one.
        embed : whether NAME_weights.c makes the weights a part of the program: True or "file" for the assembler of gcc and
            clang, which copies NAME.bin at once; "numbers" for numbers in C, which any compiler takes, but slowly.
        values : inputs that become constants, as of :meth:`with_values`.
        prefer : as of :meth:`prepare`.
        most_passes : how often the body of a Loop runs that has no bound of its own, before this is an error: 1000000 times
            by default. Rows of a Loop whose number of passes is computed have memory for so many.

        The program makes the same calls as :meth:`prepare` and its runner do, so its outputs have the same bits, on any
        processor on which both use the same instruction set; but for functions such as Cos of what open sizes alone decide,
        which NumPy computes here, and a step of the program there. Branches and loops that values decide, see
        :class:`~pysimd.network.CourseRunner`, are those of C, for tensors whose shapes are known. An output of which a
        dimension depends on values, as the rows of a loop with a computed number of passes and what NonMaxSuppression and
        NonZero choose, has the largest size, and NAME_OUTPUT_y_ROWS(model) is that of the last run, whose elements are the
        first ones.

        Returns the paths. Raises ValueError for another name or way of embedding, if a node is computed by Python, for
        sequences and for shapes that depend on values, and if an array depends on open sizes by a function that programs in
        C do not have; everything that :meth:`prepare` raises; OSError if the files cannot be written.
        """
        from pysimd.network.c import names
        from pysimd.network.c import open as c_open
        from pysimd.network.c import program as c_program

        names.checked(name)  # first: the rest takes long
        way = ("file" if embed else "") if isinstance(embed, bool) else embed
        if way not in c_program.EMBEDDINGS:
            raise ValueError(f"embed is {shown(embed)}, expected a bool, 'file' or 'numbers'")
        if most_passes is not None:
            most_passes = number(most_passes, "most_passes", 1)
        if values is not None:
            return self.with_values(values).compile(
                folder,
                shapes,
                layout=layout,
                name=name,
                embed=way,
                sizes=sizes,
                prefer=prefer,
                most_passes=most_passes,
            )
        for value in self.inputs.values():
            if value.dtype.endswith("_type"):
                raise ValueError(printable(f"the input {value.name!r} is a sequence or optional: C has tensors alone"))
        several: Sequence[Any] = shapes if isinstance(shapes, list) else [shapes]
        if not several:
            raise ValueError("shapes is empty, expected the shapes of the inputs")
        title, contexts = names.title(self.name, self._file), Contexts(_preferred(prefer))
        given = {} if several[0] is None else by_name(several[0], self.inputs, "the shape")
        dims = open_dims(self.inputs, given) if len(several) == 1 and given else None
        with planning(self.source.weights.values()):
            if dims is not None:
                try:
                    plans = self._open_plans(dims, {} if sizes is None else sizes, layout, contexts)
                except UnsupportedModel as error:
                    if not (self._is_cut or error.needed):
                        raise
                    what = "the model cannot be written as C for open dimensions"
                    raise ValueError(f"{what}, as values decide what it computes: give each as a number") from error
                return c_program.write(c_open.Open(plans, contexts, name, title=title, embed=way), folder)
            if sizes is not None:
                raise ValueError("sizes is given, but no dimension is open: expected shapes with names of dimensions")
            functions = self._functions([self.shapes(each) for each in several], layout, contexts, most_passes)
            return c_program.write(c_program.Fixed(functions, contexts, name, title=title, embed=way), folder)

    def _functions(
        self, shapes: Sequence[Mapping[str, Shape]], layout: str, contexts: Contexts, most_passes: int | None
    ) -> list[c_program.Function]:
        """What computes the outputs in C for each of these shapes of all inputs."""
        from pysimd.network import planner
        from pysimd.network.c import course as c_course
        from pysimd.network.c import program as c_program

        try:
            graphs = [planner.simplified(planner.graph_of(self.source, each, self._fallback)) for each in shapes]
        except UnsupportedModel as error:
            course = self._new_course(contexts, error)
            self._refuse_weights(name for each in shapes for name in each)
            if most_passes is not None:
                course.shared.most_passes = most_passes
            return c_course.functions_of(course, shapes, layout)
        programs = [planner.Program(graph, layout, contexts, self.outputs) for graph in graphs]
        for program in programs:
            program.refuse_contexts()
        return [c_program.planned(program, i) for i, program in enumerate(programs)]

    def _open_plans(self, dims: Dims, given: OpenSizes, layout: str, contexts: Contexts) -> list[c_open.Plan]:
        """Plans for these dimensions, some of which are names: one for each example that no earlier one serves."""
        from pysimd.network import planner
        from pysimd.network.c import array_rules
        from pysimd.network.c import open as c_open

        plans: list[c_open.Plan] = []
        for example in _examples([*dict.fromkeys(n for each in dims.values() for n in each if isinstance(n, str))], given):
            if any(plan.sizes.conditions_hold()(*example.values()) for plan in plans):
                continue
            sizes = planner.Sizes(example)
            shapes: dict[str, Any] = {
                each: tuple(sizes[n] if isinstance(n, str) else n for n in of) for each, of in dims.items()
            }
            graph = planner.graph_of(self.source, shapes, self._fallback, computed_open=array_rules.OPERATORS)
            graph = planner.simplified(graph)
            plans.append(c_open.Plan(sizes, planner.Program(graph, layout, contexts, self.outputs)))
        return plans

    def __repr__(self) -> str:
        return f"<pysimd.Model {self.name!r}: {', '.join(map(_described, self.source.inputs))}>"

    def __str__(self) -> str:
        counts: dict[str, int] = {}
        for node in self.source.nodes:
            counts[node.op] = counts.get(node.op, 0) + 1
        size = sum(array.nbytes for array in self.source.weights.values())
        lines = [f"{printable(self.name) or 'model'}: {len(self.source.nodes)} nodes, {size / 1e6:.1f} MB of weights"]
        lines += [f"  input   {_described(value)}" for value in self.source.inputs]
        lines += [f"  value   {printable(name)}: {_shown_value(array)}" for name, array in self.values.items()]
        lines += [f"  output  {_described(value)}" for value in self.source.outputs]
        most = sorted(counts, key=lambda op: (-counts[op], op))
        lines.append("  operators  " + printable(", ".join(f"{op} {counts[op]}" if counts[op] > 1 else op for op in most)))
        try:
            found = self._anyhow(self.unsupported)
        except ValueError as error:
            return "\n".join([*lines, f"  support not known: {error.reason if isinstance(error, OpenShape) else error}"])
        lines.append("  all operators are supported" if found is None else "  " + str(found).replace("\n", "\n  "))
        return "\n".join(lines)

    def _anyhow(self, refusal: Callable[[Shapes], UnsupportedModel | None]) -> UnsupportedModel | None:
        """What is not supported with usual sizes of open dimensions; None if some are found with which everything is."""
        probes = [self._probe(by_name, most) for most in _PROBES for by_name in (False, True)]
        first, *others = (each for i, each in enumerate(probes) if each not in probes[:i])
        found = refusal(first)
        return found if found and all(map(refusal, others)) else None

    def _probe(self, by_name: bool, most: int) -> dict[str, Shape]:
        """Shapes to look for unsupported operators with: 1 for what is open, in the first dimension, else 64.

        by_name : dimensions of one name have the size of the first of them, and one with the name "a + b" has their sum.
        most : the size of the last dimension of signals and rows, whose windows can be large.
        """
        sizes: dict[str, int] = {}

        def size(dims: Sequence[Dimension], i: int, n: Dimension) -> int:
            usual = 1 if i == 0 else most if i == len(dims) - 1 < 3 else 64
            if isinstance(n, int) or not n or not by_name:
                return n if isinstance(n, int) else usual
            return sum_of(n, lambda part: sizes.setdefault(part, usual)) or usual

        return {
            value.name: tuple(size(value.dims, i, n) for i, n in enumerate(value.dims))
            for value in self.source.inputs
            if value.dims is not None
        }

    def __getstate__(self) -> dict[str, Any]:
        state = {"_outline": self.source, "_whole": None, "_fallback": self._fallback, "_file": self._file}
        return {**state, "limits": dict(self._limits)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        limits = state.pop("limits")
        self.__dict__.update(state)
        self._contexts, self._runners = Contexts(), Runners()
        self._preferring, self._open, self._course, self._is_in_parts, self._limits = {}, None, None, False, {}
        self._plans = ()  # those of a file, which is elsewhere in another process
        for name, value in limits.items():
            setattr(self, name, value)


def _preferred(prefer: str | None) -> str:
    """The name of a preference that is given, or that of the calling thread."""
    if prefer is None:
        return get_preference()
    with preference(prefer):
        return get_preference()


def _examples(names: Sequence[str], given: OpenSizes) -> list[dict[str, int]]:
    """All sizes of the open dimensions of these names for which a program is to be planned."""
    found: dict[tuple[int, ...], None] = {}
    for each in [given] if isinstance(given, Mapping) else given:
        unknown = [name for name in each if name not in names]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not an open dimension, expected {', '.join(map(repr, names))}")
        several = {name: of if isinstance(of, (tuple, list)) else (of,) for name, of in each.items()}
        choices = [[number(n, f"the size of {name}", 0) for n in several.get(name, (_EXAMPLE,))] for name in names]
        found.update(dict.fromkeys(product(*choices)))
    if not found:
        raise ValueError(f"sizes is {shown(given)}, expected at least one size of {', '.join(map(repr, names))}")
    return [dict(zip(names, sizes)) for sizes in found]


def _described(value: Value) -> str:
    dims = "unknown shape" if value.dims is None else "(" + ", ".join("?" if n is None else str(n) for n in value.dims) + ")"
    return printable(f"{value.name}: {value.dtype} {dims}")


def _shown_value(array: Array) -> str:
    return f"{array.dtype} {array.shape}, {shown(array.tolist())}" if array.size <= 16 else f"{array.dtype} {array.shape}"


def _constant(value: Value, given: Any) -> Array:
    """The array of a value that is given for an input."""
    array = constant(given, value.name, value.dtype)
    if not array.ndim and value.dims is not None and all(n == 1 or not isinstance(n, int) for n in value.dims):
        array = array.reshape((1,) * len(value.dims))
    _fitting(value, array.shape)
    return array


def _fitting(value: Value, given: Shape) -> Shape:
    """A shape that is given for an input."""
    shape = shape_of(given, f"the shape of {value.name}")
    if value.dims is not None and (
        len(shape) != len(value.dims) or any(isinstance(n, int) and n != size for n, size in zip(value.dims, shape))
    ):
        raise ValueError(
            f"the shape of {printable(value.name)} is given as {shape}, expected that of the file: {_described(value)}"
        )
    return shape


def _inferred(value: Value, sizes: Mapping[str, set[int]]) -> Shape:
    """The shape of an input for which none is given: numbers, and names that have one size elsewhere."""
    dims = [None]  # type: list[Dimension]
    if value.dims is not None:
        dims = [min(sizes[n]) if isinstance(n, str) and len(sizes.get(n, ())) == 1 else n for n in value.dims]
    if not all(isinstance(n, int) for n in dims):
        raise OpenShape(value)
    return tuple(dims)  # type: ignore[arg-type]


def _example(value: Value) -> Shape:
    """A shape for a message: that of one image where there are four dimensions."""
    dims = (None,) * 4 if value.dims is None else value.dims
    usual: Shape = (1, *[64] * (len(dims) - 1))
    if len(dims) == 4:
        usual = (1, 224, 224, 3) if isinstance(dims[-1], int) else (1, 3, 224, 224)
    return tuple(n if isinstance(n, int) else size for n, size in zip(dims, usual))
