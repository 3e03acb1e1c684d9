"""This library: NHWC, consecutive convolutions merged where possible."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Callable

import numpy as np

import pysimd
from bench.layers import Array
from bench.whole import Implementation
from pysimd._library import ffi, lib
from pysimd.network import Graph, Runner

NAME = "simdnet"
VERSION = str(ffi.string(lib.SimdVersion()).decode())


def build(graph: Graph, image: Array, threads: int) -> Iterator[Callable[[], Implementation]]:
    """Yields one implementation."""
    yield partial(_implementation, graph, image, threads)


def _implementation(graph: Graph, image: Array, threads: int) -> Implementation:
    pysimd.set_num_threads(threads)
    runner = Runner(graph)
    np.copyto(runner.image, image)

    def result() -> Array:
        return np.ascontiguousarray(runner.run().transpose(2, 0, 1))

    return Implementation(f"{len(runner.steps)} calls, {pysimd.active_isa()}", runner.run, result)
