"""Constants without denormal numbers, those below 2^-126: they become 0.

Processors compute with such numbers a hundred times more slowly, and no result can tell the difference. Training with decaying
weights leaves many of them: a convolution of a text detector that has 70000 among its 295000 weights takes 112 ms in place of 1.
"""

from __future__ import annotations

import numpy as np

from pysimd.annotations import Array
from pysimd.network.graph import Graph

_PART = 1 << 20  # elements that are looked at together: weights may be larger than what memory is left


def flushed(graph: Graph) -> Graph:
    """The graph with 0 in place of denormal numbers."""
    found = {name: array for name, array in graph.constants.items() if array.dtype == np.float32 and _has_tiny(array)}
    if not found:
        return graph
    return graph.replaced(graph.nodes, constants={name: np.where(_tiny(array), 0, array) for name, array in found.items()})


def _tiny(array: Array) -> Array:
    return np.asarray((array != 0) & (np.abs(array) < np.finfo(np.float32).tiny))


def _has_tiny(array: Array) -> bool:
    flat = array.reshape(-1)
    return any(bool(_tiny(flat[begin : begin + _PART]).any()) for begin in range(0, flat.size, _PART))
