"""This library: NHWC, consecutive convolutions merged where possible."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Callable

import numpy as np

import pysimd
from bench.layers import Array
from bench.whole import Implementation, nchw
from pysimd._library import ffi, lib
from pysimd.network import Graph, Runner
from pysimd.network.passes import simplified

NAME = "simdnet"
VERSION = str(ffi.string(lib.SimdVersion()).decode())


def build(graph: Graph, images: Array, threads: int) -> Iterator[Callable[[], Implementation]]:
    """Yields one implementation."""
    yield partial(_implementation, graph, images, threads)


def _implementation(graph: Graph, images: Array, threads: int) -> Implementation:
    pysimd.set_num_threads(threads)
    runner = Runner(simplified(graph), "nhwc")
    (image,), (found,) = runner.inputs.values(), runner.outputs.values()
    np.copyto(image, images)

    def result() -> Array:
        runner()
        return nchw(found) if found.ndim == 4 else found

    return Implementation(f"{len(runner.steps)} calls, {pysimd.active_isa()}", runner.run, result)
