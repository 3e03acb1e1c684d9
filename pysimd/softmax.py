"""Softmax."""

from __future__ import annotations

from math import prod

from pysimd._arrays import floats, output
from pysimd._geometry import axis_of
from pysimd._library import lib
from pysimd.annotations import FloatArray, Floats
from pysimd.calls import call


def softmax(x: Floats, *, axis: int = -1, out: FloatArray | None = None) -> FloatArray:
    """``exp(x - max) / sum(exp(x - max))`` along an axis.

    x, out : float32, contiguous, at least one dimension. ``out`` may be ``x``.
    axis : the last one by default.

    Large inputs do not overflow. Raises TypeError for another dtype, ValueError for an axis that `x` does not have.

    >>> pysimd.softmax(np.array([[0, 0], [1000, -np.inf]], np.float32))
    array([[0.5, 0.5],
           [1. , 0. ]], dtype=float32)

    Formula: SimdSynetSoftmaxLayerForward.
    """
    array, src = floats(x, "x")
    shape = array.shape
    axis = axis_of(axis, shape)
    out, dst = output(out, shape, (x,), ("x",), 1)
    call(lib.SimdSynetSoftmaxLayerForward, src, prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]), dst)
    return out
