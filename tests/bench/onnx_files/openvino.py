"""OpenVINO: float32 unless a precision is given, one stream, shapes fixed, inputs bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable

import numpy as np
import openvino

from bench.onnx_files import Loaded

VERSION = str(openvino.__version__).split("-")[0]


def build(path: str, inputs: Mapping[str, Any], threads: int, precision: str = "f32") -> Iterator[Callable[[], Loaded]]:
    """Yields one implementation; precision: "f32", or "bf16" for products of bfloat16 numbers."""
    options = {
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": precision,
        "ENABLE_CPU_PINNING": False,  # others run meanwhile
    }

    def load() -> Loaded:
        core = openvino.Core()
        model = core.read_model(path)
        model.reshape({name: list(array.shape) for name, array in inputs.items()})
        request = core.compile_model(model, "CPU", options).create_infer_request()
        for name, array in inputs.items():
            request.set_tensor(name, openvino.Tensor(array))  # makes a copy

        def result() -> Sequence[Any]:
            request.infer()
            return [np.array(tensor.data) for tensor in request.output_tensors]

        return Loaded("float32", lambda: request.infer(share_outputs=True), result)

    yield load
