"""Products, weighted sums, maxima and minima of several arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pysimd._arrays import NULL, Array, alike, apart, numbers, output, tensor
from pysimd._library import lib
from pysimd.calls import call
from pysimd.enums import EltwiseOperation

_OPERATIONS: dict[Any, int] = {key: int(op) for op in EltwiseOperation for key in (op, op.name.lower())}
_SUM = int(EltwiseOperation.SUM)


@lru_cache
def _ones(count: int) -> Any:
    """The weights of a plain sum, as a C array."""
    return tensor(np.ones(count, np.float32), "weights", (count,))


def eltwise(
    arrays: Sequence[Array],
    operation: str | EltwiseOperation = "sum",
    *,
    weights: Array | Sequence[float] | None = None,
    out: Array | None = None,
) -> Array:
    """Puts arrays together, element by element.

    arrays : at least one, float32, contiguous, of one shape: nothing is broadcast. ``out`` may be any one of them.
    operation : "sum", "product", "max" or "min".
    weights : of "sum", one number for each array, that it is multiplied with; 1 when not given.

    As in C: an infinity alone is limited to the largest float by "max" and "min" of one array, and those give a NaN for sure
    only where the last array has one. Formula: SimdSynetEltwiseLayerForward.
    """
    arrays = tuple(arrays)
    if not arrays:
        raise ValueError("arrays is empty, expected at least one")
    try:
        kind = _OPERATIONS[operation]
    except (KeyError, TypeError):
        known = " or ".join(repr(name) for name in _OPERATIONS if type(name) is str)
        raise ValueError(f"operation is {operation!r}, expected {known}") from None
    count = len(arrays)
    first, sources = alike(arrays, "arrays")
    factors = NULL
    if kind == _SUM:
        factors = _ones(count) if weights is None else tensor(numbers(weights, "weights"), "weights", (count,))
    elif weights is not None:
        raise ValueError(f"weights is given, but only of use for a sum, and operation is {operation!r}")
    out, dst = output(out, first.shape, arrays, "arrays", count)
    if weights is not None:
        apart(dst, "out", factors, "weights")
    call(lib.SimdSynetEltwiseLayerForward, sources, factors, count, first.size, kind, dst)
    return out
