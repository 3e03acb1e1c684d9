"""ONNX Runtime: all optimizations, image and result bound."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Callable

import numpy as np
import onnxruntime

from bench.layers import Array
from bench.whole import Implementation, nchw, onnx_model
from pysimd.network import Graph

NAME = "onnxruntime"
VERSION = str(onnxruntime.__version__)


def build(graph: Graph, images: Array, threads: int) -> Iterator[Callable[[], Implementation]]:
    """Yields one implementation."""
    yield partial(_implementation, graph, images, threads)


def _implementation(graph: Graph, images: Array, threads: int) -> Implementation:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    model = onnx_model.model_of(graph).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    target = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(graph.shape(graph.outputs[0]), np.float32))
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", onnxruntime.OrtValue.ortvalue_from_numpy(nchw(images)))
    binding.bind_ortvalue_output("y", target)

    def result() -> Array:
        session.run_with_iobinding(binding)
        array: Array = target.numpy()
        return array

    return Implementation("all optimizations", lambda: session.run_with_iobinding(binding), result)
