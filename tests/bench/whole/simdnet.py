"""This library: NHWC, convolutions merged where the graph has them one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Callable

import numpy as np

import pysimd
from bench.graph import Network, Runner
from bench.layers import Array
from bench.whole import Way
from pysimd._library import ffi, lib

NAME = "simdnet"
VERSION = str(ffi.string(lib.SimdVersion()).decode())


def build(net: Network, image: Array, threads: int) -> Iterator[Callable[[], Way]]:
    """One way."""
    yield partial(_way, net, image, threads)


def _way(net: Network, image: Array, threads: int) -> Way:
    pysimd.set_num_threads(threads)
    runner = Runner(net)
    np.copyto(runner.image, image)

    def result() -> Array:
        return np.ascontiguousarray(runner.run().transpose(2, 0, 1))

    return Way(f"{len(runner.steps)} calls, {pysimd.active_isa()}", runner.run, result)
