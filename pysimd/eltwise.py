"""Products, weighted sums, maxima and minima of several arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pysimd._arrays import FLOAT32, Array, floats, output, vector
from pysimd._library import ffi, lib
from pysimd.enums import EltwiseOperation
from pysimd.errors import raise_last

_OPERATIONS: dict[Any, EltwiseOperation] = {
    **{operation.name.lower(): operation for operation in EltwiseOperation},
    **{operation: operation for operation in EltwiseOperation},
}


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
        names = " or ".join(repr(name) for name in _OPERATIONS if type(name) is str)
        raise ValueError(f"operation is {operation!r}, expected {names}") from None
    count, shape = len(arrays), arrays[0].shape
    sources = [(floats(array, f"arrays[{i}]"), f"arrays[{i}]") for i, array in enumerate(arrays)]
    for array, (_, name) in zip(arrays, sources):
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}, expected that of arrays[0], {shape}")
    if kind != EltwiseOperation.SUM and weights is not None:
        raise ValueError(f"weights is given, but only of use for a sum, and operation is {operation!r}")
    factors: Any = ffi.NULL
    if kind == EltwiseOperation.SUM:
        factors = vector(np.ones(count, np.float32) if weights is None else np.asarray(weights, np.float32), "weights", count)
    out, dst = output(out, shape, arrays[0], FLOAT32, tuple(sources), in_place=True)
    pointers = ffi.new("float *[]", [source for source, _ in sources])
    lib.SimdSynetEltwiseLayerForward(pointers, factors, count, arrays[0].size, kind, dst)
    if lib.SimdnetLastErrorKind():
        raise_last()
    return out
