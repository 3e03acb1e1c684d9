"""OpenVINO: float32, one stream, images bound; as NCHW and as NHWC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

import numpy as np
import openvino

from bench.layers import Array
from bench.whole import Implementation, nchw, onnx_model
from pysimd.network import Graph

NAME = "openvino"
VERSION = str(openvino.__version__).split("-")[0]


def build(graph: Graph, images: Array, threads: int) -> Iterator[Callable[[], Implementation]]:
    """The input images in either layout; inside, OpenVINO chooses its own."""
    options = {
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "ENABLE_CPU_PINNING": False,  # the process is already pinned
    }
    core = openvino.Core()
    model = core.read_model(onnx_model.model_of(graph).SerializeToString())
    yield lambda: _implementation("NCHW", core.compile_model(model, "CPU", options), nchw(images))
    yield lambda: _implementation("NHWC", core.compile_model(_in_nhwc(model.clone()), "CPU", options), images)


def _in_nhwc(model: Any) -> Any:
    """The same with the images as NHWC outside."""
    outside = openvino.preprocess.PrePostProcessor(model)
    outside.input().model().set_layout(openvino.Layout("NCHW"))
    outside.input().tensor().set_layout(openvino.Layout("NHWC"))
    return outside.build()


def _implementation(how: str, compiled: Any, images: Array) -> Implementation:
    request = compiled.create_infer_request()
    source = openvino.Tensor(images)  # makes a copy
    request.set_input_tensor(source)

    def result() -> Array:
        request.infer()
        array: Array = np.array(request.get_output_tensor().data)
        return array

    return Implementation(how, lambda: request.infer(share_outputs=True), result)
