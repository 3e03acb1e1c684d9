"""Inner product: the fully connected layer."""

from __future__ import annotations

from functools import lru_cache

from pysimd._arrays import Array, Shape, floats, output, tensor_or_null
from pysimd._library import lib
from pysimd.calls import call


@lru_cache(maxsize=1024)
def _plan(x: Shape, weight: Shape) -> tuple[Shape, range, int, int]:
    """(shape of the output, rows, count, size) for these two shapes."""
    if len(weight) != 2:
        raise ValueError(f"weight has shape {weight}, expected (count, size)")
    count, size = weight
    if not 1 <= len(x) <= 2 or x[-1] != size:
        raise ValueError(f"x has shape {x}, expected ({size},) or (batch, {size}) for weight {weight}")
    return (*x[:-1], count), range(x[0] if len(x) == 2 else 1), count, size


def inner_product(x: Array, weight: Array, bias: Array | None = None, *, out: Array | None = None) -> Array:
    """``weight @ x + bias`` for a vector, or for each row of a batch.

    x : (size,) or (batch, size)        weight : (count, size)        bias : (count,) or None
    out : (count,) or (batch, count)

    All are float32 and contiguous. Formula: SimdSynetInnerProductLayerForward, once per row.
    """
    x, src = floats(x, "x")
    weight, matrix = floats(weight, "weight")
    shape, rows, count, size = _plan(x.shape, weight.shape)
    terms = tensor_or_null(bias, "bias", (count,))
    out, dst = output(out, shape, (x, weight, x if bias is None else bias), ("x", "weight", "bias"))
    for row in rows:
        if row:
            src, dst = src + size, dst + count
        call(lib.SimdSynetInnerProductLayerForward, src, matrix, terms, count, size, dst)
    return out
