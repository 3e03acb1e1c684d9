"""Which operators compute sizes that are open, see :mod:`pysimd.network.sizes`, one by one in arrays of objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pysimd.annotations import Array
from pysimd.network.open_arrays import is_array
from pysimd.network.sizes import Size, is_open
from pysimd.network.source import SourceNode

_MOST, _LARGE = 64, 1 << 40  # elements; sizes
_OF_SIZES = frozenset(
    (
        "Add", "Concat", "Div", "Equal", "Gather", "Greater", "GreaterOrEqual", "Identity", "Less", "LessOrEqual", "Max",
        "Min", "Mod", "Mul", "Neg", "ReduceProd", "ReduceSum", "Reshape", "Shape", "Size", "Slice", "Split", "Squeeze",
        "Sub", "Transpose", "Unsqueeze", "Where",
    )
)  # fmt: skip

#: Of these the first input alone.
_OF_FIRST = frozenset(("Gather", "ReduceProd", "ReduceSum", "Reshape", "Slice", "Split", "Squeeze", "Unsqueeze"))


def takes_sizes(node: SourceNode, inputs: Sequence[Any]) -> bool:
    """Whether the function of an operator computes sizes that are open, in these known inputs, as it computes int64."""
    if node.op in ("Shape", "Size"):
        return True
    if any(map(is_array, inputs)) or any(each is not None and each.size > _MOST for each in inputs):
        return False
    if node.op == "Cast":
        return node.attributes.get("to") in (6, 7)  # int32, int64
    if node.op in _OF_FIRST and any(map(is_open, inputs[1:])):
        return False
    return node.op in _OF_SIZES


def is_small(result: Array) -> bool:
    """Whether all sizes in an array, and their factors, are small: int64 would not represent some others, as Python does."""
    return not is_open(result) or all(
        abs(size.value) < _LARGE and all(abs(factor) < _LARGE for factor in size.terms.values())
        for size in result.flat
        if isinstance(size, Size)
    )


def plain(result: Array) -> Array:
    """Numbers as int64 if no size is left among them; booleans that were computed from sizes."""
    if result.dtype != object or is_open(result):
        return result
    are_booleans = result.size and all(isinstance(each, (bool, np.bool_)) for each in result.flat)
    return result.astype(bool if are_booleans else np.int64)
