"""Running a model for inputs of any size: plans with open sizes, and runners for the shapes that were used last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Union

from pysimd._geometry import shape_of
from pysimd.annotations import Array, Shape
from pysimd.errors import printable, shown
from pysimd.network.given import Inputs, array_of, by_name, explained, refuse_others
from pysimd.network.runner import Runner
from pysimd.network.runners import Idle, KeepsRunners, Runners
from pysimd.network.sizes import Sizes
from pysimd.network.source import Value

if TYPE_CHECKING:
    from pysimd.network.open_plan import OpenPlan

Dims = Mapping[str, tuple[Union[int, str], ...]]
#: Shapes of inputs, by name or that of the only one, of which some dimensions are names, or None.
OpenShapes = Union[Mapping[str, tuple[Union[int, str, None], ...]], tuple[Union[int, str, None], ...]]

_PLANS = 16  # a model of which each shape needs a plan of its own would else fill the memory


class OpenRunner(KeepsRunners):
    """Runs a model for inputs whose open dimensions have any size; :meth:`pysimd.Model.prepare` returns it.

    ``runner({"x": image})`` computes the outputs and returns them as new arrays, by name; with one input,
    ``runner(image)`` does the same. The model is planned at the first call. A call with other sizes binds that plan to
    them, which takes a small part of the time; if the plan does not serve these sizes, another one is made. The results
    have the bits of a preparation for these shapes alone. Several threads may call a runner at once.

    Tensors are kept for the shapes that were used last, within the limits :attr:`most_shapes` and :attr:`most_bytes`, which
    can be set; :meth:`trim` releases all but the last. ``print(runner)`` shows the inputs and what is kept.

    inputs : those of the model.
    dims : their dimensions, numbers and the names of open ones.
    plan : makes a plan, for an example of these.
    layout : how the plans store inputs and outputs of four dimensions: "nchw", as in the file, or "nhwc".
    """

    def __init__(
        self, inputs: Mapping[str, Value], dims: Dims, plan: Callable[[Sizes], OpenPlan], layout: str = "nchw"
    ) -> None:
        self._inputs, self.dims, self._plan = dict(inputs), {name: tuple(each) for name, each in dims.items()}, plan
        self.names = tuple(dict.fromkeys(n for each in self.dims.values() for n in each if isinstance(n, str)))
        self.layout = layout
        named: dict[str, list[str]] = {}  # the open dimensions of each name in the file
        for name, value in self._inputs.items():
            for n, old in zip(self.dims[name], value.dims or ()):
                if isinstance(n, str) and isinstance(old, str) and old:
                    named.setdefault(old, []).append(n)
        self._alike = [list(dict.fromkeys(names)) for names in named.values()]
        self._plans: list[OpenPlan] = []  # the one that was used last first
        self._runners = Runners()

    def __call__(self, inputs: Inputs, *, outputs: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """Computes the outputs for these inputs; both as of :meth:`pysimd.network.Runner.__call__`."""
        shapes = self._runners.known(inputs) if self.layout == "nchw" else None
        if shapes is None:
            inputs = by_name(inputs, self.dims, "the input")
            refuse_others(inputs, self.dims)
            arrays = {name: array_of(inputs[name], name, of.dtype) for name, of in self._inputs.items()}
            shapes = {name: self._of_file(array.shape) for name, array in arrays.items()}
        with self.taken(shapes) as runner:
            return runner(inputs, outputs=outputs)

    def taken(self, shapes: Mapping[str, Shape]) -> AbstractContextManager[Runner]:
        """A runner for these shapes of all inputs, which no other call uses meanwhile."""
        return self._runners.taken(shapes, self.bound)

    @property
    def runners(self) -> Runners:
        """Those that no call uses at present."""
        return self._runners

    def pop(self, shapes: Mapping[str, Shape]) -> tuple[Idle, Runner]:
        """A runner for these shapes of all inputs, and where it is returned, as of :meth:`.runners.Runners.pop`."""
        return self._runners.pop(shapes, self.bound)

    def prepare(self, shapes: Mapping[str, Shape]) -> Runner:
        """A runner for these shapes of all inputs, which belongs to the caller: for calls without copies.

        shapes : by name, in the order of the file.

        Raises ValueError for shapes that contradict the model or each other, and what :meth:`pysimd.Model.prepare` raises.
        One thread at a time may call it.
        """
        refuse_others(shapes, self.dims)
        runner = self.bound(shapes)
        runner.clear()
        return runner

    def bound(self, shapes: Mapping[str, Shape], released: Runner | None = None) -> Runner:
        """The same for shapes of all inputs; `released` as of :meth:`pysimd.network.open_plan.OpenPlan.bound`."""
        values = self._sizes_of(shapes)
        plan = next((plan for plan in self._plans if plan.holds(values)), None)
        if plan is None:
            with explained(self._inputs, shapes):
                plan = self._plan(Sizes(dict(zip(self.names, values)), self._alike))
        runner = plan.bound(values, released)
        self._plans = [plan, *(other for other in self._plans if other is not plan)][:_PLANS]
        return runner

    @property
    def plans(self) -> tuple[OpenPlan, ...]:
        """The plans that were made, with the conditions on which each holds; the one that was used last first."""
        return tuple(self._plans)

    def report(self) -> str:
        """The plans and their conditions, as text."""
        lines = [str(self)]
        for i, plan in enumerate(self._plans, 1):
            lines += [f"  plan {i} serves sizes for which", *(f"    {printable(text)}" for text in plan.conditions)]
        return "\n".join(lines)

    def __str__(self) -> str:
        lines = [f"{len(self._plans)} plans, {len(self.kept)} shapes kept, {self.kept_bytes / 1e6:.1f} MB for tensors"]
        return "\n".join([*lines, *(f"  input   {self._described(name)}" for name in self.dims)])

    def _described(self, name: str) -> str:
        return printable(f"{name}: {self._inputs[name].dtype} ({', '.join(map(str, self.dims[name]))})")

    def _of_file(self, shape: Shape) -> Shape:
        """The shape of an array in the order of the file."""
        return (shape[0], shape[3], *shape[1:3]) if self.layout == "nhwc" and len(shape) == 4 else shape

    def _sizes_of(self, shapes: Mapping[str, Shape]) -> tuple[int, ...]:
        """The sizes of the open dimensions."""
        found: dict[str, int] = {}
        for name, dims in self.dims.items():
            shape = shapes[name]
            fits = len(shape) == len(dims)
            for n, size in zip(dims, shape):
                fits = fits and size >= 0 and size == (found.setdefault(n, size) if isinstance(n, str) else n)
            if not fits:
                named = " and ".join(f"{n} is {size}" for n, size in found.items() if n in dims)
                known = f", where {named}" if named else ""
                expected = ", ".join(map(str, dims)) + "," * (len(dims) == 1)
                order = ", in the order of the file" * (self.layout != "nchw")
                text = f"the shape of {name} is given as {tuple(shape)}, expected ({expected}){known}{order}"
                raise ValueError(printable(text))
        return tuple(found[name] for name in self.names)


def open_dims(inputs: Mapping[str, Value], given: Mapping[str, Any]) -> Dims | None:
    """The dimensions of all inputs, if some are open: names, or None; else None.

    given : shapes by name, with names or None in place of the numbers of open dimensions.

    A name that is given stands for one size. A name in the file may stand for several: where two dimensions have it, each
    is open by itself, as is one whose name is an expression, such as "past + 1", or could be mistaken for one.

    Raises ValueError for dimensions that contradict the file.
    """
    dims = {name: given.get(name, value.dims) for name, value in inputs.items()}
    if not any(isinstance(each, (tuple, list)) and any(map(_is_open, each)) for each in dims.values()):
        return None
    if not set(given) <= set(dims) or any(each is None for each in dims.values()):
        return None
    of_file = Counter(n for name in set(dims) - set(given) for n in dims[name])

    def kept(name: str, old: Any) -> bool:
        return bool(old) and (name in given or (of_file[old] == 1 and old.isidentifier()))

    named: dict[str, tuple[int | str, ...]] = {}
    for name, each in dims.items():
        numbers = shape_of(tuple(0 if _is_open(n) else n for n in each), f"the shape of {name}")
        named[name] = tuple(
            n if not _is_open(old) else old if kept(name, old) else f"{name}.{i}"
            for i, (old, n) in enumerate(zip(each, numbers))
        )
        if not _fits(named[name], inputs[name].dims or named[name]):
            what = f"the shape of {name} is given as {shown(each)}, expected that of the file, {inputs[name].dims}"
            raise ValueError(printable(what))
    return named


def _is_open(n: Any) -> bool:
    """Whether a dimension is a name, or None."""
    return n is None or isinstance(n, str)


def _fits(dims: Sequence[Any], of_file: Sequence[Any]) -> bool:
    return len(dims) == len(of_file) and all(_is_open(m) or n == m for n, m in zip(dims, of_file))
