"""Other libraries that compute the same layers, each in a process of its own (``workers``). There is a module for each,
named like the library:

    NAME                            in the table
    VERSION                         the installed one
    build(block, layout, values)    yields the library's implementations of the block of layers, as functions that each build
                                    one `Implementation`: if one fails, the others remain
    of_operator(operator, expected) likewise those of an operator, whose result has the shape and the type of `expected`

Each library is used at its best: constant weights, packed beforehand, ReLU in the same pass, one thread, the result written
to the given array if the library can do that, and the fastest of several implementations. In rows for NHWC the image may
have the layout that the library prefers within a network (ONNX Runtime: blocks of channels); in rows for NCHW its input and
output are NCHW.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Callable, Protocol

from bench.layers import Array, Block, Values
from bench.operators import Operator

#: The modules of libraries, in the order of the report.
NAMES = ("onnxruntime", "openvino", "torch")


@dataclass(frozen=True)
class Implementation:
    """A block built by a library."""

    how: str  # a description of the implementation
    call: Callable[[], Any]
    result: Callable[[], Array]  # of the last call; of a block as (channels, height, width)
    empty: Callable[[], Any]  # a call of the same library that does almost nothing


class Library(Protocol):
    """The interface of the modules of libraries."""

    NAME: str
    VERSION: str

    def build(self, block: Block, layout: str, values: tuple[Values, ...]) -> Iterator[Callable[[], Implementation]]: ...
    def of_operator(self, operator: Operator, expected: Array) -> Iterator[Callable[[], Implementation]]: ...


def trial(call: Callable[[], Any]) -> float:
    """Seconds of the fastest of a few calls, within some milliseconds."""
    call()
    seconds, begin = 1e9, time.perf_counter()
    while True:
        start = time.perf_counter()
        call()
        end = time.perf_counter()
        seconds = min(seconds, end - start)
        if end - begin > 0.01:
            return seconds
