"""This library: inputs and outputs as the file has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable

import pysimd
from bench.onnx_files import Loaded
from pysimd.network.convert import UnsupportedModel
from pysimd.network.reports.report import multiply_adds

VERSION = pysimd.__version__


def _refusal(error: UnsupportedModel) -> Exception:
    """What is not supported, in one line: no more than three of the nodes."""
    from bench.implementations import Unsupported  # which the process of a first answer does not need

    head, *lines = str(error).splitlines()
    nodes = [line for line in lines if line.startswith(" ")]  # what is below tells what to do
    more = f"; and {len(nodes) - 3} more" if len(nodes) > 3 else ""
    return Unsupported(f"{head} {'; '.join(node.strip() for node in nodes[:3])}{more}")


def prepared(path: str, inputs: Mapping[str, Any]) -> pysimd.network.Runner:
    """For these inputs, which it holds; an integer of no dimension is a value of the model, since an `If` may read it."""
    model = pysimd.load(path)
    values = {name: array for name, array in inputs.items() if array.dtype.kind == "i" and not array.shape}
    if values:
        model = model.with_values(values)
    runner: pysimd.network.Runner = model.prepare(
        {name: array.shape for name, array in inputs.items() if name not in values}
    )
    for name, array in runner.inputs.items():
        array[...] = inputs[name]
    return runner


def build(path: str, inputs: Mapping[str, Any], threads: int) -> Iterator[Callable[[], Loaded]]:
    """Yields one implementation."""

    def load() -> Loaded:
        pysimd.set_num_threads(threads)
        try:
            runner = prepared(path, inputs)
        except UnsupportedModel as error:
            raise _refusal(error) from None

        def result() -> Sequence[Any]:
            return [array.copy() for array in runner.run().values()]

        sizes = {"weights": runner.weight_bytes, "block": runner.block_bytes}
        how = f"{len(runner.steps)} calls, {pysimd.active_isa()}"
        return Loaded(how, runner.run, result, sizes, sum(multiply_adds(runner.placed, step.node) for step in runner.steps))

    yield load
