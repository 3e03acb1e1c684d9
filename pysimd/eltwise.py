"""Products, weighted sums, maxima and minima of several arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, Union

import numpy as np

from pysimd._arrays import NULL, alike, apart, numbers, output, several, tensor
from pysimd._library import lib
from pysimd._pixels import has_gaps, pixelwise
from pysimd.annotations import FloatArray, Floats
from pysimd.calls import call
from pysimd.enums import EltwiseOperation
from pysimd.errors import shown

_OPERATIONS: dict[Any, int] = {key: int(op) for op in EltwiseOperation for key in (op, op.name.lower())}
Operation = Union[Literal["sum", "product", "max", "min"], EltwiseOperation]
_SUM = int(EltwiseOperation.SUM)
_PIXELWISE = {
    _SUM: lib.SimdnetPixelwiseSum,
    int(EltwiseOperation.PRODUCT): lib.SimdnetPixelwiseProduct,
    int(EltwiseOperation.MAX): lib.SimdnetPixelwiseMax,
    int(EltwiseOperation.MIN): lib.SimdnetPixelwiseMin,
}


@lru_cache
def _ones(count: int) -> Any:
    """The weights of a plain sum, as a C array."""
    return tensor(np.ones(count, np.float32), "weights", (count,))


def eltwise(
    arrays: Sequence[Floats],
    operation: Operation = "sum",
    *,
    weights: Floats | Sequence[float] | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """The sum, product, maximum or minimum of arrays, element by element.

    arrays : at least one, float32, contiguous, of one shape: nothing is broadcast. ``out`` may be any one of them.
    operation : "sum", "product", "max" or "min".
    weights : for "sum", a factor for each array; 1 by default.

    Two arrays and `out` may also be channel slices of larger arrays, ``big[..., 3:19]``.

    As in C, "max" and "min" of a single array limit an infinity to the largest float, and the result is certain to be NaN
    only where the last array has one. Raises TypeError for another dtype, ValueError for shapes that differ.

    >>> a, b = np.array([1, 2], np.float32), np.array([10, 20], np.float32)
    >>> pysimd.eltwise([a, b, b])
    array([21., 42.], dtype=float32)
    >>> pysimd.eltwise([a, b], weights=[1, 0.5])
    array([ 6., 12.], dtype=float32)

    Formula: SimdSynetEltwiseLayerForward.
    """
    arrays = several(arrays, "arrays")
    if not arrays:
        raise ValueError("arrays is empty, expected at least one")
    try:
        kind = _OPERATIONS[operation]
    except (KeyError, TypeError):
        known = " or ".join(repr(name) for name in _OPERATIONS if type(name) is str)
        raise ValueError(f"operation is {shown(operation)}, expected {known}") from None
    count = len(arrays)
    factors = NULL
    if kind == _SUM:
        factors = _ones(count) if weights is None else tensor(numbers(weights, "weights"), "weights", (count,))
    elif weights is not None:
        raise ValueError(f"weights is given for operation {operation!r}, expected None: only 'sum' has weights")
    try:
        first, sources = alike(arrays, "arrays")
        out, dst = output(out, first.shape, arrays, "arrays", count)
    except ValueError:
        if count != 2 or not has_gaps(*arrays, out):
            raise
        params = ((factors[0],), (factors[1],)) if kind == _SUM else ()
        return pixelwise(_PIXELWISE[kind], arrays, ("arrays[0]", "arrays[1]"), out, params)
    if weights is not None:
        apart(dst, "out", factors, "weights")
    call(lib.SimdSynetEltwiseLayerForward, sources, factors, count, first.size, kind, dst)
    return out
