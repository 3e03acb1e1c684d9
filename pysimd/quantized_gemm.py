"""Products of matrices of bytes with scales and zero points."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysimd import calls
from pysimd._arrays import (
    FLOAT32,
    INT8,
    INT32,
    UINT8,
    element_of,
    element_of_dtype,
    output,
    plain,
    plain_output,
    pointer,
    tensor,
)
from pysimd._geometry import number
from pysimd._library import ffi, lib
from pysimd.annotations import Array, Floats, Shape
from pysimd.calls import call_struct, create
from pysimd.context import SharingContext
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

    `b` is packed in each call: a :class:`QuantizedGemm` packs it once. Raises TypeError for another dtype, ValueError for
    shapes that do not fit.

    >>> a, b = np.array([[1, 255]], np.uint8), np.array([[2], [-3]], np.int8)
    >>> pysimd.quantized_gemm(a, b, a_zero=np.array([1], np.uint8))
    array([[-762]], dtype=int32)

    Formula: SimdnetQuantizedGemm.
    """
    right = plain(b, "b", UINT8)
    element = element_of(right, "b", _BYTES)
    values = {"a_zero": a_zero, "b_zero": b_zero, "a_scale": a_scale, "b_scale": b_scale, "bias": bias}
    given = {"B": pointer(right, "b", element)}
    arguments, out = _arguments(a, b, right.shape, element, given, values, (scale, zero), transpose_b, dtype, out)
    call_struct(lib.SimdnetQuantizedGemm, arguments, held=given)
    return out


class QuantizedGemm(SharingContext):
    """:func:`quantized_gemm` with a matrix `b` that is packed once.

    shape : of `b`, (K, N).
    dtype : of `b`, "int8" or "uint8".
    transpose : whether :meth:`set_params` takes (N, K).

    One to a few rows take the time of reading the packed bytes. Results are bit-identical on every instruction set, and to
    those of :func:`quantized_gemm`.

    >>> a, b = np.array([[1, 255]], np.uint8), np.array([[2], [-3]], np.int8)
    >>> with pysimd.QuantizedGemm(b.shape) as context:
    ...     context.set_params(b)
    ...     context(a, a_zero=np.array([1], np.uint8))
    array([[-762]], dtype=int32)

    Raises TypeError for another dtype, ValueError for sizes that do not fit. Formula: SimdnetQuantizedGemmInit.
    """

    def __init__(self, shape: Shape, dtype: Any = "int8", *, transpose: bool = False) -> None:
        if not isinstance(shape, (tuple, list)) or len(shape) != 2:
            raise ValueError(f"shape is {shape}, expected (K, N)")
        k, n = (number(size, "a size of shape", 0) for size in shape)
        self._shape, self._transpose = (k, n), bool(transpose)
        self._element = element_of_dtype(dtype, "dtype", _BYTES)
        arguments = {"shape": self._shape, "dtype": self._element.name, "transpose": self._transpose}
        super().__init__(create(lib.SimdnetQuantizedGemmInit, n, k, self._element.tensor), arguments)

    @property
    def shape(self) -> Shape:
        """The shape of `b`, (K, N)."""
        return self._shape

    @property
    def internal_buffer_size(self) -> int:
        """The number of bytes that the context holds now."""
        return int(lib.SimdnetQuantizedGemmInternalBufferSize(self._open()))

    def _bytes(self) -> int:
        return self.internal_buffer_size

    def set_params(self, b: Array) -> None:
        """Packs the matrix; may be called again, but not while :meth:`forward` runs.

        b : of the dtype of the context, (K, N), or (N, K) with `transpose`.

        A reference to the array is kept only for pickle and copy. Raises TypeError for another dtype, ValueError for another
        shape.
        """
        handle, shape = self._open(), self._shape[::-1] if self._transpose else self._shape
        array = tensor(b, "b", shape, self._element, self._element.ctype)
        calls.set_params(lib.SimdnetQuantizedGemmSetParams, handle, array, self._transpose)
        self._given = (b,)

    def forward(
        self,
        a: SomeBytes,
        *,
        a_zero: Array | None = None,
        b_zero: Array | None = None,
        a_scale: Floats | None = None,
        b_scale: Floats | None = None,
        scale: float = 1.0,
        zero: int = 0,
        bias: Array | None = None,
        dtype: Any = None,
        out: Array | None = None,
    ) -> Array:
        """The product with `a`; arguments as of :func:`quantized_gemm`.

        Raises TypeError for another dtype, ValueError for another shape, :class:`StateError` before :meth:`set_params`.
        """
        handle, values = (
            self._open(),
            {"a_zero": a_zero, "b_zero": b_zero, "a_scale": a_scale, "b_scale": b_scale, "bias": bias},
        )
        given: dict[str, Any] = {}
        arguments, out = _arguments(a, None, self._shape, self._element, given, values, (scale, zero), False, dtype, out)
        call_struct(lib.SimdnetQuantizedGemmForward, handle, arguments, held=given)
        return out

    __call__ = forward


def _arguments(
    a: Any,
    b: Any,
    shape: Shape,
    element: Any,
    given: dict[str, Any],
    values: dict[str, Any],
    to: tuple[float, int],
    transposed: bool,
    dtype: Any,
    out: Array | None,
) -> tuple[Any, Array]:
    """The struct of a call, and the result.

    b, shape, element : the matrix, None if a context has it; its shape and type.
    given : pointers, to which this adds.
    values : zeros, scales and the bias, by their names.
    to : the scale and the zero of a result of bytes.
    """
    left = plain(a, "a", UINT8)
    elements = element_of(left, "a", _BYTES), element
    if b is None and left.shape[-1:] != shape[:1]:
        raise ValueError(f"a has shape {left.shape}, expected (..., M, {shape[0]}), with b of shape {shape}")
    lead, (m, k, n) = _sizes(left, shape, transposed)
    kind = np.dtype(dtype if dtype is not None else np.int32 if out is None else plain_output(out, "out").dtype).name
    if kind not in _TYPES:
        raise TypeError(f"dtype is {kind}, expected int32, float32, uint8 or int8")
    result = _TYPES[kind]
    batch = int(np.prod(lead, dtype=np.int64))
    per_row, row_values = _values((*lead, m), "a", values["a_zero"], values["a_scale"], elements[0])
    per_column, column_values = _values((n,), "b", values["b_zero"], values["b_scale"], elements[1])
    given |= {"A": pointer(left, "a", elements[0]), **row_values, **column_values}
    if values["bias"] is not None:
        of_bias = FLOAT32 if result is FLOAT32 else INT32
        given["bias"] = tensor(values["bias"], "bias", (n,), of_bias, of_bias.ctype)
    sources = {name: array for name, array in {"a": a, "b": b, **values}.items() if array is not None}
    dst_shape = (*lead, m, n)
    out, given["C"] = output(
        out, dst_shape, tuple(sources.values()), tuple(sources), element=result, ctype=result.ctype, like=result
    )
    arguments = ffi.new("SimdnetQuantizedGemmParameters *", given)
    arguments.size = ffi.sizeof("SimdnetQuantizedGemmParameters")
    arguments.M, arguments.N, arguments.K = m, n, k
    if batch == 0:
        arguments.M = 0
    arguments.batch, arguments.strideA = batch, m * k
    arguments.strideB = n * k if len(shape) > 2 else 0
    arguments.transB, arguments.perRow, arguments.perColumn = transposed, per_row, per_column
    arguments.typeA, arguments.typeB = (element.tensor for element in elements)
    arguments.typeC, (arguments.scaleC, arguments.zeroC) = result.tensor, to
    return arguments, out


def _sizes(a: Array, shape: Shape, transposed: bool) -> tuple[tuple[int, ...], tuple[int, int, int]]:
    """The leading dimensions, and M, K and N."""
    for found, name in ((a.shape, "a"), (shape, "b")):
        if len(found) < 2:
            raise ValueError(f"{name} has shape {found}, expected at least two dimensions")
    lead, (m, k) = a.shape[:-2], a.shape[-2:]
    depth, n = shape[:-3:-1] if transposed else shape[-2:]
    if depth != k or shape[:-2] not in ((), lead):
        inner = (n, k) if transposed else (k, n)
        raise ValueError(f"b has shape {shape}, expected {inner} or {(*lead, *inner)} for a of shape {a.shape}")
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
