"""Softmax."""

from __future__ import annotations

from math import prod
from operator import index

from pysimd._arrays import Array, floats, output
from pysimd._library import lib
from pysimd.calls import call


def softmax(x: Array, *, axis: int = -1, out: Array | None = None) -> Array:
    """``exp(x - max) / sum(exp(x - max))`` along an axis.

    x, out : float32, contiguous, at least one dimension. ``out`` may be ``x``.

    Large inputs do not overflow. Formula: SimdSynetSoftmaxLayerForward.
    """
    x, src = floats(x, "x")
    rank = x.ndim
    axis = index(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"axis is {axis}, expected one of the {rank} dimensions of x")
    axis %= rank
    shape = x.shape
    out, dst = output(out, shape, (x,), ("x",), 1)
    call(lib.SimdSynetSoftmaxLayerForward, src, prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]), dst)
    return out
