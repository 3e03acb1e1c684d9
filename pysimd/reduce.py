"""Reductions of dimensions: sums, means, maxima and others, and the indices of maxima and minima."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Union

import numpy as np

from pysimd._arrays import FLOAT32, INT64, UINT8, Element, element_of, floats, output, plain, pointer
from pysimd._geometry import integer
from pysimd._library import ffi, lib
from pysimd.annotations import Array, ForeignArray, NDArray
from pysimd.calls import call_struct
from pysimd.cast import CASTS
from pysimd.errors import shown

OPERATIONS = {
    "sum": lib.SimdnetReduceSum,
    "mean": lib.SimdnetReduceMean,
    "max": lib.SimdnetReduceMax,
    "min": lib.SimdnetReduceMin,
    "l2": lib.SimdnetReduceL2,
    "l1": lib.SimdnetReduceL1,
    "sum_square": lib.SimdnetReduceSumSquare,
    "prod": lib.SimdnetReduceProduct,
    "logsumexp": lib.SimdnetReduceLogSumExp,
}
_MOST = int(lib.SIMDNET_MAX_DIMENSIONS)

ReduceOperation = Literal["sum", "mean", "max", "min", "l2", "l1", "sum_square", "prod", "logsumexp"]
Axis = Union[int, Sequence[int], None]


def _axes_of(axis: Axis, rank: int) -> set[int]:
    """The dimensions that are reduced, all of them for None."""
    if axis is None:
        return set(range(rank))
    given = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    found = [integer(each, "axis") for each in given]
    for each in found:
        if not -rank <= each < rank:
            raise ValueError(f"axis is {shown(axis)}, expected dimensions of the {rank} that x has")
    axes = {each % rank for each in found}
    if len(axes) < len(found):
        raise ValueError(f"axis is {shown(axis)}, expected each dimension at most once")
    return axes


def _source(x: Any) -> tuple[Array, Any, Element]:
    """A plain array, its C array, and the type of its elements."""
    if type(x) is np.ndarray and x.dtype.kind in "iub":
        array = plain(x, "x")
        element = element_of(array, "x", CASTS)
        return array, pointer(array, "x", element, ctype=UINT8.ctype), element
    array, src = floats(x, "x")
    return array, src, FLOAT32


def _reduce(
    x: Any, operation: int, axis: Axis, keepdims: bool, out: Array | None, element: Element, last: bool = False
) -> Array:
    array, src, own = _source(x)
    if operation == lib.SimdnetReduceLogSumExp:
        element_of(array, "x", (FLOAT32,))
    element = own if element is FLOAT32 else element
    axes = _axes_of(axis, array.ndim)
    kept = [(1 if i in axes else extent) for i, extent in enumerate(array.shape) if keepdims or i not in axes]
    if element is INT64 and any(array.shape[i] == 0 for i in axes) and 0 not in kept:
        raise ValueError(f"x has shape {array.shape}, expected at least one element in the reduced dimension")
    shape, reduced = array.shape, [int(i in axes) for i in range(array.ndim)]
    if axis is None:
        shape, reduced = (array.size,), [1]
    if len(shape) > _MOST:
        raise ValueError(f"x has {len(shape)} dimensions, expected at most {_MOST}")
    out, dst = output(out, tuple(kept), (x,), ("x",), element=element, ctype=element.ctype, like=element)
    arguments = ffi.new(
        "SimdnetReduceParameters *",
        {
            "size": ffi.sizeof("SimdnetReduceParameters"),
            "operation": operation,
            "count": len(shape),
            "shape": shape,
            "reduced": reduced,
            "last": int(last),
            "src": ffi.cast("float *", src),
            "dst": dst,
            "dataType": own.tensor,
        },
    )
    call_struct(lib.SimdnetReduce, arguments, held={"src": src, "dst": dst})
    return out


def reduce(
    x: Array | ForeignArray,
    operation: ReduceOperation,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """A reduction of an array over some of its dimensions.

    x : float32, int32, int8, uint8, int64, uint64 or bool, contiguous, with at most 8 dimensions.
    operation : "sum", "mean", "max", "min", "prod", "logsumexp"; "l1", the sum of absolute values; "l2", the square root of
        the sum of squares; "sum_square".
    axis : a dimension, several, or None for all.
    keepdims : whether reduced dimensions stay, with one index.
    out : of the dtype of `x` and the shape of the result.

    The result is always an array, of shape () if all dimensions are reduced. Of no elements, sums are 0, products 1, means
    NaN, maxima and "logsumexp" -inf, minima inf. Results of integers keep the low bits; "mean" and "l2" are rounded towards
    zero, "logsumexp" is of floats alone, and of no elements the mean is 0, the maximum the least number.
    Raises TypeError for another dtype, ValueError for other axes.

    >>> pysimd.reduce(np.array([[3, 4], [6, 8]], np.float32), "l2", axis=1)
    array([ 5., 10.], dtype=float32)

    Formula: SimdnetReduce.
    """
    if operation not in OPERATIONS:
        raise ValueError(f"operation is {shown(operation)}, expected {' or '.join(map(repr, OPERATIONS))}")
    return _reduce(x, OPERATIONS[operation], axis, keepdims, out, FLOAT32)


def sum(x: Array | ForeignArray, axis: Axis = None, *, keepdims: bool = False, out: Array | None = None) -> Array:
    """The sum over some dimensions, as ``np.sum()``.

    x, axis, keepdims, out : as in :func:`reduce`.

    >>> pysimd.sum(np.array([[1, 2], [3, 4]], np.float32), axis=0)
    array([4., 6.], dtype=float32)

    Formula: SimdnetReduce.
    """
    return _reduce(x, lib.SimdnetReduceSum, axis, keepdims, out, FLOAT32)


def mean(x: Array | ForeignArray, axis: Axis = None, *, keepdims: bool = False, out: Array | None = None) -> Array:
    """The mean over some dimensions, as ``np.mean()``.

    x, axis, keepdims, out : as in :func:`reduce`.

    >>> pysimd.mean(np.array([[1, 2], [3, 4]], np.float32), axis=1, keepdims=True)
    array([[1.5],
           [3.5]], dtype=float32)

    Formula: SimdnetReduce.
    """
    return _reduce(x, lib.SimdnetReduceMean, axis, keepdims, out, FLOAT32)


def amax(x: Array | ForeignArray, axis: Axis = None, *, keepdims: bool = False, out: Array | None = None) -> Array:
    """The maximum over some dimensions, NaN if there is one, as ``np.amax()``.

    x, axis, keepdims, out : as in :func:`reduce`.

    >>> pysimd.amax(np.array([[1, 2], [np.nan, 4]], np.float32), axis=1)
    array([ 2., nan], dtype=float32)

    Formula: SimdnetReduce.
    """
    return _reduce(x, lib.SimdnetReduceMax, axis, keepdims, out, FLOAT32)


def amin(x: Array | ForeignArray, axis: Axis = None, *, keepdims: bool = False, out: Array | None = None) -> Array:
    """The minimum over some dimensions, NaN if there is one, as ``np.amin()``.

    x, axis, keepdims, out : as in :func:`reduce`.

    >>> pysimd.amin(np.array([[1, 2], [3, 4]], np.float32))
    array(1., dtype=float32)

    Formula: SimdnetReduce.
    """
    return _reduce(x, lib.SimdnetReduceMin, axis, keepdims, out, FLOAT32)


def prod(x: Array | ForeignArray, axis: Axis = None, *, keepdims: bool = False, out: Array | None = None) -> Array:
    """The product over some dimensions, as ``np.prod()``.

    x, axis, keepdims, out : as in :func:`reduce`.

    >>> pysimd.prod(np.array([[1, 2], [3, 4]], np.float32), axis=1)
    array([ 2., 12.], dtype=float32)

    Formula: SimdnetReduce.
    """
    return _reduce(x, lib.SimdnetReduceProduct, axis, keepdims, out, FLOAT32)


def logsumexp(x: Array | ForeignArray, axis: Axis = None, *, keepdims: bool = False, out: Array | None = None) -> Array:
    """``log(sum(exp(x)))`` over some dimensions, without overflow.

    x, axis, keepdims, out : as in :func:`reduce`.

    >>> pysimd.logsumexp(np.array([[0, 0], [1000, -np.inf]], np.float32), axis=1)
    array([6.931472e-01, 1.000000e+03], dtype=float32)

    Formula: SimdnetReduce.
    """
    return _reduce(x, lib.SimdnetReduceLogSumExp, axis, keepdims, out, FLOAT32)


def _one(axis: int | None) -> int | None:
    """A single dimension, or None."""
    return None if axis is None else integer(axis, "axis")


def argmax(
    x: Array | ForeignArray,
    axis: int | None = None,
    *,
    keepdims: bool = False,
    last: bool = False,
    out: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """The index of the maximum along a dimension, as ``np.argmax()``.

    x : float32, contiguous, with at most 8 dimensions.
    axis : the dimension; None for the index in all elements.
    keepdims : whether the reduced dimension stays, with one index.
    last : the last one of equal elements instead of the first.
    out : int64 of the shape of the result.

    NaN is larger than everything else. Raises TypeError for another dtype, ValueError for another axis or no elements.

    >>> pysimd.argmax(np.array([[1, 5, 5], [7, 2, 3]], np.float32), axis=1)
    array([1, 0])

    Formula: SimdnetReduce.
    """
    return _reduce(x, lib.SimdnetReduceArgMax, _one(axis), keepdims, out, INT64, last)


def argmin(
    x: Array | ForeignArray,
    axis: int | None = None,
    *,
    keepdims: bool = False,
    last: bool = False,
    out: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """The index of the minimum along a dimension, as ``np.argmin()``.

    x, axis, keepdims, last, out : as in :func:`argmax`.

    NaN is smaller than everything else.

    >>> pysimd.argmin(np.array([[1, 5, 5], [7, 2, 3]], np.float32), axis=1)
    array([0, 1])

    Formula: SimdnetReduce.
    """
    return _reduce(x, lib.SimdnetReduceArgMin, _one(axis), keepdims, out, INT64, last)
