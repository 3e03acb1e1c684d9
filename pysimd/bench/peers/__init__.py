"""Other libraries, computing the same layers beside us, each in a process of its own (``workers``). A module each, named as
the library:

    NAME                            in the table
    VERSION                         of what is installed
    build(block, layout, values)    yields the ways in which the library can compute the block of layers, as functions that
                                    each build one `Way`: what fails then leaves the others

A library is to be at its best: weights constant and packed beforehand, ReLU in the same pass, one thread, the result written
where it is wanted if the library can do that, and of several ways the fastest. In a row that says NHWC the image may lie as
the library likes best within a network (ONNX Runtime: blocks of channels); in one that says NCHW it comes and goes as NCHW.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Callable, Protocol

from pysimd.bench.layers import Array, Block, Values

#: The modules of libraries, in the order of the report.
NAMES = ("onnxruntime", "openvino", "torch")


@dataclass(frozen=True)
class Way:
    """A block built by a library."""

    how: str  # what this way is
    call: Callable[[], Any]
    result: Callable[[], Array]  # of the last call, as (channels, height, width)
    empty: Callable[[], Any]  # the same library called for as good as nothing


class Library(Protocol):
    """What the modules of libraries are."""

    NAME: str
    VERSION: str

    def build(self, block: Block, layout: str, values: tuple[Values, ...]) -> Iterator[Callable[[], Way]]: ...


def trial(call: Callable[[], Any]) -> float:
    """Seconds of the fastest of a few calls, some milliseconds of them."""
    call()
    seconds, begin = 1e9, time.perf_counter()
    while True:
        start = time.perf_counter()
        call()
        end = time.perf_counter()
        seconds = min(seconds, end - start)
        if end - begin > 0.01:
            return seconds
