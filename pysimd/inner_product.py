"""Inner product: the fully connected layer."""

from __future__ import annotations

from pysimd._arrays import FLOAT32, NULL, Array, floats, output, vector
from pysimd._library import lib
from pysimd.calls import call


def inner_product(x: Array, weight: Array, bias: Array | None = None, *, out: Array | None = None) -> Array:
    """``weight @ x + bias`` for a vector, or for each row of a batch.

    x : (size,) or (batch, size)        weight : (count, size)        bias : (count,) or None
    out : (count,) or (batch, count)

    All are float32 and contiguous. Formula: SimdSynetInnerProductLayerForward, once per row.
    """
    src = floats(x, "x")
    matrix = floats(weight, "weight")
    if weight.ndim != 2:
        raise ValueError(f"weight has shape {weight.shape}, expected (count, size)")
    count, size = weight.shape
    if not 1 <= x.ndim <= 2 or x.shape[-1] != size:
        raise ValueError(f"x has shape {x.shape}, expected ({size},) or (batch, {size}) for weight {weight.shape}")
    terms = NULL if bias is None else vector(bias, "bias", count)
    shape = (*x.shape[:-1], count)
    out, dst = output(out, shape, x, FLOAT32, (x, weight, x if bias is None else bias), ("x", "weight", "bias"))
    for row in range(len(x) if x.ndim == 2 else 1):
        if row:
            src, dst = src + size, dst + count
        call(lib.SimdSynetInnerProductLayerForward, src, matrix, terms, count, size, dst)
    return out
