"""A library for the benchmarks that is always available. The number of outputs of a layer selects its behaviour."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np

from bench.implementations import Unsupported
from bench.layers import CONVOLUTION, Array, Block, Values
from bench.operators import Operator
from bench.peers import Implementation

NAME, VERSION = "numpy", np.__version__

# Numbers of outputs: of a layer that crashes the process when it is built, or in its second round; of one with wrong
# results; and of one with slow rounds from the second on.
ABORTS, ABORTS_LATER, WRONG, SWINGS = 3, 5, 7, 9


def build(block: Block, layout: str, values: tuple[Values, ...]) -> Iterator[Callable[[], Implementation]]:
    """1x1 only. Two of the three implementations fail."""
    (layer,), (its,) = block.layers, values
    if layer.kind != CONVOLUTION or layer.kernel != 1:
        raise Unsupported("1x1 only")
    if layer.o == ABORTS:
        os.abort()
    src, weight = its.src[:, :: layer.stride, :: layer.stride], its.weight[:, :, 0, 0]
    rounds: list[str] = []

    def call() -> Any:
        if rounds[-1:] == ["begins"]:
            rounds.append("goes on")
        if layer.o == ABORTS_LATER and len(rounds) > 2:
            os.abort()
        if layer.o == SWINGS:
            time.sleep(0.01 if len(rounds) > 2 else 0.0005)
        y = np.einsum("oc,chw->ohw", weight, src) + its.bias[:, None, None]
        return np.maximum(y, 0) + (layer.o == WRONG)

    def empty() -> None:
        if rounds[-1:] != ["begins"]:
            rounds.append("begins")

    def broken() -> Implementation:
        raise RuntimeError("no memory")

    yield broken
    yield lambda: Implementation("einsum", call, call, empty)
    yield lambda: Implementation("zero", call, lambda: 0 * call(), empty)
    raise RuntimeError("nor for more")


def of_operator(operator: Operator, expected: Array) -> Iterator[Callable[[], Implementation]]:
    """Those that PyTorch computes by an operator that NumPy has, too."""
    known = {**operator.inputs, **operator.constants}

    def call() -> Any:
        return eval(operator.torch, {}, known)

    yield lambda: Implementation(operator.torch, call, call, lambda: None)
