"""Inner product: the fully connected layer."""

from __future__ import annotations

from functools import lru_cache

from pysimd._arrays import coefficients_or_null, floats, output
from pysimd._library import lib
from pysimd.annotations import Coefficients, FloatArray, Floats, Shape
from pysimd.calls import call


@lru_cache(maxsize=1024)
def _plan(x: Shape, weight: Shape) -> tuple[Shape, range, int, int]:
    """(shape of the output, rows, count, size) for these two shapes."""
    if len(weight) != 2:
        raise ValueError(f"weight has shape {weight}, expected (count, size)")
    count, size = weight
    if not 1 <= len(x) <= 2 or x[-1] != size:
        raise ValueError(f"x has shape {x}, expected ({size},) or (batch, {size}) for weight {weight}, (count, size)")
    return (*x[:-1], count), range(x[0] if len(x) == 2 else 1), count, size


def inner_product(
    x: Floats, weight: Floats, bias: Coefficients | None = None, *, out: FloatArray | None = None
) -> FloatArray:
    """``weight @ x + bias`` for a vector, or for each row of a batch.

    x : float32, contiguous: (size,) or (batch, size).
    weight : float32, contiguous: (count, size), as of Linear of PyTorch.
    bias : float32 (count,), or one number; None for zeros.
    out : float32 (count,) or (batch, count).

    Raises TypeError for another dtype, ValueError for shapes that do not fit.

    >>> weight = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    >>> pysimd.inner_product(np.array([10, 1], np.float32), weight)
    array([12., 34., 56.], dtype=float32)

    Formula: SimdSynetInnerProductLayerForward, once per row.
    """
    array, src = floats(x, "x")
    weights, matrix = floats(weight, "weight")
    shape, rows, count, size = _plan(array.shape, weights.shape)
    terms = coefficients_or_null(bias, "bias", count)
    out, dst = output(out, shape, (x, weight, x if bias is None else bias), ("x", "weight", "bias"))
    for row in rows:
        if row:
            src, dst = src + size, dst + count
        call(lib.SimdSynetInnerProductLayerForward, src, matrix, terms, count, size, dst)
    return out
