"""Multiplication of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysimd._arrays import FLOAT32, element_of, plain, plain_output, pointer
from pysimd._library import lib
from pysimd.annotations import Array, FloatArray, Floats
from pysimd.calls import call

_ITEM = FLOAT32.dtype.itemsize


def _matrix(array: Array, name: str, writable: bool = False) -> tuple[Array, Any, int]:
    """A matrix, plain, with a C array over its first row, and the distance between rows in elements."""
    array = plain_output(array, name) if writable else plain(array, name)
    element_of(array, name, (FLOAT32,))
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}, expected two dimensions")
    rows, columns = array.shape
    step, inner = array.strides
    if array.size and ((columns > 1 and inner != _ITEM) or (rows > 1 and (step < columns * _ITEM or step % _ITEM))):
        raise ValueError(
            f"{name} has strides {array.strides}, expected adjacent elements in each row: use np.ascontiguousarray({name})"
        )
    return array, pointer(array[:1], name, FLOAT32, writable), step // _ITEM if rows > 1 and columns else columns


def _transposed(a: Floats) -> tuple[Array, Any, int]:
    """A copy of the transposed matrix, which the library has no function for; a prepared call copies each time."""
    source, _, _ = _matrix(a, "a")  # type: ignore[arg-type]
    copy = np.empty(source.shape[::-1], np.float32)
    call(np.copyto, copy, source.T)
    return _matrix(copy, "a")


def gemm(
    a: Floats,
    b: Floats,
    *,
    c: Floats | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """``alpha * (a @ b) + beta * c``, as Gemm of ONNX and BLAS.

    a : (M, K) float32; (K, M) with `transpose_a`, which copies it.
    b : (K, N) float32; (N, K) with `transpose_b`.
    c : float32 that can be broadcast to (M, N); may be `out`.
    beta : 1 by default if there is a `c`. Without `c`, 0 by default, and another number multiplies the old content of `out`.
    out : (M, N) float32. It must not overlap `a` or `b`.

    The elements of a row must be adjacent; rows may be any distance apart, so parts of larger matrices are accepted. As in
    BLAS, `out` is overwritten if beta is 0, and `a` and `b` are not read if alpha is 0.

    Raises TypeError for another dtype, ValueError for shapes that do not fit.

    >>> a, b = np.array([[1, 2]], np.float32), np.array([[3, 4], [5, 6]], np.float32)
    >>> pysimd.gemm(a, b)
    array([[13., 16.]], dtype=float32)
    >>> pysimd.gemm(a, b, transpose_b=True, c=np.array([100, 200], np.float32))
    array([[111., 217.]], dtype=float32)

    Formula: SimdGemm32fNN, SimdGemm32fNT.
    """
    left, a_data, lda = _transposed(a) if transpose_a else _matrix(a, "a")  # type: ignore[arg-type]
    right, b_data, ldb = _matrix(b, "b")  # type: ignore[arg-type]
    (m, k), (depth, n) = left.shape, right.shape[::-1] if transpose_b else right.shape
    if k != depth:
        raise ValueError(
            f"b has shape {right.shape}, expected {(n, k) if transpose_b else (k, n)} for a of shape {plain(a, 'a').shape}"
        )
    factor = float(c is not None) if beta is None else beta
    if out is None:
        if factor != 0 and c is None:
            raise ValueError(f"beta is {beta}, but there is no c or out to multiply: use c=")
        out = np.empty((m, n), np.float32)
    target, out_data, ldc = _matrix(out, "out", True)
    if target.shape != (m, n):
        raise ValueError(f"out has shape {target.shape}, expected {(m, n)}: use np.empty({(m, n)}, np.float32)")
    for source, name in ((plain(a, "a") if transpose_a else left, "a"), (right, "b")):
        if np.may_share_memory(target, source) and np.shares_memory(target, source):
            raise ValueError(f"out overlaps {name}, expected memory of its own: use another array")
    if c is not None and c is not out:
        call(np.copyto, target, _addend(c, target))
    multiply = lib.SimdGemm32fNT if transpose_b else lib.SimdGemm32fNN
    call(multiply, m, n, k, (alpha,), a_data, lda, b_data, ldb, (factor,), out_data, ldc)
    return out


def _addend(c: Floats, out: Array) -> Array:
    """`c`, plain, which can be broadcast to the shape of `out`."""
    array = plain(c, "c")
    element_of(array, "c", (FLOAT32,))
    try:
        return np.broadcast_to(array, out.shape)
    except ValueError:
        raise ValueError(f"c has shape {array.shape}, expected one that can be broadcast to {out.shape}") from None
