"""Softmax."""

from __future__ import annotations

from math import prod

from pysimd._arrays import BFLOAT16, bfloat16s, floats, output
from pysimd._geometry import axis_of
from pysimd._library import lib
from pysimd.annotations import Array, FloatArray, Floats, Tensor
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


def softmax_16b(x: Tensor, *, axis: int = -1, out: Array | None = None) -> Array:
    """:func:`softmax` of bfloat16 numbers: computed in float, and each result is rounded to nearest even.

    x, out : bfloat16 (uint16 or ml_dtypes.bfloat16), contiguous, at least one dimension. ``out`` may be ``x``.
    axis : the last one by default.

    The sum of the results may differ from 1. Raises TypeError for another dtype, ValueError for an axis that `x` does not
    have.

    >>> x = pysimd.to_bfloat16(np.array([[0, 0], [1000, -np.inf]], np.float32))
    >>> pysimd.from_bfloat16(pysimd.softmax_16b(x))
    array([[0.5, 0.5],
           [1. , 0. ]], dtype=float32)

    Formula: SimdSynetSoftmax16b.
    """
    array, src = bfloat16s(x, "x")
    shape = array.shape
    axis = axis_of(axis, shape)
    out, dst = output(out, shape, (x,), ("x",), 1, element=BFLOAT16, ctype=BFLOAT16.ctype, like=x)
    call(lib.SimdSynetSoftmax16b, src, prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]), dst)
    return out
