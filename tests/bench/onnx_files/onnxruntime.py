"""ONNX Runtime: all optimizations, inputs and outputs bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable

import onnxruntime

from bench.onnx_files import Loaded

VERSION = str(onnxruntime.__version__)


def build(path: str, inputs: Mapping[str, Any], threads: int) -> Iterator[Callable[[], Loaded]]:
    """Yields one implementation."""

    def load() -> Loaded:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, array in inputs.items():
            binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))

        bound: list[str] = []

        def result() -> Sequence[Any]:
            """The first call tells the shapes of the outputs, which are then bound."""
            found: Sequence[Any] = session.run(None, dict(inputs))
            bound[:] = [output.name for output in session.get_outputs()]
            for output, array in zip(session.get_outputs(), found):
                binding.bind_ortvalue_output(output.name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
            return found

        return Loaded("all optimizations", lambda: session.run_with_iobinding(binding) if bound else result(), result)

    yield load
