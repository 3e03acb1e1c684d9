"""Activations: one pass over an array."""

from __future__ import annotations

from pysimd._arrays import FLOAT32, Array, floats, output
from pysimd._library import ffi, lib
from pysimd.errors import raise_last

_NO_SLOPE = ffi.new("float[1]")


def relu(x: Array, *, slope: float = 0.0, out: Array | None = None) -> Array:
    """``max(0, x) + slope * min(0, x)`` of every element; slope 0 is the plain ReLU.

    x, out : float32 of any shape, contiguous. ``out`` may be ``x``.

    A NaN stays one. Formula: SimdSynetRelu32f.
    """
    src = floats(x, "x")
    out, dst = output(out, x.shape, x, FLOAT32, ((src, "x"),), in_place=True)
    lib.SimdSynetRelu32f(src, x.size, _NO_SLOPE if slope == 0 else ffi.new("float[1]", (slope,)), dst)
    if lib.SimdnetLastErrorKind():
        raise_last()
    return out
