"""Floats to bytes with a scale and a zero, and back: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear of ONNX."""

from __future__ import annotations

from math import prod
from typing import Any, Literal, Union

import numpy as np

from pysimd._arrays import (
    FLOAT32,
    INT8,
    NULL,
    UINT8,
    Element,
    coefficients,
    element_of,
    element_of_dtype,
    is_number,
    output,
    plain,
    plain_output,
    pointer,
    tensor,
)
from pysimd._geometry import number
from pysimd._library import ffi, lib
from pysimd.annotations import Array, Coefficients, FloatArray, Floats, ForeignArray, NDArray
from pysimd.calls import call_struct

_BYTES = (UINT8, INT8)
Zeros = Union[int, NDArray[np.uint8], NDArray[np.int8], ForeignArray]
SomeBytes = Union[NDArray[np.uint8], NDArray[np.int8], ForeignArray]


def _axes(array: Array, axis: int | None) -> tuple[int, int, int]:
    """Elements before, along and after the axis."""
    if axis is None:
        return 1, 1, array.size
    count = array.ndim
    at = number(axis, "axis", -count)
    if at >= count:
        raise ValueError(f"axis is {axis}, expected {-count} .. {count - 1} for an array of shape {array.shape}")
    at %= count
    return prod(array.shape[:at]), array.shape[at], prod(array.shape[at + 1 :])


def _zeros(zero: Any, channels: int, element: Element) -> Any:
    """A C array of one zero for each channel, or NULL if all are 0."""
    if not is_number(zero):
        array = plain(zero, "zero", element)
        if array.ndim == 0 or array.shape == (1,):
            array = array.reshape(1) if channels == 1 else np.full(channels, array.reshape(())[()], array.dtype)
        return tensor(array, "zero", (channels,), element, UINT8.ctype)
    limits = np.iinfo(element.dtype)
    if not limits.min <= zero <= limits.max or zero != int(zero):
        raise ValueError(f"zero is {zero!r}, expected an integer, {limits.min} .. {limits.max}, for {element.name}")
    return NULL if zero == 0 else pointer(np.full(channels, zero, element.dtype), "zero", element, False, UINT8.ctype)


def _run(function: Any, element: Element, axes: tuple[int, int, int], **arrays: Any) -> None:
    arguments = ffi.new("SimdnetQuantizeLinearParameters *", arrays)
    arguments.size, arguments.dataType = ffi.sizeof("SimdnetQuantizeLinearParameters"), element.tensor
    arguments.outer, arguments.channels, arguments.inner = axes
    call_struct(function, arguments, held=arrays)


def quantize_linear(
    x: Floats,
    scale: Coefficients,
    zero: Zeros = 0,
    *,
    axis: int | None = None,
    dtype: Literal["uint8", "int8"] | Any = None,
    out: Array | None = None,
) -> Array:
    """Quantises floats to bytes: ``x / scale`` to nearest, ties to even, plus `zero`, limited to the range of the dtype.

    x : float32 of any shape, contiguous.
    scale, zero : a number, or with `axis` one for each index along it; an array of zeros has the dtype of the result.
    axis : that of the channels; None for one scale.
    dtype : "uint8" or "int8"; by default that of `zero` or of `out`, else uint8.
    out : of the shape of `x` and this dtype.

    NaN becomes the least number. Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.quantize_linear(np.array([-1, 0.25, 0.75, 100], np.float32), 0.5, 10)
    array([  8,  10,  12, 210], dtype=uint8)
    >>> x, scales = np.array([[1, 1], [-1, 1000]], np.float32), np.array([1, 0.5], np.float32)
    >>> pysimd.quantize_linear(x, scales, axis=1, dtype="int8")
    array([[  1,   2],
           [ -1, 127]], dtype=int8)

    Formula: SimdnetQuantizeLinear.
    """
    array = plain(x, "x")
    element_of(array, "x", (FLOAT32,))
    src = pointer(array, "x", FLOAT32)
    if dtype is not None:
        element = element_of_dtype(dtype, "dtype", _BYTES)
    elif not is_number(zero):
        element = element_of(plain(zero, "zero", UINT8), "zero", _BYTES)
    else:
        element = UINT8 if out is None else element_of(plain_output(out, "out"), "out", _BYTES)
    axes = _axes(array, axis)
    scales, zeros = coefficients(scale, "scale", axes[1], shared=True), _zeros(zero, axes[1], element)
    sources = [each for each in (x, scale, zero) if not is_number(each)]
    out, dst = output(out, array.shape, sources, ("x", "scale", "zero"), element=element, ctype=UINT8.ctype, like=element)
    _run(lib.SimdnetQuantizeLinear, element, axes, src=src, scale=scales, zero=zeros, dst=dst)
    return out


def dequantize_linear(
    x: SomeBytes,
    scale: Coefficients,
    zero: Zeros = 0,
    *,
    axis: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Converts bytes to floats: ``(x - zero) * scale``.

    x : uint8 or int8 of any shape, contiguous.
    scale, zero : a number, or with `axis` one for each index along it; an array of zeros has the dtype of `x`.
    axis : that of the channels; None for one scale.
    out : float32 of the shape of `x`.

    Raises TypeError for another dtype, ValueError for another shape.

    >>> pysimd.dequantize_linear(np.array([8, 10, 12], np.uint8), 0.5, 10)
    array([-1.,  0.,  1.], dtype=float32)

    Formula: SimdnetDequantizeLinear.
    """
    array = plain(x, "x", UINT8)
    element = element_of(array, "x", _BYTES)
    src = pointer(array, "x", element, False, UINT8.ctype)
    axes = _axes(array, axis)
    scales, zeros = coefficients(scale, "scale", axes[1], shared=True), _zeros(zero, axes[1], element)
    sources = [each for each in (x, scale, zero) if not is_number(each)]
    out, dst = output(out, array.shape, sources, ("x", "scale", "zero"))
    _run(lib.SimdnetDequantizeLinear, element, axes, src=src, scale=scales, zero=zeros, dst=dst)
    return out


def dynamic_quantize(
    x: Floats, *, out: tuple[Array, FloatArray, Array] | None = None
) -> tuple[NDArray[np.uint8], FloatArray, NDArray[np.uint8]]:
    """Quantises floats with the scale and the zero of their own range: DynamicQuantizeLinear of ONNX.

    x : float32 of any shape, contiguous.
    out : uint8 of the shape of `x`; float32 and uint8 of shape ().

    Returns the bytes, the scale and the zero, both of shape (). The range includes 0; one that is 0 has the scale 1. NaN is
    left out of the range, and becomes 0. A range that is not finite has an infinite scale, and all bytes are 0. Raises
    TypeError for another dtype, ValueError for another shape.

    >>> y, scale, zero = pysimd.dynamic_quantize(np.array([-253, 257, 1, 3], np.float32))
    >>> y, float(scale), int(zero)
    (array([  0, 254, 126, 128], dtype=uint8), 2.0, 126)

    Formula: SimdnetDynamicQuantize.
    """
    array = plain(x, "x")
    element_of(array, "x", (FLOAT32,))
    given = {"src": pointer(array, "x", FLOAT32)}
    if out is not None and (type(out) is not tuple or len(out) != 3):
        raise TypeError("out is not a tuple of three arrays: bytes, scale and zero")
    shapes, elements = (array.shape, (), ()), (UINT8, FLOAT32, UINT8)
    results: list[Any] = []
    for i, (name, shape, element) in enumerate(zip(("dst", "scale", "zero"), shapes, elements)):
        sources, names = (x, *results), ("x", "out[0]", "out[1]")[: i + 1]
        target = None if out is None else out[i]
        result, given[name] = output(
            target, shape, sources, names, name=f"out[{i}]", element=element, ctype=element.ctype, like=element
        )
        results.append(result)
    arguments = ffi.new("SimdnetDynamicQuantizeParameters *", given)
    arguments.size, arguments.elements = ffi.sizeof("SimdnetDynamicQuantizeParameters"), array.size
    call_struct(lib.SimdnetDynamicQuantize, arguments, held=given)
    return out or (results[0], results[1], results[2])
