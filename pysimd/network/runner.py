"""Execution of a graph: its arrays in one block of memory, and the prepared calls of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from pysimd._library import ffi, lib
from pysimd.annotations import Array
from pysimd.errors import printable, shown
from pysimd.network.contexts import Contexts
from pysimd.network.given import Inputs, by_name, fitting, refuse_others
from pysimd.network.graph import Graph, Node
from pysimd.network.layouts import placed
from pysimd.network.lower import Step, read_by_calls, step_of
from pysimd.network.memory import Plan, plan_of
from pysimd.network.operators import refuse_computed_weights

_PAGE = 4096

Self = TypeVar("Self", bound="Runner")


class Runner:
    """Runs a graph. One thread at a time may use it; :meth:`copy` is for another one.

    graph : as built, or with what :func:`pysimd.network.passes.simplified` has joined.
    layout : how inputs and outputs of four dimensions are stored: "nchw", the order of the graph, or "nhwc".
    contexts : of runners of the same weights for other shapes, to share them.
    progress : is called with the part of the weights that is packed, from 0 to 1.
    outputs : the names of the outputs, in the order of the graph, where a model gives an input back under the same name.

    ``runner({"x": image})`` computes the outputs for new inputs and returns them as new arrays, by name; with one input,
    ``runner(image)`` does the same. Inputs of float32 may be given as float16, which is converted. Alternatively,
    write the inputs into the arrays of :attr:`inputs` and call ``runner()``, which returns :attr:`outputs`: arrays that the
    next call overwrites.

    ``print(runner)`` shows inputs, outputs, the number of steps, and the memory.

    steps : the nodes that are computed, in order, with their calls and contexts.
    """

    def __init__(
        self,
        graph: Graph,
        layout: str = "nchw",
        contexts: Contexts | None = None,
        progress: Callable[[float], Any] | None = None,
        outputs: Iterable[str] | None = None,
    ) -> None:
        if layout not in ("nchw", "nhwc"):
            raise ValueError(f"layout is {shown(layout)}, expected 'nchw' or 'nhwc'")
        refuse_computed_weights(graph)
        stored = placed(graph, layout)
        self._start(graph, stored, plan_of(stored), layout, outputs)
        self._bind({}, Contexts() if contexts is None else contexts, progress)
        self.graph, self.placed = without_packed(graph), without_packed(stored)

    def _start(self, graph: Graph, stored: Graph, plan: Plan, layout: str, outputs: Iterable[str] | None) -> None:
        self.graph, self.placed, self.plan, self.layout = graph, stored, plan, layout
        self._output_names = graph.outputs if outputs is None else tuple(outputs)
        self.operators: tuple[str, ...] = ()  # of the file, one for each node, for reports
        self.file = ""  # the path of the model, if it has one, for reports

    @classmethod
    def of_plan(
        cls: type[Self],
        graph: Graph,
        stored: Graph,
        plan: Plan,
        layout: str,
        contexts: Contexts,
        outputs: Iterable[str],
    ) -> Self:
        """A runner whose tensors have their places already.

        graph, stored : before and after :func:`pysimd.network.layouts.placed`.
        """
        runner = object.__new__(cls)
        runner._start(graph, stored, plan, layout, outputs)
        runner._bind({}, contexts)
        return runner

    def _bind(
        self, made: Mapping[Node, Any], contexts: Contexts | None, progress: Callable[[float], Any] | None = None
    ) -> None:
        """Allocates the block, and prepares the calls on it."""
        stored = self.placed
        self.block = block = _allocated(self.plan.size)
        arrays = {name: self.plan.array(block, name) for name in self.plan.places} | stored.constants
        self.inputs: dict[str, Array] = dict(zip(self.graph.inputs, (arrays[name] for name in stored.inputs)))
        self.outputs: dict[str, Array] = dict(zip(self._output_names, (arrays[name] for name in stored.outputs)))
        nodes = [node for node in stored.nodes if node not in self.plan.idle]
        weights = [sum(stored.constants[name].nbytes for name in node.inputs if name in stored.constants) for node in nodes]
        self.steps: list[Step] = []
        for i, node in enumerate(nodes):
            x, y = [arrays[name] if name else None for name in node.inputs], [arrays[name] for name in node.outputs]
            try:
                step = step_of(node, x, y, made.get(node), contexts)
            except (ValueError, TypeError) as error:
                raise ValueError(f"the node {', '.join(node.origin)!r} ({node.operator}): {error}") from error
            if step.calls:
                self.steps.append(step)
            if progress is not None:
                progress(sum(weights[: i + 1]) / max(sum(weights), 1))
        self._calls = tuple(call for step in self.steps for call in step.calls)

    def __call__(self, inputs: Inputs | None = None) -> dict[str, Array]:
        if inputs is None:
            return self.run()
        self._set(inputs)
        self.run()
        return {name: array.copy() for name, array in self.outputs.items()}

    def run(self) -> dict[str, Array]:
        """Computes :attr:`outputs` for the contents of :attr:`inputs`."""
        for call in self._calls:
            call()
        return self.outputs

    def copy(self: Self) -> Self:
        """Another runner of the same graph, with the same weights and memory of its own, for another thread."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._bind({step.node: step.context for step in self.steps if step.context is not None}, None)
        return made

    @property
    def block_bytes(self) -> int:
        """The bytes of the block that holds all tensors."""
        return self.plan.size

    @property
    def weight_bytes(self) -> int:
        """The bytes of packed weights, without those that another runner of the model has packed."""
        return sum(step.weight_bytes for step in self.steps)

    def report(self, path: Any = None) -> str:
        """Where the time goes: runs the model a few times with what is in :attr:`inputs`, and returns a table of its steps.

        path : an HTML file that is written as well, with the time by step, the memory over the steps, and the graph.
        """
        from pysimd.network.report import Report

        report = Report(self)
        if path is not None:
            report.write(path)
        return str(report)

    def _set(self, inputs: Inputs) -> None:
        """Copies inputs; refuses those that do not fit before anything is written."""
        named = by_name(inputs, self.inputs, "the input")
        refuse_others(named, self.inputs)
        given = {name: fitting(named[name], name, target) for name, target in self.inputs.items()}
        for name, array in given.items():
            np.copyto(self.inputs[name], array)

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(_listed(arrays)) for arrays in (self.inputs, self.outputs))
        return f"<pysimd.network.{type(self).__name__} {self.graph.name!r}: {inputs} -> {outputs}, {self._size()}>"

    def __str__(self) -> str:
        lines = [f"{printable(self.graph.name) or 'model'}, prepared: {self._size()}"]
        lines += [f"  input   {text}" for text in _listed(self.inputs)]
        lines += [f"  output  {text}" for text in _listed(self.outputs)]
        return "\n".join(lines)

    def _size(self) -> str:
        return f"{len(self.steps)} steps, {memory_of(self)}"


def memory_of(runner: Runner) -> str:
    """The memory of a runner, for people."""
    tensors, weights = (
        f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} KB"
        for size in (runner.block_bytes, runner.weight_bytes)
    )
    return f"{tensors} for tensors, {weights} for packed weights"


def _listed(arrays: Mapping[str, Array]) -> list[str]:
    """Names, types and shapes."""
    return [f"{printable(name)}: {array.dtype} {array.shape}" for name, array in arrays.items()]


def without_packed(graph: Graph) -> Graph:
    """The graph with arrays that have no memory, only a shape, in place of weights that contexts have packed."""
    read = {*graph.outputs, *(name for node in graph.nodes for name in read_by_calls(node))}
    constants = {
        name: array if name in read else np.broadcast_to(np.zeros((), array.dtype), array.shape)
        for name, array in graph.constants.items()
    }
    return Graph(graph.name, graph.nodes, graph.inputs, graph.outputs, graph.types, constants)


def _allocated(size: int) -> Array:
    """Bytes in memory of the library, which has large pages if it is large, set to zero."""
    block = lib.SimdAllocate(max(size, 1), _PAGE)
    if block == ffi.NULL:
        raise MemoryError(f"no memory for {size} bytes of a network")
    array = np.frombuffer(ffi.buffer(ffi.gc(block, lib.SimdFree), max(size, 1)), np.uint8)
    array[:] = 0
    return array
