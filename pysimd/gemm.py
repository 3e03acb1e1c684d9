"""Multiplication of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysimd._arrays import FLOAT32, Array, element_of, plain, pointer
from pysimd._library import lib
from pysimd.calls import call

_ITEM = FLOAT32.dtype.itemsize


def _matrix(array: Array, name: str, writable: bool = False) -> tuple[Array, Any, int]:
    """A matrix, plain, with a C array over its first row, and the distance of rows in elements."""
    array = plain(array, name)
    element_of(array, name, (FLOAT32,))
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}, expected two dimensions")
    rows, columns = array.shape
    step, inner = array.strides
    if array.size and ((columns > 1 and inner != _ITEM) or (rows > 1 and (step < columns * _ITEM or step % _ITEM))):
        raise ValueError(f"{name} has strides {array.strides}, expected rows of neighbouring elements, one behind the other")
    return array, pointer(array[:1], name, FLOAT32, writable), step // _ITEM if rows > 1 and columns else columns


def gemm(
    a: Array,
    b: Array,
    *,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 0.0,
    out: Array | None = None,
) -> Array:
    """``alpha * (a @ b) + beta * out``, or with `transpose_b` ``alpha * (a @ b.T) + beta * out``.

    a : (M, K) float32. b : (K, N), or (N, K) with `transpose_b`. out : (M, N), its old content is used when `beta` is not 0.
    The elements of a row must be neighbours; rows may be any distance apart, so that parts of larger matrices can be given.

    `out` must not overlap `a` or `b`. As in BLAS, beta 0 overwrites and alpha 0 leaves `a` and `b` unread.
    Formula: SimdGemm32fNN, SimdGemm32fNT.
    """
    a, a_data, lda = _matrix(a, "a")
    b, b_data, ldb = _matrix(b, "b")
    (m, k), (depth, n) = a.shape, b.shape[::-1] if transpose_b else b.shape
    if k != depth:
        raise ValueError(f"b has shape {b.shape}, expected {(n, k) if transpose_b else (k, n)} for a of shape {a.shape}")
    if out is None:
        if beta != 0:
            raise ValueError(f"beta is {beta}, but there is no out that it could multiply")
        out = np.empty((m, n), np.float32)
    target, out_data, ldc = _matrix(out, "out", True)
    if target.shape != (m, n):
        raise ValueError(f"out has shape {target.shape}, expected {(m, n)}")
    for source, name in ((a, "a"), (b, "b")):
        if np.may_share_memory(target, source) and np.shares_memory(target, source):
            raise ValueError(f"out overlaps {name}, expected memory of its own")
    multiply = lib.SimdGemm32fNT if transpose_b else lib.SimdGemm32fNN
    call(multiply, m, n, k, (alpha,), a_data, lda, b_data, ldb, (beta,), out_data, ldc)
    return out
