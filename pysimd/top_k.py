"""The largest or smallest values along an axis."""

from __future__ import annotations

from math import prod

from pysimd._arrays import FLOAT32, INT64, UINT8, element_of, output, plain, pointer
from pysimd._geometry import axis_of, number
from pysimd._library import lib
from pysimd.annotations import Array, ForeignArray, IndexArray
from pysimd.calls import call
from pysimd.cast import CASTS


def top_k(
    x: Array | ForeignArray,
    k: int,
    *,
    axis: int = -1,
    largest: bool = True,
    sorted: bool = True,
    out: tuple[Array, IndexArray] | None = None,
) -> tuple[Array, IndexArray]:
    """The `k` largest values along an axis and their indices: ``torch.topk``, TopK of ONNX.

    x : float32, int8, uint8, int32, int64, uint64 or bool, contiguous, at least one dimension.
    k : at most the size of the axis.
    axis : the last one by default.
    largest : false for the smallest values.
    sorted : the largest (or smallest) first; otherwise in any order.
    out : an array of the type of `x` and an int64 array, with the shape of `x` except for the axis, whose size is `k`.

    Of equal values, the one with the lower index comes first; NaN counts as larger than any number. Raises TypeError for
    another dtype, ValueError for a `k` that is too large and for an axis that `x` does not have.

    >>> values, indices = pysimd.top_k(np.array([1, 5, 3, 5], np.float32), 3)
    >>> values
    array([5., 5., 3.], dtype=float32)
    >>> indices
    array([1, 3, 2])

    Formulas: SimdnetTopK, SimdnetTopKIntegers.
    """
    array = plain(x, "x")
    element = element_of(array, "x", CASTS)
    ctype = element.ctype if element is FLOAT32 else UINT8.ctype
    src, shape = pointer(array, "x", element, ctype=ctype), array.shape
    axis, k = axis_of(axis, shape), number(k, "k", 0)
    if k > shape[axis]:
        raise ValueError(f"k is {k}, expected at most {shape[axis]}, the size of axis {axis} of x")
    result = (*shape[:axis], k, *shape[axis + 1 :])
    if out is not None and (type(out) is not tuple or len(out) != 2):
        raise TypeError("out is not a tuple of two arrays, values and indices")
    first, second = out or (None, None)
    values, to_values = output(first, result, (x,), ("x",), name="out[0]", element=element, ctype=ctype, like=element)
    indices, to_indices = output(
        second, result, (x, values), ("x", "out[0]"), name="out[1]", element=INT64, ctype=INT64.ctype, like=INT64
    )
    given = (src, prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]), k, bool(largest), bool(sorted))
    if element is FLOAT32:
        call(lib.SimdnetTopK, *given, to_values, to_indices)
    else:
        call(lib.SimdnetTopKIntegers, element.tensor, *given, to_values, to_indices)
    return out or (values, indices)
