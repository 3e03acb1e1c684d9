"""The largest or smallest values along an axis."""

from __future__ import annotations

from math import prod

from pysimd._arrays import INT64, floats, output
from pysimd._geometry import axis_of, number
from pysimd._library import lib
from pysimd.annotations import FloatArray, Floats, IndexArray
from pysimd.calls import call


def top_k(
    x: Floats,
    k: int,
    *,
    axis: int = -1,
    largest: bool = True,
    sorted: bool = True,
    out: tuple[FloatArray, IndexArray] | None = None,
) -> tuple[FloatArray, IndexArray]:
    """The `k` largest values along an axis and their indices: ``torch.topk``, TopK of ONNX.

    x : float32, contiguous, at least one dimension.
    k : at most the size of the axis.
    axis : the last one by default.
    largest : false for the smallest values.
    sorted : the largest (or smallest) first; otherwise in any order.
    out : a float32 and an int64 array, with the shape of `x` except for the axis, whose size is `k`.

    Of equal values, the one with the lower index comes first; NaN counts as larger than any number. Raises TypeError for
    another dtype, ValueError for a `k` that is too large and for an axis that `x` does not have.

    >>> values, indices = pysimd.top_k(np.array([1, 5, 3, 5], np.float32), 3)
    >>> values
    array([5., 5., 3.], dtype=float32)
    >>> indices
    array([1, 3, 2])

    Formula: SimdnetTopK.
    """
    array, src = floats(x, "x")
    shape = array.shape
    axis, k = axis_of(axis, shape), number(k, "k", 0)
    if k > shape[axis]:
        raise ValueError(f"k is {k}, expected at most {shape[axis]}, the size of axis {axis} of x")
    result = (*shape[:axis], k, *shape[axis + 1 :])
    if out is not None and (type(out) is not tuple or len(out) != 2):
        raise TypeError("out is not a tuple of two arrays, values and indices")
    first, second = out or (None, None)
    values, to_values = output(first, result, (x,), ("x",), name="out[0]")
    indices, to_indices = output(
        second, result, (x, values), ("x", "out[0]"), name="out[1]", element=INT64, ctype=INT64.ctype, like=INT64
    )
    sizes = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    call(lib.SimdnetTopK, src, *sizes, k, bool(largest), bool(sorted), to_values, to_indices)
    return out or (values, indices)
