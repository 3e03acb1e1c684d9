"""Multiplication of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pysimd._arrays import FLOAT32, element_of, plain, plain_output, pointer
from pysimd._library import ffi, lib
from pysimd.annotations import Array, FloatArray, Floats, Shape
from pysimd.calls import call, call_struct

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

    a : (M, K) float32; (K, M) with `transpose_a`.
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

    Formula: SimdGemm32fNN, SimdGemm32fNT; SimdnetGemm with `transpose_a`.
    """
    left, a_data, lda = _matrix(a, "a")  # type: ignore[arg-type]
    right, b_data, ldb = _matrix(b, "b")  # type: ignore[arg-type]
    (m, k) = left.shape[::-1] if transpose_a else left.shape
    (depth, n) = right.shape[::-1] if transpose_b else right.shape
    if k != depth:
        raise ValueError(
            f"b has shape {right.shape}, expected {(n, k) if transpose_b else (k, n)} for a of shape {left.shape}"
        )
    factor = float(c is not None) if beta is None else beta
    if out is None:
        if factor != 0 and c is None:
            raise ValueError(f"beta is {beta}, but there is no c or out to multiply: use c=")
        out = np.empty((m, n), np.float32)
    target, out_data, ldc = _matrix(out, "out", True)
    if target.shape != (m, n):
        raise ValueError(f"out has shape {target.shape}, expected {(m, n)}: use np.empty({(m, n)}, np.float32)")
    for source, name in ((left, "a"), (right, "b")):
        if np.may_share_memory(target, source) and np.shares_memory(target, source):
            raise ValueError(f"out overlaps {name}, expected memory of its own: use another array")
    if c is not None and c is not out:
        call(np.copyto, target, _addend(c, target))
    if transpose_a:
        matrices = _Matrices(a_data, True, lda), _Matrices(b_data, transpose_b, ldb), _Matrices(out_data, False, ldc)
        _multiply((m, n, k), matrices, alpha, factor)
    else:
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


# ---- batches


class _Matrices(NamedTuple):
    """Matrices at strides: a C array over the first row of the first one, and distances in elements."""

    data: Any
    transposed: bool
    step: int  # from a row to the next
    strides: tuple[int, ...] = ()  # of the dimensions of the batch


def _multiply(
    sizes: tuple[int, int, int],
    matrices: tuple[_Matrices, _Matrices, _Matrices],
    alpha: float,
    beta: float,
    batch: Sequence[int] = (),
) -> None:
    """Calls SimdnetGemm: M, N and K, the matrices A, B and C, and at most two dimensions of a batch."""
    a, b, c = matrices
    arguments = ffi.new("SimdnetGemmParameters *")
    arguments.size = ffi.sizeof("SimdnetGemmParameters")
    arguments.M, arguments.N, arguments.K = sizes
    arguments.transA, arguments.transB = a.transposed, b.transposed
    arguments.alpha, arguments.beta = alpha, beta
    arguments.A, arguments.B, arguments.C = a.data, b.data, c.data
    arguments.lda, arguments.ldb, arguments.ldc = a.step, b.step, c.step
    for i, extent in enumerate(batch):
        arguments.batch[i] = extent
        arguments.strideA[i], arguments.strideB[i], arguments.strideC[i] = a.strides[i], b.strides[i], c.strides[i]
    call_struct(lib.SimdnetGemm, arguments, held=matrices)


def _is_rows(matrix: Array) -> bool:
    """Whether the elements of each row are adjacent, and rows a positive distance apart."""
    (rows, columns), (step, inner) = matrix.shape[-2:], matrix.strides[-2:]
    adjacent, apart = columns <= 1 or inner == _ITEM, rows <= 1 or (step >= columns * _ITEM and step % _ITEM == 0)
    return bool(adjacent and apart)


def _matrices(array: Array, name: str, writable: bool = False) -> _Matrices:
    """The matrices in the last two dimensions of an array that is not empty."""
    transposed = not writable and not _is_rows(array)
    rows = array.swapaxes(-1, -2) if transposed else array
    lead = array.strides[:-2]
    if not _is_rows(rows) or any(stride < 0 or stride % _ITEM for stride in lead):
        where = "row" if writable else "row or column"
        raise ValueError(
            f"{name} has strides {array.strides}, expected adjacent elements in each {where}: "
            f"use np.ascontiguousarray({name})"
        )
    count, columns = rows.shape[-2:]
    first = rows[(0,) * (rows.ndim - 2)][:1]
    step = rows.strides[-2] // _ITEM if count > 1 else columns
    return _Matrices(pointer(first, name, FLOAT32, writable), transposed, step, tuple(stride // _ITEM for stride in lead))


def joined(lead: Sequence[int], arrays: Sequence[Any]) -> tuple[list[int], list[list[int]]]:
    """The leading dimensions without those of extent 1, as few as their strides permit: extents, strides of each array.

    arrays : of NumPy, or whatever has strides.
    """
    extents: list[int] = []
    strides: list[list[int]] = [[] for _ in arrays]
    for axis, extent in enumerate(lead):
        inner = [array.strides[axis] for array in arrays]
        if extent == 1:
            continue
        if extents and all(outer[-1] == extent * stride for outer, stride in zip(strides, inner)):
            extents[-1] = extents[-1] * extent
            for outer, stride in zip(strides, inner):
                outer[-1] = stride
        else:
            extents.append(extent)
            for outer, stride in zip(strides, inner):
                outer.append(stride)
    return extents, strides


def _products(arrays: tuple[Array, ...], names: tuple[str, ...]) -> None:
    """Multiplies matrices with the same leading dimensions: A, B and the result. Dimensions beyond two are loops."""
    lead = arrays[-1].shape[:-2]
    extents, strides = joined(lead, arrays)
    if (*extents,) != lead:
        arrays = tuple(
            np.lib.stride_tricks.as_strided(array, (*extents, *array.shape[-2:]), (*own, *array.strides[-2:]))
            for array, own in zip(arrays, strides)
        )
    outer = max(len(extents) - 2, 0)
    sizes = (*arrays[2].shape[-2:], arrays[0].shape[-1])
    for index in np.ndindex(*extents[:outer]) if outer else ((),):
        a, b, c = (_matrices(array[index], name, name == "out") for array, name in zip(arrays, names))
        _multiply(sizes, (a, b, c), 1, 0, extents[outer:])


def _operand(array: Floats, name: str) -> Array:
    operand = plain(array, name)
    element_of(operand, name, (FLOAT32,))
    if operand.ndim == 0:
        raise ValueError(f"{name} has shape (), expected at least one dimension")
    return operand


def matmul(a: Floats, b: Floats, *, out: FloatArray | None = None) -> FloatArray:
    """``a @ b`` for stacks of matrices, as :func:`numpy.matmul`: of attention, or MatMul of ONNX.

    a : (..., M, K) float32, or (K,).
    b : (..., K, N) float32, or (K,).
    out : (..., M, N) float32, without M or N where an operand is a vector. It must not overlap `a` or `b`.

    Leading dimensions are broadcast. The elements of each row, or of each column, must be adjacent; everything else may be
    any distance apart. So heads inside one array, and transposed matrices, ``k.swapaxes(-1, -2)``, are read in place.

    Raises TypeError for another dtype, ValueError for shapes that do not fit.

    >>> q, k = np.ones((2, 12, 5, 8), np.float32), np.ones((2, 12, 7, 8), np.float32)
    >>> pysimd.matmul(q, k.swapaxes(-1, -2)).shape
    (2, 12, 5, 7)
    >>> pysimd.matmul(np.array([[1, 2], [3, 4]], np.float32), np.array([1, 10], np.float32))
    array([21., 43.], dtype=float32)

    Formula: SimdnetGemm.
    """
    left, right = _operand(a, "a"), _operand(b, "b")
    if left.shape[-1] != right.shape[-2 if right.ndim > 1 else 0]:
        expected = f"({left.shape[-1]},)" if right.ndim == 1 else f"(..., {left.shape[-1]}, {right.shape[-1]})"
        raise ValueError(f"b has shape {right.shape}, expected {expected} for a of shape {left.shape}")
    lead = left.shape[:-2]
    if lead != right.shape[:-2]:  # broadcasting takes microseconds
        try:
            lead = np.broadcast_shapes(lead, right.shape[:-2])
        except ValueError:
            raise ValueError(
                f"b has shape {right.shape}, expected leading dimensions that can be broadcast to those of {left.shape}"
            ) from None
    shape = (*lead, *left.shape[-2:-1], *right.shape[-1:] * (right.ndim > 1))
    target = np.empty(shape, np.float32) if out is None else given_result(out, shape, (left, right), ("a", "b"))
    if target.size:
        names = ("a", "b")
        if right.ndim == 1 and left.ndim > 1:  # a @ vector is vector @ a.T, which reads the rows of a
            left, right, names = right, left.swapaxes(-1, -2), ("b", "a")
        if right.ndim == 1:
            right, target = right[:, None], target[..., None]
        if left.ndim == 1:
            left, target = left[None], target[..., None, :]
        left, right = (
            array if array.shape[:-2] == lead else np.broadcast_to(array, (*lead, *array.shape[-2:]))
            for array in (left, right)
        )
        _products((left, right, target), (*names, "out"))
    return out if out is not None else target.reshape(shape)


def given_result(out: FloatArray, shape: Shape, sources: Sequence[Array], names: Sequence[str]) -> Array:
    """A given output of a product, plain: it has this shape, and overlaps no source."""
    target = plain_output(out, "out")
    element_of(target, "out", (FLOAT32,))
    if target.shape != shape:
        raise ValueError(f"out has shape {target.shape}, expected {shape}: use np.empty({shape}, np.float32)")
    if not target.flags.writeable:
        raise ValueError("out is read-only, expected a writable array: use np.empty_like(out)")
    for source, name in zip(sources, names):
        if np.may_share_memory(target, source):
            raise ValueError(f"out overlaps {name}, expected memory of its own: use another array")
    return target
