"""Attention."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from pysimd._arrays import FLOAT32, element_of, plain, pointer
from pysimd._library import ffi, lib
from pysimd.annotations import Array, FloatArray, Floats
from pysimd.calls import call, call_struct
from pysimd.gemm import _ITEM, _matrices, given_result, joined
from pysimd.infrastructure import preference_number


def attention(
    q: Floats,
    k: Floats,
    v: Floats,
    *,
    bias: Floats | None = None,
    scale: float | None = None,
    out: FloatArray | None = None,
    prefer: str | None = None,
) -> FloatArray:
    """``softmax(scale * q @ k.T + bias) @ v``, the softmax along rows; Attention of ONNX.

    q : (..., M, K) float32.
    k : (..., N, K) float32.
    v : (..., N, W) float32. Leading dimensions of these three are broadcast, so that groups of heads can share keys.
    bias : (..., N) float32, the leading dimensions are broadcast to (..., M, N). A mask has -inf, or a large negative
        number, where a row must not see a column; a row that sees nothing becomes NaN.
    scale : by default one divided by the square root of K.
    out : (..., M, W) float32. It must not overlap the other arrays.
    prefer : "bfloat16" for products of bfloat16 numbers where that is faster; None for what
        :func:`pysimd.set_preference` has set.

    The scores of all rows are never in memory at the same time. Arrays may be views, such as heads in one array: the
    elements of rows, or of columns for `k` and `v`, must be adjacent.

    Raises TypeError for another dtype, ValueError for shapes that do not fit.

    >>> q, k, v = np.zeros((1, 1), np.float32), np.ones((2, 1), np.float32), np.array([[1], [5]], np.float32)
    >>> pysimd.attention(q, k, v)
    array([[3.]], dtype=float32)

    Formula: SimdnetAttention.
    """
    given = [_checked(array, name) for array, name in ((q, "q"), (k, "k"), (v, "v"))]
    lead, (rows, depth), (columns, width) = _lead(given), given[0].shape[-2:], given[2].shape[-2:]
    if given[1].shape[-2:] != (columns, depth):
        expected = f"rows of {depth} numbers as q, and {columns} of them as v"
        raise ValueError(f"k has shape {given[1].shape}, expected {expected}")
    added: list[Array] = [] if bias is None else [_bias(bias, (*lead, rows, columns))]
    if out is None:
        out = np.empty((*lead, rows, width), np.float32)
    target = given_result(out, (*lead, rows, width), [*given, *added], ("q", "k", "v", "bias"))
    if target.size == 0:
        return out
    if columns == 0:
        call(np.copyto, target, np.zeros(1, np.float32))
        return out
    factor = float(depth) ** -0.5 if scale is None and depth else float(scale or 0)
    arrays = [*(np.broadcast_to(each, (*lead, *each.shape[-2:])) for each in given), target, *added]
    extents, strides = joined(lead, arrays)
    arrays = [
        np.lib.stride_tricks.as_strided(each, (*extents, *each.shape[-2:]), (*own, *each.strides[-2:]))
        for each, own in zip(arrays, strides)
    ]
    preferred = preference_number(prefer)
    for index in product(*map(range, extents[:-2])):
        _attend([array[index] for array in arrays], factor, preferred)
    return out


def _checked(x: Floats, name: str) -> Array:
    array = plain(x, name)
    element_of(array, name, (FLOAT32,))
    if array.ndim < 2:
        raise ValueError(f"{name} has shape {array.shape}, expected at least two dimensions")
    return array


def _lead(arrays: list[Array]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise ValueError(f"q, k and v have shapes {shapes}, whose leading dimensions cannot be broadcast") from None


def _bias(bias: Floats, shape: tuple[int, ...]) -> Array:
    """The bias of each score, whose rows are dense."""
    array = plain(bias, "bias")
    element_of(array, "bias", (FLOAT32,))
    try:
        made = np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(f"bias has shape {array.shape}, expected one that can be broadcast to {shape}") from None
    *lead, step, inner = made.strides
    apart = step == 0 or step >= shape[-1] * _ITEM or shape[-2] == 1
    if (inner != _ITEM and shape[-1] > 1) or not apart or any(stride < 0 or stride % _ITEM for stride in (*lead, step)):
        expected = "expected adjacent elements in each row: use np.ascontiguousarray, and np.repeat for equal columns"
        raise ValueError(f"bias has shape {array.shape} and strides {array.strides}, {expected}")
    return made


def _attend(arrays: list[Array], scale: float, prefer: int) -> None:
    """One call: queries, keys, values and results, and perhaps a bias, with at most two leading dimensions."""
    q, k, v, dst = (_matrices(array, name, name == "out") for array, name in zip(arrays, ("q", "k", "v", "out")))
    if q.transposed:
        expected = "expected adjacent elements in each row: use np.ascontiguousarray(q)"
        raise ValueError(f"q has strides {arrays[0].strides}, {expected}")
    a = ffi.new("SimdnetAttentionParameters *")
    a.size, a.scale, a.prefer = ffi.sizeof("SimdnetAttentionParameters"), scale, prefer
    (a.M, a.K), (a.N, a.width) = arrays[0].shape[-2:], arrays[2].shape[-2:]
    a.transK, a.transV = k.transposed, v.transposed
    a.queries, a.keys, a.values, a.dst = q.data, k.data, v.data, dst.data
    a.ldq, a.ldk, a.ldv, a.ldd = q.step, k.step, v.step, dst.step
    batch, bias = arrays[0].shape[:-2], arrays[4] if len(arrays) > 4 else None
    held: list[Any] = [q, k, v, dst]
    if bias is not None:
        held.append(pointer(bias[(0,) * len(batch)][:1], "bias", FLOAT32))
        a.bias, a.ldb = held[-1], bias.strides[-2] // _ITEM if a.M > 1 else 0
    for i, extent in enumerate(batch):
        a.batch[i] = extent
        a.strideQ[i], a.strideK[i], a.strideV[i], a.strideD[i] = (each.strides[i] for each in (q, k, v, dst))
        if bias is not None:
            a.strideB[i] = bias.strides[i] // _ITEM
    call_struct(lib.SimdnetAttention, a, held=held)
