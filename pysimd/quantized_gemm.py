"""Products of matrices of bytes with scales and zero points."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysimd._arrays import FLOAT32, INT8, INT32, UINT8, element_of, output, plain, plain_output, pointer, tensor
from pysimd._library import ffi, lib
from pysimd.annotations import Array, Floats
from pysimd.calls import call_struct
from pysimd.quantize_linear import SomeBytes

_BYTES = (UINT8, INT8)
_TYPES = {"uint8": UINT8, "int8": INT8, "int32": INT32, "float32": FLOAT32}


def quantized_gemm(
    a: SomeBytes,
    b: SomeBytes,
    *,
    a_zero: Array | None = None,
    b_zero: Array | None = None,
    a_scale: Floats | None = None,
    b_scale: Floats | None = None,
    scale: float = 1.0,
    zero: int = 0,
    bias: Array | None = None,
    transpose_b: bool = False,
    dtype: Any = None,
    out: Array | None = None,
) -> Array:
    """``(a - a_zero) @ (b - b_zero)`` of bytes, exact in int32, then scaled: MatMulInteger and QLinearMatMul of ONNX.

    a : (..., M, K) uint8 or int8.
    b : (K, N) uint8 or int8, or (..., K, N) with the leading dimensions of `a`. With `transpose_b`, N and K are swapped.
    a_zero, a_scale : of the dtype of `a`, and float32: both one number, or one for each row, (..., M).
    b_zero, b_scale : of the dtype of `b`, and float32: likewise, of columns, (N,).
    scale, zero : of a result of bytes.
    bias : (N,): float32 if the result is, otherwise int32, added to the sums.
    dtype : of the result: int32 (the sums, the default), float32 (times the scales), uint8 or int8. That of `out` if given.
    out : (..., M, N). It must not overlap the other arrays.

    Raises TypeError for another dtype, ValueError for shapes that do not fit.

    >>> a, b = np.array([[1, 255]], np.uint8), np.array([[2], [-3]], np.int8)
    >>> pysimd.quantized_gemm(a, b, a_zero=np.array([1], np.uint8))
    array([[-762]], dtype=int32)

    Formula: SimdnetQuantizedGemm.
    """
    left, right = plain(a, "a", UINT8), plain(b, "b", UINT8)
    elements = element_of(left, "a", _BYTES), element_of(right, "b", _BYTES)
    lead, (m, k, n) = _sizes(left, right, transpose_b)
    kind = np.dtype(dtype if dtype is not None else np.int32 if out is None else plain_output(out, "out").dtype).name
    if kind not in _TYPES:
        raise TypeError(f"dtype is {kind}, expected int32, float32, uint8 or int8")
    result = _TYPES[kind]
    batch = int(np.prod(lead, dtype=np.int64))
    per_row, row_values = _values((*lead, m), "a", a_zero, a_scale, elements[0])
    per_column, column_values = _values((n,), "b", b_zero, b_scale, elements[1])
    given = {"A": pointer(left, "a", elements[0]), "B": pointer(right, "b", elements[1]), **row_values, **column_values}
    if bias is not None:
        element = FLOAT32 if result is FLOAT32 else INT32
        given["bias"] = tensor(bias, "bias", (n,), element, element.ctype)
    named = {"a": a, "b": b, "a_zero": a_zero, "b_zero": b_zero, "a_scale": a_scale, "b_scale": b_scale, "bias": bias}
    sources = {name: array for name, array in named.items() if array is not None}
    shape = (*lead, m, n)
    out, given["C"] = output(
        out, shape, tuple(sources.values()), tuple(sources), element=result, ctype=result.ctype, like=result
    )
    arguments = ffi.new("SimdnetQuantizedGemmParameters *", given)
    arguments.size = ffi.sizeof("SimdnetQuantizedGemmParameters")
    arguments.M, arguments.N, arguments.K = m, n, k
    if batch == 0:
        arguments.M = 0
    arguments.batch, arguments.strideA = batch, m * k
    arguments.strideB = n * k if right.ndim > 2 else 0
    arguments.transB, arguments.perRow, arguments.perColumn = transpose_b, per_row, per_column
    arguments.typeA, arguments.typeB = (element.tensor for element in elements)
    arguments.typeC, arguments.scaleC, arguments.zeroC = result.tensor, scale, zero
    call_struct(lib.SimdnetQuantizedGemm, arguments, held=given)
    return out


def _sizes(a: Array, b: Array, transposed: bool) -> tuple[tuple[int, ...], tuple[int, int, int]]:
    """The leading dimensions, and M, K and N."""
    for array, name in ((a, "a"), (b, "b")):
        if array.ndim < 2:
            raise ValueError(f"{name} has shape {array.shape}, expected at least two dimensions")
    lead, (m, k) = a.shape[:-2], a.shape[-2:]
    depth, n = b.shape[:-3:-1] if transposed else b.shape[-2:]
    if depth != k or b.shape[:-2] not in ((), lead):
        inner = (n, k) if transposed else (k, n)
        raise ValueError(f"b has shape {b.shape}, expected {inner} or {(*lead, *inner)} for a of shape {a.shape}")
    return lead, (m, k, n)


def _values(shape: tuple[int, ...], name: str, zero: Any, scale: Any, element: Any) -> tuple[bool, dict[str, Any]]:
    """Whether there is a number for each row or column, and the arrays: zero and scale are alike."""
    matrix = name.upper()
    given = {f"zero{matrix}": (zero, element, f"{name}_zero"), f"scale{matrix}": (scale, FLOAT32, f"{name}_scale")}
    each = any(values is not None and np.size(values) != 1 for values, _, _ in given.values())
    arrays = {}
    for member, (values, kind, spelled) in given.items():
        if values is None:
            continue
        array = plain(values, spelled, kind)
        element_of(array, spelled, (kind,))
        if (each or array.size != 1) and array.shape != shape:
            raise ValueError(f"{spelled} has shape {array.shape}, expected {shape}, or one number in all of {name}'s")
        arrays[member] = pointer(array, spelled, kind)
    return each, arrays
